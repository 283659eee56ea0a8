mod cluster;
mod families;
mod files;
mod hwloc;
mod recognise;
mod spec;
