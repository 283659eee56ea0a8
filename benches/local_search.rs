//! Local search only: J and time of every neighbourhood on a given model.
//!
//! ```text
//! cargo bench --bench local_search -- model=FILE hierarchy=4:16:32 distances=1:10:100
//!     [start=random|identity|growing|hierarchybottomup|hierarchytopdown] [hops=1,10] [seeds=5]
//! ```
//!
//! Prints J of the start and of the result, the processor seconds of one thread, and the exchanges tried and
//! made, as means over the seeds, and the worst J.

mod common;

use std::path::PathBuf;

use common::{Options, Stopwatch, Table, fail, read_graph};
use viem::base::observer::Seeded;
use viem::machine::{Distances, Hierarchy, Places};
use viem::mapping::construct::{Construction, ConstructionConfig, construct};
use viem::mapping::objective::cost;
use viem::mapping::problem::Problem;
use viem::mapping::search::{Neighbourhood, SearchConfig, SearchOutcome, local_search};
use viem_io::metis::NodeWeights;

struct Run {
    model: PathBuf,
    hierarchy: Hierarchy,
    starts: Vec<Construction>,
    hops: Vec<usize>,
    seeds: u64,
}

fn main() {
    let run = Options::read(|options| {
        let model = options.optional("model")?;
        let arities: Option<String> = options.optional("hierarchy")?;
        let distances = options.value("distances", "1:10:100".to_owned())?;
        let hierarchy = arities.map(|arities| Hierarchy::parse(&arities, &distances));
        let hierarchy = hierarchy.transpose().map_err(|error| error.to_string())?;
        let starts =
            options.members("start", &Construction::ALL, Construction::name, &[Construction::Random])?;
        let (hops, seeds) = (options.list("hops", vec![1, 10])?, options.value("seeds", 5)?);
        Ok(model.zip(hierarchy).map(|(model, hierarchy)| Run { model, hierarchy, starts, hops, seeds }))
    });
    match run {
        // One thread for everything, including work that would otherwise run in parallel.
        Some(run) => viem::base::threads::run(1, || search(&run)).expect("a thread"),
        // This is the case when all benchmarks are run.
        None => println!("local_search: give model=FILE and hierarchy=…"),
    }
}

fn search(run: &Run) {
    let graph = read_graph(&run.model, NodeWeights::Ignore);
    let oracle = Distances::WideTree(run.hierarchy.online64());
    let problem = Problem::new(&graph, &oracle).unwrap_or_else(|error| fail(error));
    let places = Places::of(&run.hierarchy).unwrap_or_else(|error| fail(error));
    let table = Table::new([
        ("", 22),
        ("J of the start", 0),
        ("J, mean", 14),
        ("J, worst", 14),
        ("seconds", 8),
        ("tried", 12),
        ("made", 8),
    ]);
    for (&algorithm, config) in
        run.starts.iter().flat_map(|start| configs(&run.hops).map(move |config| (start, config)))
    {
        let mut runs: Vec<(i64, f64, SearchOutcome)> = Vec::new();
        for seed in 0..run.seeds {
            let construction = ConstructionConfig::default().with_algorithm(algorithm);
            let first =
                construct(&problem, &places, &construction, Seeded::new(seed)).expect("works on trees");
            let watch = Stopwatch::start(1);
            let outcome = local_search(&problem, &first, &config, Seeded::new(seed));
            runs.push((cost(&problem, &first), watch.seconds(), outcome));
        }
        let mean = |value: &dyn Fn(&(i64, f64, SearchOutcome)) -> f64| {
            runs.iter().map(value).sum::<f64>() / runs.len() as f64
        };
        let name = match config.neighbourhood {
            Neighbourhood::Communication => format!("communication, d = {}", config.max_hops),
            other => other.name().to_string(),
        };
        table.row([
            name,
            format!("{:.0}", mean(&|run| run.0 as f64)),
            format!("{:.0}", mean(&|run| run.2.cost as f64)),
            format!("{}", runs.iter().map(|run| run.2.cost).max().unwrap_or(0)),
            format!("{:.3}", mean(&|run| run.1)),
            format!("{:.0}", mean(&|run| run.2.tried as f64)),
            format!("{:.0}", mean(&|run| run.2.made as f64)),
        ]);
    }
}

/// Every neighbourhood; `communication` with each number of hops.
fn configs(hops: &[usize]) -> impl Iterator<Item = SearchConfig> {
    Neighbourhood::ALL.into_iter().flat_map(move |neighbourhood| {
        let hops = if neighbourhood == Neighbourhood::Communication { hops } else { &[10] };
        hops.iter().map(move |&hops| SearchConfig::of(neighbourhood).with_max_hops(hops))
    })
}
