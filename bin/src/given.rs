//! The options that were given on the command line, whatever their values are by default.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use crate::console::Console;
use viem_io::{Outputs, WriteError};

/// What stands on the command line.
pub(crate) struct Given {
    matches: ArgMatches,
    /// Options that were not given in full, and what they were taken for.
    abbreviated: Vec<(String, String)>,
}

impl Given {
    /// What `arguments` give; `matches` is how they were understood by the command.
    pub(crate) fn new(
        command: &Command,
        matches: ArgMatches,
        arguments: impl Iterator<Item = String>,
    ) -> Self {
        Self { matches, abbreviated: abbreviated(command, arguments) }
    }

    /// Whether an option was given, by its id.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.matches.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// Whether an option was given with one of these values.
    pub(crate) fn has_one_of(&self, option: &str, values: &[&str]) -> bool {
        self.value(option).is_some_and(|value| values.contains(&value.as_str()))
    }

    /// What was given for an option.
    pub(crate) fn value(&self, option: &str) -> Option<String> {
        let mut values = self.matches.get_raw(option).filter(|_| self.has(option))?;
        values.next().map(|value| value.to_string_lossy().into_owned())
    }

    /// The console of a program with these outputs. Its first line warns of abbreviated options.
    pub(crate) fn console(&self, quiet: bool, outputs: &Outputs) -> Result<Console, WriteError> {
        let console = Console::new(quiet, outputs)?;
        if !self.abbreviated.is_empty() {
            let names = self.abbreviated.iter().map(|(given, meant)| format!("{given} is taken for {meant}"));
            let names = names.collect::<Vec<_>>().join(", ");
            console.warn(format_args!("{names}; scripts should give the names of options in full"));
        }
        Ok(console)
    }
}

/// The options among the arguments that are not given in full, and what they stand for. No value of an option begins with
/// two dashes.
fn abbreviated(command: &Command, arguments: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let names: Vec<&str> = command
        .get_arguments()
        .flat_map(|option| option.get_long().into_iter().chain(option.get_all_aliases().unwrap_or_default()))
        .collect();
    let mut found = Vec::new();
    for argument in arguments.take_while(|argument| argument != "--") {
        let Some(name) = argument.strip_prefix("--") else { continue };
        let name = name.split('=').next().unwrap_or(name);
        let meant = names.iter().find(|full| full.starts_with(name)).filter(|_| !names.contains(&name));
        found.extend(meant.map(|meant| (format!("--{name}"), format!("--{meant}"))));
    }
    found
}
