/* Random topologies, each created with reorder = 1. Every rank knows what should come out, looks whether it does, and lets data pass between
 * neighbours. Machine: the tree 2:2:16 with distances 1:10:100.
 *
 *     topologies FIRST_SEED NUM_SEEDS
 *
 * Rank 0 prints J of each topology before and after, by the definition. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: seed %d, size %d: %s\n", __FILE__, __LINE__, seed, size, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
        }                                                                                                    \
    } while (0)

enum { MOST = 64, MOST_EDGES = 4096 };

static int seed, size, rank;
static MPI_Comm comm;
static MPI_Errhandler handler;

/* The same numbers on all ranks. */
static unsigned state;
static int below(int bound)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)bound);
}

/* ---- the graph and its cost ------------------------------------------------------------------------------------- */

static int num_edges, from[MOST_EDGES], to[MOST_EDGES], weight[MOST_EDGES];

static void add(int a, int b, int w)
{
    from[num_edges] = a;
    to[num_edges] = b;
    weight[num_edges++] = w;
}

/* Random edges: also from a vertex to itself, twice the same, and vertices without any. */
static void random_edges(int num_vertices, int is_weighted)
{
    int num = below(3 * num_vertices + 1);
    num_edges = 0;
    for (int i = 0; i < num; i++) {
        int repeats = below(5) == 0 ? 2 : 1, a = below(num_vertices), b = below(4) ? below(num_vertices) : (a + 7) % num_vertices;
        int w = is_weighted ? below(100) : 1;
        if (a % 7 == 3 || b % 7 == 3) continue;
        while (repeats--) add(a, b, w);
    }
}

static long distance(int a, int b)
{
    return a == b ? 0 : a / 2 == b / 2 ? 1 : a / 4 == b / 4 ? 10 : 100;
}

static long cost(const int pe_of[])
{
    long sum = 0;
    for (int i = 0; i < num_edges; i++) sum += 2 * weight[i] * distance(pe_of[from[i]], pe_of[to[i]]);
    return sum;
}

/* The costs of the old and the new ranks; that there is one process for each. */
static void check_ranks(const char *name, MPI_Comm result, int num_vertices)
{
    int mine[2] = {-1, 0}, all[2 * MOST], before[MOST], after[MOST], seen[MOST] = {0}, new_size = num_vertices;
    MPI_Errhandler inherited = handler;
    MPI_Comm_rank(MPI_COMM_WORLD, &mine[1]);
    if (result != MPI_COMM_NULL) {
        MPI_Comm_rank(result, &mine[0]);
        MPI_Comm_size(result, &new_size);
        MPI_Comm_get_errhandler(result, &inherited);
    }
    CHECK(new_size == num_vertices);
    MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, comm);
    for (int r = 0; r < size; r++) {
        before[r] = all[2 * r + 1];
        if (all[2 * r] < 0) continue;
        CHECK(all[2 * r] < num_vertices && !seen[all[2 * r]]++);
        after[all[2 * r]] = all[2 * r + 1];
    }
    for (int v = 0; v < num_vertices; v++) CHECK(seen[v]);
    /* MPICH itself does not hand it on. */
    if (memcmp(before, after, (size_t)num_vertices * sizeof(int))) CHECK(inherited == handler);
    if (inherited != handler) MPI_Errhandler_free(&inherited);
    if (rank == 0) printf("%s %ld %ld\n", name, cost(before), cost(after));
}

/* ---- Cartesian -------------------------------------------------------------------------------------------------- */

static int cart_rank(int num_dims, const int dims[], const int coords[])
{
    int result = 0;
    for (int i = 0; i < num_dims; i++) result = result * dims[i] + coords[i];
    return result;
}

static int shifted(int num_dims, const int dims[], const int periods[], const int coords[], int i, int step)
{
    int moved[4];
    memcpy(moved, coords, sizeof moved);
    moved[i] += step;
    if (!periods[i] && (moved[i] < 0 || moved[i] >= dims[i])) return MPI_PROC_NULL;
    moved[i] = (moved[i] + dims[i]) % dims[i];
    return cart_rank(num_dims, dims, moved);
}

static void check_rows(MPI_Comm cart, int num_dims, const int dims[], const int coords[])
{
    int keeps[4] = {0}, row_rank, row_size, sum = 0;
    MPI_Comm row;
    keeps[num_dims - 1] = 1;
    MPI_Cart_sub(cart, keeps, &row);
    MPI_Comm_rank(row, &row_rank);
    MPI_Comm_size(row, &row_size);
    CHECK(row_size == dims[num_dims - 1] && row_rank == coords[num_dims - 1]);
    int first = cart_rank(num_dims, dims, coords) - coords[num_dims - 1], mine = first + row_rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, row);
    CHECK(sum == row_size * first + row_size * (row_size - 1) / 2);
    MPI_Comm_free(&row);
}

static void check_cart(MPI_Comm cart, int num_dims, const int dims[], const int periods[])
{
    int me, coords[4] = {0}, sent[8], received[8];
    MPI_Comm_rank(cart, &me);
    if (num_dims == 0) return;
    MPI_Cart_coords(cart, me, num_dims, coords);
    CHECK(cart_rank(num_dims, dims, coords) == me);
    for (int i = 0; i < 2 * num_dims; i++) sent[i] = me, received[i] = -1;
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, cart);
    for (int i = 0; i < num_dims; i++) {
        int before, after, lower = shifted(num_dims, dims, periods, coords, i, -1);
        int upper = shifted(num_dims, dims, periods, coords, i, 1);
        MPI_Cart_shift(cart, i, 1, &before, &after);
        CHECK(before == lower && after == upper);
        CHECK(received[2 * i] == (lower == MPI_PROC_NULL ? -1 : lower));
        CHECK(received[2 * i + 1] == (upper == MPI_PROC_NULL ? -1 : upper));
    }
    check_rows(cart, num_dims, dims, coords);
}

static void cart_edges(int num_dims, const int dims[], const int periods[], int num)
{
    num_edges = 0;
    for (int v = 0; v < num; v++) {
        int coords[4] = {0};
        for (int i = num_dims - 1, rest = v; i >= 0; rest /= dims[i--]) coords[i] = rest % dims[i];
        for (int i = 0; i < num_dims; i++) {
            int next = shifted(num_dims, dims, periods, coords, i, 1);
            if (next != MPI_PROC_NULL) add(v, next, 1);
        }
    }
}

static void test_cart(void)
{
    int num_dims = below(4), dims[4] = {0}, periods[4] = {0}, num = 1;
    int whole = below(2) ? size : 1 + below(size);
    MPI_Comm cart;
    for (int i = 0; i < num_dims; i++) periods[i] = below(2);
    if (num_dims) MPI_Dims_create(whole, num_dims, dims);
    for (int i = 0; i < num_dims; i++) num *= dims[i];
    cart_edges(num_dims, dims, periods, num);
    MPI_Cart_create(comm, num_dims, dims, periods, 1, &cart);
    check_ranks("MPI_Cart_create", cart, num);
    if (cart == MPI_COMM_NULL) return;
    check_cart(cart, num_dims, dims, periods);
    MPI_Comm_free(&cart);
}

/* ---- graphs that every process knows ---------------------------------------------------------------------------- */

static void test_graph(void)
{
    int num = below(2) ? size : 1 + below(size), index[MOST], targets[MOST_EDGES], found[MOST_EDGES], me, degree, count = 0;
    int sent[2], received[2] = {0, 0}, sum = 0;
    MPI_Comm graph;
    random_edges(num, 0);
    for (int v = 0; v < num; v++) {
        for (int i = 0; i < num_edges; i++) {
            if (from[i] == v) targets[count++] = to[i];
        }
        index[v] = count;
    }
    MPI_Graph_create(comm, num, index, targets, 1, &graph);
    check_ranks("MPI_Graph_create", graph, num);
    if (graph == MPI_COMM_NULL) return;
    MPI_Comm_rank(graph, &me);
    MPI_Graph_neighbors_count(graph, me, &degree);
    int first = me ? index[me - 1] : 0;
    CHECK(degree == index[me] - first);
    MPI_Graph_neighbors(graph, me, degree, found);
    for (int i = 0; i < degree; i++) CHECK(found[i] == targets[first + i]);
    sent[0] = me, sent[1] = 1;
    MPI_Allreduce(sent, received, 2, MPI_INT, MPI_SUM, graph);
    sum = num * (num - 1) / 2;
    CHECK(received[0] == sum && received[1] == num);
    MPI_Comm_free(&graph);
}

/* ---- distributed graphs ----------------------------------------------------------------------------------------- */

/* The edges of a vertex in a fixed order: those that begin there, or those that end there. */
static int neighbours_of(int vertex, int is_target, int ranks[], int weights[])
{
    int count = 0;
    for (int i = num_edges - 1; i >= 0; i--) {
        if ((is_target ? from[i] : to[i]) != vertex) continue;
        ranks[count] = is_target ? to[i] : from[i];
        weights[count++] = weight[i];
    }
    return count;
}

static void check_exchange(MPI_Comm graph, int me, int num_sources, const int sources[], int num_targets)
{
    int sent[MOST_EDGES], received[MOST_EDGES];
    for (int i = 0; i < num_targets; i++) sent[i] = 1000 * seed + me;
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, graph);
    for (int i = 0; i < num_sources; i++) CHECK(received[i] == 1000 * seed + sources[i]);
}

static void test_adjacent(int is_weighted)
{
    static int sources[MOST_EDGES], targets[MOST_EDGES], w_in[MOST_EDGES], w_out[MOST_EDGES];
    static int s[MOST_EDGES], t[MOST_EDGES], wi[MOST_EDGES], wo[MOST_EDGES];
    int me, weighted, num_s, num_t;
    MPI_Comm graph;
    random_edges(size, is_weighted);
    int num_in = neighbours_of(rank, 0, sources, w_in), num_out = neighbours_of(rank, 1, targets, w_out);
    const int *in = !is_weighted ? MPI_UNWEIGHTED : num_in ? w_in : MPI_WEIGHTS_EMPTY;
    const int *out = !is_weighted ? MPI_UNWEIGHTED : num_out ? w_out : MPI_WEIGHTS_EMPTY;
    MPI_Dist_graph_create_adjacent(comm, num_in, sources, in, num_out, targets, out, MPI_INFO_NULL, 1, &graph);
    check_ranks("MPI_Dist_graph_create_adjacent", graph, size);
    MPI_Comm_rank(graph, &me);
    num_in = neighbours_of(me, 0, sources, w_in);
    num_out = neighbours_of(me, 1, targets, w_out);
    MPI_Dist_graph_neighbors_count(graph, &num_s, &num_t, &weighted);
    CHECK(num_s == num_in && num_t == num_out && !weighted == !is_weighted);
    MPI_Dist_graph_neighbors(graph, num_in, s, is_weighted ? wi : MPI_UNWEIGHTED, num_out, t, is_weighted ? wo : MPI_UNWEIGHTED);
    for (int i = 0; i < num_in; i++) CHECK(s[i] == sources[i] && (!is_weighted || wi[i] == w_in[i]));
    for (int i = 0; i < num_out; i++) CHECK(t[i] == targets[i] && (!is_weighted || wo[i] == w_out[i]));
    check_exchange(graph, me, num_in, s, num_out);
    MPI_Comm_free(&graph);
}

static unsigned scrambled(unsigned x)
{
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    return (x ^ (x >> 16)) * 0x45d9f3bu;
}

/* The neighbours of a process as numbers. Libraries may have them in any order, and some have them as they arrive. */
static void signature(MPI_Comm graph, int is_weighted, unsigned sums[4])
{
    static int s[MOST_EDGES], t[MOST_EDGES], wi[MOST_EDGES], wo[MOST_EDGES];
    int num_s, num_t, weighted;
    MPI_Dist_graph_neighbors_count(graph, &num_s, &num_t, &weighted);
    CHECK(!weighted == !is_weighted);
    MPI_Dist_graph_neighbors(graph, num_s, s, is_weighted ? wi : MPI_UNWEIGHTED, num_t, t, is_weighted ? wo : MPI_UNWEIGHTED);
    sums[0] = (unsigned)num_s, sums[1] = (unsigned)num_t, sums[2] = sums[3] = 0;
    for (int i = 0; i < num_s; i++) sums[2] += scrambled(1000 * (unsigned)s[i] + (is_weighted ? (unsigned)wi[i] : 0));
    for (int i = 0; i < num_t; i++) sums[3] += scrambled(1000 * (unsigned)t[i] + (is_weighted ? (unsigned)wo[i] : 0));
    int me;
    MPI_Comm_rank(graph, &me);
    check_exchange(graph, me, num_s, s, num_t);
}

static void test_listed(int is_weighted)
{
    static int sources[MOST_EDGES], degrees[MOST_EDGES], targets[MOST_EDGES], weights[MOST_EDGES];
    static unsigned all[4 * MOST];
    int count = 0, me;
    unsigned mine[4];
    MPI_Comm copy, plain, graph;
    random_edges(size, is_weighted);
    /* Each edge is given by some process, whatever its ends. */
    for (int i = 0; i < num_edges; i++) {
        if (below(size) != rank) continue;
        sources[count] = from[i], degrees[count] = 1, targets[count] = to[i], weights[count++] = weight[i];
    }
    const int *w = !is_weighted ? MPI_UNWEIGHTED : count ? weights : MPI_WEIGHTS_EMPTY;
    /* On a copy: Open MPI 4.1 may hang after others have been made of a communicator. */
    MPI_Comm_dup(comm, &copy);
    MPI_Dist_graph_create(copy, count, sources, degrees, targets, w, MPI_INFO_NULL, 0, &plain);
    MPI_Comm_free(&copy);
    MPI_Dist_graph_create(comm, count, sources, degrees, targets, w, MPI_INFO_NULL, 1, &graph);
    check_ranks("MPI_Dist_graph_create", graph, size);
    signature(plain, is_weighted, mine);
    MPI_Allgather(mine, 4, MPI_UNSIGNED, all, 4, MPI_UNSIGNED, comm);
    signature(graph, is_weighted, mine);
    MPI_Comm_rank(graph, &me);
    CHECK(memcmp(mine, all + 4 * me, sizeof mine) == 0);
    MPI_Comm_free(&plain);
    MPI_Comm_free(&graph);
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static void test_all(void)
{
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    test_cart();
    test_graph();
    test_adjacent(0);
    test_adjacent(1);
    test_listed(0);
    test_listed(1);
}

static void ignore(MPI_Comm *failed, int *code, ...)
{
    fprintf(stderr, "an error of MPI: %d\n", *code);
    MPI_Abort(*failed, 1);
}

int main(int argc, char **argv)
{
    int first, num, world_rank, world_size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    first = atoi(argv[1]);
    num = atoi(argv[2]);
    MPI_Comm_create_errhandler(ignore, &handler);
    for (seed = first; seed < first + num; seed++) {
        state = (unsigned)seed * 7919u + (unsigned)world_size;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, handler);
        test_all();
        MPI_Comm_free(&comm);
        /* A part of the processes, in another order; the others do the same. */
        int colour = world_rank % 3 == 1, key = seed % 2 ? -world_rank : world_rank;
        MPI_Comm_split(MPI_COMM_WORLD, colour, key, &comm);
        MPI_Comm_set_errhandler(comm, handler);
        state = (unsigned)seed * 7919u + (unsigned)world_size;
        test_all();
        MPI_Comm_free(&comm);
    }
    MPI_Errhandler_free(&handler);
    if (world_rank == 0) printf("passed\n");
    MPI_Finalize();
    return 0;
}
