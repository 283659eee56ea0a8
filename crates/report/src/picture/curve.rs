//! Cut or J against migration: one point for each weight of migration.

use super::svg::{Anchor, Frame, Svg, brief_in_steps, ticks};
use viem::base::types::Weight;
use viem::partition::CurvePoint;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const FRAME: Frame = Frame { x: 76.0, y: 76.0, width: 612.0, height: 296.0 };
/// The side length of a point.
const POINT: f64 = 7.0;
/// Points closer to each other than this share a label.
const LABEL: (f64, f64) = (40.0, 14.0);
/// The share of the axes that stays free beyond the points.
const MARGIN: f64 = 0.06;

/// Draws a curve: the x axis is the migration in percent of the total vertex weight, the y axis the
/// objective. A line joins the Pareto-optimal points, which are labelled with their weights of migration
/// where there is room.
pub fn draw_curve(name: &str, objective: &str, total: Weight, points: &[CurvePoint]) -> String {
    let title = format!("{name} remapped: {objective} against migration");
    let mut svg = Svg::new(WIDTH, HEIGHT, &title);
    svg.text(16.0, 26.0, Anchor::Start, "title", &title);
    svg.text(
        16.0,
        46.0,
        Anchor::Start,
        "small",
        "numbers beside the points are weights of migration; light points are dominated by others",
    );
    let share = |point: &CurvePoint| 100.0 * point.migration.weight as f64 / total.max(1) as f64;
    let right = Axis::of(points.iter().map(share), true);
    let up = Axis::of(points.iter().map(|point| point.cost as f64), false);
    let at = |point: &CurvePoint| {
        let (x, y) = (right.share(share(point)), up.share(point.cost as f64));
        (FRAME.x + FRAME.width * x, FRAME.y + FRAME.height * (1.0 - y))
    };
    for (tick, label) in up.ticks() {
        let y = FRAME.y + FRAME.height * (1.0 - up.share(tick));
        svg.line((FRAME.x, y), (FRAME.x + FRAME.width, y), "grid");
        svg.text(FRAME.x - 6.0, y + 4.0, Anchor::End, "small", label);
    }
    for (tick, label) in right.ticks() {
        let x = FRAME.x + FRAME.width * right.share(tick);
        svg.line((x, FRAME.y), (x, FRAME.y + FRAME.height), "grid");
        svg.text(x, FRAME.y + FRAME.height + 18.0, Anchor::Middle, "small", format!("{label} %"));
    }
    svg.text(FRAME.x, FRAME.y - 6.0, Anchor::Start, "small", objective);
    let below = FRAME.y + FRAME.height + 40.0;
    let axis = "migration: weight of the vertices that change place, in percent of all";
    svg.text(FRAME.x + FRAME.width, below, Anchor::End, "small", axis);
    let mut sorted: Vec<&CurvePoint> = points.iter().collect();
    sorted.sort_by_key(|point| (point.migration.weight, -point.cost));
    for pair in sorted.windows(2) {
        svg.line(at(pair[0]), at(pair[1]), "line");
    }
    for point in points {
        let (x, y) = at(point);
        let frame = Frame { x: x - POINT / 2.0, y: y - POINT / 2.0, width: POINT, height: POINT };
        svg.rect(frame, "b");
    }
    let mut labelled: Vec<(f64, f64)> = Vec::new();
    for point in sorted {
        let (x, y) = at(point);
        let is_free = |&(left, upper): &(f64, f64)| (x - left).abs() > LABEL.0 || (y - upper).abs() > LABEL.1;
        if labelled.iter().all(is_free) {
            svg.text(x + POINT, y - POINT, Anchor::Start, "small", point.migration_weight);
            labelled.push((x, y));
        }
    }
    svg.finish()
}

/// A range of numbers.
struct Axis {
    first: f64,
    last: f64,
}

impl Axis {
    /// The range of all values with a margin; it starts at 0 if `from_zero`.
    fn of(values: impl Iterator<Item = f64> + Clone, from_zero: bool) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let greatest = values.fold(f64::NEG_INFINITY, f64::max);
        let least = if from_zero || !least.is_finite() { 0.0 } else { least };
        let margin = MARGIN * (greatest - least).max(1e-9 + least.abs() * 1e-3);
        let last = if greatest.is_finite() { greatest + margin } else { 1.0 };
        Self { first: if from_zero { 0.0 } else { (least - margin).max(0.0) }, last }
    }

    /// The position of a value on the axis, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        (value - self.first) / (self.last - self.first)
    }

    /// About four round numbers on the axis, with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        let step = ticks(self.last - self.first).get(1).copied().unwrap_or(1.0);
        let first = (self.first / step).ceil() as i64;
        let all = (first..).map(|index| index as f64 * step);
        let all = all.take_while(|tick| *tick <= self.last).take(12);
        all.map(|tick| (tick, brief_in_steps(tick, step))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::partition::{Migration, MigrationWeight};

    fn point(cost: i64, weight: i64) -> CurvePoint {
        let migration = Migration { weight, vertices: weight as usize };
        CurvePoint { migration_weight: MigrationWeight::ZERO, cost, migration, overload: 0, shortfall: 0 }
    }

    #[test]
    fn points_lie_in_the_frame() {
        for points in [
            vec![],
            vec![point(0, 0)],
            vec![point(5, 3), point(5, 3)],
            vec![point(2000, 50), point(2100, 20), point(2300, 10)],
        ] {
            let text = draw_curve("a<b", "cut", 100, &points);
            assert!(text.contains("a&lt;b remapped"), "{text}");
            assert_eq!(text.matches("class=\"b\"/>").count(), points.len());
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
        let axis = Axis::of([2000.0, 2300.0].into_iter(), false);
        assert!((0.0..=1.0).contains(&axis.share(2000.0)) && axis.share(2300.0) < 1.0);
        assert!((2..8).contains(&axis.ticks().len()), "{:?}", axis.ticks());
        for (least, greatest) in [(1470.0, 1503.0), (52_960_000.0, 52_966_000.0), (0.0, 0.0312), (7.0, 7.0)] {
            let ticks = Axis::of([least, greatest].into_iter(), false).ticks();
            let labels: std::collections::BTreeSet<&String> = ticks.iter().map(|(_, label)| label).collect();
            assert_eq!(labels.len(), ticks.len(), "{ticks:?}");
        }
    }
}
