//! The kind of recorded traffic of a file, and the reading of one.

use std::io::{self, Read};

use super::FORMATS;
use super::collector::Collector;
use super::fault::{Stop, TrafficFault, read_whole};
use super::format::Format;
use super::kind::Kind;
use viem_io::signature::TRAFFIC;
use viem_io::{ReadError, Reading, Source, readings};

impl Format {
    /// All kinds.
    pub const ALL: [Self; FORMATS.len()] = FORMATS;

    /// Returns whether a file that starts with these bytes says itself that it is of this kind.
    pub fn is_certain(self, start: &[u8]) -> bool {
        let is_self = |reading: Reading| reading.traffic_kind() == Some(self.name());
        TRAFFIC.iter().any(|&(reading, is_certain)| is_self(reading) && is_certain(start))
    }

    /// The kind of a file that starts with these bytes (up to [`Source::START`] of them; fewer are all there are), if it can be no
    /// other. A METIS graph is none of them.
    pub fn recognise(start: &[u8]) -> Option<Self> {
        match readings(start, start.len() < Source::START)[..] {
            [reading] => Self::of_reading(reading),
            _ => None,
        }
    }

    /// The kind that a reading is of, if it is one of recorded traffic.
    pub fn of_reading(reading: Reading) -> Option<Self> {
        let kind = reading.traffic_kind()?;
        Self::ALL.into_iter().find(|format| format.name() == kind)
    }
}

impl Collector {
    /// Adds a file of the kind given, or else of the kind that its content shows. All files must be of one
    /// kind.
    ///
    /// Linear in the size of the file, apart from merging.
    pub fn read(&mut self, mut source: Source<'_>, format: Option<Format>) -> Result<(), ReadError> {
        let name = source.name().to_owned();
        let whole = |fault| Stop { line: 1, column: 1, fault }.invalid(name.clone());
        let format = match format {
            Some(format) => format,
            None => recognise(&mut source, self.kind())?.map_err(whole)?,
        };
        let mut inlet = self.inlet(format.kind, &name).map_err(whole)?;
        read_whole(source, |scanner| (format.read)(scanner, &mut inlet))
    }
}

/// The kind that the content of a source shows, or what it shows instead: the only one, or that of the files before. What cannot be
/// read is an error of its own.
fn recognise(
    source: &mut Source<'_>,
    earlier: Option<Kind>,
) -> Result<Result<Format, TrafficFault>, ReadError> {
    let start = source.start();
    let readings = readings(&start, start.len() < Source::START);
    let formats: Vec<Format> = readings.iter().filter_map(|&reading| Format::of_reading(reading)).collect();
    let is_earlier = |format: &&Format| earlier.is_some_and(|earlier| earlier.name == format.name());
    if let Some(format) = formats.iter().find(is_earlier) {
        return Ok(Ok(*format));
    }
    let fault = match (&readings[..], &formats[..]) {
        ([_], [format]) => return Ok(Ok(*format)),
        ([], _) => TrafficFault::Unrecognised,
        ([reading], _) => TrafficFault::LooksLike { reading: *reading },
        _ => TrafficFault::Ambiguous { readings },
    };
    let next = io::copy(&mut source.by_ref().take(start.len() as u64 + 1), &mut io::sink());
    next.map_err(|error| source.error(error))?;
    Ok(Err(fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recognised_is_read() {
        let names: Vec<_> = TRAFFIC.iter().map(|(reading, _)| reading.traffic_kind()).collect();
        assert_eq!(names, Format::ALL.map(|format| Some(format.name())));
        for &(reading, _) in TRAFFIC {
            assert!(Format::of_reading(reading).is_some(), "{reading}");
            assert!(reading.hint().contains("recorded traffic"));
        }
        assert_eq!(Format::of_reading(Reading::MAPPING), None);
    }
}
