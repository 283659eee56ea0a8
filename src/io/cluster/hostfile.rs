//! Host files: a host a line, as Open MPI (`n1 slots=4`), MPICH (`n1:4`) and many scripts (`n1` for each rank) write them.
//!
//! A host that has no slots but `max_slots` has as many as that, and slots above `max_slots` are a fault, as with Open MPI.
//!
//! What starts with `#` is a comment. A host that stands in several lines has as many slots as they give together, one for a
//! line that says none. Where no line says any and some host stands in several, all lines count as one; hosts in one line that says
//! none have all slots there are, otherwise.

use std::collections::HashMap;

use crate::io::cluster::{ClusterFault, Fault, MOST_HOSTS, Text, fields, lines, shown};
use crate::io::{ReadError, Source};

/// Slots of a host at most.
const MOST_SLOTS: u32 = 1 << 16;

/// A host of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Host {
    /// Its name.
    pub name: String,
    /// How many processes it is given, where the file says so.
    pub slots: Option<u32>,
}

/// The hosts of a file in the order in which they are first named.
pub fn read(source: Source<'_>) -> Result<Vec<Host>, ReadError> {
    Text::read(source)?.parse(hosts)
}

fn hosts(text: &str) -> Result<Vec<Host>, Fault> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut lines_of: Vec<u32> = Vec::new();
    let mut index_of: HashMap<String, usize> = HashMap::new();
    for (at, line) in lines(text) {
        let Host { name, slots } = host(at, line)?;
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
    // A file that has a line a rank.
    let has_line_a_rank =
        hosts.iter().all(|host| host.slots.is_none()) && lines_of.iter().any(|&lines| lines > 1);
    for (host, lines) in hosts.iter_mut().zip(lines_of) {
        if host.slots.is_none() && (has_line_a_rank || lines > 1) {
            host.slots = Some(lines);
        }
    }
    Ok(hosts)
}

/// The host of a line.
fn host(at: usize, line: &str) -> Result<Host, Fault> {
    let mut fields = fields(at, line);
    let (start, first) = fields.next().expect("lines are not empty");
    let (name, mut slots) = match first.rsplit_once(':') {
        Some((name, count)) if !name.is_empty() => (name, Some(number(start + name.len() + 1, count)?)),
        _ => (first, None),
    };
    let may_stand = |c: char| c.is_alphanumeric() || "-_.@".contains(c);
    if !name.chars().all(may_stand) || name.is_empty() {
        return Err((start, ClusterFault::Hostfile { text: shown(first) }));
    }
    // `slots = 4` is allowed to Open MPI.
    let mut settings: Vec<(usize, String)> = Vec::new();
    for (at, field) in fields {
        match settings.last_mut() {
            Some((_, last)) if last.ends_with('=') || field.starts_with('=') => last.push_str(field),
            _ => settings.push((at, field.to_owned())),
        }
    }
    let mut most = None;
    for (at, setting) in settings {
        match setting.split_once('=').map(|(key, value)| (key.trim_end_matches('_'), value)) {
            Some(("slots" | "count" | "cpu" | "cpus", count)) => slots = Some(number(at, count)?),
            Some(("max-slots" | "max_slots", count)) => most = Some((at, number(at, count)?)),
            // Settings that do not say how many processes a host is given.
            Some(("user" | "username" | "binding" | "ifhn" | "port", _)) => {}
            _ => return Err((at, ClusterFault::Hostfile { text: shown(&setting) })),
        }
    }
    if let Some((at, most)) = most
        && *slots.get_or_insert(most) > most
    {
        return Err((at, ClusterFault::MaxSlots { slots: slots.unwrap_or(most), most }));
    }
    Ok(Host { name: name.rsplit('@').next().unwrap_or(name).to_owned(), slots })
}

fn number(at: usize, text: &str) -> Result<u32, Fault> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| text.parse().ok()).flatten();
    let fault = || (at, ClusterFault::BadCount { text: shown(text), what: "slots", most: MOST_SLOTS });
    number.filter(|number| (1..=MOST_SLOTS).contains(number)).ok_or_else(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(String, Option<u32>)> {
        hosts(text).unwrap().into_iter().map(|host| (host.name, host.slots)).collect()
    }

    #[test]
    fn hosts_of_each_kind() {
        let four = |name: &str| (name.to_owned(), Some(4));
        assert_eq!(told("# all\nn1 slots=4\nn2 slots = 4 max_slots=8 # b\n"), [four("n1"), four("n2")]);
        assert_eq!(told("n1:4\r\nn2:4\r\n"), [four("n1"), four("n2")]);
        assert_eq!(told("n1:4 binding=rr ifhn=ib1\n"), [four("n1")]);
        assert_eq!(told("n1\nn2"), [("n1".into(), None), ("n2".into(), None)]);
        assert_eq!(told("n1\nn1\nn1\nn1\nn2"), [four("n1"), ("n2".into(), Some(1))]);
        assert_eq!(told("n1 slots=2\nn1 slots=2\n"), [four("n1")]);
        assert_eq!(told("me@n1 slots=4\n"), [four("n1")]);
        assert_eq!(told("n1 max_slots=4\nn2 slots=4 max-slots=4\n"), [four("n1"), four("n2")]);
    }

    #[test]
    fn faults_name_the_setting() {
        for (text, at) in [("n1 slots=4 what=1", 11), ("n1 max_slots = 8 slots = 0", 17), ("n1:0", 3)] {
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
            "n1 4",
            "n1 what=4",
            "n1:99999999999",
            ":4",
            "<xml>",
            "n1 slots=70000",
            "n1 slots=5 max_slots=4",
            "n1:5 max_slots=4",
            "n1 max_slots=x",
            "a,b",
        ];
        for file in files {
            assert!(hosts(file).is_err(), "{file}");
        }
    }
}
