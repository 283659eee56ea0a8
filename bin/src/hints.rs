//! What to say of an option that does not exist.

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use strsim::jaro_winkler;

/// How alike two words are that may be meant for each other, from 0 to 1: `outptu` and `output` are, `seed` and
/// `threads` are not.
const ALIKE: f64 = 0.88;

/// A message for an option that there is not, or that is a prefix of several.
pub(crate) fn on_unknown_option(error: &Error, command: &Command) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    let name = given.strip_prefix("--").filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let name = name.split('=').next().unwrap_or(name);
    let options: Vec<(&str, &str)> = command
        .get_arguments()
        .filter_map(|option| Some((option.get_long()?, option.get_value_names()?.first()?.as_str())))
        .chain(command.get_arguments().filter_map(|option| Some((option.get_long()?, ""))))
        .collect();
    let chosen = |is_meant: &dyn Fn(&str, &str) -> bool| {
        let meant = options.iter().filter(|(long, value)| is_meant(long, value));
        let mut names: Vec<String> = meant.map(|(long, _)| format!("--{long}")).collect();
        names.sort();
        names.dedup();
        names.join(", ")
    };
    let fitting = chosen(&|long, _| long.starts_with(name));
    if !fitting.is_empty() {
        return Some(format!(
            "--{name} is the beginning of several options, {fitting}; give more of the name"
        ));
    }
    let similar = chosen(&|long, value| is_similar(name, long) || value.eq_ignore_ascii_case(name));
    let hint = if similar.is_empty() { String::new() } else { format!("; did you mean {similar}?") };
    Some(format!("there is no option --{name}{hint} (--help lists them all)"))
}

/// Whether a name is much like an option, or one of its words like one of the option's.
fn is_similar(name: &str, option: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(['_', '-']).filter(|word| word.len() > 3);
        words.map(str::to_ascii_lowercase).collect()
    };
    let options = words(option);
    jaro_winkler(name, option) >= ALIKE
        || words(name).iter().any(|word| options.iter().any(|other| jaro_winkler(word, other) >= ALIKE))
}
