//! Programs with little memory.

use std::fs;
use std::process::Command;

use crate::common::{Folder, between, names, says, text_of};
use viem::graph::generate;

/// Runs a command with a limit of this many KiB of address space beyond what its program takes to start, which differs from build to build;
/// returns its exit code, stdout and stderr.
fn limited(folder: &Folder, kib: u32, line: &str) -> (Option<i32>, String, String) {
    let starts = |&least: &u32| limited_in_all(folder, least, "viem --version").0 == Some(0);
    let least = (1..).map(|step| 4_000 * step).find(starts).unwrap();
    limited_in_all(folder, least + kib, line)
}

/// Runs a command with a limit of this many KiB of address space.
fn limited_in_all(folder: &Folder, kib: u32, line: &str) -> (Option<i32>, String, String) {
    let command = folder.command(line);
    let run = Command::new("bash")
        .args(["-c", &format!(r#"ulimit -v {kib}; "$@""#), "bash"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(folder.path())
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (run.status.code(), text(&run.stdout), text(&run.stderr))
}

fn write_grid(folder: &Folder, side: usize) {
    folder.write("grid", text_of(&generate::grid(side, side)));
}

/// Runs a command that writes `out` with little memory. If it fails, there is a message, the documented exit code, and no change to a file.
fn succeeds(folder: &Folder, kib: u32, line: &str) -> bool {
    folder.write("out", "precious");
    let (code, _, message) = limited(folder, kib, line);
    if code == Some(0) {
        return true;
    }
    assert_eq!(code, Some(71), "{line} with {kib} KiB: {message}");
    assert!(message.contains("memory") || message.contains("threads"), "{line} with {kib} KiB: {message}");
    assert_eq!(folder.read("out"), "precious");
    false
}

#[test]
fn too_little_memory_is_reported() {
    let folder = Folder::new();
    write_grid(&folder, 600);
    let machine = "--machine=600:600 --distances=1:10";
    let lines = [
        &*format!("viem map grid {machine} --threads=1 --output=out --time-limit=1"),
        "viem partition grid --blocks=100 --preset=fast --threads=1 --output=out",
        "viem check grid --fix=out",
    ];
    let limits = [8_000, 18_000, 33_000, 53_000, 83_000];
    let done = limits.map(|kib| lines.map(|line| succeeds(&folder, kib, line)));
    assert!(done.concat().contains(&false), "the least was enough");
    assert_eq!(names(folder.path()), ["grid", "out"]);
}

#[test]
fn too_little_memory_for_a_workload_is_reported() {
    let folder = Folder::new();
    folder.stdout("viem traffic --pattern=mesh:64x64 --output=p --workload");
    let line = "viem simulate p --machine=torus:64x64 --threads=1 --time-limit=1 --output=out";
    let done = [8_000, 18_000, 33_000, 483_000].map(|kib| succeeds(&folder, kib, line));
    assert_eq!((done[0], done[3]), (false, true), "{done:?}");
}

/// A header alone allocates no memory, however large the numbers in it.
#[test]
fn headers_alone_take_no_memory() {
    let folder = Folder::new();
    folder.write("sparse", format!("4294967295 4294967295\n{}", "\n".repeat(20_000)));
    fs::File::options().write(true).open(folder.file("sparse")).unwrap().set_len(64 << 20).unwrap();
    let (code, faults, _) = limited(&folder, 33_000, "viem check sparse --max-errors=1");
    assert_eq!(code, Some(65), "{faults}");
    says(&faults, ["line 20002", "NUL"]);
}

#[test]
fn a_stored_matrix_respects_the_memory_limit_of_the_process() {
    let folder = Folder::new();
    write_grid(&folder, 128);
    let machine = "--machine=128:128 --distances=1:10";
    let options = "--distance-construction=hierarchy --threads=1";
    let (code, _, message) = limited(&folder, 200_000, &format!("viem map grid {machine} {options}"));
    assert_eq!(code, Some(71), "{message}");
    says(&message, ["268435456 bytes"]);
    let free: u64 = between(&message, "and ", " are free").parse().unwrap();
    assert!(free < 300_000 * 1024, "{message}");
}
