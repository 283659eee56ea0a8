//! The array of options of METIS 5.1.

use crate::{Fault, Idx};

/// `METIS_NOPTIONS`.
pub(crate) const COUNT: usize = 40;

const PARTITIONING: usize = 0;
const OBJECTIVE: usize = 1;
const SEED: usize = 8;
const CONTIGUOUS: usize = 11;
const IMBALANCE: usize = 16;
const NUMBERING: usize = 17;

/// The objective that is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objective {
    /// The weight of the edges that are cut.
    Cut,
    /// The communication volume.
    Volume,
}

/// The method with which METIS would partition. Parts of recursive bisection have numbers near those of their neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// `METIS_PTYPE_RB`.
    Recursive,
    /// `METIS_PTYPE_KWAY`.
    KWay,
}

/// The options that mean something here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub way: Way,
    pub objective: Objective,
    pub seed: u64,
    /// Each part must be connected.
    pub is_contiguous: bool,
    /// 1.03 lets parts be 3 % heavier than their share.
    pub imbalance: f64,
    /// The same where vertices have several weights.
    pub imbalance_of_several: f64,
    /// The number of the first vertex.
    pub base: i64,
}

impl Options {
    /// The options of a function that partitions in some way, or of those that follow the options if it is none. Entries of -1, and no array,
    /// are the defaults.
    pub fn new(given: Option<&[Idx]>, way: Option<Way>) -> Result<Self, Fault> {
        let given = |index: usize| given.map(|options| options[index]).filter(|&value| value != -1);
        let way = match (way, given(PARTITIONING)) {
            (Some(way), _) => way,
            (None, None | Some(1)) => Way::KWay,
            (None, Some(0)) => Way::Recursive,
            _ => return Err(Fault::Input),
        };
        let objective = match (way, given(OBJECTIVE)) {
            // METIS bisects for the cut only.
            (Way::Recursive, _) | (_, None | Some(0)) => Objective::Cut,
            (_, Some(1)) => Objective::Volume,
            _ => return Err(Fault::Input),
        };
        let default = if way == Way::KWay { 30 } else { 1 };
        let of_several = if way == Way::KWay { 30 } else { 10 };
        let of_several = given(IMBALANCE).unwrap_or(of_several);
        let imbalance = given(IMBALANCE).unwrap_or(default);
        let base = given(NUMBERING).unwrap_or(0);
        if imbalance < 1 || !(0..=1).contains(&base) {
            return Err(Fault::Input);
        }
        Ok(Self {
            way,
            objective,
            seed: given(SEED).map_or(0, |seed| seed as u64),
            is_contiguous: given(CONTIGUOUS) == Some(1),
            imbalance: 1.0 + 0.001 * imbalance as f64,
            imbalance_of_several: 1.0 + 0.001 * of_several as f64,
            base: base.into(),
        })
    }
}
