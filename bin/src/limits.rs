//! The limits of the loads of PEs or blocks.

use std::path::PathBuf;

use crate::error::Result;
use crate::files;
use crate::options::BalanceOptions;
use viem::base::types::Weight;
use viem::solve::{Balance, LoadLimits};
use viem_io::{Source, pe_weights};

/// The limits of the loads of PEs or blocks that are asked for.
pub(crate) struct Limits {
    /// The numbers that all have in common.
    pub(crate) balance: Balance,
    /// The least load of each, and the name of their file, if these are given.
    least_loads: Option<(Vec<Weight>, String)>,
}

impl Limits {
    pub(crate) fn get(&self) -> LoadLimits<'_> {
        (self.balance, self.least_loads.as_ref().map(|(least_loads, _)| &least_loads[..])).into()
    }

    /// The name of the file of the least loads.
    pub(crate) fn file(&self) -> Option<String> {
        self.least_loads.as_ref().map(|(_, name)| name.clone())
    }
}

impl BalanceOptions {
    /// The limits of the loads of this many PEs or blocks.
    pub(crate) fn limits(&self, count: usize) -> Result<Limits> {
        let read = |path: &PathBuf| -> Result<_> {
            Ok((pe_weights::read_least_loads(Source::open(path)?, count)?, files::name(path)))
        };
        Ok(Limits { balance: self.read()?, least_loads: self.least_loads.as_ref().map(read).transpose()? })
    }
}
