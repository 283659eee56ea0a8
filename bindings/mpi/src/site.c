/* Where a process runs. */
#include "reorder.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* A name as a number of a unit; not negative. */
static int64_t number_of(const void *name, size_t size)
{
    return (int64_t)(hash_bytes(HASH_START, name, size) >> 1);
}

/* ---- units of CPUs ---------------------------------------------------------------------------------------------- */

/* The number that a file begins with, which is the first CPU of a unit; -1 without the file. */
static int first_number(const char *folder, int cpu, const char *file)
{
    char path[512];
    int number = -1;
    snprintf(path, sizeof path, "%s/cpu%d/%s", folder, cpu, file);
    FILE *stream = fopen(path, "re");
    if (!stream) return -1;
    if (fscanf(stream, "%d", &number) != 1) number = -1;
    fclose(stream);
    return number;
}

/* The NUMA node of a CPU, which has a link to it. */
static int numa_node(const char *folder, int cpu)
{
    char path[512];
    int node = -1;
    snprintf(path, sizeof path, "%s/cpu%d", folder, cpu);
    DIR *directory = opendir(path);
    if (!directory) return -1;
    for (struct dirent *entry = readdir(directory); entry && node < 0; entry = readdir(directory)) {
        if (sscanf(entry->d_name, "node%d", &node) != 1) node = -1;
    }
    closedir(directory);
    return node;
}

static int unit_of(const char *folder, int cpu, int level)
{
    int unit;
    switch (level) {
    case PACKAGE:
        unit = first_number(folder, cpu, "topology/package_cpus_list");
        return unit >= 0 ? unit : first_number(folder, cpu, "topology/core_siblings_list");
    case NUMA:
        return numa_node(folder, cpu);
    case CACHE:
        return first_number(folder, cpu, "cache/index3/shared_cpu_list");
    default:
        unit = first_number(folder, cpu, "topology/core_cpus_list");
        if (unit < 0) unit = first_number(folder, cpu, "topology/thread_siblings_list");
        return unit >= 0 ? unit : cpu;
    }
}

void find_units(site *site, const char *folder, cpu_list list)
{
    int64_t several = ~number_of(list.cpus, (size_t)list.num * sizeof(int));
    site->num_cpus = list.num;
    for (int level = PACKAGE; level < NUM_LEVELS; level++) {
        /* Units are nested: what shares a unit shares those outside of it. */
        int64_t unit = list.num ? unit_of(folder, list.cpus[0], level) : -1;
        for (int i = 1; i < list.num && unit != several; i++) {
            if (unit_of(folder, list.cpus[i], level) != unit) unit = several;
        }
        site->unit[level] = unit;
    }
}

/* The CPUs that the calling thread may use; none if they cannot be found out. */
static cpu_list usable_cpus(void)
{
    cpu_list list = {0, NULL};
    for (int num = 1024; num <= 1 << 20; num *= 2) {
        size_t size = CPU_ALLOC_SIZE(num);
        cpu_set_t *set = CPU_ALLOC(num);
        int is_known = set && sched_getaffinity(0, size, set) == 0;
        if (is_known) list.cpus = malloc((size_t)(CPU_COUNT_S(size, set) + 1) * sizeof(int));
        for (int cpu = 0; list.cpus && cpu < num; cpu++) {
            if (CPU_ISSET_S(cpu, size, set)) list.cpus[list.num++] = cpu;
        }
        CPU_FREE(set);
        if (is_known) break;
    }
    return list;
}

/* ---- hosts and switches ----------------------------------------------------------------------------------------- */

/* Whether a short name is that of a host. */
static int names_host(const char *name, const char *host)
{
    size_t length = strcspn(host, ".");
    return strcspn(name, ".") == length && strncmp(name, host, length) == 0;
}

/* An address has the switches from the outermost to the innermost and then the host, with dots between them. One that has been
 * inherited from another host says nothing. */
void find_switches(site *site, const char *host, const char *address)
{
    const char *last = address ? strrchr(address, '.') : NULL;
    for (int level = 0; level < NUM_SWITCHES; level++) site->unit[level] = 0;
    if (!last || !names_host(last + 1, host)) return;
    for (int level = NUM_SWITCHES - 1; level >= 0; level--) {
        const char *first = last;
        while (first > address && first[-1] != '.') first--;
        /* The outermost level has all that is left. */
        if (level == 0) first = address;
        site->unit[level] = number_of(first, (size_t)(last - first));
        if (first == address) return;
        last = first - 1;
    }
}

void find_site(site *site)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    cpu_list list = usable_cpus();
    find_units(site, "/sys/devices/system/cpu", list);
    free(list.cpus);
    /* Not PMPI_: a tool that gives hosts other names is believed. */
    MPI_Get_processor_name(host, &length);
    site->unit[HOST] = number_of(host, strlen(host));
    find_switches(site, host, getenv("SLURM_TOPOLOGY_ADDR"));
}
