//! The properties of a kind of launcher.

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
    /// The behaviour of the launcher: the seat of each rank by the lines of the first file that are no comments, and the rest of the launch.
    #[cfg(test)]
    pub(super) read: fn(&[&str], &Launch, &crate::tests::Cluster) -> crate::tests::Seats,
}

/// The unit to which a kind of launcher binds ranks, and which so must be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BindsTo {
    /// It leaves that to others.
    Nothing,
    /// CPUs by the numbers of the operating system.
    Cpus,
    /// Cores by their packages and numbers in these.
    Cores,
}
