//! Properties of all readers, for those of this package.

use viem_io::ReadError;

use super::Sample;
use super::reader::{Reader, check, reader};
use crate::{Collector, Format, TrafficConfig};

fn of(format: Format) -> Reader {
    let sample = format.sample;
    let reader = reader(format.name(), sample.text, move |source| {
        let mut collector = Collector::new(None);
        collector.read(source, Some(format))?;
        let finished = collector.finish(&TrafficConfig::default());
        Ok::<_, ReadError>(finished.map(|(graph, summary)| (graph, summary.classes)))
    });
    let reader = reader.numbers_from(sample.numbers_from);
    if sample.has_separators { reader.with_separators() } else { reader }
}

#[test]
fn spellings_encodings_and_damage_are_treated_alike() {
    assert!(Format::ALL.iter().all(|format| !format.sample.text.is_empty()), "a format has no text");
    let texts = Format::ALL.into_iter().filter(|format| format.sample.text != Sample::BINARY);
    check(&texts.map(of).collect::<Vec<_>>());
}
