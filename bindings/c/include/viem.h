/*
 * viem: process mapping and graph partitioning.
 *
 * Functions return a status and take an error last: where they fail, it gets an error with a message and the place of the fault, which
 * viem_error_free frees; where they succeed, it gets null. It may be null. Its value before the call is not read.
 *
 * Graphs, machines, mappings, settings and problems are handles. The caller that makes one frees it, once; results do not need what they were made
 * from. All indices count from 0. Texts are UTF-8 and end with a zero byte. Functions may be called from any number of threads at once, as long
 * as no arguments of a running call are changed or freed. Nothing is printed, and no function ends the process, unless the system refuses memory
 * that was free when a call began.
 *
 * This file is generated from the Rust source. The guide is docs/guide/c.md.
 */

#ifndef VIEM_H
#define VIEM_H

#include <stddef.h>
#include <stdint.h>

/**
 * The version of this header.
 */
#define VIEM_VERSION_MAJOR 2

/**
 * The version of this header.
 */
#define VIEM_VERSION_MINOR 0

/**
 * The version of this header.
 */
#define VIEM_VERSION_PATCH 0

/**
 * The value of entries of a report that are not known.
 */
#define VIEM_UNKNOWN INT64_MIN

/**
 * The outcome of a call.
 */
typedef enum {
  /**
   * The call succeeded.
   */
  VIEM_STATUS_OK = 0,
  /**
   * An argument or a setting is wrong or out of range.
   */
  VIEM_STATUS_USAGE = 1,
  /**
   * A graph, matrix, mapping or file is faulty.
   */
  VIEM_STATUS_BAD_DATA = 2,
  /**
   * A file is missing or cannot be read.
   */
  VIEM_STATUS_NO_INPUT = 3,
  /**
   * A file cannot be created.
   */
  VIEM_STATUS_CANNOT_CREATE = 4,
  /**
   * A file was created and cannot be written.
   */
  VIEM_STATUS_CANNOT_WRITE = 5,
  /**
   * There is not enough memory, or no thread can be started.
   */
  VIEM_STATUS_NO_RESOURCES = 6,
  /**
   * A mistake of the library. Nothing was changed; other calls work.
   */
  VIEM_STATUS_INTERNAL = 7
} viem_status;

/**
 * Trade-offs of time and quality.
 */
typedef enum {
  /**
   * About a third of the effort of VIEM_PRESET_ECO.
   */
  VIEM_PRESET_FAST = 0,
  /**
   * Good results; the default.
   */
  VIEM_PRESET_ECO = 1,
  /**
   * The best results, in about thirty times the effort of VIEM_PRESET_ECO.
   */
  VIEM_PRESET_STRONG = 2
} viem_preset;

/**
 * The hardware unit that is a PE.
 */
typedef enum {
  /**
   * Cores with all their hardware threads, or other units that the description of a machine has.
   */
  VIEM_PE_CORE = 0,
  /**
   * Hardware threads.
   */
  VIEM_PE_THREAD = 1,
  /**
   * The GPUs in files of hwloc.
   */
  VIEM_PE_GPU = 2
} viem_pe;

/**
 * The error of a call that has failed. Each belongs to the caller and is freed by `viem_error_free`.
 */
typedef struct viem_error viem_error;

/**
 * An undirected graph with weights of vertices (at least 0) and of edges (at least 1), all sums of which fit 63 bits. It does not change,
 * so any number of threads may use it at once.
 */
typedef struct viem_graph viem_graph;

/**
 * A machine: processing elements (PEs), numbered from 0, and their distances. It does not change, so any number of threads may use it at
 * once.
 */
typedef struct viem_machine viem_machine;

/**
 * The place of each process or vertex: the PE of a machine, the block of a partition, or the place of a quadratic assignment problem.
 * It does not change, so any number of threads may use it at once.
 */
typedef struct viem_mapping viem_mapping;

/**
 * A quadratic assignment problem: two square matrices of one size, neither necessarily sparse or symmetric. It does not change, so any number
 * of threads may use it at once.
 */
typedef struct viem_qap viem_qap;

/**
 * Settings of a run. Several runs may use them at once, unless one of the functions `viem_settings_set_...` changes them.
 */
typedef struct viem_settings viem_settings;

/**
 * Returns the distance between two PEs `a < b`, the same both ways, from 0 to the greatest distance of the machine; anything less counts as 0,
 * anything greater as that. It depends on nothing but its arguments. The threads of a run call it, several at once, so it must not change
 * what they share. It returns normally: no exception and no `longjmp` may leave it.
 */
typedef int64_t (*viem_distance_function)(void *data, uint32_t a, uint32_t b);

/**
 * The loads of the PEs or blocks; VIEM_UNKNOWN where nothing is known.
 */
typedef struct {
  /**
   * The smallest load of a PE or block.
   */
  int64_t least;
  /**
   * The greatest load of a PE or block.
   */
  int64_t greatest;
  /**
   * The greatest load that any PE or block may have.
   */
  int64_t bound;
  /**
   * The sum of the excesses over the bounds, of PEs and of nodes: 0 if all bounds are met.
   */
  int64_t overload;
  /**
   * The number of PEs or blocks with less than half of their share.
   */
  int64_t below_half;
  /**
   * The number of PEs or blocks below the least load.
   */
  int64_t below_least;
  /**
   * The sum of their deficits: 0 if all have the least load.
   */
  int64_t shortfall;
  /**
   * The number of PEs or blocks without a vertex, besides those without capacity.
   */
  int64_t empty;
} viem_loads;

/**
 * The vertices that have moved; VIEM_UNKNOWN where nothing is known.
 */
typedef struct {
  /**
   * Their number.
   */
  int64_t vertices;
  /**
   * Their weight.
   */
  int64_t weight;
} viem_migration;

/**
 * The report of a result, in the words of the report of the library; VIEM_UNKNOWN where nothing is known.
 */
typedef struct {
  /**
   * J: the sum of weight times distance over all edges, each counted in both directions. Of a partition, the cut.
   */
  int64_t cost;
  /**
   * J where process `i` is on the `i`-th PE.
   */
  int64_t cost_of_identity;
  /**
   * J of the mapping that the run started from.
   */
  int64_t cost_of_start;
  /**
   * A proven lower bound on J of a quadratic assignment problem.
   */
  int64_t lower_bound;
  /**
   * The weight of the edges between vertices of different PEs or blocks, each counted once.
   */
  int64_t cut;
  /**
   * The loads of the PEs or blocks.
   */
  viem_loads loads;
  /**
   * The number of PEs or blocks whose vertices are not connected by edges between them.
   */
  int64_t in_pieces;
  /**
   * The vertices that have moved.
   */
  viem_migration migration;
  /**
   * Time of the run.
   */
  double seconds;
  /**
   * 1 if the progress function ended the run, or a time limit a run that would have ended by itself; else 0.
   */
  int32_t stopped;
  /**
   * 1 if no result has a lower cost, else 0, which says nothing.
   */
  int32_t optimal;
} viem_report;

/**
 * A function that is called during a run: `cost` is the best J or cut so far, VIEM_UNKNOWN before there is one. The run ends soon with the best it
 * has if it returns anything but 0; then `stopped` is set in the report. One call at a time, at most a hundred a second, from any thread. It
 * returns normally: no exception and no `longjmp` may leave it.
 */
typedef int (*viem_progress_function)(void *data, int64_t cost);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library that is linked, such as `2.0.0`.
 */
const char *viem_version(void);

/**
 * Returns the notes of the last function of this thread that returns a status: a line of UTF-8 for each note, without a line end
 * behind the last one; empty if there is nothing. Notes are not errors: they report omissions and assumptions, such as traffic without
 * a place, or a least load that is rounded down to 0. Valid until the next such function of this thread; it is not freed.
 */
const char *viem_notes(void);

/**
 * The status of an error; VIEM_STATUS_OK for null.
 */
viem_status viem_error_status(const viem_error *error);

/**
 * The message of an error, one line of UTF-8, valid until the error is freed; empty for null.
 */
const char *viem_error_message(const viem_error *error);

/**
 * The file that an error is in, valid until the error is freed; null if it is in none.
 */
const char *viem_error_file(const viem_error *error);

/**
 * The line of the file, counted from 1; 0 if it is not known.
 */
int64_t viem_error_line(const viem_error *error);

/**
 * The column in that line, counted from 1 in bytes; 0 if it is not known.
 */
int64_t viem_error_column(const viem_error *error);

/**
 * The entry that is wrong, counted from 0: of the array that the message names, else the vertex, process, PE or block. -1 if no single
 * entry is wrong.
 */
int64_t viem_error_index(const viem_error *error);

/**
 * Frees an error. Null is ignored.
 *
 * Precondition: The error is not used again.
 */
void viem_error_free(viem_error *error);

/**
 * Makes a graph from arrays in compressed sparse row form, which are copied.
 *
 * The neighbours of vertex `u` are `targets[offsets[u]]` to `targets[offsets[u + 1] - 1]`, counted from 0, in any order. Each edge is in
 * the lists of both its ends, with the same weight; none leads from a vertex to itself, and none occurs twice in a list. METIS calls these
 * arrays `xadj`, `adjncy`, `adjwgt` and `vwgt`. O(n + m) for n vertices and m edges; 16 n + 24 m bytes.
 *
 * - `num_vertices`: n, at least 0 and below 2^32
 * - `offsets`: n + 1 entries, which do not fall; the first is 0, the last 2 m
 * - `targets`: 2 m entries
 * - `edge_weights`: 2 m entries, at least 1; null if all are 1
 * - `vertex_weights`: n entries, at least 0; null if all are 1
 * - `graph`: gets the graph, which `viem_graph_free` frees; null on failure
 * - `error`: gets the error, which `viem_error_free` frees; null on success. May be null
 *
 * Precondition: The arrays have these lengths. They do not change during the call.
 */
viem_status viem_graph_new32(int64_t num_vertices,
                             const int32_t *offsets,
                             const int32_t *targets,
                             const int32_t *edge_weights,
                             const int32_t *vertex_weights,
                             viem_graph **graph,
                             viem_error **error);

/**
 * The same for ids and weights of 64 bits.
 *
 * Precondition: As for `viem_graph_new32`.
 */
viem_status viem_graph_new64(int64_t num_vertices,
                             const int64_t *offsets,
                             const int64_t *targets,
                             const int64_t *edge_weights,
                             const int64_t *vertex_weights,
                             viem_graph **graph,
                             viem_error **error);

/**
 * The same for ids of 32 bits and weights of 64 bits.
 *
 * Precondition: As for `viem_graph_new32`.
 */
viem_status viem_graph_new32w64(int64_t num_vertices,
                                const int32_t *offsets,
                                const int32_t *targets,
                                const int64_t *edge_weights,
                                const int64_t *vertex_weights,
                                viem_graph **graph,
                                viem_error **error);

/**
 * Makes a graph of vertices of weight 1 from edges, which are copied: edge `i` joins `from[i]` and `to[i]`, counted from 0.
 *
 * Edges may come in any order and direction, and several times: their weights are summed. Edges of weight 0, and from a vertex to itself,
 * are left out. So recorded traffic can be given as it is. O(n + m).
 *
 * - `num_edges`: the length of `from`, `to` and `weights`
 * - `weights`: at least 0; null if all are 1
 *
 * Precondition: The arrays have these lengths. They do not change during the call.
 */
viem_status viem_graph_from_edges(int64_t num_vertices,
                                  int64_t num_edges,
                                  const int64_t *from,
                                  const int64_t *to,
                                  const int64_t *weights,
                                  viem_graph **graph,
                                  viem_error **error);

/**
 * Reads a graph from a METIS file, packed with gzip or not, or from one in ParHIP's binary format. Where the file is
 * faulty, the error has line and column, or names the byte. Vertices with several weights keep all of them.
 *
 * - `path`: the name of the file, in UTF-8
 * - `unit_weights`: 0 to take the weights of the vertices, any other number to let each vertex weigh 1
 *
 * Precondition: `path` ends with a zero byte.
 */
viem_status viem_graph_read(const char *path,
                            int unit_weights,
                            viem_graph **graph,
                            viem_error **error);

/**
 * Makes the same graph with several weights of its vertices, such as time and memory, in place of those that it has. Partitions and many-to-one
 * mappings balance each of them; `viem_settings_set_limits_of_weights` gives each limits of its own. METIS calls the number `ncon` and the array `vwgt`.
 * O(n + m + c n) for c weights.
 *
 * - `num_weights`: c, at least 1
 * - `weights`: c n entries, at least 0, all weights of one vertex after the other
 * - `weighted`: gets the graph, which `viem_graph_free` frees; null on failure
 *
 * Precondition: The array has this length. It does not change during the call.
 */
viem_status viem_graph_with_weights(const viem_graph *graph,
                                    int64_t num_weights,
                                    const int64_t *weights,
                                    viem_graph **weighted,
                                    viem_error **error);

/**
 * Reads the recorded traffic of a job as a graph: vertex `i` is rank `i`, and an edge weighs the bytes that its ends exchange. Flows of all
 * files are summed. `viem_notes` returns omissions and assumptions.
 *
 * - `num_files`, `paths`: the names of the files, in UTF-8; all of one kind, which their content shows. The chapter docs/guide/traffic.md lists
 *   the kinds
 * - `num_ranks`: the number of ranks of the job, which is that of the vertices; 0 for the highest that is mentioned, and one more
 *
 * Precondition: There are as many names, and they end with zero bytes.
 */
viem_status viem_graph_read_traffic(int64_t num_files,
                                    const char *const *paths,
                                    int64_t num_ranks,
                                    viem_graph **graph,
                                    viem_error **error);

/**
 * Writes a graph to a METIS file, whole or not at all. Weights are written unless all of a kind are 1.
 *
 * Precondition: `path` ends with a zero byte.
 */
viem_status viem_graph_write(const viem_graph *graph, const char *path, viem_error **error);

/**
 * Number of vertices; 0 for null.
 */
int64_t viem_graph_num_vertices(const viem_graph *graph);

/**
 * Number of edges, each counted once; 0 for null.
 */
int64_t viem_graph_num_edges(const viem_graph *graph);

/**
 * Returns the offsets of the neighbours of each vertex in `viem_graph_targets`: one entry more than vertices. Valid until the graph is freed; null for
 * null.
 */
const size_t *viem_graph_offsets(const viem_graph *graph);

/**
 * The neighbours of all vertices, two entries for each edge. Valid until the graph is freed; null for null.
 */
const uint32_t *viem_graph_targets(const viem_graph *graph);

/**
 * The weights of the edges, one for each entry of `viem_graph_targets`. Valid until the graph is freed; null for null.
 */
const int64_t *viem_graph_edge_weights(const viem_graph *graph);

/**
 * Number of weights of each vertex; 0 for null.
 */
int64_t viem_graph_num_weights(const viem_graph *graph);

/**
 * The weights of the vertices, all weights of one vertex after the other. Valid until the graph is freed; null for null.
 */
const int64_t *viem_graph_vertex_weights(const viem_graph *graph);

/**
 * Frees a graph. Null is ignored.
 *
 * Precondition: The graph is not used again.
 */
void viem_graph_free(viem_graph *graph);

/**
 * The number of files that a launcher needs: how many names `viem_launch_write` takes.
 *
 * - `launcher`: its name, such as `slurm`; that of no launcher is refused by a message with all names
 * - `num_files`: gets the number
 *
 * Precondition: `launcher` ends with a zero byte; `num_files` leads to an integer.
 */
viem_status viem_launch_num_files(const char *launcher, int64_t *num_files, viem_error **error);

/**
 * Writes the files that start a job as it was mapped; all of them, each whole, or none.
 *
 * - `launcher`: as for `viem_launch_num_files`
 * - `num_files`, `paths`: the names of its files, in UTF-8
 * - `command`: gets the command line, in which `./app` stands for the program; null if the launcher has none. `viem_string_free` frees it. May
 *   be null
 *
 * Precondition: There are as many names, and all texts end with zero bytes.
 */
viem_status viem_launch_write(const char *launcher,
                              const viem_machine *machine,
                              const viem_mapping *mapping,
                              int64_t num_files,
                              const char *const *paths,
                              char **command,
                              viem_error **error);

/**
 * Reads where the ranks of a job are from the file of a launcher: a rankfile, a host file or list, a rank order, or a plain mapping; its content
 * shows which.
 *
 * - `path`: the name of the file, in UTF-8
 * - `machine`: the machine whose PEs it means
 * - `num_ranks`: the number of ranks
 * - `mapping`: gets the PE of each rank as a mapping, which `viem_mapping_free` frees; null on failure
 *
 * Precondition: `path` ends with a zero byte.
 */
viem_status viem_launch_read(const char *path,
                             const viem_machine *machine,
                             int64_t num_ranks,
                             viem_mapping **mapping,
                             viem_error **error);

/**
 * Frees a text that the library has made. Null is ignored.
 *
 * Precondition: The text was made by the library and is not used again.
 */
void viem_string_free(char *string);

/**
 * Makes a machine from a text: a tree `4:16:8` with distances `1:10:100` (both innermost first), `torus:8x8x4`, `mesh:16x16`, `hypercube:10`, rails
 * of GPUs `rails:8:4:16`, a cluster such as `slurm` or `hosts:FILE,node=16:2`, or the name of a file with a network, a matrix or a target of
 * Scotch. The chapter docs/guide/machines.md lists all.
 *
 * - `spec`: the text, in UTF-8
 * - `distances`: those of the levels of a tree; null where the text says all
 * - `pes`: a list such as `0-63,128`, or the file with one: the machine has only these PEs, renumbered in this order. Null for all
 * - `machine`: gets the machine, which `viem_machine_free` frees; null on failure
 *
 * Precondition: The texts end with zero bytes.
 */
viem_status viem_machine_new(const char *spec,
                             const char *distances,
                             const char *pes,
                             viem_machine **machine,
                             viem_error **error);

/**
 * Makes a machine as `viem_machine_new` does, with all that may accompany a text.
 *
 * - `spec`, `distances`, `pes`: as there
 * - `pe`: one of `viem_pe`; other than VIEM_PE_CORE of clusters only
 * - `latency`: a file with the latencies between hosts, of clusters only; null for none
 * - `link_cycles`: a file with the times of links, of networks in files only; null for none
 * - `machine`: gets the machine, which `viem_machine_free` frees; null on failure
 *
 * Precondition: The texts end with zero bytes.
 */
viem_status viem_machine_from_text(const char *spec,
                                   const char *distances,
                                   const char *pes,
                                   int pe,
                                   const char *latency,
                                   const char *link_cycles,
                                   viem_machine **machine,
                                   viem_error **error);

/**
 * Makes a machine from a symmetric matrix of distances, which is copied.
 *
 * - `num_pes`: the number of rows, at least 1
 * - `distances`: `num_pes * num_pes` entries, row by row, at least 0; those on the diagonal are 0
 *
 * Precondition: The array has this length. It does not change during the call.
 */
viem_status viem_machine_from_matrix(int64_t num_pes,
                                     const int64_t *distances,
                                     viem_machine **machine,
                                     viem_error **error);

/**
 * Makes a machine whose distances a function computes, so no table of all pairs is needed. 4 bytes per PE; a table of a byte per pair where
 * there are at most 2048 PEs.
 *
 * - `num_pes`: at least 1
 * - `distance`, `data`: the function, and its first argument; both must work as long as the machine does
 * - `max_distance`: an upper bound on all distances, at least 0; the closer the better
 * - `has_triangle_inequality`: not 0 if `d(a, c) <= d(a, b) + d(b, c)` for all PEs; runs are faster then
 *
 * Precondition: The function may be called with `data` from any thread until the machine is freed.
 */
viem_status viem_machine_from_function(int64_t num_pes,
                                       viem_distance_function distance,
                                       void *data,
                                       int64_t max_distance,
                                       int has_triangle_inequality,
                                       viem_machine **machine,
                                       viem_error **error);

/**
 * Makes the same machine with room for several processes on each PE. Many-to-one mappings give each PE a load in proportion to its capacity.
 *
 * - `num_capacities`: the number of PEs of the machine
 * - `capacities`: by PE, at least 1
 * - `with_capacities`: gets the new machine; the old one stays as it is and may be freed
 *
 * Precondition: The array has this length. It does not change during the call.
 */
viem_status viem_machine_with_capacities(const viem_machine *machine,
                                         int64_t num_capacities,
                                         const uint32_t *capacities,
                                         viem_machine **with_capacities,
                                         viem_error **error);

/**
 * Number of PEs; 0 for null.
 */
int64_t viem_machine_num_pes(const viem_machine *machine);

/**
 * Number of nodes that the PEs are on, whose memory `viem_settings_set_node_capacities` bounds; 0 for null. If the machine knows no nodes, each PE is one.
 */
int64_t viem_machine_num_nodes(const viem_machine *machine);

/**
 * The distance between two PEs. Takes as long as the distances of the whole machine need to be prepared: for a look, not for loops.
 *
 * - `distance`: gets the distance
 *
 * Precondition: `distance` is null, which is an error, or leads to an integer.
 */
viem_status viem_machine_distance(const viem_machine *machine,
                                  int64_t a,
                                  int64_t b,
                                  int64_t *distance,
                                  viem_error **error);

/**
 * Frees a machine. Null is ignored.
 *
 * Precondition: The machine is not used again.
 */
void viem_machine_free(viem_machine *machine);

/**
 * Maps processes to the PEs of a machine, each PE up to its capacity, such that J, or the objective of the settings, is small: the sum of weight times distance over all edges of
 * the communication graph, each counted in both directions. The result is never worse than that of process `i` on the `i`-th PE.
 *
 * - `graph`: the communication of n processes; weights of vertices have no effect
 * - `machine`: has room for n processes at least
 * - `start`: a mapping that the result must not be worse than; null for none
 * - `fixed`: n entries, the PE that each process must be on, or -1; null if all are free. The start must respect them
 * - `settings`: null for those of VIEM_PRESET_ECO; imbalance and least load mean nothing here
 * - `mapping`: gets the mapping, which `viem_mapping_free` frees; null on failure
 *
 * Precondition: The array has this length. It does not change during the call.
 */
viem_status viem_map(const viem_graph *graph,
                     const viem_machine *machine,
                     const viem_mapping *start,
                     const int32_t *fixed,
                     const viem_settings *settings,
                     viem_mapping **mapping,
                     viem_error **error);

/**
 * Maps the vertices of an application graph to the PEs of a machine, many to each, such that J is small and no PE has more than
 * `(1 + imbalance) * ceil(its share of the weight of the graph)`. Shares are in proportion to the capacities of the PEs.
 * As far as bounds and vertices allow it, a PE has at least `least_load * its share`, rounded down; `viem_notes` says where that is 0, and `shortfall` in the report what
 * is missing.
 *
 * - `graph`: n vertices with weights, and their communication
 * - `start`: a mapping that the result must not be worse than, first by overload, then by shortfall, then by J; null for none
 * - `fixed`: n entries, the PE that each vertex must be on, or -1; null if all are free. The start must respect them
 * - `settings`: null for those of VIEM_PRESET_ECO
 * - `mapping`: gets the mapping, which `viem_mapping_free` frees; null on failure
 *
 * Precondition: The array has this length. It does not change during the call.
 */
viem_status viem_map_many_to_one(const viem_graph *graph,
                                 const viem_machine *machine,
                                 const viem_mapping *start,
                                 const int32_t *fixed,
                                 const viem_settings *settings,
                                 viem_mapping **mapping,
                                 viem_error **error);

/**
 * Adapts a many-to-one mapping after machine, weights or edges have changed, with few moves: minimises J plus `migration_weight` times the
 * weight of the vertices that move. The graph has the vertices of the old mapping.
 *
 * - `old`: the PE that each vertex is on, of those of this machine
 * - `migration_weight`: at least 0
 * - the rest as for `viem_map_many_to_one`; the fixed vertices go where they must, wherever they are
 *
 * Precondition: The array has this length. It does not change during the call.
 */
viem_status viem_remap(const viem_graph *graph,
                       const viem_machine *machine,
                       const viem_mapping *old,
                       double migration_weight,
                       const int32_t *fixed,
                       const viem_settings *settings,
                       viem_mapping **mapping,
                       viem_error **error);

/**
 * Reports how much the busiest node and the busiest link carry under a mapping.
 *
 * - `node`: gets the weight of all edges that leave the busiest node; each PE is a node if the machine does not know its nodes
 * - `link`: gets the load of the busiest link: the weight of all messages over it, in one direction, times its distance; VIEM_UNKNOWN where distances
 *   alone are known of the machine
 *
 * Precondition: `node` and `link` lead to memory for a number each.
 */
viem_status viem_busiest(const viem_graph *graph,
                         const viem_machine *machine,
                         const viem_mapping *mapping,
                         int64_t *node,
                         int64_t *link,
                         viem_error **error);

/**
 * Reports the cost of a mapping, without any search.
 *
 * - `many_to_one`: 0 if no PE may have more processes than its capacity; else any number of vertices may be on a PE, and loads are reported
 *   too, as the imbalance and the least load of the settings bound them
 *
 * Precondition: `report` leads to memory for a report.
 */
viem_status viem_evaluate(const viem_graph *graph,
                          const viem_machine *machine,
                          const viem_mapping *mapping,
                          int many_to_one,
                          const viem_settings *settings,
                          viem_report *report,
                          viem_error **error);

/**
 * Makes a mapping from the PE (or block) of each process (or vertex), which are copied. Any number of processes may be on a PE.
 *
 * - `num_pes`: the number of PEs
 * - `num_processes`: the length of `pe_of`
 * - `pe_of`: entries from 0 to `num_pes - 1`
 * - `mapping`: gets the mapping, which `viem_mapping_free` frees; null on failure
 *
 * Precondition: The array has this length. It does not change during the call.
 */
viem_status viem_mapping_new32(int64_t num_pes,
                               int64_t num_processes,
                               const int32_t *pe_of,
                               viem_mapping **mapping,
                               viem_error **error);

/**
 * The same for entries of 64 bits.
 *
 * Precondition: As for `viem_mapping_new32`.
 */
viem_status viem_mapping_new64(int64_t num_pes,
                               int64_t num_processes,
                               const int64_t *pe_of,
                               viem_mapping **mapping,
                               viem_error **error);

/**
 * Reads a mapping or a partition: a file with one number a line, the PE or block of each process or vertex.
 *
 * - `path`: the name of the file, in UTF-8
 * - `num_pes`: the number of PEs or blocks, at least 1
 * - `num_processes`: the number of lines
 *
 * Precondition: `path` ends with a zero byte.
 */
viem_status viem_mapping_read(const char *path,
                              int64_t num_pes,
                              int64_t num_processes,
                              viem_mapping **mapping,
                              viem_error **error);

/**
 * Writes the PE or block of each process or vertex to a file, one a line; whole or not at all.
 *
 * Precondition: `path` ends with a zero byte.
 */
viem_status viem_mapping_write(const viem_mapping *mapping, const char *path, viem_error **error);

/**
 * Number of processes or vertices; 0 for null.
 */
int64_t viem_mapping_num_processes(const viem_mapping *mapping);

/**
 * Number of PEs, blocks or places that there are, used or not; 0 for null.
 */
int64_t viem_mapping_num_pes(const viem_mapping *mapping);

/**
 * The PE, block or place of each process, without a copy. Valid until the mapping is freed; null for null.
 */
const uint32_t *viem_mapping_pes(const viem_mapping *mapping);

/**
 * Copies the PE, block or place of each process.
 *
 * - `num_processes`: the length of `pe_of`, that of the mapping
 *
 * Precondition: The array has this length. It is not in use elsewhere during the call.
 */
viem_status viem_mapping_copy32(const viem_mapping *mapping,
                                int64_t num_processes,
                                int32_t *pe_of,
                                viem_error **error);

/**
 * The same for entries of 64 bits.
 *
 * Precondition: As for `viem_mapping_copy32`.
 */
viem_status viem_mapping_copy64(const viem_mapping *mapping,
                                int64_t num_processes,
                                int64_t *pe_of,
                                viem_error **error);

/**
 * The report of the run that made a mapping. Of one that was given or read, nothing is known.
 *
 * Precondition: `report` leads to memory for a report.
 */
viem_status viem_mapping_report(const viem_mapping *mapping, viem_report *report, viem_error **error);

/**
 * Frees a mapping. Null is ignored.
 *
 * Precondition: The mapping is not used again.
 */
void viem_mapping_free(viem_mapping *mapping);

/**
 * Divides a graph into blocks of bounded weight with few edges between them.
 *
 * A block weighs at most `(1 + imbalance) * ceil(its share of the weight of the graph)`, if the weights of the vertices allow it; `overload` in
 * the report says whether all do. With an imbalance of 0 and vertices of weight 1, blocks have exactly their sizes. As far as bounds and vertices
 * allow it, a block weighs at least `least_load * its share`, rounded down; `viem_notes` says where that is 0, and `shortfall` in the report what
 * is missing. No block with a share
 * is empty, unless a vertex in it would exceed bounds by more. O((n + m) log k) and more, as the preset says.
 *
 * - `num_blocks`: k, at least 1; no more blocks with a share than vertices
 * - `shares`: k entries, at least 0 and not all of them, in proportion to which blocks weigh; null if all are equal. A block of share 0 stays
 *   empty
 * - `fixed`: n entries, the block that each vertex must be in, or -1; null if all vertices are free
 * - `settings`: null for those of VIEM_PRESET_ECO
 * - `partition`: gets the blocks as a mapping, which `viem_mapping_free` frees; null on failure
 *
 * Precondition: The arrays have these lengths. They do not change during the call.
 */
viem_status viem_partition(const viem_graph *graph,
                           int64_t num_blocks,
                           const int64_t *shares,
                           const int32_t *fixed,
                           const viem_settings *settings,
                           viem_mapping **partition,
                           viem_error **error);

/**
 * Adapts a partition after shares, weights or edges have changed, with few moves: minimises the cut plus `migration_weight` times the weight
 * of the vertices that move. The graph has the vertices of the old partition.
 *
 * - `old`: the block that each vertex is in
 * - `migration_weight`: at least 0; 1 lets a vertex of weight 1 move if that saves more than one edge of weight 1
 * - the rest as for `viem_partition`
 *
 * Precondition: As for `viem_partition`.
 */
viem_status viem_repartition(const viem_graph *graph,
                             int64_t num_blocks,
                             const int64_t *shares,
                             const int32_t *fixed,
                             const viem_mapping *old,
                             double migration_weight,
                             const viem_settings *settings,
                             viem_mapping **partition,
                             viem_error **error);

/**
 * Reports the cut and the loads of a partition that is given. Imbalance and least load of the settings decide the bounds.
 *
 * Precondition: As for `viem_partition`; `report` leads to memory for a report.
 */
viem_status viem_evaluate_partition(const viem_graph *graph,
                                    int64_t num_blocks,
                                    const int64_t *shares,
                                    const viem_mapping *partition,
                                    const viem_settings *settings,
                                    viem_report *report,
                                    viem_error **error);

/**
 * Makes a problem from two matrices, which are copied: put `size` objects at as many places such that
 * `sum over i and j of a[i][j] * b[place of i][place of j]` is small.
 *
 * - `size`: n, at most 65536
 * - `a`, `b`: n * n entries each, row by row
 * - `qap`: gets the problem, which `viem_qap_free` frees; null on failure
 *
 * Precondition: The arrays have these lengths. They do not change during the call.
 */
viem_status viem_qap_new(int64_t size,
                         const int64_t *a,
                         const int64_t *b,
                         viem_qap **qap,
                         viem_error **error);

/**
 * Reads a problem from a file of QAPLIB.
 *
 * Precondition: `path` ends with a zero byte.
 */
viem_status viem_qap_read(const char *path, viem_qap **qap, viem_error **error);

/**
 * Writes a problem to a file of QAPLIB, whole or not at all.
 *
 * Precondition: `path` ends with a zero byte.
 */
viem_status viem_qap_write(const viem_qap *qap, const char *path, viem_error **error);

/**
 * Number of objects, and of places; 0 for null.
 */
int64_t viem_qap_size(const viem_qap *qap);

/**
 * Solves a problem. Small ones are solved to optimality, and `optimal` in the report says so.
 *
 * - `start`: an assignment that the result must not be worse than; null for none
 * - `settings`: null for those of VIEM_PRESET_ECO; imbalance and least load mean nothing here
 * - `assignment`: gets the place of each object as a mapping, which `viem_mapping_free` frees; null on failure
 *
 * Precondition: `assignment` leads to a pointer.
 */
viem_status viem_qap_solve(const viem_qap *qap,
                           const viem_mapping *start,
                           const viem_settings *settings,
                           viem_mapping **assignment,
                           viem_error **error);

/**
 * The cost of an assignment.
 *
 * - `cost`: gets the sum
 *
 * Precondition: `cost` leads to an integer.
 */
viem_status viem_qap_cost(const viem_qap *qap,
                          const viem_mapping *assignment,
                          int64_t *cost,
                          viem_error **error);

/**
 * Writes an assignment to a solution file of QAPLIB, whole or not at all.
 *
 * Precondition: `path` ends with a zero byte.
 */
viem_status viem_qap_write_solution(const viem_qap *qap,
                                    const viem_mapping *assignment,
                                    const char *path,
                                    viem_error **error);

/**
 * Frees a problem. Null is ignored.
 *
 * Precondition: The problem is not used again.
 */
void viem_qap_free(viem_qap *qap);

/**
 * Makes settings: those of a preset, with seed 0, one thread, an imbalance of 3 %, no least load, no time limit and no progress function.
 *
 * - `preset`: one of `viem_preset`
 * - `settings`: gets the settings, which `viem_settings_free` frees; null on failure
 *
 * Precondition: `settings` leads to a pointer.
 */
viem_status viem_settings_new(int preset,
                              viem_settings **settings,
                              viem_error **error);

/**
 * Sets the seed of all random choices. The same seed gives the same result, with any number of threads.
 *
 * Precondition: The settings are not in use elsewhere.
 */
viem_status viem_settings_set_seed(viem_settings *settings, uint64_t seed, viem_error **error);

/**
 * Sets the number of threads: at least 1, or 0 for one per processor that the process may use.
 *
 * Precondition: The settings are not in use elsewhere.
 */
viem_status viem_settings_set_threads(viem_settings *settings, int64_t threads, viem_error **error);

/**
 * Sets the imbalance: 0.03 allows blocks and PEs 3 % more than their share. 0 asks for perfect balance.
 *
 * Precondition: The settings are not in use elsewhere.
 */
viem_status viem_settings_set_imbalance(viem_settings *settings, double imbalance, viem_error **error);

/**
 * Sets the least load: 0.9 asks for 90 % of its share at least in each block and on each PE, rounded down. 0 asks for nothing. Where both cannot
 * be met, bounds take precedence over least loads: the report says how many loads are below, and by how much.
 *
 * - `least_load`: from 0 to 1
 *
 * Precondition: The settings are not in use elsewhere.
 */
viem_status viem_settings_set_least_load(viem_settings *settings,
                                         double least_load,
                                         viem_error **error);

/**
 * Sets the least load of each block or PE as a weight, instead of a share that all have in common. Each is at most the share of its block or PE,
 * rounded up. Partitions and many-to-one mappings must have the same number of blocks or PEs.
 *
 * - `num_blocks`: the number of blocks or PEs; 0 removes these least loads
 * - `least_loads`: by block or PE, at least 0
 *
 * Precondition: The array has this length. It does not change during the call. The settings are not in use elsewhere.
 */
viem_status viem_settings_set_least_loads(viem_settings *settings,
                                          int64_t num_blocks,
                                          const int64_t *least_loads,
                                          viem_error **error);

/**
 * Sets the least load of each block or PE as a weight, for each of several weights of the vertices. Each is at most the share of its block or PE, rounded
 * up. Graphs of another number of weights, and another number of blocks or PEs, are refused.
 *
 * - `num_weights`: the number of weights; 0 removes these least loads
 * - `num_blocks`: the number of blocks or PEs
 * - `least_loads`: `num_weights` numbers for each block or PE, one block after the other, at least 0
 *
 * Precondition: The array has the length `num_weights * num_blocks`. It does not change during the call. The settings are not in use elsewhere.
 */
viem_status viem_settings_set_least_loads_of_weights(viem_settings *settings,
                                                     int64_t num_weights,
                                                     int64_t num_blocks,
                                                     const int64_t *least_loads,
                                                     viem_error **error);

/**
 * Sets imbalance and least load for each of several weights of the vertices, as `viem_graph_with_weights` takes them, in place of those that all
 * have in common. Graphs of another number of weights are refused.
 *
 * - `num_weights`: the number of weights; 0 removes these limits
 * - `imbalances`: by weight, finite and at least 0
 * - `least_loads`: by weight, from 0 to 1; null for 0
 *
 * Precondition: The arrays have this length. They do not change during the call. The settings are not in use elsewhere.
 */
viem_status viem_settings_set_limits_of_weights(viem_settings *settings,
                                                int64_t num_weights,
                                                const double *imbalances,
                                                const double *least_loads,
                                                viem_error **error);

/**
 * Sets the capacities of blocks or PEs for each of several weights of the vertices, such as speed and memory, in place of the capacities of a machine or the
 * shares of a partition. Shares of each weight are in proportion to them. Graphs of another number of weights, and machines of another number of PEs, are
 * refused.
 *
 * - `num_weights`: the number of weights; 0 removes these capacities
 * - `num_blocks`: the number of blocks or PEs
 * - `capacities`: `num_weights` numbers for each block or PE, one block after the other; of no weight all are 0
 *
 * Precondition: The array has the length `num_weights * num_blocks`. It does not change during the call. The settings are not in use elsewhere.
 */
viem_status viem_settings_set_capacities_of_weights(viem_settings *settings,
                                                    int64_t num_weights,
                                                    int64_t num_blocks,
                                                    const uint32_t *capacities,
                                                    viem_error **error);

/**
 * Sets the most that all vertices on a node of a machine may weigh together, such as its memory, by each of their weights. The bounds of PEs hold, too; a
 * large imbalance lifts them. The nodes are those that `viem_machine_num_nodes` counts. Each block of a partition is a node of its own.
 *
 * - `num_weights`: the number of weights of the vertices; 0 removes these bounds
 * - `num_nodes`: the number of nodes, or 1 if the numbers hold for all
 * - `capacities`: `num_weights` numbers for each node, one node after the other, each at least 0, or -1 for a weight that has no bound; of such a weight all are
 *   -1
 *
 * Precondition: The array has the length `num_weights * num_nodes`. It does not change during the call. The settings are not in use elsewhere.
 */
viem_status viem_settings_set_node_capacities(viem_settings *settings,
                                              int64_t num_weights,
                                              int64_t num_nodes,
                                              const int64_t *capacities,
                                              viem_error **error);

/**
 * Says whether the imbalance of partitions and many-to-one mappings is that of each division of the blocks or PEs in two, as for the recursive bisection of
 * METIS, instead of that of each block or PE. Distributed graphs refuse it.
 *
 * Precondition: The settings are not in use elsewhere.
 */
viem_status viem_settings_set_imbalance_per_division(viem_settings *settings,
                                                     int per_division,
                                                     viem_error **error);

/**
 * Says whether partitions and many-to-one mappings have connected blocks: the vertices of each block or PE are connected by edges between them, as far as
 * the bounds allow it. `in_pieces` in the report counts the others. Remappings, several weights and other objectives than J refuse it.
 *
 * Precondition: The settings are not in use elsewhere.
 */
viem_status viem_settings_set_connected(viem_settings *settings,
                                        int is_connected,
                                        viem_error **error);

/**
 * Sets what mappings minimise, one-to-one and many-to-one. Partitions and remappings minimise the cut or J.
 *
 * - `objective`: a name, as `viem map --objective` takes it, such as `bottleneck`
 * - `excess`: the share of J by which it may rise for another objective, from 0 to 1; 0.03 is 3 %. A simple order with a lower maximum than all
 *   mappings found within that limit may cost more
 *
 * Precondition: The text ends with a zero byte. The settings are not in use elsewhere.
 */
viem_status viem_settings_set_objective(viem_settings *settings,
                                        const char *objective,
                                        double excess,
                                        viem_error **error);

/**
 * Sets a time limit in seconds; 0 removes it. Mappings and quadratic assignment problems are improved until then, and end soon after it.
 * Partitions and remappings end early if they would take longer.
 *
 * Precondition: The settings are not in use elsewhere.
 */
viem_status viem_settings_set_time_limit(viem_settings *settings,
                                         double seconds,
                                         viem_error **error);

/**
 * Says whether every graph is taken for one with heavy-tailed degrees, such as social networks and the web: 0 if such graphs are
 * recognised by their degrees. Only partitions depend on it.
 *
 * Precondition: The settings are not in use elsewhere.
 */
viem_status viem_settings_set_social(viem_settings *settings,
                                     int is_social,
                                     viem_error **error);

/**
 * Sets the function that is called while a run goes on, and its first argument; null for none.
 *
 * Precondition: The settings are not in use elsewhere. The function may be called with `data` from any thread during all runs with these settings.
 */
viem_status viem_settings_set_progress(viem_settings *settings,
                                       viem_progress_function progress,
                                       void *data,
                                       viem_error **error);

/**
 * Frees settings. Null is ignored.
 *
 * Precondition: The settings are not used again.
 */
void viem_settings_free(viem_settings *settings);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* VIEM_H */
