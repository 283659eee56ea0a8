//! Host files: a host a line, as Open MPI (`n1 slots=4`), MPICH (`n1:4`), batch systems and scripts write them.
//!
//! | line | meaning | written by |
//! |---|---|---|
//! | `n1` | a host, or a slot of it | batch systems, scripts |
//! | `n1 slots=4` | a host and its slots | Open MPI |
//! | `n1:4`, `n1:2,n2:2` | the same | MPICH, Intel MPI |
//! | `nid[000123-000126] slots=2`, `n[1-4],gpu1` | a [list of hosts](super::hostlist), each with these slots | Slurm |
//! | `n1 4 n2 4` | hosts, each with its slots behind it | LSF: `LSB_MCPU_HOSTS` |
//! | `n1 4 all.q@n1 UNDEFINED` | a host, its slots, a queue and processors | Grid Engine: `PE_HOSTFILE` |
//!
//! A host that has no slots but `max_slots` has as many as that, and slots above `max_slots` are a fault, as with Open MPI.
//!
//! A line that starts with `#` is a comment. A host in several lines has as many slots as they give together, one for a
//! line that says none. If no line has a number and some host has several lines, all lines count as one; hosts in one line that has
//! none have all slots there are, otherwise.

use std::cell::Cell;
use std::collections::HashMap;

use crate::files::{ClusterFault, Fault, MOST_HOSTS, Text, fields, hostlist, lines, shown};
use viem::base::text::Place;
use viem_io::{ReadError, Source};

/// Slots of a host at most.
const MOST_SLOTS: u32 = 1 << 16;

/// A host of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Host {
    /// Its name.
    pub name: String,
    /// The number of processes that it is given, if the file has one.
    pub slots: Option<u32>,
}

/// A host as one line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostEntry {
    /// Its name.
    pub name: String,
    /// The number of processes that the line gives it, if there is one.
    pub slots: Option<u32>,
    /// The binding that the line has behind `binding=`.
    pub binding: Option<String>,
    /// The offset of its name, or of the list that it is in.
    at: usize,
}

/// The hosts of a file in the order in which they are first named.
pub fn read(source: Source<'_>) -> Result<Vec<Host>, ReadError> {
    Text::read(source)?.parse(|text| merged(text, entries(text)?))
}

/// The hosts of each line, in the order of the lines.
pub fn read_entries(source: Source<'_>) -> Result<Vec<(HostEntry, Place)>, ReadError> {
    let text = Text::read(source)?;
    let entries = text.parse(entries)?;
    Ok(text.placed(entries, |entry| entry.at))
}

/// The hosts of all lines.
fn entries(text: &str) -> Result<Vec<HostEntry>, Fault> {
    let (mut found, room) = (Vec::new(), Cell::new(MOST_HOSTS));
    for (at, line) in lines(text) {
        let fields: Vec<(usize, &str)> = fields(at, line).collect();
        let is_counted = fields.get(1).is_some_and(|(_, field)| is_number(field));
        if is_counted { counted(&fields, &room, &mut found)? } else { listed(&fields, &room, &mut found)? }
    }
    if found.is_empty() { Err((text.len(), ClusterFault::NoHosts)) } else { Ok(found) }
}

/// Hosts with the number of their slots behind them, and in a file of Grid Engine a queue and processors.
fn counted(fields: &[(usize, &str)], room: &Cell<usize>, found: &mut Vec<HostEntry>) -> Result<(), Fault> {
    let pairs = match fields {
        [_, _, (_, queue), rest @ ..] if queue.contains('@') && rest.len() < 2 => &fields[..2],
        _ => fields,
    };
    for pair in pairs.chunks(2) {
        let &[name, (at, count)] = pair else {
            return Err((pair[0].0, ClusterFault::Hostfile { text: shown(pair[0].1) }));
        };
        let slots = Some(number(at, count)?);
        add(name, slots, None, room, found)?;
    }
    Ok(())
}

/// A list of hosts, each perhaps with a colon and the number of its slots, and settings that hold for all of them.
fn listed(fields: &[(usize, &str)], room: &Cell<usize>, found: &mut Vec<HostEntry>) -> Result<(), Fault> {
    let &[(start, list), ref settings @ ..] = fields else { return Ok(()) };
    let Settings { slots, most, binding } = Settings::new(settings)?;
    for (at, item) in hostlist::split(list) {
        let (name, own) = match item.rsplit_once(':') {
            Some((name, count)) if !name.is_empty() => {
                (name, Some(number(start + at + name.len() + 1, count)?))
            }
            _ => (item, None),
        };
        let slots = slots.or(own).or(most.map(|(_, most)| most));
        if let (Some(slots), Some((at, most))) = (slots, most)
            && slots > most
        {
            return Err((at, ClusterFault::MaxSlots { slots, most }));
        }
        add((start + at, name), slots, binding.as_deref(), room, found)?;
    }
    Ok(())
}

/// Adds a host, or those of a list.
fn add(
    (at, name): (usize, &str),
    slots: Option<u32>,
    binding: Option<&str>,
    room: &Cell<usize>,
    found: &mut Vec<HostEntry>,
) -> Result<(), Fault> {
    let names = if name.contains('[') { hostlist::expand(name, at, room)? } else { vec![name.to_owned()] };
    for full in names {
        let may_stand = |c: char| c.is_alphanumeric() || "-_.@".contains(c);
        // Before the sign is the name of a user.
        let host = full.rsplit('@').next().unwrap_or_default();
        if host.is_empty() || !full.chars().all(may_stand) {
            return Err((at, ClusterFault::Hostfile { text: shown(name) }));
        }
        found.push(HostEntry { name: host.to_owned(), slots, binding: binding.map(str::to_owned), at });
    }
    Ok(())
}

/// Settings such as `slots=4 max_slots=8`.
#[derive(Default)]
struct Settings {
    slots: Option<u32>,
    /// The most slots, and where they are.
    most: Option<(usize, u32)>,
    binding: Option<String>,
}

impl Settings {
    fn new(fields: &[(usize, &str)]) -> Result<Self, Fault> {
        // `slots = 4` is allowed to Open MPI.
        let mut texts: Vec<(usize, String)> = Vec::new();
        for &(at, field) in fields {
            match texts.last_mut() {
                Some((_, last)) if last.ends_with('=') || field.starts_with('=') => last.push_str(field),
                _ => texts.push((at, field.to_owned())),
            }
        }
        let mut settings = Self::default();
        for (at, text) in texts {
            match text.split_once('=').map(|(key, value)| (key.trim_end_matches('_'), value)) {
                Some(("slots" | "count" | "cpu" | "cpus", count)) => {
                    settings.slots = Some(number(at, count)?)
                }
                Some(("max-slots" | "max_slots", count)) => settings.most = Some((at, number(at, count)?)),
                Some(("binding", value)) => settings.binding = Some(value.to_owned()),
                // Settings that do not say how many processes a host is given.
                Some(("user" | "username" | "ifhn" | "port", _)) => {}
                _ => return Err((at, ClusterFault::Hostfile { text: shown(&text) })),
            }
        }
        Ok(settings)
    }
}

/// Each host once.
fn merged(text: &str, entries: Vec<HostEntry>) -> Result<Vec<Host>, Fault> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut lines_of: Vec<u32> = Vec::new();
    let mut index_of: HashMap<String, usize> = HashMap::new();
    for HostEntry { name, slots, at, .. } in entries {
        let index = *index_of.entry(name.clone()).or_insert(hosts.len());
        if index == hosts.len() {
            hosts.push(Host { name, slots });
            lines_of.push(1);
        } else {
            let sum = hosts[index].slots.unwrap_or(lines_of[index]).saturating_add(slots.unwrap_or(1));
            if hosts[index].slots.is_some() || slots.is_some() {
                hosts[index].slots = Some(sum);
            }
            lines_of[index] += 1;
            if sum > MOST_SLOTS {
                let text = sum.to_string();
                return Err((at, ClusterFault::BadCount { text, what: "slots", most: MOST_SLOTS }));
            }
        }
        if hosts.len() > MOST_HOSTS {
            return Err((at, ClusterFault::TooManyHosts));
        }
    }
    if hosts.is_empty() {
        return Err((text.len(), ClusterFault::NoHosts));
    }
    // A file that has a line per rank.
    let has_line_a_rank =
        hosts.iter().all(|host| host.slots.is_none()) && lines_of.iter().any(|&lines| lines > 1);
    for (host, lines) in hosts.iter_mut().zip(lines_of) {
        if host.slots.is_none() && (has_line_a_rank || lines > 1) {
            host.slots = Some(lines);
        }
    }
    Ok(hosts)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(at: usize, text: &str) -> Result<u32, Fault> {
    let number = is_number(text).then(|| text.parse().ok()).flatten();
    let fault = || (at, ClusterFault::BadCount { text: shown(text), what: "slots", most: MOST_SLOTS });
    number.filter(|number| (1..=MOST_SLOTS).contains(number)).ok_or_else(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Vec<Host>, Fault> {
        merged(text, entries(text)?)
    }

    fn hosts_of(text: &str) -> Vec<(String, Option<u32>)> {
        hosts(text).unwrap().into_iter().map(|host| (host.name, host.slots)).collect()
    }

    #[test]
    fn hosts_of_each_kind() {
        let four = |name: &str| (name.to_owned(), Some(4));
        assert_eq!(hosts_of("# all\nn1 slots=4\nn2 slots = 4 max_slots=8 # b\n"), [four("n1"), four("n2")]);
        assert_eq!(hosts_of("n1:4\r\nn2:4\r\n"), [four("n1"), four("n2")]);
        assert_eq!(hosts_of("n1:4 binding=rr ifhn=ib1\n"), [four("n1")]);
        assert_eq!(hosts_of("n1\nn2"), [("n1".into(), None), ("n2".into(), None)]);
        assert_eq!(hosts_of("n1\nn1\nn1\nn1\nn2"), [four("n1"), ("n2".into(), Some(1))]);
        assert_eq!(hosts_of("n1 slots=2\nn1 slots=2\n"), [four("n1")]);
        assert_eq!(hosts_of("me@n1 slots=4\n"), [four("n1")]);
        assert_eq!(hosts_of("n1 max_slots=4\nn2 slots=4 max-slots=4\n"), [four("n1"), four("n2")]);
    }

    #[test]
    fn lists_of_hosts_stand_wherever_a_host_does() {
        let of = |names: &[&str], slots| -> Vec<(String, Option<u32>)> {
            names.iter().map(|&name| (name.to_owned(), slots)).collect()
        };
        let four = ["nid000123", "nid000124", "nid000125", "nid000126"];
        assert_eq!(hosts_of("nid[000123-000126] slots=2\n"), of(&four, Some(2)));
        assert_eq!(hosts_of("nid[000123-000126]:2 binding=rr\n"), of(&four, Some(2)));
        assert_eq!(hosts_of("n[1-2],gpu1 # all\n"), of(&["n1", "n2", "gpu1"], None));
        assert_eq!(hosts_of("n1:2,n2:2"), of(&["n1", "n2"], Some(2)));
        assert_eq!(hosts_of("me@n[1-2] slots = 4"), of(&["n1", "n2"], Some(4)));
        assert_eq!(hosts_of("n[1-2]\nn[1-2]\n"), of(&["n1", "n2"], Some(2)));
    }

    #[test]
    fn hosts_of_batch_systems() {
        let expected = [("hostA".to_owned(), Some(4)), ("hostB".to_owned(), Some(2))];
        assert_eq!(hosts_of("hostA 4 hostB 2"), expected);
        assert_eq!(hosts_of("hostA 4\nhostB 2\n"), expected);
        assert_eq!(hosts_of("hostA 4 all.q@hostA UNDEFINED\nhostB 2 all.q@hostB <NULL>\n"), expected);
        assert_eq!(hosts_of("hostA 4 all.q@hostA 0,0:0,1\nhostB 2 all.q@hostB\n"), expected);
        assert_eq!(hosts_of("hostA\nhostA\nhostA\nhostA\nhostB\nhostB\n"), expected);
    }

    #[test]
    fn entries_keep_the_order_of_the_lines() {
        let source = Source::new("hosts", "# all\nn1:2 binding=user:3,1\nn[2-3]\nn1\n".as_bytes()).unwrap();
        let entries = read_entries(source).unwrap();
        let listed: Vec<_> =
            entries.iter().map(|(entry, place)| (entry.name.as_str(), entry.slots, place.line)).collect();
        assert_eq!(listed, [("n1", Some(2), 2), ("n2", None, 3), ("n3", None, 3), ("n1", None, 4)]);
        assert_eq!(entries[0].0.binding.as_deref(), Some("user:3,1"));
    }

    #[test]
    fn faults_name_the_setting() {
        for (text, at) in [
            ("n1 slots=4 what=1", 11),
            ("n1 max_slots = 8 slots = 0", 17),
            ("n1:0", 3),
            ("n1 4 n2 0", 8),
            ("a,n[1-2]:x", 9),
            ("a,n[1", 2),
        ] {
            assert_eq!(hosts(text).unwrap_err().0, at, "{text}");
        }
    }

    #[test]
    fn what_is_no_host_file_is_refused() {
        let files = [
            "",
            "# only\n",
            "n1 slots=0",
            "n1 slots=x",
            "n1 slots=",
            "n1:0",
            "n1:",
            "n1:-1",
            "n1 4 n2",
            "n1 4 n2 x",
            "n1 4 queue 0",
            "n1 0",
            "n[1-2",
            "n[2-1] slots=2",
            "n1,",
            "n1:2,n2:x",
            "n1 what=4",
            "n1:99999999999",
            ":4",
            "<xml>",
            "n1 slots=70000",
            "n1 slots=5 max_slots=4",
            "n1:5 max_slots=4",
            "n1 max_slots=x",
        ];
        for file in files {
            assert!(hosts(file).is_err(), "{file}");
        }
    }
}
