//! The number of copies of each expert.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::{ExpertError, ExpertId, MOST_COPIES};
use super::routing::{ExpertRouting, LayerRouting};

/// The number of copies of each expert of each layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpertCopies(Vec<Vec<u32>>);

impl ExpertCopies {
    /// One copy of each.
    pub fn single(routing: &ExpertRouting) -> Self {
        Self(vec![vec![1; routing.num_experts() as usize]; routing.num_layers()])
    }

    /// This many more copies in each layer. One after the other goes to the expert whose copies have most tokens each, so the greatest load of a copy is as
    /// small as it can be. O(layers · (experts + replicas) · log experts).
    pub fn replicated(routing: &ExpertRouting, replicas: usize) -> Result<Self, ExpertError> {
        let copies = (routing.num_experts() as usize).saturating_add(replicas);
        if copies > MOST_COPIES {
            return Err(ExpertError::TooManyCopies { copies });
        }
        Ok(Self(routing.layers().iter().map(|layer| replicate(layer, replicas)).collect()))
    }

    /// Given numbers, by layer and expert. A single row is that of all layers.
    pub fn given(routing: &ExpertRouting, mut rows: Vec<Vec<u32>>) -> Result<Self, ExpertError> {
        if let [row] = &rows[..] {
            rows = vec![row.clone(); routing.num_layers()];
        }
        let (found, expected) = (rows.len(), routing.num_layers());
        if found != expected {
            return Err(ExpertError::OtherLayers { found, expected });
        }
        for (layer, row) in rows.iter().enumerate() {
            for expert in 0..routing.num_experts() {
                if row.get(expert as usize).is_none_or(|&copies| copies == 0) {
                    return Err(ExpertError::NoCopy { layer, expert });
                }
            }
            if row.len() > routing.num_experts() as usize {
                let (expert, experts) = (routing.num_experts().into(), routing.num_experts());
                return Err(ExpertError::NoSuchExpert { expert, experts });
            }
        }
        Ok(Self(rows))
    }

    /// Makes them from the numbers by layer and expert.
    pub(super) fn from_rows(rows: Vec<Vec<u32>>) -> Self {
        Self(rows)
    }

    /// Returns the numbers of a layer, by expert.
    pub fn of(&self, layer: usize) -> &[u32] {
        &self.0[layer]
    }

    /// Fails unless each layer has the same number of copies, which the PEs can share equally.
    pub(super) fn check(&self, routing: &ExpertRouting, num_pes: usize) -> Result<(), ExpertError> {
        let (found, expected) = (self.0.len(), routing.num_layers());
        if found != expected {
            return Err(ExpertError::OtherLayers { found, expected });
        }
        let count = |row: &[u32]| row.iter().fold(0usize, |sum, &copies| sum.saturating_add(copies as usize));
        let copies = count(&self.0[0]);
        if copies > MOST_COPIES {
            return Err(ExpertError::TooManyCopies { copies });
        }
        if copies % num_pes != 0 {
            let fitting = copies.next_multiple_of(num_pes) - routing.num_experts() as usize;
            return Err(ExpertError::Indivisible { copies, pes: num_pes, fitting });
        }
        match (1..found).find(|&layer| count(&self.0[layer]) != copies) {
            Some(layer) => {
                Err(ExpertError::UnequalLayers { layer, copies: count(&self.0[layer]), others: copies })
            }
            None => Ok(()),
        }
    }
}

fn replicate(layer: &LayerRouting, replicas: usize) -> Vec<u32> {
    let mut copies = vec![1; layer.loads().len()];
    // Of equal ones the first.
    let entry =
        |expert: usize, copies: u32| (PerCopy { load: layer.loads()[expert], copies }, Reverse(expert));
    let mut heap: BinaryHeap<_> = (0..copies.len()).map(|expert| entry(expert, 1)).collect();
    for _ in 0..replicas {
        let Some((_, Reverse(expert))) = heap.pop() else { break };
        copies[expert] += 1;
        heap.push(entry(expert, copies[expert]));
    }
    copies
}

/// The load of each of some copies, compared exactly.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PerCopy {
    load: u64,
    copies: u32,
}

impl Ord for PerCopy {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let scaled = |own: &Self, other: &Self| u128::from(own.load) * u128::from(other.copies);
        scaled(self, other).cmp(&scaled(other, self))
    }
}

impl PartialOrd for PerCopy {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The expert of each copy: those of an expert follow each other.
pub(super) fn experts(copies: &[u32]) -> Vec<ExpertId> {
    let of_expert = |(expert, &count): (usize, &u32)| std::iter::repeat_n(expert as ExpertId, count as usize);
    copies.iter().enumerate().flat_map(of_expert).collect()
}

/// The load of each copy, in the same order: all copies of an expert have equally much, up to a token.
pub(super) fn loads(copies: &[u32], routing: &LayerRouting) -> Vec<u64> {
    let of_expert = |(&count, &load): (&u32, &u64)| {
        let count = u64::from(count);
        (0..count).map(move |copy| load / count + u64::from(copy < load % count))
    };
    copies.iter().zip(routing.loads()).flat_map(of_expert).collect()
}
