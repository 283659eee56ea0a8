//! Command lines: those of verbs, and those of VieM's four programs, which are read as verbs.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use strsim::osa_distance;

use crate::end::End;
use crate::error::Failure;
use crate::exit;
use crate::verb::Form;
use crate::verbs::{Entry, VERBS, verb};
use crate::{describe, hints, version};

/// The names of the programs: `viem` with its verbs, and those of VieM.
pub const PROGRAMS: [&str; 4] = ["viem", "evaluator", "generate_model", "graphchecker"];

/// A program of VieM, and the verb that does its work.
struct Program {
    name: &'static str,
    about: &'static str,
    verb: &'static str,
    /// Its options, which take a value each.
    options: &'static [Meaning],
    /// Further arguments of the verb.
    more: &'static [&'static str],
}

/// An option of VieM, and what it means for the verb.
struct Meaning {
    /// Its names; VieM has had some by more than one.
    names: &'static [&'static str],
    /// The option of the verb, or nothing for an argument without a name.
    option: Option<&'static str>,
    /// What precedes its value there.
    prefix: &'static str,
    /// What it is, if the help of the verb says more than VieM has.
    help: &'static str,
    is_required: bool,
}

const fn meaning(names: &'static [&'static str], option: &'static str) -> Meaning {
    Meaning { names, option: Some(option), prefix: "", help: "", is_required: false }
}

const fn required(names: &'static [&'static str], option: &'static str) -> Meaning {
    Meaning { is_required: true, ..meaning(names, option) }
}

const HIERARCHY: Meaning = Meaning {
    prefix: "tree:",
    help: "Members of the groups of each level, innermost first: 4:16:8 is 4 cores per processor, 16 processors per node, 8 nodes",
    ..required(&["hierarchy_parameter_string"], "machine")
};
const DISTANCES: Meaning = required(&["distance_parameter_string"], "distances");
const SEED: Meaning = meaning(&["seed"], "seed");

/// The programs of VieM with the options of its manual.
const FORMS: [Program; 4] = [
    Program {
        name: "viem",
        about: "Maps the processes of a graph to the PEs of a hierarchy",
        verb: "map",
        options: &[
            SEED,
            meaning(&["preconfiguration_mapping"], "preset"),
            meaning(&["construction_algorithm"], "construction"),
            meaning(&["distance_construction_algorithm"], "distance-construction"),
            HIERARCHY,
            DISTANCES,
            meaning(&["local_search_neighborhood"], "neighbourhood"),
            meaning(&["communication_neighborhood_dist"], "max-hops"),
            meaning(&["search_space_s"], "interval"),
            meaning(&["output_filename"], "output"),
        ],
        more: &[],
    },
    Program {
        name: "evaluator",
        about: "Scores a mapping",
        verb: "score",
        options: &[
            Meaning { option: None, ..required(&["input_mapping", "input"], "") },
            HIERARCHY,
            DISTANCES,
        ],
        more: &[],
    },
    Program {
        name: "generate_model",
        about: "Partitions a graph, and writes what blocks communicate",
        verb: "partition",
        options: &[
            required(&["k"], "blocks"),
            SEED,
            meaning(&["preconfiguration"], "preset"),
            meaning(&["imbalance"], "imbalance"),
            meaning(&["output_filename"], "model"),
        ],
        more: &["--model=model.graph"],
    },
    Program {
        name: "graphchecker",
        about: "Checks whether a file is a valid graph",
        verb: "check",
        options: &[],
        more: &[],
    },
];

/// Runs a program with a command line, whose first argument is its name; returns the exit code.
pub(crate) fn run(program: &str, command_line: Vec<OsString>) -> u8 {
    let form = FORMS.iter().find(|form| form.name == program).expect("the program exists");
    if program != "viem" {
        return form.run(command_line);
    }
    let first = command_line.get(1).and_then(|first| first.to_str());
    if let Some(entry) = first.and_then(verb) {
        return (entry.run)(command_line[1..].to_vec(), Form::Verb);
    }
    let second = command_line.get(2).and_then(|second| second.to_str());
    if let Some(entry) = second.and_then(verb).filter(|_| first == Some("help")) {
        let explained = describe::explain((entry.command)());
        return exit::end(program, explained.map(|()| End::Done).map_err(Failure::from));
    }
    if version::is_asked(&command_line) {
        return exit::end(program, version::print().map(|()| End::Done).map_err(Failure::from));
    }
    if first.is_none_or(is_about_viem) {
        return describe_viem(command_line);
    }
    match first.filter(|first| is_misspelt(first, &command_line)) {
        Some(first) => {
            exit::complain(program, &misspelt(first));
            2
        }
        None => form.run(command_line),
    }
}

/// Whether a first argument asks for something that no verb does.
fn is_about_viem(first: &str) -> bool {
    let name = first.split('=').next().unwrap_or(first);
    ["help", "-h", "--help", "-V", "--version", "--man", "--completions"].contains(&name)
}

/// Whether a first argument is meant to be a verb: it is no option and no file, and no option of VieM follows.
fn is_misspelt(first: &str, command_line: &[OsString]) -> bool {
    let follows = |argument: &OsString| argument.to_string_lossy().starts_with("--hierarchy");
    !first.starts_with('-') && !Path::new(first).exists() && !command_line.iter().any(follows)
}

/// Edits that turn a misspelt verb into the one that is meant, at most.
const MOST_EDITS: usize = 2;

fn misspelt(first: &str) -> String {
    let edits = |entry: &&Entry| osa_distance(entry.name, first);
    let nearest = VERBS.iter().min_by_key(edits).filter(|entry| edits(entry) <= MOST_EDITS);
    let hint = nearest.map_or_else(String::new, |entry| format!("; did you mean `viem {}`?", entry.name));
    format!("there is no verb `{first}`, and no file of that name{hint} (viem --help lists the verbs)")
}

const ABOUT: &str = "Process mapping: decides which process runs on which core";

const EXAMPLES: &str = "\
Examples:
  viem map job.graph -m 4:16:2 -d 1:10:100            128 processes to 2 nodes
  viem score job.graph permutation -m 4:16:2 -d 1:10:100
  viem partition mesh.graph -k 64

`viem VERB -h` lists the common options of a verb, `viem VERB --help` all of them, and `viem help VERB` explains them.
Command lines of VieM work as ever: viem FILE --hierarchy_parameter_string=4:16:2 --distance_parameter_string=1:10:100";

/// `viem` with its verbs, as clap has it.
pub(crate) fn command() -> Command {
    let brief =
        |command: &Command| first_clause(&command.get_about().map(ToString::to_string).unwrap_or_default());
    let commands = VERBS.iter().map(|entry| (entry.command)()).map(|command| {
        let brief = brief(&command);
        describe::with_common_options(command).about(brief)
    });
    let viem = Command::new("viem").version(env!("CARGO_PKG_VERSION")).about(ABOUT).after_help(EXAMPLES);
    describe::with_completions(
        viem.subcommand_required(true).arg_required_else_help(true).subcommands(commands),
    )
    .subcommand_value_name("VERB")
    .subcommand_help_heading("Verbs")
    .disable_help_subcommand(false)
}

/// The programs of VieM, as clap has them.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    FORMS.iter().map(Program::command)
}

/// The first clause of a text, which fits a line of the list of verbs.
fn first_clause(text: &str) -> String {
    let end =
        [". ", "; ", ": ", ", so that ", " so that "].into_iter().filter_map(|end| text.find(end)).min();
    end.map_or(text, |end| &text[..end]).to_owned()
}

/// Prints what is asked about the program as a whole; returns the exit code.
fn describe_viem(command_line: Vec<OsString>) -> u8 {
    let matches = match command().subcommand_required(false).try_get_matches_from(command_line) {
        Ok(matches) => matches,
        Err(error) => return exit::refuse("viem", &error, &command()),
    };
    let described = describe::print_manual(&matches, command());
    let described = described.or_else(|| describe::print_completions(&matches, command()));
    described.map_or(0, |described| exit::end("viem", described.map(|()| End::Done).map_err(Failure::from)))
}

impl Program {
    /// The options as clap has them. They take the values that those of the verb take.
    fn command(&self) -> Command {
        let verb = self.entry();
        let file = Arg::new("file").value_name("FILE").required(true).help("The file; - is standard input");
        let after = format!("This is `viem {}`, which has further options.", verb.name);
        Command::new(self.name)
            .version(env!("CARGO_PKG_VERSION"))
            .about(self.about)
            .infer_long_args(true)
            .after_help(after)
            .arg(file)
            .args(self.options.iter().map(|meaning| meaning.arg(&(verb.command)())))
    }

    fn entry(&self) -> &'static Entry {
        verb(self.verb).expect("the verb exists")
    }

    /// Runs the verb; returns the exit code.
    fn run(&self, command_line: Vec<OsString>) -> u8 {
        let matches = match self.command().try_get_matches_from(&command_line) {
            Ok(matches) => matches,
            Err(error) => return exit::refuse(self.name, &error, &self.command()),
        };
        if let Some(abbreviated) = hints::abbreviated(&self.command(), &command_line) {
            let _ = writeln(&format!("warning: {abbreviated}"));
        }
        if std::io::stderr().is_terminal() {
            let _ =
                writeln(&format!("note: {} is `viem {}`, which has further options", self.name, self.verb));
        }
        (self.entry().run)(self.translated(&matches), Form::VieM)
    }

    /// The command line of the verb.
    fn translated(&self, matches: &ArgMatches) -> Vec<OsString> {
        let value = |id: &str| {
            let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
            matches
                .get_raw(id)
                .filter(|_| is_given)
                .and_then(|mut values| values.next())
                .map(OsStr::to_os_string)
        };
        let (mut named, mut arguments) = (Vec::new(), Vec::new());
        arguments.extend(value("file"));
        for Meaning { names, option, prefix, .. } in self.options {
            let Some(value) = value(names[0]) else { continue };
            match option {
                None => arguments.push(value),
                Some(option) => {
                    let mut argument = OsString::from(format!("--{option}={prefix}"));
                    argument.push(value);
                    named.push(argument);
                }
            }
        }
        let is_new = |more: &&&str| {
            let name = more.split('=').next().unwrap_or_default();
            !named.iter().any(|argument: &OsString| argument.to_string_lossy().starts_with(name))
        };
        let more: Vec<OsString> = self.more.iter().filter(is_new).map(OsString::from).collect();
        let head = [OsString::from(self.verb)].into_iter().chain(named).chain(more);
        head.chain([OsString::from("--")]).chain(arguments).collect()
    }
}

impl Meaning {
    /// The option as clap has it, with the values and the help of the one of the verb.
    fn arg(&self, verb: &Command) -> Arg {
        let same = |arg: &&Arg| match self.option {
            Some(option) => arg.get_long() == Some(option),
            None => arg.get_id() == "mapping",
        };
        let own =
            Arg::new(self.names[0]).long(self.names[0]).aliases(&self.names[1..]).required(self.is_required);
        let Some(same) = verb.get_arguments().find(same) else { return own };
        own.value_names(same.get_value_names().unwrap_or_default().iter().cloned())
            .value_parser(same.get_value_parser().clone())
            .allow_negative_numbers(true)
            .help(self.help(same))
    }

    /// What the option is: the first sentence of the help of the verb, unless that says more than VieM has.
    fn help(&self, same: &Arg) -> String {
        if !self.help.is_empty() {
            return self.help.to_owned();
        }
        let help = same.get_help().map(ToString::to_string).unwrap_or_default();
        describe::first_sentence(&help).to_owned()
    }
}

fn writeln(text: &str) -> std::io::Result<()> {
    use std::io::Write;
    writeln!(std::io::stderr(), "{text}")
}
