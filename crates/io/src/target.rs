//! Target files of Scotch 7: the machines that program maps to.
//!
//! A name, then numbers, separated by arbitrary whitespace:
//!
//! | target | machine |
//! |---|---|
//! | `tleaf l s1 c1 … sl cl` | a tree of l levels, outermost first: s members a group, links of cost c |
//! | `ltleaf l s1 c1 … sl cl n p1 … pn` | the same tree, with PEs by their labels: leaf i of each n leaves in a row has label p(i+1) there |
//! | `mesh2D a b`, `mesh3D a b c`, `meshXD d a1 … ad` | a mesh, the first dimension fastest |
//! | `torus2D a b`, `torus3D a b c`, `torusXD d a1 … ad` | the same, closed |
//! | `hcub d` | a hypercube |
//! | `cmplt n` | n PEs, each next to each |
//! | `cmpltw n w1 … wn` | the same, with a capacity for each |
//! | `deco 0 n t`, n times `label weight domain`, n (n - 1) / 2 distances | the lower triangle of a distance matrix, and a bipartition tree: domain 1 is the whole, 2 i and 2 i + 1 are the halves of domain i |
//! | `sub n p1 … pn` and a target | the listed PEs of that, in this order |
//!
//! Two leaves of a `tleaf` that part at a level are apart by the costs of the links of that level and all levels inside
//! it, each once: distances 1:10:100 are costs 90 9 1. (Pellegrini, "Scotch and PT-Scotch user's guide", version 7.0,
//! section "Target files"; the costs are those that the program adds up.)

use std::io::{self, Write};

use hashbrown::HashSet;

use super::fields::{FieldFault, Fields, Misplaced, Place};
use super::scanner::{TextKind, Token};
use crate::{ReadError, Source};
use viem::base::types::{Distance, PeId};

/// The content of a target file. PEs are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Lists of PEs, the outermost `sub` first: PE i is entry i of the first list, which is a PE by the next list, and
    /// so on; entries of the last are PEs of the base. Each entry exists, and none is listed twice.
    pub lists: Vec<Vec<PeId>>,
    /// The machine that they are taken from.
    pub base: Base,
}

/// A whole machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A tree: members of a group and the distance of two PEs that meet there, by level, innermost first.
    Tree {
        /// Members of a group.
        arities: Vec<u32>,
        /// The sums of costs of links.
        distances: Vec<Distance>,
    },
    /// The same with another numbering of the leaves: leaf `b * n + i` of the tree is PE `b * n + labels[i]` where there are n labels, which
    /// divide the number of leaves.
    LabelledTree {
        /// Members of a group.
        arities: Vec<u32>,
        /// The sums of costs of links.
        distances: Vec<Distance>,
        /// A permutation of 0..n.
        labels: Vec<PeId>,
    },
    /// A mesh or a torus, the first dimension fastest.
    Grid {
        /// Vertices along each dimension.
        lengths: Vec<u32>,
        /// True if the ends are joined.
        is_closed: bool,
    },
    /// A hypercube of this many dimensions, 31 at most.
    Hypercube {
        /// Its dimension.
        dimension: u32,
    },
    /// PEs that are all next to each other.
    Complete {
        /// Their number.
        num_pes: u32,
    },
    /// The same, with a capacity for each PE.
    WeightedComplete {
        /// The capacities, at least 1.
        capacities: Vec<u32>,
    },
    /// A distance matrix and a division of the PEs.
    Decomposition {
        /// The capacity of each PE, at least 1.
        capacities: Vec<u32>,
        /// The domain of each PE in a bipartition tree: the halves of domain i are 2 i and 2 i + 1, the whole is 1.
        /// No domain holds another.
        domains: Vec<u64>,
        /// The distances of PE 1 to 0, of 2 to 0 and 1, and so on.
        triangle: Vec<Distance>,
    },
}

/// A fault in a target file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum TargetFault {
    #[error(transparent)]
    Field(#[from] FieldFault),
    #[error("`{text}` is no target that is known here; known are {}", names())]
    UnknownKind { text: String },
    #[error(
        "`deco {version}` holds internals of the program that made it; give the network itself instead, as a \
         METIS graph whose vertices of weight 0 are routers, the others processing elements, and whose edge weights \
         are the costs of links"
    )]
    UnsupportedDecomposition { version: u64 },
    #[error("the machine has more than {} processing elements", PeId::MAX)]
    TooManyPes,
    #[error("the costs of the links add up to more than {}", Distance::MAX)]
    DistanceOverflow,
    #[error("processing element {pe} is listed, but what it is taken from has 0..{count}")]
    PeOutOfRange { pe: PeId, count: usize },
    #[error("processing element {pe} is listed a second time")]
    PeListedTwice { pe: PeId },
    #[error("label {label} occurs a second time")]
    LabelTwice { label: PeId },
    #[error(
        "{labels} labels do not divide the {leaves} leaves of the tree; give as many as there are in a group of it, or in all"
    )]
    Labels { labels: u64, leaves: u64 },
    #[error("domain {domain} holds domain {inner}; each processing element is a domain of its own")]
    DomainsOverlap { domain: u64, inner: u64 },
    #[error("`{text}` comes after the end of the target")]
    Trailing { text: String },
}

type Result<T> = std::result::Result<T, Misplaced<TargetFault>>;

/// A kind of target by its name, and how it goes on after that.
type Kind = (&'static str, fn(&mut Fields<'_>) -> Result<Base>);

const KINDS: [Kind; 12] = [
    ("tleaf", |fields| tree(fields).map(|(arities, distances)| Base::Tree { arities, distances })),
    ("ltleaf", labelled_tree),
    ("mesh2D", |fields| grid(fields, Some(2), false)),
    ("mesh3D", |fields| grid(fields, Some(3), false)),
    ("meshXD", |fields| grid(fields, None, false)),
    ("torus2D", |fields| grid(fields, Some(2), true)),
    ("torus3D", |fields| grid(fields, Some(3), true)),
    ("torusXD", |fields| grid(fields, None, true)),
    ("hcub", hypercube),
    ("cmplt", complete),
    ("cmpltw", weighted_complete),
    ("deco", decomposition),
];

/// The name of lists, after which a target follows.
const SUB: &str = "sub";

/// The names of all targets, with commas between them.
fn names() -> String {
    let names: Vec<&str> = KINDS.iter().map(|&(name, _)| name).chain([SUB]).collect();
    names.join(", ")
}

/// Returns whether a word is the name of a target, in small letters or large ones.
pub fn is_name(word: &str) -> bool {
    KINDS.iter().map(|&(name, _)| name).chain([SUB]).any(|name| name.eq_ignore_ascii_case(word))
}

/// Reads a target file; time and memory grow with the content.
pub fn read(source: Source<'_>) -> std::result::Result<Target, ReadError> {
    let mut fields = Fields::new(source);
    let result = target(&mut fields);
    fields.finish(result)
}

/// A list of PEs, and the largest of them with its place.
struct List {
    pes: Vec<PeId>,
    largest: (PeId, Place),
}

fn target(fields: &mut Fields<'_>) -> Result<Target> {
    let mut lists: Vec<List> = Vec::new();
    let base = loop {
        let name = kind(fields)?;
        if name.eq_ignore_ascii_case(SUB) {
            lists.push(list(fields)?);
            continue;
        }
        match KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some((_, rest)) => break rest(fields)?,
            None => return Err(fields.fault(TargetFault::UnknownKind { text: name })),
        }
    };
    match fields.token() {
        Token::End | Token::LineEnd => {}
        Token::Number(number) => return Err(fields.fault(TargetFault::Trailing { text: number.to_string() })),
        Token::Text(_) => return Err(fields.fault(TargetFault::Trailing { text: fields.text() })),
    }
    let mut count = base.num_pes();
    for List { pes, largest: (pe, place) } in lists.iter().rev() {
        if *pe as usize >= count {
            return Err(Misplaced { place: *place, fault: TargetFault::PeOutOfRange { pe: *pe, count } });
        }
        count = pes.len();
    }
    Ok(Target { lists: lists.into_iter().map(|list| list.pes).collect(), base })
}

fn kind(fields: &mut Fields<'_>) -> Result<String> {
    match fields.token() {
        Token::Text(TextKind::Word) => Ok(fields.text()),
        Token::Text(_) => Err(fields.fault(TargetFault::UnknownKind { text: fields.text() })),
        Token::Number(number) => Err(fields.fault(TargetFault::UnknownKind { text: number.to_string() })),
        Token::End | Token::LineEnd => {
            Err(fields.fault(FieldFault::Missing { what: "the name of a target" }.into()))
        }
    }
}

fn list(fields: &mut Fields<'_>) -> Result<List> {
    let count = fields.number("the number of listed processing elements", 1, PeId::MAX.into())?;
    let (mut pes, mut seen, mut largest) = (Vec::new(), HashSet::new(), None);
    for _ in 0..count {
        let pe = fields.number("a listed processing element", 0, u64::from(PeId::MAX) - 1)? as PeId;
        if !seen.insert(pe) {
            return Err(fields.fault(TargetFault::PeListedTwice { pe }));
        }
        if largest.is_none_or(|(largest, _)| pe > largest) {
            largest = Some((pe, fields.place()));
        }
        pes.push(pe);
    }
    Ok(List { pes, largest: largest.expect("at least one is listed") })
}

/// Arities and distances, innermost first.
fn tree(fields: &mut Fields<'_>) -> Result<(Vec<u32>, Vec<Distance>)> {
    let levels = fields.number("the number of levels", 0, PeId::MAX.into())?;
    let (mut arities, mut links, mut num_pes) = (Vec::new(), Vec::new(), 1);
    for _ in 0..levels {
        arities.push(factor(fields, "the number of members of a group", &mut num_pes)?);
        links.push(fields.number("the cost of a link", 0, Distance::MAX as u64)? as Distance);
    }
    let mut distance: Distance = 0;
    let add = |&link: &Distance| {
        distance = distance.checked_add(link)?;
        Some(distance)
    };
    let distances: Option<Vec<Distance>> = links.iter().rev().map(add).collect();
    arities.reverse();
    match distances {
        Some(distances) => Ok((arities, distances)),
        None => Err(fields.fault(TargetFault::DistanceOverflow)),
    }
}

fn labelled_tree(fields: &mut Fields<'_>) -> Result<Base> {
    let (arities, distances) = tree(fields)?;
    let leaves: u64 = arities.iter().map(|&arity| u64::from(arity)).product();
    let count = fields.number("the number of labels", 1, PeId::MAX.into())?;
    if !leaves.is_multiple_of(count) {
        return Err(fields.fault(TargetFault::Labels { labels: count, leaves }));
    }
    let (mut labels, mut seen) = (Vec::new(), HashSet::new());
    for _ in 0..count {
        let label = fields.number("a label", 0, count - 1)? as PeId;
        if !seen.insert(label) {
            return Err(fields.fault(TargetFault::LabelTwice { label }));
        }
        labels.push(label);
    }
    Ok(Base::LabelledTree { arities, distances, labels })
}

fn grid(fields: &mut Fields<'_>, dimensions: Option<u64>, is_closed: bool) -> Result<Base> {
    let dimensions = match dimensions {
        Some(dimensions) => dimensions,
        None => fields.number("the number of dimensions", 1, PeId::MAX.into())?,
    };
    let (mut lengths, mut num_pes) = (Vec::new(), 1);
    for _ in 0..dimensions {
        lengths.push(factor(fields, "the length of a dimension", &mut num_pes)?);
    }
    Ok(Base::Grid { lengths, is_closed })
}

/// A number that the number of PEs is multiplied with.
fn factor(fields: &mut Fields<'_>, what: &'static str, num_pes: &mut u32) -> Result<u32> {
    let factor = fields.number(what, 1, PeId::MAX.into())? as u32;
    *num_pes = num_pes.checked_mul(factor).ok_or_else(|| fields.fault(TargetFault::TooManyPes))?;
    Ok(factor)
}

fn hypercube(fields: &mut Fields<'_>) -> Result<Base> {
    Ok(Base::Hypercube { dimension: fields.number("the dimension", 0, u64::from(PeId::BITS) - 1)? as u32 })
}

fn complete(fields: &mut Fields<'_>) -> Result<Base> {
    Ok(Base::Complete { num_pes: count(fields)? })
}

fn count(fields: &mut Fields<'_>) -> Result<u32> {
    Ok(fields.number("the number of processing elements", 1, PeId::MAX.into())? as u32)
}

/// The capacity of one more PE; all of them together must be fewer than ids.
fn capacity(fields: &mut Fields<'_>, sum: &mut u64) -> Result<u32> {
    let capacity = fields.number("the capacity of a processing element", 1, PeId::MAX.into())?;
    *sum += capacity;
    if *sum >= u64::from(PeId::MAX) {
        return Err(fields.fault(TargetFault::TooManyPes));
    }
    Ok(capacity as u32)
}

fn weighted_complete(fields: &mut Fields<'_>) -> Result<Base> {
    let (count, mut sum) = (count(fields)?, 0);
    let capacities = (0..count).map(|_| capacity(fields, &mut sum)).collect::<Result<_>>()?;
    Ok(Base::WeightedComplete { capacities })
}

fn decomposition(fields: &mut Fields<'_>) -> Result<Base> {
    let version = fields.number("the version of the decomposition", 0, 2)?;
    if version > 0 {
        return Err(fields.fault(TargetFault::UnsupportedDecomposition { version }));
    }
    let (count, mut sum) = (count(fields)?, 0);
    fields.number("the largest domain", 1, u64::MAX)?;
    let (mut capacities, mut domains, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        fields.number("the label of a processing element", 0, u64::MAX)?;
        capacities.push(capacity(fields, &mut sum)?);
        domains.push(fields.number("the domain of a processing element", 1, u64::MAX)?);
        places.push(fields.place());
    }
    check_domains(&domains, &places)?;
    let mut triangle = Vec::new();
    for _ in 0..u64::from(count) * u64::from(count - 1) / 2 {
        triangle.push(fields.number("a distance", 0, Distance::MAX as u64)? as Distance);
    }
    Ok(Base::Decomposition { capacities, domains, triangle })
}

/// Checks that no domain holds another.
fn check_domains(domains: &[u64], places: &[Place]) -> Result<()> {
    // In the order of the leaves of the tree, a domain comes right before its contents.
    let mut order: Vec<usize> = (0..domains.len()).collect();
    order.sort_unstable_by_key(|&pe| (path(domains[pe]), domains[pe]));
    for pair in order.windows(2) {
        let (domain, inner) = (domains[pair[0]], domains[pair[1]]);
        let deeper = domain.leading_zeros().checked_sub(inner.leading_zeros());
        if deeper.is_some_and(|levels| inner >> levels == domain) {
            let place = places[pair[0].max(pair[1])];
            return Err(Misplaced { place, fault: TargetFault::DomainsOverlap { domain, inner } });
        }
    }
    Ok(())
}

/// The way from the whole to a domain of a bipartition tree: a bit a step, the first step highest, after a one. 0 is no domain.
///
/// Domains in ascending order of their ways are in the order of the leaves of the tree.
pub fn path(domain: u64) -> u64 {
    domain.checked_shl(domain.leading_zeros()).unwrap_or(0)
}

impl Base {
    /// Number of PEs.
    pub fn num_pes(&self) -> usize {
        let product = |factors: &[u32]| factors.iter().map(|&factor| factor as usize).product();
        match self {
            Base::Tree { arities, .. } | Base::LabelledTree { arities, .. } => product(arities),
            Base::Grid { lengths, .. } => product(lengths),
            Base::Hypercube { dimension } => 1 << dimension,
            Base::Complete { num_pes } => *num_pes as usize,
            Base::WeightedComplete { capacities } | Base::Decomposition { capacities, .. } => {
                capacities.len()
            }
        }
    }
}

/// Writes a machine as a target file, to be read by Scotch and by [`read`]. O(size of the text).
///
/// # Errors
///
/// If the output fails, or if the distances of a tree fall from the inside out, as costs of links are no less than 0.
pub fn write(out: &mut dyn Write, base: &Base) -> io::Result<()> {
    match base {
        Base::Tree { arities, distances } => {
            writeln!(out, "tleaf {}", tree_text(arities, distances)?)
        }
        Base::LabelledTree { arities, distances, labels } => {
            writeln!(out, "ltleaf {}", tree_text(arities, distances)?)?;
            writeln!(out, "{} {}", labels.len(), words(labels))
        }
        Base::Grid { lengths, is_closed } => {
            let kind = if *is_closed { "torusXD" } else { "meshXD" };
            writeln!(out, "{kind} {} {}", lengths.len(), words(lengths))
        }
        Base::Hypercube { dimension } => writeln!(out, "hcub {dimension}"),
        Base::Complete { num_pes } => writeln!(out, "cmplt {num_pes}"),
        Base::WeightedComplete { capacities } => {
            writeln!(out, "cmpltw {} {}", capacities.len(), words(capacities))
        }
        Base::Decomposition { capacities, domains, triangle } => {
            let largest = domains.iter().max().copied().unwrap_or(1);
            writeln!(out, "deco 0\n{} {largest}", capacities.len())?;
            for (label, (capacity, domain)) in capacities.iter().zip(domains).enumerate() {
                writeln!(out, "{label} {capacity} {domain}")?;
            }
            let mut rest = triangle.as_slice();
            for row in 1..capacities.len() {
                let (own, others) = rest.split_at(row.min(rest.len()));
                writeln!(out, "{}", words(own))?;
                rest = others;
            }
            Ok(())
        }
    }
}

/// A tree, outermost level first: members of a group and costs of links, which are the differences of the distances.
fn tree_text(arities: &[u32], distances: &[Distance]) -> io::Result<String> {
    let mut levels = Vec::new();
    let mut inner = 0;
    for (arity, &distance) in arities.iter().zip(distances) {
        if distance < inner {
            let message = "the distances of a tree fall from the inside out, and costs of links cannot";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        levels.push(format!("{arity} {}", distance - inner));
        inner = distance;
    }
    levels.reverse();
    Ok(format!("{} {}", levels.len(), levels.join(" ")).trim_end().to_owned())
}

fn words<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The domains of the PEs in a balanced bipartition tree over their numbers: the first half of any range is one half of its domain.
/// O(n log n).
pub fn balanced_domains(num_pes: usize) -> Vec<u64> {
    let domain_of = |pe: usize| {
        let (mut range, mut domain) = (0..num_pes, 1);
        while range.len() > 1 {
            let middle = range.start + range.len().div_ceil(2);
            let is_second = pe >= middle;
            range = if is_second { middle..range.end } else { range.start..middle };
            domain = 2 * domain + u64::from(is_second);
        }
        domain
    };
    (0..num_pes).map(domain_of).collect()
}
