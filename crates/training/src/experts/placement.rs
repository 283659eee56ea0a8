//! The expert in each slot.

use super::copies::ExpertCopies;
use super::error::{ExpertError, ExpertId};
use super::previous::moved;
use super::routing::ExpertRouting;

/// The expert in each slot of each layer. The slots of a layer belong to the PEs in equal numbers, PE after PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpertPlacement {
    num_experts: ExpertId,
    layers: Vec<Vec<ExpertId>>,
}

impl ExpertPlacement {
    /// Makes a placement from the experts by layer and slot. Each of the experts has a slot in each layer, and all layers have equally many slots.
    pub fn new(num_experts: ExpertId, layers: Vec<Vec<ExpertId>>) -> Result<Self, ExpertError> {
        let Some(first) = layers.first() else { return Err(ExpertError::NoLayers) };
        let others = first.len();
        for (layer, slots) in layers.iter().enumerate() {
            if slots.len() != others {
                return Err(ExpertError::UnequalLayers { layer, copies: slots.len(), others });
            }
            let mut has_copy = vec![false; num_experts as usize];
            for &expert in slots {
                let experts = num_experts;
                let place = has_copy.get_mut(expert as usize);
                *place.ok_or(ExpertError::NoSuchExpert { expert: expert.into(), experts })? = true;
            }
            if let Some(expert) = has_copy.iter().position(|&has_copy| !has_copy) {
                return Err(ExpertError::NoCopy { layer, expert: expert as ExpertId });
            }
        }
        Ok(Self { num_experts, layers })
    }

    /// The placement in the order of numbers: first one copy of each expert, then the others. Frameworks start with it.
    pub fn in_order(routing: &ExpertRouting, copies: &ExpertCopies) -> Result<Self, ExpertError> {
        let slots = |layer| {
            let experts = 0..routing.num_experts();
            let more = |expert: ExpertId| copies.of(layer)[expert as usize] as usize - 1;
            let others = experts.clone().flat_map(|expert| std::iter::repeat_n(expert, more(expert)));
            experts.clone().chain(others).collect()
        };
        Self::new(routing.num_experts(), (0..routing.num_layers()).map(slots).collect())
    }

    /// The experts by slot, those of a layer.
    pub fn layer(&self, layer: usize) -> &[ExpertId] {
        &self.layers[layer]
    }

    /// The experts by slot, of all layers.
    pub fn layers(&self) -> &[Vec<ExpertId>] {
        &self.layers
    }

    /// Slots of a layer.
    pub fn num_slots(&self) -> usize {
        self.layers[0].len()
    }

    /// Returns the number of copies on a PE that did not have them in an older placement with as many slots.
    pub fn moved_from(&self, old: &Self, num_pes: usize) -> usize {
        self.layers.iter().zip(&old.layers).map(|(new, old)| moved(new, old, num_pes)).sum()
    }

    /// Fails unless this may be the older placement of copies: it has as many layers, experts and slots.
    pub fn check_old(&self, routing: &ExpertRouting, copies: &ExpertCopies) -> Result<(), ExpertError> {
        let (found, expected) = (self.layers.len(), routing.num_layers());
        if found != expected {
            return Err(ExpertError::OldLayers { found, expected });
        }
        let (found, expected) = (self.num_experts, routing.num_experts());
        if found != expected {
            return Err(ExpertError::OldExperts { found, expected });
        }
        let (found, expected) = (self.num_slots(), copies.of(0).iter().map(|&count| count as usize).sum());
        if found == expected { Ok(()) } else { Err(ExpertError::OldSlots { found, expected }) }
    }

    /// Returns the number of copies of each expert.
    pub fn copies(&self) -> ExpertCopies {
        let of_layer = |slots: &Vec<ExpertId>| {
            let mut copies = vec![0; self.num_experts as usize];
            slots.iter().for_each(|&expert| copies[expert as usize] += 1);
            copies
        };
        ExpertCopies::from_rows(self.layers.iter().map(of_layer).collect())
    }

    /// The slots with a copy of an expert, in ascending order. Slot s is on PE s / (slots of a PE).
    pub fn slots_of(&self, layer: usize, expert: ExpertId) -> impl Iterator<Item = usize> {
        self.layers[layer]
            .iter()
            .enumerate()
            .filter(move |&(_, &other)| other == expert)
            .map(|(slot, _)| slot)
    }
}
