//! Models as text: `layers=32,hidden=4096`, or a line for each.
//!
//! ```text
//! # A model of 32 layers.
//! layers = 32
//! hidden = 4096
//! sequence = 8192
//! microbatches = 16
//! gated = yes
//! sharding = optimizer
//! ```
//!
//! Entries are separated by commas or line breaks. A `#` begins a comment, up to the end of its line. The names are those of the
//! fields of [`TrainingConfig`]. `layers`, `hidden`, `sequence` and `microbatches` must be given.

use std::str::FromStr;

use super::model::TrainingConfig;
use viem::base::settings::UnknownName;
use viem::base::text::{Place, place};
use viem_io::{ContentError, ReadError, Source, Text};

/// A fault in the text of a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum TrainingFault {
    #[error("`{text}` is no entry of a model; an entry is written like hidden=4096")]
    Entry { text: String },
    #[error("a model has no `{name}`; it has {}", names.join(", "))]
    Name { name: String, names: Vec<&'static str> },
    #[error("{name} is given twice")]
    Twice { name: &'static str },
    #[error("{name} is `{text}`, but it is {expected}")]
    Value { name: &'static str, text: String, expected: &'static str },
    #[error(transparent)]
    Choice(#[from] UnknownName),
    #[error("the model has no {name}")]
    Missing { name: &'static str },
}

/// The entries that a model needs, in the order of [`TrainingConfig::new`].
const NEEDED: [&str; 4] = ["layers", "hidden", "sequence", "microbatches"];

/// A function that sets an entry by its name and value.
type Set = fn(&mut TrainingConfig, &'static str, &str) -> Result<(), TrainingFault>;

/// A whole number.
fn number(name: &'static str, text: &str) -> Result<u64, TrainingFault> {
    let value = text.parse();
    value.map_err(|_| TrainingFault::Value { name, text: shown(text), expected: "a whole number" })
}

fn is_yes(name: &'static str, text: &str) -> Result<bool, TrainingFault> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err(TrainingFault::Value { name, text: shown(text), expected: "yes or no" }),
    }
}

fn choice<T: FromStr<Err = UnknownName>>(_: &'static str, text: &str) -> Result<T, TrainingFault> {
    Ok(text.parse()?)
}

/// A table of the entries: a field and how its value is parsed.
macro_rules! entries {
    ($($field:ident by $parse:ident,)+) => {
        const ENTRIES: [(&str, Set); [$(stringify!($field)),+].len()] = [$((
            stringify!($field),
            |config, name, text| {
                config.$field = $parse(name, text)?;
                Ok(())
            },
        )),+];
    };
}

entries! {
    layers by number,
    hidden by number,
    sequence by number,
    microbatches by number,
    microbatch by number,
    kv by number,
    ffn by number,
    gated by is_yes,
    vocabulary by number,
    tied by is_yes,
    experts by number,
    topk by number,
    expert_ffn by number,
    shared_ffn by number,
    dense_layers by number,
    activation_bytes by number,
    parameter_bytes by number,
    gradient_bytes by number,
    sequence_parallel by is_yes,
    recompute by choice,
    sharding by choice,
    all_reduce by choice,
    context by choice,
    unit by number,
}

/// Reads a model. Its sizes may still not fit together, which [`TrainingConfig::validate`] says. O(text).
///
/// ```
/// use viem_io::Source;
/// use viem_training::jobs::text;
///
/// let text = "layers=32,hidden=4096,sequence=8192,microbatches=16";
/// let model = text::read(Source::new("the model", text.as_bytes())?)?;
/// assert_eq!(model.hidden, 4096);
/// # Ok::<(), viem_io::ReadError>(())
/// ```
pub fn read(source: Source<'_>) -> Result<TrainingConfig, ReadError> {
    let text = Text::read(source)?;
    model(text.as_str()).map_err(|(offset, fault)| {
        let Place { line, column } = place(text.as_str().as_bytes(), offset);
        let kind = ContentError::new(fault);
        ReadError::Invalid { file: text.name().to_owned(), line, column, kind }
    })
}

/// A fault and the offset of its byte.
type Fault = (usize, TrainingFault);

fn model(text: &str) -> Result<TrainingConfig, Fault> {
    let mut config = TrainingConfig::new(0, 0, 0, 0);
    let mut given: Vec<&'static str> = Vec::new();
    for (at, entry) in entries_of(text) {
        let fault = |fault| (at, fault);
        let (name, value) =
            entry.split_once('=').ok_or_else(|| fault(TrainingFault::Entry { text: shown(entry) }))?;
        let known = ENTRIES.iter().find(|(known, _)| *known == name.trim());
        let &(name, set) = known.ok_or_else(|| {
            let names = ENTRIES.map(|(name, _)| name).to_vec();
            fault(TrainingFault::Name { name: shown(name.trim()), names })
        })?;
        if given.contains(&name) {
            return Err(fault(TrainingFault::Twice { name }));
        }
        given.push(name);
        let start = at + entry.len() - value.trim_start().len();
        set(&mut config, name, value.trim()).map_err(|fault| (start, fault))?;
    }
    match NEEDED.into_iter().find(|name| !given.contains(name)) {
        Some(name) => Err((text.len(), TrainingFault::Missing { name })),
        None => Ok(config),
    }
}

/// Iterates over the texts between commas and line breaks, up to comments, with their offsets; none is empty.
fn entries_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let lines = text.split(['\n', '\r']).map(|line| line.split('#').next().unwrap_or_default());
    lines
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(move |entry| (offset(entry), entry))
}

/// A text for a message.
fn shown(text: &str) -> String {
    text.chars().take(viem::base::text::MESSAGE_TEXT).flat_map(char::escape_debug).collect()
}
