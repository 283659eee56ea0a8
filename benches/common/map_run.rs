//! The options of the mapping benchmarks.

use super::options::{Options, changes};
use viem::solve::MapPreset;

/// The models to map, and the settings.
pub struct MapRun {
    pub presets: Vec<MapPreset>,
    /// Substrings of the names to map; all if empty.
    names: Vec<String>,
    pub seeds: u64,
    pub threads: usize,
    /// Prints a line for each run if true.
    pub table: bool,
    /// Changes to the settings of the presets.
    pub changes: Vec<(String, String)>,
}

impl MapRun {
    /// Reads the options of the command line; `key` is the option with the names.
    pub fn read(key: &str) -> Self {
        Options::read(|options| {
            Ok(Self {
                presets: options.members("preset", &MapPreset::ALL, MapPreset::name, &MapPreset::ALL)?,
                names: options.list(key, Vec::new())?,
                seeds: options.value("seeds", 1)?,
                threads: options.value("threads", 1)?,
                table: options.word("table")?,
                changes: changes(options)?,
            })
        })
    }

    /// Returns whether to map the model with this name.
    pub fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }
}
