//! Names of one host: `n1` and `n1.site.example` are, if no other host could be meant.
//!
//! Names are compared label by label. Equal names are one host. Otherwise a name stands for the only one that it begins, or that
//! begins it, up to a dot. Addresses such as 10.0.0.1 only equal themselves. O(n log n) for n names.

use std::collections::HashMap;

/// Hosts that are named in a message at most.
const SHOWN: usize = 3;

/// Names to look up hosts in.
///
/// ```
/// use viem_cluster::files::names::{Names, UnclearHost};
///
/// let names = Names::new(["n1.site.example", "n2", "w.1.lab", "w.2.lab"]);
/// assert_eq!(names.find("n1"), Ok(Some(0)));
/// assert_eq!(names.find("n2.site.example"), Ok(Some(1)));
/// assert_eq!(names.find("n10"), Ok(None));
/// assert!(matches!(names.find("w"), Err(UnclearHost { .. })));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Names<'a> {
    /// The first index of each name.
    index_of: HashMap<&'a str, usize>,
    /// All names by their labels: what a name begins follows it.
    sorted: Vec<&'a str>,
}

/// A host whose name does not say which one it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "host {host} could be {}, whose names differ only in their domains; write the names in both places in one way", others.join(" or ")
)]
pub struct UnclearHost {
    /// Its name.
    pub host: String,
    /// Some of those that it could be.
    pub others: Vec<String>,
}

impl<'a> Names<'a> {
    /// These names. Of equal ones the first counts.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut index_of = HashMap::new();
        for (index, name) in names.into_iter().enumerate() {
            index_of.entry(name).or_insert(index);
        }
        let mut sorted: Vec<&str> = index_of.keys().copied().collect();
        sorted.sort_unstable_by(|a, b| a.split('.').cmp(b.split('.')));
        Self { index_of, sorted }
    }

    /// The index of the name of a host, if there is one.
    pub fn find(&self, host: &str) -> Result<Option<usize>, UnclearHost> {
        if let Some(&index) = self.index_of.get(host) {
            return Ok(Some(index));
        }
        if is_address(host) {
            return Ok(None);
        }
        let shorter =
            host.match_indices('.').filter_map(|(end, _)| self.index_of.get_key_value(&host[..end]));
        let shorter = shorter.map(|(&name, _)| name);
        let after = self.sorted.partition_point(|name| name.split('.').lt(host.split('.')));
        let longer = self.sorted[after..].iter().copied().take_while(|name| begins(host, name));
        let found: Vec<&str> = shorter.chain(longer).filter(|name| !is_address(name)).take(SHOWN).collect();
        match found[..] {
            [] => Ok(None),
            [only] => Ok(Some(self.index_of[only])),
            _ => Err(unclear(host, &found)),
        }
    }

    /// The index of the name of each host, if there is one. Two hosts with names of their own are not the same one.
    pub fn find_all(&self, hosts: &[&str]) -> Result<Vec<Option<usize>>, UnclearHost> {
        let mut host_at: HashMap<usize, &str> = HashMap::new();
        let mut found = Vec::with_capacity(hosts.len());
        for &host in hosts {
            let index = self.find(host)?;
            let other = index.and_then(|index| host_at.insert(index, host));
            if let (Some(at), Some(other)) = (index, other.filter(|&other| other != host)) {
                let name =
                    self.index_of.iter().find(|&(_, &index)| index == at).map_or(host, |(&name, _)| name);
                return Err(unclear(name, &[other, host]));
            }
            found.push(index);
        }
        Ok(found)
    }
}

/// Returns whether two names can be those of one host.
pub fn are_one(a: &str, b: &str) -> bool {
    a == b || !is_address(a) && !is_address(b) && (begins(a, b) || begins(b, a))
}

fn unclear(host: &str, others: &[&str]) -> UnclearHost {
    let shown = |name: &&str| super::shown(name);
    UnclearHost { host: super::shown(host), others: others.iter().map(shown).collect() }
}

/// Returns whether a name goes on with further labels after a shorter one.
fn begins(short: &str, long: &str) -> bool {
    !short.is_empty() && long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns whether a name is an address of version 4 of the Internet Protocol, or a part of one.
fn is_address(name: &str) -> bool {
    name.split('.').all(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::base::rng::Rng;

    #[test]
    fn hosts_with_one_meaning_are_found() {
        let names = Names::new(["n1", "n1.a", "n2.a.example", "n10", "10.0.0.1", "10.0.0.2"]);
        for (host, index) in [
            ("n1", Some(0)),
            ("n1.a", Some(1)),
            ("n2", Some(2)),
            ("n2.a", Some(2)),
            ("n10.a.example", Some(3)),
            ("n1x", None),
            ("n2.b", None),
            ("10", None),
            ("10.0.0.1", Some(4)),
            ("10.0.0.1.5", None),
            ("", None),
        ] {
            assert_eq!(names.find(host), Ok(index), "{host}");
        }
        // Both n1 and n1.a begin it.
        let error = names.find("n1.a.example").unwrap_err();
        assert_eq!(error.others, ["n1", "n1.a"]);
        assert!(error.to_string().starts_with("host n1.a.example could be n1 or n1.a"));
    }

    #[test]
    fn two_hosts_are_not_one() {
        let names = Names::new(["w", "x"]);
        assert_eq!(names.find_all(&["x", "w.1", "y"]), Ok(vec![Some(1), Some(0), None]));
        assert_eq!(names.find_all(&["w", "w"]), Ok(vec![Some(0), Some(0)]));
        let error = names.find_all(&["w.1", "w.2"]).unwrap_err();
        assert_eq!((error.host.as_str(), error.others.join(" ")), ("w", "w.1 w.2".to_owned()));
    }

    /// The definition, name by name.
    #[test]
    fn sorted_names_are_found_as_by_the_definition() {
        let mut rng = Rng::new(7);
        let name = |rng: &mut Rng| {
            let labels: Vec<String> =
                (0..1 + rng.below(3)).map(|_| ["a", "b", "ab", "1"][rng.below(4) as usize].into()).collect();
            labels.join(".")
        };
        for _ in 0..500 {
            let all: Vec<String> = (0..rng.below(8)).map(|_| name(&mut rng)).collect();
            let host = name(&mut rng);
            let mut others: Vec<&str> =
                all.iter().map(String::as_str).filter(|other| are_one(other, &host)).collect();
            others.sort_unstable();
            others.dedup();
            let names = Names::new(all.iter().map(String::as_str));
            match names.find(&host) {
                Ok(None) => assert!(others.is_empty(), "{host} in {all:?}"),
                Ok(Some(index)) => {
                    assert!(all[index] == host || others == [all[index].as_str()], "{host} in {all:?}")
                }
                Err(_) => assert!(others.len() > 1 && !others.contains(&host.as_str()), "{host} in {all:?}"),
            }
        }
    }
}
