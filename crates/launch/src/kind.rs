//! What a kind of launcher consists of.

use super::error::LaunchError;
use super::files::Launch;
use super::job::Job;

/// A kind of launcher.
#[derive(Debug)]
pub struct LauncherKind {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description for output.
    pub about: &'static str,
    /// The default names of its files.
    pub files: &'static [&'static str],
    /// True if it needs the names of the hosts.
    pub needs_hosts: bool,
    pub(super) binds_to: BindsTo,
    pub(super) make: fn(&Job<'_>) -> Result<Launch, LaunchError>,
    /// What the launcher does: the seat of each rank by the lines of the first file that are no comments, and the rest of the launch.
    #[cfg(test)]
    pub(super) read: fn(&[&str], &Launch, &crate::tests::Cluster) -> crate::tests::Seats,
}

/// What a kind of launcher binds ranks to, and so must know of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BindsTo {
    /// It leaves that to others.
    Nothing,
    /// CPUs by the numbers of the operating system.
    Cpus,
    /// Cores by their packages and numbers in these.
    Cores,
}
