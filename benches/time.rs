//! Programs in time: how right the estimate is, how fast the simulator is, what mappings are worth.
//!
//! ```text
//! cargo bench --bench time -- [accuracy] [simulator] [congested] [regular] [speed] [messages=1000000]
//! ```
//!
//! Without a word all are run but the greatest phase. Times are processor seconds of one thread.

mod common;

use common::{Options, Stopwatch, Table};
use viem::estimate::{Estimate, Model};
use viem::program::generate::{Pattern, Size, program};
use viem::program::{Program, ProgramBuilder};
use viem::rng::{Rng, derive};
use viem::routing::Routing;
use viem::simulate::{Settings, simulate};
use viem::topology::{Grid, Hypercube, Machine};
use viem::types::PeId;

struct Run {
    accuracy: bool,
    simulator: bool,
    messages: u64,
}

fn main() {
    let run = Options::read(|options| {
        let words = ["accuracy", "simulator"];
        let given: Vec<bool> = words.iter().map(|word| options.word(word)).collect::<Result<_, _>>()?;
        let all = !given.contains(&true);
        Ok(Run {
            accuracy: all || given[0],
            simulator: all || given[1],
            messages: options.value("messages", 100_000)?,
        })
    });
    if run.accuracy {
        accuracy();
    }
    if run.simulator {
        simulator(run.messages);
    }
}

/// A random mapping with room for so many tasks a PE.
fn random_mapping(tasks: usize, pes: usize, room: usize, rng: &mut Rng) -> Vec<PeId> {
    let mut places: Vec<PeId> = (0..pes as PeId).flat_map(|pe| std::iter::repeat_n(pe, room)).collect();
    rng.shuffle(&mut places);
    places.truncate(tasks);
    places
}

/// F against the simulator, on 40 random programs each.
fn accuracy() {
    println!("\nF against the simulator: 40 random programs of 4 to 200 tasks, random mappings\n");
    let table = Table::new([
        ("machine", 26),
        ("tasks a PE", 0),
        ("greatest error", 0),
        ("mean error", 0),
        ("mean, signed", 0),
    ]);
    for (name, room) in
        [("mesh", 1usize), ("torus", 1), ("hypercube", 1), ("mesh", 4), ("torus", 4), ("hypercube", 4)]
    {
        let mut errors: Vec<f64> = Vec::new();
        for case in 0..40usize {
            let tasks = 4 + 196 * case / 39;
            let program =
                program(Pattern::Random, &[tasks as u32], Size::default(), case as u64).expect("a size");
            let pes = tasks.div_ceil(room);
            let side = (1..).find(|side| side * side >= pes).expect("a square") as u32;
            let machine: Box<dyn Machine> = match name {
                "mesh" => Box::new(Grid::mesh(&[side, side]).expect("few PEs")),
                "torus" => Box::new(Grid::torus(&[side, side]).expect("few PEs")),
                _ => Box::new(Hypercube::new(pes.next_power_of_two().ilog2()).expect("few PEs")),
            };
            let mapping =
                random_mapping(tasks, machine.num_pes(), room, &mut Rng::new(derive(9, case as u64)));
            let (estimated, simulated) = both(&program, &machine, &mapping);
            errors.push(100.0 * (estimated / simulated - 1.0));
        }
        let greatest = errors.iter().map(|error| error.abs()).fold(0.0, f64::max);
        let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64;
        let signed = errors.iter().sum::<f64>() / errors.len() as f64;
        table.row([
            name.to_owned(),
            room.to_string(),
            format!("{greatest:.2} %"),
            format!("{mean:.2} %"),
            format!("{signed:.2} %"),
        ]);
    }
}

/// F and the simulated time of a mapping.
fn both(program: &Program, machine: &dyn Machine, mapping: &[PeId]) -> (f64, f64) {
    let routing = Routing::new(machine).expect("few links");
    let settings = Settings::default();
    let model = Model::new(program, settings.costs).expect("few messages");
    let estimate = Estimate::of(&model, &routing, mapping).expect("few phases");
    let simulated = simulate(program, &routing, mapping, settings, &()).expect("it ends");
    (estimate.cycles(), simulated.completion_time as f64)
}

/// Speed of the simulator: one synchronous phase of random messages.
fn simulator(messages: u64) {
    println!("\nThe simulator: one phase of {messages} messages between random PEs\n");
    let table = Table::new([
        ("machine", 26),
        ("flits", 6),
        ("seconds", 8),
        ("completion time", 0),
        ("events of packets / s", 0),
        ("flit-hops / s", 14),
    ]);
    for (lengths, flits) in [(vec![16, 16], 16), (vec![32, 32, 32], 16), (vec![32, 32, 32], 1)] {
        let machine = Grid::torus(&lengths).expect("few PEs");
        let n = machine.num_pes() as u32;
        let routing = Routing::new(&machine).expect("few links");
        let mut rng = Rng::new(1);
        let mut builder = ProgramBuilder::new(n as usize);
        let pairs: Vec<(u32, u32)> = (0..messages)
            .map(|message| (message as u32 % n, (message as u32 % n + 1 + rng.below(n - 1)) % n))
            .collect();
        pairs.iter().for_each(|&(from, to)| builder.send(from, to, flits));
        pairs.iter().for_each(|&(from, to)| builder.receive(to, from, flits));
        let program = builder.build().expect("all is sent first");
        let mapping: Vec<PeId> = (0..n).collect();
        let watch = Stopwatch::start(1);
        let simulated = simulate(&program, &routing, &mapping, Settings::default(), &()).expect("it ends");
        let seconds = watch.seconds();
        let hops: u64 = simulated.links.iter().map(|link| link.messages).sum();
        let flit_hops: u64 = simulated.links.iter().map(|link| link.flits).sum();
        table.row([
            machine.describe(),
            flits.to_string(),
            format!("{seconds:.2}"),
            simulated.completion_time.to_string(),
            format!("{:.0}", 2.0 * hops as f64 / seconds),
            format!("{:.0}", flit_hops as f64 / seconds),
        ]);
    }
}
