! Topologies through mpi_f08, or without the macro F08 through mpif.h. Prints how many ranks have changed in each.
program topologies
#ifdef F08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: cart, graph, row
#else
  implicit none
  include 'mpif.h'
  integer :: cart, graph, row
#endif
  integer :: rank, num, me, ierror, i, coords(2), source, dest, received, sent(2), got(2)
  integer :: partner(1), sources(1), targets(1), weights(1)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, num, ierror)

  call MPI_Cart_create(MPI_COMM_WORLD, 2, [2, num / 2], [.false., .true.], .true., cart, ierror)
  call MPI_Comm_rank(cart, me, ierror)
  call report("MPI_Cart_create", me)
  call MPI_Cart_coords(cart, me, 2, coords, ierror)
  call expect(coords(1) * (num / 2) + coords(2) == me)
  call MPI_Cart_shift(cart, 1, 1, source, dest, ierror)
  call MPI_Sendrecv(me, 1, MPI_INTEGER, dest, 0, received, 1, MPI_INTEGER, source, 0, cart, MPI_STATUS_IGNORE, ierror)
  call expect(received == coords(1) * (num / 2) + modulo(coords(2) - 1, num / 2))
  call MPI_Cart_sub(cart, [.false., .true.], row, ierror)
  call MPI_Comm_rank(row, i, ierror)
  call expect(i == coords(2))

  partner(1) = modulo(rank + num / 2, num)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, partner, MPI_UNWEIGHTED, 1, partner, MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .true., graph, ierror)
  call check_pairs("MPI_Dist_graph_create_adjacent", graph)
  weights(1) = 5
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], partner, weights, MPI_INFO_NULL, .true., graph, ierror)
  call check_pairs("MPI_Dist_graph_create", graph)
  call MPI_Graph_create(MPI_COMM_WORLD, num, [(i, i = 1, num)], [(modulo(i + num / 2, num), i = 0, num - 1)], .true., &
                        graph, ierror)
  call MPI_Comm_rank(graph, me, ierror)
  call report("MPI_Graph_create", me)
  call MPI_Graph_neighbors(graph, me, 1, targets, ierror)
  call expect(targets(1) == modulo(me + num / 2, num))
  call MPI_Finalize(ierror)

contains

  subroutine check_pairs(name, graph)
    character(len=*), intent(in) :: name
#ifdef F08
    type(MPI_Comm), intent(in) :: graph
#else
    integer, intent(in) :: graph
#endif
    integer :: got_weights(1), other_weights(1)
    call MPI_Comm_rank(graph, me, ierror)
    call report(name, me)
    call MPI_Dist_graph_neighbors(graph, 1, sources, got_weights, 1, targets, other_weights, ierror)
    call expect(sources(1) == modulo(me + num / 2, num) .and. targets(1) == sources(1))
    sent = me
    call MPI_Neighbor_allgather(sent, 2, MPI_INTEGER, got, 2, MPI_INTEGER, graph, ierror)
    call expect(got(1) == sources(1) .and. got(2) == sources(1))
  end subroutine

  subroutine report(name, new_rank)
    character(len=*), intent(in) :: name
    integer, intent(in) :: new_rank
    integer :: changed, total
    changed = merge(1, 0, new_rank /= rank)
    call MPI_Reduce(changed, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) print "(a, 1x, i0)", name, total
  end subroutine

  subroutine expect(condition)
    logical, intent(in) :: condition
    if (condition) return
    print *, "rank", rank, "found something else"
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
