! A grid of which each rank has some rows is mapped to the PEs of a machine, one for each rank, with its corners fixed; then it is remapped,
! with each vertex of its first row twice as heavy:
!
!     cd $HOME/.local/include
!     mpif90 viem.f90 viem_dist.f90 distributed.f90 -L$HOME/.local/lib -lviem_dist -Wl,-rpath,$HOME/.local/lib -o distributed
!     mpirun -n 4 ./distributed
program distributed
  use mpi
  use viem
  use viem_dist
  implicit none
  integer, parameter :: length = 300, total = length * length
  integer, allocatable, target :: vtxdist(:), xadj(:), adjncy(:), vwgt(:)
  integer(c_int32_t), allocatable :: fixed(:), pes(:), old(:)
  integer :: rank, ranks, first, num, arcs, vertex, column, i, ierror
  character(len=32) :: spec
  type(c_ptr) :: machine, error
  type(viem_dist_graph) :: graph
  type(viem_report) :: report

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)

  ! Vertex v, counted from 0, is at row v / length. Rank r has the vertices from vtxdist(r + 1) on.
  vtxdist = [(length * (length * i / ranks), i = 0, ranks)]
  first = vtxdist(rank + 1)
  num = vtxdist(rank + 2) - first
  allocate (xadj(num + 1), adjncy(4 * num), vwgt(num), fixed(num), pes(num))
  fixed = -1
  arcs = 0
  do i = 1, num
    vertex = first + i - 1
    column = mod(vertex, length)
    xadj(i) = arcs
    if (vertex >= length) call list(vertex - length)
    if (column > 0) call list(vertex - 1)
    if (column < length - 1) call list(vertex + 1)
    if (vertex + length < total) call list(vertex + length)
    vwgt(i) = merge(2, 1, vertex < length)
    ! The first vertex must be on the first PE, and the last on the last one.
    if (vertex == 0) fixed(i) = 0
    if (vertex == total - 1) fixed(i) = 2 * ((ranks + 1) / 2) - 1
  end do
  xadj(num + 1) = arcs
  graph = viem_dist_graph(vtxdist=c_loc(vtxdist), xadj=c_loc(xadj), adjncy=c_loc(adjncy), bits=storage_size(xadj))

  ! Hosts of two PEs each.
  write (spec, '(a, i0)') "2:", (ranks + 1) / 2
  call check(viem_machine_new(trim(spec)//c_null_char, "1:10"//c_null_char, machine=machine, error=error))
  call check(viem_dist_map(MPI_COMM_WORLD, graph, machine, fixed, c_null_ptr, pes, report, error))
  if (rank == 0) print '(a, i0)', "J = ", report%cost

  graph%vwgt = c_loc(vwgt)
  old = pes
  call check(viem_dist_remap(MPI_COMM_WORLD, graph, machine, 0_c_int64_t, old, 0.1_c_double, fixed, c_null_ptr, pes, report, error))
  if (rank == 0) print '(a, i0, a, i0, a)', "J = ", report%cost, " once vertices of weight ", report%migration%weight, " have moved"
  call viem_machine_free(machine)
  call MPI_Finalize(ierror)

contains

  subroutine list(neighbour)
    integer, intent(in) :: neighbour
    arcs = arcs + 1
    adjncy(arcs) = neighbour
  end subroutine

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == VIEM_STATUS_OK) return
    if (rank == 0) print '(a)', viem_text(viem_error_message(error))
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
