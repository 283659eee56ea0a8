/* A grid that is distributed over ranks in rows, divided by the functions of PT-Scotch; with the argument `empty`, the last rank has no vertices. Prints the cut and the
 * costs, which are the same for any number of ranks. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ptscotch.h>

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                 \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                   \
        }                                                                                   \
    } while (0)

enum { WIDTH = 60, HEIGHT = 48, CELLS = WIDTH * HEIGHT };
static SCOTCH_Num xadj[CELLS + 1], adjncy[4 * CELLS], part[CELLS], all[CELLS];
static int first, last; /* the vertices of this rank */

static void fill(SCOTCH_Num base)
{
    SCOTCH_Num arcs = 0;
    for (int v = first; v < last; v++) {
        xadj[v - first] = arcs + base;
        if (v / WIDTH > 0) adjncy[arcs++] = v - WIDTH + base;
        if (v % WIDTH > 0) adjncy[arcs++] = v - 1 + base;
        if (v % WIDTH < WIDTH - 1) adjncy[arcs++] = v + 1 + base;
        if (v / WIDTH < HEIGHT - 1) adjncy[arcs++] = v + WIDTH + base;
    }
    xadj[last - first] = arcs + base;
}

static long differ(SCOTCH_Num a, SCOTCH_Num b) { return a != b; }
static long in_tree(SCOTCH_Num a, SCOTCH_Num b) { return a == b ? 0 : a / 4 == b / 4 ? 1 : a / 8 == b / 8 ? 11 : 111; }

/* The cost of the parts of all ranks. Loads must be from 0.95 of their shares, less a vertex, to 1.03. */
static long cost(long (*distance)(SCOTCH_Num, SCOTCH_Num), int parts, const SCOTCH_Num *shares)
{
    int ranks, counts[64], starts[64], own = last - first;
    long sum = 0, loads[64] = {0}, total = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allgather(&own, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int rank = 0, at = 0; rank < ranks; rank++) {
        counts[rank] *= (int)sizeof(SCOTCH_Num);
        starts[rank] = at;
        at += counts[rank];
    }
    MPI_Allgatherv(part, own * (int)sizeof(SCOTCH_Num), MPI_BYTE, all, counts, starts, MPI_BYTE, MPI_COMM_WORLD);
    for (int v = 0; v < CELLS; v++) {
        CHECK(all[v] >= 0 && all[v] < parts);
        loads[all[v]]++;
        if (v % WIDTH < WIDTH - 1) sum += distance(all[v], all[v + 1]);
        if (v / WIDTH < HEIGHT - 1) sum += distance(all[v], all[v + WIDTH]);
    }
    for (int p = 0; p < parts; p++) total += shares ? (long)shares[p] : 1;
    for (int p = 0; p < parts; p++) {
        double fair = (double)CELLS * (shares ? (double)shares[p] : 1) / (double)total;
        CHECK((double)loads[p] <= 1.03 * fair && (double)loads[p] >= 0.95 * fair - 1);
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int filled = argc > 1 && ranks > 1 ? ranks - 1 : ranks;
    first = CELLS / filled * (rank < filled ? rank : filled);
    last = rank + 1 < filled ? CELLS / filled * (rank + 1) : CELLS;
    if (rank >= filled) first = CELLS;
    long costs[2][4];
    for (SCOTCH_Num base = 0; base <= 1; base++) {
        SCOTCH_Dgraph graph;
        SCOTCH_Strat strat;
        SCOTCH_Arch tree, weighted, parts;
        SCOTCH_Dmapping mapping;
        SCOTCH_Num sizes[3] = {2, 2, 4}, links[3] = {100, 10, 1}, weights[3] = {1, 2, 3};
        fill(base);
        CHECK(SCOTCH_dgraphInit(&graph, MPI_COMM_WORLD) == 0);
        CHECK(SCOTCH_dgraphBuild(&graph, base, last - first, last - first, xadj, xadj + 1, NULL, NULL, xadj[last - first] - base,
                                 xadj[last - first] - base, adjncy, NULL, NULL) == 0);
        CHECK(SCOTCH_dgraphCheck(&graph) == 0);
        CHECK(SCOTCH_stratInit(&strat) == 0 && SCOTCH_stratDgraphMapBuild(&strat, SCOTCH_STRATDEFAULT, ranks, 16, 0.03) == 0);
        CHECK(SCOTCH_dgraphPart(&graph, 16, &strat, part) == 0);
        costs[base][0] = cost(differ, 16, NULL);
        CHECK(SCOTCH_archInit(&tree) == 0 && SCOTCH_archTleaf(&tree, 3, sizes, links) == 0);
        CHECK(SCOTCH_dgraphMap(&graph, &tree, &strat, part) == 0);
        costs[base][1] = cost(in_tree, 16, NULL);
        CHECK(SCOTCH_archInit(&weighted) == 0 && SCOTCH_archCmpltw(&weighted, 3, weights) == 0);
        CHECK(SCOTCH_dgraphMap(&graph, &weighted, &strat, part) == 0);
        costs[base][2] = cost(differ, 3, weights);
        CHECK(SCOTCH_archInit(&parts) == 0 && SCOTCH_archCmplt(&parts, 7) == 0);
        CHECK(SCOTCH_dgraphMapInit(&graph, &mapping, &parts, part) == 0 && SCOTCH_dgraphMapCompute(&graph, &mapping, &strat) == 0);
        costs[base][3] = cost(differ, 7, NULL);
        SCOTCH_dgraphMapExit(&graph, &mapping);
        SCOTCH_archExit(&parts);
        SCOTCH_archExit(&weighted);
        SCOTCH_archExit(&tree);
        SCOTCH_stratExit(&strat);
        SCOTCH_dgraphExit(&graph);
    }
    CHECK(memcmp(costs[0], costs[1], sizeof costs[0]) == 0);
    if (rank == 0) printf("%ld %ld %ld %ld\n", costs[0][0], costs[0][1], costs[0][2], costs[0][3]);
    MPI_Finalize();
    return 0;
}
