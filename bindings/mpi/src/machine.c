/* The machine as a text that libviem reads. */
#include "reorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Besides the levels of a site, the ranks that share the innermost unit. */
enum { SLOT = NUM_LEVELS, NUM_DIGITS };

/* Distances of ranks that part at a level: twice those that docs/guide/machines.md lists. */
static const int assumed[NUM_DIGITS] = {
    [0] = 160,   [1] = 140,     [2] = 120,  [3] = 100,   [4] = 80,   [HOST] = 60,
    [PACKAGE] = 6, [NUMA] = 4, [CACHE] = 3, [CORE] = 2, [SLOT] = 1,
};

static int compare_sites(const void *a, const void *b)
{
    const site *const *first = a, *const *second = b;
    for (int level = 0; level < NUM_LEVELS; level++) {
        int64_t x = (*first)->unit[level], y = (*second)->unit[level];
        if (x != y) return x < y ? -1 : 1;
    }
    /* Ranks in one unit stay in their order. */
    return *first < *second ? -1 : *first > *second;
}

/* The outermost level at which two sites differ. */
static int level_between(const site *a, const site *b)
{
    int level = 0;
    while (level < NUM_LEVELS && a->unit[level] == b->unit[level]) level++;
    return level;
}

/* Pointers to the sites in the order of the tree. */
static const site **sorted(const site sites[], int num_ranks)
{
    const site **order = malloc((size_t)num_ranks * sizeof *order);
    for (int rank = 0; order && rank < num_ranks; rank++) order[rank] = &sites[rank];
    if (order) qsort(order, (size_t)num_ranks, sizeof *order, compare_sites);
    return order;
}

/* Counts up to the next site, whose digits from `level` on are then new. */
static void count_up(int digits[NUM_DIGITS], int level)
{
    digits[level]++;
    for (int inner = level + 1; inner < NUM_DIGITS; inner++) digits[inner] = 0;
}

/* The greatest number of units of each level inside one of the level outside of it. */
static void find_arities(const site **order, int num_ranks, int arities[NUM_DIGITS])
{
    int digits[NUM_DIGITS] = {0};
    for (int level = 0; level < NUM_DIGITS; level++) arities[level] = 1;
    for (int i = 1; i < num_ranks; i++) {
        int level = level_between(order[i - 1], order[i]);
        count_up(digits, level);
        if (digits[level] >= arities[level]) arities[level] = digits[level] + 1;
    }
}

static void find_pes(const site **order, int num_ranks, const site *first, const int arities[NUM_DIGITS], int64_t pes[])
{
    int digits[NUM_DIGITS] = {0};
    for (int i = 0; i < num_ranks; i++) {
        if (i > 0) count_up(digits, level_between(order[i - 1], order[i]));
        int64_t pe = 0;
        for (int level = 0; level < NUM_DIGITS; level++) pe = pe * arities[level] + digits[level];
        pes[order[i] - first] = pe;
    }
}

static void append(char *text, size_t size, int number)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%d", length && text[length - 1] != ':' ? ":" : "", number);
}

/* How ranks are bound. */
typedef struct {
    int crowded; /* ranks that share fewer CPUs than they are */
    int sharing; /* ranks that share as many CPUs as they are, or more */
    int wide;    /* ranks with several CPUs of their own */
} binding;

static binding find_binding(const site **order, int num_ranks)
{
    binding found = {0, 0, 0};
    for (int first = 0, next; first < num_ranks; first = next) {
        next = first + 1;
        while (next < num_ranks && level_between(order[first], order[next]) == NUM_LEVELS) next++;
        int num = next - first;
        if (num > order[first]->num_cpus) {
            found.crowded += num;
        } else if (num > 1) {
            found.sharing += num;
        } else if (order[first]->num_cpus > 1) {
            found.wide++;
        }
    }
    return found;
}

/* A tree of the greatest arities, of which each rank has one PE. */
fault machine_of_sites(const site sites[], int num_ranks, const char *distances, machine *machine)
{
    char spec[NUM_DIGITS * 12] = "tree:", numbers[NUM_DIGITS * 12] = "";
    int arities[NUM_DIGITS], num_distances = 0;
    const site **order = sorted(sites, num_ranks);
    *machine = (__typeof__(*machine)){.num_ranks = num_ranks};
    machine->pes = malloc((size_t)num_ranks * sizeof(int64_t));
    if (!order || !machine->pes) {
        free(order);
        return FAULT_NO_MEMORY;
    }
    find_arities(order, num_ranks, arities);
    find_pes(order, num_ranks, sites, arities, machine->pes);
    int is_crowded = find_binding(order, num_ranks).crowded > 0;
    free(order);
    for (int level = NUM_DIGITS - 1, last = 0; level >= 0; level--) {
        if (arities[level] == 1) continue;
        /* To take turns on a CPU is no better than to have one each. */
        int distance = assumed[level == SLOT && is_crowded ? CORE : level];
        append(spec, sizeof spec, arities[level]);
        append(numbers, sizeof numbers, distance);
        num_distances += distance != last;
        last = distance;
    }
    machine->is_flat = num_distances <= 1 && !distances;
    machine->spec = strdup(spec);
    machine->distances = strdup(distances ? distances : numbers);
    return machine->spec && machine->distances ? FAULT_NONE : FAULT_NO_MEMORY;
}

fault machine_of_spec(const char *spec, const char *distances, const int world_ranks[], int num_ranks, machine *machine)
{
    *machine = (__typeof__(*machine)){.num_ranks = num_ranks};
    machine->pes = malloc((size_t)num_ranks * sizeof(int64_t));
    machine->spec = strdup(spec);
    machine->distances = distances ? strdup(distances) : NULL;
    if (!machine->pes || !machine->spec || (distances && !machine->distances)) return FAULT_NO_MEMORY;
    for (int rank = 0; rank < num_ranks; rank++) machine->pes[rank] = world_ranks[rank];
    return FAULT_NONE;
}

void free_machine(machine *machine)
{
    free(machine->spec);
    free(machine->distances);
    free(machine->pes);
    *machine = (__typeof__(*machine)){0};
}

static void add_count(char *text, size_t size, int num, const char *what)
{
    size_t length = strlen(text);
    if (num) snprintf(text + length, size - length, "%s%d %s", length ? "; " : "", num, what);
}

void describe_binding(const site sites[], int num_ranks, char *text, size_t size)
{
    const site **order = sorted(sites, num_ranks);
    text[0] = 0;
    if (!order) return;
    binding found = find_binding(order, num_ranks);
    free(order);
    add_count(text, size, found.crowded, "ranks share fewer CPUs than they are");
    add_count(text, size, found.sharing, "ranks are not bound to CPUs of their own");
    add_count(text, size, found.wide, found.wide == 1 ? "rank is bound to several CPUs" : "ranks are bound to several CPUs each");
}
