//! The options of all programs as data, from clap and from the tables of modes, and as the tables of the guide.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};

use crate::modes::{Mode, Table};
use crate::programs::{evaluator, generate_model, graphchecker, viem};

/// What the page of the guide says above its tables.
const INTRODUCTION: &str = "\
# Options

Every option of every program, and the modes in which it means something. An option that is given where it means nothing is refused.
This page is generated; `--help` says more about each option.
";

/// A program and its options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgramReference {
    /// Its name.
    pub name: String,
    /// The names of its modes.
    pub modes: Vec<&'static str>,
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
    /// What is given for it; empty for a switch.
    pub value: String,
    /// What holds if it is not given; empty if that is nothing.
    pub default: String,
    /// What it does, in a sentence.
    pub help: String,
    /// The values that mean something, by mode, in the order of [`ProgramReference::modes`]; none in the list: all of them.
    pub modes: Vec<(&'static str, Vec<&'static str>)>,
}

/// All programs and their options.
pub fn programs() -> Vec<ProgramReference> {
    vec![
        program(viem::options::Options::command(), &viem::options::TABLE),
        program(evaluator::options::Options::command(), &evaluator::options::TABLE),
        program(generate_model::options::Options::command(), &generate_model::options::TABLE),
        program(graphchecker::Options::command(), &graphchecker::TABLE),
    ]
}

fn program(mut command: Command, table: &Table) -> ProgramReference {
    command.build();
    let is_own = |option: &&Arg| !matches!(option.get_id().as_str(), "help" | "version");
    ProgramReference {
        name: command.get_name().to_owned(),
        modes: table.modes.iter().map(|mode| mode.name()).collect(),
        options: command.get_arguments().filter(is_own).map(|option| reference(option, table)).collect(),
    }
}

fn reference(option: &Arg, table: &Table) -> OptionReference {
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
        value,
        default: if default.is_empty() {
            stated.split(']').next().unwrap_or_default().to_owned()
        } else {
            default
        },
        help: first_sentence(help).to_owned(),
        modes: table
            .modes
            .iter()
            .filter_map(|&mode| Some((mode.name(), values_in(option, mode, table)?)))
            .collect(),
    }
}

/// The values of an option that mean something in a mode; all of them if there are none in the list.
fn values_in(option: &Arg, mode: Mode, table: &Table) -> Option<Vec<&'static str>> {
    let mut rows = table.rows_of(option.get_id().as_str()).filter(|row| row.modes.contains(&mode)).peekable();
    rows.peek()?;
    Some(rows.flat_map(|row| row.values.iter().copied()).collect())
}

fn first_sentence(help: &str) -> &str {
    let end = [". ", "; "].into_iter().filter_map(|end| help.find(end)).min();
    end.map_or(help, |end| &help[..end])
}

/// The page of the guide: a table for each program.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    for program in programs() {
        let _ =
            write!(page, "\n## {}\n\n| option | value | default | what it does | modes |\n", program.name);
        page += "|---|---|---|---|---|\n";
        for option in &program.options {
            let name = if option.is_named { format!("`--{}`", option.name) } else { String::new() };
            let OptionReference { value, default, help, .. } = option;
            let modes = modes(option, &program);
            let line = [name, code(value), code(default), help.replace('|', "\\|"), modes];
            page += &format!("| {} |\n", line.join(" | ")).replace("|  |", "| |");
        }
    }
    page
}

/// The modes in which an option means something, as the tables have them.
fn modes(option: &OptionReference, program: &ProgramReference) -> String {
    let all = |mode: &(&str, Vec<&str>)| mode.1.is_empty();
    if option.modes.len() == program.modes.len() && option.modes.iter().all(all) {
        return "all".to_owned();
    }
    let name = |(mode, values): &(&str, Vec<&str>)| match values[..] {
        [] => (*mode).to_owned(),
        [one] => format!("{mode} (`{one}`)"),
        _ => format!("{mode} (some)"),
    };
    option.modes.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", text.replace('|', "\\|")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_stands_in_the_table_of_its_program_and_nothing_else_does() {
        let programs = [
            (viem::options::Options::command(), &viem::options::TABLE),
            (evaluator::options::Options::command(), &evaluator::options::TABLE),
            (generate_model::options::Options::command(), &generate_model::options::TABLE),
            (graphchecker::Options::command(), &graphchecker::TABLE),
        ];
        for (command, table) in programs {
            let ids: Vec<&str> = command.get_arguments().map(|option| option.get_id().as_str()).collect();
            let lost = ids.iter().filter(|id| table.rows_of(id).next().is_none());
            assert_eq!(lost.collect::<Vec<_>>(), [&""; 0], "{}", command.get_name());
            let named =
                table.rows.iter().flat_map(|row| row.options).chain(table.needs.iter().map(|n| &n.option));
            let strange = named.filter(|id| !ids.contains(id));
            assert_eq!(strange.collect::<Vec<_>>(), [&""; 0], "{}", command.get_name());
        }
    }
}
