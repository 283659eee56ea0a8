//! The activity of PEs over time: one row per PE, light while it waits for messages, dark while it works.

use super::svg::{Anchor, Frame, Svg, brief, ticks};
use viem::base::types::PeId;
use viem_workload::simulate::{Activity, Simulation, Span, Timeline};

/// Largest number of PEs drawn: the first ones with any activity.
const MOST_ROWS: usize = 64;

/// Largest number of segments of a row: about two for each unit of the picture.
const PIECES: usize = 1024;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 84.0;
const TOP: f64 = 58.0;
const ROW: f64 = 15.0;

/// Draws the timeline of a simulation.
pub fn draw_timeline(name: &str, simulation: &Simulation, timeline: &Timeline) -> String {
    let end = simulation.completion_time.max(1);
    let mut pes: Vec<PeId> = timeline.spans.iter().map(|span| span.pe).collect();
    pes.sort_unstable();
    pes.dedup();
    let used = pes.len();
    pes.truncate(MOST_ROWS);
    let (width, height) = (WIDTH - LEFT - 24.0, pes.len() as f64 * ROW);
    let title = format!("{name}: {} cycles", simulation.completion_time);
    let mut svg = Svg::new(WIDTH, TOP + height + 48.0, &title);
    svg.text(16.0, 26.0, Anchor::Start, "title", &title);
    let shown = match used > MOST_ROWS {
        true => format!("; the first {MOST_ROWS} of {used} PEs"),
        false => String::new(),
    };
    let legend =
        format!("dark: works, medium: sends or receives, light: waits for messages, empty: done{shown}");
    svg.text(16.0, 45.0, Anchor::Start, "small", legend);
    let at = |cycle: f64| LEFT + cycle / end as f64 * width;
    for (row, pe) in pes.iter().enumerate() {
        let (y, time) = (TOP + row as f64 * ROW, &simulation.pes[*pe as usize]);
        svg.text(LEFT - 8.0, y + 10.0, Anchor::End, "small", format!("PE {pe}"));
        let until = at((time.busy + time.blocked) as f64);
        svg.rect(Frame { x: LEFT, y, width: until - LEFT, height: ROW - 3.0 }, "h0");
    }
    for ((row, begin, length), class) in pieces(timeline, &pes, end) {
        let (x, y) = (at(begin), TOP + row as f64 * ROW);
        svg.rect(Frame { x, y, width: at(begin + length) - x, height: ROW - 3.0 }, class);
    }
    for tick in ticks(end as f64) {
        let x = at(tick);
        svg.line((x, TOP), (x, TOP + height + 4.0), "grid");
        svg.text(x, TOP + height + 18.0, Anchor::Middle, "small", brief(tick));
    }
    svg.text(LEFT, TOP + height + 36.0, Anchor::Start, "small", "cycle");
    svg.finish()
}

/// Segments of rows with their classes. Row i is the i-th of these PEs, in ascending order. Spans of the same
/// kind that are closer than a segment are merged.
fn pieces(timeline: &Timeline, pes: &[PeId], end: u64) -> Vec<((usize, f64, f64), &'static str)> {
    let least = end.div_ceil(PIECES as u64);
    let row_of = |span: &Span| pes.binary_search(&span.pe).ok();
    let mut spans: Vec<_> =
        timeline.spans.iter().filter_map(|span| row_of(span).map(|row| (row, span))).collect();
    spans.sort_by_key(|(row, span)| (*row, span.begin));
    let mut pieces: Vec<(usize, u64, u64, &'static str)> = Vec::new();
    for (row, span) in spans {
        let class = if span.activity == Activity::Compute { "h6" } else { "h3" };
        match pieces.last_mut() {
            Some(last) if last.0 == row && last.3 == class && span.begin <= last.2 + least / 2 => {
                last.2 = span.end
            }
            // Spans too short to be seen are merged into the one before.
            Some(last) if last.0 == row && span.end - span.begin < least && span.begin <= last.2 => {
                last.2 = span.end
            }
            _ => pieces.push((row, span.begin, span.end, class)),
        }
    }
    let place =
        |(row, begin, end, class): (usize, u64, u64, _)| ((row, begin as f64, (end - begin) as f64), class);
    pieces.into_iter().map(place).collect()
}
