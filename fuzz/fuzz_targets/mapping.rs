//! Any bytes as a mapping file: a permutation that survives a round trip, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::mapping::Mapping;
use viem_io::Source;
use viem_io::mapping::{self, Room};

fuzz_target!(|input: (u8, &[u8])| {
    let (num_processes, text) = (usize::from(input.0), input.1);
    let source = Source::new("fuzz", text);
    let Ok(pe_of) =
        source.and_then(|source| mapping::read(source, num_processes, Room::plain(num_processes)))
    else {
        return;
    };
    assert_eq!(pe_of.len(), num_processes);
    assert!(Mapping::from_pes(pe_of.clone()).is_ok());
    let mut written = Vec::new();
    mapping::write(&mut written, &pe_of).expect("a vector can be written");
    let again = Source::new("written", &written[..]).expect("a slice can be read");
    assert_eq!(
        mapping::read(again, num_processes, Room::plain(num_processes)).expect("a mapping that was written"),
        pe_of
    );
});
