//! Properties of all readers, for those of this package.

use viem::base::number_list::ListOf;
use viem_io as io;
use viem_io::coordinates::{self, Ids};
use viem_io::fixed::{self, FixedKind};
use viem_io::metis::{self, NodeWeights};
use viem_io::{Source, mapping, number_list, pe_weights, qap_solution};

use crate::reader::{Reader, check, reader};

fn all() -> Vec<Reader> {
    let points = |source: Source<'_>| coordinates::read_with(source, 3, Ids::No);
    vec![
        reader("metis", "3 2 11\n4 2 7\n0 1 7 3 8\n6 2 8\n", |source| metis::read(source, NodeWeights::Read))
            .numbers_from(1),
        reader("check", "2 1 1\n2 7\n1 7\n", |source| metis::check(source, 9).map(|report| report.faults))
            .numbers_from(1),
        reader("mapping", "2\n0\n1\n", |source| mapping::read(source, 3, mapping::Room::plain(3))),
        reader("partition", "2\n0\n1\n", |source| io::partition::read(source, Some(3))),
        reader("parents", "2\n0\n1\n", |source| io::parents::read(source, 3, 3)),
        reader("index", "2\n0\n1\n", |source| io::index::read(source, 3)),
        reader("pe_weights", "2\n10\n1\n", |source| pe_weights::read(source, 3)),
        reader("speeds", "2\n0\n1000\n", pe_weights::read_speeds),
        reader("points", "0 5 9\n10 6 1\n3 7 2\n", points).with_separators(),
        reader("points with header", "2\n3\n0 5 9\n1 6 1\n2 7 2\n", points),
        reader(
            "points of Matrix Market",
            "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n",
            points,
        )
        .numbers_from(2),
        reader("matrix", "0 10 3\n10 0 4\n3 4 0\n", io::matrix::read).with_separators(),
        reader("matrix with n", "3\n0 10 3\n10 0 4\n3 4 0\n", io::matrix::read).with_separators(),
        reader("qaplib", "2\n0 10\n3 0\n5 6\n7 8\n", io::qaplib::read).with_separators(),
        reader("solution", "3 700\n3 1 2\n", |source| qap_solution::read(source, 3)).with_separators(),
        reader("target", "tleaf 2 4 10 2 1\n", io::target::read),
        reader("list", "0-2,4\n7\n", |source| number_list::read(source, ListOf::Pes, 9)).numbers_from(None),
        reader("fixed processes", "-1\n2\n-1\n", |source| {
            fixed::read(source, 3, mapping::Room::plain(3), FixedKind::Processes)
        }),
        reader("fixed vertices by pairs with names", "vertex part\n0 2\n2 1\n", |source| {
            fixed::read(source, 3, mapping::Room::plain(3), FixedKind::Parts)
        })
        .with_separators(),
        reader("fixed processes by pairs", "0 2\n2 1\n", |source| {
            fixed::read(source, 3, mapping::Room::plain(3), FixedKind::Processes)
        })
        .with_separators(),
    ]
}

#[test]
fn spellings_encodings_and_damage_are_treated_alike() {
    check(&all());
}
