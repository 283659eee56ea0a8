/* Declarations that the sources of libviem_reorder share. None is visible outside. */
#ifndef VIEM_REORDER_H
#define VIEM_REORDER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* The visible functions of the library; all others are hidden. */
#define EXPORTED __attribute__((visibility("default")))

/* ---- the graph -------------------------------------------------------------------------------------------------- */

/* Edges between vertices, counted from 0; in any order and direction, and several times. */
typedef struct {
    int64_t num, capacity;
    int64_t *from, *to, *weights;
} edges;

extern const edges no_edges;

/* Why a process cannot take part; 0 if it can. The one with the greatest number is reported. */
typedef enum { FAULT_NONE, FAULT_NO_MEMORY, FAULT_TOO_MANY_EDGES, FAULT_NOT_RECORDED, FAULT_NO_PES, FAULT_FILE, FAULT_ARGUMENTS } fault;

/* Make room for edges, and free it. `reserve` keeps those that there are. */
fault reserve(edges *edges, int64_t capacity);
fault add_edge(edges *edges, int64_t from, int64_t to, int64_t weight);
void free_edges(edges *edges);

/* The edges of the four kinds of topologies, or of the part of it that this process gives. Arguments that MPI would refuse are
 * FAULT_ARGUMENTS. `size` is that of the communicator; `num_vertices` gets the size of the topology. */
fault cart_edges(int size, int num_dims, const int dims[], const int periods[], edges *edges, int *num_vertices);
fault graph_edges(int size, int num_nodes, const int index[], const int targets[], edges *edges, int *num_vertices);
fault adjacent_edges(int size, int rank, int num_targets, const int targets[], const int *weights, edges *edges);
fault listed_edges(int size, int num_sources, const int sources[], const int degrees[], const int targets[],
                   const int *weights, edges *edges);
/* Whether these are ranks with weights that MPI accepts. */
int are_neighbours(int size, int count, const int ranks[], const int *weights);

/* ---- the machine ------------------------------------------------------------------------------------------------ */

/* Levels of a machine, outermost first: switches, and what is inside a host. */
enum { NUM_SWITCHES = 5, HOST = NUM_SWITCHES, PACKAGE, NUMA, CACHE, CORE, NUM_LEVELS };

/* Where a process runs: at each level the name of its unit, as a number. CPUs of several units are a unit of their own. */
typedef struct {
    int64_t unit[NUM_LEVELS];
    int64_t num_cpus;
} site;

/* A set of CPUs, in increasing order. */
typedef struct {
    int num;
    int *cpus;
} cpu_list;

/* The site of the calling thread: as the kernel, MPI and Slurm say. */
void find_site(site *site);
/* Its parts. `folder` is that of the CPUs in sysfs, `address` the value of SLURM_TOPOLOGY_ADDR. */
void find_units(site *site, const char *folder, cpu_list list);
void find_switches(site *site, const char *host, const char *address);

/* A machine as libviem reads it. `pes[r]` is where rank r of the communicator is. */
typedef struct {
    int num_ranks;
    char *spec, *distances;
    int64_t *pes;
    /* Whether all ranks are equally far apart for certain. */
    int is_flat;
} machine;

/* The machine that sites make: a tree. */
fault machine_of_sites(const site sites[], int num_ranks, const char *distances, machine *machine);
/* A machine that was specified. */
fault machine_of_spec(const char *spec, const char *distances, const int world_ranks[], int num_ranks, machine *machine);
void free_machine(machine *machine);

/* The binding of ranks by their sites: a line of text; empty if each has a core to itself. */
void describe_binding(const site sites[], int num_ranks, char *text, size_t size);

/* ---- the mapping ------------------------------------------------------------------------------------------------ */

typedef struct {
    double seconds;    /* a run ends soon after this time */
    double threshold;  /* the least gain, as a part of the bottleneck or of J */
    const char *objective; /* as `viem map --objective` takes it */
    const char *cache; /* a folder; NULL for none */
} options;

options read_options(int num_ranks);

enum { MESSAGE_SIZE = 400 };

/* The decision. */
typedef struct {
    int moves;     /* whether ranks change */
    int is_fault;  /* whether they stay because something failed */
    int64_t cost_before, cost_after;
    int64_t load_before, load_after; /* the bottleneck */
    char message[MESSAGE_SIZE];
} decision;

/* Maps vertices to ranks: `new_rank[r]` gets the vertex that rank r becomes; ranks without a vertex get numbers from
 * `num_vertices` on. */
void map_vertices(int num_vertices, const edges *edges, const machine *machine, const options *options, int new_rank[],
                  decision *decision);

/* FNV-1a: the hash of what came before, and further bytes. */
#define HASH_START 0xcbf29ce484222325u
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* ---- the job ---------------------------------------------------------------------------------------------------- */

/* A reordering under way. */
typedef struct {
    MPI_Comm comm;      /* that of the program */
    MPI_Comm ours;      /* its copy, on which only this library communicates */
    MPI_Comm reordered; /* the same processes, reordered; `ours` if ranks stay */
    int rank, size;     /* of the calling process in `ours` */
    int new_rank;       /* its rank in `reordered` */
    int heir;           /* the process, by its rank in `ours`, that gets this process's old rank */
    decision decision;  /* complete on rank 0, costs on all */
} session;

/* Collective. Whether `reordered` can be used; if so, `end` must follow, else everything is freed. Frees the edges. */
int begin(session *session, MPI_Comm comm, const char *name, int num_vertices, edges *part, fault fault);
/* Collective. Whether every process has succeeded; if not, `result` is freed. Frees the session. */
int end(session *session, int is_success, MPI_Comm *result);

/* Makes `reordered` the result of a session that has begun, and frees the rest. */
void take(session *session, MPI_Comm *result);

/* Says at rank 0 why ranks stay. */
void say_why(const char *name, int size, const char *why);

/* Four arrays of numbers, such as the arguments of a distributed graph. A length of -1 stands for MPI_UNWEIGHTED. */
enum { NUM_LISTS = 4 };
typedef struct {
    int num[NUM_LISTS];
    int *list[NUM_LISTS];
} lists;

/* Collective. Gives each process the lists of the process whose rank it now has. */
int exchange(const session *session, const lists *given, lists *received);
void free_lists(lists *lists);

/* The ranks in MPI_COMM_WORLD of all processes of a communicator of this size, MPI_UNDEFINED for those outside of it. `positions` has room for
 * as many numbers. */
void ranks_in_world(MPI_Comm comm, int size, int positions[], int world_ranks[]);

/* More than 0 while the library calls MPI itself: such calls mean what they say, whatever replaces MPI_COMM_WORLD. */
extern __thread int viem_reorder_depth;

/* The communicator that replaces one of the program: MPI_COMM_WORLD may have been permuted. */
#ifdef VIEM_WORLD
MPI_Comm world_of(MPI_Comm comm);
#else
#define world_of(comm) (comm)
#endif

/* The function of the library that comes next; ends the program if there is none. */
void *find_next(const char *name);

#endif
