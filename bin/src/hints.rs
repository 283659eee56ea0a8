//! Which option helps: where the command line names one that does not exist, and where an error of the library names only fields
//! and values.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use strsim::jaro_winkler;

use crate::console::Console;
use crate::error::{Failure, PreviousError};
use viem::machine;
use viem::mapping::objective::ScoreError;
use viem::mapping::problem::ProblemError;
use viem::partition::{FixedError, PreviousAssignmentError};
use viem::qap::QapSolveError;
use viem::solve::SolveError;
use viem_cluster::SpecError;
use viem_cluster::nodes::ClusterError;
use viem_io::coordinates::CoordinatesFault;
use viem_io::metis::{FaultKind, Role};
use viem_io::qaplib::QaplibFault;
use viem_io::{ContentError, LineFault, NumberFault, ReadError, Reading};
use viem_traffic::{TrafficError, TrafficFault, TrafficNote};
use viem_training::expert_trace::ExpertTraceFault;
use viem_workload::text::TextFault;

/// How alike two words are that may be meant for each other, from 0 to 1: `outptu` and `output` are, `seed` and
/// `threads` are not.
const ALIKE: f64 = 0.88;

/// A message for an argument that there is not, or for an option that is a prefix of several.
pub(crate) fn on_unknown_argument(error: &Error, command: &Command) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    match (given.strip_prefix("--"), given.strip_prefix('-')) {
        (Some(name), _) => Some(on_unknown_option(name.split('=').next().unwrap_or(name), command)),
        (None, Some(_)) => Some(format!("there is no option {given} (--help lists them all)")),
        (None, None) => Some(format!("`{given}` is one argument too many (--help lists them all)")),
    }
}

/// The options of `viem remap`, and `previous`, the option of other programs for a previous partition.
const OF_REMAP: [&str; 5] = ["previous", "migration-weight", "removed", "parents", "curve"];

/// A message for an option of this name, without its dashes.
fn on_unknown_option(name: &str, command: &Command) -> String {
    if OF_REMAP.contains(&name) {
        return format!(
            "there is no option --{name}; viem remap FILE PREVIOUS resumes a partition or mapping (viem remap --help)"
        );
    }
    let options: Vec<(&str, &str)> = command
        .get_arguments()
        .filter_map(|option| Some((option.get_long()?, option.get_value_names()?.first()?.as_str())))
        .chain(command.get_arguments().filter_map(|option| Some((option.get_long()?, ""))))
        .collect();
    let chosen = |is_meant: &dyn Fn(&str, &str) -> bool| {
        let meant = options.iter().filter(|(long, value)| is_meant(long, value));
        let mut names: Vec<String> = meant.map(|(long, _)| format!("--{long}")).collect();
        names.sort();
        names.dedup();
        names.join(", ")
    };
    let fitting = chosen(&|long, _| long.starts_with(name));
    if fitting.contains(',') {
        return format!("--{name} is the beginning of several options, {fitting}; give more of the name");
    }
    let is_meant =
        |long: &str, value: &str| jaro_winkler(name, long) >= ALIKE || value.eq_ignore_ascii_case(name);
    let similar = match chosen(&is_meant) {
        none if none.is_empty() && !fitting.is_empty() => fitting,
        none if none.is_empty() => chosen(&|long, _| has_similar_word(name, long)),
        similar => similar,
    };
    let hint = if similar.is_empty() { String::new() } else { format!("; did you mean {similar}?") };
    format!("there is no option --{name}{hint} (--help lists them all)")
}

/// A message for a value that is no number where one is needed.
pub(crate) fn on_no_number(error: &Error) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    };
    let (option, value) = (context(ContextKind::InvalidArg)?, context(ContextKind::InvalidValue)?);
    let source = error.source()?;
    let expected = match source.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => "a whole number that fits 64 bits",
        Some(_) => "a whole number",
        None => source.downcast_ref::<ParseFloatError>().map(|_| "a number")?,
    };
    Some(format!("{option} is {expected}, not `{value}`"))
}

/// A warning of options that are not given in full, and what they were taken for. No value of an option begins with two dashes.
pub(crate) fn abbreviated(command: &Command, command_line: &[OsString]) -> Option<String> {
    let names: Vec<&str> = command
        .get_arguments()
        .flat_map(|option| option.get_long().into_iter().chain(option.get_all_aliases().unwrap_or_default()))
        .collect();
    let arguments = command_line.iter().skip(1).map(|argument| argument.to_string_lossy());
    let taken = arguments.take_while(|argument| argument != "--").filter_map(|argument| {
        let name = argument.strip_prefix("--")?;
        let name = name.split('=').next().unwrap_or(name);
        let meant = names.iter().find(|full| full.starts_with(name)).filter(|_| !names.contains(&name))?;
        Some(format!("--{name} is taken for --{meant}"))
    });
    let taken = taken.collect::<Vec<_>>().join(", ");
    (!taken.is_empty()).then(|| format!("{taken}; scripts should give the names of options in full"))
}

/// Whether a word of a name is much like one of an option.
fn has_similar_word(name: &str, option: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(['_', '-']).filter(|word| word.len() > 3);
        words.map(str::to_ascii_lowercase).collect()
    };
    let options = words(option);
    words(name).iter().any(|word| options.iter().any(|other| jaro_winkler(word, other) >= ALIKE))
}

/// The message of a failure, and which option helps, if one does.
pub(crate) fn message_of(failure: &Failure) -> String {
    match failure {
        Failure::Launch(error) => format!("--launch: {error}"),
        Failure::Read(error) => format!("{error}{}", on_reading(error)),
        Failure::Spec(error) => on_machine(error),
        Failure::Traffic(error) => on_traffic(error),
        Failure::Previous(error) => on_previous(error),
        Failure::Solve(error) => match &**error {
            SolveError::Fixed(fault @ FixedError::Contradicted { .. }) => on_contradiction(fault),
            SolveError::Secondary(error) => on_loads(error),
            _ => failure.to_string(),
        },
        Failure::QapSolve(error) => match &**error {
            QapSolveError::Fixed(fault @ FixedError::Contradicted { .. }) => on_contradiction(fault),
            _ => failure.to_string(),
        },
        _ => failure.to_string(),
    }
}

fn on_loads(error: &ScoreError) -> String {
    match error {
        ScoreError::Problem(ProblemError::LoadOverflow { .. }) => {
            format!("{error}, or minimise J alone with --objective=J")
        }
        _ => error.to_string(),
    }
}

fn on_contradiction(fault: &FixedError) -> String {
    format!("--fixed and --initial contradict each other: {fault}")
}

fn on_previous(error: &PreviousError) -> String {
    let is_of_another_graph = |kind: &ContentError| matches!(kind.fault(), Some(LineFault::Count(_)));
    match error {
        PreviousError::Unread(ReadError::Invalid { kind, .. }) if is_of_another_graph(kind) => {
            format!("{error}; if that was refined, give the parents of its vertices: --parents=FILE")
        }
        PreviousError::Unfit { source: PreviousAssignmentError::NoSuchBlock { .. }, .. } => {
            format!("{error}: --removed=LIST")
        }
        _ => error.to_string(),
    }
}

fn on_traffic(error: &TrafficError) -> String {
    match error {
        TrafficError::NoSuchClass { .. } => format!("--include: {error}"),
        TrafficError::NoMessages => format!("--weight: {error}"),
        TrafficError::NoBytes => format!("{error}: give --weight=msgs"),
        TrafficError::TooManyRanks { .. } | TrafficError::TooManyAsked { .. } => format!("--ranks: {error}"),
        TrafficError::Sparse { count, .. } => format!("{error}: --ranks={count}"),
        TrafficError::BelowFirst { .. } => format!("--first-rank: {error}"),
        _ => error.to_string(),
    }
}

/// Warns of what was noted about recorded traffic.
pub(crate) fn warn_of_traffic(console: Console, notes: &[TrafficNote]) {
    for note in notes {
        console.warn(format_args!("{note}{}", on_traffic_note(note)));
    }
}

/// What follows a note about recorded traffic.
fn on_traffic_note(note: &TrafficNote) -> String {
    match note {
        TrafficNote::Adapters { greatest } => {
            format!(
                "; where a graph is made, --nics={} makes each a vertex of its own",
                greatest.saturating_add(1)
            )
        }
        _ => String::new(),
    }
}

fn on_reading(error: &ReadError) -> String {
    let ReadError::Invalid { kind, .. } = error else { return String::new() };
    let of_graph = || kind.fault().map(on_graph);
    let of_traffic = || kind.fault().map(on_traffic_file);
    let of_coordinates = || kind.fault().map(on_coordinates);
    let of_experts = || kind.fault().map(on_experts);
    let of_workload = || kind.fault().map(on_workload);
    let of_qap = || kind.fault().map(on_qap);
    of_graph()
        .or_else(of_traffic)
        .or_else(of_coordinates)
        .or_else(of_experts)
        .or_else(of_workload)
        .or_else(of_qap)
        .unwrap_or_default()
}

/// The hint after a message about a fault of a graph that ends a run.
fn on_graph(fault: &FaultKind) -> String {
    match fault {
        FaultKind::Number { role: Role::EdgeWeight, fault: NumberFault::Zero } => {
            "; viem check --fix=FILE drops such edges".to_owned()
        }
        fault => on_fault(fault),
    }
}

fn on_coordinates(fault: &CoordinatesFault) -> String {
    match fault {
        CoordinatesFault::NumbersOrCoordinates { .. } => {
            " with --coordinate-ids=yes or --coordinate-ids=no".to_owned()
        }
        _ => String::new(),
    }
}

fn on_experts(fault: &ExpertTraceFault) -> String {
    match fault {
        ExpertTraceFault::Ambiguous { kinds: [one, other], .. } => {
            format!(" with --read-as={one} or --read-as={other}")
        }
        _ => String::new(),
    }
}

fn on_workload(fault: &TextFault) -> String {
    match fault {
        TextFault::OtherFormat { readings } => verb_for(readings),
        _ => String::new(),
    }
}

fn on_qap(fault: &QaplibFault) -> String {
    match fault {
        QaplibFault::OtherFormat { readings } => verb_for(readings),
        _ => String::new(),
    }
}

/// The verb that reads a file of another kind than a workload or a quadratic assignment problem.
fn verb_for(readings: &[Reading]) -> String {
    let hint = match readings[..] {
        [Reading::GRAPH | Reading::PARHIP] => "; viem map maps the processes of a graph",
        [Reading::GOAL | Reading::ORDER] => "; viem traffic --workload makes a workload of it",
        _ if readings.iter().any(|reading| reading.traffic_kind().is_some()) => {
            "; viem traffic sums recorded traffic into a graph, for viem map"
        }
        _ => "",
    };
    hint.to_owned()
}

/// What follows the message about a fault of a file of traffic.
fn on_traffic_file(fault: &TrafficFault) -> String {
    match fault {
        TrafficFault::Ambiguous { readings } => format!(" with {}", options_for(readings)),
        TrafficFault::InEdge { fault, .. } => on_traffic_file(fault),
        TrafficFault::NoSuchAdapter { nic, .. } => format!(": --nics={} or more", nic.saturating_add(1)),
        TrafficFault::SizeOfEachOrAll { .. } => " with --sizes=each or --sizes=all".to_owned(),
        TrafficFault::TooManyRanks { .. } => {
            "; if it is an edge list with few of these ids, --renumber=FILE leaves the others out".to_owned()
        }
        _ => String::new(),
    }
}

/// The options that choose between readings.
fn options_for(readings: &[Reading]) -> String {
    let kinds = readings.iter().filter_map(|reading| reading.traffic_kind());
    kinds.map(|kind| format!("--from={kind}")).collect::<Vec<_>>().join(" or ")
}

/// What follows the message about a fault of a graph.
pub(crate) fn on_fault(fault: &FaultKind) -> String {
    if *fault == FaultKind::CountsFromZero {
        return " (viem check --fix=FILE does that)".to_owned();
    }
    let readings = fault.readings();
    if readings == [Reading::QAP] {
        return ": viem qap".to_owned();
    }
    if readings == [Reading::WORKLOAD] {
        return "; viem simulate maps a workload".to_owned();
    }
    if readings == [Reading::CSV_EDGES] {
        return ": viem traffic does that".to_owned();
    }
    match options_for(readings) {
        options if options.is_empty() => options,
        options => format!(": viem traffic {options} does that"),
    }
}

fn on_machine(error: &SpecError) -> String {
    match error {
        SpecError::ClustersOnly { spec, field } => {
            let options = if *field == "pe" { "--pe is" } else { "--latencies is" };
            format!("{options} for clusters (slurm, hwloc:, hosts:) only; leave it out with `{spec}`")
        }
        SpecError::NetworksOnly { spec } => {
            format!("--link-cycles is for networks in files only; leave it out with `{spec}`")
        }
        SpecError::Cluster { source, .. } if matches!(**source, ClusterError::MoreSlots { .. }) => {
            format!("{error}; --pe=thread counts hardware threads")
        }
        SpecError::Text(machine::spec::SpecError::Distances { .. }) => format!("{error} (--distances)"),
        SpecError::Read(read) => format!("{error}{}", on_reading(read)),
        _ => error.to_string(),
    }
}
