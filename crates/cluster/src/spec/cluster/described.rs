//! The inside of each host: `node=16:2` for all of them, `node[old1,old2]=16:2` for some.

use crate::files::hostlist;
use crate::files::hwloc::Object;
use crate::files::names::{Names, UnclearHost};
use crate::nodes::{ClusterError, NodeSpec, Unit};
use crate::spec::cluster::inside;
use crate::spec::cluster::parts::{NODE, Parts};
use crate::spec::cluster_kind::Request;
use crate::spec::error::SpecError;
use viem::machine::Note;

/// Hosts that a warning names.
const MOST_NAMED: usize = 3;

/// Descriptions of nodes, and which of them each host has.
pub(super) struct Described {
    pub(super) insides: Vec<Object>,
    /// The index of the inside of each host; none if it is not described.
    pub(super) inside_of: Vec<Option<usize>>,
}

impl Described {
    /// The descriptions that the options give for these hosts. The first that names a host counts; `others` is the description of those
    /// that none names.
    pub(super) fn new(
        request: &Request<'_>,
        parts: &Parts<'_>,
        hosts: &[&str],
        others: Option<Object>,
        notes: &mut Vec<Note>,
    ) -> Result<Self, SpecError> {
        let mut described = Self { insides: Vec::new(), inside_of: vec![None; hosts.len()] };
        let known = Names::new(hosts.iter().copied());
        for option in parts.options.iter().filter(|option| option.key == NODE) {
            let Some(list) = option.hosts else { continue };
            let chosen = Chosen::read(list)?;
            let number = described.insides.len();
            described.insides.push(inside::read(request, option.value, notes)?);
            let of_list = chosen.among(&known, hosts).map_err(|unclear| request.refused(unclear.into()))?;
            let is_used = !of_list.is_empty();
            for host in of_list {
                described.inside_of[host].get_or_insert(number);
            }
            if !is_used {
                return Err(request.refused(ClusterError::NoSuchHost { option: format!("{NODE}[{list}]=") }));
            }
        }
        let is_needed = described.inside_of.contains(&None) || hosts.is_empty();
        if let Some(others) = others.filter(|_| is_needed) {
            let number = described.insides.len();
            described.insides.push(others);
            described.inside_of.iter_mut().for_each(|inside| _ = inside.get_or_insert(number));
        }
        Ok(described)
    }
}

/// Hosts by name: `old[1-4],gpu*`.
struct Chosen {
    plain: Vec<String>,
    /// The patterns, with signs that stand for any text.
    patterns: Vec<String>,
}

impl Chosen {
    fn read(list: &str) -> Result<Self, SpecError> {
        let names = hostlist::read(NODE, list)?;
        let (patterns, plain): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|name| name.contains('*'));
        Ok(Self { plain, patterns })
    }

    /// The indices of the hosts that are chosen, `known` by their names.
    fn among(&self, known: &Names<'_>, hosts: &[&str]) -> Result<Vec<usize>, UnclearHost> {
        let plain = self.plain.iter().filter_map(|name| known.find(name).transpose());
        let mut chosen: Vec<usize> = plain.collect::<Result<_, _>>()?;
        let fits = |host: &str| self.patterns.iter().any(|pattern| matches(pattern, host));
        chosen.extend((0..hosts.len()).filter(|&host| fits(hosts[host])));
        Ok(chosen)
    }
}

/// Returns whether a name is that of a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Warns where one description is of hosts that seem to differ: some have as many slots as it has cores, others fewer.
pub(super) fn warn_of_fewer(nodes: &[NodeSpec], insides: &[Object], unit: Unit, notes: &mut Vec<Note>) {
    for (number, inside) in insides.iter().enumerate() {
        let (cores, plural) = (inside::count(inside, unit), unit.plural(inside));
        let own = || nodes.iter().filter(move |node| node.inside == number);
        let has_fewer = |node: &&NodeSpec| node.slots.is_some_and(|slots| slots < cores);
        if !own().any(|node| node.slots == Some(cores)) || own().any(|node| node.ranks.is_some()) {
            continue;
        }
        let names: Vec<&str> = own().filter(has_fewer).filter_map(|node| node.host.as_deref()).collect();
        let Some(&first) = names.first() else { continue };
        let others = match names.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let named = names[..names.len().min(MOST_NAMED)].join(", ");
        let text = format!(
            "{named}{others} {} fewer slots than the {cores} {plural} of the description, unlike other hosts; if {first} is another kind \
             of node, describe it: node[{first}]=",
            if names.len() == 1 { "has" } else { "have" }
        );
        notes.push(Note::warning(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let cases = [
            ("old*", "old1", true),
            ("old*", "old", true),
            ("old*", "gold1", false),
            ("*", "", true),
            ("*.lab", "n1.lab", true),
            ("*.lab", "n1.lab2", false),
            ("n*-*x", "n1-2x", true),
            ("n*-*x", "n1x", false),
            ("a*a", "a", false),
            ("a*b*c", "abbc", true),
            ("n1", "n1", true),
            ("n1", "n12", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn hosts_are_chosen_by_lists_of_names() {
        let hosts = ["old1", "old2.site.example", "old3", "gpu", "gpu7", "n1", "w.1.lab", "w.2.lab"];
        let known = Names::new(hosts);
        let chosen = |list: &str| Chosen::read(list).unwrap().among(&known, &hosts);
        assert_eq!(chosen("old[1-2],gpu*,n7"), Ok(vec![0, 1, 3, 4]));
        assert!(chosen("w").is_err());
        assert!(Chosen::read("").is_err() && Chosen::read("a[1-").is_err());
    }
}
