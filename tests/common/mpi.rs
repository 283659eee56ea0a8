//! The MPIs that are installed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An installed MPI, by the suffix of its commands; Debian has several side by side.
pub struct Mpi {
    /// `.openmpi` or `.mpich`; nothing if there is but one MPI, which may be either.
    pub suffix: &'static str,
    /// Where its programs are compiled to.
    pub folder: tempfile::TempDir,
}

impl Mpi {
    /// Every MPI found. Without one, that is said on stderr; where VIEM_REQUIRE_MPI is set, as in CI, it is a failure unless Open MPI
    /// and MPICH are there.
    pub fn all() -> Vec<Self> {
        let suffixes = [".openmpi", ".mpich"];
        let is_there =
            |suffix: &&str| Command::new(format!("mpicc{suffix}")).arg("--version").output().is_ok();
        let mut found: Vec<_> = suffixes.into_iter().filter(is_there).collect();
        if is_required() {
            assert_eq!(found, suffixes, "Open MPI and MPICH must be installed");
        }
        if found.is_empty() && is_there(&"") {
            found.push("");
        }
        if found.is_empty() {
            skipped("no mpicc is installed");
        }
        found.into_iter().map(|suffix| Self { suffix, folder: tempfile::tempdir().unwrap() }).collect()
    }

    /// A source of this package, compiled.
    pub fn compile(&self, compiler: &str, arguments: &[&str], source: &str) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        let result = self.folder.path().join(source.file_name().unwrap()).with_extension("out");
        let mut command = Command::new(format!("{compiler}{}", self.suffix));
        let output = command.args(arguments).arg(source).arg("-o").arg(&result).arg("-ldl").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        result
    }

    /// The launcher, to be given its arguments, unaware of any job that the test runs in. It ends after a while whatever
    /// happens.
    pub fn launcher(&self) -> Command {
        let mut launcher = Command::new("timeout");
        launcher.args(["120", &format!("mpirun{}", self.suffix)]);
        without_job(&mut launcher);
        for (name, value) in [
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
            ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ] {
            launcher.env(name, value);
        }
        // Launchers that make the same folder at the same time fail.
        launcher.env("TMPDIR", self.folder.path());
        // Launchers read what is on stdin for rank 0.
        launcher.stdin(Stdio::null());
        launcher
    }
}

/// Whether tests fail that would else be skipped.
pub fn is_required() -> bool {
    std::env::var_os("VIEM_REQUIRE_MPI").is_some()
}

/// Says that a test did nothing; not through the test harness, which keeps what successful tests print to itself.
pub fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Takes away the variables of any job that the test itself runs in.
pub fn without_job(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if ["SLURM_", "PMI_", "PMIX_", "OMPI_", "FLUX_", "HYDRA_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
}
