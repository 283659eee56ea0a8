! Ranks that communicate with those half a job away get places beside each other:
!
!     mpif90 reorder.f90 -L$HOME/.local/lib -lviem_reorder -Wl,-rpath,$HOME/.local/lib -o reorder
!     mpirun -n 8 -x VIEM_MACHINE=2:2:2 -x VIEM_DISTANCES=1:10:100 ./reorder
program reorder
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(C) :: viem_MPI_report
    integer(c_int64_t) :: cost_before, cost_after
    integer(c_int32_t) :: is_reordered
  end type

  interface
    function reorder_adjacent(comm, degree, neighbours, weights, report, newcomm) result(status) &
        bind(C, name="viem_MPI_Comm_reorder_adjacent_f")
      import
      integer(c_int), value :: comm
      integer(c_int), value :: degree
      integer(c_int), intent(in) :: neighbours(*)
      integer(c_int64_t), intent(in) :: weights(*)
      type(viem_MPI_report), intent(out) :: report
      integer(c_int), intent(out) :: newcomm
      integer(c_int) :: status
    end function
  end interface

  type(viem_MPI_report) :: report
  integer :: rank, num, comm, new_rank, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, num, ierror)
  if (reorder_adjacent(MPI_COMM_WORLD, 1, [modulo(rank + num / 2, num)], [1000_c_int64_t], report, comm) /= MPI_SUCCESS) &
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Comm_rank(comm, new_rank, ierror)
  if (new_rank == 0) print "(a, i0, a, i0)", "J falls from ", report%cost_before, " to ", report%cost_after
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
end program
