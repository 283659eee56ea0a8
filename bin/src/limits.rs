//! The limits of the loads of PEs or blocks.

use std::path::PathBuf;

use crate::error::Result;
use crate::files;
use crate::options::BalanceOptions;
use viem::base::types::Weight;
use viem::solve::{Balance, LoadLimits};
use viem_io::{Source, pe_weights};

/// The requested limits of the loads of PEs or blocks.
pub(crate) struct Limits {
    /// The limits that all PEs or blocks have in common.
    pub(crate) balance: Balance,
    /// The least load of each PE or block, and the name of the file, if there is one.
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
