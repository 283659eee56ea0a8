//! The limits of the loads of PEs or blocks.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Result, UsageError};
use crate::files;
use crate::options::BalanceOptions;
use viem::base::types::Weight;
use viem::graph::VertexWeights;
use viem::solve::{Balance, LoadLimits, SeveralWeights, SolveError};
use viem_io::{Source, pe_weights};

/// The requested limits of the loads of PEs or blocks.
pub(crate) struct Limits {
    /// The limits that all PEs or blocks have in common.
    pub(crate) balance: Balance,
    /// The least load of each PE or block, and the name of the file, if there is one.
    least_loads: Option<(Vec<Weight>, String)>,
    /// The limits by each weight of the vertices, if they have several.
    each: Vec<Balance>,
}

impl Limits {
    pub(crate) fn get(&self) -> LoadLimits<'_> {
        (self.balance, self.least_loads.as_ref().map(|(least_loads, _)| &least_loads[..])).into()
    }

    /// The limits for each of several weights.
    pub(crate) fn of_weights<'a>(&self, weights: &'a VertexWeights) -> Result<SeveralWeights<'a>> {
        let limits: Vec<LoadLimits<'_>> = self.each.iter().map(|&balance| balance.into()).collect();
        Ok(SeveralWeights::new(weights, &limits).map_err(SolveError::from)?)
    }

    /// A share in percent, by each weight of the vertices if they have several.
    pub(crate) fn percents(&self, share: impl Fn(&Balance) -> f64) -> Percents {
        match &self.each[..] {
            [] => Percents::One(100.0 * share(&self.balance)),
            each => Percents::Each(each.iter().map(|balance| 100.0 * share(balance)).collect()),
        }
    }

    /// The name of the file of the least loads.
    pub(crate) fn file(&self) -> Option<String> {
        self.least_loads.as_ref().map(|(_, name)| name.clone())
    }
}

/// A percentage, or one for each weight of the vertices, in reports.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Percents {
    One(f64),
    Each(Vec<f64>),
}

impl BalanceOptions {
    /// The limits of the loads of this many PEs or blocks, where vertices have these weights if they have several.
    pub(crate) fn limits_of(&self, count: usize, weights: Option<&VertexWeights>) -> Result<Limits> {
        let Some(weights) = weights else { return self.limits(count) };
        if self.least_loads.is_some() {
            let message = "--least-loads is for vertices of one weight; give --least-load";
            return Err(UsageError(message.to_owned()).into());
        }
        let each = self.read_each(weights.num_weights())?;
        Ok(Limits { balance: each[0], least_loads: None, each })
    }

    /// The limits of the loads of this many PEs or blocks.
    fn limits(&self, count: usize) -> Result<Limits> {
        let read = |path: &PathBuf| -> Result<_> {
            Ok((pe_weights::read_least_loads(Source::open(path)?, count)?, files::name(path)))
        };
        let least_loads = self.least_loads.as_ref().map(read).transpose()?;
        Ok(Limits { balance: self.read()?, least_loads, each: Vec::new() })
    }
}
