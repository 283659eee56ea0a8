//! The text behind the colon of a cluster.

use std::path::{Path, PathBuf};

use super::{batch, inside};

/// The option that may name the hosts that it is about: `node[n1,n2]=16:2`.
pub(super) const NODE: &str = "node";

/// The text behind the colon: its first part, and the options.
pub(super) struct Parts<'a> {
    pub(super) first: &'a str,
    pub(super) options: Vec<PartOption<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartOption<'a> {
    pub(super) key: &'static str,
    /// The list in brackets behind the key.
    pub(super) hosts: Option<&'a str>,
    pub(super) value: &'a str,
}

/// The start of an option and that of its value.
#[derive(Clone, Copy)]
struct OptionStart<'a> {
    at: usize,
    value_at: usize,
    key: &'static str,
    hosts: Option<&'a str>,
}

impl<'a> OptionStart<'a> {
    /// The option of this key that begins at an offset, if one does.
    fn find(rest: &'a str, at: usize, key: &'static str) -> Option<Self> {
        let behind = rest[at..].strip_prefix(key)?;
        let (hosts, behind) = match behind.strip_prefix('[') {
            Some(list) if key == NODE => {
                let (hosts, behind) = list.split_at(end_of_list(list)?);
                (Some(hosts), &behind[1..])
            }
            _ => (None, behind),
        };
        let value = behind.strip_prefix('=')?;
        Some(Self { at, value_at: rest.len() - value.len(), key, hosts })
    }
}

/// Returns the position of the bracket that closes a list of hosts. There may be brackets in the list.
fn end_of_list(list: &str) -> Option<usize> {
    let mut depth = 0usize;
    list.char_indices().find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(at),
            ']' => depth -= 1,
            _ => {}
        }
        None
    })
}

impl<'a> Parts<'a> {
    /// Options begin at `,key=` of one of the keys, or at `key=` at the start.
    pub(super) fn new(rest: &'a str, keys: &[&'static str]) -> Self {
        let at = std::iter::once(0).chain(rest.match_indices(',').map(|(at, _)| at + 1));
        let start = |at| keys.iter().find_map(|&key| OptionStart::find(rest, at, key));
        let mut starts: Vec<OptionStart<'_>> = Vec::new();
        for start in at.filter_map(start) {
            // Not in the brackets of the last one.
            if starts.last().is_none_or(|last| last.value_at <= start.at) {
                starts.push(start);
            }
        }
        let end_of = |index: usize| starts.get(index).map_or(rest.len(), |start| start.at.saturating_sub(1));
        let option = |(index, &OptionStart { value_at, key, hosts, .. }): (usize, &OptionStart<'a>)| {
            PartOption { key, hosts, value: &rest[value_at..end_of(index + 1).max(value_at)] }
        };
        Self { first: &rest[..end_of(0)], options: starts.iter().enumerate().map(option).collect() }
    }

    /// The value of an option about all hosts.
    pub(super) fn option(&self, key: &str) -> Option<&'a str> {
        self.options
            .iter()
            .find(|option| option.key == key && option.hosts.is_none())
            .map(|option| option.value)
    }

    /// The files that descriptions of nodes are in.
    pub(super) fn files_of_nodes(&self) -> impl Iterator<Item = PathBuf> {
        self.options
            .iter()
            .filter(|option| option.key == NODE)
            .filter_map(|option| inside::read_for(option.value))
    }

    /// The file of an option, unless it is none.
    pub(super) fn file(&self, key: &str) -> Option<&'a Path> {
        self.option(key).map(Path::new)
    }

    /// The file with the topology; `none` says that there is none.
    pub(super) fn topology(&self) -> Option<&'a Path> {
        self.file("topology").filter(|path| path.as_os_str() != "none")
    }

    /// The files with hosts, nodes and topology, if the hosts are those that this text stands for.
    pub(super) fn files(&self, hosts: Option<&str>) -> Vec<PathBuf> {
        let topology = self.topology().map(Path::to_path_buf);
        hosts.and_then(batch::read_for).into_iter().chain(self.files_of_nodes()).chain(topology).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_behind_what_comes_first() {
        let keys = ["hosts", "node"];
        let parts = Parts::new("a,b.xml,hosts=c,d,node=pack:2 core:4", &keys);
        assert_eq!(
            (parts.first, parts.option("hosts"), parts.option("node")),
            ("a,b.xml", Some("c,d"), Some("pack:2 core:4"))
        );
        let parts = Parts::new("node=", &keys);
        assert_eq!((parts.first, parts.option("node"), parts.option("hosts")), ("", Some(""), None));
        let parts = Parts::new("x", &keys);
        assert_eq!((parts.first, parts.options.len()), ("x", 0));
    }

    #[test]
    fn a_description_may_be_of_some_hosts() {
        let keys = ["node", "ranks"];
        let parts =
            Parts::new("a.txt,node[old[1-2,5],x,ranks=2]=pack:2 core:4,node=16:2,ranks=4(x2),3", &keys);
        let hosts: Vec<_> =
            parts.options.iter().map(|option| (option.key, option.hosts, option.value)).collect();
        let some = ("node", Some("old[1-2,5],x,ranks=2"), "pack:2 core:4");
        assert_eq!(hosts, [some, ("node", None, "16:2"), ("ranks", None, "4(x2),3")]);
        assert_eq!((parts.first, parts.option("node")), ("a.txt", Some("16:2")));
        // A bracket that is not closed, and brackets of what has none, are no options.
        for text in ["a.txt,node[old=16:2", "a.txt,ranks[old]=16", "a.txt,node[old]16:2"] {
            assert_eq!((Parts::new(text, &keys).first, Parts::new(text, &keys).options.len()), (text, 0));
        }
    }
}
