//! Machine files and lists of PEs: valid input, and errors with their positions.

use proptest::prelude::*;
use viem::base::number_list::{ListFault, ListOf, is_list};
use viem_io::matrix::{self, MatrixFault};
use viem_io::target::{self, Base, Target, TargetFault};
use viem_io::{FieldFault, ReadError, Source, number_list};

fn source(text: &str) -> Source<'_> {
    Source::new("test", text.as_bytes()).unwrap()
}

fn invalid<F: std::error::Error + Clone + 'static>(
    result: Result<impl std::fmt::Debug, ReadError>,
) -> (u64, u64, F) {
    match result {
        Err(ReadError::Invalid { line, column, kind, .. }) => {
            (line, column, kind.fault::<F>().unwrap().clone())
        }
        other => panic!("{other:?}"),
    }
}

fn base(text: &str) -> Base {
    let Target { lists, base, .. } = target::read(source(text)).unwrap();
    assert!(lists.is_empty());
    base
}

fn target_fault(text: &str) -> (u64, u64, TargetFault) {
    invalid(target::read(source(text)))
}

#[test]
fn targets_of_every_kind() {
    let grid = |lengths: &[u32], is_closed| Base::Grid { lengths: lengths.to_vec(), is_closed };
    assert_eq!(base("mesh2D 3 4"), grid(&[3, 4], false));
    assert_eq!(base("mesh3D\n3\n4\n5\n"), grid(&[3, 4, 5], false));
    assert_eq!(base("meshXD 1 7"), grid(&[7], false));
    assert_eq!(base("TORUS2D 3 4"), grid(&[3, 4], true));
    assert_eq!(base("torus3D 3 4 5"), grid(&[3, 4, 5], true));
    assert_eq!(base("# a comment\ntorusXD 5 4 4 4 2 2 % another"), grid(&[4, 4, 4, 2, 2], true));
    assert_eq!(base("hcub\t10\r\n"), Base::Hypercube { dimension: 10 });
    assert_eq!(base("cmplt 4"), Base::Complete { num_pes: 4 });
    assert_eq!(base("cmpltw 3 1 2 3"), Base::WeightedComplete { capacities: vec![1, 2, 3] });
    assert_eq!(
        base("tleaf 3 8 90 16 9 4 1"),
        Base::Tree { arities: vec![4, 16, 8], distances: vec![1, 10, 100] }
    );
    assert_eq!(base("tleaf 0"), Base::Tree { arities: vec![], distances: vec![] });
    assert_eq!(
        base("ltleaf 2 4 9 4 1\n4 2 0 3 1\n"),
        Base::LabelledTree { arities: vec![4, 4], distances: vec![1, 10], labels: vec![2, 0, 3, 1] }
    );
    assert_eq!(
        base("deco 0\n3 5\n0 1 4\n1 2 5\n2 1 3\n1\n2 3\n"),
        Base::Decomposition { capacities: vec![1, 2, 1], domains: vec![4, 5, 3], triangle: vec![1, 2, 3] }
    );
    let Target { lists, base, .. } = target::read(source("sub\n2 1 2\nsub 3 5 0 7\nhcub 3\n")).unwrap();
    assert_eq!(lists, [vec![1, 2], vec![5, 0, 7]]);
    assert_eq!(base, Base::Hypercube { dimension: 3 });
}

#[test]
fn what_is_written_is_read() {
    let texts = [
        "tleaf 0",
        "tleaf 3 8 90 16 9 4 1",
        "ltleaf 2 4 9 4 1 4 2 0 3 1",
        "meshXD 1 7",
        "torus3D 3 4 5",
        "hcub 10",
        "cmplt 4",
        "cmpltw 3 1 2 3",
        "deco 0 3 5 0 1 2 1 1 6 2 1 7 4 5 6",
        "deco 0 1 1 0 1 1",
    ];
    for text in texts {
        let machine = base(text);
        let mut written = Vec::new();
        target::write(&mut written, &machine).unwrap();
        assert_eq!(base(std::str::from_utf8(&written).unwrap()), machine, "{text}");
    }
    let falling = Base::Tree { arities: vec![2, 2], distances: vec![5, 1] };
    assert!(target::write(&mut Vec::new(), &falling).is_err());
}

proptest! {
    /// Each PE has a domain of its own, and domains in the order of their ways are PEs in the order of their numbers.
    #[test]
    fn balanced_domains_are_leaves_in_order(num_pes in 0usize..300) {
        let domains = target::balanced_domains(num_pes);
        let paths: Vec<u64> = domains.iter().map(|&domain| target::path(domain)).collect();
        prop_assert!(paths.is_sorted_by(|a, b| a < b));
        let depth = domains.iter().map(|domain| domain.ilog2()).max().unwrap_or(0);
        prop_assert!(1 << depth < 2 * num_pes.max(1));
    }
}

#[test]
fn names_of_targets_are_case_insensitive() {
    for name in ["tleaf", "mesh2d", "TorusXD", "sub", "deco", "CMPLTW"] {
        assert!(target::is_name(name), "{name}");
    }
    assert!(!target::is_name("tleafs") && !target::is_name(""));
}

#[test]
fn hostile_targets() {
    use FieldFault::{Missing, OutOfRange};
    use TargetFault::*;
    let missing = |what| Field(Missing { what });
    let zero = |what, greatest| Field(OutOfRange { what, number: 0, least: 1, greatest });
    let ids = u64::from(u32::MAX);
    let count = "the number of processing elements";
    let cases = [
        ("", (1, 1, missing("the name of a target"))),
        ("4 5", (1, 1, UnknownKind { text: "4".into() })),
        ("mesh4D 1 1", (1, 1, UnknownKind { text: "mesh4D".into() })),
        ("\n mesh2D 4", (2, 10, missing("the length of a dimension"))),
        ("mesh2D 4 0", (1, 10, zero("the length of a dimension", ids))),
        ("mesh2D 4 4 4", (1, 12, Trailing { text: "4".into() })),
        ("mesh2D 4 4 x", (1, 12, Trailing { text: "x".into() })),
        ("torus2D 65536 65536", (1, 15, TooManyPes)),
        ("meshXD 4294967295 2 2", (1, 22, missing("the length of a dimension"))),
        ("meshXD 0", (1, 8, zero("the number of dimensions", ids))),
        ("cmplt 0", (1, 7, zero(count, ids))),
        ("cmpltw 4294967295 1 1", (1, 22, missing("the capacity of a processing element"))),
        ("cmpltw 2 1 0", (1, 12, zero("the capacity of a processing element", ids))),
        ("cmpltw 2 1 4294967295", (1, 12, TooManyPes)),
        ("tleaf 2 8 1", (1, 12, missing("the number of members of a group"))),
        ("tleaf 4294967295 1 1", (1, 21, missing("the number of members of a group"))),
        ("tleaf 2 1 9223372036854775807 1 1", (1, 33, DistanceOverflow)),
        ("ltleaf 1 4 1", (1, 13, missing("the number of labels"))),
        ("ltleaf 1 4 1 0", (1, 14, zero("the number of labels", ids))),
        ("ltleaf 1 4 1 3 0 1 2", (1, 14, Labels { labels: 3, leaves: 4 })),
        ("ltleaf 1 4 1 2 1", (1, 17, missing("a label"))),
        ("ltleaf 1 4 1 2 1 1", (1, 18, LabelTwice { label: 1 })),
        (
            "ltleaf 1 4 1 2 1 2",
            (1, 18, Field(OutOfRange { what: "a label", number: 2, least: 0, greatest: 1 })),
        ),
        ("deco 1 4", (1, 6, UnsupportedDecomposition { version: 1 })),
        ("deco 2", (1, 6, UnsupportedDecomposition { version: 2 })),
        ("deco 0 0 1", (1, 8, zero(count, ids))),
        ("deco 0 4294967295 1 0 1 1 1 1", (1, 30, missing("the domain of a processing element"))),
        ("deco 0 2 3 0 1 2 1 1 3", (1, 23, missing("a distance"))),
        ("deco 0 2 3\n0 1 2\n1 1 2\n5", (3, 5, DomainsOverlap { domain: 2, inner: 2 })),
        ("deco 0 3 9\n0 1 9\n1 1 3\n1 1 2\n5", (4, 5, DomainsOverlap { domain: 2, inner: 9 })),
        (
            "deco 0 2 3\n0 1 1\n1 1 18446744073709551615\n1",
            (3, 5, DomainsOverlap { domain: 1, inner: u64::MAX }),
        ),
        ("sub 0 hcub 3", (1, 5, zero("the number of listed processing elements", ids))),
        ("sub 4294967295 1 2", (1, 19, missing("a listed processing element"))),
        ("sub 3 1 2\n 1 hcub 3", (2, 2, PeListedTwice { pe: 1 })),
        ("sub 3 1 8 2 hcub 3", (1, 9, PeOutOfRange { pe: 8, count: 8 })),
        ("sub 2 0 3\nsub 3 1 2 3\nhcub 3", (1, 9, PeOutOfRange { pe: 3, count: 3 })),
        ("sub 1 0", (1, 8, missing("the name of a target"))),
    ];
    let wrong: Vec<_> =
        cases.into_iter().filter(|(text, expected)| target_fault(text) != *expected).collect();
    let found: Vec<_> = wrong.iter().map(|(text, _)| target_fault(text)).collect();
    assert!(wrong.is_empty(), "{wrong:?} are {found:?}");
    for text in
        ["hcub 32", "hcub -1", "hcub 1.5", "hcub x", "tleaf 1 4 -1", "hcub 99999999999999999999", "deco 3"]
    {
        assert!(matches!(target_fault(text), (1, 6.., Field(_))), "{text}");
    }
    let message = target_fault("mesh4D 1").2.to_string();
    assert!(message.contains("mesh3D") && message.contains("sub"), "{message}");
    assert!(target_fault("deco 1").2.to_string().contains("the network itself"));
}

#[test]
fn nested_lists_are_flattened() {
    let text = "sub 1 0 ".repeat(100_000) + "hcub 0";
    assert_eq!(target::read(source(&text)).unwrap().lists.len(), 100_000);
}

#[test]
fn matrices() {
    let read = |text: &str| {
        let matrix = matrix::read(source(text)).unwrap();
        (matrix.num_rows, matrix.entries)
    };
    assert_eq!(read("0"), (1, vec![0]));
    assert_eq!(read("0 5\r\n7 0\r\n"), (2, vec![0, 5, 7, 0]));
    assert_eq!(read("# two\n2\n0 5 7 0"), (2, vec![0, 5, 7, 0]));
    assert_eq!(read("0 1 2 3\n% half\n4 5 6 7 8"), (3, (0..9).collect()));
    assert_eq!(read("1 0"), (1, vec![0]));
    assert_eq!(read("0,5\n7,0\n"), (2, vec![0, 5, 7, 0]));
    assert_eq!(read("0; 5;\n7; 0;\n"), (2, vec![0, 5, 7, 0]));
    assert_eq!(read("10,21\r\n21,10\r\n"), (2, vec![10, 21, 21, 10]));
}

#[test]
fn hostile_matrices() {
    use MatrixFault::*;
    let fault = |text: &str| invalid::<MatrixFault>(matrix::read(source(text)));
    assert_eq!(fault("# none\n"), (2, 1, Field(FieldFault::Missing { what: "a distance" })));
    assert_eq!(fault("0 1\n1"), (2, 1, Uneven { found: 1, expected: 2 }));
    assert_eq!(fault("0 1 2\n1 0 3\n2 3 0 4\n"), (3, 7, Uneven { found: 4, expected: 3 }));
    assert_eq!(fault("0 1 2\n1 0 3\n"), (3, 1, NotSquare { entries: 6 }));
    assert_eq!(fault("0,1,2\n1,0\n"), (2, 3, Uneven { found: 2, expected: 3 }));
    assert!(matches!(fault("0,1\n1,x\n"), (2, 3, Field(FieldFault::NotANumber { .. }))));
    assert!(matches!(fault("0 1\n-1 0"), (2, 1, Field(FieldFault::NotANumber { .. }))));
    assert!(matches!(fault("0 1.5\n1.5 0"), (1, 3, Field(FieldFault::NotANumber { .. }))));
    assert!(matches!(fault("0 x\n1 0"), (1, 3, Field(FieldFault::NotANumber { .. }))));
    assert!(matches!(fault("0 9223372036854775808"), (1, 3, Field(FieldFault::OutOfRange { .. }))));
}

fn read_list(text: &str, num_pes: usize) -> Result<Vec<u32>, ReadError> {
    number_list::read(source(text), ListOf::Pes, num_pes)
}

#[test]
fn lists_of_pes() {
    assert_eq!(read_list("0-3,8,6-7", 9).unwrap(), [0, 1, 2, 3, 8, 6, 7]);
    assert_eq!(read_list("5\n3\r\n4", 9).unwrap(), [5, 3, 4]);
    assert_eq!(read_list(" 2-2, 1 # the rest is broken: 0\n% nothing\n0,\n", 3).unwrap(), [2, 1, 0]);
    assert_eq!(read_list("00004294967294", u32::MAX as usize).unwrap(), [u32::MAX - 1]);
    assert!(is_list("0-15,32") && is_list(" 3 4") && is_list("7,") && is_list(""));
    assert!(!is_list("pes.txt") && !is_list("./12") && !is_list("-"));
}

#[test]
fn hostile_lists_of_pes() {
    use ListFault::*;
    let of = ListOf::Pes;
    let fault = |text: &str| invalid::<ListFault>(read_list(text, 10));
    let out_of_range = |text: &str| OutOfRange { of, text: text.into(), last: 9 };
    let not_a_number = |text: &str| NotANumber { of, text: text.into() };
    let cases = [
        ("", (1, 1, Empty { of })),
        (" ,\n#1", (2, 3, Empty { of })),
        ("0-10", (1, 1, out_of_range("0-10"))),
        ("3\n 0-4294967295", (2, 2, out_of_range("0-4294967295"))),
        ("99999999999999999999999", (1, 1, out_of_range("99999999999999999999999"))),
        ("5-3", (1, 1, Backwards { text: "5-3".into(), first: 5, last: 3 })),
        ("1,2,1", (1, 5, ListedTwice { of, number: 1 })),
        ("0-5,9\n4-6", (2, 1, ListedTwice { of, number: 4 })),
        ("1,x", (1, 3, not_a_number("x"))),
        ("1,-3", (1, 3, not_a_number("-3"))),
        ("1-2-3", (1, 1, not_a_number("1-2-3"))),
        ("1-", (1, 1, not_a_number("1-"))),
        ("1:5", (1, 1, not_a_number("1:5"))),
        ("\u{fc}", (1, 1, not_a_number("\\u{fc}"))),
    ];
    for (text, expected) in cases {
        assert_eq!(fault(text), expected, "{text:?}");
    }
    let long = "x".repeat(1 << 20);
    assert!(fault(&long).2.to_string().len() < 300);
}

proptest! {
    #[test]
    fn any_text_is_read_or_rejected(text in "[a-z0-9 \n#%,.-]{0,60}", name in "(|sub 2 1 0 |tleaf |ltleaf |deco 0 |meshXD |cmpltw )") {
        let text = name + &text;
        let _ = target::read(source(&text));
        let _ = matrix::read(source(&text));
        if let Ok(list) = read_list(&text, 50) {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert!(sorted.len() == list.len() && !list.is_empty() && sorted[sorted.len() - 1] < 50);
        }
    }

    #[test]
    fn lists_survive_being_written_in_ranges(list in Just((0..40u32).collect::<Vec<_>>()).prop_shuffle(), cut in 1..40usize) {
        let list = &list[..cut];
        let mut text = String::new();
        for run in list.chunk_by(|a, b| a + 1 == *b) {
            text += &match run {
                [only] => format!("{only}, "),
                run => format!("{}-{}\n", run[0], run[run.len() - 1]),
            };
        }
        prop_assert_eq!(read_list(&text, 40).unwrap(), list);
    }
}
