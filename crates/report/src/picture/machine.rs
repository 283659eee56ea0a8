//! A picture of a machine: the distances between its PEs as a map.

use super::svg::{Anchor, Frame, SHADES, Svg};
use super::{MATRIX, MOST_CELLS};
use viem::base::types::{Distance, PeId};
use viem::machine::{DistanceOracle, Distances};

const MARGIN: f64 = 24.0;
const TOP: f64 = 64.0;

/// The picture of the distances between all PEs, as the text of an SVG file: the darker, the farther. Large machines are sampled: the map has at
/// most 128 rows, each for the first of some PEs with neighbouring numbers. O(PEs).
pub fn draw_machine(distances: &Distances, title: &str) -> String {
    let rows = sample(distances);
    let most = rows.iter().flatten().copied().max().unwrap_or(0);
    let mut values: Vec<Distance> = rows.iter().flatten().copied().filter(|&distance| distance > 0).collect();
    values.sort_unstable();
    values.dedup();
    let shade = |distance: Distance| {
        let rank = values.binary_search(&distance).ok()?;
        Some((rank * (SHADES - 1) / values.len().saturating_sub(1).max(1)) as u8)
    };
    let cells: Vec<Option<u8>> = rows.iter().flatten().map(|&distance| shade(distance)).collect();
    let side = MATRIX + 2.0 * MARGIN;
    let mut svg = Svg::new(side, TOP + MATRIX + MARGIN, title);
    svg.text(MARGIN, 28.0, Anchor::Start, "title", title);
    let scale = format!("distance between two PEs, in the order of their numbers: 0 to {most}");
    svg.text(MARGIN, 50.0, Anchor::Start, "small", scale);
    svg.heat(Frame { x: MARGIN, y: TOP, width: MATRIX, height: MATRIX }, rows.len().max(1), &cells);
    svg.finish()
}

/// The distances between a sample of PEs.
fn sample(distances: &Distances) -> Vec<Vec<Distance>> {
    let num_pes = distances.num_pes();
    let side = num_pes.min(MOST_CELLS);
    let pe = |row: usize| (row * num_pes / side.max(1)) as PeId;
    (0..side).map(|from| (0..side).map(|to| distances.distance(pe(from), pe(to))).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::machine::{Hierarchy, Machine};

    #[test]
    fn farther_is_darker_and_one_pe_is_no_reason_to_fail() {
        let tree = Hierarchy::parse("2:2", "1:9").unwrap();
        let text = draw_machine(&Machine::distances(&tree).unwrap(), "a & b");
        assert!(text.contains("a &amp; b") && text.contains("0 to 9"), "{text}");
        // Two distances: the lightest shade next to a PE, the darkest across.
        assert!(text.contains(r#"class="h0" d="M1 0h1v1h-1zM0 1h1v1h-1z"#), "{text}");
        assert!(text.contains(r#"class="h7" d="M2 0h2v1h-2z"#), "{text}");
        draw_machine(&Machine::distances(&Hierarchy::single()).unwrap(), "one");
    }
}
