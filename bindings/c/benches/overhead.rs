//! The cost of a call from C beyond that of the Rust function behind it.
//!
//!     cargo bench -p viem-capi --bench overhead
//!
//! Both take the same arrays, the same seed and one thread; they take turns, and medians are compared.

use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use viem::base::threads;
use viem::graph::{CsrSlices, generate};
use viem::solve::{Config, MapPreset, PreparedMachine, Request};
use viem::{CsrGraph, Hierarchy, PartitionPreset, Partitioner, Targets};
use viem_c::error::Status;
use viem_c::{graph, machine, map, mapping, partition, settings};

fn main() {
    report("map 64 processes", 300, map_64());
    report("partition 10^5 vertices", 40, partition_100_000());
}

/// A way from C and a way of Rust, which do the same.
type Pair = (Box<dyn Fn()>, Box<dyn Fn()>);

/// A graph as C has it.
struct Arrays {
    offsets: Vec<i32>,
    targets: Vec<i32>,
}

impl Arrays {
    fn of(graph: &CsrGraph) -> Self {
        Self {
            offsets: graph.offsets().iter().map(|&offset| offset as i32).collect(),
            targets: graph.targets().iter().map(|&target| target as i32).collect(),
        }
    }

    fn of_c(&self) -> *mut graph::Graph {
        let (n, mut handle) = (self.offsets.len() as i64 - 1, null_mut());
        let (offsets, targets) = (self.offsets.as_ptr(), self.targets.as_ptr());
        #[allow(unsafe_code)] // SAFETY: the arrays are those of a graph
        let status =
            unsafe { graph::viem_graph_new32(n, offsets, targets, null(), null(), &mut handle, null_mut()) };
        assert_eq!(status, Status::Ok);
        handle
    }

    fn of_rust(&self) -> CsrGraph {
        CsrGraph::from_slices(CsrSlices::unweighted(&self.offsets, &self.targets)).expect("it is a graph")
    }
}

#[allow(unsafe_code)] // SAFETY: all handles are made here, used once and freed
fn fast() -> *mut settings::Settings {
    let mut handle = null_mut();
    assert_eq!(unsafe { settings::viem_settings_new(0, &mut handle, null_mut()) }, Status::Ok);
    handle
}

#[allow(unsafe_code)] // SAFETY: as above
fn map_64() -> Pair {
    let arrays = Arrays::of(&generate::mesh(8, 8, 1));
    let again = Arrays::of(&generate::mesh(8, 8, 1));
    let from_c = move || unsafe {
        let (graph, settings, mut machine, mut found) = (arrays.of_c(), fast(), null_mut(), null_mut());
        let (tree, distances) = (c"4:4:4".as_ptr(), c"1:10:100".as_ptr());
        assert_eq!(machine::viem_machine_new(tree, distances, null(), &mut machine, null_mut()), Status::Ok);
        let status = map::viem_map(
            graph.as_ref(),
            machine.as_ref(),
            None,
            null(),
            settings.as_ref(),
            &mut found,
            null_mut(),
        );
        assert_eq!(status, Status::Ok);
        mapping::viem_mapping_free(found);
        machine::viem_machine_free(machine);
        settings::viem_settings_free(settings);
        graph::viem_graph_free(graph);
    };
    let of_rust = move || {
        let machine = Hierarchy::parse("4:4:4", "1:10:100").expect("it is a machine");
        Request::new(&again.of_rust(), &PreparedMachine::new(&machine))
            .solve(&Config::preset(MapPreset::Fast))
            .expect("they fit");
    };
    (Box::new(from_c), Box::new(of_rust))
}

#[allow(unsafe_code)] // SAFETY: as above
fn partition_100_000() -> Pair {
    let mesh = generate::mesh(400, 250, 1);
    let (arrays, again) = (Arrays::of(&mesh), Arrays::of(&mesh));
    let from_c = move || unsafe {
        let (graph, settings, mut found) = (arrays.of_c(), fast(), null_mut());
        let (graph_ref, settings_ref) = (graph.as_ref(), settings.as_ref());
        let status =
            partition::viem_partition(graph_ref, 8, null(), null(), settings_ref, &mut found, null_mut());
        assert_eq!(status, Status::Ok);
        mapping::viem_mapping_free(found);
        settings::viem_settings_free(settings);
        graph::viem_graph_free(graph);
    };
    let of_rust = move || {
        let graph = again.of_rust();
        let targets = Targets::equal(&graph, 8, 0.03).expect("there are blocks");
        threads::run(1, || Partitioner::new(PartitionPreset::Fast, 0).partition(&graph, &targets))
            .expect("one thread");
    };
    (Box::new(from_c), Box::new(of_rust))
}

fn report(name: &str, runs: usize, (from_c, of_rust): Pair) {
    let time = |work: &dyn Fn()| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    let (mut c, mut rust): (Vec<Duration>, Vec<Duration>) = (0..runs)
        .map(|run| {
            // Neither always finds the caches and the memory that the other leaves.
            let first = (run % 2 == 0).then(|| time(&from_c));
            let of_rust = time(&of_rust);
            (first.unwrap_or_else(|| time(&from_c)), of_rust)
        })
        .unzip();
    c.sort();
    rust.sort();
    let (c, rust) = (c[runs / 2].as_secs_f64() * 1e6, rust[runs / 2].as_secs_f64() * 1e6);
    println!(
        "{name}: C {c:.0} us, Rust {rust:.0} us, {:+.1} us ({:+.2} %)",
        c - rust,
        100.0 * (c / rust - 1.0)
    );
}
