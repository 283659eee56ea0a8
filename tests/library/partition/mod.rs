mod multilevel;
mod orders;
mod remap;
