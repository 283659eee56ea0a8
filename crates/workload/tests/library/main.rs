//! The package as its users call it.

mod assign;
#[path = "../../../../tests/common/mod.rs"]
mod common;
mod contention;
#[path = "../../../../tests/common/reader.rs"]
mod reader;
mod readers;
mod shares;
mod simulate;
