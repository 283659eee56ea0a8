//! Uneven trees as machines.

use crate::machine::{Distances, Division, Interconnect, Machine, MachineError, Placed, UnevenTree};

impl Machine for UnevenTree {
    fn num_pes(&self) -> usize {
        self.codes().len()
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        Ok(Distances::Prefixes(Placed::new(self.prefixes(), self.codes().to_vec())))
    }

    fn interconnect(&self) -> Interconnect {
        Interconnect::UnevenTree(self.clone())
    }

    fn division(&self) -> Division {
        Division::Parts(self.parts())
    }

    fn describe(&self) -> String {
        format!("uneven tree of {} processing elements", self.codes().len())
    }
}
