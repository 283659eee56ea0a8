//! Numbers of nodes as files have them, and their places in the file.

use hashbrown::HashMap;

use crate::cursor::{Outcome, push};
use crate::fault::MeshFault;
use viem::base::memory;

/// The place of each number.
pub(crate) enum Ids {
    /// By the number, from the least one on; `u32::MAX` is none.
    Table {
        least: u64,
        places: Vec<u32>,
    },
    Map(HashMap<u64, u32>),
}

impl Ids {
    /// The places of numbers, of which none may come twice. The fault has the place of the second one.
    pub fn new(ids: &[u64]) -> Outcome<Result<Self, (usize, MeshFault)>> {
        let (least, greatest) = (ids.iter().min().copied(), ids.iter().max().copied());
        let (least, greatest) = (least.unwrap_or(0), greatest.unwrap_or(0));
        let same = |place: usize| (place, MeshFault::SameNode { node: ids[place] });
        if greatest - least < 4 * ids.len() as u64 + 4 {
            let mut places = memory::filled((greatest - least) as usize + 1, u32::MAX)?;
            for (place, &id) in ids.iter().enumerate() {
                let entry = &mut places[(id - least) as usize];
                if std::mem::replace(entry, place as u32) != u32::MAX {
                    return Ok(Err(same(place)));
                }
            }
            return Ok(Ok(Self::Table { least, places }));
        }
        let mut map = HashMap::new();
        for (place, &id) in ids.iter().enumerate() {
            if map.insert(id, place as u32).is_some() {
                return Ok(Err(same(place)));
            }
        }
        Ok(Ok(Self::Map(map)))
    }

    /// The place of a number.
    pub fn get(&self, id: u64) -> Option<u32> {
        match self {
            Self::Table { least, places } => {
                let place = *places.get(usize::try_from(id.checked_sub(*least)?).ok()?)?;
                (place != u32::MAX).then_some(place)
            }
            Self::Map(map) => map.get(&id).copied(),
        }
    }
}

/// Numbers, and the offsets of those of a text or a binary file.
#[derive(Default)]
pub(crate) struct Given {
    pub ids: Vec<u64>,
    pub offsets: Vec<usize>,
}

impl Given {
    pub fn push(&mut self, id: u64, offset: usize) -> Outcome<()> {
        push(&mut self.ids, id)?;
        push(&mut self.offsets, offset)
    }
}
