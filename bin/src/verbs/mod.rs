//! The verbs of `viem`: one for each job, with its own options.

mod check;
mod convert;
mod experts;

mod machine;
mod map;
mod partition;
mod qap;
mod remap;
mod score;
mod simulate;
mod traffic;
mod training;

use std::ffi::OsString;

use clap::Command;

use crate::exit;
use crate::verb::Form;

/// A verb as the table has it.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// The command as clap has it.
    pub(crate) command: fn() -> Command,
    /// Runs the verb with a command line, whose first argument is its name; returns the exit code.
    pub(crate) run: fn(Vec<OsString>, Form) -> u8,
}

/// Declares the verbs, in the order of the help.
macro_rules! verbs {
    ($($name:ident)*) => {
        /// All verbs.
        pub(crate) const VERBS: &[Entry] = &[$(Entry {
            name: stringify!($name),
            command: <$name::Options as clap::CommandFactory>::command,
            run: exit::run::<$name::Options>,
        },)*];
    };
}

verbs! { map partition remap score check convert traffic training experts simulate qap machine }

/// The verb of this name.
pub(crate) fn verb(name: &str) -> Option<&'static Entry> {
    VERBS.iter().find(|verb| verb.name == name)
}
