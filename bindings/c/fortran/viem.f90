! viem: process mapping and graph partitioning. The interface of libviem for Fortran; viem.h documents each function.
!
! Handles are of type(c_ptr); c_null_ptr stands for none. Texts end with c_null_char; viem_text makes a text of Fortran of one of C. Arrays
! and errors that viem.h allows to be null are optional. All indices count from 0.
!
! This file is generated from viem.h.
module viem
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: VIEM_STATUS_OK = 0
  integer(c_int), parameter :: VIEM_STATUS_USAGE = 1
  integer(c_int), parameter :: VIEM_STATUS_BAD_DATA = 2
  integer(c_int), parameter :: VIEM_STATUS_NO_INPUT = 3
  integer(c_int), parameter :: VIEM_STATUS_CANNOT_CREATE = 4
  integer(c_int), parameter :: VIEM_STATUS_CANNOT_WRITE = 5
  integer(c_int), parameter :: VIEM_STATUS_NO_RESOURCES = 6
  integer(c_int), parameter :: VIEM_STATUS_INTERNAL = 7
  integer(c_int), parameter :: VIEM_PRESET_FAST = 0
  integer(c_int), parameter :: VIEM_PRESET_ECO = 1
  integer(c_int), parameter :: VIEM_PRESET_STRONG = 2
  integer(c_int), parameter :: VIEM_PE_CORE = 0
  integer(c_int), parameter :: VIEM_PE_THREAD = 1
  integer(c_int), parameter :: VIEM_PE_GPU = 2
  integer(c_int), parameter :: VIEM_VERSION_MAJOR = 2
  integer(c_int), parameter :: VIEM_VERSION_MINOR = 0
  integer(c_int), parameter :: VIEM_VERSION_PATCH = 0
  integer(c_int64_t), parameter :: VIEM_UNKNOWN = -huge(0_c_int64_t) - 1

  type, bind(C) :: viem_loads
    integer(c_int64_t) :: least
    integer(c_int64_t) :: greatest
    integer(c_int64_t) :: bound
    integer(c_int64_t) :: overload
    integer(c_int64_t) :: below_half
    integer(c_int64_t) :: below_least
    integer(c_int64_t) :: shortfall
    integer(c_int64_t) :: empty
  end type

  type, bind(C) :: viem_migration
    integer(c_int64_t) :: vertices
    integer(c_int64_t) :: weight
  end type

  type, bind(C) :: viem_report
    integer(c_int64_t) :: cost
    integer(c_int64_t) :: cost_of_identity
    integer(c_int64_t) :: cost_of_start
    integer(c_int64_t) :: lower_bound
    integer(c_int64_t) :: cut
    type(viem_loads) :: loads
    integer(c_int64_t) :: in_pieces
    type(viem_migration) :: migration
    real(c_double) :: seconds
    integer(c_int32_t) :: stopped
    integer(c_int32_t) :: optimal
  end type

  interface

    function viem_version() &
        bind(C, name="viem_version")
      import
      type(c_ptr) :: viem_version
    end function

    function viem_notes() &
        bind(C, name="viem_notes")
      import
      type(c_ptr) :: viem_notes
    end function

    function viem_error_status( &
        error) &
        bind(C, name="viem_error_status")
      import
      type(c_ptr), value :: error
      integer(c_int) :: viem_error_status
    end function

    function viem_error_message( &
        error) &
        bind(C, name="viem_error_message")
      import
      type(c_ptr), value :: error
      type(c_ptr) :: viem_error_message
    end function

    function viem_error_file( &
        error) &
        bind(C, name="viem_error_file")
      import
      type(c_ptr), value :: error
      type(c_ptr) :: viem_error_file
    end function

    function viem_error_line( &
        error) &
        bind(C, name="viem_error_line")
      import
      type(c_ptr), value :: error
      integer(c_int64_t) :: viem_error_line
    end function

    function viem_error_column( &
        error) &
        bind(C, name="viem_error_column")
      import
      type(c_ptr), value :: error
      integer(c_int64_t) :: viem_error_column
    end function

    function viem_error_index( &
        error) &
        bind(C, name="viem_error_index")
      import
      type(c_ptr), value :: error
      integer(c_int64_t) :: viem_error_index
    end function

    subroutine viem_error_free( &
        error) &
        bind(C, name="viem_error_free")
      import
      type(c_ptr), value :: error
    end subroutine

    function viem_graph_new32( &
        num_vertices, &
        offsets, &
        targets, &
        edge_weights, &
        vertex_weights, &
        graph, &
        error) &
        bind(C, name="viem_graph_new32")
      import
      integer(c_int64_t), value :: num_vertices
      integer(c_int32_t), intent(in) :: offsets(*)
      integer(c_int32_t), intent(in) :: targets(*)
      integer(c_int32_t), intent(in), optional :: edge_weights(*)
      integer(c_int32_t), intent(in), optional :: vertex_weights(*)
      type(c_ptr), intent(out) :: graph
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_graph_new32
    end function

    function viem_graph_new64( &
        num_vertices, &
        offsets, &
        targets, &
        edge_weights, &
        vertex_weights, &
        graph, &
        error) &
        bind(C, name="viem_graph_new64")
      import
      integer(c_int64_t), value :: num_vertices
      integer(c_int64_t), intent(in) :: offsets(*)
      integer(c_int64_t), intent(in) :: targets(*)
      integer(c_int64_t), intent(in), optional :: edge_weights(*)
      integer(c_int64_t), intent(in), optional :: vertex_weights(*)
      type(c_ptr), intent(out) :: graph
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_graph_new64
    end function

    function viem_graph_new32w64( &
        num_vertices, &
        offsets, &
        targets, &
        edge_weights, &
        vertex_weights, &
        graph, &
        error) &
        bind(C, name="viem_graph_new32w64")
      import
      integer(c_int64_t), value :: num_vertices
      integer(c_int32_t), intent(in) :: offsets(*)
      integer(c_int32_t), intent(in) :: targets(*)
      integer(c_int64_t), intent(in), optional :: edge_weights(*)
      integer(c_int64_t), intent(in), optional :: vertex_weights(*)
      type(c_ptr), intent(out) :: graph
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_graph_new32w64
    end function

    function viem_graph_from_edges( &
        num_vertices, &
        num_edges, &
        from, &
        to, &
        weights, &
        graph, &
        error) &
        bind(C, name="viem_graph_from_edges")
      import
      integer(c_int64_t), value :: num_vertices
      integer(c_int64_t), value :: num_edges
      integer(c_int64_t), intent(in) :: from(*)
      integer(c_int64_t), intent(in) :: to(*)
      integer(c_int64_t), intent(in), optional :: weights(*)
      type(c_ptr), intent(out) :: graph
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_graph_from_edges
    end function

    function viem_graph_read( &
        path, &
        unit_weights, &
        graph, &
        error) &
        bind(C, name="viem_graph_read")
      import
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: unit_weights
      type(c_ptr), intent(out) :: graph
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_graph_read
    end function

    function viem_graph_with_weights( &
        graph, &
        num_weights, &
        weights, &
        weighted, &
        error) &
        bind(C, name="viem_graph_with_weights")
      import
      type(c_ptr), value :: graph
      integer(c_int64_t), value :: num_weights
      integer(c_int64_t), intent(in), optional :: weights(*)
      type(c_ptr), intent(out) :: weighted
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_graph_with_weights
    end function

    function viem_graph_read_traffic( &
        num_files, &
        paths, &
        num_ranks, &
        graph, &
        error) &
        bind(C, name="viem_graph_read_traffic")
      import
      integer(c_int64_t), value :: num_files
      type(c_ptr), intent(in) :: paths(*)
      integer(c_int64_t), value :: num_ranks
      type(c_ptr), intent(out) :: graph
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_graph_read_traffic
    end function

    function viem_graph_write( &
        graph, &
        path, &
        error) &
        bind(C, name="viem_graph_write")
      import
      type(c_ptr), value :: graph
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_graph_write
    end function

    function viem_graph_num_vertices( &
        graph) &
        bind(C, name="viem_graph_num_vertices")
      import
      type(c_ptr), value :: graph
      integer(c_int64_t) :: viem_graph_num_vertices
    end function

    function viem_graph_num_edges( &
        graph) &
        bind(C, name="viem_graph_num_edges")
      import
      type(c_ptr), value :: graph
      integer(c_int64_t) :: viem_graph_num_edges
    end function

    function viem_graph_offsets( &
        graph) &
        bind(C, name="viem_graph_offsets")
      import
      type(c_ptr), value :: graph
      type(c_ptr) :: viem_graph_offsets
    end function

    function viem_graph_targets( &
        graph) &
        bind(C, name="viem_graph_targets")
      import
      type(c_ptr), value :: graph
      type(c_ptr) :: viem_graph_targets
    end function

    function viem_graph_edge_weights( &
        graph) &
        bind(C, name="viem_graph_edge_weights")
      import
      type(c_ptr), value :: graph
      type(c_ptr) :: viem_graph_edge_weights
    end function

    function viem_graph_num_weights( &
        graph) &
        bind(C, name="viem_graph_num_weights")
      import
      type(c_ptr), value :: graph
      integer(c_int64_t) :: viem_graph_num_weights
    end function

    function viem_graph_vertex_weights( &
        graph) &
        bind(C, name="viem_graph_vertex_weights")
      import
      type(c_ptr), value :: graph
      type(c_ptr) :: viem_graph_vertex_weights
    end function

    subroutine viem_graph_free( &
        graph) &
        bind(C, name="viem_graph_free")
      import
      type(c_ptr), value :: graph
    end subroutine

    function viem_launch_num_files( &
        launcher, &
        num_files, &
        error) &
        bind(C, name="viem_launch_num_files")
      import
      character(kind=c_char), intent(in) :: launcher(*)
      integer(c_int64_t), intent(out) :: num_files
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_launch_num_files
    end function

    function viem_launch_write( &
        launcher, &
        machine, &
        mapping, &
        num_files, &
        paths, &
        command, &
        error) &
        bind(C, name="viem_launch_write")
      import
      character(kind=c_char), intent(in) :: launcher(*)
      type(c_ptr), value :: machine
      type(c_ptr), value :: mapping
      integer(c_int64_t), value :: num_files
      type(c_ptr), intent(in) :: paths(*)
      type(c_ptr), intent(out), optional :: command
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_launch_write
    end function

    function viem_launch_read( &
        path, &
        machine, &
        num_ranks, &
        mapping, &
        error) &
        bind(C, name="viem_launch_read")
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: machine
      integer(c_int64_t), value :: num_ranks
      type(c_ptr), intent(out) :: mapping
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_launch_read
    end function

    subroutine viem_string_free( &
        string) &
        bind(C, name="viem_string_free")
      import
      type(c_ptr), value :: string
    end subroutine

    function viem_machine_new( &
        spec, &
        distances, &
        pes, &
        machine, &
        error) &
        bind(C, name="viem_machine_new")
      import
      character(kind=c_char), intent(in) :: spec(*)
      character(kind=c_char), intent(in), optional :: distances(*)
      character(kind=c_char), intent(in), optional :: pes(*)
      type(c_ptr), intent(out) :: machine
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_machine_new
    end function

    function viem_machine_from_text( &
        spec, &
        distances, &
        pes, &
        pe, &
        latency, &
        link_cycles, &
        machine, &
        error) &
        bind(C, name="viem_machine_from_text")
      import
      character(kind=c_char), intent(in) :: spec(*)
      character(kind=c_char), intent(in), optional :: distances(*)
      character(kind=c_char), intent(in), optional :: pes(*)
      integer(c_int), value :: pe
      character(kind=c_char), intent(in) :: latency(*)
      character(kind=c_char), intent(in) :: link_cycles(*)
      type(c_ptr), intent(out) :: machine
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_machine_from_text
    end function

    function viem_machine_from_matrix( &
        num_pes, &
        distances, &
        machine, &
        error) &
        bind(C, name="viem_machine_from_matrix")
      import
      integer(c_int64_t), value :: num_pes
      integer(c_int64_t), intent(in), optional :: distances(*)
      type(c_ptr), intent(out) :: machine
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_machine_from_matrix
    end function

    function viem_machine_from_function( &
        num_pes, &
        distance, &
        data, &
        max_distance, &
        has_triangle_inequality, &
        machine, &
        error) &
        bind(C, name="viem_machine_from_function")
      import
      integer(c_int64_t), value :: num_pes
      type(c_funptr), value :: distance
      type(c_ptr), value :: data
      integer(c_int64_t), value :: max_distance
      integer(c_int), value :: has_triangle_inequality
      type(c_ptr), intent(out) :: machine
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_machine_from_function
    end function

    function viem_machine_with_capacities( &
        machine, &
        num_capacities, &
        capacities, &
        with_capacities, &
        error) &
        bind(C, name="viem_machine_with_capacities")
      import
      type(c_ptr), value :: machine
      integer(c_int64_t), value :: num_capacities
      integer(c_int32_t), intent(in) :: capacities(*)
      type(c_ptr), intent(out) :: with_capacities
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_machine_with_capacities
    end function

    function viem_machine_num_pes( &
        machine) &
        bind(C, name="viem_machine_num_pes")
      import
      type(c_ptr), value :: machine
      integer(c_int64_t) :: viem_machine_num_pes
    end function

    function viem_machine_num_nodes( &
        machine) &
        bind(C, name="viem_machine_num_nodes")
      import
      type(c_ptr), value :: machine
      integer(c_int64_t) :: viem_machine_num_nodes
    end function

    function viem_machine_distance( &
        machine, &
        a, &
        b, &
        distance, &
        error) &
        bind(C, name="viem_machine_distance")
      import
      type(c_ptr), value :: machine
      integer(c_int64_t), value :: a
      integer(c_int64_t), value :: b
      integer(c_int64_t), intent(out) :: distance
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_machine_distance
    end function

    subroutine viem_machine_free( &
        machine) &
        bind(C, name="viem_machine_free")
      import
      type(c_ptr), value :: machine
    end subroutine

    function viem_map( &
        graph, &
        machine, &
        start, &
        fixed, &
        settings, &
        mapping, &
        error) &
        bind(C, name="viem_map")
      import
      type(c_ptr), value :: graph
      type(c_ptr), value :: machine
      type(c_ptr), value :: start
      integer(c_int32_t), intent(in), optional :: fixed(*)
      type(c_ptr), value :: settings
      type(c_ptr), intent(out) :: mapping
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_map
    end function

    function viem_map_many_to_one( &
        graph, &
        machine, &
        start, &
        fixed, &
        settings, &
        mapping, &
        error) &
        bind(C, name="viem_map_many_to_one")
      import
      type(c_ptr), value :: graph
      type(c_ptr), value :: machine
      type(c_ptr), value :: start
      integer(c_int32_t), intent(in), optional :: fixed(*)
      type(c_ptr), value :: settings
      type(c_ptr), intent(out) :: mapping
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_map_many_to_one
    end function

    function viem_remap( &
        graph, &
        machine, &
        old, &
        migration_weight, &
        fixed, &
        settings, &
        mapping, &
        error) &
        bind(C, name="viem_remap")
      import
      type(c_ptr), value :: graph
      type(c_ptr), value :: machine
      type(c_ptr), value :: old
      real(c_double), value :: migration_weight
      integer(c_int32_t), intent(in), optional :: fixed(*)
      type(c_ptr), value :: settings
      type(c_ptr), intent(out) :: mapping
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_remap
    end function

    function viem_busiest( &
        graph, &
        machine, &
        mapping, &
        node, &
        link, &
        error) &
        bind(C, name="viem_busiest")
      import
      type(c_ptr), value :: graph
      type(c_ptr), value :: machine
      type(c_ptr), value :: mapping
      integer(c_int64_t), intent(out) :: node
      integer(c_int64_t), intent(out) :: link
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_busiest
    end function

    function viem_evaluate( &
        graph, &
        machine, &
        mapping, &
        many_to_one, &
        settings, &
        report, &
        error) &
        bind(C, name="viem_evaluate")
      import
      type(c_ptr), value :: graph
      type(c_ptr), value :: machine
      type(c_ptr), value :: mapping
      integer(c_int), value :: many_to_one
      type(c_ptr), value :: settings
      type(viem_report), intent(out) :: report
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_evaluate
    end function

    function viem_mapping_new32( &
        num_pes, &
        num_processes, &
        pe_of, &
        mapping, &
        error) &
        bind(C, name="viem_mapping_new32")
      import
      integer(c_int64_t), value :: num_pes
      integer(c_int64_t), value :: num_processes
      integer(c_int32_t), intent(in) :: pe_of(*)
      type(c_ptr), intent(out) :: mapping
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_mapping_new32
    end function

    function viem_mapping_new64( &
        num_pes, &
        num_processes, &
        pe_of, &
        mapping, &
        error) &
        bind(C, name="viem_mapping_new64")
      import
      integer(c_int64_t), value :: num_pes
      integer(c_int64_t), value :: num_processes
      integer(c_int64_t), intent(in) :: pe_of(*)
      type(c_ptr), intent(out) :: mapping
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_mapping_new64
    end function

    function viem_mapping_read( &
        path, &
        num_pes, &
        num_processes, &
        mapping, &
        error) &
        bind(C, name="viem_mapping_read")
      import
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), value :: num_pes
      integer(c_int64_t), value :: num_processes
      type(c_ptr), intent(out) :: mapping
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_mapping_read
    end function

    function viem_mapping_write( &
        mapping, &
        path, &
        error) &
        bind(C, name="viem_mapping_write")
      import
      type(c_ptr), value :: mapping
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_mapping_write
    end function

    function viem_mapping_num_processes( &
        mapping) &
        bind(C, name="viem_mapping_num_processes")
      import
      type(c_ptr), value :: mapping
      integer(c_int64_t) :: viem_mapping_num_processes
    end function

    function viem_mapping_num_pes( &
        mapping) &
        bind(C, name="viem_mapping_num_pes")
      import
      type(c_ptr), value :: mapping
      integer(c_int64_t) :: viem_mapping_num_pes
    end function

    function viem_mapping_pes( &
        mapping) &
        bind(C, name="viem_mapping_pes")
      import
      type(c_ptr), value :: mapping
      type(c_ptr) :: viem_mapping_pes
    end function

    function viem_mapping_copy32( &
        mapping, &
        num_processes, &
        pe_of, &
        error) &
        bind(C, name="viem_mapping_copy32")
      import
      type(c_ptr), value :: mapping
      integer(c_int64_t), value :: num_processes
      integer(c_int32_t), intent(out) :: pe_of(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_mapping_copy32
    end function

    function viem_mapping_copy64( &
        mapping, &
        num_processes, &
        pe_of, &
        error) &
        bind(C, name="viem_mapping_copy64")
      import
      type(c_ptr), value :: mapping
      integer(c_int64_t), value :: num_processes
      integer(c_int64_t), intent(out) :: pe_of(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_mapping_copy64
    end function

    function viem_mapping_report( &
        mapping, &
        report, &
        error) &
        bind(C, name="viem_mapping_report")
      import
      type(c_ptr), value :: mapping
      type(viem_report), intent(out) :: report
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_mapping_report
    end function

    subroutine viem_mapping_free( &
        mapping) &
        bind(C, name="viem_mapping_free")
      import
      type(c_ptr), value :: mapping
    end subroutine

    function viem_partition( &
        graph, &
        num_blocks, &
        shares, &
        fixed, &
        settings, &
        partition, &
        error) &
        bind(C, name="viem_partition")
      import
      type(c_ptr), value :: graph
      integer(c_int64_t), value :: num_blocks
      integer(c_int64_t), intent(in), optional :: shares(*)
      integer(c_int32_t), intent(in), optional :: fixed(*)
      type(c_ptr), value :: settings
      type(c_ptr), intent(out) :: partition
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_partition
    end function

    function viem_repartition( &
        graph, &
        num_blocks, &
        shares, &
        fixed, &
        old, &
        migration_weight, &
        settings, &
        partition, &
        error) &
        bind(C, name="viem_repartition")
      import
      type(c_ptr), value :: graph
      integer(c_int64_t), value :: num_blocks
      integer(c_int64_t), intent(in), optional :: shares(*)
      integer(c_int32_t), intent(in), optional :: fixed(*)
      type(c_ptr), value :: old
      real(c_double), value :: migration_weight
      type(c_ptr), value :: settings
      type(c_ptr), intent(out) :: partition
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_repartition
    end function

    function viem_evaluate_partition( &
        graph, &
        num_blocks, &
        shares, &
        partition, &
        settings, &
        report, &
        error) &
        bind(C, name="viem_evaluate_partition")
      import
      type(c_ptr), value :: graph
      integer(c_int64_t), value :: num_blocks
      integer(c_int64_t), intent(in), optional :: shares(*)
      type(c_ptr), value :: partition
      type(c_ptr), value :: settings
      type(viem_report), intent(out) :: report
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_evaluate_partition
    end function

    function viem_qap_new( &
        size, &
        a, &
        b, &
        qap, &
        error) &
        bind(C, name="viem_qap_new")
      import
      integer(c_int64_t), value :: size
      integer(c_int64_t), intent(in) :: a(*)
      integer(c_int64_t), intent(in) :: b(*)
      type(c_ptr), intent(out) :: qap
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_qap_new
    end function

    function viem_qap_read( &
        path, &
        qap, &
        error) &
        bind(C, name="viem_qap_read")
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: qap
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_qap_read
    end function

    function viem_qap_write( &
        qap, &
        path, &
        error) &
        bind(C, name="viem_qap_write")
      import
      type(c_ptr), value :: qap
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_qap_write
    end function

    function viem_qap_size( &
        qap) &
        bind(C, name="viem_qap_size")
      import
      type(c_ptr), value :: qap
      integer(c_int64_t) :: viem_qap_size
    end function

    function viem_qap_solve( &
        qap, &
        start, &
        settings, &
        assignment, &
        error) &
        bind(C, name="viem_qap_solve")
      import
      type(c_ptr), value :: qap
      type(c_ptr), value :: start
      type(c_ptr), value :: settings
      type(c_ptr), intent(out) :: assignment
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_qap_solve
    end function

    function viem_qap_cost( &
        qap, &
        assignment, &
        cost, &
        error) &
        bind(C, name="viem_qap_cost")
      import
      type(c_ptr), value :: qap
      type(c_ptr), value :: assignment
      integer(c_int64_t), intent(out) :: cost
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_qap_cost
    end function

    function viem_qap_write_solution( &
        qap, &
        assignment, &
        path, &
        error) &
        bind(C, name="viem_qap_write_solution")
      import
      type(c_ptr), value :: qap
      type(c_ptr), value :: assignment
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_qap_write_solution
    end function

    subroutine viem_qap_free( &
        qap) &
        bind(C, name="viem_qap_free")
      import
      type(c_ptr), value :: qap
    end subroutine

    function viem_settings_new( &
        preset, &
        settings, &
        error) &
        bind(C, name="viem_settings_new")
      import
      integer(c_int), value :: preset
      type(c_ptr), intent(out) :: settings
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_new
    end function

    function viem_settings_set_seed( &
        settings, &
        seed, &
        error) &
        bind(C, name="viem_settings_set_seed")
      import
      type(c_ptr), value :: settings
      integer(c_int64_t), value :: seed
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_seed
    end function

    function viem_settings_set_threads( &
        settings, &
        threads, &
        error) &
        bind(C, name="viem_settings_set_threads")
      import
      type(c_ptr), value :: settings
      integer(c_int64_t), value :: threads
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_threads
    end function

    function viem_settings_set_imbalance( &
        settings, &
        imbalance, &
        error) &
        bind(C, name="viem_settings_set_imbalance")
      import
      type(c_ptr), value :: settings
      real(c_double), value :: imbalance
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_imbalance
    end function

    function viem_settings_set_least_load( &
        settings, &
        least_load, &
        error) &
        bind(C, name="viem_settings_set_least_load")
      import
      type(c_ptr), value :: settings
      real(c_double), value :: least_load
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_least_load
    end function

    function viem_settings_set_least_loads( &
        settings, &
        num_blocks, &
        least_loads, &
        error) &
        bind(C, name="viem_settings_set_least_loads")
      import
      type(c_ptr), value :: settings
      integer(c_int64_t), value :: num_blocks
      integer(c_int64_t), intent(in) :: least_loads(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_least_loads
    end function

    function viem_settings_set_least_loads_of_weights( &
        settings, &
        num_weights, &
        num_blocks, &
        least_loads, &
        error) &
        bind(C, name="viem_settings_set_least_loads_of_weights")
      import
      type(c_ptr), value :: settings
      integer(c_int64_t), value :: num_weights
      integer(c_int64_t), value :: num_blocks
      integer(c_int64_t), intent(in) :: least_loads(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_least_loads_of_weights
    end function

    function viem_settings_set_limits_of_weights( &
        settings, &
        num_weights, &
        imbalances, &
        least_loads, &
        error) &
        bind(C, name="viem_settings_set_limits_of_weights")
      import
      type(c_ptr), value :: settings
      integer(c_int64_t), value :: num_weights
      type(c_ptr), value :: imbalances
      type(c_ptr), value :: least_loads
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_limits_of_weights
    end function

    function viem_settings_set_capacities_of_weights( &
        settings, &
        num_weights, &
        num_blocks, &
        capacities, &
        error) &
        bind(C, name="viem_settings_set_capacities_of_weights")
      import
      type(c_ptr), value :: settings
      integer(c_int64_t), value :: num_weights
      integer(c_int64_t), value :: num_blocks
      integer(c_int32_t), intent(in) :: capacities(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_capacities_of_weights
    end function

    function viem_settings_set_node_capacities( &
        settings, &
        num_weights, &
        num_nodes, &
        capacities, &
        error) &
        bind(C, name="viem_settings_set_node_capacities")
      import
      type(c_ptr), value :: settings
      integer(c_int64_t), value :: num_weights
      integer(c_int64_t), value :: num_nodes
      integer(c_int64_t), intent(in) :: capacities(*)
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_node_capacities
    end function

    function viem_settings_set_imbalance_per_division( &
        settings, &
        per_division, &
        error) &
        bind(C, name="viem_settings_set_imbalance_per_division")
      import
      type(c_ptr), value :: settings
      integer(c_int), value :: per_division
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_imbalance_per_division
    end function

    function viem_settings_set_connected( &
        settings, &
        is_connected, &
        error) &
        bind(C, name="viem_settings_set_connected")
      import
      type(c_ptr), value :: settings
      integer(c_int), value :: is_connected
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_connected
    end function

    function viem_settings_set_objective( &
        settings, &
        objective, &
        excess, &
        error) &
        bind(C, name="viem_settings_set_objective")
      import
      type(c_ptr), value :: settings
      character(kind=c_char), intent(in) :: objective(*)
      real(c_double), value :: excess
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_objective
    end function

    function viem_settings_set_time_limit( &
        settings, &
        seconds, &
        error) &
        bind(C, name="viem_settings_set_time_limit")
      import
      type(c_ptr), value :: settings
      real(c_double), value :: seconds
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_time_limit
    end function

    function viem_settings_set_social( &
        settings, &
        is_social, &
        error) &
        bind(C, name="viem_settings_set_social")
      import
      type(c_ptr), value :: settings
      integer(c_int), value :: is_social
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_social
    end function

    function viem_settings_set_progress( &
        settings, &
        progress, &
        data, &
        error) &
        bind(C, name="viem_settings_set_progress")
      import
      type(c_ptr), value :: settings
      type(c_funptr), value :: progress
      type(c_ptr), value :: data
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_settings_set_progress
    end function

    subroutine viem_settings_free( &
        settings) &
        bind(C, name="viem_settings_free")
      import
      type(c_ptr), value :: settings
    end subroutine
  end interface

contains

  !> A text of C, such as viem_error_message returns, as one of Fortran; empty for c_null_ptr.
  function viem_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: length, i
    interface
      function strlen(string) bind(C)
        import :: c_ptr, c_size_t
        type(c_ptr), value :: string
        integer(c_size_t) :: strlen
      end function
    end interface
    length = 0
    if (c_associated(pointer)) length = int(strlen(pointer))
    allocate (character(len=length) :: text)
    if (length == 0) return
    call c_f_pointer(pointer, characters, [length])
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function
end module
