//! What a mapping does to the traffic: figures by level and distance, mappings side by side, and pictures.

pub mod compare;
pub mod picture;
pub mod traffic;
