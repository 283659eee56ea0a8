/* Times a function of ParMETIS on a graph in METIS format, without weights.
 *
 *     mpicc -O2 -I$HOME/.local/include/viem parmetis.c -o parmetis -L/usr/lib -lparmetis -lmetis
 *     mpirun -n 4 ./parmetis GRAPH PARTS [SEED] [ITR]
 *     mpirun -n 4 -x LD_PRELOAD=$HOME/.local/lib/libviem_parmetis.so ./parmetis GRAPH PARTS [SEED] [ITR]
 *
 * Each rank has a range of the vertices. Prints the cut, which is recomputed, the least and the greatest load relative to the share, and the seconds of the
 * slowest rank. With ITR, the partition is then adapted to weights of 3 for the first tenth of the vertices: the same again, and the number of
 * vertices that move. */
#define VIEM_PARMETIS_WITHOUT_METIS
#include <parmetis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static idx_t n, parts, vtxdist[1025], *xadj, *adjncy, *vwgt, *part, *all;

static void fail(const char *what)
{
    fprintf(stderr, "parmetis: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void read_graph(const char *name)
{
    FILE *file = fopen(name, "r");
    char *line = NULL;
    size_t room = 0;
    long vertices, edges, arcs = 0;
    if (!file || getline(&line, &room, file) < 0 || sscanf(line, "%ld %ld", &vertices, &edges) != 2) fail("no graph");
    n = (idx_t)vertices;
    for (int r = 0; r <= size; r++) vtxdist[r] = (idx_t)(vertices * r / size);
    idx_t count = vtxdist[rank + 1] - vtxdist[rank];
    xadj = malloc((size_t)(count + 1) * sizeof *xadj);
    adjncy = malloc((size_t)(2 * edges + 1) * sizeof *adjncy);
    vwgt = malloc((size_t)(count + 1) * sizeof *vwgt);
    part = malloc((size_t)(count + 1) * sizeof *part);
    all = malloc((size_t)(n + 1) * sizeof *all);
    if (!xadj || !adjncy || !vwgt || !part || !all) fail("out of memory");
    for (idx_t v = 0; v < vtxdist[rank + 1]; v++) {
        if (getline(&line, &room, file) < 0) fail("the graph is too short");
        if (v < vtxdist[rank]) continue;
        xadj[v - vtxdist[rank]] = (idx_t)arcs;
        char *next = line, *end;
        for (long to = strtol(next, &end, 10); end != next; next = end, to = strtol(next, &end, 10)) adjncy[arcs++] = (idx_t)(to - 1);
    }
    xadj[count] = (idx_t)arcs;
    fclose(file);
    free(line);
}

/* Prints what a call has found; `before` has the earlier parts of all vertices, if there are some. */
static void print(int code, idx_t edgecut, double seconds, const idx_t *before)
{
    static long long loads[1 << 16];
    int counts[1024], starts[1024];
    if (code != METIS_OK) fail("the call has failed");
    for (int r = 0; r < size; r++) {
        starts[r] = (int)vtxdist[r];
        counts[r] = (int)(vtxdist[r + 1] - vtxdist[r]);
    }
    MPI_Datatype type = sizeof(idx_t) == 8 ? MPI_INT64_T : MPI_INT32_T;
    MPI_Allgatherv(part, counts[rank], type, all, counts, starts, type, MPI_COMM_WORLD);
    long long cut = 0, total = 0, moved = 0, least = 1LL << 62, greatest = 0;
    memset(loads, 0, sizeof loads);
    for (idx_t i = 0; i < vtxdist[rank + 1] - vtxdist[rank]; i++) {
        idx_t v = vtxdist[rank] + i;
        for (idx_t arc = xadj[i]; arc < xadj[i + 1]; arc++) cut += all[v] != all[adjncy[arc]];
        loads[all[v]] += vwgt[i];
        total += vwgt[i];
        moved += before && all[v] != before[v];
    }
    long long sums[3] = {cut, total, moved};
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, loads, (int)parts, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (sums[0] / 2 != edgecut) fail("the cut is wrong");
    for (idx_t p = 0; p < parts; p++) {
        least = loads[p] < least ? loads[p] : least;
        greatest = loads[p] > greatest ? loads[p] : greatest;
    }
    double share = (double)sums[1] / (double)parts;
    if (rank == 0) printf("cut %lld least %.3f greatest %.3f seconds %.3f moved %lld\n", sums[0] / 2, (double)least / share, (double)greatest / share, seconds, sums[2]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (argc < 3 || size > 1024) fail("usage: parmetis GRAPH PARTS [SEED] [ITR]");
    parts = (idx_t)atol(argv[2]);
    if (parts < 1 || parts > 1 << 16) fail("PARTS is out of range");
    read_graph(argv[1]);
    idx_t none = 0, weights = 2, one = 1, edgecut = 0, options[4] = {1, 0, argc > 3 ? (idx_t)atol(argv[3]) : 0, PARMETIS_PSR_UNCOUPLED};
    real_t ubvec[1] = {(real_t)1.05}, *tpwgts = malloc((size_t)parts * sizeof *tpwgts), itr = argc > 4 ? (real_t)atof(argv[4]) : 0;
    if (!tpwgts) fail("out of memory");
    for (idx_t p = 0; p < parts; p++) tpwgts[p] = (real_t)1 / (real_t)parts;
    for (idx_t i = 0; i < vtxdist[rank + 1] - vtxdist[rank]; i++) vwgt[i] = 1;
    MPI_Barrier(comm);
    double start = MPI_Wtime();
    int code = ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, NULL, NULL, &none, &none, &one, &parts, tpwgts, ubvec, options, &edgecut, part, &comm);
    print(code, edgecut, MPI_Wtime() - start, NULL);
    if (argc > 4) {
        idx_t *before = malloc((size_t)(n + 1) * sizeof *before);
        if (!before) fail("out of memory");
        memcpy(before, all, (size_t)n * sizeof *before);
        for (idx_t i = 0; i < vtxdist[rank + 1] - vtxdist[rank]; i++) vwgt[i] = vtxdist[rank] + i < n / 10 ? 3 : 1;
        MPI_Barrier(comm);
        start = MPI_Wtime();
        code = ParMETIS_V3_AdaptiveRepart(vtxdist, xadj, adjncy, vwgt, NULL, NULL, &weights, &none, &one, &parts, tpwgts, ubvec, &itr, options, &edgecut,
                                          part, &comm);
        print(code, edgecut, MPI_Wtime() - start, before);
        free(before);
    }
    MPI_Finalize();
    return 0;
}
