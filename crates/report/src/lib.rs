//! The effect of a mapping on the traffic: figures by level and distance, loads of nodes and switches, comparison of mappings, and
//! pictures. Also the head of the reports of all programs.

pub mod compare;
pub mod envelope;
pub mod loads;
pub mod picture;
pub mod traffic;

#[cfg(test)]
#[path = "../../../tests/common/problems.rs"]
mod testing;
