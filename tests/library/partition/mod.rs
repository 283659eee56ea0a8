mod fixed;
mod multilevel;
mod orders;
mod remap;
