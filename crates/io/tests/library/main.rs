//! The package as its users call it: readers, writers, and outputs.

#[path = "../../../../tests/common/files.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod files;
mod machines;
mod mapping;
mod memory;
mod metis;
mod output;
mod parhip;
#[path = "../../../../tests/common/reader.rs"]
mod reader;
mod readers;
mod source;
