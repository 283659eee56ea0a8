//! Bars for the load of each node and each switch, before and after mapping.

use super::svg::{Anchor, Frame, Svg, brief};
use crate::loads::{LoadTable, Loads};
use viem::base::types::Cost;

/// Largest number of bars.
pub(super) const MOST_BARS: usize = 32;

/// The frames of the nodes, of the nodes if there are no switches, and of the switches.
const NODES: Frame = Frame { x: 86.0, y: 808.0, width: 362.0, height: 138.0 };
const NODES_ALONE: Frame = Frame { width: 826.0, ..NODES };
const SWITCHES: Frame = Frame { x: 560.0, width: 352.0, ..NODES };

/// Draws the nodes, and to their right the switches, if there are any.
pub(super) fn draw(svg: &mut Svg, LoadTable { nodes, switches }: &LoadTable) {
    let frame = if switches.is_some() { NODES } else { NODES_ALONE };
    draw_one(svg, (48.0, "Traffic that leaves each node"), nodes, frame);
    if let Some(switches) = switches {
        draw_one(svg, (512.0, "Traffic that passes each switch"), switches, SWITCHES);
    }
}

/// Draws the bars of nodes or of switches below a title, which begins at x.
fn draw_one(svg: &mut Svg, (x, what): (f64, &str), loads: &Loads, frame: Frame) {
    let each = loads.names.len().div_ceil(MOST_BARS).max(1);
    let parts = [
        if each > 1 { format!("busiest of {each} per bar") } else { String::new() },
        if loads.left_out > 0 { format!("{} with less left out", loads.left_out) } else { String::new() },
    ];
    let notes = parts.map(|part| if part.is_empty() { part } else { format!(", {part}") }).concat();
    svg.text(x, frame.y - 22.0, Anchor::Start, "", format_args!("{what}, in order{notes}"));
    let [before, after] = [&loads.before, &loads.after].map(|loads| binned(loads, each));
    let most = before.iter().chain(&after).copied().fold(0.0, f64::max);
    if most > 0.0 {
        svg.axis(frame, most, brief);
        svg.bars(frame, most, &[("a", &before), ("b", &after)], &[]);
        draw_ends(svg, &loads.names, frame);
    } else {
        svg.text(frame.x, frame.y + 40.0, Anchor::Start, "small", "no traffic");
    }
}

/// Draws the names of the first and the last node or switch.
fn draw_ends(svg: &mut Svg, names: &[String], frame: Frame) {
    let below = frame.y + frame.height + 16.0;
    if let [first, .., last] = names {
        svg.text(frame.x, below, Anchor::Start, "small", first);
        svg.text(frame.x + frame.width, below, Anchor::End, "small", last);
    }
}

/// The greatest load of each bar, which stands for several loads in succession.
fn binned(loads: &[Cost], each: usize) -> Vec<f64> {
    loads.chunks(each).map(|bar| bar.iter().copied().max().unwrap_or(0) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_of_several_is_as_high_as_the_busiest() {
        assert_eq!(binned(&[3, 9, 2, 4, 5], 2), [9.0, 4.0, 5.0]);
        let loads = Loads {
            names: (0..70).map(|node| format!("node{node}")).collect(),
            before: (0..70).collect(),
            after: vec![1; 70],
            left_out: 3,
        };
        let mut svg = Svg::new(960.0, 1000.0, "t");
        draw(&mut svg, &LoadTable { nodes: loads, switches: None });
        let text = svg.finish();
        assert!(text.contains("in order, busiest of 3 per bar, 3 with less left out"), "{text}");
        assert!(text.contains(">node0<") && text.contains(">node69<"));
        assert_eq!(text.matches(r#"class="b""#).count(), 24);
    }
}
