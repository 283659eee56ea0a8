//! A run of the program.

use std::path::{Path, PathBuf};
use std::time::Instant;

use mpi::traits::Communicator;
use viem::base::error::{ErrorKind, HasKind};
use viem::base::memory;
use viem::base::text::printable;
use viem::base::types::BlockId;
use viem::machine::Machine;
use viem_cluster::{MachineSpec, SpecError};
use viem_distributed::comm::{Comm, Counted, Ranges, greatest, sum};
use viem_distributed::error::{DistError, agree};
use viem_distributed::graph::DistGraph;
use viem_distributed::solve::{DistConfig, Given, Goal, Old, divide};
use viem_distributed::{alike, generate, read};
use viem_io::fixed::{self, FixedKind};
use viem_io::mapping::Room;
use viem_io::metis::GraphNote;
use viem_io::{Outputs, ReadError, Source, WriteError};
use viem_mpi::Mpi;

use crate::options::Options;
use crate::output::{self, Places};
use crate::report::{Communication, Facts, Report};

/// A mistake in the command line that only shows once its values are put together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UsageError(&'static str);

impl HasKind for UsageError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Reads a graph, divides it, and writes the result. Fails on all ranks alike.
pub(crate) fn run(world: &impl Communicator, options: &Options) -> Result<(), DistError> {
    let started = Instant::now();
    let comm = &Counted::new(Mpi::comm(world));
    alike::check(comm, &options.shared())?;
    let places = agree(comm, (comm.rank() == 0).then(|| places(options)).transpose())?;
    let machine = machine_of(comm, options)?;
    let goal = match (&machine, options.blocks) {
        (Some(machine), _) => Goal::Pes(&**machine),
        (None, Some(k)) => Goal::Blocks(k as usize),
        (None, None) => return agree(comm, Err(UsageError("give --blocks or --machine"))),
    };
    let (graph, notes) = match (&options.file, &options.generate) {
        (Some(file), _) => read::read_noted(comm, file)?,
        (None, lengths) => {
            let lengths = lengths.as_ref().map_or(&[][..], |lengths| &lengths.0);
            (generate::grid(comm, lengths)?, Vec::new())
        }
    };
    let ranges = graph.ranges();
    let old = options.previous.as_deref().map(|path| read_old(comm, path, ranges)).transpose()?;
    let old = old.as_ref().zip(options.migration_weight).map(|(blocks, weight)| Old { blocks, weight });
    let fixed = options.fixed.as_deref().map(|path| read_fixed(comm, path, ranges, goal)).transpose()?;
    let given = Given::default().with_old(old).with_fixed(fixed.as_deref());
    let reading = started.elapsed().as_secs_f64();

    let solution = divide(comm, &graph, goal, given, &config(options))?;
    let facts = facts(comm, &graph, reading, started);
    let report = Report::new(options, machine.as_deref(), &facts, &solution.report);
    let mut text = Vec::new();
    report
        .envelope(options, machine.as_deref())
        .write(&mut text)
        .expect("memory takes what is written to it");
    output::write(comm, graph.ranges(), &solution.blocks, &text, places.as_ref())?;
    if let Some(places) = &places {
        print(options, places, &report, &notes);
    }
    Ok(())
}

/// Returns the outputs. They are probed before any work.
fn places(options: &Options) -> Result<Places, WriteError> {
    let inputs = [&options.file, &options.fixed].into_iter().filter_map(|file| file.as_deref());
    let of_machine = options.machine.as_deref().map(viem_cluster::files_of).unwrap_or_default();
    let inputs: Vec<&Path> = inputs.chain(of_machine.iter().map(PathBuf::as_path)).collect();
    let mut outputs = Outputs::new();
    let result = outputs.add(options.output(), &inputs)?;
    let report = options.json.as_deref().map(|path| outputs.add(path, &inputs)).transpose()?;
    Ok(Places { outputs, result, report })
}

/// The machine, if there is one. All ranks must see the same.
fn machine_of(comm: &impl Comm, options: &Options) -> Result<Option<Box<dyn Machine>>, DistError> {
    let Some(spec) = &options.machine else { return Ok(None) };
    let wanted = MachineSpec::new(spec).with_distances(options.distances.as_deref());
    let machine: Result<_, SpecError> = viem_cluster::build_wanted(&wanted);
    let machine = agree(comm, machine)?;
    // Files may be others on other machines.
    alike::check(comm, &[("machine", alike::digest_of_machine(machine.as_ref()))])?;
    Ok(Some(machine))
}

fn config(options: &Options) -> DistConfig {
    let mut config = DistConfig::preset(options.preset);
    config.seed = options.seed;
    config.threads = options.threads as usize;
    config.imbalance = options.imbalance / 100.0;
    config.least_load = options.least_load / 100.0;
    config.attempts = options.attempts as usize;
    config.coarsest = options.coarsest.map_or(config.coarsest, |count| count as usize);
    config
}

/// The older blocks of this rank's vertices. Rank 0 reads them.
fn read_old(comm: &impl Comm, path: &Path, ranges: &Ranges) -> Result<Vec<BlockId>, DistError> {
    let read = || -> Result<Vec<BlockId>, ReadError> {
        viem_io::partition::read(Source::open(path)?, Some(ranges.total() as usize))
    };
    deal(comm, ranges, read)
}

/// Reads the fixed vertices of this rank. Rank 0 reads the file.
fn read_fixed(
    comm: &impl Comm,
    path: &Path,
    ranges: &Ranges,
    goal: Goal<'_>,
) -> Result<Vec<BlockId>, DistError> {
    let capacity = |pe: BlockId| match goal {
        Goal::Pes(machine) if machine.capacity(pe) == 0 => 0,
        _ => u32::MAX,
    };
    let (num_places, kind) = match goal {
        Goal::Pes(machine) => (machine.num_pes(), FixedKind::Vertices),
        Goal::Blocks(count) => (count, FixedKind::Parts),
        _ => return Ok(vec![Given::FREE; ranges.own().len()]),
    };
    let read = || -> Result<Vec<BlockId>, ReadError> {
        let room = Room::new(num_places, &capacity);
        let fixed = fixed::read(Source::open(path)?, ranges.total() as usize, room, kind)?;
        Ok((0..ranges.total()).map(|vertex| fixed.of(vertex).unwrap_or(Given::FREE)).collect())
    };
    deal(comm, ranges, read)
}

/// Gives each rank the blocks of its vertices, of those of all that rank 0 reads.
fn deal(
    comm: &impl Comm,
    ranges: &Ranges,
    read: impl FnOnce() -> Result<Vec<BlockId>, ReadError>,
) -> Result<Vec<BlockId>, DistError> {
    let whole = agree(comm, (comm.rank() == 0).then(read).transpose())?.unwrap_or_default();
    let words: Vec<u64> = whole.into_iter().map(u64::from).collect();
    let mut counts = vec![0; comm.size()];
    if comm.rank() == 0 {
        counts = (0..comm.size()).map(|rank| ranges.of(rank).len()).collect();
    }
    Ok(comm.all_to_all(&words, &counts).words.into_iter().map(|word| word as BlockId).collect())
}

fn facts<C: Comm>(comm: &Counted<C>, graph: &DistGraph, reading: f64, started: Instant) -> Facts {
    let communication = Communication {
        operations: comm.operations(),
        greatest_bytes_sent: greatest(comm, 8 * comm.words_sent()),
    };
    Facts {
        n: u64::from(graph.ranges().total()),
        arcs: sum(comm, graph.num_arcs() as i64) as u64,
        ranks: comm.size(),
        reading,
        total: started.elapsed().as_secs_f64(),
        // 0 where the system does not say it.
        peak: Some(greatest(comm, memory::peak().unwrap_or(0))).filter(|&peak| peak > 0),
        communication,
    }
}

/// Prints what people read, unless results go there.
fn print(options: &Options, places: &Places, report: &Report, notes: &[GraphNote]) {
    if options.quiet {
        return;
    }
    let written = format!("written to {}", places.outputs.name(places.result));
    for line in report.lines().into_iter().chain([written]) {
        let line = printable(&line);
        match (places.outputs.use_stdout(), places.outputs.use_stderr()) {
            (false, _) => println!("{line}"),
            (true, false) => eprintln!("{line}"),
            (true, true) => {}
        }
    }
    let file = options.file.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    let notes = notes.iter().map(|note| format!("{file}: {note}"));
    let warnings = notes.chain(report.warnings()).filter(|_| !places.outputs.use_stderr());
    warnings.for_each(|warning| eprintln!("warning: {}", printable(&warning)));
    let notes = report.notes().into_iter().filter(|_| !places.outputs.use_stderr());
    notes.for_each(|note| eprintln!("note: {note}"));
}
