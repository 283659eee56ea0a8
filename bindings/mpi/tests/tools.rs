//! The library as it is installed, compilers, and jobs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use tempfile::TempDir;

use crate::mpi::Mpi;
use crate::root;

/// The options with which all C must compile.
pub const STRICT: [&str; 6] =
    ["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-pedantic", "-Werror"];

/// Address and undefined behaviour sanitizers, which end the program at the first fault.
pub const SANITIZED: [&str; 3] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];

/// The machine of most tests: `distance` in `programs/topologies.c` is that of this one.
pub const MACHINE: [&str; 2] = ["VIEM_MACHINE=2:2:16", "VIEM_DISTANCES=1:10:100"];

/// The folder of the sources.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder of it")
}

/// Returns the folder into which `make install` has put everything, once for each MPI.
pub fn installed(mpi: &Mpi) -> PathBuf {
    made(mpi, "install")
}

/// The same for another target.
pub fn made(mpi: &Mpi, target: &'static str) -> PathBuf {
    static INSTALLED: LazyLock<Mutex<HashMap<(&str, &str), TempDir>>> = LazyLock::new(Mutex::default);
    let mut installed = INSTALLED.lock().unwrap();
    let prefix = installed.entry((mpi.kind, target)).or_insert_with(|| {
        let prefix = tempfile::tempdir().unwrap();
        let compiler = mpi.command("mpicc");
        let mut make = Command::new("make");
        // The MPI's own variables, such as the one by which Intel's finds its files.
        make.envs(compiler.get_envs().filter_map(|(name, value)| Some((name, value?))));
        make.arg("-C").arg(folder()).arg(target).arg(format!("PREFIX={}", prefix.path().display()));
        make.arg(format!("MPICC={}", compiler.get_program().to_string_lossy()));
        expect(&mut make);
        prefix
    });
    prefix.path().to_owned()
}

/// Runs a command that must succeed.
pub fn expect(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    Output { out, err }
}

/// The output of a job.
#[derive(Debug)]
pub struct Output {
    pub out: String,
    pub err: String,
}

impl Output {
    /// Returns the messages of the library, without its name.
    pub fn said(&self) -> Vec<&str> {
        self.err.lines().filter_map(|line| line.strip_prefix("viem_reorder: ")).collect()
    }
}

/// A program of `programs`, compiled; or of another folder below that of the sources.
pub fn compile(mpi: &Mpi, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let include = format!("-I{}", installed(mpi).join("include").display());
    mpi.compile(compiler, &[options, &[&include]].concat(), &format!("bindings/mpi/{source}"))
}

/// The same, linked to a library that a target of `make` installs.
pub fn compile_linked(
    mpi: &Mpi,
    (target, library): (&'static str, &str),
    compiler: &str,
    source: &str,
    options: &[&str],
) -> PathBuf {
    let prefix = made(mpi, target);
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let (own, include) =
        (format!("-I{}", include.join("viem").display()), format!("-I{}", include.display()));
    let (search, rpath) = (format!("-L{}", lib.display()), format!("-Wl,-rpath,{}", lib.display()));
    let library = format!("-l{library}");
    let linked = [&own[..], &include, &search, &rpath, "-Wl,--no-as-needed", &library, "-lm"];
    mpi.compile(compiler, &[options, &linked].concat(), &format!("bindings/mpi/{source}"))
}

/// Runs a program with the library loaded before it. The job must succeed.
pub fn run(mpi: &Mpi, num_ranks: usize, variables: &[&str], program: &Path, arguments: &[&str]) -> Output {
    let preload = format!("LD_PRELOAD={}", installed(mpi).join("lib/libviem_reorder.so").display());
    run_with(mpi, num_ranks, &[&[preload.as_str()], variables].concat(), program, arguments)
}

/// Runs a program as it is.
pub fn run_with(
    mpi: &Mpi,
    num_ranks: usize,
    variables: &[&str],
    program: &Path,
    arguments: &[&str],
) -> Output {
    let mut launcher = mpi.oversubscribed_launcher();
    // What a mapping is must not depend on how busy the computer is.
    launcher.args(["-n", &num_ranks.to_string(), "env", "VIEM_REORDER_SECONDS=60"]).args(variables);
    launcher.arg(program).args(arguments);
    launcher.current_dir(mpi.folder.path());
    expect(&mut launcher)
}

/// The static library that `make install` links: where cargo has built it for `installed`.
pub fn libviem() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release/libviem_c.a")
}
