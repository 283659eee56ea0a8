! viem: partitioning and process mapping of graphs that are distributed over the ranks of an MPI job. The interface of libviem_dist for Fortran;
! viem_dist.h documents each function.
!
! Communicators are integers, as in the module mpi; with mpi_f08, comm%MPI_VAL is that integer. All else is as in the module viem. All indices
! count from 0.
module viem_dist
  use, intrinsic :: iso_c_binding
  use viem, only: viem_report
  implicit none
  public

  ! The arrays are named by c_loc, and need the attribute target. bits is their storage_size, 32 or 64. num_weights is the number of
  ! weights of each vertex.
  type, bind(C) :: viem_dist_graph
    type(c_ptr) :: vtxdist = c_null_ptr
    type(c_ptr) :: xadj = c_null_ptr
    type(c_ptr) :: adjncy = c_null_ptr
    type(c_ptr) :: vwgt = c_null_ptr
    type(c_ptr) :: adjwgt = c_null_ptr
    integer(c_int32_t) :: bits = 64
    integer(c_int32_t) :: num_weights = 1
  end type

  interface

    function viem_dist_partition(comm, graph, num_blocks, fixed, settings, blocks, report, error) &
        bind(C, name="viem_dist_partition_f")
      import
      integer(c_int), value :: comm
      type(viem_dist_graph), intent(in) :: graph
      integer(c_int64_t), value :: num_blocks
      integer(c_int32_t), intent(in), optional :: fixed(*)
      type(c_ptr), value :: settings
      integer(c_int32_t), intent(inout) :: blocks(*)
      type(viem_report), intent(out), optional :: report
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_dist_partition
    end function

    function viem_dist_map(comm, graph, machine, fixed, settings, pes, report, error) &
        bind(C, name="viem_dist_map_f")
      import
      integer(c_int), value :: comm
      type(viem_dist_graph), intent(in) :: graph
      type(c_ptr), value :: machine
      integer(c_int32_t), intent(in), optional :: fixed(*)
      type(c_ptr), value :: settings
      integer(c_int32_t), intent(inout) :: pes(*)
      type(viem_report), intent(out), optional :: report
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_dist_map
    end function

    function viem_dist_remap(comm, graph, machine, num_blocks, old, migration_weight, fixed, settings, blocks, report, error) &
        bind(C, name="viem_dist_remap_f")
      import
      integer(c_int), value :: comm
      type(viem_dist_graph), intent(in) :: graph
      type(c_ptr), value :: machine
      integer(c_int64_t), value :: num_blocks
      integer(c_int32_t), intent(in) :: old(*)
      real(c_double), value :: migration_weight
      integer(c_int32_t), intent(in), optional :: fixed(*)
      type(c_ptr), value :: settings
      integer(c_int32_t), intent(inout) :: blocks(*)
      type(viem_report), intent(out), optional :: report
      type(c_ptr), intent(out), optional :: error
      integer(c_int) :: viem_dist_remap
    end function

  end interface
end module
