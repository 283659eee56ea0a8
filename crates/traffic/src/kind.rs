//! What the collector must know of a kind of file.

/// A kind of file that traffic is read from.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// What it is, in a few words.
    pub(super) title: &'static str,
    /// The classes of traffic that it distinguishes; at least one.
    pub(super) classes: &'static [Class],
    /// Whether ranks that recorded nothing are worth a word: each rank has lines of its own.
    pub(super) tells_recorders: bool,
    /// Whether ranks may be counted from 0 or from 1.
    pub(super) guesses_first_rank: bool,
    /// Whether such a file may be an application graph, too, instead of what a program has recorded.
    pub(super) is_graph: bool,
    /// What may be amiss where files of this kind hold no traffic, if it is known.
    pub(super) if_empty: &'static str,
}

/// A class of traffic that a file distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Class {
    /// Its name, as the files have it.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Whether it is summed unless something else is asked for.
    pub is_default: bool,
}

/// The one class of files that tell none apart.
pub(super) const ALL_TRAFFIC: &[Class] = &[Class { name: "all", title: "all traffic", is_default: true }];
