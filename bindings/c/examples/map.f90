! Maps the 16 processes of a ring to a machine: two nodes of two processors of four cores.
!
!     gfortran -o map map.f90 $(pkg-config --cflags viem) -lviem_fortran $(pkg-config --libs viem)
program map
  use viem
  implicit none
  integer, parameter :: processes = 16
  integer(c_int64_t) :: from(processes), to(processes), messages(processes), i
  integer(c_int32_t) :: core_of(processes)
  type(c_ptr) :: graph, machine, mapping, error
  type(viem_report) :: report

  ! Process i exchanges 10 messages with process i + 1.
  do i = 1, processes
    from(i) = i - 1
    to(i) = mod(i, int(processes, c_int64_t))
    messages(i) = 10
  end do
  call check(viem_graph_from_edges(int(processes, c_int64_t), int(processes, c_int64_t), from, to, messages, graph, error))
  call check(viem_machine_new("4:2:2"//c_null_char, "1:10:100"//c_null_char, machine=machine, error=error))
  call check(viem_map(graph, machine, c_null_ptr, settings=c_null_ptr, mapping=mapping, error=error))
  call check(viem_mapping_report(mapping, report, error))
  call check(viem_mapping_copy32(mapping, int(processes, c_int64_t), core_of, error))
  print '(a,i0,a,i0)', "J = ", report%cost, "; process 0 runs on core ", core_of(1)
  call viem_mapping_free(mapping)

  ! An error says what is wrong.
  if (viem_partition(graph, 0_c_int64_t, settings=c_null_ptr, partition=mapping, error=error) /= VIEM_STATUS_OK) then
    print '(a)', viem_text(viem_error_message(error))
    call viem_error_free(error)
  end if
  call viem_machine_free(machine)
  call viem_graph_free(graph)

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == VIEM_STATUS_OK) return
    print '(a)', viem_text(viem_error_message(error))
    stop 1
  end subroutine
end program
