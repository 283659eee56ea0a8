! Partitions a path of twelve vertices, and maps it to a tree, by the functions of Scotch for Fortran.
program scotch
  implicit none
  real(8) :: graph(12), arch(12), strategy(1)
  integer(4) :: code, i, vertices, arcs
  integer(4) :: offsets(13), targets(22), parts(12), loads(0:3)
  external :: scotchfgraphinit, scotchfgraphbuild, scotchfgraphcheck, scotchfgraphsize
  external :: scotchfgraphpart, scotchfgraphmap, scotchfgraphexit
  external :: scotchfarchinit, scotchfarchtleaf, scotchfarchexit
  external :: scotchfstratinit, scotchfstratgraphmap, scotchfstratexit

  offsets(1) = 1
  do i = 1, 12
    offsets(i + 1) = offsets(i)
    if (i > 1) call add(i - 1)
    if (i < 12) call add(i + 1)
  end do
  call scotchfgraphinit(graph, code)
  call scotchfgraphbuild(graph, 1, 12, offsets, offsets(2), offsets, offsets, 22, targets, targets, code)
  call check(code == 0)
  call scotchfgraphcheck(graph, code)
  call scotchfgraphsize(graph, vertices, arcs)
  call check(code == 0 .and. vertices == 12 .and. arcs == 22)
  call scotchfstratinit(strategy, code)
  call scotchfstratgraphmap(strategy, 'r{bal=0.0}', code)
  call check(code == 0)
  call scotchfgraphpart(graph, 4, strategy, parts, code)
  call check(code == 0)
  call check_parts(3)
  call scotchfarchinit(arch, code)
  call scotchfarchtleaf(arch, 2, (/2, 2/), (/10, 1/), code)
  call check(code == 0)
  call scotchfgraphmap(graph, arch, strategy, parts, code)
  call check(code == 0)
  call check_parts(3)
  ! Neighbouring parts are near each other: only the middle of the path is between the halves of the tree.
  call check(count(parts(1:11) / 2 /= parts(2:12) / 2) == 1)
  call scotchfarchexit(arch)
  call scotchfstratexit(strategy)
  call scotchfgraphexit(graph)

contains
  subroutine add(other)
    integer(4), intent(in) :: other
    targets(offsets(i + 1)) = other
    offsets(i + 1) = offsets(i + 1) + 1
  end subroutine

  subroutine check_parts(expected)
    integer(4), intent(in) :: expected
    loads = 0
    do i = 1, 12
      call check(parts(i) >= 0 .and. parts(i) < 4)
      loads(parts(i)) = loads(parts(i)) + 1
    end do
    call check(all(loads == expected))
    call check(count(parts(1:11) /= parts(2:12)) == 3)
  end subroutine

  subroutine check(condition)
    logical, intent(in) :: condition
    if (.not. condition) error stop 'a condition does not hold'
  end subroutine
end program
