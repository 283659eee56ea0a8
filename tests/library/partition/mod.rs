mod empty_blocks;
mod fixed;
mod least_loads;
mod multilevel;
mod orders;
mod remap;
mod weights;
