//! METIS graph files.

use std::path::Path;

use crate::graph::CsrGraph;
use crate::types::{NodeId, Weight};

/// Reads a graph (interim: to be replaced by the checked reader).
pub fn read(path: &Path) -> Result<CsrGraph, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines().filter(|line| !line.starts_with('%'));
    let header: Vec<&str> = lines.next().ok_or("no header")?.split_whitespace().collect();
    let n: usize = header[0].parse()?;
    let format = format!("{:0>3}", header.get(2).copied().unwrap_or("0"));
    let constraints: usize = header.get(3).map_or(Ok(1), |text| text.parse())?;
    let flag = |index: usize| format.as_bytes()[index] == b'1';
    let (mut offsets, mut targets, mut edge_weights, mut node_weights) =
        (vec![0], Vec::<NodeId>::new(), Vec::<Weight>::new(), Vec::<Weight>::new());
    for _ in 0..n {
        let mut numbers = lines.next().unwrap_or("").split_ascii_whitespace().map(str::parse::<i64>);
        if flag(0) {
            numbers.next();
        }
        let mut weight = 1;
        if flag(1) {
            weight = numbers.next().ok_or("no weight")??;
            for _ in 1..constraints {
                numbers.next();
            }
        }
        node_weights.push(weight);
        while let Some(target) = numbers.next() {
            targets.push((target? - 1) as NodeId);
            edge_weights.push(if flag(2) { numbers.next().ok_or("no weight")?? } else { 1 });
        }
        offsets.push(targets.len());
    }
    Ok(CsrGraph::new(offsets, targets, edge_weights, node_weights)?)
}
