//! Kubernetes: the order of the pods and the ranks of each, as JSON.

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use viem::base::types::NodeId;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "pods",
    about: "order of the pods with the rank of each GPU, as JSON",
    files: &["pods.json"],
    needs_hosts: true,
    binds_to: BindsTo::Nothing,
    make,
    #[cfg(test)]
    read: tests::read,
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

#[cfg(test)]
mod tests {
    use crate::Launch;
    use crate::tests::{Cluster, Seats, by_rank};

    pub(crate) fn read(_lines: &[&str], launch: &Launch, machine: &Cluster) -> Seats {
        let json: serde_json::Value = serde_json::from_str(&launch.files[0].content).unwrap();
        let mut ranks = Vec::new();
        for (index, pod) in json["pods"].as_array().unwrap().iter().enumerate() {
            assert_eq!(pod["index"], index);
            let host = pod["host"].as_str().unwrap();
            let list = |name: &str| serde_json::from_value::<Vec<u32>>(pod[name].clone()).unwrap();
            let gpus = list("ranks").into_iter().zip(list("gpus"));
            ranks.extend(gpus.map(|(rank, gpu)| (rank, host.to_owned(), gpu)));
        }
        assert_eq!(json["ranks"], ranks.len());
        by_rank(ranks.into_iter(), machine)
    }
}
