//! Times, means and tables.

use std::time::Instant;

/// Measures the processor time of this thread if all work runs on one thread, otherwise wall-clock time.
pub struct Stopwatch {
    begin: Instant,
    on_processor: Option<f64>,
}

impl Stopwatch {
    /// Starts to measure work on this number of threads.
    pub fn start(threads: usize) -> Self {
        let on_processor = (threads == 1).then(processor_seconds).flatten();
        Self { begin: Instant::now(), on_processor }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        let now = self.on_processor.and_then(|_| processor_seconds());
        self.on_processor
            .zip(now)
            .map_or_else(|| self.begin.elapsed().as_secs_f64(), |(begin, now)| now - begin)
    }
}

/// Processor time of this thread, if the system reports it.
fn processor_seconds() -> Option<f64> {
    // The kernel updates the figure when the thread yields.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

/// The geometric mean of positive numbers; 1 if there are none.
pub fn geometric_mean(numbers: &[f64]) -> f64 {
    (numbers.iter().map(|number| number.ln()).sum::<f64>() / numbers.len().max(1) as f64).exp()
}

/// A table in Markdown, printed row by row as it grows.
pub struct Table {
    widths: Vec<usize>,
}

impl Table {
    /// Prints the headings. A column is as wide as its heading, or as the given width.
    pub fn new<const N: usize>(columns: [(&str, usize); N]) -> Self {
        let widths: Vec<usize> =
            columns.iter().map(|(name, width)| name.chars().count().max(*width)).collect();
        let table = Self { widths };
        table.row(columns.map(|(name, _)| name.to_string()));
        let rules: Vec<String> = table.widths.iter().map(|&width| "-".repeat(width)).collect();
        println!("|-{}-|", rules.join("-|-"));
        table
    }

    /// Prints a row: the first column left-aligned, the others right-aligned.
    pub fn row<const N: usize>(&self, cells: [String; N]) {
        let cells = cells.into_iter().zip(&self.widths).enumerate();
        let cells: Vec<String> = cells
            .map(
                |(column, (cell, &width))| {
                    if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        println!("| {} |", cells.join(" | "));
    }
}
