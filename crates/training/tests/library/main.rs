//! The package as its users call it.

#[path = "../../../../tests/common/reader.rs"]
mod reader;
mod readers;
