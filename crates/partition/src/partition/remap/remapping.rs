//! What is asked of a remapping.

use super::previous::PreviousAssignment;
use super::weight::MigrationWeight;

/// An older partition to start from.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Remapping<'a> {
    /// Where the vertices were, in the numbers of the blocks.
    pub homes: &'a PreviousAssignment,
    /// What moving a vertex of weight 1 away from there costs.
    pub weight: MigrationWeight,
    pub(super) extent: Extent,
}

/// For which weights results are found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// For all weights if the graph is small, otherwise for the one that is asked for.
    Usual,
    /// For all weights if the graph is small, otherwise for those of a curve as well.
    Curve,
    /// For the one that is asked for.
    Alone,
}

impl<'a> Remapping<'a> {
    /// An older partition with this weight of migration.
    pub fn new(homes: &'a PreviousAssignment, weight: MigrationWeight) -> Self {
        Self { homes, weight, extent: Extent::Usual }
    }

    /// The same with homes in other numbers.
    pub fn renamed(self, homes: &PreviousAssignment) -> Remapping<'_> {
        Remapping { homes, weight: self.weight, extent: self.extent }
    }

    /// The same with results for the weights of a [curve](super::Envelope::curve). They take no time of their own if the graph is small.
    #[must_use]
    pub fn with_curve(self) -> Self {
        Self { extent: Extent::Curve, ..self }
    }

    /// The same with results for this weight only, as if the graph were large: in less time, but results for other weights may be better
    /// for this one.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { extent: Extent::Alone, ..self }
    }
}
