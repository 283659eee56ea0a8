mod cluster;
mod families;
mod files;
mod hwloc;
mod own;
mod pointers;
mod recognise;
mod spec;
