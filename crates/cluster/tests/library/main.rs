//! The package as its users call it.

mod cluster;
#[path = "../../../../tests/common/estimate.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod estimate;
#[path = "../../../../tests/common/files.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod files;
mod hwloc;
#[path = "../../../../tests/common/reader.rs"]
mod reader;
mod readers;
mod spec;
