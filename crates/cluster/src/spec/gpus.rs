//! GPUs of a node, as `nvidia-smi topo -m` and `rocm-smi --showtopo` print how they are linked.

use super::file_kind::{FileKind, Match};
use super::matrix;
use crate::files::gpus::{self, GpuDistances};
use viem::base::text::counted;

pub(super) const FILE: FileKind = FileKind {
    about: "the GPUs of a node, as nvidia-smi topo or rocm-smi prints them",
    endings: &[],
    resembles: |opening| match gpus::tool(&String::from_utf8_lossy(opening.start())) {
        Some(_) => Match::Yes,
        None => Match::No,
    },
    read: |source| {
        let name = source.name().to_owned();
        let GpuDistances { tool, links, entries, .. } = gpus::read(source)?;
        let num_gpus = entries.len().isqrt();
        let assumed: Vec<String> =
            links.iter().map(|(link, distance)| format!("{link} {distance}")).collect();
        let about = match assumed.is_empty() {
            true => format!("{gpus} with the distances of {tool}", gpus = counted(num_gpus, "GPU", "GPUs")),
            false => format!(
                "{gpus} with the links of {tool}, distances {} (assumed)",
                assumed.join(", "),
                gpus = counted(num_gpus, "GPU", "GPUs")
            ),
        };
        matrix::machine(name, num_gpus, entries, &about)
    },
};
