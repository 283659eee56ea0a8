//! Files of Open MPI's monitoring component: one for each rank, or one stream of all.
//!
//! Lines `CLASS me peer BYTES bytes MESSAGES msgs sent`, separated by tabs, with a histogram of message sizes
//! behind some of them. E is point-to-point traffic of the application, I such traffic inside collectives and
//! of the library itself, S and R one-sided traffic away from me and towards me, C collectives seen as
//! traffic between pairs. D, O2A, A2O and A2A describe the same collectives once more, by communicator; no
//! rank is known to which anything would go. On a stream the lines of several ranks may be torn and the
//! application may write in between: incomplete lines are counted and left out. A line is whole if it
//! has this form up to its end, with a histogram as long as those of most before it. (Open MPI 4.1,
//! `ompi/mca/common/monitoring`; the histogram came with version 3.)

use hashbrown::HashMap;

use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault};
use super::fields::ScannerExt;
use super::format::Format;
use super::kind::{Class, Kind};
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::signature::openmpi::{CLASSES, Line};
use viem_io::table::is_blank;

pub(super) const FORMAT: Format = Format {
    kind: Kind {
        name: "openmpi",
        title: "Open MPI's monitoring",
        classes: &[
            Class { name: CLASSES[0], title: "point-to-point", is_default: true },
            Class { name: CLASSES[1], title: "inside collectives", is_default: true },
            Class { name: CLASSES[2], title: "one-sided, sent", is_default: true },
            Class { name: CLASSES[3], title: "one-sided, fetched", is_default: true },
            Class { name: CLASSES[4], title: "collectives once more, by pair", is_default: false },
        ],
        tells_recorders: true,
        ..Kind::PLAIN
    },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

/// Class of traffic that flows from the peer to the rank whose line it is.
const FETCHED: usize = 3;

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let mut has_lines = false;
    let mut histograms = Histograms::default();
    while let Some((number, line)) = scanner.next_line() {
        match Line::of(line) {
            Line::Flow { class, me, peer, bytes, messages, histogram } => {
                if histogram != 0 && !histograms.is_whole(histogram) {
                    inlet.torn(number);
                    continue;
                }
                let (from, to) = if class == FETCHED { (peer, me) } else { (me, peer) };
                let added = inlet.add(class, from, to, bytes, messages);
                added.map_err(|fault| Stop { line: number, column: 1, fault })?;
                inlet.recorder(me);
                has_lines = true;
            }
            Line::Other => has_lines = true,
            Line::Torn if line.iter().all(|&byte| is_blank(byte)) => {}
            Line::Torn => inlet.torn(number),
        }
    }
    let fault = TrafficFault::Missing { expected: "a line of Open MPI's monitoring" };
    if has_lines { Ok(()) } else { Err(scanner.stop(fault)) }
}

/// The lengths of histograms: that of most lines is that of whole ones.
#[derive(Default)]
struct Histograms {
    lines: HashMap<usize, u64>,
    /// The number of lines of the most common length, and that length; of several the longest.
    most: (u64, usize),
}

impl Histograms {
    /// Returns whether a line of this length is like most so far, itself among them.
    fn is_whole(&mut self, length: usize) -> bool {
        let lines = self.lines.entry(length).or_default();
        *lines += 1;
        self.most = self.most.max((*lines, length));
        self.most.1 == length
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, lines};
    use std::fmt::Write;

    pub(super) const SAMPLE: Sample = Sample {
        text: "E\t0\t1\t80 bytes\t2 msgs sent\nE\t1\t0\t60 bytes\t1 msgs sent\n",
        numbers_from: Some(0),
        write: Some(write),
        has_messages: true,
        ..Sample::NONE
    };

    fn write(_n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let mut text = String::new();
        let histogram = ["0"; 66].join(",");
        for (from, to, bytes, messages) in lines(flows) {
            let (class, me, peer) = [("E", from, to), ("R", to, from)][(from % 2) as usize];
            let tail = if class == "E" { format!("\t{histogram}") } else { String::new() };
            writeln!(text, "{class}\t{me}\t{peer}\t{bytes} bytes\t{messages} msgs sent{tail}").unwrap();
        }
        text += "D\tMPI_COMM_WORLD\tprocs: 0,1\nO2A\t0\t5 bytes\t6 msgs sent\n# COLLECTIVES\n";
        vec![text.into()]
    }
}
