/* Calls each function of ParMETIS on a grid that is distributed unevenly, recomputes all that it returns, and makes each mistake that a rank can make. Prints a
 * hash of the results that do not depend on the number of ranks. Divisions by zero and invalid operations trap all the while. */
#define _GNU_SOURCE
#include "check.h"

#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <parmetis.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 30, HEIGHT = 20, TOTAL = WIDTH * HEIGHT, MOST_RANKS = 16, MOST_WEIGHTS = 5, MOST_PARTS = 12 };

static int rank, num_ranks;
static idx_t vtxdist[MOST_RANKS + 1], xadj[TOTAL + 1], adjncy[4 * TOTAL], vwgt[MOST_WEIGHTS * TOTAL], adjwgt[4 * TOTAL], vsize[TOTAL];
static idx_t part[TOTAL], all[TOTAL], before[TOTAL];
static idx_t first, count, base;
static int is_even;
static uint64_t hash = 0xcbf29ce484222325u;
static MPI_Comm comm;

/* What is asked of a call. */
static idx_t wgtflag, numflag, ncon, nparts, options[4], edgecut;
static real_t tpwgts[MOST_WEIGHTS * MOST_PARTS], ubvec[MOST_WEIGHTS];

static idx_t weight_of(idx_t v, idx_t constraint)
{
    return constraint == 0 ? 1 + v % 3 : constraint == 1 ? v % WIDTH < WIDTH / 2 : (v * (7 + constraint)) % 5;
}

/* Edges between rows weigh more. */
static idx_t weight_between(idx_t u, idx_t v)
{
    return u / WIDTH == v / WIDTH ? 1 : 3;
}

/* The part of the vertices that a rank has: rank 1 has none, the others have the more, the higher they are; or all have equally many. */
static idx_t portion(int r)
{
    return is_even ? 1 : r == 1 ? 0 : r + 1;
}

/* Numbers count from `base`. */
static void make_grid(void)
{
    idx_t parts = 0, sum = 0;
    for (int r = 0; r < num_ranks; r++) parts += portion(r);
    for (int r = 0; r <= num_ranks; r++) {
        vtxdist[r] = TOTAL * sum / parts + base;
        sum += portion(r);
    }
    first = vtxdist[rank] - base;
    count = vtxdist[rank + 1] - vtxdist[rank];
    idx_t arcs = 0;
    for (idx_t i = 0; i < count; i++) {
        idx_t v = first + i, neighbours[4] = {v - WIDTH, v - 1, v + 1, v + WIDTH};
        int exists[4] = {v >= WIDTH, v % WIDTH > 0, v % WIDTH < WIDTH - 1, v + WIDTH < TOTAL};
        xadj[i] = arcs + base;
        for (int side = 0; side < 4; side++) {
            if (!exists[side]) continue;
            adjwgt[arcs] = weight_between(v, neighbours[side]);
            adjncy[arcs++] = neighbours[side] + base;
        }
        for (idx_t c = 0; c < ncon; c++) vwgt[ncon * i + c] = weight_of(v, c);
        vsize[i] = 1;
    }
    xadj[count] = arcs + base;
}

/* So many parts of equal shares, by so many weights. */
static void ask(idx_t flag, idx_t weights, idx_t parts, real_t imbalance)
{
    wgtflag = flag;
    ncon = weights;
    nparts = parts;
    numflag = base;
    for (idx_t i = 0; i < ncon * nparts; i++) tpwgts[i] = (real_t)1 / (real_t)nparts;
    for (idx_t c = 0; c < ncon; c++) ubvec[c] = imbalance;
    memset(options, 0, sizeof options);
    edgecut = -1;
    make_grid();
}

/* The parts of all vertices, from 0. */
static void gather(const idx_t *own, idx_t *of_all)
{
    int counts[MOST_RANKS], starts[MOST_RANKS];
    MPI_Datatype type = sizeof(idx_t) == 8 ? MPI_INT64_T : MPI_INT32_T;
    for (int r = 0; r < num_ranks; r++) {
        starts[r] = (int)(vtxdist[r] - base);
        counts[r] = (int)(vtxdist[r + 1] - vtxdist[r]);
    }
    MPI_Allgatherv(own, (int)count, type, of_all, counts, starts, type, comm);
    for (int v = 0; v < TOTAL; v++) of_all[v] -= base;
}

static idx_t cut_of(const idx_t *parts, int is_weighted)
{
    idx_t cut = 0;
    for (idx_t v = 0; v < TOTAL; v++) {
        if (v % WIDTH < WIDTH - 1) cut += parts[v] != parts[v + 1];
        if (v + WIDTH < TOTAL) cut += (is_weighted ? 3 : 1) * (parts[v] != parts[v + WIDTH]);
    }
    return cut;
}

/* The loads of the parts by each weight are within their bounds, and, of one weight, not far below their shares. */
static void check_loads(const idx_t *parts)
{
    for (idx_t c = 0; c < ncon; c++) {
        double loads[MOST_PARTS] = {0}, total = 0, shares = 0;
        int is_weighted = (wgtflag & 2) != 0;
        for (idx_t v = 0; v < TOTAL; v++) {
            CHECK(parts[v] >= 0 && parts[v] < nparts);
            double weight = is_weighted ? (double)weight_of(v, c) : 1;
            loads[parts[v]] += weight;
            total += weight;
        }
        for (idx_t p = 0; p < nparts; p++) shares += tpwgts[p * ncon + c];
        for (idx_t p = 0; p < nparts; p++) {
            double fair = total * tpwgts[p * ncon + c] / shares;
            CHECK(loads[p] <= fmax(ubvec[c] * fair + 0.01, ceil(fair)));
            if (ncon == 1) CHECK(loads[p] >= floor(0.9 * fair - 0.01));
        }
    }
}

/* Checks the result of a call that has succeeded. */
static void check(int code, int is_hashed)
{
    if (code != METIS_OK) fprintf(stderr, "rank %d: %s\n", rank, viem_parmetis_error());
    CHECK(code == METIS_OK && *viem_parmetis_error() == 0);
    CHECK(fegetexcept() == (FE_DIVBYZERO | FE_INVALID));
    gather(part, all);
    check_loads(all);
    CHECK(edgecut == cut_of(all, wgtflag & 1));
    for (int v = 0; is_hashed && v < TOTAL; v++) hash = (hash ^ (uint64_t)all[v]) * 0x100000001b3u;
}

static int part_kway(void)
{
    return ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, vwgt, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options, &edgecut, part,
                                &comm);
}

static int refine_kway(void)
{
    return ParMETIS_V3_RefineKway(vtxdist, xadj, adjncy, vwgt, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options, &edgecut, part,
                                  &comm);
}

static int adaptive_repart(double itr)
{
    real_t ipc2redist = (real_t)itr;
    return ParMETIS_V3_AdaptiveRepart(vtxdist, xadj, adjncy, vwgt, vsize, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, &ipc2redist,
                                      options, &edgecut, part, &comm);
}

/* ---- partitions ------------------------------------------------------------------------------------------------- */

static void check_part_kway(void)
{
    for (idx_t flag = 0; flag <= 3; flag++) {
        ask(flag, 1, 7, (real_t)1.05);
        check(part_kway(), 1);
        CHECK(edgecut < (flag & 1 ? 220 : 140));
    }
    idx_t cut = edgecut;
    memcpy(before, all, sizeof all);
    /* The same, counted from 1, and by the name that Fortran has for it. */
    int parmetis_v3_partkway_(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, real_t *, real_t *, idx_t *, idx_t *,
                              idx_t *, MPI_Fint *);
    base = 1;
    ask(3, 1, 7, (real_t)1.05);
    MPI_Fint handle = MPI_Comm_c2f(comm);
    check(parmetis_v3_partkway_(vtxdist, xadj, adjncy, vwgt, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options, &edgecut, part,
                                &handle),
          0);
    CHECK(edgecut == cut && memcmp(before, all, sizeof all) == 0);
    base = 0;
    /* Unequal shares, one part, as many parts as there are ranks, another seed. */
    ask(2, 1, 4, (real_t)1.03);
    for (int p = 0; p < 4; p++) tpwgts[p] = (real_t)(p + 1) / 10;
    check(part_kway(), 1);
    ask(0, 1, 1, (real_t)1.05);
    check(part_kway(), 1);
    CHECK(edgecut == 0);
    ask(0, 1, num_ranks, (real_t)1.05);
    check(part_kway(), 0);
    ask(3, 1, 7, (real_t)1.05);
    options[0] = 1;
    options[2] = 17;
    check(part_kway(), 1);
}

static void check_several_weights(void)
{
    for (idx_t weights = 2; weights <= MOST_WEIGHTS; weights++) {
        ask(3, weights, 4, (real_t)1.25);
        check(part_kway(), 1);
        CHECK(edgecut < 300);
        /* Again from there: nothing gets worse. */
        idx_t cut = edgecut;
        memcpy(before, all, sizeof all);
        options[0] = 1;
        options[3] = PARMETIS_PSR_UNCOUPLED;
        check(refine_kway(), 1);
        CHECK(edgecut <= cut);
        memcpy(part, before + first, (size_t)count * sizeof *part);
        check(adaptive_repart(0.001), 1);
        CHECK(memcmp(before, all, sizeof all) == 0);
    }
    ask(0, 3, 3, (real_t)1.05);
    check(part_kway(), 1);
}

/* Rows with edges to themselves, twice, of weight 0, and at one end only. */
static void check_loose_rows(void)
{
    ask(1, 1, 5, (real_t)1.05);
    check(part_kway(), 0);
    memcpy(before, all, sizeof all);
    static idx_t loose[10 * TOTAL], weights[10 * TOTAL], starts[TOTAL + 1];
    idx_t arcs = 0;
    for (idx_t i = 0; i < count; i++) {
        starts[i] = arcs;
        for (idx_t arc = xadj[i]; arc < xadj[i + 1]; arc++) {
            idx_t v = first + i, u = adjncy[arc];
            if (u < v && v % 2) continue;
            idx_t pieces = adjwgt[arc] == 3 ? 2 : 1;
            for (idx_t piece = 0; piece < pieces; piece++) {
                weights[arcs] = piece ? 2 : 1;
                loose[arcs++] = u;
            }
        }
        weights[arcs] = 9;
        loose[arcs++] = first + i;
        weights[arcs] = 0;
        loose[arcs++] = (first + i + 77) % TOTAL;
    }
    starts[count] = arcs;
    /* Each edge is still at one of its ends: an even vertex lists all, and neighbours of odd ones in other rows have the greater number. */
    int code = ParMETIS_V3_PartKway(vtxdist, starts, loose, NULL, weights, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, NULL, &edgecut, part,
                                    &comm);
    check(code, 0);
    CHECK(memcmp(before, all, sizeof all) == 0);
}

static void check_geometry(void)
{
    static real_t xyz[3 * TOTAL];
    ask(3, 1, 7, (real_t)1.05);
    check(part_kway(), 0);
    memcpy(before, all, sizeof all);
    for (idx_t i = 0; i < count; i++) {
        xyz[2 * i] = (real_t)((first + i) % WIDTH);
        xyz[2 * i + 1] = (real_t)((first + i) / WIDTH);
    }
    idx_t ndims = 2;
    int code = ParMETIS_V3_PartGeomKway(vtxdist, xadj, adjncy, vwgt, adjwgt, &wgtflag, &numflag, &ndims, xyz, &ncon, &nparts, tpwgts, ubvec, options,
                                        &edgecut, part, &comm);
    check(code, 0);
    CHECK(memcmp(before, all, sizeof all) == 0);
    CHECK(ParMETIS_V3_PartGeom(vtxdist, &ndims, xyz, part, &comm) == METIS_OK);
    gather(part, all);
    idx_t loads[MOST_RANKS] = {0};
    for (int v = 0; v < TOTAL; v++) loads[all[v]]++;
    for (int r = 0; r < num_ranks; r++) CHECK(loads[r] >= TOTAL / num_ranks && loads[r] <= TOTAL / num_ranks + 1);
    /* Halves of the longest side: 20 edges in two parts, 30 more in four, 40 at most in eight. */
    CHECK(cut_of(all, 0) <= (num_ranks == 1 ? 0 : num_ranks == 2 ? 20 : num_ranks <= 4 ? 52 : 130));
}

/* ---- older partitions ------------------------------------------------------------------------------------------- */

static int num_moved(void)
{
    int moved = 0;
    for (int v = 0; v < TOTAL; v++) moved += all[v] != before[v];
    return moved;
}

static void check_refine_kway(void)
{
    /* Vertical stripes of parts. */
    ask(1, 1, 6, (real_t)1.05);
    options[0] = 1;
    options[3] = PARMETIS_PSR_UNCOUPLED;
    for (idx_t i = 0; i < count; i++) part[i] = (first + i) % WIDTH * 6 / WIDTH;
    gather(part, before);
    check(refine_kway(), 1);
    CHECK(edgecut <= cut_of(before, 1));
    /* From anything, something good. */
    for (idx_t i = 0; i < count; i++) part[i] = (first + i) % 6;
    check(refine_kway(), 1);
    CHECK(edgecut < 260);
    /* Coupled, which is the default for as many parts as ranks: the parts are the ranks, whatever `part` has. */
    base = 1;
    ask(0, 1, num_ranks, (real_t)1.05);
    for (idx_t i = 0; i < count; i++) part[i] = -5;
    check(refine_kway(), 0);
    is_even = 1;
    ask(0, 1, num_ranks, (real_t)1.05);
    check(adaptive_repart(0.0001), 0);
    for (int r = 0; r < num_ranks; r++)
        for (idx_t v = vtxdist[r] - base; v < vtxdist[r + 1] - base; v++) CHECK(all[v] == r);
    is_even = 0;
    base = 0;
}

static void check_adaptive_repart(void)
{
    ask(3, 1, 6, (real_t)1.05);
    options[0] = 1;
    options[3] = PARMETIS_PSR_UNCOUPLED;
    check(part_kway(), 1);
    idx_t cut = edgecut;
    memcpy(before, all, sizeof all);
    /* Where moving is dear, nothing moves. */
    check(adaptive_repart(0.0001), 1);
    CHECK(edgecut == cut && num_moved() == 0);
    /* Horizontal stripes cut dear edges: all moves if that is cheap, nothing if it is dear. */
    for (idx_t i = 0; i < count; i++) part[i] = (first + i) / WIDTH * 6 / HEIGHT;
    ubvec[0] = (real_t)1.25;
    gather(part, before);
    idx_t start = cut_of(before, 1);
    check(adaptive_repart(1e6), 1);
    CHECK(edgecut < start && num_moved() > 0);
    idx_t moved = num_moved();
    memcpy(part, before + first, (size_t)count * sizeof *part);
    check(adaptive_repart(0.001), 1);
    CHECK(num_moved() < moved && num_moved() < 20);
    /* Vertices whose data is large stay: those in the left half. */
    memcpy(part, before + first, (size_t)count * sizeof *part);
    for (idx_t i = 0; i < count; i++) vsize[i] = (first + i) % WIDTH < WIDTH / 2 ? 100000 : 0;
    check(adaptive_repart(1.0), 1);
    CHECK(edgecut < start && num_moved() > 0);
    for (int v = 0; v < TOTAL; v++) CHECK(v % WIDTH >= WIDTH / 2 || all[v] == before[v]);
}

/* ---- meshes ----------------------------------------------------------------------------------------------------- */

/* The elements are the squares of a grid of (WIDTH + 1) x (HEIGHT + 1) nodes, so their graph by two common nodes is the grid. */
static void check_meshes(void)
{
    static idx_t eptr[TOTAL + 1], eind[4 * TOTAL];
    for (base = 0; base <= 1; base++) {
        ask(2, 1, 5, (real_t)1.05);
        for (idx_t i = 0; i < count; i++) {
            idx_t v = first + i, corner = v / WIDTH * (WIDTH + 1) + v % WIDTH + base;
            idx_t nodes[4] = {corner, corner + 1, corner + WIDTH + 1, corner + WIDTH + 2};
            eptr[i] = 4 * i + base;
            memcpy(eind + 4 * i, nodes, sizeof nodes);
        }
        eptr[count] = 4 * count + base;
        for (idx_t common = 1; common <= 3; common++) {
            idx_t *offsets = NULL, *targets = NULL;
            CHECK(ParMETIS_V3_Mesh2Dual(vtxdist, eptr, eind, &numflag, &common, &offsets, &targets, &comm) == METIS_OK);
            CHECK(offsets[0] == base);
            for (idx_t i = 0; i < count; i++) {
                idx_t v = first + i, x = v % WIDTH, y = v / WIDTH, expected = 0;
                for (idx_t u = 0; u < TOTAL; u++) {
                    idx_t dx = u % WIDTH > x ? u % WIDTH - x : x - u % WIDTH, dy = u / WIDTH > y ? u / WIDTH - y : y - u / WIDTH;
                    int is_near = u != v && dx <= 1 && dy <= 1 && (common == 1 || (common == 2 && dx + dy == 1));
                    int is_listed = 0;
                    for (idx_t arc = offsets[i]; arc < offsets[i + 1]; arc++) is_listed += targets[arc - base] == u + base;
                    CHECK(is_listed == is_near);
                    expected += is_near;
                }
                CHECK(offsets[i + 1] - offsets[i] == expected);
            }
            free(offsets);
            free(targets);
        }
        idx_t common = 2;
        check(ParMETIS_V3_PartMeshKway(vtxdist, eptr, eind, vwgt, &wgtflag, &numflag, &ncon, &common, &nparts, tpwgts, ubvec, options, &edgecut, part,
                                       &comm),
              1);
    }
    base = 0;
}

/* ---- mistakes --------------------------------------------------------------------------------------------------- */

/* A call has failed on all ranks, with this text in its message. */
static void expect(int code, const char *text)
{
    int is_right = code == METIS_ERROR && strstr(viem_parmetis_error(), text) != NULL;
    if (!is_right) fprintf(stderr, "rank %d: code %d, \"%s\" instead of \"%s\"\n", rank, code, viem_parmetis_error(), text);
    CHECK(is_right);
}

/* Whether this rank is the one that makes mistakes: the last with vertices. */
static int errs(void)
{
    return rank == (num_ranks == 2 ? 0 : num_ranks - 1);
}

/* A mistake of one rank in the variable `place`. */
#define WRONG(place, wrong, call, text)            \
    do {                                           \
        ask(3, 1, 4, (real_t)1.05);                \
        if (errs()) place = wrong;                 \
        expect(call, text);                        \
    } while (0)

static void check_errors(void)
{
    ask(3, 1, 4, (real_t)1.05);
    memset(part, 0, sizeof part);
    WRONG(numflag, 2, part_kway(), "`numflag` is 2");
    WRONG(wgtflag, 4, part_kway(), "`wgtflag` is 4");
    WRONG(ncon, 0, part_kway(), "`ncon` is 0");
    WRONG(nparts, 0, part_kway(), "`nparts` is 0");
    WRONG(tpwgts[1], -1, part_kway(), "entry 1 of `tpwgts`");
    WRONG(tpwgts[1], (real_t)NAN, part_kway(), "entry 1 of `tpwgts`");
    WRONG(ubvec[0], (real_t)0.9, part_kway(), "entry 0 of `ubvec`");
    WRONG(adjncy[0], TOTAL, part_kway(), "entry 0 of `adjncy` is 600");
    WRONG(adjncy[0], -1, part_kway(), "entry 0 of `adjncy` is -1");
    WRONG(xadj[1], 100, part_kway(), "entry 2 of `xadj`");
    WRONG(vwgt[2], -1, part_kway(), "weighs -1");
    WRONG(adjwgt[2], -1, part_kway(), "weighs -1");
    WRONG(vtxdist[0], 1, part_kway(), "entry 0 of `vtxdist`");
    if (num_ranks > 1) {
        WRONG(nparts, 3, part_kway(), "than rank 0");
        WRONG(tpwgts[0], 1, part_kway(), "than rank 0");
        ask(3, 1, 4, (real_t)1.05);
        options[0] = errs();
        options[2] = 5;
        expect(part_kway(), "another seed than rank 0");
    }
    ask(3, 1, 5, (real_t)1.05);
    if (errs()) part[1] = 5;
    expect(refine_kway(), "entry 1 of `part` is 5");
    part[1] = 0;
    expect(adaptive_repart(0), "`ipc2redist` is 0");
    ask(3, 1, 4, (real_t)1.05);
    expect(ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, errs() ? NULL : vwgt, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options,
                                &edgecut, part, &comm),
           "`vwgt` must not be null");
    expect(ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, vwgt, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options,
                                errs() ? NULL : &edgecut, part, &comm),
           "`edgecut` must not be null");
    expect(ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, vwgt, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options, &edgecut,
                                errs() ? NULL : part, &comm),
           "`part` must not be null");
    expect(ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, vwgt, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options, &edgecut, part, NULL),
           "`comm` must not be null");
    MPI_Comm none = MPI_COMM_NULL;
    expect(ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, vwgt, adjwgt, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options, &edgecut, part, &none),
           "MPI_COMM_NULL");
    static real_t xyz[2 * TOTAL];
    idx_t ndims = 2, common = errs() ? 0 : 2, *offsets, *targets;
    expect(ParMETIS_V3_PartGeom(vtxdist, &ndims, errs() ? NULL : xyz, part, &comm), "`xyz` must not be null");
    if (errs()) xyz[3] = (real_t)NAN;
    expect(ParMETIS_V3_PartGeom(vtxdist, &ndims, xyz, part, &comm), "is not a number");
    expect(ParMETIS_V3_Mesh2Dual(vtxdist, xadj, adjncy, &numflag, &common, &offsets, &targets, &comm), "`ncommonnodes` is 0");
    idx_t order[TOTAL], sizes[2 * MOST_RANKS];
    expect(ParMETIS_V3_NodeND(vtxdist, xadj, adjncy, &numflag, options, order, sizes, &comm), "no orders");
    /* Nothing is left of all that. */
    ask(3, 1, 4, (real_t)1.05);
    check(part_kway(), 1);
}

/* More parts than vertices, a graph without vertices, and one without edges. */
static void check_small_graphs(void)
{
    ask(0, 1, 12, (real_t)1.05);
    idx_t starts[MOST_RANKS + 1], offsets[6] = {0};
    for (int r = 0; r <= num_ranks; r++) starts[r] = 0;
    CHECK(ParMETIS_V3_PartKway(starts, offsets, NULL, NULL, NULL, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options, &edgecut, part, &comm)
          == METIS_OK);
    CHECK(edgecut == 0);
    for (int r = 1; r <= num_ranks; r++) starts[r] = 5;
    CHECK(ParMETIS_V3_PartKway(starts, offsets, NULL, NULL, NULL, &wgtflag, &numflag, &ncon, &nparts, tpwgts, ubvec, options, &edgecut, part, &comm)
          == METIS_OK);
    CHECK(edgecut == 0);
    for (int v = 0; rank == 0 && v < 5; v++) {
        CHECK(part[v] >= 0 && part[v] < 12);
        for (int u = 0; u < v; u++) CHECK(part[u] != part[v]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &num_ranks);
    CHECK(num_ranks <= MOST_PARTS);
    feenableexcept(FE_DIVBYZERO | FE_INVALID);
    check_part_kway();
    check_several_weights();
    check_loose_rows();
    check_geometry();
    check_refine_kway();
    check_adaptive_repart();
    check_meshes();
    check_errors();
    check_small_graphs();
    fedisableexcept(FE_ALL_EXCEPT);
    if (rank == 0) printf("passed %016" PRIx64 "\n", hash);
    MPI_Finalize();
    return 0;
}
