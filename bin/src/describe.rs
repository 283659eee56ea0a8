//! What a program says about itself to shells and to `man`: completions and its manual page, made from its options.

use std::io::IsTerminal;
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::console::Console;
use viem_io::{Outputs, WriteError};

const COMPLETIONS: &str = "completions";
const MAN: &str = "man";
const HELP: &str = "help";

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

/// The command of a verb with the options that all have: its help, and its manual page.
pub(crate) fn of_verb(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let help = Arg::new(HELP).short('h').long(HELP).action(ArgAction::HelpShort).help_heading(None::<&str>);
    let help =
        help.help(format!("List the common options (-h), or all (--help); viem help {name} explains them"));
    with_manual(command.bin_name(format!("viem {name}")).disable_help_flag(true)).arg(help)
}

/// A command whose help has the first sentence of each option that is not hidden there, its values and its default.
pub(crate) fn with_common_options(command: Command) -> Command {
    let about = command.get_about().map(|about| first_sentence(&about.to_string()).to_owned());
    let command = about.into_iter().fold(command, Command::about);
    command.mut_args(|arg| match arg.get_help().filter(|_| arg.get_id() != HELP) {
        Some(help) => {
            let brief = brief(&help.to_string(), &arg);
            let takes_value = arg.get_action().takes_values();
            arg.help(brief).hide_possible_values(takes_value)
        }
        None => arg,
    })
}

/// The same of all options, on a screen: a line for each, or two.
pub(crate) fn with_all_options(command: Command) -> Command {
    let command = with_common_options(command).mut_args(|arg| arg.hide_short_help(false));
    let part =
        |template: &'static str| command.clone().help_template(template).render_help().ansi().to_string();
    let head = part("{about-with-newline}\n{usage-heading} {usage}\n");
    // Blank lines between groups, and the heads of the first two, would cost a sixth of the screen.
    let is_shown = |line: &&str| {
        let is_head = ["Arguments:", "Options:"].iter().any(|head| line.contains(head));
        !line.is_empty() && !is_head
    };
    let options = part("{all-args}");
    let options = options.lines().filter(is_shown).collect::<Vec<_>>().join("\n");
    let end = part("{after-help}");
    command.override_help(format!("{head}{options}\n\n{}", end.trim_start()))
}

/// Characters that the line of an option in a list has for the names of its values.
const MOST_NAMES: usize = 40;

/// The first sentence of the help of an option, its values unless they are many, and the default that the help states at its end.
fn brief(help: &str, arg: &Arg) -> String {
    let values = arg.get_possible_values();
    let names = values.iter().map(|value| value.get_name()).collect::<Vec<_>>().join(", ");
    let takes_one = arg.get_action().takes_values() && !names.is_empty() && names.len() <= MOST_NAMES;
    let values = if takes_one { format!(": {names}") } else { String::new() };
    let default = help.rfind(" [default: ").map_or("", |start| &help[start..]);
    format!("{}{values}{default}", first_sentence(help))
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

/// Prints all that is known of a verb and its options.
pub(crate) fn explain(verb: Command) -> Result<(), WriteError> {
    let text = of_verb(verb).render_long_help();
    let is_plain = !std::io::stdout().is_terminal();
    to_stdout(if is_plain { text.to_string() } else { text.ansi().to_string() }.as_bytes())
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

pub(crate) fn to_stdout(text: &[u8]) -> Result<(), WriteError> {
    let mut outputs = Outputs::new();
    let stdout = outputs.add(Path::new("-"), &[])?;
    Console::check_open(&outputs)?;
    outputs.write(&[(Some(stdout), &|out| out.write_all(text))])
}
