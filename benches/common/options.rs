//! Options of a benchmark: `key=value`, `key=value,value`, and single words.

use std::fmt::Display;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The command-line options not read yet, and the names of the options read.
pub struct Options {
    given: Vec<(String, Option<String>)>,
    known: Vec<String>,
}

impl Options {
    /// The result of `read` for the command line. Ends the program with a message if a value is invalid, or
    /// if there is an option that `read` has not asked for.
    pub fn read<T>(read: impl FnOnce(&mut Options) -> Result<T, String>) -> T {
        Self::parse(std::env::args().skip(1), read).unwrap_or_else(|message| super::fail(message))
    }

    /// The same for given arguments. Ignores `--bench`, which cargo adds.
    pub fn parse<T>(
        arguments: impl IntoIterator<Item = String>,
        read: impl FnOnce(&mut Options) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut options = Self { given: Vec::new(), known: Vec::new() };
        for argument in arguments.into_iter().filter(|argument| argument != "--bench") {
            let (key, value) = match argument.split_once('=') {
                Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            if options.given.iter().any(|(earlier, _)| *earlier == key) {
                return Err(format!("`{key}` is given twice"));
            }
            options.given.push((key, value));
        }
        let result = read(&mut options)?;
        match options.given.first() {
            Some((key, _)) => {
                Err(format!("no option is called `{key}`; there are {}", options.known.join(", ")))
            }
            None => Ok(result),
        }
    }

    /// The value of a key, if it is given.
    pub fn optional<T: FromStr<Err: Display>>(&mut self, key: &str) -> Result<Option<T>, String> {
        let parse = |value: String| value.parse().map_err(|error| format!("`{key}={value}`: {error}"));
        self.take(key)?.map(parse).transpose()
    }

    /// The value of a key, or a default.
    pub fn value<T: FromStr<Err: Display>>(&mut self, key: &str, default: T) -> Result<T, String> {
        Ok(self.optional(key)?.unwrap_or(default))
    }

    /// The values of a key, separated by commas, or a default.
    pub fn list<T: FromStr<Err: Display>>(&mut self, key: &str, default: Vec<T>) -> Result<Vec<T>, String> {
        let parse = |value: &str| value.parse().map_err(|error| format!("`{key}={value}`: {error}"));
        match self.take(key)? {
            Some(values) => values.split(',').map(parse).collect(),
            None => Ok(default),
        }
    }

    /// Members of a family by their names, separated by commas, or a default.
    pub fn members<T: Copy>(
        &mut self,
        key: &str,
        all: &[T],
        name: impl Fn(T) -> &'static str,
        default: &[T],
    ) -> Result<Vec<T>, String> {
        let find = |value: String| {
            let member = all.iter().copied().find(|&member| name(member) == value);
            let names: Vec<&str> = all.iter().map(|&member| name(member)).collect();
            member.ok_or_else(|| format!("`{key}={value}`: the values are {}", names.join(", ")))
        };
        let names: Vec<String> = self.list(key, Vec::new())?;
        if names.is_empty() { Ok(default.to_vec()) } else { names.into_iter().map(find).collect() }
    }

    /// Returns whether a word is given.
    pub fn word(&mut self, word: &str) -> Result<bool, String> {
        match self.remove(word) {
            Some(Some(value)) => Err(format!("`{word}={value}`: `{word}` stands alone")),
            found => Ok(found.is_some()),
        }
    }

    /// All keys with a dot and their values: settings, such as `flow.rounds=3`.
    pub fn settings<T: FromStr<Err: Display>>(&mut self) -> Result<Vec<(String, T)>, String> {
        let keys: Vec<String> =
            self.given.iter().map(|(key, _)| key).filter(|key| key.contains('.')).cloned().collect();
        let mut settings = Vec::new();
        for key in keys {
            settings.extend(self.optional(&key)?.map(|value| (key, value)));
        }
        Ok(settings)
    }

    fn take(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.remove(key) {
            Some(None) => Err(format!("`{key}` has no value; give `{key}=…`")),
            found => Ok(found.flatten()),
        }
    }

    fn remove(&mut self, key: &str) -> Option<Option<String>> {
        self.known.push(key.to_owned());
        let place = self.given.iter().position(|(given, _)| given == key)?;
        Some(self.given.remove(place).1)
    }
}

/// The same settings with changes, given by names with dots between nested settings. A value is JSON, or else
/// a name.
pub fn changed<T: Serialize + DeserializeOwned>(
    settings: &T,
    changes: &[(String, String)],
) -> Result<T, String> {
    let mut all = serde_json::to_value(settings).map_err(|error| error.to_string())?;
    for (key, text) in changes {
        let pointer = format!("/{}", key.replace('.', "/"));
        let place = all.pointer_mut(&pointer).ok_or_else(|| format!("no setting is called `{key}`"))?;
        *place = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
        serde_json::from_value::<T>(all.clone()).map_err(|error| format!("`{key}={text}`: {error}"))?;
    }
    serde_json::from_value(all).map_err(|error| error.to_string())
}

/// Changes to the settings of a mapping, by name.
pub fn changes(options: &mut Options) -> Result<Vec<(String, String)>, String> {
    let mut changes = options.settings()?;
    for key in ["distances", "time_limit", "not_worse_than"] {
        changes.extend(options.optional(key)?.map(|value| (key.to_string(), value)));
    }
    Ok(changes)
}
