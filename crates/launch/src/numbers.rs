//! Numbers only, for other launchers.

use super::error::LaunchError;
use super::files::{Launch, LaunchFile};
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use viem::ground::types::NodeId;

pub(super) const PLAIN: LauncherKind = LauncherKind {
    name: "plain",
    about: "the processing element of each rank, by its number in the whole machine",
    files: &["pes"],
    needs_hosts: false,
    binds_to: BindsTo::Nothing,
    make: plain,
};

pub(super) const INVERSE: LauncherKind = LauncherKind {
    name: "inverse",
    about: "the rank on each processing element, -1 on one without",
    files: &["ranks"],
    needs_hosts: false,
    binds_to: BindsTo::Nothing,
    make: inverse,
};

fn plain(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let pes = job.ranks().map(|rank| job.machine.number(job.mapping.pe_of(rank)));
    Ok(only(pes.map(|pe| format!("{pe}\n")).collect()))
}

fn inverse(job: &Job<'_>) -> Result<Launch, LaunchError> {
    let rank_on = job.rank_on_each_pe()?;
    let line = |rank: &Option<NodeId>| rank.map_or("-1\n".to_owned(), |rank| format!("{rank}\n"));
    Ok(only(rank_on.iter().map(line).collect()))
}

fn only(content: String) -> Launch {
    Launch { files: vec![LaunchFile::text(content)], line: None }
}
