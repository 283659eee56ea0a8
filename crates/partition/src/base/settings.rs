//! What all settings share: choices that have names, and numbers that have ranges.

use std::fmt::Display;

use crate::base::error::{ErrorKind, HasKind};

/// A name that is none of the choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {what} is called `{text}`; there are {}", names.join(", "))]
#[non_exhaustive]
pub struct UnknownName {
    /// What the choices are, such as "construction".
    pub what: &'static str,
    /// What was given instead of a name.
    pub text: String,
    /// The names of all choices.
    pub names: Vec<&'static str>,
}

impl UnknownName {
    /// The error for a text that is none of the names of `what`.
    pub fn new(what: &'static str, text: &str, names: Vec<&'static str>) -> Self {
        Self { what, text: text.to_owned(), names }
    }
}

impl HasKind for UnknownName {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A setting that is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the setting {field} is {value}, but it must be {range}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The path to the setting, with dots: `improvement.annealing.initial_temperature`.
    pub field: String,
    /// The value that was given.
    pub value: String,
    /// What it may be.
    pub range: &'static str,
}

impl HasKind for ConfigError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl ConfigError {
    /// The same error for settings that are the field `outer` of others.
    pub fn inside(self, outer: &str) -> Self {
        Self { field: format!("{outer}.{}", self.field), ..self }
    }
}

/// Fails unless the value of a setting is in its range.
pub fn check(
    field: &str,
    value: impl Display,
    is_in_range: bool,
    range: &'static str,
) -> Result<(), ConfigError> {
    if is_in_range {
        return Ok(());
    }
    Err(ConfigError { field: field.to_string(), value: value.to_string(), range })
}

/// Fails unless a whole number is at least 1.
pub fn check_at_least_one(field: &str, value: usize) -> Result<(), ConfigError> {
    check(field, value, value >= 1, "at least 1")
}

/// Fails unless a number is finite and above 0.
pub fn check_positive(field: &str, value: f64) -> Result<(), ConfigError> {
    check(field, value, value > 0.0 && value.is_finite(), "a finite number above 0")
}

/// Fails unless a share is above 0 and at most 1.
pub fn check_share(field: &str, value: f64) -> Result<(), ConfigError> {
    check(field, value, value > 0.0 && value <= 1.0, "above 0 and at most 1")
}

/// Declares an enum of choices by a table of their names, one line per choice: `Variant = "name"`.
///
/// The enum gets `ALL` (the choices in the order of the table), `NAMES`, `name`, [`Display`] and [`FromStr`](std::str::FromStr) by
/// the name, and is (de)serialised as its name. The word after the enum says in messages what the choices are.
#[doc(hidden)] // for the packages of this project
#[macro_export]
macro_rules! named {
    (
        $(#[$attribute:meta])*
        pub enum $choice:ident: $what:literal {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $choice {
            $($(#[$of_variant])* $variant,)+
        }

        impl $choice {
            /// Every choice, in the order in which they are listed.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Their names, in the same order.
            pub const NAMES: [&'static str; Self::ALL.len()] = [$($name),+];

            /// The name on the command line and in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $choice {
            type Err = $crate::base::settings::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|choice| choice.name() == text);
                found.ok_or_else(|| {
                    $crate::base::settings::UnknownName::new($what, text, Self::NAMES.to_vec())
                })
            }
        }

        impl From<$choice> for &'static str {
            fn from(choice: $choice) -> Self {
                choice.name()
            }
        }

        impl serde::Serialize for $choice {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $choice {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub use named;

/// Declares an enum of choices and the function of each of them in one table, with one line per member: `Variant = "name" by function;`, or
/// `Variant = "name" in mod file;`, which also declares the module of the function.
///
/// It is [`named`] with a method that calls the function of the member. The arguments of the call follow the signature of
/// the method; a function in a module of its own has the name of the method.
#[doc(hidden)] // for the packages of this project
#[macro_export]
macro_rules! members {
    (
        $(#[$attribute:meta])*
        pub enum $choice:ident: $what:literal {
            $(
                $(#[$of_variant:meta])*
                $variant:ident = $name:literal $(in mod $module:ident)? $(by $function:path)?;
            )+
        }

        $(#[$of_method:meta])*
        $visibility:vis fn $method:ident $(<$generic:ident: $bound:path>)? (self $(, $parameter:ident: $type:ty)*) -> $result:ty
            = function $arguments:tt
    ) => {
        $($(mod $module;)?)+

        $crate::base::settings::named! {
            $(#[$attribute])*
            pub enum $choice: $what {
                $($(#[$of_variant])* $variant = $name,)+
            }
        }

        impl $choice {
            $(#[$of_method])*
            $visibility fn $method $(<$generic: $bound>)? (self $(, $parameter: $type)*) -> $result {
                match self {
                    $(Self::$variant => $($module::$method)? $($function)? $arguments,)+
                }
            }
        }
    };
}

pub use members;

/// Declares the modules of a family and the table of its members: `const NAME: [Type] = ITEM in { mod file; ... }` has the `ITEM` of each
/// module, in this order.
#[doc(hidden)] // for the packages of this project
#[macro_export]
macro_rules! listed {
    (
        $(#[$attribute:meta])*
        $visibility:vis const $table:ident: [$type:ty] = $item:ident in { $($of_module:vis mod $module:ident;)+ }
    ) => {
        $($of_module mod $module;)+

        $(#[$attribute])*
        $visibility const $table: [$type; [$(stringify!($module)),+].len()] = [$($module::$item),+];
    };
}

pub use listed;

/// A time in (de)serialised settings: seconds, or nothing.
pub mod seconds {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a time as a number of seconds.
    pub fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(|time| time.as_secs_f64()).serialize(serializer)
    }

    /// Reads a time as a number of seconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        seconds.map(Duration::try_from_secs_f64).transpose().map_err(D::Error::custom)
    }
}
