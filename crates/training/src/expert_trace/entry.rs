//! The entries of a trace.

use super::fault::{ExpertTraceFault, TraceKind};
use viem_io::ContentError;

/// A part of a trace. Layers and experts count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceEntry<'a> {
    /// The experts that a token has chosen.
    Token(&'a [u32]),
    /// The number of tokens that have chosen two experts.
    Pair([u32; 2], u64),
    /// The number of tokens that have chosen an expert, where pairs or loads are counted.
    Load(u32, u64),
}

/// A function that takes the entries of a layer, one after the other.
pub type TakeEntry<'a> = &'a mut dyn FnMut(u64, TraceEntry<'_>) -> Result<(), ContentError>;

/// Findings beside the entries of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceFound {
    /// The kind of the entries.
    pub kind: TraceKind,
    /// Loads are in units of 10^-`decimals` tokens.
    pub decimals: u32,
    /// True if loads had more decimal places than that, and were rounded.
    pub is_rounded: bool,
    /// Columns that were skipped, by their names.
    pub passed_over: Vec<String>,
    /// Columns that say when or where loads were counted, by their names. Loads are summed over them.
    pub summed_over: Vec<String>,
}

impl TraceFound {
    pub(super) fn whole(kind: TraceKind) -> Self {
        Self { kind, decimals: 0, is_rounded: false, passed_over: Vec::new(), summed_over: Vec::new() }
    }
}

/// Passes on the pairs of a layer, each once.
pub(super) fn pairs(
    layer: u64,
    experts: u32,
    number: &dyn Fn(u64, u64) -> u64,
    take: TakeEntry<'_>,
) -> Result<(), ExpertTraceFault> {
    for row in 0..experts {
        let own = number(row.into(), row.into());
        take(layer, TraceEntry::Load(row, own)).map_err(ExpertTraceFault::Refused)?;
        for column in row + 1..experts {
            let tokens = number(row.into(), column.into());
            if tokens != number(column.into(), row.into()) {
                return Err(ExpertTraceFault::Asymmetric { layer, row, column });
            }
            take(layer, TraceEntry::Pair([row, column], tokens)).map_err(ExpertTraceFault::Refused)?;
        }
    }
    Ok(())
}
