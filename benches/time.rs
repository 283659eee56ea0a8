//! Workloads: the accuracy of the estimate, the speed of the simulator, and the benefit of mappings.
//!
//! ```text
//! cargo bench --bench time -- [accuracy] [simulator] [regular] [congested] [speed] [preset=eco] [messages=1000000]
//! ```
//!
//! Without a word, all are run. Times are processor seconds of one thread.

mod common;

use common::{Options, Stopwatch, Table, geometric_mean};
use viem::base::rng::{Rng, derive};
use viem::base::types::PeId;
use viem::machine::{Grid, Hypercube, Machine};
use viem::solve::{Config, MapPreset, PreparedMachine, Request};
use viem_workload::estimate::{Estimate, WorkloadModel};
use viem_workload::generate::{Congestion, Pattern, Size, congested, shuffled, workload};
use viem_workload::map::{TaskMapConfig, TaskRequest};
use viem_workload::routing::Routing;
use viem_workload::simulate::{SimulationConfig, simulate};
use viem_workload::{Workload, WorkloadBuilder};

const WORDS: [&str; 5] = ["accuracy", "simulator", "regular", "congested", "speed"];

fn main() {
    let (given, messages, preset) = Options::read(|options| {
        let given: Vec<bool> = WORDS.iter().map(|word| options.word(word)).collect::<Result<_, _>>()?;
        let preset = options.members("preset", &MapPreset::ALL, MapPreset::name, &[MapPreset::Eco])?;
        Ok((given, options.value("messages", 100_000)?, preset[0]))
    });
    let has = |word: usize| given[word] || !given.contains(&true);
    // One thread for everything, including work that would otherwise run in parallel.
    let run = || {
        has(0).then(accuracy);
        has(1).then(|| simulator(messages));
        has(2).then(|| regular(preset));
        has(3).then(|| congested_workloads(preset));
        has(4).then(|| speed(preset));
    };
    viem::base::threads::run(1, run).expect("a thread");
}

/// Table II: regular workloads with tasks numbered at random, compared with the best known values.
fn regular(preset: MapPreset) {
    println!("\nRegular workloads, tasks numbered at random (table II)\n");
    let table = Table::new([
        ("workload", 44),
        ("ideal", 8),
        ("F", 8),
        ("simulated", 0),
        ("best known", 0),
        ("excess", 8),
        ("seconds", 8),
    ]);
    let mesh = |lengths: &[u32]| -> Box<dyn Machine> { Box::new(Grid::mesh(lengths).expect("few PEs")) };
    let torus = |lengths: &[u32]| -> Box<dyn Machine> { Box::new(Grid::torus(lengths).expect("few PEs")) };
    let cube = |dimension: u32| -> Box<dyn Machine> { Box::new(Hypercube::new(dimension).expect("few PEs")) };
    let mut cases: Vec<(Pattern, Vec<u32>, Box<dyn Machine>)> = Vec::new();
    for side in [4, 8, 15, 16, 31, 32] {
        cases.push((Pattern::Ring, vec![side * side], mesh(&[side, side])));
        cases.push((Pattern::Ring, vec![side * side], torus(&[side, side])));
    }
    cases.push((Pattern::Ring, vec![1000], mesh(&[10, 10, 10])));
    cases.push((Pattern::Ring, vec![729], mesh(&[9, 9, 9])));
    cases.extend((3..=10).map(|dimension| (Pattern::Ring, vec![1 << dimension], cube(dimension))));
    cases.extend([4, 9, 16, 22, 28].map(|side| (Pattern::Mesh, vec![side, side], mesh(&[side, side]))));
    cases.extend((2..=8).map(|dimension| {
        let side = 1 << (dimension / 2);
        (Pattern::Mesh, vec![side, (1 << dimension) / side], cube(dimension))
    }));
    cases.extend((2..=9).map(|dimension| (Pattern::Butterfly, vec![1 << dimension], cube(dimension))));
    cases.extend([2, 4, 8, 16].map(|side| (Pattern::Butterfly, vec![side * side], mesh(&[side, side]))));
    cases.extend(
        [(7, [4, 2]), (31, [8, 4]), (127, [16, 8]), (511, [32, 16])]
            .map(|(tasks, lengths)| (Pattern::Tree, vec![tasks], mesh(&lengths))),
    );
    for (pattern, lengths, machine) in cases {
        let natural = workload(pattern, &lengths, Size::default(), 0).expect("a size");
        let config = TaskMapConfig::preset(preset);
        let watch = Stopwatch::start(1);
        let shuffled = shuffled(&natural, 5);
        let found = TaskRequest::new(&shuffled, &machine).solve(&config).expect("there is room");
        let seconds = watch.seconds();
        let (_, simulated) = both(&shuffled, &machine, found.mapping.pes());
        // Butterflies fit meshes best with their own numbering; all others can be as fast as without any
        // distances.
        let identity: Vec<PeId> = (0..natural.num_tasks() as PeId).collect();
        let best = match pattern {
            Pattern::Butterfly => both(&natural, &machine, &identity).1,
            _ => found.report.ideal,
        };
        table.row([
            format!("{pattern} {lengths:?} on {}", machine.describe()),
            format!("{:.0}", found.report.ideal),
            format!("{:.0}", found.report.estimate),
            format!("{simulated:.0}"),
            format!("{best:.0}"),
            format!("{:.2} %", 100.0 * (simulated / best - 1.0)),
            format!("{seconds:.2}"),
        ]);
    }
}

/// Thirty congested workloads: simulated time, compared with the mapping of small J and the identity.
fn congested_workloads(preset: MapPreset) {
    println!("\nCongested workloads, tasks numbered at random: simulated times\n");
    let table = Table::new([
        ("workload", 40),
        ("identity", 8),
        ("J mapping", 9),
        ("by F alone", 0),
        ("ours", 8),
        ("less than J", 0),
        ("seconds", 8),
    ]);
    let (mut shares, mut by_estimate) = (Vec::new(), Vec::new());
    for case in 0..30u64 {
        let kind = Congestion::ALL[case as usize % 4];
        let side = [6, 8, 10, 12][(case / 8) as usize];
        let size = Size::new(4, 32, 1);
        let workload = shuffled(&congested(kind, side, size, case), case + 100);
        let grid = if case / 4 % 2 == 0 { Grid::mesh(&[side, side]) } else { Grid::torus(&[side, side]) };
        let machine = grid.expect("few PEs");
        let time = |mapping: &[PeId]| both(&workload, &machine, mapping).1;
        let mut config = TaskMapConfig::preset(preset);
        let solution = Request::new(&workload.graph(), &PreparedMachine::new(&machine))
            .solve(&Config::preset(preset))
            .expect("there is room");
        let cost = time(solution.mapping.pes());
        let watch = Stopwatch::start(1);
        let found = TaskRequest::new(&workload, &machine).solve(&config).expect("there is room");
        let seconds = watch.seconds();
        let own = time(found.mapping.pes());
        config.simulated = 0;
        let estimated = TaskRequest::new(&workload, &machine).solve(&config).expect("there is room");
        let estimated = time(estimated.mapping.pes());
        let identity: Vec<PeId> = (0..side * side).collect();
        shares.push(own / cost);
        by_estimate.push(estimated / cost);
        table.row([
            format!("{case} {kind:?} on {}", machine.describe()),
            format!("{:.0}", time(&identity)),
            format!("{cost:.0}"),
            format!("{estimated:.0}"),
            format!("{own:.0}"),
            format!("{:.1} %", 100.0 * (1.0 - own / cost)),
            format!("{seconds:.2}"),
        ]);
    }
    let worst = shares.iter().copied().fold(0.0, f64::max);
    println!(
        "\nin the geometric mean {:.1} % below the J mapping, {:.1} % in the worst case; by F alone {:.1} %",
        100.0 * (1.0 - geometric_mean(&shares)),
        100.0 * (1.0 - worst),
        100.0 * (1.0 - geometric_mean(&by_estimate))
    );
}

/// Time of mapping by size.
fn speed(preset: MapPreset) {
    println!("\nTime of mapping\n");
    let table =
        Table::new([("workload", 36), ("tasks", 6), ("start", 10), ("ideal", 8), ("F", 8), ("seconds", 8)]);
    for (pattern, lengths, side) in [
        (Pattern::Random, vec![100], 10),
        (Pattern::Random, vec![400], 20),
        (Pattern::Mesh, vec![20, 20], 20),
        (Pattern::Mesh, vec![64, 64], 64),
        (Pattern::Mesh, vec![60, 68], 64),
        (Pattern::Random, vec![4096], 64),
    ] {
        let workload = shuffled(&workload(pattern, &lengths, Size::default(), 1).expect("a size"), 3);
        let machine = Grid::mesh(&[side, side]).expect("few PEs");
        let watch = Stopwatch::start(1);
        let found = TaskRequest::new(&workload, &machine)
            .solve(&TaskMapConfig::preset(preset))
            .expect("there is room");
        let seconds = watch.seconds();
        table.row([
            format!("{pattern} {lengths:?} on {side} x {side}"),
            workload.num_tasks().to_string(),
            found.report.start.name().to_owned(),
            format!("{:.0}", found.report.ideal),
            format!("{:.0}", found.report.estimate),
            format!("{seconds:.2}"),
        ]);
    }
}

/// A random mapping with room for a number of tasks per PE.
fn random_mapping(tasks: usize, pes: usize, room: usize, rng: &mut Rng) -> Vec<PeId> {
    let mut places: Vec<PeId> = (0..pes as PeId).flat_map(|pe| std::iter::repeat_n(pe, room)).collect();
    rng.shuffle(&mut places);
    places.truncate(tasks);
    places
}

/// F compared with the simulator, on 40 random workloads each.
fn accuracy() {
    println!("\nF against the simulator: 40 random workloads of 4 to 200 tasks, random mappings\n");
    let table = Table::new([
        ("machine", 26),
        ("tasks per PE", 0),
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
            let workload =
                workload(Pattern::Random, &[tasks as u32], Size::default(), case as u64).expect("a size");
            let pes = tasks.div_ceil(room);
            let side = (1..).find(|side| side * side >= pes).expect("a square") as u32;
            let machine: Box<dyn Machine> = match name {
                "mesh" => Box::new(Grid::mesh(&[side, side]).expect("few PEs")),
                "torus" => Box::new(Grid::torus(&[side, side]).expect("few PEs")),
                _ => Box::new(Hypercube::new(pes.next_power_of_two().ilog2()).expect("few PEs")),
            };
            let mapping =
                random_mapping(tasks, machine.num_pes(), room, &mut Rng::new(derive(9, case as u64)));
            let (estimated, simulated) = both(&workload, &machine, &mapping);
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
fn both(workload: &Workload, machine: &dyn Machine, mapping: &[PeId]) -> (f64, f64) {
    let routing = Routing::new(machine).expect("few links");
    let settings = SimulationConfig::default();
    let model = WorkloadModel::new(workload, settings.costs).expect("few messages");
    let estimate = Estimate::of(&model, &routing, mapping).expect("few phases");
    let simulated = simulate(workload, &routing, mapping, settings).expect("it ends");
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
        let mut builder = WorkloadBuilder::new(n as usize);
        let pairs: Vec<(u32, u32)> = (0..messages)
            .map(|message| (message as u32 % n, (message as u32 % n + 1 + rng.below(n - 1)) % n))
            .collect();
        pairs.iter().for_each(|&(from, to)| builder.send(from, to, flits));
        pairs.iter().for_each(|&(from, to)| builder.receive(to, from, flits));
        let workload = builder.build().expect("all is sent first");
        let mapping: Vec<PeId> = (0..n).collect();
        let watch = Stopwatch::start(1);
        let simulated =
            simulate(&workload, &routing, &mapping, SimulationConfig::default()).expect("it ends");
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
