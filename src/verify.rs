//! The independent auditor: reads a graph and a mapping again and recomputes J from the definition.
//!
//! It shares nothing with the rest of the library, neither reader nor distances nor objective: numbers are
//! taken from the text by the plainest means, the distance of two PEs is found by dividing their ids level
//! by level, and sums are 128 bits wide. So a mistake there is not repeated here. It is meant for files
//! the library has accepted and written; of a malformed file it says that it is one, but not much more.
//!
//! O(n + m k) for k levels of the hierarchy.

/// Why an audit failed. Lines are counted from 1, processes and PEs from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum AuditError {
    #[error("graph, line {line}: {reason}")]
    Graph { line: usize, reason: &'static str },
    #[error("mapping, line {line}: not a processing element")]
    Mapping { line: usize },
    #[error("the mapping has {lines} lines for {processes} processes and {pes} processing elements")]
    Sizes { lines: usize, processes: usize, pes: u128 },
    #[error("processes {first} and {second} are both on processing element {pe}")]
    PeTaken { first: usize, second: usize, pe: usize },
    #[error("the hierarchy has {levels} levels but {distances} distances")]
    Levels { levels: usize, distances: usize },
    #[error("J exceeds 128 bits")]
    Overflow,
}

/// J of the mapping in `mapping` (line i: PE of process i) of the graph in `graph` (METIS) to the machine
/// of these levels, innermost first; fails if the mapping is not a permutation.
pub fn audit(graph: &str, mapping: &str, arities: &[u64], distances: &[u64]) -> Result<u128, AuditError> {
    if arities.len() != distances.len() {
        return Err(AuditError::Levels { levels: arities.len(), distances: distances.len() });
    }
    let pe_of = read_mapping(mapping)?;
    let pes = arities.iter().map(|&arity| u128::from(arity)).fold(1, u128::saturating_mul);
    let arcs = read_arcs(graph, |processes| {
        let agree = pe_of.len() == processes && processes as u128 == pes;
        if agree { Ok(()) } else { Err(AuditError::Sizes { lines: pe_of.len(), processes, pes }) }
    })?;
    let mut process_on = vec![None; pe_of.len()];
    for (second, &pe) in pe_of.iter().enumerate() {
        let place = process_on.get_mut(pe).ok_or(AuditError::Mapping { line: second + 1 })?;
        if let Some(first) = place.replace(second) {
            return Err(AuditError::PeTaken { first, second, pe });
        }
    }
    let mut cost = 0u128;
    for (process, arcs) in arcs.iter().enumerate() {
        for &(other, weight) in arcs {
            let distance = distance(pe_of[process] as u64, pe_of[other] as u64, arities, distances);
            let term = u128::from(weight) * u128::from(distance);
            cost = cost.checked_add(term).ok_or(AuditError::Overflow)?;
        }
    }
    Ok(cost)
}

/// The distance of the innermost level whose group holds both PEs; 0 for a PE and itself.
fn distance(p: u64, q: u64, arities: &[u64], distances: &[u64]) -> u64 {
    let (mut group_of_p, mut group_of_q, mut distance) = (p, q, 0);
    for (arity, of_level) in arities.iter().zip(distances) {
        if group_of_p != group_of_q {
            distance = *of_level;
        }
        group_of_p /= arity;
        group_of_q /= arity;
    }
    distance
}

fn read_mapping(text: &str) -> Result<Vec<usize>, AuditError> {
    let lines = text.lines().enumerate();
    lines
        .map(|(index, line)| line.trim().parse().map_err(|_| AuditError::Mapping { line: index + 1 }))
        .collect()
}

/// For each vertex, its neighbours from 0 and the weights of the edges. The number of vertices is checked
/// before anything of that size is read; vertices without a line have no neighbours.
fn read_arcs(
    text: &str,
    check_size: impl Fn(usize) -> Result<(), AuditError>,
) -> Result<Vec<Vec<(usize, u64)>>, AuditError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('%'));
    let fault = |line: usize, reason| AuditError::Graph { line: line + 1, reason };
    let (at, header) = lines.next().ok_or(fault(0, "no header"))?;
    let header: Vec<&str> = header.split_whitespace().collect();
    let count: usize =
        header.first().and_then(|field| field.parse().ok()).ok_or(fault(at, "no number of vertices"))?;
    check_size(count)?;
    let format: u64 =
        header.get(2).map_or(Ok(0), |field| field.parse()).map_err(|_| fault(at, "bad format"))?;
    let constraints: usize =
        header.get(3).map_or(Ok(1), |field| field.parse()).map_err(|_| fault(at, "bad number of weights"))?;
    let (has_sizes, has_node_weights, has_edge_weights) =
        (format / 100 % 10 == 1, format / 10 % 10 == 1, format % 10 == 1);
    let skipped = usize::from(has_sizes) + if has_node_weights { constraints.max(1) } else { 0 };
    let mut rows = Vec::new();
    for _ in 0..count {
        let (at, line) = lines.next().unwrap_or_default();
        let numbers: Vec<u64> = line
            .split_whitespace()
            .skip(skipped)
            .map(|field| field.parse().map_err(|_| fault(at, "not a number")))
            .collect::<Result<_, _>>()?;
        let step = if has_edge_weights { 2 } else { 1 };
        let mut row = Vec::new();
        for arc in numbers.chunks(step) {
            let weight = if has_edge_weights { *arc.get(1).ok_or(fault(at, "no weight"))? } else { 1 };
            if arc[0] == 0 || arc[0] > count as u64 {
                return Err(fault(at, "no such neighbour"));
            }
            row.push((arc[0] as usize - 1, weight));
        }
        rows.push(row);
    }
    Ok(rows)
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

    #[test]
    fn weights_of_vertices_are_skipped() {
        let graph = "3 2 111 2\n9 8 7 2 5\n9 8 7 1 5 3 1\n9 8 7 2 1\n";
        assert_eq!(audit(graph, "2\n1\n0", &[3], &[4]), Ok(48));
        // No number of weights means one, as it does to METIS.
        let graph = "3 2 11 0\n9 2 5\n9 1 5 3 1\n9 2 1\n";
        assert_eq!(audit(graph, "2\n1\n0", &[3], &[4]), Ok(48));
    }

    #[test]
    fn what_is_no_mapping_is_refused() {
        let refused = |mapping| audit(CYCLE, mapping, &[2, 2], &[10, 100]).unwrap_err();
        assert_eq!(refused("0\n1\n2\n"), AuditError::Sizes { lines: 3, processes: 4, pes: 4 });
        assert_eq!(refused("0\n1\n1\n3\n"), AuditError::PeTaken { first: 1, second: 2, pe: 1 });
        assert_eq!(refused("0\n1\n4\n3\n"), AuditError::Mapping { line: 3 });
        assert_eq!(refused("0\nx\n2\n3\n"), AuditError::Mapping { line: 2 });
        let wrong_size = audit(CYCLE, "0\n1\n2\n3\n", &[2, 3], &[1, 2]);
        assert_eq!(wrong_size, Err(AuditError::Sizes { lines: 4, processes: 4, pes: 6 }));
        assert!(matches!(audit("2 1\n2\n5\n", "0\n1\n", &[2], &[1]), Err(AuditError::Graph { line: 3, .. })));
        assert_eq!(audit("2 0\n", "0\n1\n", &[2], &[1]), Ok(0));
    }
}
