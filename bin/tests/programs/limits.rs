//! Programs with little memory.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{names, program, text_of};
use viem::graph::generate;

/// Runs a program with a limit of this many KiB of address space, with one thread.
fn limited(folder: &Path, kib: u32, name: &str, options: &[&str]) -> Output {
    Command::new("bash")
        .args(["-c", &format!(r#"ulimit -v {kib}; "$@""#), "bash"])
        .arg(program(name, folder).get_program())
        .args(options)
        .current_dir(folder)
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap()
}

fn write_grid(folder: &Path, side: usize) {
    fs::write(folder.join("grid"), text_of(&generate::grid(side, side))).unwrap();
}

/// Whatever the lack of memory, there is a message, the documented exit code, and no change to a file.
#[test]
fn too_little_memory_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    write_grid(folder.path(), 600);
    fs::write(folder.path().join("out"), "precious").unwrap();
    let viem = ["grid", "--hierarchy_parameter_string=600:600", "--distance_parameter_string=1:10"];
    let viem = [&viem[..], &["--threads=1", "--output_filename=out", "--time_limit=1"]].concat();
    let generate_model =
        ["grid", "--k=100", "--preconfiguration=fast", "--threads=1", "--output_filename=out"];
    let mut codes = Vec::new();
    for kib in [25_000, 35_000, 50_000, 70_000, 100_000] {
        for (name, options) in [
            ("viem", &viem[..]),
            ("generate_model", &generate_model[..]),
            ("graphchecker", &["grid", "--fix=out"]),
        ] {
            let run = limited(folder.path(), kib, name, options);
            let message = String::from_utf8_lossy(&run.stderr).into_owned();
            codes.push(run.status.code());
            if run.status.success() {
                fs::write(folder.path().join("out"), "precious").unwrap();
                continue;
            }
            assert_eq!(run.status.code(), Some(71), "{name} with {kib} KiB: {message}");
            assert!(
                message.contains("memory") || message.contains("threads"),
                "{name} with {kib} KiB: {message}"
            );
            assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "precious");
        }
    }
    assert!(codes.contains(&Some(71)), "the least was enough");
    assert_eq!(names(folder.path()), ["grid", "out"]);
}

#[test]
fn too_little_memory_for_a_workload_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let generate = ["--generate=mesh:64x64", "--output_filename=p"];
    crate::common::stdout_of(program("generate_model", folder.path()).args(generate));
    let options = ["p", "--machine=torus:64x64", "--threads=1", "--time_limit=1", "--output_filename=out"];
    let mut codes = Vec::new();
    for kib in [25_000, 35_000, 50_000, 500_000] {
        fs::write(folder.path().join("out"), "precious").unwrap();
        let run = limited(folder.path(), kib, "viem", &options);
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        codes.push(run.status.code());
        if !run.status.success() {
            assert_eq!(run.status.code(), Some(71), "{kib} KiB: {message}");
            assert!(message.contains("memory") || message.contains("threads"), "{kib} KiB: {message}");
            assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "precious");
        }
    }
    assert_eq!((codes[0], codes[3]), (Some(71), Some(0)), "{codes:?}");
}

/// A header alone allocates no memory, however large the numbers in it.
#[test]
fn headers_alone_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    fs::write(&path, format!("4294967295 4294967295\n{}", "\n".repeat(20_000))).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(64 << 20).unwrap();
    let run = limited(folder.path(), 50_000, "graphchecker", &["sparse", "--max_errors=1"]);
    let stdout = String::from_utf8_lossy(&run.stdout).into_owned();
    assert_eq!(run.status.code(), Some(65), "{stdout}");
    assert!(stdout.contains("line 20002") && stdout.contains("NUL"), "{stdout}");
}

#[test]
fn a_stored_matrix_respects_the_memory_limit_of_the_process() {
    let folder = tempfile::tempdir().unwrap();
    write_grid(folder.path(), 128);
    let machine = ["--hierarchy_parameter_string=128:128", "--distance_parameter_string=1:10"];
    let options =
        ["grid", machine[0], machine[1], "--distance_construction_algorithm=hierarchy", "--threads=1"];
    let run = limited(folder.path(), 200_000, "viem", &options);
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(71), "{message}");
    assert!(message.contains("268435456 bytes"), "{message}");
    let free: u64 = crate::common::between(&message, "and ", " are free").parse().unwrap();
    assert!(free < 200_000 * 1024, "{message}");
}
