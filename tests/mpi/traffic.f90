! Through the Fortran bindings, each rank sends 25 integers of 4 bytes to the next and takes part in a sum of one more.
program traffic
  use mpi
  implicit none
  integer :: rank, size, error, request, total
  integer :: sent(25), received(25)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  sent = rank
  call MPI_Isend(sent, 25, MPI_INTEGER, mod(rank + 1, size), 0, MPI_COMM_WORLD, request, error)
  call MPI_Recv(received, 25, MPI_INTEGER, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program traffic
