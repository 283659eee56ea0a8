//! Groups and bytes by their definitions, on jobs small enough to count.

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::{Exchanges, TrafficClass};
use super::layout::{Layout, RankPlace};
use super::model::{ContextExchange, GradientReduction, Recomputation, Sharding};
use super::*;
use viem::base::types::NodeId;
use viem_workload::Instruction;

fn layout(parallel: &str, order: &str) -> Layout {
    let parallel = ParallelConfig::parse(parallel).unwrap().with_order(order).unwrap();
    parallel.validate().unwrap();
    Layout::new(&parallel)
}

fn traffic(parallel: &str, model: &TrainingConfig) -> StepTraffic {
    step_traffic(&ParallelConfig::parse(parallel).unwrap(), model).unwrap()
}

fn bytes_of(traffic: &StepTraffic, class: TrafficClass) -> u64 {
    traffic.classes.iter().find(|total| total.class == class).map_or(0, |total| total.bytes)
}

fn small() -> TrainingConfig {
    TrainingConfig::new(8, 64, 128, 4)
}

/// A job without tensor and context parallelism whose gradients weigh nothing but a byte per parameter.
fn with_experts() -> TrainingConfig {
    TrainingConfig { experts: 8, topk: 2, expert_ffn: 32, ..small() }
}

const DEFAULT: &str = "tp,cp,ep,dp,pp";

#[test]
fn ranks_are_numbered_in_the_order() {
    let layout = layout("tp:2,cp:2,pp:2,dp:3", DEFAULT);
    assert_eq!(layout.places.len(), 24);
    for (rank, place) in (0..).zip(&layout.places) {
        let RankPlace { tensor, context, replica, stage, .. } = *place;
        assert_eq!(tensor + 2 * context + 4 * replica + 12 * stage, rank);
    }
    // Megatron's groups of tp 2, pp 4, 16 ranks in the order tp-pp-dp, as its documentation lists them.
    let other = super::tests::layout("tp:2,pp:4,dp:2", "tp-cp-ep-pp-dp");
    let pipelines = other.groups(|place| Some((place.replica, place.tensor)));
    assert_eq!(pipelines, [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]);
}

#[test]
fn experts_have_a_grid_of_their_own() {
    // tp 4, etp 1, ep 4: the experts of a layer are shared by the ranks that share the layer.
    let folded = layout("tp:4,ep:4,etp:1,dp:2,pp:2", DEFAULT);
    let groups = folded.groups(|place| Some((place.stage, place.expert_tensor, place.expert_replica)));
    assert_eq!(groups, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]);
    // With etp = tp, groups of experts are across the replicas.
    let across = layout("tp:2,ep:2,dp:4", DEFAULT);
    let groups = across.groups(|place| Some((place.expert_tensor, place.expert_replica)));
    assert_eq!(groups, [[0, 2], [4, 6], [1, 3], [5, 7]]);
    // Replicas inside of experts.
    let outer = layout("tp:2,ep:2,dp:4", "tp,dp,ep,cp,pp");
    let groups = outer.groups(|place| Some((place.expert_tensor, place.expert_replica)));
    assert_eq!(groups, [[0, 4], [2, 6], [1, 5], [3, 7]]);
}

#[test]
fn pipelines_of_several_depths_leave_no_gap_in_the_numbers() {
    let layout = layout("tp:2,pp:3*2+2*1", DEFAULT);
    assert_eq!(layout.places.len(), 2 * (3 * 2 + 2));
    let stages = layout.groups(|place| Some(place.stage));
    assert_eq!(stages.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6, 4]);
    let pipelines = layout.groups(|place| Some((place.replica, place.tensor)));
    assert_eq!(pipelines.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 3, 2, 2]);
}

#[test]
fn rings_and_trees_move_the_same_bytes() {
    for count in 2..40u32 {
        let ranks: Vec<u32> = (0..count).collect();
        let of = |add: &dyn Fn(&mut Exchanges)| {
            let mut exchanges = Exchanges::default();
            add(&mut exchanges);
            exchanges.graph(count as usize, 1).unwrap()
        };
        let bytes = u128::from(count) * 60;
        let (ring, by_ring) = of(&|e| e.ring(TrafficClass::Data, &ranks, bytes, 2).unwrap());
        let (tree, by_tree) = of(&|e| e.tree(TrafficClass::Data, &ranks, bytes).unwrap());
        assert_eq!(by_ring[0].bytes as u128, 2 * (u128::from(count) - 1) * bytes);
        assert_eq!(by_ring[0].bytes, by_tree[0].bytes);
        assert_eq!(ring.num_edges(), if count == 2 { 1 } else { count as usize });
        // Each rank is in two trees with at most three edges in one of them, and has one edge in the other.
        assert!(tree.nodes().all(|rank| (1..=4).contains(&tree.degree(rank))), "{count}");
        assert!(is_connected(&tree), "{count}");
    }
}

fn is_connected(graph: &CsrGraph) -> bool {
    let (mut reached, mut stack) = (BTreeSet::from([0]), vec![0]);
    while let Some(node) = stack.pop() {
        stack.extend(graph.neighbours(node).iter().filter(|&&other| reached.insert(other)));
    }
    reached.len() == graph.num_nodes()
}

#[test]
fn trees_are_those_of_nccl() {
    let edges = |count: u32| {
        let mut exchanges = Exchanges::default();
        exchanges.tree(TrafficClass::Data, &(0..count).collect::<Vec<_>>(), 1).unwrap();
        let (graph, _) = exchanges.graph(count as usize, 1).unwrap();
        let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| ((u, v), weight)));
        arcs.filter(|&((u, v), _)| u < v).collect::<BTreeMap<_, _>>()
    };
    // The first tree is 0-2, 1-2, 3-2, the second its mirror image 3-1, 2-1, 0-1.
    assert_eq!(edges(4), BTreeMap::from([((0, 1), 1), ((0, 2), 1), ((1, 2), 2), ((1, 3), 1), ((2, 3), 1)]));
    // With three ranks the first is 0-2, 1-2, and the second the same of the next ranks: 1-0, 2-0.
    assert_eq!(edges(3), BTreeMap::from([((0, 1), 1), ((0, 2), 2), ((1, 2), 1)]));
}

#[test]
fn tensor_parallelism_reduces_twice_per_layer_and_direction() {
    let x = 128 * 64 * 2;
    let plain = TrainingConfig { sequence_parallel: false, ..small() };
    // 8 layers with 2 blocks, each with 2 all-reduces of 2 passes, 4 microbatches; all 4 ranks send 3/4.
    assert_eq!(bytes_of(&traffic("tp:4", &plain), TrafficClass::Tensor), 8 * 2 * 4 * 4 * 3 * x);
    assert_eq!(bytes_of(&traffic("tp:4", &small()), TrafficClass::Tensor), 8 * 2 * 5 * 4 * 3 * x);
    let again = TrainingConfig { recompute: Recomputation::Full, ..plain.clone() };
    assert_eq!(bytes_of(&traffic("tp:4", &again), TrafficClass::Tensor), 8 * 2 * 6 * 4 * 3 * x);
    // Half of the tokens on half of the ranks each.
    let both = traffic("tp:4,cp:2", &plain);
    assert_eq!(bytes_of(&both, TrafficClass::Tensor), 8 * 2 * 4 * 4 * 3 * x);
    // Embedding and output layer, and three all-reduces of a number of four bytes for each token.
    let words = TrainingConfig { vocabulary: 1000, ..plain };
    let expected = (8 * 2 * 4 + 2 + 2) * 4 * 3 * x + 4 * 6 * 3 * 128 * 4;
    assert_eq!(bytes_of(&traffic("tp:4", &words), TrafficClass::Tensor), expected);
}

/// Returns the receivers and senders of a rank in each phase; a send after a receive begins one.
fn phases_of(program: &Workload, rank: NodeId) -> Vec<(Vec<NodeId>, Vec<NodeId>)> {
    let mut phases: Vec<(Vec<NodeId>, Vec<NodeId>)> = Vec::new();
    for &instruction in program.instructions(rank) {
        let end = |channel: u32| program.channels()[channel as usize];
        match instruction {
            Instruction::Send { channel, .. } => {
                if phases.last().is_none_or(|(_, received)| !received.is_empty()) {
                    phases.push(Default::default());
                }
                phases.last_mut().unwrap().0.push(end(channel).to);
            }
            Instruction::Receive { channel, .. } => phases.last_mut().unwrap().1.push(end(channel).from),
            other => panic!("{other:?}"),
        }
    }
    phases
}

#[test]
fn the_workload_of_a_step_has_its_traffic_in_phases() {
    let model = TrainingConfig { vocabulary: 512, tied: true, ..with_experts() };
    for parallel in ["tp:2,cp:2,pp:2,dp:3,ep:2", "dp:4,ep:4", "tp:2,pp:2*2+1*2", "pp:4,vpp:2"] {
        let parallel = ParallelConfig::parse(parallel).unwrap();
        let traffic = step_traffic(&parallel, &model).unwrap();
        let classes: Vec<TrafficClass> = traffic.classes.iter().map(|total| total.class).collect();
        for overlapping in [&[][..], &classes[..1], &classes] {
            let program = step_workload(&parallel, &model, overlapping, 1).unwrap();
            assert_eq!(program.num_tasks(), traffic.graph.num_nodes());
            let graph = program.graph();
            for u in graph.nodes() {
                assert_eq!(graph.neighbours(u), traffic.graph.neighbours(u));
                // Halves of odd numbers are rounded up, once in each class at most.
                let pairs = graph.arcs(u).zip(traffic.graph.arcs(u));
                assert!(pairs.into_iter().all(|((_, found), (_, sent))| (sent..sent + 8).contains(&found)));
                let most = classes.len() - overlapping.len().saturating_sub(1);
                assert!(phases_of(&program, u).len() <= most);
            }
        }
        let flits = |bytes| step_workload(&parallel, &model, &[], bytes).unwrap().num_flits();
        let messages = step_workload(&parallel, &model, &[], 1).unwrap().num_messages();
        assert!(flits(7) >= flits(1) / 7 && flits(7) < flits(1) / 7 + messages);
        assert_eq!(flits(1 << 40), messages);
    }
}

#[test]
fn classes_that_overlap_are_one_phase() {
    let of = |overlapping: &[TrafficClass]| {
        let parallel = ParallelConfig::parse("tp:2,dp:2,pp:2").unwrap();
        phases_of(&step_workload(&parallel, &small(), overlapping, 64).unwrap(), 0)
    };
    let phase = |partners: &[NodeId]| (partners.to_vec(), partners.to_vec());
    // Rank 1 shares layers with rank 0, rank 4 has the next stage, rank 2 the same layers.
    assert_eq!(of(&[]), [phase(&[1]), phase(&[4]), phase(&[2])]);
    assert_eq!(of(&[TrafficClass::Data, TrafficClass::Pipeline]), [phase(&[1]), phase(&[2, 4])]);
    assert_eq!(of(&[TrafficClass::Tensor, TrafficClass::Data]), [phase(&[4]), phase(&[1, 2])]);
    assert_eq!(of(&[TrafficClass::Data, TrafficClass::Context]), of(&[]));
    let parallel = ParallelConfig::parse("tp:2,dp:2").unwrap();
    let large = TrainingConfig { microbatches: 1 << 12, ..TrainingConfig::new(8, 1 << 16, 1 << 16, 4) };
    let refused = step_workload(&parallel, &large, &[], 1).unwrap_err();
    assert_eq!(refused, TrainingError::TooManyFlits);
    assert!(step_workload(&parallel, &small(), &[], 0).is_err());
}

#[test]
fn context_parallelism_exchanges_keys_and_values() {
    let with = |context| TrainingConfig { context, kv: 16, ..small() };
    // Keys and values of a rank: 32 tokens of 2 · 16 numbers of 2 bytes. 8 layers, 4 microbatches.
    let pair = 32 * 2 * 16 * 2;
    let p2p = traffic("cp:4", &with(ContextExchange::PointToPoint));
    assert_eq!(bytes_of(&p2p, TrafficClass::Context), 8 * 4 * 4 * 3 * 3 * pair);
    let gathered = traffic("cp:4", &with(ContextExchange::AllGather));
    assert_eq!(bytes_of(&gathered, TrafficClass::Context), bytes_of(&p2p, TrafficClass::Context));
    let all = traffic("cp:4", &with(ContextExchange::AllToAll));
    // Queries, keys, values and results of a rank, three quarters of which go to other ranks; forward and backward.
    let vectors = 32 * (2 * 16 + 2 * 64) * 2;
    assert_eq!(bytes_of(&all, TrafficClass::Context), 8 * 4 * 2 * 4 * vectors * 3 / 4);
    assert_eq!(all.graph.degree(0), 3);
}

#[test]
fn tokens_go_to_their_experts_and_back() {
    let found = traffic("ep:4,dp:8", &with_experts());
    // Each rank sends two vectors of each of its tokens, three quarters of them to others, and as many come back;
    // forward and backward, in 8 layers and 4 microbatches.
    let sent = 128 * 2 * 64 * 2 * 3 / 4;
    assert_eq!(bytes_of(&found, TrafficClass::Expert), 8 * 4 * 4 * 8 * sent);
    // Each expert has two matrices of 64 · 32 numbers; a rank has two experts, and one other rank has the same.
    let parameters = 8 * 2 * 2 * 64 * 32;
    assert_eq!(bytes_of(&found, TrafficClass::ExpertData), 8 / 2 * 2 * parameters / 2 * (4 + 2));
    // What is no expert is on all eight ranks: the attention.
    assert_eq!(bytes_of(&found, TrafficClass::Data), 7 * 8 * 4 * 64 * 64 * (4 + 2));
    // Experts that two ranks share: the tokens of both are gathered before, and what comes out is reduced.
    let shared = traffic("tp:2,ep:2,dp:2", &with_experts());
    let of_both = 2 * (64 * 2 * 64 * 2);
    assert_eq!(bytes_of(&shared, TrafficClass::ExpertTensor), 8 * 4 * 4 * of_both * 2);
    // Two layers without experts, and an expert for all.
    let mixed = TrainingConfig { dense_layers: 2, shared_ffn: 32, ..with_experts() };
    let mixed = traffic("ep:4,dp:8", &mixed);
    assert_eq!(bytes_of(&mixed, TrafficClass::Expert), 6 * 4 * 4 * 8 * sent);
    let dense = 8 * 4 * 64 * 64 + 2 * 2 * 64 * 256 + 6 * 2 * 64 * 32;
    assert_eq!(bytes_of(&mixed, TrafficClass::Data), 7 * dense * (4 + 2));
}

#[test]
fn pipelines_send_forward_and_backward() {
    let x = 128 * 64 * 2;
    let plain = traffic("pp:4", &small());
    assert_eq!(bytes_of(&plain, TrafficClass::Pipeline), 3 * 2 * 4 * x);
    assert_eq!(plain.graph.num_edges(), 3);
    // Two chunks each: 7 borders between 8 chunks.
    let interleaved = traffic("pp:4,vpp:2", &small());
    assert_eq!(bytes_of(&interleaved, TrafficClass::Pipeline), 7 * 2 * 4 * x);
    assert_eq!(interleaved.graph.neighbours(0), [1, 3]);
    // With sequence parallelism each rank sends a part; without it, each sends everything.
    assert_eq!(bytes_of(&traffic("tp:2,pp:4", &small()), TrafficClass::Pipeline), 3 * 2 * 4 * x);
    let whole = TrainingConfig { sequence_parallel: false, ..small() };
    assert_eq!(bytes_of(&traffic("tp:2,pp:4", &whole), TrafficClass::Pipeline), 2 * 3 * 2 * 4 * x);
    let tied = TrainingConfig { vocabulary: 100, tied: true, ..small() };
    assert_eq!(bytes_of(&traffic("pp:4", &tied), TrafficClass::Embedding), 2 * 100 * 64 * 4);
}

#[test]
fn sharding_decides_what_is_reduced_and_gathered() {
    let parameters = 8 * (4 * 64 * 64 + 2 * 64 * 256);
    let of = |sharding, all_reduce| {
        let model = TrainingConfig { sharding, all_reduce, ..small() };
        bytes_of(&traffic("dp:4", &model), TrafficClass::Data)
    };
    let ring = GradientReduction::Ring;
    assert_eq!(of(Sharding::None, ring), 3 * parameters * 2 * 4);
    assert_eq!(of(Sharding::None, GradientReduction::Tree), 3 * parameters * 2 * 4);
    assert_eq!(of(Sharding::Optimizer, ring), 3 * parameters * (4 + 2));
    assert_eq!(of(Sharding::Gradients, ring), 3 * parameters * (4 * 4 + 2));
    assert_eq!(of(Sharding::Full, ring), 3 * parameters * (4 * 4 + 4 * 2 * 2));
    // Ranks that share a sequence have the same parameters.
    let both = traffic("cp:2,dp:2", &small());
    assert_eq!(bytes_of(&both, TrafficClass::Data), 3 * parameters * (4 + 2));
}

#[test]
fn pipelines_of_several_depths_reduce_layer_by_layer() {
    // Six layers in stages of two and of three.
    let model = TrainingConfig { layers: 6, ..small() };
    let found = traffic("pp:3+2", &model);
    let layer = 4 * 64 * 64 + 2 * 64 * 256;
    assert_eq!(bytes_of(&found, TrafficClass::Data), 6 * layer * (4 + 2));
    // Stages of pipeline 0: ranks 0, 2, 4; of pipeline 1: 1 and 3. The middle stage shares a layer with each.
    let weight = |u, v| found.graph.arcs(u).find(|&(other, _)| other == v).map_or(0, |(_, weight)| weight);
    assert_eq!(
        [weight(0, 1), weight(2, 1), weight(2, 3), weight(4, 3)],
        [2, 1, 1, 2].map(|n| n * layer as i64 * 6)
    );
    // Experts stay within pipelines of one depth, and their gradients do not.
    let found = traffic("ep:2,pp:2*2+4*2", &with_experts());
    let expert = found.classes.iter().find(|total| total.class == TrafficClass::Expert).unwrap();
    assert_eq!((expert.groups, expert.smallest, expert.largest), (2 + 4, 2, 2));
    let data = found.classes.iter().find(|total| total.class == TrafficClass::ExpertData).unwrap();
    assert_eq!((data.smallest, data.largest), (2, 2));
    let parameters = 8 * 8 * 2 * 64 * 32;
    assert_eq!(data.bytes, parameters * (4 + 2));
}

#[test]
fn layers_that_do_not_divide_are_spread() {
    let model = TrainingConfig { layers: 7, ..small() };
    let found = traffic("tp:2,pp:3", &model);
    let x = 128 * 64 * 2;
    assert_eq!(bytes_of(&found, TrafficClass::Tensor), 7 * 2 * 5 * 4 * x);
    assert!(matches!(
        step_traffic(&ParallelConfig::parse("pp:4,vpp:2").unwrap(), &model),
        Err(TrainingError::TooFewLayers { layers: 7, chunks: 8 })
    ));
}

#[test]
fn units_are_rounded_up() {
    let exact = traffic("tp:2,pp:2,dp:3", &small());
    let coarse = traffic("tp:2,pp:2,dp:3", &TrainingConfig { unit: 1000, ..small() });
    assert_eq!(exact.classes, coarse.classes);
    for rank in exact.graph.nodes() {
        let rounded = exact.graph.arcs(rank).map(|(other, weight)| (other, (weight + 999) / 1000));
        assert!(rounded.eq(coarse.graph.arcs(rank)));
    }
    assert_eq!(exact.graph.total_arc_weight() as u64, 2 * exact.bytes());
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let message = |parallel: &str, model: &TrainingConfig| {
        let parallel = ParallelConfig::parse(parallel);
        parallel.and_then(|parallel| step_traffic(&parallel, model)).unwrap_err().to_string()
    };
    let cases: &[(&str, TrainingConfig, &str)] = &[
        ("tp", small(), "a size follows a colon"),
        ("tp:0", small(), "from 1 to 1048576"),
        ("tp:2,tp:2", small(), "given twice"),
        ("xp:2", small(), "the sizes are tp"),
        ("pp:2*2,dp:3", small(), "these are 2 pipelines, but dp is 3"),
        ("tp:1024,dp:1025", small(), "1049600 places"),
        ("ep:2,dp:2", small(), "this one has none"),
        ("ep:3,dp:3", with_experts(), "no multiple of ep"),
        ("ep:4,dp:6", with_experts(), "6 ranks, which are not divisible among ep · etp = 4"),
        ("tp:2,dp:2", TrainingConfig { sequence_parallel: false, ..with_experts() }, "sequence parallelism"),
        ("tp:1", TrainingConfig { topk: 9, ..with_experts() }, "more experts (topk)"),
        ("tp:1", TrainingConfig { topk: 2, ..small() }, "for models with experts"),
        ("tp:1", TrainingConfig { tied: true, ..small() }, "need a vocabulary"),
        ("tp:1", TrainingConfig { all_reduce: GradientReduction::Tree, ..small() }, "sharding replaces"),
        ("tp:1", TrainingConfig { hidden: 0, ..small() }, "hidden is 0"),
        ("tp:2", TrainingConfig { hidden: 1 << 32, sequence: 1 << 32, ..small() }, "2^62"),
        ("cp:65536", TrainingConfig { context: ContextExchange::AllToAll, ..small() }, "pairs of ranks"),
    ];
    for (parallel, model, expected) in cases {
        let found = message(parallel, model);
        assert!(found.contains(expected), "{parallel}: {found}");
    }
    let order = |text| ParallelConfig::default().with_order(text).unwrap_err().to_string();
    assert!(order("tp,cp").contains("missing"));
    assert!(order("tp,cp,ep,dp,dp").contains("twice"));
    assert!(order("tp,cp,ep,dp,xp").contains("xp"));
}
