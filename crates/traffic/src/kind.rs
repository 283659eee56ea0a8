//! The properties of a kind of file that the collector must know.

/// A kind of file that traffic is read from.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// A description in a few words.
    pub(super) title: &'static str,
    /// The classes of traffic that it distinguishes; at least one.
    pub(super) classes: &'static [Class],
    /// Each rank has its own lines, so a rank without any deserves a warning.
    pub(super) tells_recorders: bool,
    /// True if ranks may be counted from 0 or from 1.
    pub(super) guesses_first_rank: bool,
    /// True if such a file may be an application graph, too, instead of a recording.
    pub(super) is_graph: bool,
    /// The likely reason if files of this kind hold no traffic, if it is known.
    pub(super) if_empty: &'static str,
}

impl Kind {
    /// The defaults of a kind: one class for all traffic, and nothing special.
    pub(super) const PLAIN: Self = Self {
        name: "",
        title: "",
        classes: &[Class { name: "all", title: "all traffic", is_default: true }],
        tells_recorders: false,
        guesses_first_rank: false,
        is_graph: false,
        if_empty: "",
    };
}

/// A class of traffic that a file distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Class {
    /// Its name, as the files have it.
    pub name: &'static str,
    /// A description.
    pub title: &'static str,
    /// True if it is summed unless something else is asked for.
    pub is_default: bool,
}
