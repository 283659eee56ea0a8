//! Mappings along an order of the processes: ranges of it take the parts of the machine.

use crate::machine::Places;
use crate::mapping::{Mapping, MappingError};
use crate::problem::{ProblemError, check_room};
use crate::topology::{Machine, MachineError};
use crate::types::NodeId;

/// Why there is no mapping along an order.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum AlongError {
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("the order: {0}")]
    Order(#[from] MappingError),
}

/// The i-th process of an order on the i-th place in the order of the machine's parts; O(n) besides what the machine takes.
///
/// ```
/// use viem::Hierarchy;
/// use viem::construct::along;
///
/// let machine = Hierarchy::parse("2:2", "1:10")?;
/// assert_eq!(along(&machine, &[3, 2, 0, 1])?.as_slice(), [2, 3, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn along(machine: &dyn Machine, order: &[NodeId]) -> Result<Mapping, AlongError> {
    check_room(order.len(), machine)?;
    let places = Places::of(machine)?;
    let mut pe_of = vec![0; order.len()];
    for (&process, &pe) in order.iter().zip(places.pe_of()) {
        if let Some(own) = pe_of.get_mut(process as usize) {
            *own = pe;
        }
    }
    Ok(Mapping::on(machine, pe_of)?)
}
