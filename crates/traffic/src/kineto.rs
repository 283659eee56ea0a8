//! Traces of PyTorch's profiler (Kineto): a JSON file for each rank.
//!
//! Events `record_param_comms` have the name of a collective, its type, the numbers of its elements and the ranks of its group. From
//! them follows the traffic of the rank of the file:
//!
//! | collective | class | traffic |
//! |---|---|---|
//! | all-reduce, all-gather, reduce-scatter | by name | 2, 1 and 1 passes around the ring of the group, [`ring_bytes`] each |
//! | all-to-all | `alltoall` | to each rank its split, or an equal part |
//! | broadcast, reduce | `rooted` | all of it to the next in the ring, up to the last one behind the root, or up to the root |
//! | gather, scatter | `rooted` | the parts directly |
//! | send | `p2p` | all of it; receives are in the trace of the sender |
//!
//! Kernels of NCCL and ranges called `nccl:...` may have the same arguments: all there is where activities of the CPU were not profiled. A call
//! that a trace has in several of these ways counts once ([`unique`]).
//!
//! Lists of more than 30 ranks end in `...`; the whole list then is in `distributedInfo.pg_config`, or follows from the first
//! rank and the stride. Splits that are cut are taken for equal. (Names as in `torch/csrc/profiler/util.cpp` of
//! PyTorch and in the tests of Kineto.)

use std::fmt;

use hashbrown::{HashMap, HashSet};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::collective::{CLASSES, Call, Flow, Pattern};
use super::collector::FlowSink;
use super::fault::{Stop, TrafficFault};
use super::format::Format;
use super::kind::Kind;
use super::named::stop;
use viem::base::number;
use viem_io::Source;
use viem_io::scanner::Scanner;
use viem_io::table::shortened;

pub(super) const FORMAT: Format = Format {
    kind: Kind {
        name: "kineto",
        title: "traces of PyTorch's profiler",
        classes: CLASSES,
        tells_recorders: true,
        if_empty: "collectives are in events `record_param_comms` of the CPU, or in kernels of NCCL with their sizes; profile with one of these",
        ..Kind::PLAIN
    },
    read,
    #[cfg(test)]
    sample: tests::SAMPLE,
};

/// Name of the argument that says which collective it is.
const COLLECTIVE: &str = "Collective name";

/// Ranks that a group has at most which no list names: a few bytes would take time and memory for all of them.
const MOST_UNLISTED: u64 = 1 << 16;

/// The used part of a trace.
#[derive(Deserialize)]
struct Trace {
    #[serde(rename = "distributedInfo", default)]
    info: Value,
    #[serde(rename = "traceEvents", default)]
    events: Events,
}

/// The events that count.
#[derive(Default)]
struct Events(Vec<Event>);

/// The record of a call.
struct Event {
    /// Its place in the list of all events, from 1.
    number: u64,
    recorded: Recorded,
    /// The name of the event.
    name: String,
    arguments: Value,
}

/// The ways in which a call is recorded; all of them have the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recorded {
    /// An event `record_param_comms`.
    Call,
    /// A kernel on a GPU.
    Kernel,
    /// A range of the host, or the same range as a GPU sees it.
    Range,
    RangeOnGpu,
}

impl Recorded {
    const COUNT: usize = 4;

    /// The way in which an event records a call, if it may be one.
    fn of(name: &str, category: &str) -> Option<Self> {
        let is_kernel = category == "kernel"
            || ["ncclDevKernel", "ncclKernel"].iter().any(|start| name.starts_with(start));
        match (name, category) {
            ("record_param_comms", _) => Some(Self::Call),
            _ if is_kernel && name.contains("ccl") => Some(Self::Kernel),
            (_, "gpu_user_annotation") if name.starts_with(RANGE) => Some(Self::RangeOnGpu),
            _ if name.starts_with(RANGE) => Some(Self::Range),
            _ => None,
        }
    }
}

/// The beginning of the names of ranges.
const RANGE: &str = "nccl:";

impl Event {
    /// The event, if it records a call.
    fn of(number: u64, event: &mut Value) -> Option<Self> {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, recorded) = (text("name").to_owned(), Recorded::of(text("name"), text("cat"))?);
        Some(Self { number, recorded, name, arguments: event["args"].take() })
    }

    /// The collective.
    fn called(&self) -> &str {
        let of_range = || self.name.strip_prefix(RANGE).unwrap_or_default();
        self.arguments.get(COLLECTIVE).and_then(Value::as_str).unwrap_or_else(of_range)
    }

    /// Elements that are sent and received.
    fn elements(&self) -> (u64, u64) {
        let elements = |key| whole(&self.arguments, key).unwrap_or(0);
        (elements("In msg nelems"), elements("Out msg nelems"))
    }

    /// Returns whether it has the sizes of a call.
    fn has_size(&self) -> bool {
        self.elements() != (0, 0)
    }

    /// Returns a key that is equal for two records of one call.
    fn key(&self) -> String {
        let argument = |key: &str| self.arguments.get(key).map(Value::to_string).unwrap_or_default();
        let pattern =
            Pattern::of(self.called()).map_or(self.called().to_owned(), |pattern| format!("{pattern:?}"));
        let group = ["Process Group Ranks", "Process Group Name", "Group size", "Dst Rank", "dtype"]
            .map(argument)
            .join(" ");
        format!("{pattern} {:?} {group}", self.elements())
    }
}

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Events::default())
    }
}

/// Keeps one event at a time: a trace has many of other kinds.
impl<'de> Visitor<'de> for Events {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self, A::Error> {
        let mut number = 0;
        while let Some(mut event) = list.next_element::<Value>()? {
            number += 1;
            self.0.extend(Event::of(number, &mut event));
        }
        Ok(self)
    }
}

/// Each call once: of the same calls as many as are recorded in that way which has the most of them. Kernels of one call have the same id.
fn unique(mut events: Vec<Event>) -> Vec<Event> {
    let mut ids = HashSet::new();
    events.retain(|event| match event.arguments.get("External id") {
        Some(id) if event.recorded == Recorded::Kernel => ids.insert((id.to_string(), event.key())),
        _ => true,
    });
    let mut counts: HashMap<String, [u64; Recorded::COUNT]> = HashMap::new();
    for event in &events {
        counts.entry(event.key()).or_default()[event.recorded as usize] += 1;
    }
    events.retain(|event| {
        let counts = counts[&event.key()];
        let most = counts.iter().max();
        counts.iter().position(|count| Some(count) == most) == Some(event.recorded as usize)
    });
    events
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut FlowSink<'_>) -> Result<(), Stop> {
    let text = scanner.rest();
    let trace: Trace = serde_json::from_slice(&text).map_err(|error| {
        let fault = TrafficFault::Json { reason: error.to_string() };
        stop(error.line().max(1) as u64, error.column().max(1) as u64)(fault)
    })?;
    drop(text);
    let job = Job::new(&trace.info).map_err(stop(1, 1))?;
    inlet.state_ranks(job.num_ranks).map_err(stop(1, 1))?;
    let (events, without_size): (Vec<Event>, Vec<Event>) =
        trace.events.0.into_iter().partition(|event| event.recorded == Recorded::Call || event.has_size());
    if events.is_empty() {
        inlet.left_out().uncounted_calls += without_size.len() as u64;
        return Ok(());
    }
    inlet.recorder(job.me);
    for event in unique(events) {
        let in_event = |fault| TrafficFault::InEvent { number: event.number, fault: Box::new(fault) };
        job.add(&event, inlet).map_err(|fault| stop(1, 1)(in_event(fault)))?;
    }
    Ok(())
}

/// The job as a trace describes it.
struct Job {
    /// The rank of the trace.
    me: u64,
    num_ranks: u64,
    /// Name and ranks of each group.
    groups: Vec<(String, Vec<u64>)>,
}

impl Job {
    fn new(info: &Value) -> Result<Self, TrafficFault> {
        let missing = |expected| TrafficFault::Missing { expected };
        let me = whole(info, "rank").ok_or(missing("the rank of the trace (`distributedInfo`, `rank`)"))?;
        let groups = info.get("pg_config").and_then(Value::as_array);
        let group = |group: &Value| Some((name(group.get("pg_name")?), ranks(group.get("ranks")?)?));
        let groups: Vec<_> = groups.into_iter().flatten().filter_map(group).collect();
        // In some versions `world_size` counts the ranks of a node.
        let named = groups.iter().flat_map(|(_, ranks)| ranks).map(|rank| rank.saturating_add(1)).max();
        let num_ranks = whole(info, "world_size").max(named);
        let num_ranks = num_ranks.ok_or(missing("the number of ranks (`distributedInfo`, `world_size`)"))?;
        let job = Self { me, num_ranks, groups };
        job.check(me)?;
        Ok(job)
    }

    fn check(&self, rank: u64) -> Result<(), TrafficFault> {
        let last = self.num_ranks.saturating_sub(1);
        if rank < self.num_ranks { Ok(()) } else { Err(TrafficFault::NoSuchRank { rank, first: 0, last }) }
    }

    /// Adds what this rank sends in a call.
    fn add(&self, event: &Event, inlet: &mut FlowSink<'_>) -> Result<(), TrafficFault> {
        let (called, arguments, (sent, received)) = (event.called(), &event.arguments, event.elements());
        let Some(pattern) = Pattern::of(called) else {
            inlet.left_out().uncounted_calls += u64::from(sent.max(received) > 0);
            return Ok(());
        };
        let size = u128::from(element_size(arguments)?);
        let (bytes_sent, bytes_received) = (size * u128::from(sent), size * u128::from(received));
        if sent.max(received) == 0 || pattern == Pattern::Receive {
            return Ok(());
        }
        let flows = match pattern {
            Pattern::Send => self.peer(arguments).map(|peer| vec![Flow::new(peer, bytes_sent)]),
            _ => self.group(arguments).and_then(|ranks| {
                let root = whole(arguments, "Rank").and_then(|root| usize::try_from(root).ok()).unwrap_or(0);
                let splits = arguments.get("In split size").and_then(self::ranks);
                let (sent, received) = (bytes_sent, bytes_received);
                Call { me: self.me, ranks: &ranks, root, sent, received, splits }.flows(pattern)
            }),
        };
        let Some(flows) = flows else {
            inlet.left_out().uncounted_calls += 1;
            return Ok(());
        };
        let class = pattern.class();
        flows.into_iter().filter(|flow| flow.messages > 0).try_for_each(|flow| {
            self.check(flow.to)?;
            let bytes = u64::try_from(flow.bytes)
                .map_err(|_| TrafficFault::TooManyElements { called: shortened(called.as_bytes()) })?;
            inlet.add(class, self.me, flow.to, bytes, flow.messages)
        })
    }

    /// The rank to which a message goes.
    fn peer(&self, arguments: &Value) -> Option<u64> {
        whole(arguments, "Dst Rank").or_else(|| {
            let place = usize::try_from(whole(arguments, "Rank")?).ok()?;
            self.group(arguments)?.get(place).copied()
        })
    }

    /// The ranks of the group of a call, in their order.
    fn group(&self, arguments: &Value) -> Option<Vec<u64>> {
        let size = whole(arguments, "Group size");
        let is_whole =
            |ranks: &Vec<u64>| !ranks.is_empty() && size.is_none_or(|size| size == ranks.len() as u64);
        let listed = || arguments.get("Process Group Ranks").and_then(ranks);
        let configured = || {
            let called = name(arguments.get("Process Group Name")?);
            self.groups.iter().find(|(name, _)| *name == called).map(|(_, ranks)| ranks.clone())
        };
        let strided = || {
            let stride = whole(arguments, "Global rank stride").filter(|&stride| stride > 0)?;
            let (first, size) = (whole(arguments, "Global rank start")?, size?);
            let last = stride.checked_mul(size.checked_sub(1)?)?.checked_add(first)?;
            (last < self.num_ranks && size <= MOST_UNLISTED)
                .then(|| (0..size).map(|place| first + stride * place).collect())
        };
        let all = || {
            let is_job = size == Some(self.num_ranks) && self.num_ranks <= MOST_UNLISTED;
            is_job.then(|| (0..self.num_ranks).collect())
        };
        let sources: [&dyn Fn() -> Option<Vec<u64>>; 4] = [&listed, &configured, &strided, &all];
        sources.iter().find_map(|source| source().filter(is_whole))
    }
}

/// The whole number of this name.
fn whole(object: &Value, key: &str) -> Option<u64> {
    match object.get(key)? {
        Value::String(text) => number::whole(text.trim().as_bytes()).ok(),
        value => value.as_u64(),
    }
}

/// A list of numbers, or its text such as `[0, 1]`; nothing if it is cut.
fn ranks(list: &Value) -> Option<Vec<u64>> {
    match list {
        Value::Array(ranks) => ranks.iter().map(Value::as_u64).collect(),
        Value::String(text) => {
            let ranks = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
            let numbers = ranks.split(',').filter(|_| !ranks.is_empty());
            numbers.map(|rank| number::whole(rank.trim().as_bytes()).ok()).collect()
        }
        _ => None,
    }
}

/// The name of a group, which is a number in some versions.
fn name(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Types of elements by the starts of their names in lower case, and their bytes; longer ones come before shorter ones.
const TYPES: [(&str, u64); 26] = [
    ("float8", 1),
    ("float4", 1),
    ("float16", 2),
    ("float64", 8),
    ("float", 4),
    ("double", 8),
    ("half", 2),
    ("bfloat16", 2),
    ("byte", 1),
    ("char", 1),
    ("bool", 1),
    ("short", 2),
    ("int8", 1),
    ("int16", 2),
    ("int64", 8),
    ("int", 4),
    ("long", 8),
    ("uint8", 1),
    ("uint16", 2),
    ("uint32", 4),
    ("uint64", 8),
    ("complexhalf", 4),
    ("complex32", 4),
    ("complex128", 16),
    ("complexdouble", 16),
    ("complex", 8),
];

/// Bytes of an element of a call.
fn element_size(arguments: &Value) -> Result<u64, TrafficFault> {
    let expected = "the type of the elements (`dtype`), such as Float or BFloat16";
    let name = arguments.get("dtype").and_then(Value::as_str).ok_or(TrafficFault::Missing { expected })?;
    let lower = name.trim_start_matches("torch.").to_ascii_lowercase();
    let known = TYPES.iter().find(|(start, _)| lower.starts_with(start));
    known
        .map(|&(_, size)| size)
        .ok_or_else(|| TrafficFault::Unexpected { text: shortened(name.as_bytes()), expected })
}

#[cfg(test)]
mod tests {
    use crate::tests::{Flows, Sample, event, kineto, lines};

    pub(super) const SAMPLE: Sample = Sample {
        text: "{\"schemaVersion\": 1,\n\"distributedInfo\": {\"rank\": 1, \"world_size\": 3},\n\"traceEvents\": [\n\
             {\"name\": \"record_param_comms\", \"args\": {\"Collective name\": \"allreduce\", \"dtype\": \"Float\",\n\
             \"In msg nelems\": 30, \"Out msg nelems\": 30, \"Group size\": 3, \"Process Group Ranks\": \"[0, 1, 2]\"}}\n]}\n",
        write: Some(write),
        ..Sample::NONE
    };

    fn write(n: u32, flows: &Flows) -> Vec<Vec<u8>> {
        let file = |me: u32| {
            let event =
                |(_, to, bytes, _)| event("send", "Byte", bytes, bytes, &format!("\"Dst Rank\": {to}"));
            kineto(me, n, &lines(flows).filter(|line| line.0 == me).map(event).collect::<Vec<_>>()).into()
        };
        (0..n).map(file).collect()
    }
}
