/* Sites and machines, without a job: what the kernel and Slurm say is made up here. */
#include "../../../c/tests/programs/condition.h"
#include "reorder.h"
#include "viem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Two packages of two NUMA nodes of two cores of two CPUs each; the second half of the CPUs are the second ones of the cores. */
static void make_folder(void)
{
    char folder[128], below[192], text[64];
    for (int cpu = 0; cpu < 16; cpu++) {
        int core = cpu % 8;
        snprintf(folder, sizeof folder, "cpus/cpu%d", cpu);
        const char *nodes[] = {"/node0", "/node1", "/node2", "/node3"};
        const char *folders[] = {"", "/topology", "/cache", "/cache/index3", nodes[core / 2]};
        mkdir("cpus", 0755);
        for (int i = 0; i < 5; i++) {
            snprintf(below, sizeof below, "%s%s", folder, folders[i]);
            mkdir(below, 0755);
        }
        snprintf(text, sizeof text, "%d-%d,%d-%d\n", core / 4 * 4, core / 4 * 4 + 3, core / 4 * 4 + 8, core / 4 * 4 + 11);
        /* Older kernels have the second name only. */
        write_text(folder, cpu % 2 ? "topology/package_cpus_list" : "topology/core_siblings_list", text);
        snprintf(text, sizeof text, "%d,%d\n", core, core + 8);
        write_text(folder, cpu % 2 ? "topology/core_cpus_list" : "topology/thread_siblings_list", text);
        snprintf(text, sizeof text, "%d-%d\n", core / 2 * 2, core / 2 * 2 + 1);
        write_text(folder, "cache/index3/shared_cpu_list", text);
    }
}

static site units(int num, const int *cpus)
{
    int copy[16];
    site site = {{0}, 0};
    memcpy(copy, cpus, (size_t)num * sizeof(int));
    find_units(&site, "cpus", (cpu_list){num, copy});
    return site;
}

static void test_units(void)
{
    site one = units(1, (int[]){13});
    CHECK(one.unit[PACKAGE] == 4 && one.unit[NUMA] == 2 && one.unit[CACHE] == 4 && one.unit[CORE] == 5 && one.num_cpus == 1);
    site core = units(2, (int[]){5, 13});
    CHECK(memcmp(core.unit, one.unit, sizeof one.unit) == 0 && core.num_cpus == 2);
    site node = units(2, (int[]){4, 5});
    CHECK(node.unit[PACKAGE] == 4 && node.unit[NUMA] == 2 && node.unit[CACHE] == 4 && node.unit[CORE] < 0);
    site package = units(2, (int[]){4, 7}), other = units(2, (int[]){5, 6});
    CHECK(package.unit[PACKAGE] == 4 && package.unit[NUMA] < 0 && package.unit[NUMA] == package.unit[CORE]);
    CHECK(other.unit[NUMA] < 0 && other.unit[NUMA] != package.unit[NUMA]);
    site both = units(2, (int[]){3, 4}), same = units(2, (int[]){3, 4});
    CHECK(both.unit[PACKAGE] < 0 && memcmp(&both, &same, sizeof both) == 0);
    /* Nothing is known: all CPUs are alike but for their numbers. */
    site unknown = {{0}, 0};
    find_units(&unknown, "no such folder", (cpu_list){1, (int[]){7}});
    CHECK(unknown.unit[PACKAGE] == -1 && unknown.unit[NUMA] == -1 && unknown.unit[CORE] == 7);
    find_units(&unknown, "cpus", (cpu_list){0, NULL});
    CHECK(unknown.num_cpus == 0);
}

static site switches(const char *host, const char *address)
{
    site site = {{7, 7, 7, 7, 7}, 0};
    find_switches(&site, host, address);
    return site;
}

static void test_switches(void)
{
    site a = switches("n1", "top.s1.n1"), b = switches("n2.site.example", "top.s1.n2"), c = switches("n3", "top.s2.n3");
    CHECK(a.unit[4] == b.unit[4] && a.unit[3] == b.unit[3] && a.unit[4] != c.unit[4] && a.unit[3] == c.unit[3]);
    CHECK(a.unit[2] == 0 && a.unit[0] == 0 && a.unit[3] != 0);
    /* Inherited, missing, without switches. */
    CHECK(switches("n4", "top.s1.n1").unit[4] == 0 && switches("n1", NULL).unit[4] == 0 && switches("n1", "n1").unit[4] == 0);
    /* Of more levels than there are, the outer ones are one. */
    site d = switches("n", "a.b.c.d.e.f.n"), e = switches("n", "x.b.c.d.e.f.n"), f = switches("n", "a.b.c.d.e.g.n");
    CHECK(d.unit[0] != e.unit[0] && d.unit[1] == e.unit[1] && d.unit[4] == e.unit[4] && f.unit[4] != d.unit[4] && f.unit[0] == d.unit[0]);
}

/* By the definition: the distance of the outermost level at which two differ, among those that are in the machine. */
static int64_t distance(const site *a, const site *b)
{
    const int64_t distances[] = {160, 140, 120, 100, 80, 60, 6, 4, 3, 2};
    for (int level = 0; level < NUM_LEVELS; level++) {
        if (a->unit[level] != b->unit[level]) return distances[level];
    }
    return 1;
}

static void test_machine(int num, unsigned seed)
{
    site sites[40];
    machine made;
    viem_machine *machine;
    int64_t found;
    srand(seed);
    for (int i = 0; i < num; i++) {
        for (int level = 0; level < NUM_LEVELS; level++) {
            sites[i].unit[level] = rand() % 3 ? 0 : rand() % 3 - 1;
        }
        sites[i].num_cpus = 40;
    }
    CHECK(machine_of_sites(sites, num, NULL, &made) == FAULT_NONE);
    int is_flat = 1;
    for (int i = 0; i < num; i++) {
        for (int j = 0; j < i; j++) is_flat &= distance(&sites[i], &sites[j]) == distance(&sites[0], &sites[1]);
    }
    CHECK(!made.is_flat || is_flat);
    if (*made.distances) {
        viem_error *error = NULL;
        viem_machine_new(made.spec, made.distances, NULL, &machine, &error);
        if (error) fprintf(stderr, "%s %s: %s\n", made.spec, made.distances, viem_error_message(error));
        CHECK(!error);
        for (int i = 0; i < num; i++) {
            for (int j = 0; j < i; j++) {
                CHECK(viem_machine_distance(machine, made.pes[i], made.pes[j], &found, NULL) == VIEM_STATUS_OK);
                CHECK(found == distance(&sites[i], &sites[j]));
            }
        }
        viem_machine_free(machine);
    }
    free_machine(&made);
}

static void test_binding(void)
{
    site sites[6];
    char text[MESSAGE_SIZE];
    for (int i = 0; i < 6; i++) {
        sites[i] = (site){{0}, 1};
        sites[i].unit[CORE] = i;
    }
    describe_binding(sites, 6, text, sizeof text);
    CHECK(strcmp(text, "") == 0);
    sites[1].unit[CORE] = 0;
    sites[2].num_cpus = 4;
    sites[3].unit[CORE] = sites[4].unit[CORE] = -5;
    sites[3].num_cpus = sites[4].num_cpus = 8;
    describe_binding(sites, 6, text, sizeof text);
    CHECK(strcmp(text, "2 ranks share fewer CPUs than they are; 2 ranks are not bound to CPUs of their own; "
                       "1 rank is bound to several CPUs") == 0);
}

int main(void)
{
    make_folder();
    test_units();
    test_switches();
    for (unsigned seed = 0; seed < 100; seed++) test_machine(1 + (int)seed % 40, seed);
    test_binding();
    printf("passed\n");
    return 0;
}
