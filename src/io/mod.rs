//! Files: METIS graphs, mappings, partitions.

pub mod metis;
