//! The package as its users call it.

mod placement;
#[path = "../../../../tests/common/reader.rs"]
mod reader;
mod readers;
