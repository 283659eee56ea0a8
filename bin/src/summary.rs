//! What matters of a result, in aligned lines for people: each figure before and after.

use std::fmt::Display;

use crate::console::Console;
use crate::verb::Form;
use viem::base::text::counted;
use viem::graph::CsrGraph;

/// Lines of a summary.
pub(crate) struct Summary {
    /// What stands in the heads of both columns.
    heads: [&'static str; 2],
    rows: Vec<Row>,
}

struct Row {
    label: String,
    before: Option<String>,
    after: String,
    note: String,
}

impl Summary {
    /// A summary without lines, with the name of what was there before, and that of the result.
    pub(crate) fn new(before: &'static str, after: &'static str) -> Self {
        Self { heads: [before, after], rows: Vec::new() }
    }

    /// Adds a figure before and after, which falls or rises.
    pub(crate) fn change<N: Display + Copy + Into<i128>>(
        &mut self,
        label: impl Into<String>,
        before: N,
        after: N,
    ) {
        self.change_of(label, before, after, "");
    }

    /// The same with a word about where that is.
    pub(crate) fn change_of<N: Display + Copy + Into<i128>>(
        &mut self,
        label: impl Into<String>,
        before: N,
        after: N,
        place: &str,
    ) {
        let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
        let note = format!("{}{place}", change(before.into(), after.into())).trim_start().to_owned();
        let (before, after) = (Some(before.to_string()), after.to_string());
        self.rows.push(Row { label: label.into(), before, after, note });
    }

    /// Adds a figure of the result, and the figure before if it is known.
    pub(crate) fn since<N: Display + Copy + Into<i128>>(
        &mut self,
        label: &'static str,
        before: Option<N>,
        after: N,
    ) {
        match before {
            Some(before) => self.change(label, before, after),
            None => self.figure(label, after, ""),
        }
    }

    /// Adds a figure of the result alone.
    pub(crate) fn figure(&mut self, label: impl Into<String>, after: impl Display, note: impl Into<String>) {
        self.rows.push(Row {
            label: label.into(),
            before: None,
            after: after.to_string(),
            note: note.into(),
        });
    }

    /// Prints all lines; heads only if there is something before.
    pub(crate) fn print(&self, console: Console) {
        let width = |text: fn(&Row) -> &str, head: &str| {
            self.rows
                .iter()
                .map(|row| text(row).chars().count())
                .chain([head.chars().count()])
                .max()
                .unwrap_or(0)
        };
        let has_before = self.rows.iter().any(|row| row.before.is_some());
        let heads = if has_before { self.heads } else { [""; 2] };
        let labels = width(|row| &row.label, "");
        let befores = width(|row| row.before.as_deref().unwrap_or_default(), heads[0]);
        let afters = width(|row| &row.after, heads[1]);
        let line = |label: &str, before: &str, after: &str, note: &str| {
            let before = if has_before { format!("  {before:>befores$}") } else { String::new() };
            let line = format!("{label:labels$}{before}  {after:>afters$}  {note}");
            console.line(format_args!("{}", line.trim_end()));
        };
        if has_before {
            line("", heads[0], heads[1], "");
        }
        for Row { label, before, after, note } in &self.rows {
            line(label, before.as_deref().unwrap_or_default(), after, note);
        }
    }
}

/// How a figure changed, in words: `12.5 % less`.
pub(crate) fn change(before: i128, after: i128) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    match after.cmp(&before) {
        std::cmp::Ordering::Equal => "the same".to_owned(),
        _ if before <= 0 => String::new(),
        std::cmp::Ordering::Less => format!("{} less", percent((before - after) as f64 / before as f64)),
        std::cmp::Ordering::Greater => format!("{} more", percent((after - before) as f64 / before as f64)),
    }
}

/// A vertex of a graph, and many.
pub(crate) type Noun = (&'static str, &'static str);

/// What the vertices of a communication graph are.
pub(crate) const PROCESSES: Noun = ("process", "processes");

/// What they are where many are on a PE, or in a block.
pub(crate) const VERTICES: Noun = ("vertex", "vertices");

/// The number of vertices and edges of a graph, each edge counted once.
pub(crate) fn size(graph: &CsrGraph, (one, many): Noun) -> String {
    let vertices = counted(graph.num_nodes(), one, many);
    format!("{vertices}, {}", counted(graph.num_edges(), "edge", "edges"))
}

/// Prints the size of a graph. VieM counts each edge in both directions.
pub(crate) fn print_size(console: Console, form: Form, graph: &CsrGraph, noun: Noun) {
    match form {
        Form::VieM => {
            let (vertices, arcs) = (graph.num_nodes(), graph.num_arcs());
            console.line(format_args!("model has {vertices} nodes, {arcs} edges"));
        }
        Form::Verb => console.line(format_args!("graph: {}", size(graph, noun))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::graph::generate;

    #[test]
    fn changes_are_less_or_more_and_never_negative() {
        assert_eq!(change(200, 150), "25.0 % less");
        assert_eq!(change(200, 500), "150.0 % more");
        assert_eq!(change(7, 7), "the same");
        assert_eq!(change(0, 0), "the same");
        assert_eq!(change(0, 3), "");
    }

    #[test]
    fn nouns_have_a_number() {
        assert_eq!(size(&generate::grid(1, 2), PROCESSES), "2 processes, 1 edge");
        assert_eq!(size(&generate::grid(1, 1), VERTICES), "1 vertex, 0 edges");
    }
}
