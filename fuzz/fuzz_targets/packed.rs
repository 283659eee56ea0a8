//! Any bytes after the magic number of gzip: an error, with bounded memory; packed with gzip, what a reader gets from them
//! unpacked.
#![no_main]

use std::io::{Read, Write};

use libfuzzer_sys::fuzz_target;
use viem_io::{Source, metis};

fn all_of(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut source = Source::new("fuzz", bytes).expect("a slice can be read");
    source.read_to_end(&mut all).expect("it can be unpacked");
    all
}

fuzz_target!(|input: (bool, &[u8])| {
    let (is_damaged, bytes) = input;
    if is_damaged {
        let packed = [&[0x1f, 0x8b, 8][..], bytes].concat();
        let _ = metis::check(Source::new("fuzz", &packed[..]).expect("a slice can be read"), 5);
    } else {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("a vector can be written");
        let packed = encoder.finish().expect("a vector can be written");
        // What is packed twice is unpacked once.
        if !bytes.starts_with(&[0x1f, 0x8b]) {
            assert_eq!(all_of(&packed), all_of(bytes));
        }
    }
});
