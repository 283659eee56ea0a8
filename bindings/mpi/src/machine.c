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
    [0] = 160, [1] = 140, [2] = 120, [3] = 100, [4] = 80, [HOST] = 60, [PACKAGE] = 6, [NUMA] = 4, [CACHE] = 3, [CORE] = 2, [SLOT] = 1,
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
    snprintf(text + length, size - length, "%s%d", length ? ":" : "", number);
}

/* A tree of the greatest arities, of which each rank has one PE. */
fault machine_of_sites(const site sites[], int num_ranks, const char *distances, machine *machine)
{
    char spec[NUM_DIGITS * 12] = "", numbers[NUM_DIGITS * 12] = "";
    int arities[NUM_DIGITS], num_levels = 0;
    const site **order = sorted(sites, num_ranks);
    *machine = (__typeof__(*machine)){.num_ranks = num_ranks};
    machine->pes = malloc((size_t)num_ranks * sizeof(int64_t));
    if (!order || !machine->pes) {
        free(order);
        return FAULT_NO_MEMORY;
    }
    find_arities(order, num_ranks, arities);
    find_pes(order, num_ranks, sites, arities, machine->pes);
    free(order);
    for (int level = NUM_DIGITS - 1; level >= 0; level--) {
        if (arities[level] == 1) continue;
        append(spec, sizeof spec, arities[level]);
        append(numbers, sizeof numbers, assumed[level]);
        num_levels++;
    }
    machine->is_flat = num_levels <= 1;
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

/* Ranks that share an innermost unit either have several CPUs there and are not bound to one each, or share them. */
void describe_binding(const site sites[], int num_ranks, char *text, size_t size)
{
    int num_sharing = 0, num_crowded = 0, num_wide = 0;
    const site **order = sorted(sites, num_ranks);
    text[0] = 0;
    for (int first = 0, next; order && first < num_ranks; first = next) {
        next = first + 1;
        while (next < num_ranks && level_between(order[first], order[next]) == NUM_LEVELS) next++;
        int num = next - first;
        if (num > order[first]->num_cpus) {
            num_crowded += num;
        } else if (num > 1) {
            num_sharing += num;
        } else if (order[first]->num_cpus > 1) {
            num_wide++;
        }
    }
    free(order);
    size_t used = 0;
    if (num_crowded) used += (size_t)snprintf(text, size, "%d ranks share fewer CPUs than they are; ", num_crowded);
    if (num_sharing) used += (size_t)snprintf(text + used, size - used, "%d ranks are not bound to CPUs of their own; ", num_sharing);
    if (num_wide) used += (size_t)snprintf(text + used, size - used, "%d ranks are bound to several CPUs each; ", num_wide);
    if (used) text[used - 2] = 0;
}
