//! What the benchmarks of mappings are asked for.

use viem::mapping::solve::MapPreset;

use super::options::{Options, changes};

/// What to map, and how.
pub struct MapRun {
    pub presets: Vec<MapPreset>,
    /// Parts of the names of what is mapped; all if empty.
    names: Vec<String>,
    pub seeds: u64,
    pub threads: usize,
    /// Whether a line is printed for each run.
    pub table: bool,
    /// Changes to the settings of the presets.
    pub changes: Vec<(String, String)>,
}

impl MapRun {
    /// The options of the command line; `key` is that of the names.
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

    /// Whether what has this name is mapped.
    pub fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }
}
