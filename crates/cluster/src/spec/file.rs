//! Machines in files. The content of a file shows what kind it is.

use std::path::Path;

use crate::spec::error::SpecError;
use crate::spec::file_kind::{FileKind, FilePrefix, Match};
use crate::spec::{gpus, matrix, network, numa, target};
use viem::machine::Machine;
use viem_io::Source;

/// Every kind of file. Where several fit equally, the first is taken.
pub const FILES: [FileKind; 5] = [numa::FILE, gpus::FILE, target::FILE, network::FILE, matrix::FILE];

/// The machine in a file. The content determines the kind, or else the ending of `name` does.
pub fn read(mut source: Source<'_>, name: &Path) -> Result<Box<dyn Machine>, SpecError> {
    let start = source.start();
    let opening = FilePrefix::new(&start);
    let ending = name.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let ending = ending.trim_end_matches(".gz");
    let claim = |kind: &&FileKind| {
        let ends_so = kind.endings.iter().any(|&own| ending.ends_with(own));
        match ((kind.resembles)(&opening), ends_so) {
            (Match::Yes, _) => 4,
            (Match::Maybe, true) => 3,
            (Match::Maybe, false) => 2,
            (Match::No, true) => 1,
            (Match::No, false) => 0,
        }
    };
    // `max_by_key` returns the last of equal claims; reversed, that is the first of the table.
    match FILES.iter().rev().max_by_key(claim).filter(|kind| claim(kind) > 0) {
        Some(kind) => (kind.read)(source),
        None if opening.num_fields() == 0 && start.len() == Source::START => {
            Err(SpecError::LongComments { file: source.name().to_owned() })
        }
        None => Err(SpecError::UnknownFile { file: source.name().to_owned() }),
    }
}
