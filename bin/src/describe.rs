//! What a program says about itself to shells and to `man`: completions and its manual page, made from its options.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::console::Console;
use viem_io::{Outputs, WriteError};

const COMPLETIONS: &str = "completions";
const MAN: &str = "man";

/// A command with an option that prints its manual page. It stands alone, without the arguments that the command needs otherwise.
pub(crate) fn with_manual(command: Command) -> Command {
    let man = Arg::new(MAN)
        .long(MAN)
        .action(ArgAction::SetTrue)
        .exclusive(true)
        .help("Print the manual page, to be read with man -l -");
    // Not under the heading of the last group.
    command.arg(man.help_heading(None::<&str>))
}

/// The same with help in two lengths: `-h` has the first sentence of each option, `--help` all of them.
pub(crate) fn with_short_help(command: Command) -> Command {
    command.mut_args(|arg| {
        let Some(help) = arg.get_help().map(ToString::to_string) else { return arg };
        let brief = first_sentence(&help).to_owned();
        let arg = arg.hide_possible_values(false);
        if brief == help { arg } else { arg.help(brief).long_help(help) }
    })
}

/// The first sentence of a help text.
pub(crate) fn first_sentence(help: &str) -> &str {
    let end = [". ", "; ", " [default: "].into_iter().filter_map(|end| help.find(end)).min();
    end.map_or(help, |end| &help[..end])
}

/// The same with an option that prints completions.
pub(crate) fn with_completions(command: Command) -> Command {
    let completions = Arg::new(COMPLETIONS)
        .long(COMPLETIONS)
        .value_name("SHELL")
        .value_parser(value_parser!(Shell))
        .exclusive(true)
        .help("Print completions for a shell");
    with_manual(command.arg(completions.help_heading(None::<&str>)))
}

/// Prints the manual page, if that was asked for.
pub(crate) fn print_manual(matches: &ArgMatches, command: Command) -> Option<Result<(), WriteError>> {
    let is_asked = matches.try_get_one::<bool>(MAN).ok().flatten().copied().unwrap_or(false);
    is_asked.then(|| {
        let mut text = Vec::new();
        Man::new(command).render(&mut text).expect("memory takes what is written to it");
        to_stdout(&text)
    })
}

/// Prints completions, if these were asked for.
pub(crate) fn print_completions(
    matches: &ArgMatches,
    mut command: Command,
) -> Option<Result<(), WriteError>> {
    let &shell = matches.get_one::<Shell>(COMPLETIONS)?;
    let (name, mut text) = (command.get_name().to_owned(), Vec::new());
    clap_complete::generate(shell, &mut command, name, &mut text);
    if shell == Shell::Zsh {
        text = with_escaped_colons(&command, text);
    }
    Some(to_stdout(&text))
}

/// In completions of zsh a colon ends the name of a value, and what follows is run.
fn with_escaped_colons(command: &Command, text: Vec<u8>) -> Vec<u8> {
    let mut text = String::from_utf8(text).expect("options have names of UTF-8");
    let arguments = command.get_arguments().chain(command.get_subcommands().flat_map(Command::get_arguments));
    let names = arguments.flat_map(|arg| arg.get_value_names().unwrap_or_default());
    for name in names.filter(|name| name.contains(':')) {
        text = text.replace(&format!(":{name}:"), &format!(":{}:", name.replace(':', r"\:")));
    }
    text.into_bytes()
}

fn to_stdout(text: &[u8]) -> Result<(), WriteError> {
    let mut outputs = Outputs::new();
    let stdout = outputs.add(Path::new("-"), &[])?;
    Console::check_open(&outputs)?;
    outputs.write(&[(Some(stdout), &|out| out.write_all(text))])
}
