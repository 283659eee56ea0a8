//! A launch by one of the kinds of launchers.

use super::KINDS;
use super::error::LaunchError;
use super::files::Launch;
use super::job::Job;
use super::kind::{BindsTo, LauncherKind};
use viem::base::types::PeId;
use viem::machine::{Located, Machine, Nodes, Site};
use viem::mapping::Mapping;

/// The kind with this name.
pub fn kind(name: &str) -> Option<&'static LauncherKind> {
    const ALL: &[LauncherKind] = &KINDS;
    ALL.iter().find(|kind| kind.name == name)
}

impl LauncherKind {
    /// The files and the command line for a mapping to a machine. `files` are the file names for the command
    /// line, one for each of [`LauncherKind::files`].
    pub fn launch(
        &self,
        machine: &dyn Machine,
        mapping: &Mapping,
        files: &[String],
    ) -> Result<Launch, LaunchError> {
        assert_eq!(files.len(), self.files.len(), "a name for each file");
        let nodes = Nodes::of(machine);
        let count = nodes.hosts().len();
        // A single node without a name is the current one.
        if self.needs_hosts && !nodes.are_named() && count > 1 {
            return Err(LaunchError::NoHosts { kind: self.name, nodes: count, others: without_hosts() });
        }
        if mapping.num_processes() == 0 {
            return Err(LaunchError::NoRanks);
        }
        let slurm = machine.located().and_then(Located::slurm_job);
        let job = Job { kind: self.name, nodes: &nodes, machine, mapping, files, slurm };
        job.check_hosts()?;
        check_gpus(&job, self.binds_to)?;
        (self.make)(&job)
    }
}

/// Fails if ranks are to be bound to cores near GPUs that are not known.
fn check_gpus(job: &Job<'_>, binds_to: BindsTo) -> Result<(), LaunchError> {
    let sites = (0..job.nodes.num_pes() as PeId).map(|pe| job.nodes.site(pe));
    for Site { node, cores, cpus, .. } in sites.filter(|site| !site.gpus.is_empty()) {
        let (kind, host) = (job.kind, || job.host(node).to_owned());
        if binds_to >= BindsTo::Cpus && cpus.is_empty() {
            return Err(LaunchError::NoCoresOfGpus {
                kind,
                host: host(),
                others: binding_at_most(BindsTo::Nothing),
            });
        }
        if binds_to >= BindsTo::Cores && cores.is_empty() {
            return Err(LaunchError::OnlyCpusOfGpus {
                kind,
                host: host(),
                others: binding_at_most(BindsTo::Cpus),
            });
        }
    }
    Ok(())
}

/// The kinds that do not need host names.
fn without_hosts() -> String {
    names_of(|kind| !kind.needs_hosts)
}

/// The kinds that bind ranks to nothing more than this.
fn binding_at_most(most: BindsTo) -> String {
    names_of(|kind| kind.binds_to <= most)
}

fn names_of(is_meant: impl Fn(&LauncherKind) -> bool) -> String {
    let kinds = KINDS.iter().filter(|kind| is_meant(kind));
    kinds.map(|kind| kind.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_of_their_own() {
        assert!(
            KINDS.iter().all(|kind| super::kind(kind.name).is_some_and(|found| found.about == kind.about))
        );
        assert!(super::kind("lsf").is_none());
    }
}
