//! What is in a node: an hwloc XML file (its cores or its GPUs), a table of GPUs, a synthetic line of hwloc, a hierarchy, or what `lstopo`
//! says of this node.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::io::Source;
use crate::io::cluster::gpus::{self, GpuDistances, GpuNode};
use crate::io::cluster::hwloc::{self, Object, ObjectKind};
use crate::io::cluster::synthetic;
use crate::machine::cluster::{ClusterError, Unit, regular};
use crate::machine::spec::{PeKind, Request, SpecError};
use crate::machine::{Hierarchy, Note};

/// Cores of a node that is written as a hierarchy, at most.
const MOST_CORES: u32 = 1 << 16;

/// What stands for the node that the program runs on.
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

/// What is in a node that is described so.
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
            None => of_hwloc(request, source, notes),
        };
    }
    let levels = text.split(':').count();
    let tree = request.valid(Hierarchy::parse(text, &vec!["1"; levels].join(":")))?;
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
        notes.push(Note { text, is_warning: true });
    }
    Ok(regular(tree.arities()))
}

/// The cores or the GPUs in a file of hwloc.
fn of_hwloc(request: &Request<'_>, source: Source<'_>, notes: &mut Vec<Note>) -> Result<Object, SpecError> {
    if request.pe != PeKind::Gpu {
        return Ok(hwloc::read(source)?);
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
        notes.push(Note { text, is_warning: true });
    }
    Ok(node)
}

/// What `lstopo` says of this node.
pub(super) fn this_node(request: &Request<'_>, notes: &mut Vec<Note>) -> Result<Object, SpecError> {
    let failed = |reason: String| {
        request.refused(ClusterError::Lstopo { reason, instead: "node=16:2, or hwloc:FILE.xml" })
    };
    let mut reason = String::new();
    for program in LSTOPO {
        let run = Command::new(program).args(["--of", "xml"]).stdin(Stdio::null()).output();
        match run {
            Ok(output) if output.status.success() => {
                let source = Source::new("output of lstopo", output.stdout.as_slice())?;
                return of_hwloc(request, source, notes);
            }
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                reason =
                    format!("it ended with {}: {}", output.status, said.lines().next().unwrap_or_default());
            }
            Err(error) => reason = error.to_string(),
        }
    }
    Err(failed(reason))
}

/// What the system calls this node.
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
