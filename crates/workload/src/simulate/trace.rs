//! Timelines in the Trace Event Format, which `chrome://tracing` and Perfetto display.
//!
//! A PE is a thread of process 0, a cycle is a microsecond. Messages are arrows from the sending PE to the
//! receiving one.

use serde::{Serialize, Serializer};

use super::report::{Flight, Span, Timeline};
use viem::base::types::PeId;

/// A timeline that is serialised as a list of events.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ChromeTrace<'a> {
    /// The timeline.
    pub timeline: &'a Timeline,
    /// The PE of each task.
    pub pe_of: &'a [PeId],
}

impl<'a> ChromeTrace<'a> {
    /// The trace of a timeline, where task i is on PE `pe_of[i]`.
    pub const fn new(timeline: &'a Timeline, pe_of: &'a [PeId]) -> Self {
        Self { timeline, pe_of }
    }
}

#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    cat: &'a str,
    ph: &'a str,
    pid: u32,
    tid: PeId,
    ts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Arguments<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments<'a> {
    Task { task: u32 },
    Message { from: u32, to: u32, flits: u64 },
    Name { name: &'a str },
}

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "traceEvents")]
    events: Events<'a>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
}

/// Events that are created one by one while they are written.
struct Events<'a>(ChromeTrace<'a>);

impl Serialize for ChromeTrace<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        File { events: Events(*self), unit: "ns" }.serialize(serializer)
    }
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ChromeTrace { timeline, pe_of } = self.0;
        let mut pes: Vec<PeId> = pe_of.to_vec();
        pes.sort_unstable();
        pes.dedup();
        let names: Vec<String> = pes.iter().map(|pe| format!("PE {pe}")).collect();
        let headings = pes.iter().zip(&names).map(|(&tid, name)| Event {
            args: Some(Arguments::Name { name }),
            ..event("thread_name", "__metadata", "M", tid, 0)
        });
        let spans = timeline.spans.iter().map(|&Span { pe, task, activity, begin, end }| {
            let name = match activity {
                super::Activity::Compute => "compute",
                super::Activity::Send => "send",
                super::Activity::Receive => "receive",
            };
            let (dur, args) = (Some(end - begin), Some(Arguments::Task { task }));
            Event { dur, args, ..event(name, "task", "X", pe, begin) }
        });
        let flights = timeline.flights.iter().enumerate().flat_map(|(id, flight)| {
            let &Flight { from, to, flits, sent, arrived } = flight;
            let (tail, tip) = (pe_of[from as usize], pe_of[to as usize]);
            let args = || Some(Arguments::Message { from, to, flits });
            [
                Event { id: Some(id), args: args(), ..event("message", "message", "s", tail, sent) },
                Event {
                    id: Some(id),
                    bp: Some("e"),
                    args: args(),
                    ..event("message", "message", "f", tip, arrived)
                },
            ]
        });
        serializer.collect_seq(headings.chain(spans).chain(flights))
    }
}

/// An event with only the common fields.
fn event<'a>(name: &'a str, cat: &'a str, ph: &'a str, tid: PeId, ts: u64) -> Event<'a> {
    Event { name, cat, ph, pid: 0, tid, ts, dur: None, id: None, bp: None, args: None }
}
