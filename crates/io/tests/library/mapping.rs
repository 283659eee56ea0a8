//! Mapping files: valid input, and errors with their positions.

use proptest::prelude::*;
use viem::base::types::PeId;
use viem_io::mapping::{self, MappingFault, Room};
use viem_io::{ReadError, Source, partition};

fn read(text: &[u8], n: usize) -> Result<Vec<PeId>, ReadError> {
    mapping::read(Source::new("test", text).unwrap(), n, Room::plain(n))
}

fn fault(text: &str, n: usize) -> (u64, u64, MappingFault) {
    match read(text.as_bytes(), n) {
        Err(ReadError::Invalid { line, column, kind, .. }) => {
            (line, column, kind.fault::<MappingFault>().unwrap().clone())
        }
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn permutations_are_read() {
    for text in ["2\n0\n1\n", "2\n0\n1", " 2 \r\n00\r\n\t1\r\n\r\n \n"] {
        assert_eq!(read(text.as_bytes(), 3).unwrap(), [2, 0, 1], "{text:?}");
    }
    assert_eq!(read(b"", 0).unwrap(), [0; 0]);
    assert_eq!(read(b"0", 1).unwrap(), [0]);
}

#[test]
fn the_first_offending_line_is_named() {
    use MappingFault::*;
    let cases = [
        ("0\n1\n", (3, 1, TooFewLines { found: 2, expected: 3 })),
        ("", (1, 1, TooFewLines { found: 0, expected: 3 })),
        ("0\n1\n2\n\n 3\n", (5, 2, TooManyLines { expected: 3 })),
        ("0\n3\n9\n", (2, 1, PeOutOfRange { text: "3".into(), last: 2 })),
        ("0\n 99999999999999999999\n", (2, 2, PeOutOfRange { text: "99999999999999999999".into(), last: 2 })),
        ("1\n2\n1\n", (3, 1, PeTaken { pe: 1, earlier: 1 })),
        ("0\n\n1\n2\n", (2, 1, EmptyLine { process: 1 })),
        ("0\n1 2\n", (2, 3, SecondNumber { text: "2".into() })),
        ("0\n1\n2 x", (3, 3, SecondNumber { text: "x".into() })),
        ("0\n-1\n2\n", (2, 1, NotAPe { text: "-1".into(), last: 2 })),
        ("0\n1.5\n2\n", (2, 1, NotAPe { text: "1.5".into(), last: 2 })),
        ("\u{feff}0\n1.0\n3\n", (3, 1, PeOutOfRange { text: "3".into(), last: 2 })),
    ];
    for (text, expected) in cases {
        assert_eq!(fault(text, 3), expected, "{text:?}");
    }
}

#[test]
fn processes_share_a_pe_that_has_room_and_leave_others_empty() {
    let read = |text: &str| {
        let room = Room::new(4, &|pe| pe + 1);
        mapping::read(Source::new("test", text.as_bytes()).unwrap(), 3, room)
    };
    assert_eq!(read("3\n1\n1\n").unwrap(), [3, 1, 1]);
    let message = |text: &str| read(text).unwrap_err().to_string();
    assert!(message("0\n1\n0\n").contains("line 3, column 1: PE 0 is taken by line 1 already"));
    assert!(message("0\n4\n0\n").contains("line 2, column 1: there is no PE 4; the PEs are 0 to 3"));
    let room = Room::new(1, &|_| 2);
    let full = mapping::read(Source::new("test", &b"0\n0\n0\n"[..]).unwrap(), 3, room).unwrap_err();
    assert!(full.to_string().contains("line 3, column 1: PE 0 is full: it has room for 2"), "{full}");
}

#[test]
fn messages_name_file_line_and_what_is_expected() {
    let message = read(b"0\n7\n", 2).unwrap_err().to_string();
    assert_eq!(message, "test, line 2, column 1: there is no PE 7; the PEs are 0 to 1");
}

#[test]
fn partitions_are_written_one_block_per_line() {
    let mut out = Vec::new();
    partition::write(&mut out, &[0, 4_294_967_295, 10]).unwrap();
    assert_eq!(out, b"0\n4294967295\n10\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(pe_of in (0u32..200).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle())) {
        let mut text = Vec::new();
        mapping::write(&mut text, &pe_of).unwrap();
        prop_assert_eq!(read(&text, pe_of.len()).unwrap(), pe_of);
    }

    #[test]
    fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..60), n in 0usize..9) {
        if let Ok(mut pe_of) = read(&text, n) {
            pe_of.sort_unstable();
            prop_assert_eq!(pe_of, (0..n as PeId).collect::<Vec<_>>());
        }
    }

    #[test]
    fn any_digits_are_survived(text in "([0-3 ]{0,3}\n){0,5}", n in 0usize..4) {
        if let Ok(pe_of) = read(text.as_bytes(), n) {
            let expected: Vec<PeId> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
            prop_assert_eq!(pe_of, expected);
        }
    }
}
