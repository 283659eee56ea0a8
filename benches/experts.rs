//! Placements of experts: vectors across nodes and loads, beside the order of numbers and placements by load alone.
//!
//! ```text
//! cargo bench --bench experts -- [groups] [topics] [preset=fast,eco,strong] [seeds=3] [tokens=20000] [imbalance=0,10]
//! ```
//!
//! Traces are synthetic. A token has one of several topics, and each topic prefers some experts: with `groups`, each expert is preferred by one topic, which prefers twice as many as a token has;
//! with `topics`, each of 16 topics prefers a random eighth of the experts, so they overlap. Besides, some experts are chosen more often
//! than others. Choices are the greatest of these preferences and noise. Without a word, both are run. Times are processor seconds of
//! one thread.

mod common;

use common::{Options, Stopwatch, Table, geometric_mean};
use viem::base::rng::{Rng, derive};
use viem::machine::Machine;
use viem::solve::MapPreset;
use viem_cluster::build;
use viem_training::experts::{
    ExpertConfig, ExpertCopies, ExpertPlacement, ExpertRequest, ExpertRouting, RoutingBuilder, place_by_load,
    score_experts,
};

/// Experts, experts of a token, replicas, nodes, GPUs per node.
const CASES: [(u32, usize, usize, usize, usize); 9] = [
    (8, 2, 0, 2, 4),
    (16, 4, 0, 2, 4),
    (64, 6, 0, 2, 8),
    (64, 8, 0, 4, 8),
    (128, 8, 0, 4, 8),
    (256, 8, 0, 4, 8),
    (256, 8, 0, 8, 8),
    (256, 8, 32, 4, 8),
    (256, 8, 32, 8, 4),
];

/// The settings that all cases share.
struct Asked {
    traces: Vec<Trace>,
    presets: Vec<MapPreset>,
    /// In percent.
    imbalances: Vec<f64>,
    seeds: u64,
    tokens: u32,
}

fn main() {
    let asked = Options::read(|options| {
        let given = [(options.word("groups")?, Trace::Groups), (options.word("topics")?, Trace::Topics)];
        let is_any = given.iter().any(|(is_given, _)| *is_given);
        let traces = given.iter().filter(|(is_given, _)| *is_given || !is_any).map(|(_, trace)| *trace);
        Ok(Asked {
            traces: traces.collect(),
            presets: options.members("preset", &MapPreset::ALL, MapPreset::name, &[MapPreset::Eco])?,
            imbalances: options.list("imbalance", vec![0.0, 10.0])?,
            seeds: options.value("seeds", 3)?,
            tokens: options.value("tokens", 20_000)?,
        })
    });
    // One thread for everything, so that its time is measured.
    viem::base::threads::run(1, || measure(&asked)).expect("a thread");
}

fn measure(asked: &Asked) {
    let table = Table::new([
        ("trace", 6),
        ("experts", 7),
        ("topk", 4),
        ("replicas", 8),
        ("GPUs", 6),
        ("preset", 7),
        ("imbalance", 9),
        ("numbers", 9),
        ("by load", 9),
        ("ours", 9),
        ("less than numbers", 8),
        ("less than by load", 8),
        ("greatest loads", 0),
        ("seconds", 8),
    ]);
    for (experts, topk, replicas, nodes, gpus) in CASES {
        let machine = build(&format!("{gpus}:{nodes}"), "1:10").expect("few PEs");
        for &trace in &asked.traces {
            let layers: Vec<ExpertRouting> =
                (0..asked.seeds).map(|seed| trace.layer(experts, topk, asked.tokens, seed)).collect();
            for (&preset, &imbalance) in asked
                .presets
                .iter()
                .flat_map(|preset| asked.imbalances.iter().map(move |imbalance| (preset, imbalance)))
            {
                let config = ExpertConfig::preset(preset).with_imbalance(imbalance / 100.0);
                let seeded = (0..).map(|seed| config.with_seed(seed));
                let runs: Vec<Run> = layers
                    .iter()
                    .zip(seeded)
                    .map(|(layer, config)| Run::of(layer, replicas, &machine, &config))
                    .collect();
                let mean =
                    |value: &dyn Fn(&Run) -> f64| geometric_mean(&runs.iter().map(value).collect::<Vec<_>>());
                let [numbers, by_load, ours] = [0, 1, 2].map(|which| mean(&|run| run.across[which]));
                let loads = [0, 1, 2].map(|which| format!("{:.3}", mean(&|run| run.loads[which])));
                table.row([
                    trace.name().to_owned(),
                    experts.to_string(),
                    topk.to_string(),
                    replicas.to_string(),
                    format!("{nodes}x{gpus}"),
                    preset.name().to_owned(),
                    format!("{imbalance} %"),
                    format!("{numbers:.0}"),
                    format!("{by_load:.0}"),
                    format!("{ours:.0}"),
                    format!("{:.1} %", 100.0 * (1.0 - ours / numbers)),
                    format!("{:.1} %", 100.0 * (1.0 - ours / by_load)),
                    loads.join(" "),
                    format!("{:.2}", mean(&|run| run.seconds)),
                ]);
            }
        }
    }
}

/// In the order of numbers, by load, ours.
struct Run {
    across: [f64; 3],
    loads: [f64; 3],
    seconds: f64,
}

impl Run {
    fn of(routing: &ExpertRouting, replicas: usize, machine: &dyn Machine, config: &ExpertConfig) -> Self {
        let copies = ExpertCopies::replicated(routing, replicas).expect("few copies");
        let watch = Stopwatch::start(1);
        let found = ExpertRequest::new(routing, &copies, machine).solve(config).expect("copies fit");
        let seconds = watch.seconds();
        let others = [ExpertPlacement::in_order(routing, &copies), place_by_load(routing, &copies, machine)];
        let others = others.map(|other| {
            score_experts(routing, &other.expect("copies fit"), machine).expect("distances of a tree")
        });
        let scores = [&others[0], &others[1], &found.score];
        Self {
            across: scores.map(|score| score.across_nodes),
            loads: scores.map(|score| score.worst_ratio()),
            seconds,
        }
    }
}

/// The preferences of topics for experts.
#[derive(Clone, Copy)]
enum Trace {
    Groups,
    Topics,
}

impl Trace {
    fn name(self) -> &'static str {
        match self {
            Self::Groups => "groups",
            Self::Topics => "topics",
        }
    }

    /// By topic and expert, whether it is preferred.
    fn topics(self, experts: u32, topk: usize, rng: &mut Rng) -> Vec<Vec<bool>> {
        match self {
            Self::Groups => {
                let count = experts / (2 * topk as u32);
                let mut topic_of: Vec<u32> = (0..experts).map(|expert| expert % count).collect();
                rng.shuffle(&mut topic_of);
                (0..count).map(|topic| topic_of.iter().map(|&own| own == topic).collect()).collect()
            }
            Self::Topics => (0..16).map(|_| (0..experts).map(|_| rng.below(8) == 0).collect()).collect(),
        }
    }

    /// The routing of a layer.
    fn layer(self, experts: u32, topk: usize, tokens: u32, seed: u64) -> ExpertRouting {
        let mut rng = Rng::new(derive(seed, u64::from(experts)));
        let popularity: Vec<f64> = (0..experts).map(|_| 1.2 * rng.unit()).collect();
        let topics = self.topics(experts, topk, &mut rng);
        let mut builder = RoutingBuilder::new(experts).expect("there are some");
        for _ in 0..tokens {
            let topic = &topics[rng.below(topics.len() as u32) as usize];
            let mut liking: Vec<(f64, u32)> = (0..experts)
                .map(|expert| {
                    let prefers = if topic[expert as usize] { 4.0 } else { 0.0 };
                    let noise = -(-(rng.unit() + f64::MIN_POSITIVE).ln()).ln();
                    (popularity[expert as usize] + prefers + noise, expert)
                })
                .collect();
            liking.sort_by(|a, b| b.0.total_cmp(&a.0));
            let chosen: Vec<u32> = liking[..topk].iter().map(|&(_, expert)| expert).collect();
            builder.add(0, &chosen, 1).expect("the experts exist");
        }
        builder.build().expect("a layer")
    }
}
