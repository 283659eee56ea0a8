//! Cray MPICH: a list of the ranks in the order of the slots, which is the inverse of a mapping.
//!
//! The slots of a node are on the same CPUs on every node. The mapping must therefore use the same CPUs on
//! every node, and fill all nodes but the last. Slurm numbers the slots in its own order of the nodes,
//! whatever the order in `-w`. In a job that order is known. Elsewhere the hosts must be in the usual one: by name, with numbers inside names
//! compared as numbers. Slots are given out by planes, because Slurm spreads blocks evenly.

use std::cmp::Ordering;

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::{Job, NodeRanks};
use super::kind::{BindsTo, LauncherKind};
use super::shell::hosts_option;
use super::srun;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "cray",
    about: "rank order file of Cray MPICH",
    files: &["MPICH_RANK_ORDER"],
    needs_hosts: false,
    binds_to: BindsTo::Cpus,
    make,
    #[cfg(test)]
    read: tests::read,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let mut nodes = srun::used_nodes(job);
    let is_turned = |pair: &&[NodeRanks<'_>]| by_number(pair[0].host, pair[1].host).is_gt();
    if let Some(pair) = nodes.windows(2).find(is_turned).filter(|_| job.slurm.is_none()) {
        return Err(LaunchError::HostOrder {
            first: pair[0].host.to_owned(),
            second: pair[1].host.to_owned(),
        });
    }
    // The slots of a node, by their CPUs.
    nodes
        .iter_mut()
        .for_each(|node| node.ranks.sort_by_key(|&rank| (job.site(rank).cpus, job.site(rank).gpus)));
    let (first, last) = (&nodes[0], nodes.len() - 1);
    let most = first.ranks.len();
    for (number, NodeRanks { host, ranks }) in nodes.iter().enumerate() {
        if ranks.len() > most || ranks.len() < most && number < last {
            let (first, host) = (first.host.to_owned(), host.to_string());
            return Err(LaunchError::Uneven { first, most, host, ranks: ranks.len() });
        }
        let cpus = ranks.iter().map(|&rank| job.site(rank).cpus);
        if !cpus.eq(first.ranks[..ranks.len()].iter().map(|&rank| job.site(rank).cpus)) {
            return Err(LaunchError::OtherCpus { first: first.host.to_owned(), host: host.to_string() });
        }
    }
    let order: Vec<String> = nodes.iter().flat_map(|node| &node.ranks).map(u32::to_string).collect();
    let masks: Vec<String> = first.ranks.iter().map(|&rank| mask(job.site(rank).cpus)).collect();
    let (count, ranks, file) = (nodes.len(), job.num_ranks(), job.file(0));
    let names = nodes.iter().map(|node| node.host.to_owned());
    let hosts = if job.nodes.are_named() { hosts_option("-w", names) } else { String::new() };
    let line = format!(
        "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={file} {} -N {count}{hosts} -n {ranks} -m plane={most} \
         --cpu-bind=mask_cpu:{} ./app",
        srun::command(job),
        masks.join(",")
    );
    Ok(Launch { files: vec![LaunchFile::text(order.join(",") + "\n")], line: Some(line) })
}

/// The order of two host names; `n9` comes before `n10`.
fn by_number(a: &str, b: &str) -> Ordering {
    pieces(a).cmp(pieces(b))
}

/// The texts of a name and the numbers that follow them. A number is represented by its digits without
/// leading zeros; a longer one is greater.
fn pieces(name: &str) -> impl Iterator<Item = (&str, usize, &str)> {
    let mut rest = name;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let start = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(start);
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let digits = behind[..end].trim_start_matches('0');
        rest = &behind[end..];
        Some((text, digits.len(), digits))
    })
}

/// CPUs as a hexadecimal bit mask; there may be more than 64.
fn mask(cpus: &[u32]) -> String {
    let mut digits = vec![0u8; cpus.iter().max().map_or(1, |&cpu| cpu as usize / 4 + 1)];
    for &cpu in cpus {
        digits[cpu as usize / 4] |= 1 << (cpu % 4);
    }
    let digits = digits.iter().rev().map(|&digit| char::from_digit(digit.into(), 16).expect("four bits"));
    format!("0x{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{by_number, mask};
    use crate::Launch;
    use crate::tests::{Cluster, Seats, numbers, option};

    pub(crate) fn read(lines: &[&str], launch: &Launch, machine: &Cluster) -> Seats {
        // Slots are given out node by node, in planes of as many as the line says, and bound by the masks in turn.
        let line = launch.line.as_deref().unwrap();
        let ranks = numbers(lines[0], ',');
        let each: usize = option(line, "-m").strip_prefix("plane=").unwrap().parse().unwrap();
        let masks = line.split("mask_cpu:").nth(1).unwrap().split(' ').next().unwrap();
        let masks: Vec<u64> = masks
            .split(',')
            .map(|mask| u64::from_str_radix(mask.strip_prefix("0x").unwrap(), 16).unwrap())
            .collect();
        assert_eq!(masks.len(), each);
        let hosts: Vec<&str> = option(line, "-w").split(',').collect();
        assert!(hosts.iter().all(|host| machine.hosts.iter().any(|name| name == host)));
        let mut seats = vec![(String::new(), Vec::new()); ranks.len()];
        for (slot, &rank) in ranks.iter().enumerate() {
            let cpus = (0..64).filter(|cpu| masks[slot % each] >> cpu & 1 == 1).collect();
            seats[rank as usize] = (hosts[slot / each].to_string(), cpus);
        }
        seats
    }

    #[test]
    fn hosts_are_in_the_order_of_their_numbers() {
        let ascending =
            ["a", "a1", "a2", "a10", "a10b2", "a10b10", "b", "b0009", "b10", "x99999999999999999999999", "y"];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(by_number(a, b), i.cmp(&j), "{a} {b}");
            }
        }
        assert!(by_number("n07", "n7").is_eq());
    }

    #[test]
    fn masks_have_a_bit_for_each_cpu() {
        assert_eq!(mask(&[0]), "0x1");
        assert_eq!(mask(&[2, 3]), "0xc");
        assert_eq!(mask(&[4, 68]), "0x100000000000000010");
    }
}
