//! The inside of a node: an hwloc XML file (its cores or its GPUs), a table of GPUs, a synthetic line of hwloc, a hierarchy, or the output of `lstopo`
//! for this node.

use std::env;
use std::path::{Path, PathBuf};

use crate::files::gpus::{self, GpuDistances, GpuNode};
use crate::files::hwloc::{self, Object, ObjectKind};
use crate::files::{scontrol, synthetic};
use crate::nodes::{ClusterError, ClusterSpec, NodeSpec, Unit, regular};
use crate::spec::cluster::command;
use crate::spec::cluster_kind::Request;
use crate::spec::error::SpecError;
use crate::spec::machine_spec::PeKind;
use viem::machine::{Hierarchy, HierarchyError, Note, spec};
use viem_io::{ReadError, Source};

/// Cores of a node that is written as a hierarchy, at most.
const MOST_CORES: u32 = 1 << 16;

/// The word for the node that the program runs on.
const THIS_NODE: &str = "hwloc";

/// Programs that describe a node, the first that is there is taken.
const LSTOPO: [&str; 2] = ["lstopo-no-graphics", "lstopo"];

fn is_hierarchy(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
}

/// The file that a description of a node is in, if it is in one.
pub(super) fn file_of(text: &str) -> Option<&Path> {
    let is_file = text != THIS_NODE && !is_hierarchy(text) && !synthetic::is_synthetic(text);
    is_file.then_some(Path::new(text))
}

/// The file that is read for a description of a node, if one is.
pub(super) fn read_for(text: &str) -> Option<PathBuf> {
    if text == THIS_NODE { read_for_this_node() } else { file_of(text).map(Path::to_path_buf) }
}

/// The file that `lstopo` takes in place of this node, if the environment names one.
pub(super) fn read_for_this_node() -> Option<PathBuf> {
    env::var_os("HWLOC_XMLFILE").filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// Reads the inside of a node from its description.
pub(super) fn read(request: &Request<'_>, text: &str, notes: &mut Vec<Note>) -> Result<Object, SpecError> {
    if text == THIS_NODE {
        return this_node(request, notes);
    }
    if synthetic::is_synthetic(text) {
        if request.pe == PeKind::Gpu {
            return Err(request.refused(ClusterError::SyntheticGpus));
        }
        return Ok(synthetic::read("synthetic machine", text)?);
    }
    if let Some(path) = file_of(text) {
        let mut source = Source::open(path)?;
        return match gpus::tool(&String::from_utf8_lossy(&source.start())) {
            Some(_) => {
                let name = source.name().to_owned();
                let advice = format!("; {name} alone, without hosts, has their distances");
                of_gpus(request, &name, gpus::read(source)?, &advice, notes)
            }
            None => of_hwloc(request, source, hwloc::read, notes),
        };
    }
    let levels = text.split(':').count();
    let refused = |error: HierarchyError| spec::SpecError::Machine {
        spec: request.spec.to_owned(),
        source: Box::new(error.into()),
    };
    let tree = Hierarchy::parse(text, &vec!["1"; levels].join(":")).map_err(refused)?;
    if tree.num_pes() > MOST_CORES as usize {
        let error = ClusterError::NodeTooLarge { text: text.to_owned(), most: MOST_CORES };
        return Err(request.refused(error));
    }
    if let (2.., [first, .., last]) = (levels, tree.arities())
        && last > first
    {
        let reversed: Vec<&str> = text.split(':').rev().collect();
        let text = format!(
            "node {text} has {last} sockets of {first} cores each in a socket or part of it; if it was typed outermost first, \
             it is {}",
            reversed.join(":")
        );
        notes.push(Note::warning(text));
    }
    Ok(regular(tree.arities()))
}

/// The cores or the GPUs in a file of hwloc.
fn of_hwloc(
    request: &Request<'_>,
    source: Source<'_>,
    read: impl Fn(Source<'_>) -> Result<Object, ReadError>,
    notes: &mut Vec<Note>,
) -> Result<Object, SpecError> {
    if request.pe != PeKind::Gpu {
        return Ok(read(source)?);
    }
    let name = source.name().to_owned();
    of_gpus(request, &name, hwloc::read_gpus(source)?, "", notes)
}

/// GPUs with the distances that a file of this name has; advice follows where they are no tree.
fn of_gpus(
    request: &Request<'_>,
    name: &str,
    table: GpuDistances,
    advice: &str,
    notes: &mut Vec<Note>,
) -> Result<Object, SpecError> {
    let GpuNode { node, num_nearer } = table.node().map_err(|fault| {
        request.refused(ClusterError::Gpus { file: name.to_owned(), reason: fault.to_string() })
    })?;
    if num_nearer > 0 {
        let text = format!(
            "the links of {name} are no tree: {num_nearer} pairs of GPUs are taken to be as near as the links between them{advice}"
        );
        notes.push(Note::warning(text));
    }
    Ok(node)
}

/// Returns the inside of this node by `lstopo`, as far as this program may use it.
pub(super) fn this_node(request: &Request<'_>, notes: &mut Vec<Note>) -> Result<Object, SpecError> {
    lstopo(request, &[&["--of", "xml"]], hwloc::read, notes)
}

/// Returns the inside of all of this node by `lstopo`, although this program may be confined to some of it.
pub(super) fn this_whole_node(request: &Request<'_>, notes: &mut Vec<Note>) -> Result<Object, SpecError> {
    // Versions before 2.1 do not know the option.
    let ways: [&[&str]; 2] = [&["--disallowed", "--of", "xml"], &["--of", "xml"]];
    lstopo(request, &ways, hwloc::read_whole, notes)
}

/// Returns the output of `lstopo` in the first of these ways that it knows.
fn lstopo(
    request: &Request<'_>,
    ways: &[&[&str]],
    read: impl Fn(Source<'_>) -> Result<Object, ReadError>,
    notes: &mut Vec<Note>,
) -> Result<Object, SpecError> {
    let failed = |reason: String| {
        request.refused(ClusterError::Lstopo { reason, instead: "node=16:2, or hwloc:FILE.xml" })
    };
    let mut reason = String::new();
    for (program, way) in LSTOPO.iter().flat_map(|program| ways.iter().map(move |way| (program, way))) {
        match command::ask(program, way) {
            Ok(printed) => {
                let source = Source::new("output of lstopo", printed.as_slice())?;
                return of_hwloc(request, source, read, notes);
            }
            Err(failure) => reason = failure,
        }
    }
    Err(failed(reason))
}

/// Returns the name that the system gives this node.
pub(super) fn this_host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().or(std::env::var("HOSTNAME").ok())?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Cores or hardware threads in a part of a node.
pub(super) fn count(object: &Object, unit: Unit) -> u32 {
    if object.kind == ObjectKind::Pu || unit == Unit::Core && object.kind == ObjectKind::Core {
        return 1;
    }
    object.children.iter().map(|child| count(child, unit)).sum()
}

/// Cores or hardware threads in a part of a node that have some of these CPUs, which are in ascending order. GPUs count whatever is near them.
pub(super) fn count_of(object: &Object, unit: Unit, cpus: &[u32]) -> u32 {
    match object.kind {
        ObjectKind::Pu => u32::from(object.near.is_some() || cpus.binary_search(&object.os_index).is_ok()),
        ObjectKind::Core if unit == Unit::Core => {
            u32::from(object.children.iter().any(|child| count_of(child, unit, cpus) > 0))
        }
        _ => object.children.iter().map(|child| count_of(child, unit, cpus)).sum(),
    }
}

/// Cores or hardware threads of a node that may be used.
pub(super) fn usable(draft: &ClusterSpec<'_>, node: &NodeSpec) -> u32 {
    let inside = &draft.insides[node.inside];
    let all = || match &node.cpus {
        Some(cpus) => count_of(inside, draft.unit, cpus),
        None => count(inside, draft.unit),
    };
    node.limit.unwrap_or_else(all)
}

/// The CPUs of each core of a node, in its order. Where there are no cores, each CPU is one.
pub(super) fn cores(object: &Object) -> Vec<Vec<u32>> {
    fn collect(object: &Object, cores: &mut Vec<Vec<u32>>) {
        match object.kind {
            ObjectKind::Pu => cores.push(vec![object.os_index]),
            ObjectKind::Core => {
                let mut threads = Vec::new();
                object.children.iter().for_each(|child| collect(child, &mut threads));
                cores.push(threads.concat());
            }
            _ => object.children.iter().for_each(|child| collect(child, cores)),
        }
    }
    let mut cores = Vec::new();
    collect(object, &mut cores);
    cores
}

/// The CPUs that this program may use, in ascending order, if the system says so.
pub(super) fn allowed_cpus() -> Option<Vec<u32>> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    scontrol::cpus(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}
