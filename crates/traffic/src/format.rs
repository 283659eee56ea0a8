//! A kind of file that traffic is read from, and its reader.

use std::fmt;

use super::collector::FlowSink;
use super::fault::Stop;
use super::kind::{Class, Kind};
use viem_io::Source;
use viem_io::scanner::Scanner;

/// A kind of file that traffic is read from.
#[derive(Clone, Copy)]
pub struct Format {
    pub(super) kind: Kind,
    pub(super) read: ReadFile,
    #[cfg(test)]
    pub(super) sample: crate::tests::Sample,
}

/// Passes on the content of a file.
type ReadFile = fn(&mut Scanner<Source<'_>>, &mut FlowSink<'_>) -> Result<(), Stop>;

impl Format {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.kind.name
    }

    /// Returns a description in a few words.
    pub fn title(self) -> &'static str {
        self.kind.title
    }

    /// The classes of traffic that it distinguishes; at least one.
    pub fn classes(self) -> &'static [Class] {
        self.kind.classes
    }

    /// Returns whether such a file may be an application graph, too, instead of a recording.
    pub fn is_graph(self) -> bool {
        self.kind.is_graph
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}
