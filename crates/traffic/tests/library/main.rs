//! The package as its users call it.

#[path = "../../../../tests/common/files.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod files;
mod kinds;
#[path = "../../../../tests/common/reader.rs"]
mod reader;
mod readers;
