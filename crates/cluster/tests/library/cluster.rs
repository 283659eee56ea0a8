//! Clusters: readers of files, the resulting machine compared with a naive one, and errors.

use std::path::Path;

use viem::base::rng::Rng;
use viem::base::types::{Distance, PeId};
use viem::machine::{Audited as _, CoreRange, Division, Interconnect, Machine, Nodes};
use viem_cluster::files::hwloc::{Object, ObjectKind};
use viem_cluster::files::topology::{self, Switch, Topology, Torus};
use viem_cluster::files::{hostfile, hostlist, hwloc, latency, numa, synthetic};
use viem_cluster::nodes::{Cluster, ClusterError, ClusterSpec, NodeSpec, Unit, plain, regular};
use viem_cluster::{MachineSpec, PeKind, SpecError};
use viem_io::{ReadError, Source};
use viem_verify::{MachineText, OUTLINE, audit_on};

use crate::table;

fn draft(nodes: Vec<NodeSpec>, insides: Vec<Object>) -> ClusterSpec<'static> {
    ClusterSpec::new(nodes, insides, Unit::Core)
}

fn nodes(count: usize) -> Vec<NodeSpec> {
    (0..count).map(|node| NodeSpec::new(Some(format!("n{node}")), 0)).collect()
}

/// A topology as a file has it.
fn read_topology(text: &str) -> Result<Topology, ReadError> {
    topology::read(Source::new("t", text.as_bytes()).unwrap())
}

/// This many nodes of two cores with this topology.
fn pairs_of_cores(count: usize, topology: Topology) -> Result<Cluster, ClusterError> {
    Cluster::new(ClusterSpec { topology, ..draft(nodes(count), vec![plain(2)]) })
}

/// Asserts that a message holds this.
#[track_caller]
fn says(message: impl std::fmt::Display, expected: &str) {
    let message = message.to_string();
    assert!(message.contains(expected), "`{expected}` is not in: {message}");
}

/// Checks that the auditor computes the same distances from the outline as the machine, for some pairs of
/// PEs, and the same F of random workloads.
fn check_outline(machine: &dyn Machine, rng: &mut Rng) {
    let (outline, distances) = (machine.audited().unwrap().outline(), table(machine));
    let text =
        MachineText { spec: OUTLINE, distances: None, file: Some(&outline), pes: None, link_cycles: None };
    let n = machine.num_pes() as u32;
    (0..3).for_each(|_| crate::estimate::check_random_estimate(machine, &text, rng));
    for _ in 0..30 {
        let (p, q) = (rng.below(n), rng.below(n));
        if p != q {
            let cost = audit_on("2 1\n2\n1\n", &format!("{p}\n{q}\n"), &text).unwrap();
            assert_eq!(cost, 2 * distances[p as usize][q as usize] as u128, "{p} {q} of {outline}");
        }
    }
}

#[test]
fn identical_nodes_form_a_hierarchy() {
    let cluster = Cluster::new(draft(nodes(8), vec![regular(&[16, 2])])).unwrap();
    assert_eq!(cluster.describe(), "8 nodes x 2 sockets x 16 cores = 16:2:8, distances 1:3:30 (assumed)");
    let hierarchy = cluster.hierarchy().unwrap();
    assert_eq!((hierarchy.arities(), hierarchy.distances()), (&[16, 2, 8][..], &[1, 3, 30][..]));
    let sites = Nodes::of(&cluster);
    assert!(sites.are_named());
    let site = sites.site(32 + 16 + 5);
    assert_eq!((site.host, site.cores, site.cpus), ("n1", &[CoreRange::new(1, 5, 1)][..], &[21][..]));
    check_outline(&cluster, &mut Rng::new(1));
}

#[test]
fn levels_with_one_child_are_dropped_and_keep_their_best_name() {
    let node = synthetic::read("line", "numa:2 pack:1 l3:1 core:4 pu:2").unwrap();
    let cluster = Cluster::new(draft(nodes(1), vec![node.clone()])).unwrap();
    assert_eq!(cluster.describe(), "2 sockets x 4 cores = 4:2, distances 1:3 (assumed)");
    let threads = Cluster::new(ClusterSpec { unit: Unit::Pu, ..draft(nodes(3), vec![node]) }).unwrap();
    let expected =
        "3 nodes x 2 sockets x 4 cores x 2 hardware threads = 2:4:2:3, distances 1:2:6:60 (assumed)";
    assert_eq!(threads.describe(), expected);
}

#[test]
fn uneven_nodes_are_mapped_correctly() {
    let mut nodes = nodes(3);
    nodes[1].inside = 1;
    nodes[2].limit = Some(5);
    let cluster = Cluster::new(draft(nodes, vec![regular(&[4, 2]), plain(3)])).unwrap();
    assert_eq!(cluster.num_pes(), 8 + 3 + 5);
    assert!(cluster.hierarchy().is_none());
    let expected = "3 nodes, 5 sockets, 16 cores, uneven, distances 1:3:30 of cores:sockets:nodes (assumed)";
    assert_eq!(cluster.describe(), expected);
    let distances = table(&cluster);
    assert_eq!([distances[0][3], distances[0][4], distances[0][8], distances[8][10]], [1, 3, 30, 1]);
    assert_eq!([distances[11][14], distances[11][15], distances[10][11]], [1, 3, 30]);
    check_outline(&cluster, &mut Rng::new(2));
    assert!(cluster.notes().iter().any(|note| note.text.contains("the first ones are taken")));
}

/// A random node: nested objects of any kinds, down to cores with some PUs.
fn random_node(rng: &mut Rng, next: &mut u32) -> Object {
    fn part(kinds: &[ObjectKind], rng: &mut Rng, next: &mut u32) -> Vec<Object> {
        let Some((&kind, inner)) = kinds.split_first() else {
            *next += 1;
            return vec![Object::pu(*next - 1)];
        };
        // Some parts do not have all levels.
        if kind != ObjectKind::Core && rng.below(4) == 0 {
            return part(inner, rng, next);
        }
        (0..1 + rng.below(3)).map(|_| Object::new(kind, part(inner, rng, next))).collect()
    }
    let kinds = [ObjectKind::Group, ObjectKind::Package, ObjectKind::Numa, ObjectKind::L3, ObjectKind::Core];
    Object::new(ObjectKind::Machine, part(&kinds, rng, next))
}

/// Returns for each PE its enclosing objects, outermost first: kind and a unique number. Objects that are the only
/// ones in their parent count too.
fn paths(
    object: &Object,
    path: &mut Vec<(usize, usize)>,
    next: &mut usize,
    found: &mut Vec<Vec<(usize, usize)>>,
) {
    *next += 1;
    use ObjectKind::*;
    let rank = [Machine, Group, Package, Numa, L3, Core];
    path.push((rank.iter().position(|&kind| kind == object.kind).unwrap(), *next));
    if object.kind == Core {
        found.push(path.clone());
    } else {
        object.children.iter().for_each(|child| paths(child, path, next, found));
    }
    path.pop();
}

#[test]
fn distances_depend_on_the_innermost_common_object() {
    for seed in 0..80 {
        let mut rng = Rng::new(seed);
        let insides: Vec<Object> = (0..2).map(|_| random_node(&mut rng, &mut 0)).collect();
        let mut nodes = nodes(3);
        nodes.iter_mut().for_each(|node| node.inside = rng.below(2) as usize);
        let mut all = Vec::new();
        for node in &nodes {
            let mut number = 1000 * (1 + all.len());
            paths(&insides[node.inside], &mut Vec::new(), &mut number, &mut all);
        }
        let cluster = Cluster::new(draft(nodes, insides)).unwrap();
        assert_eq!(cluster.num_pes(), all.len(), "seed {seed}");
        let distances = table(&cluster);
        // PEs that share more objects are nearer.
        let shared = |p: usize, q: usize| all[p].iter().zip(&all[q]).take_while(|(a, b)| a == b).count();
        let pes = 0..all.len();
        for (p, row) in distances.iter().enumerate() {
            for (q, r) in pes.clone().flat_map(|q| pes.clone().map(move |r| (q, r))) {
                assert_eq!(row[q] == 0, p == q, "seed {seed}");
                if shared(p, q) > shared(p, r) && p != q {
                    assert!(row[q] < row[r], "seed {seed}: {p} {q} {r}");
                }
            }
        }
        check_outline(&cluster, &mut rng);
        let Division::Parts(parts) = cluster.division() else { panic!("clusters have parts") };
        assert_eq!(parts.order().len(), all.len());
    }
}

/// The sets of cores of the ranks of a random node, by the cores' numbers, and the enclosing objects of each core.
type Shared = (Vec<Vec<usize>>, Vec<Vec<(usize, usize)>>, Box<dyn Machine>);

fn shared_node(rng: &mut Rng) -> (Shared, usize, usize, usize) {
    let node = random_node(rng, &mut 0);
    let (mut number, mut all) = (0, Vec::new());
    paths(&node, &mut Vec::new(), &mut number, &mut all);
    let usable = 1 + rng.below(all.len() as u32) as usize;
    let ranks = 1 + rng.below(usable as u32) as usize;
    let size = 1 + rng.below((usable / ranks) as u32) as usize;
    let mut nodes = nodes(2);
    nodes[0].limit = Some(usable as u32);
    nodes[0].ranks = Some(ranks as u32);
    nodes[0].cores_per_rank = (size < usable / ranks || rng.below(2) == 0).then_some(size as u32);
    nodes[1].ranks = Some(1);
    let cluster = Cluster::new(draft(nodes, vec![node])).unwrap();
    let sites = Nodes::of(&cluster);
    // The PUs of random nodes are numbered like their cores.
    let sets = (0..ranks as PeId).map(|pe| sites.site(pe).cpus.iter().map(|&cpu| cpu as usize).collect());
    ((sets.collect(), all, Box::new(cluster)), usable, ranks, size)
}

#[test]
fn ranks_have_sets_of_cores_that_are_in_one_part_where_they_fit() {
    let mut num_split = 0;
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let ((sets, paths, cluster), usable, ranks, size) = shared_node(&mut rng);
        let mut all: Vec<usize> = sets.concat();
        assert!(sets.iter().all(|set| set.len() == size), "seed {seed}");
        all.sort_unstable();
        all.dedup();
        assert!(all.len() == ranks * size && all.last() < Some(&usable), "seed {seed}");
        // Of each object: its usable cores in each of its parts, and the sets that lie in it.
        let depth = paths.iter().map(Vec::len).max().unwrap();
        for level in 0..depth {
            for group in
                paths[..usable].chunk_by(|a, b| a.get(level).is_some() && a.get(level) == b.get(level))
            {
                let Some(object) = group[0].get(level) else { continue };
                let is_in = |core: &usize| paths[*core].get(level) == Some(object);
                let own: Vec<&Vec<usize>> = sets.iter().filter(|set| set.iter().all(is_in)).collect();
                let parts: Vec<_> = group.chunk_by(|a, b| a.get(level + 1) == b.get(level + 1)).collect();
                let room: usize = parts.iter().map(|part| part.len() / size).sum();
                let part_of = |core: usize| paths[core].get(level + 1);
                let split = own.iter().filter(|set| set.iter().any(|&core| part_of(core) != part_of(set[0])));
                let split = split.count();
                num_split += split;
                assert_eq!(split, own.len().saturating_sub(room), "seed {seed}: {sets:?} in {object:?}");
            }
        }
        // Sets that share more objects are nearer.
        let distances = table(cluster.as_ref());
        let shared = |p: usize, q: usize| {
            let cores: Vec<usize> = [p, q].iter().flat_map(|&set| sets[set].iter().copied()).collect();
            let is_common = |level: &usize| {
                let object = |core: usize| paths[core].get(*level);
                object(cores[0]).is_some() && cores.iter().all(|&core| object(core) == object(cores[0]))
            };
            (0..depth).take_while(is_common).count()
        };
        for (p, q, r) in
            (0..ranks).flat_map(|p| (0..ranks).flat_map(move |q| (0..ranks).map(move |r| (p, q, r))))
        {
            if p != q && shared(p, q) > shared(p, r) {
                assert!(distances[p][q] < distances[p][r], "seed {seed}: {p} {q} {r}");
            }
        }
        check_outline(cluster.as_ref(), &mut rng);
    }
    assert!(num_split > 100, "{num_split}");
}

#[test]
fn nodes_without_ranks_are_left_out_of_the_machine() {
    let of = |topology, latencies| {
        let mut nodes = nodes(4);
        nodes.iter_mut().for_each(|node| node.ranks = Some(2));
        nodes[1].ranks = Some(0);
        Cluster::new(ClusterSpec { topology, latencies, ..draft(nodes, vec![regular(&[4, 2])]) }).unwrap()
    };
    let cluster = of(Topology::Flat, None);
    assert_eq!(cluster.describe(), "3 nodes x 2 sockets = 2:3, distances 1:10 (assumed)");
    assert_eq!(Nodes::of(&cluster).hosts(), ["n0", "n2", "n3"]);
    assert_eq!(cluster.located().unwrap().num_nodes(), Some(4));
    assert_eq!(cluster.located().unwrap().location(2).node, 2);
    let switches = vec![switch("a", &[], &["n0", "n1"]), switch("b", &[], &["n2", "n3"])];
    let cluster = of(Topology::Tree(switches), None);
    says(cluster.describe(), "2 switches, 3 nodes, 6 sockets, uneven");
    let matrix = "0 1 2 3\n1 0 1 2\n2 1 0 4\n3 2 4 0\n";
    let cluster =
        of(Topology::Flat, Some(latency::read(Source::new("lat", matrix.as_bytes()).unwrap()).unwrap()));
    let distances = table(&cluster);
    // The latencies 2, 3 and 4: the row of the second host does not count.
    assert_eq!([distances[0][2], distances[0][4], distances[2][4]], [300, 450, 600]);
    check_outline(&cluster, &mut Rng::new(4));
}

#[test]
fn nodes_without_room_are_named() {
    let refused = |change: &dyn Fn(&mut NodeSpec)| {
        let mut nodes = nodes(2);
        change(&mut nodes[1]);
        Cluster::new(draft(nodes, vec![regular(&[4, 2])])).err().unwrap().to_string()
    };
    says(refused(&|node| node.slots = Some(9)), "host n1 has 9 slots, but the node described has 8 cores");
    let many = refused(&|node| (node.ranks, node.cores_per_rank) = (Some(3), Some(3)));
    says(many, "host n1 has 8 cores, but 3 ranks of 3 need 9");
    let many = refused(&|node| (node.ranks, node.limit) = (Some(5), Some(4)));
    says(many, "host n1 has 4 cores, but 5 ranks of 1 need 5");
    let mut all = nodes(2);
    all.iter_mut().for_each(|node| node.cores_per_rank = Some(9));
    let none = Cluster::new(draft(all, vec![regular(&[4, 2])])).err().unwrap().to_string();
    assert_eq!(none, "a rank of 9 cores fits no node: none has more than 8");
}

fn switch(name: &str, switches: &[&str], nodes: &[&str]) -> Switch {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Switch::new(name.to_owned(), own(switches), own(nodes))
}

#[test]
fn switches_are_levels_above_the_nodes() {
    let switches = vec![
        switch("top", &["a", "b"], &[]),
        switch("a", &[], &["n0", "n1", "x"]),
        switch("b", &[], &["n2", "n3"]),
        switch("c", &[], &["y"]),
    ];
    let of = pairs_of_cores;
    let cluster = of(4, Topology::Tree(switches.clone())).unwrap();
    assert_eq!(cluster.describe(), "2 switches x 2 nodes x 2 cores = 2:2:2, distances 1:30:60 (assumed)");
    let cluster = of(3, Topology::Tree(switches.clone())).unwrap();
    let expected =
        "2 switches, 3 nodes, 6 cores, uneven, distances 1:30:60 of cores:nodes:switches (assumed)";
    assert_eq!(cluster.describe(), expected);
    let lost = of(5, Topology::Tree(switches)).err().unwrap();
    assert_eq!(lost, ClusterError::NotInTopology { host: "n4".into() });
    let blocks = vec![vec!["n0".into(), "n1".into()], vec!["n2".into(), "n3".into()]];
    let cluster = of(4, Topology::Blocks { blocks, sizes: vec![2, 4] }).unwrap();
    assert_eq!(cluster.describe(), "2 blocks x 2 nodes x 2 cores = 2:2:2, distances 1:30:60 (assumed)");
    // Hosts in another order than that of the switches are an uneven tree with the same distances.
    let crossed = vec![switch("a", &[], &["n0", "n2"]), switch("b", &[], &["n1", "n3"])];
    let distances = table(&of(4, Topology::Tree(crossed)).unwrap());
    assert_eq!([distances[0][2], distances[0][4], distances[1][3], distances[2][6]], [60, 30, 60, 30]);
}

/// Two leaves with two nodes each, whose spines do not matter; what `ibnetdiscover` prints.
const FABRIC: &str = "vendid=0x2c9\nswitchguid=0x1(1)\nSwitch\t4 \"S-1\"\t# \"leaf1\" base port 0 lid 1 lmc 0\n[1]\t\"H-a\"[1](a)\t# \"n0 mlx5_0\" lid 11 4xHDR\n\
     [2]\t\"H-b\"[1](b)\t# \"n1 mlx5_0\" lid 12 4xHDR\n[3]\t\"S-3\"[1]\t# \"spine\" lid 3 4xHDR\n[4]\t\"S-4\"[1]\t# \"spine\" lid 3 4xHDR\n\nSwitch\t4 \"S-2\"\t# \"leaf2\" \
     base port 0\n[1]\t\"H-c\"[1](c)\t# \"n2 mlx5_0\" lid 13 4xHDR\n[2]\t\"H-d\"[1](d)\t# \"n3 mlx5_0\" lid 14 4xHDR\n[3]\t\"S-3\"[2]\t# \"spine\"\n[4]\t\"S-4\"[2]\t# \"spine\"\n";

#[test]
fn fabrics_are_trees_or_have_a_distance_for_each_pair() {
    let of = |count, text: &str| pairs_of_cores(count, read_topology(text).unwrap());
    let cluster = of(4, FABRIC).unwrap();
    assert_eq!(cluster.describe(), "2 switches x 2 nodes x 2 cores = 2:2:2, distances 1:30:60 (assumed)");
    let lost = of(5, FABRIC).err().unwrap();
    assert_eq!(lost, ClusterError::NotInTopology { host: "n4".into() });
    // Without spines, a ring of four switches with a node each.
    let switch = |number: usize| {
        let next = (number + 1) % 4;
        format!(
            "Switch 4 \"S-{number}\"\n[1] \"H-{number}\"[1] # \"n{number} mlx5_0\"\n[2] \"S-{next}\"[3]\n"
        )
    };
    let ring = of(4, &(0..4).map(switch).collect::<String>()).unwrap();
    let expected = "4 nodes x 2 cores, distances 1 inside a node (assumed), 45 to 60 between nodes (hops between 4 switches)";
    assert_eq!(ring.describe(), expected);
    let distances = table(&ring);
    assert_eq!([distances[0][1], distances[0][2], distances[0][4], distances[0][6]], [1, 45, 60, 45]);
    check_outline(&ring, &mut Rng::new(5));
}

/// Returns the file of topograph for instances with these layers and domains.
fn topograph(instances: &[(&str, &[&str], &str)]) -> String {
    let instance = |(id, layers, labels): &(&str, &[&str], &str)| {
        format!("\t{{\"id\": \"{id}\", \"network_layers\": {layers:?}{labels}}}")
    };
    let instances: Vec<String> = instances.iter().map(instance).collect();
    format!("{{\n\"instances\": [\n{}\n]}}\n", instances.join(",\n"))
}

#[test]
fn layers_and_accelerator_domains_are_switches() {
    let of = |text: &str, count| pairs_of_cores(count, read_topology(text).unwrap()).unwrap();
    let [a, b]: [&[&str]; 2] = [&["a", "spine"], &["b", "spine"]];
    let plain = topograph(&[("n0", a, ""), ("n1", a, ""), ("n2", b, ""), ("n3", b, "")]);
    let expected = "2 switches x 2 nodes x 2 cores = 2:2:2, distances 1:30:60 (assumed)";
    assert_eq!(of(&plain, 4).describe(), expected);
    let domain = |name: &str| format!(", \"labels\": {{\"accelerator.topograph.run/domain\": \"{name}\"}}");
    let (x, y) = (domain("x"), domain("a"));
    // Two domains below a switch; one is called like it.
    let below = [("n0", a, &*x), ("n1", a, &y), ("n2", a, &x), ("n3", a, &y), ("n4", b, ""), ("n5", b, "")];
    let inside = topograph(&below);
    let distances = table(&of(&inside, 6));
    let from_0 = [1, 2, 4, 6, 8].map(|pe| distances[0][pe]);
    assert_eq!(from_0, [1, 60, 30, 60, 90]);
    assert_eq!(distances[8][10], distances[0][4].max(distances[8][10]));
    // A domain across switches hangs on what is above both.
    let across = topograph(&[("n0", a, &x), ("n1", b, &x), ("n2", a, ""), ("n3", b, "")]);
    let distances = table(&of(&across, 4));
    assert!(distances[0][2] < distances[0][4] && distances[0][4] == distances[0][6]);
    // Sub-domains, and the attribute of earlier versions.
    let sub = |name: &str| {
        format!(
            ", \"labels\": {{\"accelerator.topograph.run/domain\": \"x\", \"accelerator.topograph.run/sub-domain\": \"{name}\"}}"
        )
    };
    let (one, two) = (sub("1"), sub("2"));
    let nested =
        topograph(&[("n0", a, &one), ("n1", a, &one), ("n2", a, &two), ("n3", a, ", \"type\": \"H100\"")]);
    let distances = table(&of(&nested, 4));
    assert!(distances[0][2] < distances[0][4] && distances[0][4] < distances[0][6]);
    let old = ", \"attributes\": {\"nvlink\": \"x\"}";
    let none: &[&str] = &[];
    let old = topograph(&[("n0", none, old), ("n1", none, old), ("n2", a, "")]);
    let distances = table(&of(&old, 3));
    assert!(distances[0][2] < distances[0][4]);
    check_outline(&of(&inside, 6), &mut Rng::new(5));
    let refused =
        |instances: &[(&str, &[&str], &str)]| read_topology(&topograph(instances)).unwrap_err().to_string();
    let twice = refused(&[("n0", a, ""), ("n1", b, ""), ("n0", b, "")]);
    assert_eq!(twice, "t, line 5, column 2: an instance is listed twice: `n0`");
    let torn = refused(&[("n0", a, ""), ("n1", &["a", "other"], "")]);
    assert!(torn.starts_with("t, line 4, column 2: a switch hangs on two others"), "{torn}");
    let placeless = "neither network layers nor an accelerator domain: `n1`";
    says(refused(&[("n0", a, ""), ("n1", none, "")]), placeless);
    says(refused(&[("n0", &["a", "b", "a"], "")]), "a switch hangs on itself");
    says(refused(&[("", a, "")]), "an instance has no `id`");
    says(read_topology("{\"nodes\": []}").unwrap_err(), "a list of instances is missing");
}

#[test]
fn nodes_of_kubernetes_have_their_place_in_their_labels() {
    let node = |name: &str, labels: &[(&str, &str)]| {
        let labels: Vec<String> =
            labels.iter().map(|(key, value)| format!("\"{key}\": \"{value}\"")).collect();
        format!(
            "{{\"kind\": \"Node\", \"metadata\": {{\"name\": \"{name}\", \"labels\": {{{}}}}}, \"status\": {{}}}}",
            labels.join(", ")
        )
    };
    let list = |nodes: &[String]| {
        format!("{{\n\"apiVersion\": \"v1\",\n\"items\": [{}],\n\"kind\": \"List\"}}", nodes.join(",\n"))
    };
    let of = |text: &str| pairs_of_cores(4, read_topology(text).unwrap()).unwrap();
    let [a, b]: [&[&str]; 2] = [&["a", "s"], &["b", "s"]];
    let same = topograph(&[("n0", a, ""), ("n1", a, ""), ("n2", b, ""), ("n3", b, "")]);
    let expected = table(&of(&same));
    for keys in [
        ["fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1"],
        ["fabric.topograph.run/tier-1", "fabric.topograph.run/tier-3"],
        ["network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine"],
        ["network.topology.nvidia.com/block", "network.topology.nvidia.com/datacenter"],
        ["network.topology.kubernetes.io/block", "network.topology.kubernetes.io/spine"],
    ] {
        let of_node = |name: &str, leaf: &str| {
            node(name, &[("kubernetes.io/os", "linux"), (keys[1], "s"), (keys[0], leaf)])
        };
        // The node of the control plane has no place.
        let [n0, n1, n2, n3] =
            [("n0", "a"), ("n1", "a"), ("n2", "b"), ("n3", "b")].map(|(name, leaf)| of_node(name, leaf));
        assert_eq!(table(&of(&list(&[node("control", &[]), n0, n1, n2, n3]))), expected, "{keys:?}");
    }
    // The same as YAML, with NVLink between two nodes of a leaf.
    let item = |name: &str, labels: &str| {
        format!("- apiVersion: v1\n  kind: Node\n  metadata:\n    labels:\n{labels}    name: {name}\n")
    };
    let leaf = "      network.topology.nvidia.com/leaf: a\n";
    let domain = format!("{leaf}      nvidia.com/gpu.clique: c.1\n");
    let items = [("n0", leaf), ("n1", &domain), ("n2", leaf), ("n3", &domain)];
    let items = items.map(|(name, labels)| item(name, labels)).concat();
    let yaml = format!("apiVersion: v1\nitems:\n{items}kind: List\n");
    let distances = table(&of(&yaml));
    assert_eq!([distances[2][6], distances[2][0], distances[0][4]], [30, 60, 60]);
    let twice = node("n0", &[("fabric.topograph.run/tier-0", "a")]);
    for (nodes, expected) in [
        (&[node("n0", &[])][..], "no node has a label of its switch"),
        (&["{\"kind\": \"Node\"}".to_owned()], "a node has no `metadata`"),
        (&["{\"metadata\": {}}".to_owned()], "a node has no `name`"),
        (&[twice.clone(), twice], "an instance is listed twice"),
    ] {
        says(read_topology(&list(nodes)).unwrap_err(), expected);
    }
}

#[test]
fn tori_count_hops() {
    let names: Vec<String> = (0..6).map(|node| format!("n{node}")).collect();
    let ring = Topology::Tori(vec![Torus::new(vec![6], names)]);
    let cluster = pairs_of_cores(6, ring).unwrap();
    let expected = "6 nodes x 2 cores, distances 1 inside a node (assumed), 30 to 90 between nodes (hops on a ring of 6)";
    assert_eq!(cluster.describe(), expected);
    let distances = table(&cluster);
    assert_eq!([distances[0][1], distances[0][2], distances[0][6], distances[0][11]], [1, 30, 90, 30]);
    check_outline(&cluster, &mut Rng::new(3));
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn build(folder: &Path, spec: &str, wanted: MachineSpec<'_>) -> Result<Box<dyn Machine>, SpecError> {
    let spec = spec.replace('@', &format!("{}/", folder.display()));
    let mut wanted = wanted;
    wanted.spec = &spec;
    viem_cluster::build_wanted(&wanted)
}

const XML: &str = r#"<?xml version="1.0"?><topology version="2.0"><object type="Machine"><object type="NUMANode" os_index="0"/>
    <object type="Package"><object type="L3Cache"><object type="Core"><object type="PU" os_index="0"/><object type="PU" os_index="4"/></object>
    <object type="Core"><object type="PU" os_index="1"/></object></object></object>
    <object type="Package"><object type="Core"><object type="PU" os_index="3"/></object></object></object></topology>"#;

/// Eight GPUs of two sockets, each with NVLink to one other.
fn pairs_of_gpus() -> String {
    let names: Vec<String> = (0..8).map(|gpu| format!("GPU{gpu}")).collect();
    let link = |a: usize, b: usize| match (a == b, a / 2 == b / 2, a / 4 == b / 4) {
        (true, ..) => "X",
        (_, true, _) => "NV12",
        (_, _, true) => "NODE",
        _ => "SYS",
    };
    let row =
        |a: usize| format!("GPU{a}\t{}\t0-7\n", (0..8).map(|b| link(a, b)).collect::<Vec<_>>().join("\t"));
    format!("\t{}\tCPU Affinity\n{}", names.join("\t"), (0..8).map(row).collect::<String>())
}

#[test]
fn nodes_of_gpus_are_described_by_what_their_tools_print() {
    let all = "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\nGPU0\tX\tNV18\tNV18\tNV18\t0-7\nGPU1\tNV18\tX\tNV18\tNV18\t0-7\n\
               GPU2\tNV18\tNV18\tX\tNV18\t0-7\nGPU3\tNV18\tNV18\tNV18\tX\t0-7\n";
    let path = all.replacen("GPU0\tX\tNV18\tNV18\tNV18", "GPU0\tX\tNV18\tSYS\tNV18", 1);
    let path = path.replacen("GPU2\tNV18", "GPU2\tSYS", 1);
    let folder = folder(&[
        ("hosts", "n1\nn2\nn3\n"),
        ("all", all),
        ("path", &path),
        ("pairs", &pairs_of_gpus()),
        ("torn", "\tGPU0\tCPU Affinity\nGPU0\tNV0\t0\n"),
        ("conf", "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\n"),
    ]);
    let of = |spec: &str, wanted| build(folder.path(), spec, wanted).unwrap();
    let none = MachineSpec::default();
    let same = of("hosts:@hosts,node=@all", none);
    assert_eq!(same.describe(), "3 nodes x 4 GPUs = 4:3, distances 1:36 (assumed)");
    let pairs = of("hosts:@hosts,node=@pairs", none);
    let expected =
        "3 nodes x 2 groups of GPUs x 2 groups of GPUs x 2 GPUs = 2:2:2:3, distances 6:96:144:145 (assumed)";
    assert_eq!(pairs.describe(), expected);
    let given = of("hosts:@hosts,node=@all", none.with_distances("1:9"));
    assert_eq!(given.describe(), "3 nodes x 4 GPUs = 4:3, distances 1:9 (given)");
    // Two kinds of nodes, and switches.
    let mixed = of("hosts:@hosts,node[n2]=@pairs,node=@all,topology=@conf", none);
    assert_eq!(mixed.num_pes(), 16);
    let distances = table(mixed.as_ref());
    // n1 has the GPUs 0 to 3, n2 4 to 11, n3 12 to 15.
    let found =
        [(0, 3), (4, 5), (4, 6), (4, 8), (0, 4), (0, 12)].map(|(p, q): (usize, usize)| distances[p][q]);
    assert_eq!(found, [4, 6, 96, 144, 145, 288]);
    let nodes = Nodes::of(mixed.as_ref());
    let site = nodes.site(9);
    assert_eq!((site.host, site.gpus), ("n2", &[5][..]));
    // Messages name what hosts of GPUs have.
    let error = build(folder.path(), "hosts:@hosts,node=@all,ranks=5", none).err().unwrap();
    says(error, "n1 has 4 GPUs, but 5 ranks");
    let has_gpus = |machine: &dyn Machine, pe| !Nodes::of(machine).site(pe).gpus.is_empty();
    assert!([&same, &mixed].iter().all(|machine| (0..12).all(|pe| has_gpus(machine.as_ref(), pe))));
    assert!(!has_gpus(of("hosts:@hosts,node=4", none).as_ref(), 0));
    // Links that are no tree are reported.
    let notes = |spec: &str| {
        of(spec, none).audited().unwrap().notes().iter().map(|note| note.text.clone()).collect::<String>()
    };
    says(notes("hosts:@hosts,node=@path"), "are no tree: 1 pairs of GPUs");
    assert!(!notes("hosts:@hosts,node=@pairs").contains("no tree"));
    says(build(folder.path(), "hosts:@hosts,node=@torn", none).err().unwrap(), "torn, line 2, column 6");
}

/// A node of hwloc with NUMA nodes of this many cores of two threads, and the addresses of the GPUs on each.
fn node_of_gpus(cores: u32, numa: &[&[&str]]) -> String {
    let total = cores * numa.len() as u32;
    let mut text = "<topology version=\"2.0\"><object type=\"Machine\"><object type=\"Package\">".to_owned();
    for (number, gpus) in (0u32..).zip(numa) {
        text += "<object type=\"Group\"><object type=\"NUMANode\"/>";
        for core in cores * number..cores * (number + 1) {
            text += &format!(
                "<object type=\"Core\"><object type=\"PU\" os_index=\"{core}\"/><object type=\"PU\" os_index=\"{}\"/></object>",
                core + total
            );
        }
        for gpu in *gpus {
            let address = if gpu.is_empty() { String::new() } else { format!("pci_busid=\"{gpu}\"") };
            text += &format!(
                "<object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"PCIDev\" {address} pci_type=\"0302\"/></object>"
            );
        }
        text += "</object>";
    }
    text + "</object></object></topology>"
}

/// A table of `nvidia-smi` in which GPUs are linked by their NUMA nodes alone, with these CPUs near each.
fn table_of_gpus(numa_of: &[usize], cpus_of: &[&str]) -> String {
    let count = numa_of.len();
    let names: Vec<String> = (0..count).map(|gpu| format!("GPU{gpu}")).collect();
    let mut text = format!("\t{}\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n", names.join("\t"));
    for gpu in 0..count {
        let link = |other| match (gpu == other, numa_of[gpu] == numa_of[other]) {
            (true, _) => " X ",
            (_, true) => "NODE",
            (_, false) => "SYS",
        };
        let links: Vec<&str> = (0..count).map(link).collect();
        let numa = numa_of[gpu];
        text += &format!("{}\t{}\t{}\t{numa}\t\tN/A\n", names[gpu], links.join("\t"), cpus_of[numa]);
    }
    text
}

/// A file of hwloc and a table of `nvidia-smi` about the same node give GPUs the same numbers, distances and CPUs, whatever the order of
/// the file.
#[test]
fn gpus_have_the_numbers_of_their_bus_addresses() {
    let lumi: [&[&str]; 4] = [
        &["0000:d1:00.0", "0000:d6:00.0"],
        &["0000:c9:00.0", "0000:ce:00.0"],
        &["0000:d9:00.0", "0000:de:00.0"],
        &["0000:c1:00.0", "0000:c6:00.0"],
    ];
    let two: [&[&str]; 2] = [&["0000:e1:00.0"], &["0000:25:00.0"]];
    let near = ["0-3,16-19", "4-7,20-23", "8-11,24-27", "12-15,28-31"];
    let folder = folder(&[
        ("hosts", "n1\nn2\n"),
        ("lumi.xml", &node_of_gpus(4, &lumi)),
        ("lumi.txt", &table_of_gpus(&[3, 3, 1, 1, 0, 0, 2, 2], &near)),
        ("two.xml", &node_of_gpus(2, &two)),
        ("two.txt", &table_of_gpus(&[1, 0], &["0-1,4-5", "2-3,6-7"])),
    ]);
    let of = |spec: &str| build(folder.path(), spec, MachineSpec::default().with_pe(PeKind::Gpu)).unwrap();
    // By number.
    let eight: [&[u32]; 8] = [
        &[12, 13, 28, 29],
        &[14, 15, 30, 31],
        &[4, 5, 20, 21],
        &[6, 7, 22, 23],
        &[0, 1, 16, 17],
        &[2, 3, 18, 19],
        &[8, 9, 24, 25],
        &[10, 11, 26, 27],
    ];
    let both: [&[u32]; 2] = [&[2, 3, 6, 7], &[0, 1, 4, 5]];
    for (name, cpus) in [("lumi", eight.as_slice()), ("two", both.as_slice())] {
        let by_hwloc = of(&format!("hosts:@hosts,node=@{name}.xml"));
        let by_table = of(&format!("hosts:@hosts,node=@{name}.txt"));
        assert_eq!(table(by_hwloc.as_ref()), table(by_table.as_ref()), "{name}");
        for machine in [&by_hwloc, &by_table] {
            let nodes = Nodes::of(machine.as_ref());
            assert_eq!(nodes.num_pes(), 2 * cpus.len());
            for site in (0..nodes.num_pes() as PeId).map(|pe| nodes.site(pe)) {
                assert_eq!(site.cpus, cpus[site.gpus[0] as usize], "{name}: GPU {:?}", site.gpus);
            }
        }
        // Cores are numbered in their package, of which there is one.
        let nodes = Nodes::of(by_hwloc.as_ref());
        let site = nodes.site(0);
        assert_eq!((site.gpus, site.cores), (&[0][..], &[CoreRange::new(0, cpus[0][0], 2)][..]), "{name}");
        assert!(Nodes::of(by_table.as_ref()).site(0).cores.is_empty());
    }
}

/// Domain, bus, device and function count as hexadecimal numbers; what has no address is behind, in the order of the file.
#[test]
fn addresses_are_compared_as_numbers() {
    let order = [
        "0000:9:00.0",
        "0000:0a:00.0",
        "0000:10:02.1",
        "0000:10:0a.0",
        "0000:10:10.0",
        "0000:10:10.1",
        "0001:01:00.0",
        "10000:01:00.0",
        "",
        "nonsense",
    ];
    let mut rng = Rng::new(3);
    for _ in 0..20 {
        let mut places: Vec<usize> = (0..order.len()).collect();
        rng.shuffle(&mut places);
        // Those without an address keep their order.
        let (last, before) =
            (places.iter().position(|&gpu| gpu == 9), places.iter().position(|&gpu| gpu == 8));
        if last < before {
            places.swap(last.unwrap(), before.unwrap());
        }
        let names: Vec<[&str; 1]> = places.iter().map(|&gpu| [order[gpu]]).collect();
        let numa: Vec<&[&str]> = names.iter().map(|name| name.as_slice()).collect();
        let folder = folder(&[("hosts", "n1\n"), ("node.xml", &node_of_gpus(1, &numa))]);
        let wanted = MachineSpec::default().with_pe(PeKind::Gpu);
        let machine = build(folder.path(), "hosts:@hosts,node=@node.xml", wanted).unwrap();
        let nodes = Nodes::of(machine.as_ref());
        for site in (0..10).map(|pe| nodes.site(pe)) {
            // The core beside a GPU shows where it is.
            assert_eq!(places[site.cpus[0] as usize], site.gpus[0] as usize, "{places:?}");
        }
    }
}

#[test]
fn what_is_near_gpus_is_known_or_not() {
    let row = |gpu: usize, affinity: &str| {
        let links = [" X \tSYS", "SYS\t X "][gpu];
        format!("GPU{gpu}\t{links}\t{affinity}\n")
    };
    let header = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n";
    let text = |first: &str, second: &str| header.to_owned() + &row(0, first) + &row(1, second);
    let none =
        "<topology><object type=\"Machine\"><object type=\"PCIDev\" pci_type=\"0302\"/></object></topology>";
    let all: [&[&str]; 1] = [&["0000:01:00.0", "0000:02:00.0", "0000:03:00.0"]];
    let folder = folder(&[
        ("hosts", "n1\n"),
        ("none.xml", none),
        ("all.xml", &node_of_gpus(4, &all)),
        ("known", &text("0-15\t0", "16-31\t1")),
        ("shared", &text("0-7,16-23\t0-1", "0-7,16-23\t0-1")),
        ("half", &text("N/A\tN/A", "16-31\t1")),
        ("odd", &text("0-x\t0", "5-3\t1")),
        ("blank", &text("\t0", "\t1")),
        ("large", &text("0-99999999\t0", "0,4294967296\t1")),
        ("one", "\tGPU0\tCPU Affinity\nGPU0\t X \t4,2\n"),
    ]);
    let near = |node: &str, gpus: usize| -> Vec<(Vec<u32>, Vec<u32>)> {
        let wanted = MachineSpec::default().with_pe(PeKind::Gpu);
        let machine =
            build(folder.path(), &format!("hosts:@hosts,node={node},ranks={gpus}"), wanted).unwrap();
        let nodes = Nodes::of(machine.as_ref());
        (0..nodes.num_pes() as PeId)
            .map(|pe| (nodes.site(pe).gpus.to_vec(), nodes.site(pe).cpus.to_vec()))
            .collect()
    };
    let range = |first: u32, last: u32| (first..=last).collect::<Vec<u32>>();
    assert_eq!(near("@known", 2), [(vec![0], range(0, 15)), (vec![1], range(16, 31))]);
    let halves = [[range(0, 3), range(16, 19)].concat(), [range(4, 7), range(20, 23)].concat()];
    assert_eq!(near("@shared", 2), [(vec![0], halves[0].clone()), (vec![1], halves[1].clone())]);
    // A rank with both GPUs.
    assert_eq!(near("@shared", 1), [(vec![0, 1], [range(0, 7), range(16, 23)].concat())]);
    assert_eq!(near("@half", 2), [(vec![0], vec![]), (vec![1], range(16, 31))]);
    for unknown in ["@odd", "@blank", "@large", "2"] {
        assert_eq!(near(unknown, 2), [(vec![0], vec![]), (vec![1], vec![])], "{unknown}");
    }
    assert_eq!(near("@one", 1), [(vec![0], vec![2, 4])]);
    assert_eq!(near("@none.xml", 1), [(vec![0], vec![])]);
    // Four cores for three GPUs.
    assert_eq!(
        near("@all.xml", 3),
        [(vec![0], vec![0, 4]), (vec![1], vec![1, 5]), (vec![2], vec![2, 3, 6, 7])]
    );
}

#[test]
fn gpus_that_are_far_from_their_network_adapter_are_farther_from_other_nodes() {
    let row = |gpu: usize| {
        let links: Vec<&str> = (0..4).map(|other| if other == gpu { "X" } else { "NV18" }).collect();
        let adapters = ["SYS\tSYS", "SYS\tSYS", "NODE\tSYS", "PIX\tPHB"][gpu];
        format!("GPU{gpu}\t{}\t{adapters}\t0-7\n", links.join("\t"))
    };
    let header = "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tmlx5_1\tCPU Affinity\n";
    let folder = folder(&[
        ("hosts", "n1\nn2\nn3\n"),
        ("gpus", &(header.to_owned() + &(0..4).map(row).collect::<String>())),
        ("conf", "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n3\n"),
        ("one", "n1\n"),
        ("lat", "n1 n2 n3\n0 1 2\n1 0 2\n2 2 0\n"),
    ]);
    let of = |spec: &str, wanted| build(folder.path(), spec, wanted).unwrap();
    let none = MachineSpec::default();
    // GPUs 0, 1, 2 and 3 of a node are 18, 18, 6 and 0 from its network.
    let farther = [18, 18, 6, 0];
    let check = |machine: &dyn Machine, between: &[[Distance; 3]; 3]| {
        let distances = table(machine);
        for (p, q) in (0..12).flat_map(|p| (0..12).map(move |q| (p, q))) {
            let expected = match (p / 4, q / 4) {
                (a, b) if a == b => Distance::from(p != q),
                (a, b) => between[a][b] + farther[p % 4] + farther[q % 4],
            };
            assert_eq!(distances[p][q], expected, "{p} {q} of {}", machine.describe());
        }
        check_outline(machine, &mut Rng::new(5));
    };
    let flat = of("hosts:@hosts,node=@gpus", none);
    let expected = "3 nodes x 4 GPUs = 4:3, distances 1:36 (assumed), and up to 18 more from each GPU to other nodes, by its \
                    distance from a network adapter";
    assert_eq!(flat.describe(), expected);
    check(flat.as_ref(), &[[36; 3]; 3]);
    assert!(matches!(flat.interconnect(), Interconnect::Tree(_)) && flat.hierarchy().is_none());
    let switched = of("hosts:@hosts,node=@gpus,topology=@conf", none);
    check(switched.as_ref(), &[[36, 36, 72], [36, 36, 72], [72; 3]]);
    // Ranks of two GPUs are at the nearer one.
    let pairs = table(of("hosts:@hosts,node=@gpus,ranks=2", none).as_ref());
    assert_eq!([pairs[0][2], pairs[0][3], pairs[1][3]], [36 + 36, 36 + 18, 36]);
    // Measured latencies are between nodes, whose adapters they pass.
    let latency = folder.path().join("lat");
    let measured = of("hosts:@hosts,node=@gpus", none.with_latency(latency.as_path()));
    let distances = table(measured.as_ref());
    assert_eq!([distances[3][7], distances[3][11], distances[0][4]], [720, 1440, 720 + 2 * 360]);
    check_outline(measured.as_ref(), &mut Rng::new(6));
    // One node has no network to be far from, and distances that are given are those of all PEs.
    assert_eq!(of("hosts:@one,node=@gpus", none).describe(), "4 GPUs = 4, distances 1 (assumed)");
    let given = of("hosts:@hosts,node=@gpus", none.with_distances("1:9"));
    assert_eq!(given.describe(), "3 nodes x 4 GPUs = 4:3, distances 1:9 (given)");
    let notes = given.audited().unwrap().notes();
    assert!(notes.iter().any(|note| note.text.contains("left out, since distances are given")), "{notes:?}");
}

#[test]
fn specifications_of_clusters() {
    let folder = folder(&[
        ("hosts", "n1 slots=4\nn2 slots=4\n"),
        ("plain", "n1\nn2\n"),
        ("uneven", "n1:3\nn2:1\n"),
        ("node.xml", XML),
        ("lat", "n2 n1\n0 3\n5 0\n"),
        ("conf", "SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n2\n"),
        ("addresses", "s0.s1.n1\ns0.s2.n2\n"),
        ("lists", "n[1-2] slots=4\n"),
        ("lsf", "n1 4 n2 4\n"),
        ("sge", "n1.site 4 all.q@n1 UNDEFINED\nn2.site 4 all.q@n2 <NULL>\n"),
        ("full", "n1.site.example\nn2.site.example\n"),
        (
            "printed",
            "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-2] Switches=s[1-2]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=n1\nSwitchName=s2 Level=0 LinkSpeed=1 Nodes=n2\n",
        ),
        ("blanks", "SwitchName = s1 Nodes = n1\nSwitchName = s2 Nodes = n2\n"),
    ]);
    let describe = |spec: &str, wanted| build(folder.path(), spec, wanted).unwrap().describe();
    // Distances that were not given, behind a comma.
    let cases = [
        ("hosts:@hosts", "2 nodes x 4 cores = 4:2, 1:30"),
        ("hosts:@hosts,node=4:2", "2 nodes x 2 sockets x 2 cores = 2:2:2, 1:3:30"),
        ("hosts:@plain,node=4:2", "2 nodes x 2 sockets x 4 cores = 4:2:2, 1:3:30"),
        ("hosts:@plain,node=pack:2 core:4", "2 nodes x 2 sockets x 4 cores = 4:2:2, 1:3:30"),
        ("hosts:@uneven", "2 nodes, 4 cores, uneven, 1:30 of cores:nodes"),
        ("hwloc:@node.xml", "2 sockets, 3 cores, uneven, 1:3 of cores:sockets"),
        (
            "hwloc:@node.xml,hosts=@plain",
            "2 nodes, 4 sockets, 6 cores, uneven, 1:3:30 of cores:sockets:nodes",
        ),
        ("hwloc:pack:3 core:2 pu:1", "3 sockets x 2 cores = 2:3, 1:3"),
        ("hosts:@plain,node=8,topology=@conf", "2 switches x 8 cores = 8:2, 1:60"),
        ("hosts:@plain,node=8,topology=@addresses", "2 switches x 8 cores = 8:2, 1:60"),
        ("hosts:@plain,node=8,topology=none", "2 nodes x 8 cores = 8:2, 1:30"),
        ("hosts:@hosts,node=8:2", "2 nodes x 2 sockets x 2 cores = 2:2:2, 1:3:30"),
        ("hosts:@hosts,ranks=2", "2 nodes x 2 cores = 2:2, 1:30"),
        ("hosts:@hosts,cores=2", "2 nodes x 2 cores = 2:2, 1:30"),
        ("hosts:@hosts,node=8:2,cores=8", "2 nodes x 2 sockets = 2:2, 1:10"),
        ("hosts:@hosts,node=8:2,cores=2", "2 nodes x 2 sockets x 2 cores = 2:2:2, 1:3:30"),
        ("hosts:@hosts,node=8:2,ranks=2", "2 nodes x 2 sockets = 2:2, 1:10"),
        ("hosts:@plain,node=8:2,cores=4", "2 nodes x 2 sockets x 2 cores = 2:2:2, 1:3:30"),
        (
            "hosts:@plain,node=8:2,ranks=4,2,cores=2",
            "2 nodes, 4 sockets, 6 cores, uneven, 1:3:30 of cores:sockets:nodes",
        ),
        (
            "hosts:@plain,node[n1]=8,node=4:2",
            "2 nodes, 3 sockets, 16 cores, uneven, 1:3:30 of cores:sockets:nodes",
        ),
        ("hosts:@plain,node[n1]=8,node[n*]=8", "2 nodes x 8 cores = 8:2, 1:30"),
        ("hosts:@uneven,node[n2]=2:1", "2 nodes, 4 cores, uneven, 1:30 of cores:nodes"),
        ("hwloc:core:4,hosts=@plain,node[n2]=core:2", "2 nodes, 6 cores, uneven, 1:30 of cores:nodes"),
        ("hwloc:pack:2 core:4,ranks=2", "2 sockets = 2, 1"),
        ("hosts:@lists", "2 nodes x 4 cores = 4:2, 1:30"),
        ("hosts:@lsf", "2 nodes x 4 cores = 4:2, 1:30"),
        ("hosts:@sge", "2 nodes x 4 cores = 4:2, 1:30"),
        ("hosts:@full,node=8,topology=@conf", "2 switches x 8 cores = 8:2, 1:60"),
        ("hosts:@full,node=8,topology=@addresses", "2 switches x 8 cores = 8:2, 1:60"),
        ("hosts:@plain,node=8,topology=@printed", "2 switches x 8 cores = 8:2, 1:60"),
        ("hosts:@plain,node=8,topology=@blanks", "2 switches x 8 cores = 8:2, 1:60"),
    ];
    for (spec, expected) in cases {
        let (shape, distances) = expected.rsplit_once(", ").unwrap();
        let expected = format!("{shape}, distances {distances} (assumed)");
        assert_eq!(describe(spec, MachineSpec::default()), expected, "{spec}");
    }
    let given = describe("hosts:@plain,node=4:2", MachineSpec::default().with_distances("2:7:70"));
    assert_eq!(given, "2 nodes x 2 sockets x 4 cores = 4:2:2, distances 2:7:70 (given)");
    let threads = describe("hwloc:pack:2 core:2 pu:2", MachineSpec::default().with_pe(PeKind::Thread));
    let expected = "2 sockets x 2 cores x 2 hardware threads = 2:2:2, distances 1:2:6 (assumed)";
    assert_eq!(threads, expected);
    let (lat, machine_of) =
        (folder.path().join("lat"), |wanted| build(folder.path(), "hosts:@plain,node=2:2", wanted).unwrap());
    let measured = machine_of(MachineSpec::default().with_latency(lat.as_path()));
    assert_eq!(
        measured.describe(),
        "2 nodes x 2 sockets x 2 cores, distances 10:30 inside a node (assumed), 300 to 300 between nodes (latencies, the least is 4)"
    );
    let full =
        build(folder.path(), "hosts:@full,node=2:2", MachineSpec::default().with_latency(lat.as_path()))
            .unwrap();
    assert_eq!(full.describe(), measured.describe());
    let scaled = machine_of(MachineSpec::default().with_latency(lat.as_path()).with_distances("1:2:9"));
    assert_eq!(table(scaled.as_ref())[0][4], 9);
}

#[test]
fn parts_of_clusters_keep_their_hosts() {
    let folder = folder(&[("plain", "a\nb\nc\n")]);
    let some = MachineSpec::default().with_pes("11,4-5");
    let machine = build(folder.path(), "hosts:@plain,node=2:2", some).unwrap();
    let sites = Nodes::of(&machine);
    assert_eq!(sites.hosts(), ["b", "c"]);
    let found: Vec<_> =
        (0..3).map(|pe| (sites.site(pe).host, sites.site(pe).package(), sites.site(pe).cpus[0])).collect();
    assert_eq!(found, [("c", 1, 3), ("b", 0, 0), ("b", 0, 1)]);
}

#[test]
fn likely_mistakes_cause_warnings() {
    let folder = folder(&[("plain", "a\nb\nc\n")]);
    let warnings = |spec: &str, distances: Option<&'static str>| {
        let machine = build(folder.path(), spec, MachineSpec::default().with_distances(distances)).unwrap();
        let notes = machine.audited().unwrap().notes().into_iter();
        notes.filter(|note| note.is_warning).map(|note| note.text).collect::<Vec<_>>()
    };
    assert!(warnings("hosts:@plain,node=16:2", None).is_empty());
    assert!(warnings("hosts:@plain,node=2:16", None)[0].contains("it is 16:2"));
    assert!(warnings("hosts:@plain,node=16:2", Some("30:3:1"))[0].contains("fall from the inside out"));
}

/// Spec, options, and the expected message.
type Refusal<'a> = (&'a str, MachineSpec<'a>, &'a str);

/// A machine of hwloc with PUs of these numbers.
fn with_pus(attributes: &str, numbers: &[&str]) -> String {
    let pu = |number: &&str| format!("<object type=\"PU\" os_index=\"{number}\"/>");
    let pus: String = numbers.iter().map(pu).collect();
    format!("<topology><object type=\"Machine\"{attributes}>{pus}</object></topology>")
}

#[test]
fn errors_say_what_to_do() {
    let folder = folder(&[
        ("hosts", "n1 slots=4\nn2 slots=4\n"),
        ("plain", "n1\nn2\n"),
        ("twice", "n1\nn2\n"),
        ("torn", &XML[..300]),
        ("other.xml", "<html/>"),
        ("empty.xml", "<topology version=\"2.0\"><object type=\"Machine\"/></topology>"),
        ("none.xml", &with_pus(" allowed_cpuset=\"0x0\"", &["0"])),
        ("pus.xml", &with_pus("", &["0", "0"])),
        ("pu.xml", &with_pus("", &["x"])),
        ("conf", "SwitchName=s1 Nodes=n[1-\n"),
        ("other", "SwitchName=s1 Nodes=n1\n"),
        ("short", "0 1\n1 0\n1 1\n"),
        ("three", "0 1 1\n1 0 1\n1 1 0\n"),
        ("names", "n1 n3\n0 1\n1 0\n"),
        ("domains", "SwitchName=s1 Nodes=n1.a,n1.b,n2\n"),
        ("bare", "SwitchName=s1 Nodes=n1\n"),
        ("both", "n1.a\nn1.b\n"),
        ("fabric", "Switch 4 \"S-1\" # \"a\"\n[1] \"S-2\"[1]\n[2] S-3\n"),
    ]);
    let path = |name: &str| folder.path().join(name);
    let none = MachineSpec::default();
    let (short, three, names) = (path("short"), path("three"), path("names"));
    let given = |distances: &'static str| none.with_distances(distances);
    let cases: Vec<Refusal<'_>> = vec![
        ("hosts:@plain", none, "node=16:2"),
        ("hosts:@missing", none, "cannot be read"),
        ("hosts:@hosts,node=2", none, "has 4 slots, but the node described has 2 cores"),
        ("hosts:@hosts,node=@torn", none, "line"),
        ("hwloc:@other.xml", none, "not of hwloc"),
        ("hwloc:@empty.xml", none, "no PU"),
        ("hwloc:@none.xml", none, "no PU"),
        ("hwloc:@pus.xml", none, "PU 0 is in the machine twice"),
        ("hwloc:@pu.xml", none, "os_index"),
        ("hwloc:@plain", none, "cannot be read as XML"),
        ("hwloc:pack:2 what:3", none, "no such kind"),
        ("hwloc:core:2 pack:2", none, "innermost first"),
        ("hosts:@plain,node=0:2", none, "not a whole number"),
        ("hosts:@plain,node=1000:1000", none, "more than"),
        ("hosts:@plain,node=8,topology=@conf", none, "line 1"),
        ("hosts:@plain,node=8,topology=@other", none, "host n2 is not in the topology"),
        ("hosts:@plain,node=8,topology=@plain", none, "no topology of Slurm"),
        ("hosts:@plain,node=8,topology=@domains", none, "host n1 could be n1.a or n1.b"),
        ("hosts:@both,node=8,topology=@bare", none, "host n1 could be n1.a or n1.b"),
        ("hosts:@plain,node=8,topology=@fabric", none, "fabric, line 3, column 1: a node is in quotes"),
        ("hosts:@plain,node=8:2", given("1:2"), "needs 3 distances, innermost first (cores:sockets:nodes)"),
        ("hosts:@plain,node=8:2", given("1:x:2"), "whole number"),
        ("hosts:@plain,node=8:2", none.with_latency(&*short), "rows"),
        ("hosts:@plain,node=8:2", none.with_latency(&*three), "3 hosts"),
        ("hosts:@plain,node=8:2", none.with_latency(&*names), "host n2 has no row"),
        ("4:4", given("1:2").with_pe(PeKind::Thread), "`pe` is for clusters"),
        ("torus:4x4", none.with_latency(&*three), "`latency` is for clusters"),
        ("slurm:what=1", none, "no option of slurm"),
        ("hosts:@plain,node=8:2,ranks=0", none, "`0` is no number of ranks"),
        ("hosts:@plain,node=8:2,ranks=four", none, "`four` is no number of ranks"),
        ("hosts:@plain,node=8:2,ranks=2,2,2", none, "ranks=2,2,2 has numbers of 3 nodes, but the job has 2"),
        ("hosts:@plain,node=8:2,cores=0", none, "`0` is no number of cores"),
        ("hosts:@plain,node=8:2,ranks=17", none, "host n1 has 16 cores, but 17 ranks of 1 need 17"),
        ("hosts:@plain,node=8:2,ranks=4,cores=5", none, "4 ranks of 5 need 20"),
        ("hosts:@plain,node=8:2,cores=17", none, "fits no node"),
        ("hosts:@plain,node[n1]=8:2", none, "host n2 is described by nothing"),
        ("hosts:@plain,node[x*]=8:2,node=8", none, "no host is named by node[x*]="),
        ("hosts:@plain,node[n[1-]]=8:2,node=8", none, "a bracket holds numbers"),
        ("hosts:@hosts,node[n2]=2,node=8", none, "host n2 has 4 slots, but the node described has 2 cores"),
        ("hwloc:core:4,hosts=@plain,node=core:2", none, "`node=core:2` is no option of hwloc"),
        ("hwloc:core:4,node[n1]=core:2", none, "no host is named by node[n1]="),
    ];
    for (spec, wanted, expected) in cases {
        let error = build(folder.path(), spec, wanted).err().unwrap_or_else(|| panic!("{spec} is accepted"));
        assert!(error.to_string().contains(expected), "{spec}: {error}");
    }
}

#[test]
fn truncated_files_are_errors_and_do_not_panic() {
    let topologies = [
        "SwitchName=s0 Nodes=n[0-1]\nSwitchName=top Switches=s[0-0]\n",
        "BlockName=b1 Nodes=n[0-1]\nBlockSizes=2,4\n",
        "- topology: a\n  tree:\n    switches:\n    - switch: s\n      nodes: n[1-4]\n",
        "- topology: a\n  torus3d:\n    toruses:\n    - dims: {x: 2, y: 1, z: 1}\n      nodes: n[1-2]\n",
        "top.s0.n0\ntop.s0.n1\n",
        FABRIC,
        "BlockName=b1 BlockIndex=0 Nodes=c[1-2] BlockSize=2\nAggregatedBlock=b1 BlockIndex=2 Nodes=c[1-4] BlockSize=4\n",
        "SwitchName = s0 Level=0 Nodes = n[0-1]\nSwitchName=top Level=1 Nodes=n[0-1] Switches=s[0-0]\n",
        "- topology: a\n  torus3d:\n    toruses:\n    - dims: {x: 2, y: 2, z: 1}\n      regions:\n      - {anchor: {x: 1}, dims: {x: 1, y: 2, z: 1}, nodes: 'n[1-2]'}\n",
    ];
    for text in topologies {
        assert!(topology::read(Source::new("whole", text.as_bytes()).unwrap()).is_ok(), "{text}");
        for end in 0..text.len() {
            let torn = topology::read(Source::new("torn", &text.as_bytes()[..end]).unwrap());
            assert!(matches!(torn, Ok(_) | Err(ReadError::Invalid { .. })));
        }
    }
    assert!(hwloc::read(Source::new("whole", XML.as_bytes()).unwrap()).is_ok());
    for end in 0..XML.len() {
        let torn = hwloc::read(Source::new("torn", &XML.as_bytes()[..end]).unwrap());
        assert!(matches!(torn, Err(ReadError::Invalid { .. })), "{}", &XML[..end]);
    }
}

/// Files of all kinds that describe clusters.
const SAMPLES: [&str; 20] = [
    XML,
    FABRIC,
    "nid[000123-000126] slots=2\nn[1-4]:2,gpu1 # b\n",
    "hostA 4 hostB 2\nn1 4 all.q@n1 UNDEFINED\n",
    "node   0   1 \n  0:  10  21 \n  1:  21  10 \n",
    "Domain: 0\nDistances: 10 21\nDomain: 1\nDistances: 21 10\n",
    "Relative latency matrix between 2 NUMANodes (depth 2) by logical indexes:\n index 0 1\n 0 1.000 2.100\n 1 2.100 1.000\n",
    "BlockName=b1 BlockIndex=0 Nodes=n[0-1] BlockSize=2\nBlockName = b2 Nodes = n2 BlockSize=2\nAggregatedBlock=b[1-2] Nodes=n[0-2] BlockSize=4\n",
    "- topology: a\n  torus3d:\n    toruses:\n    - dims: {x: 2, y: 2, z: 1}\n      regions:\n      - {anchor: {x: 1}, dims: {x: 1, y: 2, z: 1}, nodes: 'n[0-2]'}\n",
    "n[01-04,7],gpu1,r[0-1]n[0-3]",
    "2(x4),3",
    "n1 slots=4\nn2 slots = 4 max_slots=8 # b\nn3:4 binding=rr\nn3\n",
    "pack:2 numa:4(memory=1GB) [numa] core:16 pu:1",
    "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3] LinkSpeed=1\nSwitchName=top \\\n Switches=s[0-1]\n",
    "BlockName=b1 Nodes=n[0-1]\nBlockName=b2 Nodes=n[2-3]\nBlockSizes=2,4\n",
    "- topology: a\n  cluster_default: true\n  tree:\n    switches:\n    - switch: \"s\"\n      nodes: n[1-4]\n    - switch: t\n      children: s\n",
    "- topology: a\n  torus3d:\n    toruses:\n    - dims: {x: 2, y: 2, z: 1}\n      nodes: [n1, 'n[2-4]']\n",
    "top.s0.n0\ntop.s0.n1\ntop.s1.n2\n",
    "n1 n2 n3\n0 1.5 4\n1.5 0 3e2\n4 3 0\n",
    "<topology><object type=\"Machine\" allowed_cpuset=\"0xf...f,0x3\"><object type=\"Cache\" depth=\"3\"><object type=\"PU\" os_index=\"1\"/></object></object></topology>",
];

/// Characters with a meaning in these files.
const SIGNS: &[u8] = b"[](){}:,;=-.x\n\t \"'#<>/0";

/// A sample with some bytes changed, removed, repeated, or taken from another sample.
fn mutated(rng: &mut Rng) -> Vec<u8> {
    let sample = |rng: &mut Rng| SAMPLES[rng.below(SAMPLES.len() as u32) as usize].as_bytes();
    let mut bytes = sample(rng).to_vec();
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(bytes.len() as u32 + 1) as usize;
        let end = (at + rng.below(12) as usize).min(bytes.len());
        let other = sample(rng);
        let from = rng.below(other.len() as u32) as usize;
        let taken = &other[from..(from + rng.below(12) as usize).min(other.len())];
        let piece: Vec<u8> = match rng.below(6) {
            0 => Vec::new(),
            1 => vec![SIGNS[rng.below(SIGNS.len() as u32) as usize]],
            2 => bytes[at..end].repeat(2),
            3 => taken.to_vec(),
            4 => b"99999999999".to_vec(),
            _ => vec![rng.below(256) as u8],
        };
        bytes.splice(at..end, piece);
    }
    bytes
}

/// An error message without a panic, or a valid result.
fn checked<T>(result: Result<T, ReadError>) -> Option<T> {
    if let Err(error) = &result {
        assert!(error.to_string().starts_with("test, line "), "{error}");
    }
    result.ok()
}

#[test]
fn damaged_files_are_read_or_rejected_with_line_and_column() {
    let mut rng = Rng::new(11);
    for _ in 0..6000 {
        let bytes = mutated(&mut rng);
        let (text, source) =
            (String::from_utf8_lossy(&bytes), || Source::new("test", bytes.as_slice()).unwrap());
        checked(hostlist::read("test", &text));
        checked(hostlist::read_counts("test", &text));
        checked(hostfile::read(source()));
        checked(latency::read(source()));
        checked(numa::read(source()));
        let read = checked(topology::read(source()));
        for node in
            [checked(hwloc::read(source())), checked(synthetic::read("test", &text))].into_iter().flatten()
        {
            for unit in [Unit::Core, Unit::Pu] {
                let cluster = Cluster::new(ClusterSpec { unit, ..draft(nodes(2), vec![node.clone()]) });
                assert!(cluster.is_ok_and(|cluster| cluster.num_pes() >= 2));
            }
        }
        if let Some(topology) = read {
            // Nodes may be missing, but nothing else fails.
            let cluster = pairs_of_cores(3, topology);
            let is_lost =
                matches!(cluster, Err(ClusterError::NotInTopology { .. } | ClusterError::UnclearHost(_)));
            assert!(cluster.is_ok() || is_lost);
        }
    }
}
