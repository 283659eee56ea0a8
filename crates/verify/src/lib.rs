//! The independent auditor: reads a graph, a machine and a mapping again and recomputes J, and F of
//! workloads, from the definitions.
//!
//! It shares nothing with the library: no reader, no distances, no objective. Numbers are parsed in the
//! simplest way. The distance of two PEs is computed by dividing their ids level by level, by counting hops
//! dimension by dimension, or by a search for the cheapest path. Sums are 128 bits wide. A mistake in the
//! library is therefore not repeated here. The auditor is meant for files that the library has read and
//! written; it rejects malformed files with brief errors.
//!
//! O(n log n + m k) for k levels or dimensions. A network takes a search for each PE with a process, or one
//! for all PEs with a single link to the same vertex, and for F one for each PE that receives. F takes the
//! steps of the workload and, for each of its phases, the hops of its messages.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("viem needs addresses of 64 bits");

mod error;
mod estimate;
mod experts;
mod fixed;
mod machine;
mod migration;
mod number;
mod parhip;
mod partition;
mod qap;
mod routes;
mod text;
mod workload;
mod written;

pub use error::AuditError;
pub use experts::{ExpertAudit, audit_expert_loads, audit_expert_moves, audit_experts};
pub use fixed::{audit_fixed, audit_fixed_objects};
pub use machine::{MachineText, OUTLINE};
pub use migration::{OldText, audit_migration};
pub use parhip::{is_parhip, text_of_parhip};
pub use partition::{PartitionAudit, audit_loads, audit_partition};
pub use qap::audit_qap;

use std::collections::HashMap;

use machine::{Distances, Machine};
use text::{Row, read, read_mapping};

/// J of a mapping `mapping` (line i: PE of process i) of a METIS graph `graph` to the machine with these
/// levels, innermost first. Fails if two processes are on the same PE.
pub fn audit(graph: &str, mapping: &str, arities: &[u64], distances: &[u64]) -> Result<u128, AuditError> {
    audit_with(graph, mapping, &Machine::tree(arities, distances)?)
}

/// J of a mapping `mapping` (line i: PE of process i, which is an index into the list of PEs if there is one)
/// of a METIS graph `graph` to any machine. Fails if a PE has more processes than its capacity.
///
/// ```
/// use viem_verify::{MachineText, audit_on};
///
/// let machine = MachineText { spec: "torus:5", distances: None, file: None, pes: Some("0,4,2"), link_cycles: None };
/// assert_eq!(audit_on("2 1\n2\n1\n", "0\n1\n", &machine), Ok(2));
/// assert_eq!(audit_on("2 1\n2\n1\n", "2\n1\n", &machine), Ok(4));
/// ```
pub fn audit_on(graph: &str, mapping: &str, machine: &MachineText<'_>) -> Result<u128, AuditError> {
    audit_with(graph, mapping, &Machine::read(machine)?)
}

/// A workload as given by the user.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadText<'a> {
    /// The content of its file.
    pub text: &'a str,
    /// The number of tasks per PE, if not the capacity of the machine.
    pub room: Option<u64>,
    /// Cycles of SEND.
    pub send_cycles: u64,
    /// Cycles of RECEIVE.
    pub receive_cycles: u64,
}

/// The costs of a mapping of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkloadAudit {
    /// J: the weight of an edge is the number of flits exchanged.
    pub cost: u128,
    /// F in cycles.
    pub estimate: f64,
}

/// J and F of a mapping `mapping` of a workload.
///
/// ```
/// use viem_verify::{MachineText, WorkloadText, audit_workload_on};
///
/// let machine = MachineText { spec: "torus:5", distances: None, file: None, pes: None, link_cycles: None };
/// let text = "PROCESS 0 REPEAT 3 SEND 1 10 END STOP PROCESS 1 REPEAT 3 RECEIVE 0 10 END STOP";
/// let workload = WorkloadText { text, room: None, send_cycles: 1, receive_cycles: 0 };
/// let audit = audit_workload_on(&workload, "0\n2\n", &machine)?;
/// assert_eq!(audit.cost, 2 * 2 * 3 * 10);
/// // The first message is sent after a cycle. All of them take a cycle longer than between neighbours.
/// assert_eq!(audit.estimate, 1.0 + 3.0 * (10.0 + 1.0));
/// # Ok::<(), viem_verify::AuditError>(())
/// ```
pub fn audit_workload_on(
    workload: &WorkloadText<'_>,
    mapping: &str,
    machine: &MachineText<'_>,
) -> Result<WorkloadAudit, AuditError> {
    let (machine, pe_of) = (Machine::read(machine)?, read_mapping(mapping)?);
    check_room(&pe_of, &machine, workload.room)?;
    let tasks = workload::read(workload.text)?;
    let (lines, processes) = (pe_of.len(), tasks.len());
    if lines != processes {
        return Err(AuditError::Sizes { lines, processes });
    }
    let messages = workload::messages(&tasks)?;
    let mut senders: Vec<_> = messages.chunk_by(|one, next| one.0 == next.0).collect();
    senders.sort_by_key(|sent| machine.origin(pe_of[sent[0].0]));
    let (mut cost, mut distances) = (0u128, Distances::new(&machine));
    for sent in senders {
        let places: Vec<u64> = sent.iter().map(|&(_, to, _)| pe_of[to]).collect();
        let distances = distances.from(pe_of[sent[0].0], &places)?;
        for (&(_, _, flits), distance) in sent.iter().zip(distances) {
            let term = flits.checked_mul(2 * u128::from(distance)).ok_or(AuditError::Overflow)?;
            cost = cost.checked_add(term).ok_or(AuditError::Overflow)?;
        }
    }
    let costs = (workload.send_cycles, workload.receive_cycles);
    Ok(WorkloadAudit { cost, estimate: estimate::estimate(&tasks, &pe_of, &machine, costs)? })
}

/// J and the loads of a many-to-one mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// J.
    pub cost: u128,
    /// The sum of the weights of the vertices on each PE.
    pub loads: Vec<u128>,
}

/// Largest number of PEs whose loads are returned.
const MOST_LOADS: u64 = 1 << 32;

/// As [`audit_on`], but for a many-to-one mapping: J, and the load of each PE.
///
/// ```
/// use viem_verify::{MachineText, audit_many};
///
/// let machine = MachineText { spec: "torus:5", distances: None, file: None, pes: None, link_cycles: None };
/// let audit = audit_many("3 2 10\n4 2\n5 1 3\n6 2\n", "0\n0\n2\n", &machine)?;
/// assert_eq!((audit.cost, audit.loads), (4, vec![9, 0, 6, 0, 0]));
/// # Ok::<(), viem_verify::AuditError>(())
/// ```
pub fn audit_many(graph: &str, mapping: &str, machine: &MachineText<'_>) -> Result<Audit, AuditError> {
    let machine = Machine::read(machine)?;
    let (pe_of, rows) = read(graph, mapping)?;
    if let Some(line) = pe_of.iter().position(|&pe| pe >= machine.num_pes()) {
        return Err(AuditError::Mapping { line: line + 1 });
    }
    if machine.num_pes() > MOST_LOADS {
        return Err(AuditError::Machine {
            reason: "it has too many processing elements to compute their loads",
        });
    }
    let mut loads = vec![0; machine.num_pes() as usize];
    for (row, &pe) in rows.iter().zip(&pe_of) {
        loads[pe as usize] += u128::from(row.weight);
    }
    Ok(Audit { cost: cost(&rows, &pe_of, &machine)?, loads })
}

fn audit_with(graph: &str, mapping: &str, machine: &Machine) -> Result<u128, AuditError> {
    let (pe_of, rows) = read(graph, mapping)?;
    check_room(&pe_of, machine, None)?;
    cost(&rows, &pe_of, machine)
}

/// J by definition.
fn cost(rows: &[Row], pe_of: &[u64], machine: &Machine) -> Result<u128, AuditError> {
    Ok(cost_and_searches(rows, pe_of, machine)?.0)
}

/// J, and the number of searches in a network.
fn cost_and_searches(rows: &[Row], pe_of: &[u64], machine: &Machine) -> Result<(u128, usize), AuditError> {
    let mut processes: Vec<usize> =
        (0..rows.len()).filter(|&process| !rows[process].arcs.is_empty()).collect();
    processes.sort_by_key(|&process| machine.origin(pe_of[process]));
    let (mut cost, mut distances) = (0u128, Distances::new(machine));
    for process in processes {
        let arcs = &rows[process].arcs;
        let places: Vec<u64> = arcs.iter().map(|&(other, _)| pe_of[other]).collect();
        let distances = distances.from(pe_of[process], &places)?;
        for (&(_, weight), distance) in arcs.iter().zip(distances) {
            let term = u128::from(weight) * u128::from(distance);
            cost = cost.checked_add(term).ok_or(AuditError::Overflow)?;
        }
    }
    Ok((cost, distances.searches))
}

/// Checks that each PE exists and has capacity for its processes.
fn check_room(pe_of: &[u64], machine: &Machine, room: Option<u64>) -> Result<(), AuditError> {
    let mut processes_on: HashMap<u64, Vec<usize>> = HashMap::new();
    for (second, &pe) in pe_of.iter().enumerate() {
        if pe >= machine.num_pes() {
            return Err(AuditError::Mapping { line: second + 1 });
        }
        let there = processes_on.entry(pe).or_default();
        if there.len() as u64 >= room.unwrap_or_else(|| machine.capacity(pe)) {
            return Err(AuditError::PeTaken { first: there.first().copied().unwrap_or(second), second, pe });
        }
        there.push(second);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: &str = "% four in a ring\n4 4 1\n2 30000000 4 30000000\n1 30000000 3 30000000\n\
                         2 30000000 4 30000000\n1 30000000 3 30000000\n";

    #[test]
    fn a_cycle_beyond_32_bits() {
        assert_eq!(audit(CYCLE, "0\n1\n2\n3\n", &[2, 2], &[10, 100]), Ok(13_200_000_000));
        assert_eq!(audit(CYCLE, "0\n2\n1\n3\n", &[2, 1, 2], &[10, 7, 100]), Ok(24_000_000_000));
    }

    /// A router with leaves, one of which has capacity for two processes, and another PE behind it.
    #[test]
    fn processing_elements_at_one_router_share_a_search() {
        let star = "6 5 11\n0 2 1 3 2 4 3 5 4\n2 1 1\n1 1 2\n1 1 3\n1 1 4 6 5\n1 5 5\n";
        let text = MachineText {
            spec: "star.graph",
            distances: None,
            file: Some(star),
            pes: None,
            link_cycles: None,
        };
        let machine = Machine::read(&text).unwrap();
        let complete: String = (1..=6)
            .map(|u| (1..=6).filter(|v| *v != u).map(|v| format!("{v} ")).collect::<String>() + "\n")
            .collect();
        let (pe_of, rows) = read(&format!("6 15\n{complete}"), "0\n4\n1\n0\n3\n2\n").unwrap();
        // The leaves are at 1, 1, 2, 3, 4 and 9 from the router; two of them are the same PE.
        let expected = 2 * (5 * (1 + 1 + 2 + 3 + 4 + 9) - (1 + 1) - 2 * 4);
        assert_eq!(cost_and_searches(&rows, &pe_of, &machine), Ok((expected, 2)));
    }

    #[test]
    fn weights_of_vertices_are_skipped() {
        let graph = "3 2 111 2\n9 8 7 2 5\n9 8 7 1 5 3 1\n9 8 7 2 1\n";
        assert_eq!(audit(graph, "2\n1\n0", &[3], &[4]), Ok(48));
        // A missing number of weights means one, as in METIS.
        let graph = "3 2 11 0\n9 2 5\n9 1 5 3 1\n9 2 1\n";
        assert_eq!(audit(graph, "2\n1\n0", &[3], &[4]), Ok(48));
    }

    #[test]
    fn invalid_mappings_are_rejected() {
        let refused = |mapping| audit(CYCLE, mapping, &[2, 2], &[10, 100]).unwrap_err();
        assert_eq!(refused("0\n1\n2\n"), AuditError::Sizes { lines: 3, processes: 4 });
        assert_eq!(refused("0\n1\n1\n3\n"), AuditError::PeTaken { first: 1, second: 2, pe: 1 });
        assert_eq!(refused("0\n1\n4\n3\n"), AuditError::Mapping { line: 3 });
        assert_eq!(refused("0\nx\n2\n3\n"), AuditError::Mapping { line: 2 });
        let too_small = audit(CYCLE, "0\n1\n2\n3\n", &[3], &[1]);
        assert_eq!(too_small, Err(AuditError::Mapping { line: 4 }));
        assert!(matches!(audit("2 1\n2\n5\n", "0\n1\n", &[2], &[1]), Err(AuditError::Graph { line: 3, .. })));
        assert_eq!(audit("2 0\n", "0\n1\n", &[2], &[1]), Ok(0));
    }
}
