//! A pointer to a machine gives the answers of the machine, for every method of every trait.

use std::sync::Arc;

use viem::base::types::PeId;
use viem::machine::{
    Audited, Capacities, DistanceMatrix, DistanceOracle, Distances, Divided, Division, Hierarchy, Hypercube,
    Interconnect, Listed, Located, Location, Machine, MachineError, Nodes, Note, Parts, SlurmJob,
};

/// A machine none of whose answers is that of a default.
struct Probe(Hierarchy, SlurmJob);

impl Probe {
    fn new() -> Self {
        let job = SlurmJob { het_group: Some(61), ..SlurmJob::default() };
        Self(Hierarchy::parse("2:3", "7:11").unwrap(), job)
    }
}

impl Machine for Probe {
    fn num_pes(&self) -> usize {
        5
    }
    fn distances(&self) -> Result<Distances, MachineError> {
        DistanceMatrix::from_fn(5, |_, _| 13)?.distances()
    }
    fn division(&self) -> Division {
        Division::Parts(Parts::whole(vec![4, 2, 0, 1, 3]))
    }
    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        DistanceMatrix::from_fn(list.len(), |_, _| 53)?.distances()
    }
    fn division_among(&self, list: &[PeId]) -> Division {
        Division::Parts(Parts::whole(list.iter().map(|&pe| 3 - pe).collect()))
    }
    fn compact_pes(&self, least: usize) -> Option<Vec<PeId>> {
        Some(vec![59; least])
    }
    fn interconnect(&self) -> Interconnect {
        Interconnect::Tree(self.0.clone())
    }
    fn capacity(&self, pe: PeId) -> u32 {
        17 + pe
    }
    fn capacities(&self) -> Vec<u32> {
        vec![8, 9]
    }
    fn room(&self) -> u64 {
        19
    }
    fn first_pes(&self, least: usize) -> Option<Box<dyn Machine>> {
        Some(Box::new(Hierarchy::parse(&least.to_string(), "1").unwrap()))
    }
    fn number(&self, pe: PeId) -> PeId {
        23 + pe
    }
    fn whole(&self) -> Option<&dyn Machine> {
        Some(&self.0)
    }
    fn hierarchy(&self) -> Option<&Hierarchy> {
        Some(&self.0)
    }
    fn describe(&self) -> String {
        "probe".to_owned()
    }
    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }
    fn audited(&self) -> Option<&dyn Audited> {
        Some(self)
    }
}

impl Located for Probe {
    fn location(&self, pe: PeId) -> Location {
        Location::new(29, vec![31 + pe]).with_core(37, 41)
    }
    fn host(&self, node: u32) -> Option<&str> {
        (node == 43).then_some("host")
    }
    fn num_nodes(&self) -> Option<u32> {
        Some(47)
    }
    fn slurm_job(&self) -> Option<&SlurmJob> {
        Some(&self.1)
    }
}

impl Audited for Probe {
    fn notes(&self) -> Vec<Note> {
        vec![Note::warning("note")]
    }
    fn outline(&self) -> String {
        "outline".to_owned()
    }
}

/// Returns the answer of each method of a machine, in the order of the trait. Generic, so that the methods called are
/// those of `M` itself.
fn answers<M: Machine>(machine: M) -> Vec<String> {
    vec![
        machine.num_pes().to_string(),
        machine.distances().unwrap().distance(1, 2).to_string(),
        format!("{:?}", machine.division()),
        machine.distances_among(&[1, 2]).unwrap().distance(0, 1).to_string(),
        format!("{:?}", machine.division_among(&[3, 2])),
        format!("{:?}", machine.compact_pes(3)),
        format!("{:?}", machine.interconnect()),
        machine.capacity(3).to_string(),
        format!("{:?}", machine.capacities()),
        machine.room().to_string(),
        machine.first_pes(3).unwrap().describe(),
        machine.number(2).to_string(),
        machine.whole().unwrap().describe(),
        format!("{:?}", machine.hierarchy()),
        machine.describe(),
        locations(machine.located().unwrap()).concat(),
        outlines(machine.audited().unwrap()).concat(),
    ]
}

fn locations<M: Located>(machine: M) -> Vec<String> {
    let host = format!("{:?} {:?}", machine.host(0), machine.host(43));
    let others = [format!("{:?}", machine.num_nodes()), format!("{:?}", machine.slurm_job())];
    [format!("{:?}", machine.location(2)), host].into_iter().chain(others).collect()
}

fn outlines<M: Audited>(machine: M) -> Vec<String> {
    vec![format!("{:?}", machine.notes()), machine.outline()]
}

#[test]
fn pointers_forward_every_method() {
    let probe = answers(Probe::new());
    let wanted = [
        "5",
        "13",
        "[4, 2, 0, 1, 3]",
        "53",
        "[0, 1]",
        "[59, 59, 59]",
        "Tree",
        "20",
        "[8, 9]",
        "19",
        "hierarchy 3",
        "25",
        "hierarchy 2:3",
        "[2, 3]",
        "probe",
        "Some(\"host\")",
        "outline",
    ];
    for (answer, wanted) in probe.iter().zip(wanted) {
        assert!(answer.contains(wanted), "{answer} is not {wanted}");
    }
    let reference = &Probe::new();
    assert_eq!(answers(reference), probe);
    assert_eq!(answers(Box::new(Probe::new())), probe);
    assert_eq!(answers(Arc::new(Probe::new())), probe);
    assert_eq!(answers(&Probe::new() as &dyn Machine), probe);
    assert_eq!(answers(Box::new(Probe::new()) as Box<dyn Machine>), probe);
    assert_eq!(answers(Arc::new(Probe::new()) as Arc<dyn Machine>), probe);

    let located = locations(Probe::new());
    assert_eq!(locations(reference), located);
    assert_eq!(locations(Box::new(Probe::new())), located);
    assert_eq!(locations(Arc::new(Probe::new())), located);

    let outlined = outlines(Probe::new());
    assert_eq!(outlines(reference), outlined);
    assert_eq!(outlines(Box::new(Probe::new())), outlined);
    assert_eq!(outlines(Arc::new(Probe::new())), outlined);
}

/// A method that is added to a trait must be forwarded and compared above.
#[test]
fn every_method_is_compared() {
    let pointers = include_str!("../../../src/machine/pointers.rs");
    let traits = [
        ("Machine", include_str!("../../../src/machine/interface.rs"), answers(Probe::new()).len()),
        ("Located", include_str!("../../../src/machine/located.rs"), locations(Probe::new()).len()),
        ("Audited", include_str!("../../../src/machine/audited.rs"), outlines(Probe::new()).len()),
    ];
    for (name, source, compared) in traits {
        let declared = methods(source, &format!("pub trait {name}"), "\n}");
        assert_eq!(declared.len(), compared, "{name}: {declared:?}");
        let forwarded = methods(pointers, &format!(" {name} for $pointer"), "\n        }\n\n");
        assert_eq!(forwarded, declared, "{name}");
    }
}

/// The names of the methods between a start and the end that follows it.
fn methods<'a>(source: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let block = source.split_once(start).expect("it is there").1;
    let block = block.split(end).next().unwrap_or(block);
    block.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")?.split('(').next()).collect()
}

#[test]
fn machines_around_a_machine_keep_where_its_pes_are() {
    let probe = Probe::new();
    let listed = Listed::new(&probe, vec![4, 1]).unwrap();
    let roomy = Capacities::new(&probe, vec![2; 5]).unwrap();
    let divided = Divided::new(&probe, Parts::whole((0..5).collect())).unwrap();
    let cases: [(&dyn Machine, PeId); 3] = [(&listed, 1), (&roomy, 3), (&divided, 3)];
    for (machine, pe) in cases {
        let located = machine.located().unwrap();
        assert_eq!(located.location(pe), probe.location(pe));
        assert_eq!(located.host(43), Some("host"));
        assert_eq!(machine.audited().unwrap().outline(), "outline");
    }
    // A machine that does not know is its own nodes, also inside of others.
    let cube = Hypercube::new(3).unwrap();
    assert!(cube.located().is_none() && cube.audited().is_none());
    let roomy = Capacities::new(cube, vec![4; 8]).unwrap();
    let nodes = Nodes::of(&Listed::new(roomy, vec![6, 2]).unwrap());
    assert_eq!(nodes.hosts(), ["node2", "node6"]);
    assert_eq!((nodes.site(0).host, nodes.site(0).cpus), ("node6", &[0][..]));
}
