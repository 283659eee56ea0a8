/* Zoltan divides a grid by PT-Scotch into as many parts as the argument says. Rank 0 prints the cut; loads must be from 0.95 to 1.03 of their shares. */
#include <stdlib.h>
#include <zoltan.h>

#include "check.h"

enum { WIDTH = 120, HEIGHT = 100, CELLS = WIDTH * HEIGHT };

static int rank, ranks;

static int first_of(int owner) { return (int)((long)CELLS * owner / ranks); }

static int owner_of(int cell)
{
    int owner = 0;
    while (cell >= first_of(owner + 1)) owner++;
    return owner;
}

/* The neighbours of a cell, and their number. */
static int neighbours(int cell, int found[4])
{
    int count = 0;
    if (cell / WIDTH > 0) found[count++] = cell - WIDTH;
    if (cell % WIDTH > 0) found[count++] = cell - 1;
    if (cell % WIDTH < WIDTH - 1) found[count++] = cell + 1;
    if (cell / WIDTH < HEIGHT - 1) found[count++] = cell + WIDTH;
    return count;
}

static int count_cells(void *none, int *code)
{
    (void)none;
    *code = ZOLTAN_OK;
    return first_of(rank + 1) - first_of(rank);
}

static void list_cells(void *none, int globals, int locals, ZOLTAN_ID_PTR cells, ZOLTAN_ID_PTR local, int weights, float *weight, int *code)
{
    (void)none, (void)globals, (void)locals, (void)weights, (void)weight;
    *code = ZOLTAN_OK;
    for (int cell = first_of(rank); cell < first_of(rank + 1); cell++) {
        cells[cell - first_of(rank)] = (ZOLTAN_ID_TYPE)cell;
        local[cell - first_of(rank)] = (ZOLTAN_ID_TYPE)(cell - first_of(rank));
    }
}

static void count_edges(void *none, int globals, int locals, int count, ZOLTAN_ID_PTR cells, ZOLTAN_ID_PTR local, int *degrees, int *code)
{
    (void)none, (void)globals, (void)locals, (void)local;
    int unused[4];
    *code = ZOLTAN_OK;
    for (int i = 0; i < count; i++) degrees[i] = neighbours((int)cells[i], unused);
}

static void list_edges(void *none, int globals, int locals, int count, ZOLTAN_ID_PTR cells, ZOLTAN_ID_PTR local, int *degrees, ZOLTAN_ID_PTR targets,
                       int *owners, int weights, float *weight, int *code)
{
    (void)none, (void)globals, (void)locals, (void)local, (void)degrees, (void)weights, (void)weight;
    *code = ZOLTAN_OK;
    for (int i = 0; i < count; i++) {
        int found[4], degree = neighbours((int)cells[i], found);
        for (int arc = 0; arc < degree; arc++) {
            *targets++ = (ZOLTAN_ID_TYPE)found[arc];
            *owners++ = owner_of(found[arc]);
        }
    }
}

int main(int argc, char **argv)
{
    static int part[CELLS], all[CELLS], loads[CELLS];
    float version;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(argc > 1 && Zoltan_Initialize(argc, argv, &version) == ZOLTAN_OK);
    int parts = atoi(argv[1]), changes, globals, locals, imports, exports, *ranks_in, *parts_in, *ranks_out, *parts_out;
    ZOLTAN_ID_PTR in, local_in, out, local_out;
    struct Zoltan_Struct *zoltan = Zoltan_Create(MPI_COMM_WORLD);
    const char *settings[][2] = {{"DEBUG_LEVEL", "0"},        {"LB_METHOD", "GRAPH"},     {"GRAPH_PACKAGE", "SCOTCH"}, {"LB_APPROACH", "PARTITION"},
                                 {"NUM_GLOBAL_PARTS", argv[1]}, {"RETURN_LISTS", "PARTS"}, {"IMBALANCE_TOL", "1.03"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) CHECK(Zoltan_Set_Param(zoltan, settings[i][0], settings[i][1]) == ZOLTAN_OK);
    Zoltan_Set_Num_Obj_Fn(zoltan, count_cells, NULL);
    Zoltan_Set_Obj_List_Fn(zoltan, list_cells, NULL);
    Zoltan_Set_Num_Edges_Multi_Fn(zoltan, count_edges, NULL);
    Zoltan_Set_Edge_List_Multi_Fn(zoltan, list_edges, NULL);
    CHECK(Zoltan_LB_Partition(zoltan, &changes, &globals, &locals, &imports, &in, &local_in, &ranks_in, &parts_in, &exports, &out, &local_out,
                              &ranks_out, &parts_out) == ZOLTAN_OK);
    CHECK(exports == first_of(rank + 1) - first_of(rank));
    for (int i = 0; i < exports; i++) part[out[i]] = parts_out[i];
    MPI_Allreduce(part, all, CELLS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int cut = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        int found[4], degree = neighbours(cell, found);
        CHECK(all[cell] >= 0 && all[cell] < parts);
        loads[all[cell]]++;
        for (int arc = 0; arc < degree; arc++) cut += found[arc] > cell && all[found[arc]] != all[cell];
    }
    for (int p = 0; p < parts; p++) CHECK(loads[p] * parts <= 1.03 * CELLS + parts && loads[p] * parts >= 0.95 * CELLS - parts);
    if (rank == 0) printf("%d\n", cut);
    Zoltan_Destroy(&zoltan);
    MPI_Finalize();
    return 0;
}
