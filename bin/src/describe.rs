//! What a program says about itself to shells and to `man`: completions and its manual page, made from its options.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::console::Console;
use viem_io::{Outputs, WriteError};

const COMPLETIONS: &str = "completions";
const MAN: &str = "man";

/// A program with the options for that. They stand alone, without the arguments that the program needs else.
pub(crate) fn with_options(command: Command) -> Command {
    let completions = Arg::new(COMPLETIONS)
        .long(COMPLETIONS)
        .value_name("SHELL")
        .value_parser(value_parser!(Shell))
        .exclusive(true)
        .help("Print the completions of this program for a shell");
    let man = Arg::new(MAN)
        .long(MAN)
        .action(ArgAction::SetTrue)
        .exclusive(true)
        .help("Print the manual page, to be read with man -l -");
    // Not under the heading of the last group.
    command.args([completions, man].map(|arg| arg.help_heading(None::<&str>)))
}

/// Prints what was asked for, if it was.
pub(crate) fn print(matches: &ArgMatches, mut command: Command) -> Option<Result<(), WriteError>> {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    if let Some(&shell) = matches.get_one::<Shell>(COMPLETIONS) {
        clap_complete::generate(shell, &mut command, name, &mut text);
        if shell == Shell::Zsh {
            text = with_escaped_colons(&command, text);
        }
    } else if matches.get_flag(MAN) {
        Man::new(command).render(&mut text).expect("memory takes what is written to it");
    } else {
        return None;
    }
    Some(to_stdout(&text))
}

/// In completions of zsh a colon ends the name of a value, and what follows is run.
fn with_escaped_colons(command: &Command, text: Vec<u8>) -> Vec<u8> {
    let mut text = String::from_utf8(text).expect("options have names of UTF-8");
    let names = command.get_arguments().flat_map(|arg| arg.get_value_names().unwrap_or_default());
    for name in names.filter(|name| name.contains(':')) {
        text = text.replace(&format!(":{name}:"), &format!(":{}:", name.replace(':', r"\:")));
    }
    text.into_bytes()
}

fn to_stdout(text: &[u8]) -> Result<(), WriteError> {
    let mut outputs = Outputs::new();
    let stdout = outputs.add(Path::new("-"), &[])?;
    Console::new(true, &outputs)?;
    outputs.write(&[(Some(stdout), &|out| out.write_all(text))])
}
