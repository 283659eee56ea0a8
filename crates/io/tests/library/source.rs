//! Graphs compressed with gzip: read like plain ones, and rejected wherever the compressed data is damaged.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use viem_io::metis::{self, NodeWeights};
use viem_io::{PackedFault, ReadError, Source, mapping};

fn pack(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn source(bytes: &[u8]) -> Source<'_> {
    Source::new("test", bytes).unwrap()
}

#[test]
fn packed_files_are_read_like_plain_ones() {
    let text = b"3 2 11\n4 2 7\n0 1 7 3 8\n6 2 8\n";
    let graph = metis::read(source(text), NodeWeights::Read).unwrap();
    assert_eq!(metis::read(source(&pack(text)), NodeWeights::Read).unwrap(), graph);
    assert_eq!(mapping::read(source(&pack(b"1\n0\n")), 2, mapping::Room::plain(2)).unwrap(), [1, 0]);
}

#[test]
fn damage_is_reported_with_its_position() {
    let packed = pack(b"3 2\n2\n1 3\n2\n");
    for length in 3..packed.len() {
        let error = metis::check(source(&packed[..length]), 5).unwrap_err();
        let is_packed_fault = matches!(
            &error,
            ReadError::Invalid { kind, line: 1.., column: 1.., .. } if kind.fault::<PackedFault>().is_some()
        );
        assert!(is_packed_fault, "{length} bytes: {error}");
    }
    // The text before the damage may end anywhere, also just after a line.
    for changed in 10..packed.len() {
        let mut damaged = packed.clone();
        damaged[changed] ^= 1;
        assert!(metis::check(source(&damaged), 5).is_err(), "byte {changed}");
    }
}

#[test]
fn a_missing_file_and_a_folder_are_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("none"), "".into()] {
        assert!(matches!(Source::open(&path), Err(ReadError::Unreadable { .. })), "{path:?}");
    }
}
