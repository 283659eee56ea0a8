//! Lists of hosts as Slurm writes them: `n[01-04,7],gpu1`, `r[0-1]n[0-3]`.
//!
//! A list is names with commas between them; a name may hold any number of brackets with numbers and ranges, of which each
//! combination is a host. Leading zeros are kept: `n[008-010]` is n008, n009, n010. Time and memory for the hosts, of which
//! there are [`MOST_HOSTS`] at most, of 255 bytes at most.

use std::cell::Cell;

use crate::files::{ClusterFault, Fault, MOST_HOSTS, Text, shown};
use viem_io::{ReadError, Source};

/// Bytes of a name of a host, at most: those of a name in the Domain Name System.
const LONGEST_NAME: usize = 255;

/// The hosts of a list.
///
/// ```
/// use viem_cluster::files::hostlist;
///
/// assert_eq!(hostlist::read("list", "n[08-10],gpu1")?, ["n08", "n09", "n10", "gpu1"]);
/// # Ok::<(), viem_io::ReadError>(())
/// ```
pub fn read(name: &str, text: &str) -> Result<Vec<String>, ReadError> {
    Text::read(Source::new(name, text.as_bytes())?)?.parse(|text| expand(text, 0, &Cell::new(MOST_HOSTS)))
}

/// Numbers such as `2(x4),3`, of the CPUs or tasks of each node.
pub fn read_counts(name: &str, text: &str) -> Result<Vec<u32>, ReadError> {
    Text::read(Source::new(name, text.as_bytes())?)?.parse(counts)
}

const TOO_LONG: &str = "a name is longer than 255 bytes";

/// The hosts of a list that starts at an offset in its file, of as many as there is `room` for; they take it up.
pub(super) fn expand(text: &str, offset: usize, room: &Cell<usize>) -> Result<Vec<String>, Fault> {
    let mut hosts = Vec::new();
    for (at, name) in split(text) {
        let mut found = vec![String::new()];
        let fault = |reason| (offset + at, ClusterFault::Hostlist { text: shown(name), reason });
        if name.is_empty() {
            return Err(fault("a name is missing"));
        }
        if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(fault("a name has a blank"));
        }
        let mut rest = name;
        while let Some((before, after)) = rest.split_once('[') {
            let (inside, after) = after.split_once(']').ok_or_else(|| fault("a bracket is left open"))?;
            let numbers = ranges(inside, MOST_HOSTS).map_err(fault)?;
            if found.len().saturating_mul(numbers.len()) > room.get() {
                return Err((offset + at, ClusterFault::TooManyHosts));
            }
            let longest = |texts: &[String]| texts.iter().map(String::len).max().unwrap_or(0);
            if longest(&found) + before.len() + longest(&numbers) > LONGEST_NAME {
                return Err(fault(TOO_LONG));
            }
            let combine = |host: &String| {
                let host = format!("{host}{before}");
                numbers.iter().map(move |number| format!("{host}{number}")).collect::<Vec<_>>()
            };
            found = found.iter().flat_map(combine).collect();
            rest = after;
        }
        if rest.contains(']') {
            return Err(fault("a bracket is closed that was not opened"));
        }
        if found.iter().any(|host| host.len() + rest.len() > LONGEST_NAME) {
            return Err(fault(TOO_LONG));
        }
        found.iter_mut().for_each(|host| host.push_str(rest));
        let left = room.get().checked_sub(found.len());
        room.set(left.ok_or((offset + at, ClusterFault::TooManyHosts))?);
        hosts.append(&mut found);
    }
    Ok(hosts)
}

/// The names of a list with their offsets: commas inside brackets divide no names.
pub(super) fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.trim_end();
    let mut depth = 0usize;
    let mut start = text.len() - text.trim_start().len();
    let mut names = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    names.push((start.min(text.len()), &text[start.min(text.len())..]));
    names.into_iter()
}

/// The numbers in a bracket, as texts with their leading zeros.
fn ranges(text: &str, most: usize) -> Result<Vec<String>, &'static str> {
    const NUMBERS: &str = "a bracket holds numbers and ranges such as 01-04,7";
    let mut numbers = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<u64>().ok()).flatten().ok_or(NUMBERS)
        };
        let (from, to) = (number(first)?, number(last)?);
        if from > to {
            return Err("a range runs backwards");
        }
        if to - from >= (most - numbers.len().min(most)) as u64 {
            return Err("a range is too long");
        }
        let width = first.len();
        if width > LONGEST_NAME {
            return Err(TOO_LONG);
        }
        numbers.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

fn counts(text: &str) -> Result<Vec<u32>, Fault> {
    let mut counts = Vec::new();
    let mut at = 0;
    for entry in text.split(',') {
        let fault = || (at, ClusterFault::Counts { text: shown(entry) });
        let (count, repeats) = match entry.trim().split_once("(x") {
            Some((count, repeats)) => (count, repeats.strip_suffix(')').ok_or_else(fault)?),
            None => (entry.trim(), "1"),
        };
        let number = |text: &str| {
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<u32>().ok()).flatten().filter(|&number| number > 0)
        };
        let (count, repeats) = number(count).zip(number(repeats)).ok_or_else(fault)?;
        if repeats as usize > MOST_HOSTS - counts.len().min(MOST_HOSTS) {
            return Err((at, ClusterFault::TooManyHosts));
        }
        counts.extend(std::iter::repeat_n(count, repeats as usize));
        at += entry.len() + 1;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_expanded() {
        let cases = [
            ("n1", vec!["n1"]),
            ("n[1-3]", vec!["n1", "n2", "n3"]),
            ("n[08-10],gpu1", vec!["n08", "n09", "n10", "gpu1"]),
            ("r[0-1]n[0,2]", vec!["r0n0", "r0n2", "r1n0", "r1n2"]),
            ("a[1-2]-ib,b", vec!["a1-ib", "a2-ib", "b"]),
            ("n[9-11]", vec!["n9", "n10", "n11"]),
            (" n1 ", vec!["n1"]),
        ];
        for (text, hosts) in cases {
            assert_eq!(expand(text, 0, &Cell::new(MOST_HOSTS)).unwrap(), hosts, "{text}");
        }
        assert_eq!(counts("2(x4),3").unwrap(), [2, 2, 2, 2, 3]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let lists = [
            "",
            ",",
            "n1,",
            "n1,,n2",
            "n[",
            "n[1",
            "n]",
            "n[]",
            "n[1-]",
            "n[-1]",
            "n[a]",
            "n[3-1]",
            "n[1,,2]",
            "n[[1]]",
            "n[1-2",
            "a b",
            "n[1-99999999999]",
            "n[0-999][0-999][0-999]",
            "n[1-99999999999999999999]",
            "n[0-6:2]",
        ];
        for list in lists {
            assert!(expand(list, 0, &Cell::new(MOST_HOSTS)).is_err(), "{list}");
        }
        for length in [255, 256, 5000] {
            let long = [
                "n".repeat(length),
                format!("n[{:0>1$}-2]", 1, length - 1),
                format!("{}[1-2]", "n".repeat(length - 1)),
            ];
            for list in long {
                assert_eq!(expand(&list, 0, &Cell::new(MOST_HOSTS)).is_ok(), length == 255, "{list}");
            }
        }
        for text in
            ["", "2(x4", "2(4)", "x", "0", "2(x0)", "2,,3", "-1", "2(x4)3", "1(x99999999)", "99999999999"]
        {
            assert!(counts(text).is_err(), "{text}");
        }
    }
}
