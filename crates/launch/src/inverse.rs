//! The numbers of ranks only, for other launchers.

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use viem::base::types::NodeId;

pub(super) const KIND: LauncherKind = LauncherKind {
    name: "inverse",
    about: "the rank on each processing element, -1 on one without",
    files: &["ranks"],
    needs_hosts: false,
    binds_to: BindsTo::Nothing,
    make,
    #[cfg(test)]
    read: tests::read,
};

fn make(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let rank_on = job.rank_on_each_pe()?;
    let line = |rank: &Option<NodeId>| rank.map_or("-1\n".to_owned(), |rank| format!("{rank}\n"));
    let content = rank_on.iter().map(line).collect();
    Ok(Launch { files: vec![LaunchFile::text(content)], line: None })
}

#[cfg(test)]
mod tests {
    use crate::Launch;
    use crate::tests::{Cluster, Seats, seats};
    use std::collections::BTreeMap;
    use viem::Mapping;
    use viem::base::types::PeId;

    pub(crate) fn read(lines: &[&str], _launch: &Launch, machine: &Cluster) -> Seats {
        let mut pe_of = BTreeMap::new();
        let ranks = lines.iter().enumerate().filter(|(_, line)| **line != "-1");
        ranks.for_each(|(pe, rank)| assert_eq!(pe_of.insert(rank.parse::<u32>().unwrap(), pe as PeId), None));
        seats(machine, &Mapping::on(machine, pe_of.into_values().collect()).unwrap())
    }
}
