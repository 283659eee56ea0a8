//! The installed MPI implementations.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

/// An installed MPI.
pub struct Mpi {
    /// Its kind of launch: `openmpi`, `openmpi5`, `mpich40`, `mpich` or `intel`.
    pub kind: &'static str,
    /// The folder of its compiled programs.
    pub folder: tempfile::TempDir,
    commands: Commands,
}

/// The names of the commands of an MPI.
#[derive(Clone, Debug)]
enum Commands {
    /// `mpirun.openmpi`: Debian has several MPIs side by side. Plain `mpirun` if there is only one.
    Suffix(&'static str),
    /// In a Python virtual environment, as installed by PyPI packages.
    Environment(PathBuf),
}

impl Commands {
    /// All candidates, and how each launches if it is installed; asked once.
    fn found() -> &'static [(Self, Option<&'static str>)] {
        static FOUND: LazyLock<Vec<(Commands, Option<&'static str>)>> = LazyLock::new(|| {
            Commands::known().into_iter().map(|commands| (commands.clone(), commands.kind())).collect()
        });
        &FOUND
    }

    /// All candidates: Debian's, and those in the environments below the folder VIEM_MPIS.
    fn known() -> Vec<Self> {
        let environments = std::env::var_os("VIEM_MPIS").map(std::fs::read_dir);
        let entries = environments.into_iter().map(|entries| entries.expect("VIEM_MPIS is a folder"));
        let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        let debian = [".openmpi", ".mpich"].map(Self::Suffix);
        debian.into_iter().chain(folders.into_iter().map(Self::Environment)).collect()
    }

    fn command(&self, name: &str) -> Command {
        let mut command = match self {
            Self::Suffix(suffix) => Command::new(format!("{name}{suffix}")),
            Self::Environment(folder) => Command::new(folder.join("bin").join(name)),
        };
        self.prepare(&mut command);
        command
    }

    /// Sets the variables that the commands need.
    fn prepare(&self, command: &mut Command) {
        for (name, value) in [
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
            ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ] {
            command.env(name, value);
        }
        if let Self::Environment(folder) = self {
            let path = std::env::var("PATH").unwrap_or_default();
            command.env("PATH", format!("{}:{path}", folder.join("bin").display()));
            // Intel MPI searches for its components there.
            command.env("I_MPI_ROOT", folder);
        }
    }

    /// The launch for this MPI; `None` if it is not installed.
    fn kind(&self) -> Option<&'static str> {
        let output = self.command("mpirun").arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // The last part may have letters behind it.
        let version = |before: &str| -> Option<Vec<u32>> {
            let word = text.split(before).nth(1)?.split_whitespace().next()?;
            let numbers: Vec<u32> = word.split('.').map_while(|number| number.parse().ok()).collect();
            Some(numbers).filter(|numbers| !numbers.is_empty())
        };
        if text.contains("Intel(R) MPI") {
            Some("intel")
        } else if let Some(version) = version("(Open MPI)").or_else(|| version("(OpenRTE)")) {
            Some(if version < vec![5] { "openmpi" } else { "openmpi5" })
        } else {
            Some(if version("Version:")? < vec![5, 0, 2] { "mpich40" } else { "mpich" })
        }
    }
}

impl Mpi {
    /// Every installed MPI. If there is none, prints that to stderr. If VIEM_REQUIRE_MPI is set, as in CI,
    /// fails unless Debian's Open MPI and MPICH are installed, and three others in VIEM_MPIS.
    pub fn all() -> Vec<Self> {
        let known = Commands::found();
        let mut found: Vec<(Commands, &'static str)> =
            known.iter().filter_map(|(commands, kind)| Some((commands.clone(), (*kind)?))).collect();
        if is_required() {
            assert!(found.len() == known.len() && known.len() == 5, "{found:?} of {known:?}");
        }
        if found.is_empty() {
            let only = Commands::Suffix("");
            found.extend(only.kind().map(|kind| (only, kind)));
        }
        if found.is_empty() {
            skipped("no MPI is installed");
        }
        let with_folder = |(commands, kind)| Self { kind, folder: tempfile::tempdir().unwrap(), commands };
        found.into_iter().map(with_folder).collect()
    }

    /// One Open MPI and one other MPI, for what the library does by itself, whichever calls it, and for tests that take minutes under each. The
    /// other one is MPICH 5 if it is there: ranks of older ones keep a core busy while they wait.
    pub fn two() -> Vec<Self> {
        let (open, mut others): (Vec<Self>, Vec<Self>) = Self::all().into_iter().partition(Self::is_open_mpi);
        others.sort_by_key(|mpi| mpi.kind != "mpich");
        open.into_iter().take(1).chain(others.into_iter().take(1)).collect()
    }

    pub fn is_open_mpi(&self) -> bool {
        self.kind.starts_with("openmpi")
    }

    /// A command of this MPI, such as `mpicc`.
    pub fn command(&self, name: &str) -> Command {
        self.commands.command(name)
    }

    /// A source file of this package, compiled: once for all tests of a program.
    pub fn compile(&self, compiler: &str, arguments: &[&str], source: &str) -> PathBuf {
        /// The results by command, each with its number.
        type Compiled = HashMap<String, Arc<(usize, OnceLock<PathBuf>)>>;
        static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);
        static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
        let mut command = self.command(compiler);
        command.args(arguments).arg(super::root().join(source));
        let mut compiled = COMPILED.lock().unwrap();
        let number = compiled.len();
        let own =
            compiled.entry(format!("{command:?}")).or_insert_with(|| Arc::new((number, OnceLock::new())));
        let own = Arc::clone(own);
        drop(compiled);
        let (number, result) = &*own;
        let compile = || {
            let result = FOLDER.path().join(format!("{number}.out"));
            let output = command.arg("-o").arg(&result).arg("-ldl").output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            result
        };
        result.get_or_init(compile).clone()
    }

    /// The launcher without arguments, isolated from any job in which the test runs. It ends after `seconds`
    /// in any case.
    pub fn launcher(&self, seconds: u32) -> Command {
        let mut launcher = Command::new("timeout");
        launcher.arg(seconds.to_string()).arg(self.command("mpirun").get_program());
        without_job(&mut launcher);
        self.commands.prepare(&mut launcher);
        // Launchers that create the same folder at the same time fail.
        launcher.env("TMPDIR", self.folder.path());
        // Launchers read stdin for rank 0.
        launcher.stdin(Stdio::null());
        launcher
    }

    /// The launcher for more ranks than cores.
    pub fn oversubscribed_launcher(&self) -> Command {
        let mut launcher = self.launcher(120);
        match self.kind {
            "openmpi" => {
                launcher.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
                launcher.env("OMPI_MCA_hwloc_base_binding_policy", "none");
            }
            "openmpi5" => {
                launcher.args(["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]);
            }
            // Ranks that wait sleep, instead of keeping a core busy.
            "intel" => {
                launcher.env("I_MPI_THREAD_YIELD", "3");
            }
            _ => (),
        }
        launcher
    }
}

/// Returns whether tests fail instead of being skipped.
pub fn is_required() -> bool {
    std::env::var_os("VIEM_REQUIRE_MPI").is_some()
}

/// Reports a skipped test; not through the test harness, which captures the output of successful tests.
pub fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Removes the variables of any job in which the test runs.
pub fn without_job(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if ["SLURM", "PMI_", "PMIX_", "PRTE_", "OMPI_", "FLUX_", "HYDRA_", "I_MPI_", "MPI_LOCAL", "PALS_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
}
