//! The options of all programs as data, from clap and from the tables of modes, and as the tables of the guide.

use clap::{Arg, Command, CommandFactory};

use crate::modes::{MODES, Mode, Table};
use crate::programs::{evaluator, generate_model, graphchecker, viem};

/// What the page of the guide says above its tables.
const INTRODUCTION: &str = "\
# Options

All options of the four programs, and the modes in which each means something. An option that is given where it means nothing is refused,
with exit code 2. This page is generated from the programs; `--help` says more about each option.

Options are written as `--seed=1` or `--seed 1`. A prefix that fits no other option is accepted, with a warning; in scripts, write names in
full. A file name `-` is standard input or standard output.

## Modes

";

/// What it says of options that every program has.
const ALL_PROGRAMS: &str = "
## All programs

| option | what it does |
|---|---|
| `--help`, `-h` | Print the options |
| `--version`, `-V` | Print the version |
| `--man` | Print the manual page: `viem --man \\| man -l -` |
| `--completions=SHELL` | Print completions for `bash`, `zsh`, `fish`, `elvish` or `powershell` |
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
    /// What may be given for it; empty if that cannot be listed.
    pub values: Vec<String>,
    /// What it does, in a sentence.
    pub help: String,
    /// The values that mean something, by mode, in the order of [`ProgramReference::modes`]; none in the list: all of them.
    pub modes: Vec<(&'static str, Vec<&'static str>)>,
}

impl OptionReference {
    /// Whether these, the values that mean something in a mode, are all that may be given.
    fn are_all(&self, values: &[&str]) -> bool {
        values.is_empty() || values.len() == self.values.len()
    }
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
        values: option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
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
    let rows = MODES.iter().map(|&mode| vec![mode.name().to_owned(), mode.task().to_owned(), chapter(mode)]);
    page += &table(&["mode", "what is done", "chapter"], rows);
    page += ALL_PROGRAMS;
    for program in programs() {
        let heads = ["option", "value", "default", "what it does", "modes"];
        let rows = program.options.iter().map(|option| {
            let name = if option.is_named { code(&format!("--{}", option.name)) } else { String::new() };
            let OptionReference { value, default, help, .. } = option;
            vec![name, code(value), code(default), help.clone(), modes(option, &program)]
        });
        page += &format!("\n## {}\n\n{}", program.name, table(&heads, rows));
    }
    page
}

/// The chapter of the guide about a mode, as a link.
fn chapter(mode: Mode) -> String {
    let (title, file) = match mode {
        Mode::OneToOne => ("Map a job", "map-a-job.md"),
        Mode::ManyToOne => ("Map a mesh", "map-a-mesh.md"),
        Mode::Remapping | Mode::Repartition => ("Remap", "remap.md"),
        Mode::Workload | Mode::Generator => ("Workloads", "workloads.md"),
        Mode::Qap => ("Quadratic assignment problems", "qap.md"),
        Mode::Partition | Mode::Index => ("Partition a graph", "partition.md"),
        Mode::Traffic | Mode::Order => ("Record traffic", "traffic.md"),
        Mode::Training => ("Training jobs", "training.md"),
        Mode::Experts => ("Experts", "experts.md"),
        Mode::Check => ("Check a graph", "check-a-graph.md"),
    };
    format!("[{title}]({file})")
}

/// A table in Markdown.
fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| {
        let cells = cells.iter().map(|cell| {
            if cell.is_empty() { " |".to_owned() } else { format!(" {} |", cell.replace('|', "\\|")) }
        });
        format!("|{}\n", cells.collect::<String>())
    };
    let heads_line = line(heads.iter().map(|&head| head.to_owned()).collect());
    let rule = format!("{}|\n", "|---".repeat(heads.len()));
    heads_line + &rule + &rows.map(line).collect::<String>()
}

/// The modes in which an option means something, as the tables have them.
fn modes(option: &OptionReference, program: &ProgramReference) -> String {
    let are_all = option.modes.len() == program.modes.len();
    if are_all && option.modes.iter().all(|(_, values)| option.are_all(values)) {
        return "all".to_owned();
    }
    let list = |values: &[&str]| format!("`{}`", values.join(" "));
    let name = |(mode, values): &(&str, Vec<&str>)| {
        let others: Vec<&str> =
            option.values.iter().map(String::as_str).filter(|value| !values.contains(value)).collect();
        match (option.are_all(values), values.len() <= others.len()) {
            (true, _) => (*mode).to_owned(),
            (false, true) => format!("{mode} ({})", list(values)),
            (false, false) => format!("{mode} (not {})", list(&others)),
        }
    };
    option.modes.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// A name as code; what is not one, such as a default that is described, stays text.
fn code(text: &str) -> String {
    if text.is_empty() || text.contains(' ') { text.to_owned() } else { format!("`{text}`") }
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
