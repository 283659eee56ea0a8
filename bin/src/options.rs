//! Options that several verbs share.

use std::num::ParseFloatError;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::{Serialize, Serializer};

use crate::error::{Result, UsageError};
use crate::verb::Form;
use viem::base::text::counted;
use viem::graph::Coordinates;
use viem::solve::{Balance, MapPreset};
use viem_io::Source;
use viem_io::coordinates::{self, Ids};

/// By how many percent a load may exceed its share by default.
const IMBALANCE: f64 = 3.0;

/// The distance that loads of PEs, or weights of blocks, may have from their shares.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Balance")]
pub(crate) struct BalanceOptions {
    /// Maximum excess of a load over its share, in percent. That is, load <= floor((1 + PERCENT/100) * ceil(share)); 0 asks for
    /// exact sizes, and none lifts the bound. A list such as 3,5 has one for each weight of the vertices. 3/division is that of each division of the blocks in
    /// two, as for METIS' recursive bisection [default: 3]
    #[arg(long, short, value_name = "PERCENT", allow_negative_numbers = true, value_parser = Imbalance::parse)]
    pub(crate) imbalance: Option<Imbalance>,

    /// Minimum load of a PE or block, in percent of its share. Rounded down; if it conflicts with --imbalance, --imbalance wins. A list has one for
    /// each weight of the vertices [default: 0]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = PercentList::parse)]
    pub(crate) least_load: Option<PercentList>,

    /// Minimum load of each PE or block. Line i holds that of PE or block i, a weight of at most its share; if it conflicts with
    /// --imbalance, --imbalance wins. Where vertices have several weights, given once for each, none without such loads
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with = "least_load")]
    pub(crate) least_loads: Vec<PathBuf>,
}

/// What is written for a bound that there is not.
pub(crate) const NONE: &str = "none";

/// The imbalance where loads have no bound.
const LIFTED: f64 = f64::INFINITY;

/// A percentage, or one for each weight of the vertices.
#[derive(Clone, Debug)]
pub(crate) struct PercentList(Vec<f64>);

impl PercentList {
    fn parse(text: &str) -> Result<Self, ParseFloatError> {
        let number = |text: &str| match text.trim() {
            NONE => Ok(LIFTED),
            // Infinity is no percentage.
            text => text.parse::<f64>().map(|percent| if percent.is_finite() { percent } else { f64::NAN }),
        };
        text.split(',').map(number).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().copied()
    }
}

/// What follows an imbalance that is that of each division.
const PER_DIVISION: &str = "/division";

/// The imbalance, or one for each weight of the vertices.
#[derive(Clone, Debug)]
pub(crate) struct Imbalance {
    percents: PercentList,
    /// Whether it is that of each division of the blocks in two.
    per_division: bool,
}

impl Imbalance {
    fn parse(text: &str) -> Result<Self, ParseFloatError> {
        let percents = text.strip_suffix(PER_DIVISION);
        Ok(Self { percents: PercentList::parse(percents.unwrap_or(text))?, per_division: percents.is_some() })
    }
}

impl BalanceOptions {
    /// The distance that loads may have from their shares, for each of several weights of the vertices, or the only one. `whole` has by weight the imbalance
    /// with which a PE may have everything.
    pub(crate) fn read_each(&self, whole: &[f64]) -> Result<Vec<Balance>, UsageError> {
        let count = whole.len();
        let percents = self.imbalance.as_ref().map(|imbalance| &imbalance.percents);
        let per_division = self.imbalance.as_ref().is_some_and(|imbalance| imbalance.per_division);
        let mut imbalances = each("--imbalance", percents, IMBALANCE, count)?;
        for (percent, &whole) in imbalances.iter_mut().zip(whole).filter(|(percent, _)| **percent == LIFTED) {
            *percent = 100.0 * whole;
        }
        let least_loads = each("--least-load", self.least_load.as_ref(), 0.0, count)?;
        let pairs = imbalances.into_iter().zip(least_loads);
        let balance = |(percent, least)| -> Result<Balance, UsageError> {
            Ok(Balance { imbalance: imbalance(percent)?, least_load: least_load(least)?, per_division })
        };
        pairs.map(balance).collect()
    }

    /// The same options with no bounds where no imbalance is given.
    pub(crate) fn lifted_by_default(&self) -> Self {
        let mut own = self.clone();
        let lifted = || Imbalance { percents: PercentList(vec![LIFTED]), per_division: false };
        own.imbalance.get_or_insert_with(lifted);
        own
    }

    /// Checks all numbers; can be done before the number of weights is known.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        let imbalances = self.imbalance.iter().flat_map(|imbalance| imbalance.percents.iter());
        let imbalances = imbalances.filter(|&percent| percent != LIFTED);
        imbalances
            .map(imbalance)
            .chain(self.least_load.iter().flat_map(PercentList::iter).map(least_load))
            .try_for_each(|share| share.map(|_| ()))
    }

    /// The option that is given, if any is.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--imbalance", self.imbalance.is_some()),
            ("--least-load", self.least_load.is_some()),
            ("--least-loads", !self.least_loads.is_empty()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
}

/// The coordinates of vertices.
#[derive(Args, Clone, Debug)]
pub(crate) struct CoordinateOptions {
    /// Coordinates of the vertices. A line for each, an .xyz file with a header, or a Matrix Market array
    #[arg(long, value_name = "FILE")]
    coordinates: Option<PathBuf>,

    /// Vertex numbers in the first column of --coordinates. A file of three or more columns is refused if they are not
    /// clearly present or absent [default: by file]
    #[arg(hide_short_help = true, long, value_name = "yes|no", requires = "coordinates", value_parser = ids)]
    coordinate_ids: Option<Ids>,
}

impl CoordinateOptions {
    /// The file that is read, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.coordinates.as_deref()
    }

    /// Reads the coordinates of the vertices, if they are given.
    pub(crate) fn read(&self, num_nodes: usize) -> Result<Option<Coordinates>> {
        let ids = self.coordinate_ids.unwrap_or(Ids::Unknown);
        let read = |path| Ok(coordinates::read_with(Source::open(path)?, num_nodes, ids)?);
        self.file().map(read).transpose()
    }
}

/// The results besides the mapping or the partition.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResultOptions {
    /// Also write the communication between PEs or blocks as a graph. Its vertex i is PE i or block i; not for one-to-one
    /// mappings
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,

    /// Recompute the results from the files by independent code. A mismatch is an error
    #[arg(long)]
    pub(crate) verify: bool,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// What a verb prints, and where.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportOptions {
    /// Also write a machine-readable report to FILE; - is standard output, which then carries nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print more, such as the time of each phase
    #[arg(long, short)]
    pub(crate) verbose: bool,

    /// Whose lines are printed.
    #[arg(skip)]
    pub(crate) form: Form,
}

/// How a verb searches.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchOptions {
    /// Trade-off of time and quality
    #[arg(long, short, default_value = "eco", value_name = "PRESET", value_parser = one_of(&MapPreset::ALL, MapPreset::name))]
    pub(crate) preset: MapPreset,

    #[command(flatten)]
    pub(crate) time: TimeOptions,

    #[command(flatten)]
    pub(crate) random: RandomOptions,
}

/// How long a verb searches.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Search")]
pub(crate) struct TimeOptions {
    /// Improve for this time: seconds, or 90s, 2m, 1h. The best result found is returned; a large problem is stopped before its
    /// search is done
    #[arg(long, short, value_name = "TIME", allow_negative_numbers = true, value_parser = duration)]
    pub(crate) time_limit: Option<Duration>,
}

impl TimeOptions {
    /// The limit in seconds.
    pub(crate) fn seconds(&self) -> Option<f64> {
        self.time_limit.map(|limit| limit.as_secs_f64())
    }
}

/// What decides random choices, and how many threads there are, which decides nothing but the time.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Search")]
pub(crate) struct RandomOptions {
    /// Seed of all random choices. The same seed gives the same result
    #[arg(long, short, default_value = "0", value_name = "INT", allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: u64,

    /// Number of threads. At most 256, or the number of cores if that is more; the result is the same for any number
    /// [default: all cores]
    #[arg(long, value_name = "INT")]
    threads: Option<usize>,
}

impl RandomOptions {
    /// The number of threads.
    pub(crate) fn threads(&self) -> Result<usize, UsageError> {
        threads(self.threads)
    }
}

/// A parser of option values that accepts the names of `all` and nothing else: what is listed works.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&choice| name(choice))).map(move |text: String| {
        let chosen = all.iter().copied().find(|&choice| name(choice) == text);
        chosen.expect("the parser lets only listed names through")
    })
}

/// A value, and the text that it was given as, which reports have.
#[derive(Clone, Debug)]
pub(crate) struct Typed<T> {
    text: String,
    pub(crate) value: T,
}

impl<T> Serialize for Typed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

/// A parser that keeps the text.
pub(crate) fn typed<T, E>(
    parse: impl Fn(&str) -> Result<T, E> + Clone,
) -> impl Fn(&str) -> Result<Typed<T>, E> + Clone {
    move |text| Ok(Typed { text: text.to_owned(), value: parse(text)? })
}

/// Parses a seed: all of `u64`, and negative numbers for the seeds counted down from 2^64.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let negative = || text.parse::<i64>().map(|seed| seed as u64);
    text.parse()
        .or_else(|_| negative())
        .map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

/// Parses a time: seconds, or a number of seconds, minutes or hours with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(char, f64); 3] = [('s', 1.0), ('m', 60.0), ('h', 3600.0)];
    let mut units = UNITS.iter().filter_map(|&(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, unit) = units.next().unwrap_or((text, 1.0));
    let seconds = number.trim().parse::<f64>().map(|number| number * unit);
    seconds.ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
        "a time is a number of seconds, or a number and its unit, s, m or h: 90, 1.5, 90s, 2m, 1h".to_string()
    })
}

/// Whether coordinates stand beside the numbers of what lies there: yes or no.
fn ids(text: &str) -> Result<Ids, String> {
    match text {
        "yes" => Ok(Ids::Yes),
        "no" => Ok(Ids::No),
        _ => Err("it is yes or no".to_owned()),
    }
}

/// Threads that are started at most, unless there are more cores: starting a hundred thousand of them can bring a
/// system down.
const MOST_THREADS: usize = 256;

/// The percentage for each of `count` weights: those given, the one given for all, or the default.
fn each(name: &str, given: Option<&PercentList>, default: f64, count: usize) -> Result<Vec<f64>, UsageError> {
    match given.map(|PercentList(percents)| &percents[..]) {
        None => Ok(vec![default; count]),
        Some([percent]) => Ok(vec![*percent; count]),
        Some(percents) if percents.len() == count => Ok(percents.to_vec()),
        Some(percents) => Err(UsageError(format!(
            "{name} has {found} numbers, but each vertex has {weights}; give one number, or one for each weight",
            found = percents.len(),
            weights = counted(count, "weight", "weights")
        ))),
    }
}

/// An imbalance in percent as a share.
pub(crate) fn imbalance(percent: f64) -> Result<f64, UsageError> {
    if percent >= 0.0 && percent.is_finite() {
        return Ok(percent / 100.0);
    }
    Err(UsageError(format!("--imbalance={percent} is not a percentage of 0 or more")))
}

/// A least load in percent of a share as a part of it.
fn least_load(percent: f64) -> Result<f64, UsageError> {
    if (0.0..=100.0).contains(&percent) {
        return Ok(percent / 100.0);
    }
    Err(UsageError(format!("--least-load={percent} is not a percentage from 0 to 100")))
}

/// The number of threads asked for, or else one for each core that the process may use.
pub(crate) fn threads(asked: Option<usize>) -> Result<usize, UsageError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match asked {
        Some(0) => Err(UsageError("--threads must be at least 1".to_string())),
        Some(threads) => Ok(threads.min(MOST_THREADS.max(cores))),
        None => Ok(cores),
    }
}
