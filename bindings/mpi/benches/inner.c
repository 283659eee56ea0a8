/* Times what one process does when a topology is created: the machine of the sites, and the mapping.
 *
 *     inner RANKS REPEATS
 *
 * A torus of three dimensions on hosts of 48 cores in two packages, which Slurm has given to the ranks in a random order. */
#include "../src/reorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Three factors that are close to each other. */
static void factorise(int number, int dims[3])
{
    for (int i = 0; i < 3; i++) {
        double wanted = i == 0 ? 0 : number;
        dims[i] = 1;
        for (int factor = 1; factor <= number; factor++) {
            int is_small = i == 2 || (i == 1 ? (long)factor * factor <= wanted : (long)factor * factor * factor <= number);
            if (number % factor == 0 && is_small) dims[i] = factor;
        }
        number /= dims[i];
    }
}

static void make_sites(int num_ranks, site sites[])
{
    for (int rank = 0; rank < num_ranks; rank++) {
        int core = rank % 48, host = rank / 48;
        int64_t unit[NUM_LEVELS] = {0, 0, 0, host / 512, host / 16, host, core / 24, core / 12, core / 4, core};
        for (int level = 0; level < NUM_LEVELS; level++) sites[rank].unit[level] = unit[level];
        sites[rank].num_cpus = 1;
    }
    for (int rank = num_ranks - 1; rank > 0; rank--) {
        int other = rand() % (rank + 1);
        site kept = sites[rank];
        sites[rank] = sites[other];
        sites[other] = kept;
    }
}

int main(int argc, char **argv)
{
    int num_ranks = argc > 1 ? atoi(argv[1]) : 64, repeats = argc > 2 ? atoi(argv[2]) : 1, periods[] = {1, 1, 1}, dims[3], num;
    site *sites = malloc((size_t)num_ranks * sizeof(site));
    int *new_rank = malloc((size_t)num_ranks * sizeof(int));
    make_sites(num_ranks, sites);
    factorise(num_ranks, dims);
    printf("torus %dx%dx%d\n", dims[0], dims[1], dims[2]);
    for (int i = 0; i < repeats; i++) {
        edges edges = no_edges;
        machine machine;
        decision decision;
        options options = read_options(num_ranks);
        double start = now();
        if (cart_edges(num_ranks, 3, dims, periods, &edges, &num)) return 1;
        if (machine_of_sites(sites, num_ranks, NULL, &machine)) return 1;
        map_vertices(num, &edges, &machine, &options, new_rank, &decision);
        printf("%d ranks, machine %s, %.3f s: %s\n", num_ranks, machine.spec, now() - start, decision.message);
        free_machine(&machine);
        free_edges(&edges);
    }
    free(sites);
    free(new_rank);
    return 0;
}
