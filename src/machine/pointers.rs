//! A pointer to a machine is that machine: every method is forwarded.
//!
//! Clippy refuses an implementation that leaves a method to its default, and `tests/library/machine/pointers.rs` compares what
//! comes through each pointer.

use std::sync::Arc;

use crate::base::types::PeId;
use crate::machine::{
    Audited, Distances, Division, Hierarchy, Interconnect, Located, Location, Machine, MachineError, Note,
    SlurmJob,
};

macro_rules! forward {
    ($pointer:ty) => {
        #[deny(clippy::missing_trait_methods)]
        impl<M: Machine + ?Sized> Machine for $pointer {
            fn num_pes(&self) -> usize {
                (**self).num_pes()
            }
            fn distances(&self) -> Result<Distances, MachineError> {
                (**self).distances()
            }
            fn division(&self) -> Division {
                (**self).division()
            }
            fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
                (**self).distances_among(list)
            }
            fn division_among(&self, list: &[PeId]) -> Division {
                (**self).division_among(list)
            }
            fn interconnect(&self) -> Interconnect {
                (**self).interconnect()
            }
            fn capacity(&self, pe: PeId) -> u32 {
                (**self).capacity(pe)
            }
            fn capacities(&self) -> Vec<u32> {
                (**self).capacities()
            }
            fn room(&self) -> u64 {
                (**self).room()
            }
            fn first_pes(&self, least: usize) -> Option<Box<dyn Machine>> {
                (**self).first_pes(least)
            }
            fn compact_pes(&self, least: usize) -> Option<Vec<PeId>> {
                (**self).compact_pes(least)
            }
            fn number(&self, pe: PeId) -> PeId {
                (**self).number(pe)
            }
            fn whole(&self) -> Option<&dyn Machine> {
                (**self).whole()
            }
            fn hierarchy(&self) -> Option<&Hierarchy> {
                (**self).hierarchy()
            }
            fn describe(&self) -> String {
                (**self).describe()
            }
            fn located(&self) -> Option<&dyn Located> {
                (**self).located()
            }
            fn audited(&self) -> Option<&dyn Audited> {
                (**self).audited()
            }
        }

        #[deny(clippy::missing_trait_methods)]
        impl<M: Located + ?Sized> Located for $pointer {
            fn location(&self, pe: PeId) -> Location {
                (**self).location(pe)
            }
            fn host(&self, node: u32) -> Option<&str> {
                (**self).host(node)
            }
            fn num_nodes(&self) -> Option<u32> {
                (**self).num_nodes()
            }
            fn slurm_job(&self) -> Option<&SlurmJob> {
                (**self).slurm_job()
            }
        }

        #[deny(clippy::missing_trait_methods)]
        impl<M: Audited + ?Sized> Audited for $pointer {
            fn notes(&self) -> Vec<Note> {
                (**self).notes()
            }
            fn outline(&self) -> String {
                (**self).outline()
            }
        }
    };
}

forward!(&M);
forward!(Box<M>);
forward!(Arc<M>);
