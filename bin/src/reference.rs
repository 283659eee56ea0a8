//! The options of all verbs as data, from clap, and as a page of the guide. Options of VieM that no verb needs are those of its programs alone.

use clap::{Arg, Command};

use crate::forms;
use crate::verbs::VERBS;

/// What the page of the guide says above its lists.
const INTRODUCTION: &str = "\
# Options

All options of all verbs, as `viem help VERB` and the manual pages explain them. This page is generated from the program.

Options are written as `--seed=1` or `--seed 1`, those of one letter as `-s1` or `-s 1`. A file name `-` is standard input or standard output.

## All verbs

| option | what it does |
|---|---|
| `--help`, `-h` | List all options; `-h` the common ones. `viem help VERB` explains them |
| `--version`, `-V` | Print the version; `viem --version --verbose` also prints the details that belong in a bug report |
| `--man` | Print the manual page: `viem map --man \\| man -l -` |

`viem --completions=SHELL` prints completions for `bash`, `zsh`, `fish`, `elvish` or `powershell`.
";

/// What it says above the programs of VieM.
const VIEM: &str = "
## VieM's programs

Scripts for VieM run unchanged: each of its programs is a verb. What VieM never had is only in the verb.
";

/// A verb or a program, and its options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandReference {
    /// Its name, such as `viem map`.
    pub name: String,
    /// What it does, in a sentence.
    pub about: String,
    /// Its options, in the order of its help.
    pub options: Vec<OptionReference>,
}

/// An option, or an argument without a name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OptionReference {
    /// Its name without dashes; that of the value if it has none.
    pub name: String,
    /// Whether it has a name on the command line.
    pub is_named: bool,
    /// The letter that is short for it.
    pub short: Option<char>,
    /// What is given for it; empty for a switch.
    pub value: String,
    /// What holds if it is not given; empty if that is nothing.
    pub default: String,
    /// What may be given for it; empty if that cannot be listed.
    pub values: Vec<String>,
    /// What it does.
    pub help: String,
}

/// All verbs and their options.
pub fn verbs() -> Vec<CommandReference> {
    let named = |verb: &crate::verbs::Entry| reference_of((verb.command)(), format!("viem {}", verb.name));
    VERBS.iter().map(named).collect()
}

/// The programs of VieM and their options.
pub fn forms() -> Vec<CommandReference> {
    let named = |command: Command| {
        let name = command.get_name().to_owned();
        reference_of(command, name)
    };
    forms::commands().map(named).collect()
}

fn reference_of(mut command: Command, name: String) -> CommandReference {
    command.build();
    let is_own =
        |option: &&Arg| !matches!(option.get_id().as_str(), "help" | "version") && !option.is_hide_set();
    CommandReference {
        name,
        about: command.get_about().map(ToString::to_string).unwrap_or_default(),
        options: command.get_arguments().filter(is_own).map(reference).collect(),
    }
}

fn reference(option: &Arg) -> OptionReference {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let (help, stated) = help.split_once(" [default: ").unwrap_or((&help, ""));
    let takes_value = option.get_action().takes_values();
    let defaults = option.get_default_values().iter().filter(|_| takes_value);
    let default = defaults.map(|value| value.to_string_lossy().into_owned()).collect::<Vec<_>>().join(",");
    let names = option.get_value_names().filter(|_| takes_value).unwrap_or_default();
    let value = names.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(" ");
    OptionReference {
        name: option.get_long().map_or(value.clone(), str::to_owned),
        is_named: option.get_long().is_some(),
        short: option.get_short(),
        value,
        default: if default.is_empty() {
            stated.split(']').next().unwrap_or_default().to_owned()
        } else {
            default
        },
        values: option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
        help: help.to_owned(),
    }
}

/// The page of the guide: the options of each verb, and of each program of VieM.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    verbs().iter().for_each(|verb| page += &section(verb, "##"));
    page += VIEM;
    forms().iter().for_each(|form| page += &section(form, "###"));
    page
}

fn section(command: &CommandReference, heading: &str) -> String {
    let items = command.options.iter().map(item).collect::<String>();
    format!("\n{heading} {}\n\n{}\n\n{items}", command.name, wrapped(&command.about))
}

/// An option as an item of a list.
fn item(option: &OptionReference) -> String {
    let OptionReference { name, is_named, short, value, default, values, help } = option;
    let value = match (is_named, value.is_empty()) {
        (true, false) => format!("={value}"),
        _ => String::new(),
    };
    let dashes = if *is_named { "--" } else { "" };
    let short = short.map_or_else(String::new, |short| format!(", `-{short}`"));
    // What would begin another item at the start of a line.
    let help = help.replace(" - ", " `-` ").replace(" * ", " \\* ");
    let listed = values.iter().map(|value| code(value)).collect::<Vec<_>>().join(", ");
    let values = if values.is_empty() { String::new() } else { format!(". Values: {listed}") };
    let default = if default.is_empty() { String::new() } else { format!(". Default: {}", code(default)) };
    let text = format!("- `{dashes}{name}{value}`{short}: {help}{values}{default}");
    wrapped(&text).replace('\n', "\n  ") + "\n"
}

/// The longest line of a text.
const WIDTH: usize = 120;

/// A text in lines of a page.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            lines.push(word.to_owned());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines.join("\n")
}

/// A name as code; what is not one, such as a default that is described, stays text.
fn code(text: &str) -> String {
    if text.is_empty() || text.contains(' ') { text.to_owned() } else { format!("`{text}`") }
}
