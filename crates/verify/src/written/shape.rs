//! A machine written in full, as the auditor sees it.

use crate::error::AuditError;

/// A machine by its definition.
pub(crate) trait Written {
    fn num_pes(&self) -> u64;

    fn distance(&self, p: u64, q: u64) -> u64;

    /// The lanes of a message; from port to port if nothing is known of links.
    fn route(&self, p: u64, q: u64) -> Route {
        Route::of_ports(p, q, self.distance(p, q))
    }
}

/// Reads a machine from the text behind its name, and the distances.
pub(super) type Read = fn(&str, Vec<u64>) -> Result<Box<dyn Written>>;

/// A lane of a link, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    Grid {
        vertex: u64,
        dimension: usize,
        is_up: bool,
        is_second: bool,
    },
    /// From a group of a level up, or down to it; each vertex of a grid has a tree.
    Tree {
        vertex: u64,
        level: usize,
        group: u64,
        is_up: bool,
    },
    Arc {
        from: usize,
        to: usize,
    },
    Port {
        pe: u64,
        is_out: bool,
    },
}

/// The route of a message.
#[derive(Debug, Default)]
pub(crate) struct Route {
    /// Lanes, each with the cycles of a flit.
    pub(crate) hops: Vec<(Lane, u64)>,
    /// True if a message uses all of them at once.
    pub(crate) is_worm: bool,
}

impl Route {
    /// From a port of one PE to that of another.
    pub(crate) fn of_ports(p: u64, q: u64, distance: u64) -> Self {
        let (out, into) = (Lane::Port { pe: p, is_out: true }, Lane::Port { pe: q, is_out: false });
        Self { hops: vec![(out, distance.div_ceil(2)), (into, distance / 2)], is_worm: false }
    }
}

pub(crate) type Result<T> = std::result::Result<T, AuditError>;

pub(crate) fn fault<T>(reason: &'static str) -> Result<T> {
    Err(AuditError::Machine { reason })
}

pub(super) fn product(factors: &[u64]) -> u64 {
    factors.iter().fold(1, |product, &factor| product.saturating_mul(factor))
}

pub(crate) fn number(field: &str) -> Result<u64> {
    crate::number::number(field.trim()).map_or_else(|| fault("not a number"), Ok)
}

pub(super) fn numbers(text: &str, separator: char) -> Result<Vec<u64>> {
    text.split(separator).map(number).collect()
}
