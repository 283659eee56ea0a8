! As world.c, through mpi_f08, or without the macro F08 through mpif.h.
program world
#ifdef F08
  use mpi_f08
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: rank, num, ierror, launched, received
  integer, allocatable :: all(:)
  character(len=32) :: text
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, num, ierror)
  call get_environment_variable("OMPI_COMM_WORLD_RANK", text)
  if (text == "") call get_environment_variable("PMI_RANK", text)
  read (text, *) launched
  allocate (all(num))
  call MPI_Gather(launched, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, num), 0, received, 1, MPI_INTEGER, modulo(rank - 1, num), 0, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  if (received /= modulo(rank - 1, num)) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  if (rank == 0) print "(a, *(1x, i0))", "processes", all
  call MPI_Finalize(ierror)
end program
