//! Kubernetes: the order of the pods and the ranks of each, as JSON.

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use viem::ground::types::NodeId;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "pods",
    about: "order of the pods with the rank of each GPU, as JSON",
    files: &["pods.json"],
    needs_hosts: true,
    binds_to: BindsTo::Nothing,
    make,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let numbers = job.pe_numbers()?;
    let mut nodes = job.used_nodes();
    // By their lowest ranks.
    nodes.sort_by_key(|node| node.ranks[0]);
    let pods: Vec<String> = nodes
        .iter_mut()
        .enumerate()
        .map(|(index, node)| {
            node.ranks.sort_by_key(|&rank| numbers[rank as usize]);
            let gpus: Vec<NodeId> = node.ranks.iter().map(|&rank| numbers[rank as usize]).collect();
            format!(
                "    {{\"index\": {index}, \"host\": {}, \"gpus\": {gpus:?}, \"ranks\": {:?}}}",
                string(node.host),
                node.ranks
            )
        })
        .collect();
    let content =
        format!("{{\n  \"ranks\": {},\n  \"pods\": [\n{}\n  ]\n}}\n", job.num_ranks(), pods.join(",\n"));
    Ok(Launch { files: vec![LaunchFile::text(content)], line: None })
}

/// A text as JSON.
fn string(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c.is_control() => json += &format!("\\u{:04x}", u32::from(c)),
            c => json.push(c),
        }
    }
    json + "\""
}
