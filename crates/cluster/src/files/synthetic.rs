//! The inside of a node as a line of hwloc's: `pack:2 numa:4 core:16 pu:1`, outermost first.
//!
//! Each word is a kind and how many of it are in each of the kind before. What is in parentheses or brackets (memory
//! sizes) is skipped. PUs are numbered in order; where they have indices of their own, the text is refused, as ranks would be
//! bound to other CPUs. A number without a kind stands for a group; the last one for PUs. Caches other than L3 are no level: what is in them is
//! in what holds them.

use super::hwloc::{Object, ObjectKind};
use crate::files::{ClusterFault, Fault, Text, shown};
use viem_io::{ReadError, Source};

/// PUs at most.
const MOST_PUS: u64 = 1 << 20;

/// Levels at most.
const MOST_LEVELS: usize = 30;

/// Returns whether a text looks like a synthetic machine: words with colons, the first of them a kind.
pub fn is_synthetic(text: &str) -> bool {
    // Memory that is beside the whole node comes first.
    let behind = text.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let text = behind.map_or(text, |(_, text)| text);
    let first = text.split(|c: char| c.is_whitespace() || c == '(' || c == '[').find(|word| !word.is_empty());
    let words = first.and_then(|word| word.split_once(':'));
    words.is_some_and(|(name, count)| kind(name).is_some() && count.starts_with(|c: char| c.is_ascii_digit()))
}

/// The node that a line describes.
pub fn read(name: &str, text: &str) -> Result<Object, ReadError> {
    Text::read(Source::new(name, text.as_bytes())?)?.parse(machine)
}

fn machine(text: &str) -> Result<Object, Fault> {
    let levels = levels(text)?;
    let is_memory = |&&(_, kind, _): &&(usize, Level, u32)| kind != Level::Memory;
    let levels: Vec<_> = levels.iter().filter(is_memory).copied().collect();
    let Some(&(last_at, last, _)) = levels.last() else {
        return Err(fault(0, text, "there is no kind and number in it"));
    };
    // What is innermost is what processes run on.
    let has_pus = matches!(last, Level::Some(ObjectKind::Pu));
    if !has_pus && !matches!(last, Level::Some(ObjectKind::Core)) {
        return Err(fault(last_at, text, "cores or PUs come last"));
    }
    let mut count = 1u64;
    for &(at, _, arity) in &levels {
        count = count.saturating_mul(arity.into());
        if count > MOST_PUS {
            return Err(fault(at, text, "there are more than 1048576 PUs"));
        }
    }
    let mut kinds: Vec<(ObjectKind, u32)> = Vec::new();
    let mut caches = 1;
    for &(_, level, arity) in &levels {
        let kind = match level {
            Level::Some(kind) => kind,
            Level::Number => ObjectKind::Group,
            Level::Cache => {
                caches *= arity;
                continue;
            }
            Level::Memory => continue,
        };
        kinds.push((kind, arity * std::mem::replace(&mut caches, 1)));
    }
    let mut next = 0;
    Ok(Object::new(ObjectKind::Machine, build(&kinds, !has_pus, &mut next)))
}

/// The meaning of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Some(ObjectKind),
    /// A number without a kind.
    Number,
    /// A cache that is no level.
    Cache,
    Memory,
}

fn kind(name: &str) -> Option<Level> {
    let name = name.to_ascii_lowercase();
    Some(match name.as_str() {
        "machine" => Level::Some(ObjectKind::Machine),
        "pack" | "package" | "socket" => Level::Some(ObjectKind::Package),
        "numa" | "numanode" | "node" => Level::Some(ObjectKind::Numa),
        "die" => Level::Some(ObjectKind::Die),
        "group" => Level::Some(ObjectKind::Group),
        "l3" | "l3cache" | "l3u" | "l3ucache" => Level::Some(ObjectKind::L3),
        "core" => Level::Some(ObjectKind::Core),
        "pu" => Level::Some(ObjectKind::Pu),
        _ => {
            let cache = name.strip_suffix("cache").unwrap_or(&name);
            let mut letters = cache.strip_prefix('l')?.chars();
            let is_cache = letters.next().is_some_and(|level| ('1'..='5').contains(&level));
            return (is_cache && matches!(letters.as_str(), "" | "d" | "i" | "u")).then_some(Level::Cache);
        }
    })
}

fn fault(at: usize, text: &str, reason: &'static str) -> Fault {
    (at, ClusterFault::Synthetic { text: shown(text.trim()), reason })
}

/// The words with their offsets.
fn levels(text: &str) -> Result<Vec<(usize, Level, u32)>, Fault> {
    let mut levels = Vec::new();
    let mut indexed = None;
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let at = text.len() - rest.len();
        let Some(first) = rest.chars().next() else { break };
        if let Some((_, close)) = [('(', ')'), ('[', ']')].into_iter().find(|&(open, _)| open == first) {
            let end = rest.find(close).ok_or_else(|| fault(at, rest, "a bracket is left open"))?;
            if first == '[' && rest[1..end].trim_start().starts_with("numa") {
                levels.push((at, Level::Memory, 1));
            }
            if rest[1..end].contains("indexes=") {
                indexed = Some((at, levels.len()));
            }
            rest = &rest[end + 1..];
            continue;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == '[').unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        let (level, count) = match word.split_once(':') {
            Some((name, count)) => {
                (kind(name).ok_or_else(|| fault(at, word, "there is no such kind"))?, count)
            }
            None => (Level::Number, word),
        };
        let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        let arity = is_number.then(|| count.parse().ok()).flatten().filter(|&arity: &u32| arity > 0);
        let arity = arity.ok_or_else(|| fault(at, word, "a number above 0 follows the colon"))?;
        levels.push((at, level, arity));
        if levels.len() > MOST_LEVELS {
            return Err(fault(at, word, "there are more than 30 levels"));
        }
    }
    if let Some(last) = levels.last_mut().filter(|(_, level, _)| *level == Level::Number) {
        last.1 = Level::Some(ObjectKind::Pu);
    }
    if let Some((at, _)) = indexed.filter(|&(_, behind)| behind == levels.len()) {
        return Err(fault(
            at,
            &text[at..],
            "PUs with indices of their own are not understood; give the XML file of the node",
        ));
    }
    check_order(text, &levels)?;
    Ok(levels)
}

/// Cores hold PUs only, and PUs nothing.
fn check_order(text: &str, levels: &[(usize, Level, u32)]) -> Result<(), Fault> {
    let place = |wanted: ObjectKind| levels.iter().position(|&(_, level, _)| level == Level::Some(wanted));
    if let Some(pu) = place(ObjectKind::Pu).filter(|&pu| pu + 1 < levels.len()) {
        return Err(fault(levels[pu].0, text, "PUs hold nothing, so they come last"));
    }
    let inner = levels.get(place(ObjectKind::Core).map_or(levels.len(), |core| core + 1));
    match inner {
        Some(&(at, level, _)) if !matches!(level, Level::Some(ObjectKind::Pu) | Level::Memory) => {
            Err(fault(at, text, "cores hold PUs only; was it typed innermost first?"))
        }
        _ => Ok(()),
    }
}

/// The objects of the outermost level, with `is_cores` a PU in each core.
fn build(levels: &[(ObjectKind, u32)], is_cores: bool, next: &mut u32) -> Vec<Object> {
    let Some((&(kind, arity), inner)) = levels.split_first() else { return Vec::new() };
    let mut pu = || {
        *next += 1;
        Object::pu(*next - 1)
    };
    match kind {
        ObjectKind::Pu => (0..arity).map(|_| pu()).collect(),
        ObjectKind::Core if is_cores => (0..arity).map(|_| Object::new(kind, vec![pu()])).collect(),
        _ => (0..arity).map(|_| Object::new(kind, build(inner, is_cores, next))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pus(object: &Object) -> usize {
        if object.kind == ObjectKind::Pu { 1 } else { object.children.iter().map(pus).sum() }
    }

    #[test]
    fn lines_are_understood() {
        for (line, count) in [
            ("pack:2 numa:4 core:16 pu:1", 128),
            ("pack:2 core:4", 8),
            ("Package:2(indexes=1,0) L3:2 L2:4 L1d:1 Core:1 PU:2", 32),
            ("[NUMANode(memory=1GB)] Package:2 L3Cache:1 L2Cache:2 L1dCache:1 L1iCache:1 Core:1 PU:2", 8),
            ("numa:2(memory=1GB) pack:1 core:2 pu:2", 8),
            ("pack:2 [numa(memory=16GB)] core:2 pu:1", 4),
            ("2 3 4", 24),
            ("pu:7", 7),
        ] {
            assert_eq!(pus(&machine(line).unwrap()), count, "{line}");
        }
        assert!(is_synthetic("pack:2 core:4") && is_synthetic("Package:2") && !is_synthetic("node.xml"));
        assert!(is_synthetic("[NUMANode(memory=8)] Package:2 Core:1"));
        // As in the XML file of such a node.
        let node = machine("pack:2 l3:2 l2:4 l1d:1 core:1 pu:2").unwrap();
        assert_eq!(node, machine("pack:2 l3:2 core:4 pu:2").unwrap());
        assert!(!is_synthetic("16:2") && !is_synthetic("a/pack:x.xml"));
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for line in [
            "",
            " ",
            "pack:2",
            "pack:0 core:1",
            "pack: core:2",
            "pack:x core:2",
            "what:2 core:1",
            "core:2 pack:2",
            "pu:2 core:2",
            "pack:2 core:4 (",
            "pack:1000000 core:1000000",
            "pack:-1 core:2",
            "pack:2 pack",
            "pack:2 core:2 pu:2(indexes=core)",
            "pack:2 core:2 2(indexes=4*2:2*2)",
            "pack:2 l6:2 core:2",
            "pack:2 core:2 l2:2",
        ] {
            assert!(machine(line).is_err(), "{line}");
        }
        let deep = "group:1 ".repeat(40) + "pu:1";
        assert!(machine(&deep).is_err());
    }
}
