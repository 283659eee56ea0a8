//! Any bytes after the magic number of gzip: an error or the uncompressed bytes, with bounded memory.
#![no_main]

use std::io::{Read, Write};

use libfuzzer_sys::fuzz_target;
use viem::io::{Source, metis};

fuzz_target!(|input: (bool, &[u8])| {
    let (is_damaged, bytes) = input;
    if is_damaged {
        let packed = [&[0x1f, 0x8b, 8][..], bytes].concat();
        let _ = metis::check(Source::new("fuzz", &packed[..]).expect("a slice can be read"), 5);
    } else {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("a vector can be written");
        let packed = encoder.finish().expect("a vector can be written");
        let mut unpacked = Vec::new();
        let mut source = Source::new("fuzz", &packed[..]).expect("a slice can be read");
        source.read_to_end(&mut unpacked).expect("what was packed can be unpacked");
        assert_eq!(unpacked, bytes);
    }
});
