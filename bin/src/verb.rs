//! What every verb is: options, and what is done with them; and whose lines it prints.

use clap::Parser;

use crate::end::End;
use crate::error::Result;

/// The options of a verb, and what it does.
pub(crate) trait Verb: Parser {
    /// Prints the lines of this form.
    fn set_form(&mut self, form: Form);

    /// Does what the options say.
    ///
    /// # Errors
    ///
    /// If there is no result.
    fn run(&self) -> Result<End>;
}

/// Whose lines a run prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Those of a verb.
    #[default]
    Verb,
    /// Those of VieM, which scripts may read.
    VieM,
}
