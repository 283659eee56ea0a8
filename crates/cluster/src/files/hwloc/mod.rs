//! The inside of a node as hwloc sees it: XML files of versions 1, 2 and 3.
//!
//! Kept is what says how near two cores are: machine, groups, NUMA nodes, packages, dies, L3 caches, cores and PUs. Other objects
//! pass on what is in them; devices hold nothing. From version 2 on NUMA nodes are memory children: they are beside the
//! cores and hold none, so the object that has them holds their cores. PUs that are offline or not allowed are left out, and what
//! is empty without them.
//!
//! Reference: Broquedis et al., "hwloc: a generic framework for managing hardware affinities in HPC applications", PDP 2010.

mod gpus;

pub use gpus::read_gpus;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use roxmltree::{Document, Node};

use crate::files::near::NearCores;
use crate::files::{ClusterFault, Fault, Text, shown};
use viem::base::types::Distance;
use viem_io::{ReadError, Source, xml};

/// Objects inside each other at most; those of hwloc are about ten.
const MOST_DEPTH: usize = 100;

/// PUs are numbered below this.
const MOST_PUS: u32 = 1 << 20;

/// The type of an object, from the outside in as most machines have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // named as hwloc names them
pub enum ObjectKind {
    Machine,
    /// A GPU, or a group of GPUs, beside others; not from hwloc.
    Gpu {
        /// The distance from the others.
        distance: Reverse<u32>,
        is_single: bool,
    },
    Group,
    Package,
    Numa,
    Die,
    L3,
    Core,
    Pu,
}

/// A part of a node and its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// The type of the object.
    pub kind: ObjectKind,
    /// The number that the operating system gives it, or that of the GPU it stands for; of PUs only.
    pub os_index: u32,
    /// The objects in it; none in PUs.
    pub children: Vec<Object>,
    /// The distance of the nearest network adapter, if it is known; only of PUs that stand for GPUs.
    pub to_network: Option<Distance>,
    /// The cores near the GPU that it stands for; only of PUs that stand for GPUs.
    pub near: Option<Box<NearCores>>,
}

impl Object {
    /// An object with these in it.
    pub fn new(kind: ObjectKind, children: Vec<Object>) -> Self {
        Self { kind, os_index: 0, children, to_network: None, near: None }
    }

    /// A PU.
    pub fn pu(os_index: u32) -> Self {
        Self { os_index, ..Self::new(ObjectKind::Pu, Vec::new()) }
    }

    /// A PU that stands for a GPU with these cores near it.
    pub fn gpu(number: u32, near: NearCores) -> Self {
        Self { near: Some(Box::new(near)), ..Self::pu(number) }
    }

    /// Returns whether it is made of GPUs, each of which counts as a core. O(depth).
    pub fn has_gpus(&self) -> bool {
        self.near.is_some() || self.children.first().is_some_and(Object::has_gpus)
    }

    /// The same object with its PUs standing for GPUs, of which it is not known what cores are near.
    pub(crate) fn of_gpus(mut self) -> Self {
        if self.kind == ObjectKind::Pu {
            self.near.get_or_insert_default();
        }
        self.children = self.children.into_iter().map(Object::of_gpus).collect();
        self
    }

    /// The cores in it, in order. PUs that are in none are cores.
    fn cores(&self) -> Vec<NumberedCore> {
        let mut cores = Vec::new();
        self.add_cores(None, &mut CoreNumbers::default(), &mut cores);
        cores
    }

    /// Adds the cores in it. `core` is the index of the one around it.
    fn add_cores(&self, core: Option<usize>, numbers: &mut CoreNumbers, cores: &mut Vec<NumberedCore>) {
        numbers.enter(self.kind);
        let mut own = core;
        if core.is_none() && matches!(self.kind, ObjectKind::Core | ObjectKind::Pu) {
            own = Some(cores.len());
            cores.push(NumberedCore { number: numbers.next(), pus: Vec::new() });
        }
        if let (ObjectKind::Pu, Some(own)) = (self.kind, own) {
            cores[own].pus.push(self.os_index);
        }
        self.children.iter().for_each(|child| child.add_cores(own, numbers, cores));
        numbers.leave(self.kind, core.is_some());
    }
}

/// A core of a node.
struct NumberedCore {
    /// Its package, and its number in it.
    number: (u32, u32),
    pus: Vec<u32>,
}

/// Counts packages, and the cores of each.
#[derive(Default)]
pub(crate) struct CoreNumbers {
    package: u32,
    next_package: u32,
    next_core: u32,
}

impl CoreNumbers {
    /// Opens an object; its contents follow.
    pub(crate) fn enter(&mut self, kind: ObjectKind) {
        if kind == ObjectKind::Package {
            (self.package, self.next_core) = (self.next_package, 0);
            self.next_package += 1;
        }
    }

    /// The package and the number of the core that is next, or that is entered.
    pub(crate) fn next(&self) -> (u32, u32) {
        (self.package, self.next_core)
    }

    /// Closes an object after its contents. Threads of a core share its number; those that are in none are cores.
    pub(crate) fn leave(&mut self, kind: ObjectKind, is_in_core: bool) {
        if kind == ObjectKind::Core || kind == ObjectKind::Pu && !is_in_core {
            self.next_core += 1;
        }
    }
}

/// The sets that a PU is in which may be used.
const USABLE: [&str; 2] = ["allowed_cpuset", "online_cpuset"];

/// The node that an XML file of hwloc describes.
pub fn read(source: Source<'_>) -> Result<Object, ReadError> {
    Text::read(source)?.parse(|text| machine(text, &USABLE))
}

/// The same with PUs that the program that wrote the file was not allowed to use.
pub(crate) fn read_whole(source: Source<'_>) -> Result<Object, ReadError> {
    Text::read(source)?.parse(|text| machine(text, &["online_cpuset"]))
}

/// A file as XML, with an object of hwloc in it.
fn document(text: &str) -> Result<Document<'_>, Fault> {
    let document = xml::open(text).map_err(|(at, reason)| (at, ClusterFault::Xml { reason }))?;
    let not_hwloc = |reason: String| (0, ClusterFault::NotHwloc { reason });
    let topology = document.root_element();
    match topology.tag_name().name() {
        "topology" if outermost(topology).is_some() => Ok(document),
        "topology" => Err(not_hwloc("there is no object in it".to_owned())),
        other => Err(not_hwloc(format!("its first element is `{}`, not `topology`", shown(other)))),
    }
}

/// The object that holds all others.
fn outermost<'a>(topology: Node<'a, 'a>) -> Option<Node<'a, 'a>> {
    topology.children().find(|child| child.has_tag_name("object"))
}

fn machine(text: &str, usable: &[&'static str]) -> Result<Object, Fault> {
    machine_of(&document(text)?, usable)
}

/// The node, as far as all of these attributes of its root have its PUs.
fn machine_of(document: &Document<'_>, usable: &[&'static str]) -> Result<Object, Fault> {
    let topology = document.root_element();
    let Some(root) = outermost(topology) else { return Err((0, ClusterFault::NoPus)) };
    let mut reader = Reader {
        memory_is_beside: topology.attribute("version").is_some_and(|version| !version.starts_with("1.")),
        usable: usable
            .iter()
            .filter_map(|&name| Some((name, root.attribute(name)?)))
            .map(|(name, text)| CpuSet::parse(text).ok_or_else(|| attribute(root, name)))
            .collect::<Result<_, _>>()?,
        seen: BTreeSet::new(),
    };
    let children = reader.object(root, 0)?;
    if children.is_empty() {
        return Err((root.range().start, ClusterFault::NoPus));
    }
    Ok(match <[Object; 1]>::try_from(children) {
        Ok([machine]) if machine.kind == ObjectKind::Machine => machine,
        Ok(children) => Object::new(ObjectKind::Machine, children.into()),
        Err(children) => Object::new(ObjectKind::Machine, children),
    })
}

fn attribute(node: Node<'_, '_>, attribute: &'static str) -> Fault {
    let what = shown(node.attribute("type").unwrap_or("object"));
    (node.range().start, ClusterFault::Attribute { what, attribute })
}

struct Reader {
    /// True if NUMA nodes hold no cores.
    memory_is_beside: bool,
    /// PUs are in all of these.
    usable: Vec<CpuSet>,
    seen: BTreeSet<u32>,
}

impl Reader {
    /// Returns the object of an element, or its contents if its kind does not count; nothing if there is no PU that may
    /// be used.
    fn object(&mut self, node: Node<'_, '_>, depth: usize) -> Result<Vec<Object>, Fault> {
        if depth > MOST_DEPTH {
            return Err((node.range().start, ClusterFault::TooDeep { most: MOST_DEPTH }));
        }
        let kind = match node.attribute("type").ok_or_else(|| attribute(node, "type"))? {
            "PU" => return self.pu(node),
            "Machine" => Some(ObjectKind::Machine),
            "Group" => Some(ObjectKind::Group),
            "Package" | "Socket" => Some(ObjectKind::Package),
            "Die" => Some(ObjectKind::Die),
            "L3Cache" => Some(ObjectKind::L3),
            "Cache" if node.attribute("depth") == Some("3") => Some(ObjectKind::L3),
            "Core" => Some(ObjectKind::Core),
            "NUMANode" | "MemCache" if self.memory_is_beside => return Ok(Vec::new()),
            "NUMANode" | "Node" => Some(ObjectKind::Numa),
            "Misc" | "Bridge" | "PCIDev" | "OSDev" => return Ok(Vec::new()),
            _ => None,
        };
        let inside = || node.children().filter(|child| child.has_tag_name("object"));
        let mut children = Vec::new();
        for child in inside() {
            children.extend(self.object(child, depth + 1)?);
        }
        let is_memory = |node: Node<'_, '_>| matches!(node.attribute("type"), Some("NUMANode" | "MemCache"));
        let has_memory = self.memory_is_beside && inside().any(is_memory);
        Ok(match kind {
            // Groups are made for the cores of a NUMA node that nothing else holds.
            Some(ObjectKind::Group) if has_memory && !children.is_empty() => {
                vec![Object::new(ObjectKind::Numa, children)]
            }
            Some(kind) if !children.is_empty() => vec![Object::new(kind, children)],
            _ => children,
        })
    }

    fn pu(&mut self, node: Node<'_, '_>) -> Result<Vec<Object>, Fault> {
        let index = node.attribute("os_index").and_then(|text| text.parse().ok());
        let index: u32 =
            index.filter(|&index| index < MOST_PUS).ok_or_else(|| attribute(node, "os_index"))?;
        if !self.seen.insert(index) {
            return Err((node.range().start, ClusterFault::PuTwice { index }));
        }
        let own =
            node.attribute("cpuset").map(|text| CpuSet::parse(text).ok_or_else(|| attribute(node, "cpuset")));
        let own = own.transpose()?;
        let is_usable = self.usable.iter().chain(&own).all(|set| set.holds(index));
        Ok(if is_usable { vec![Object::pu(index)] } else { Vec::new() })
    }
}

/// A set of PUs: words of 32 bits, the lowest first.
struct CpuSet {
    words: Vec<u32>,
    /// True if all PUs beyond the words are in it.
    is_infinite: bool,
}

impl CpuSet {
    /// `0x3,0xffffffff` and `0xf...f,0x0`, the highest word first.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (is_infinite, text) = match text.strip_prefix("0xf...f") {
            Some("") => return Some(Self { words: Vec::new(), is_infinite: true }),
            Some(rest) => (true, rest.strip_prefix(',')?),
            None => (false, text),
        };
        let word = |text: &str| match text.strip_prefix("0x").unwrap_or(text) {
            "" => Some(0),
            digits if digits.starts_with('+') => None,
            digits => u32::from_str_radix(digits, 16).ok(),
        };
        let words = text.split(',').rev().map(word).collect::<Option<_>>()?;
        Some(Self { words, is_infinite })
    }

    fn holds(&self, pu: u32) -> bool {
        self.words.get(pu as usize / 32).map_or(self.is_infinite, |word| word >> (pu % 32) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_pus() {
        let members = |text| {
            let set = CpuSet::parse(text).unwrap();
            (0..100).filter(|&pu| set.holds(pu)).collect::<Vec<_>>()
        };
        assert_eq!(members("0x00000005"), [0, 2]);
        assert_eq!(members("0x1,0x00000005"), [0, 2, 32]);
        assert_eq!(members("0x1,,0x2"), [1, 64]);
        assert_eq!(members("0xf...f,0x00000001")[..3], [0, 32, 33]);
        assert_eq!(members("0x0"), [0u32; 0]);
        assert_eq!(members("0xf...f").len(), 100);
        for text in ["0xg", "0x1;0x2", "-1", "0x123456789", "0xf...f0", "0x+1"] {
            assert!(CpuSet::parse(text).is_none(), "{text}");
        }
    }
}
