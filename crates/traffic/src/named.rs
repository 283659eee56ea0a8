//! Graphs whose vertices have names: which rank a name is.

use hashbrown::HashMap;

use super::collector::{FlowSink, Sizes};
use super::fault::{Stop, TrafficFault, expected};
use viem::base::number;
use viem_io::table::shortened;

/// The vertices of a graph, in the order of the file.
pub(super) struct Names {
    rank_of: HashMap<String, u64>,
    count: u64,
}

impl Names {
    /// Vertices of these names. If they are the numbers from 0 or from 1 on, each is the rank of its number, otherwise of its place.
    pub(super) fn new(names: Vec<String>) -> Result<Self, TrafficFault> {
        let count = names.len() as u64;
        let number = |name: &String| number::whole(name.as_bytes()).ok();
        let numbers: Option<Vec<u64>> = names.iter().map(number).collect();
        let first = numbers.as_ref().and_then(|numbers| numbers.iter().min().copied()).unwrap_or(0);
        let is_in_range = |&number: &u64| (first..first + count).contains(&number);
        let numbers = numbers.filter(|numbers| first <= 1 && numbers.iter().all(is_in_range));
        let mut rank_of = HashMap::with_capacity(names.len());
        for (place, name) in names.into_iter().enumerate() {
            let rank = numbers.as_ref().map_or(place as u64, |numbers| numbers[place] - first);
            if rank_of.insert(name.clone(), rank).is_some() {
                return Err(TrafficFault::NodeTwice { name });
            }
        }
        Ok(Self { rank_of, count })
    }

    /// Returns their number.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The vertex that an edge names.
    pub(super) fn rank(&self, name: &str) -> Result<u64, TrafficFault> {
        self.rank_of.get(name).copied().ok_or_else(|| TrafficFault::NoSuchNode { name: name.to_owned() })
    }
}

/// An edge as a file names it.
pub(super) struct Edge {
    pub(super) from: u64,
    pub(super) to: u64,
    /// The weight in the file; 1 if there is none.
    pub(super) weight: Option<String>,
    pub(super) messages: Option<String>,
    /// True if the weight is called `size`, so that it may be that of each message.
    pub(super) is_size: bool,
}

impl Edge {
    /// Hands the edge over.
    pub(super) fn add_to(&self, inlet: &mut FlowSink<'_>) -> Result<(), TrafficFault> {
        let number = |text: &Option<String>, expected| match text {
            None => Ok(None),
            Some(text) => number::whole(text.trim().as_bytes()).map(Some).map_err(|kind| {
                TrafficFault::not_a_number(shortened(text.trim().as_bytes()), kind, expected)
            }),
        };
        let messages = number(&self.messages, expected::MESSAGES)?;
        let weight = number(&self.weight, expected::WEIGHT)?;
        let weight = match (weight, messages, inlet.sizes()) {
            (Some(_), Some(_), None) if self.is_size => {
                return Err(TrafficFault::SizeOfEachOrAll { count: "messages".to_owned() });
            }
            (Some(size), Some(messages), Some(Sizes::OfEach)) => {
                size.checked_mul(messages).ok_or(TrafficFault::TooManyBytes { size, messages })?
            }
            (weight, ..) => weight.unwrap_or(u64::from(messages.is_none())),
        };
        inlet.add(0, self.from, self.to, weight, messages.unwrap_or(0))
    }
}

/// A fault at a place.
pub(super) fn stop(line: u64, column: u64) -> impl Fn(TrafficFault) -> Stop {
    move |fault| Stop { line, column, fault }
}
