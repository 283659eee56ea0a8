//! Outputs of the programs: whole or not at all, whatever they are written to.

mod common;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use common::{MACHINE, failure_of, instance, names, program, stdout_of, to_spawn};

/// Every program with each of its outputs in turn at `output`.
fn writers(folder: &Path, output: &str) -> Vec<Command> {
    let model = instance("openfoam_sphere_64.msgs.graph");
    let mut viem = program("viem", folder);
    viem.arg(&model).args(MACHINE).args(["--output_filename", output]);
    let mut report = program("viem", folder);
    report.arg(&model).args(MACHINE).args(["--output_filename=mapping", "--json", output]);
    let mut generate_model = program("generate_model", folder);
    generate_model.arg(&model).args(["--k=8", "--output_filename", output]);
    let mut blocks = program("generate_model", folder);
    blocks.arg(&model).args(["--k=8", "--output_filename=model", "--mapping_filename", output]);
    let mut evaluator = program("evaluator", folder);
    let identity: String = (0..64).map(|pe| format!("{pe}\n")).collect();
    fs::write(folder.join("identity"), identity).unwrap();
    evaluator.arg(&model).args(MACHINE).args(["--input_mapping=identity", "--json", output]);
    let mut graphchecker = program("graphchecker", folder);
    graphchecker.arg(&model).args(["--fix", output]);
    vec![viem, report, generate_model, blocks, evaluator, graphchecker]
}

#[test]
fn a_file_is_the_same_as_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    for (mut to_file, mut to_stdout) in
        writers(folder.path(), "out").into_iter().zip(writers(folder.path(), "-"))
    {
        stdout_of(&mut to_file);
        let mut file = fs::read_to_string(folder.path().join("out")).unwrap();
        let mut stdout = stdout_of(&mut to_stdout);
        for text in [&mut file, &mut stdout] {
            // Reports differ by their times.
            if let Ok(mut report) = serde_json::from_str::<serde_json::Value>(text)
                && let Some(report_of_run) = report.as_object_mut()
            {
                report_of_run.remove("seconds");
                *text = report.to_string();
            }
        }
        assert_eq!(file, stdout, "{to_stdout:?}");
    }
}

#[cfg(unix)]
mod unix {
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::{Command as System, Stdio};

    use super::*;

    #[test]
    fn a_full_device_is_told() {
        if !Path::new("/dev/full").exists() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        for mut command in writers(folder.path(), "/dev/full") {
            assert!(failure_of(&mut command, 74).contains("/dev/full: cannot be written"));
        }
        // Standard output that is full, under its own name.
        for command in writers(folder.path(), "-") {
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let run = to_spawn(&command, folder.path()).stdout(full).output().unwrap();
            assert_eq!(run.status.code(), Some(74), "{command:?}");
        }
    }

    /// Needs the right to mount; without it, nothing is tested.
    #[test]
    fn a_full_disk_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        fs::create_dir(&disk).unwrap();
        // In a mount namespace of its own, so that nothing is left behind whatever happens.
        let script = r#"
            mount -t tmpfs -o size=64k tmpfs disk || exit 99
            head -c 40000 /dev/zero > disk/filler
            echo precious > disk/out
            "$@" > stdout 2> stderr
            code=$?
            cmp -s disk/out - <<< precious || exit 98
            test "$(ls -A disk)" = "$(printf 'filler\nout')" || exit 97
            exit $code
        "#;
        // 16384 lines are more than the room that is left.
        let path: String = (1..=16384)
            .map(|v| match v {
                1 => "2\n".to_string(),
                16384 => "16383\n".to_string(),
                v => format!("{} {}\n", v - 1, v + 1),
            })
            .collect();
        fs::write(folder.path().join("path.graph"), format!("16384 16383\n{path}")).unwrap();
        let commands = [
            (
                "viem",
                "--hierarchy_parameter_string=16384 --distance_parameter_string=1 --output_filename=disk/out",
            ),
            ("generate_model", "--k=4096 --preconfiguration=fast --output_filename=disk/out"),
            (
                "generate_model",
                "--k=2 --preconfiguration=fast --output_filename=m --mapping_filename=disk/out",
            ),
            ("graphchecker", "--fix=disk/out"),
        ];
        for (name, options) in commands {
            let status = System::new("unshare")
                .args(["--mount", "bash", "-c", script, "bash"])
                .arg(program(name, folder.path()).get_program())
                .arg("path.graph")
                .args(options.split(' '))
                .current_dir(&folder)
                .stderr(Stdio::null())
                .status();
            match status.map(|status| status.code()) {
                Err(_) | Ok(Some(99 | 1)) => return eprintln!("skipped: no right to mount a file system"),
                code => assert_eq!(code.unwrap(), Some(74), "{name} {options}"),
            }
            let message = fs::read_to_string(folder.path().join("stderr")).unwrap();
            assert!(message.contains("disk/out: cannot be written"), "{message}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_told_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        for output in ["folder", "no/such/folder", "identity/out"] {
            for mut command in writers(folder.path(), output) {
                let message = failure_of(&mut command, 73);
                assert!(message.contains(&format!("{output}: cannot be created")), "{message}");
            }
        }
        let locked = folder.path().join("locked");
        fs::create_dir(&locked).unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
        // The superuser may write anywhere: for it there is nothing to refuse.
        if fs::write(locked.join("probe"), "").is_err() {
            for mut command in writers(folder.path(), "locked/out") {
                failure_of(&mut command, 73);
            }
        }
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(names(folder.path()), ["folder", "identity", "locked"]);
    }

    #[test]
    fn permissions_links_and_pipes_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(System::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        symlink("target", path("link")).unwrap();
        let direct = writers(folder.path(), "out").into_iter();
        let linked = direct.zip(writers(folder.path(), "link"));
        for ((mut direct, mut linked), mut piped) in linked.zip(writers(folder.path(), "pipe")) {
            fs::write(path("out"), "old").unwrap();
            fs::set_permissions(path("out"), fs::Permissions::from_mode(0o640)).unwrap();
            direct.assert().success();
            assert_eq!(fs::metadata(path("out")).unwrap().permissions().mode() & 0o777, 0o640);
            let out = fs::read(path("out")).unwrap();
            assert!(out != b"old");

            linked.assert().success();
            assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
            let through_link = fs::read(path("target")).unwrap();

            let pipe = path("pipe");
            let reader = std::thread::spawn(move || {
                let mut bytes = Vec::new();
                fs::File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
                bytes
            });
            piped.assert().success();
            let through_pipe = reader.join().unwrap();
            if !out.starts_with(b"{") {
                assert_eq!((&through_link, &through_pipe), (&out, &out), "{piped:?}");
            }
        }
    }

    #[test]
    fn a_reader_that_goes_away_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        for command in writers(folder.path(), "-") {
            let mut child = to_spawn(&command, folder.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            drop(child.stdout.take());
            let mut message = String::new();
            child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
            assert!(child.wait().unwrap().success(), "{message}");
            assert!(!message.contains("panicked") && !message.contains("cannot"), "{message}");
        }
    }
}

#[test]
fn an_output_can_be_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let model = fs::read(instance("openfoam_sphere_64.msgs.graph")).unwrap();
    let run = |name: &str, options: &[&str]| {
        fs::write(folder.path().join("file"), &model).unwrap();
        stdout_of(program(name, folder.path()).arg("file").args(options));
        fs::read_to_string(folder.path().join("file")).unwrap()
    };
    let mapping = run("viem", &[MACHINE[0], MACHINE[1], "--output_filename=file"]);
    assert_eq!(mapping.lines().count(), 64);
    assert!(run("generate_model", &["--k=8", "--output_filename=file"]).starts_with("8 "));
    assert!(run("graphchecker", &["--fix=file"]).starts_with("64 586"));
    fs::write(folder.path().join("mapping"), mapping).unwrap();
    let improved = ["--input_mapping=mapping", "--output_filename=mapping"];
    let mut again = program("viem", folder.path());
    stdout_of(again.arg(instance("openfoam_sphere_64.msgs.graph")).args(MACHINE).args(improved));
    assert_eq!(fs::read_to_string(folder.path().join("mapping")).unwrap().lines().count(), 64);
    assert_eq!(names(folder.path()), ["file", "mapping"]);
}

#[test]
fn no_output_overwrites_another_and_no_input_is_read_twice() {
    let folder = tempfile::tempdir().unwrap();
    let model = instance("openfoam_sphere_64.msgs.graph");
    for json in ["out", "./out"] {
        let outputs = ["--output_filename=out", "--json", json];
        let message = failure_of(program("viem", folder.path()).arg(&model).args(MACHINE).args(outputs), 2);
        assert!(message.contains("two outputs cannot go to the same file"), "{message}");
    }
    let outputs = ["--k=4", "--output_filename=out", "--mapping_filename=out"];
    failure_of(program("generate_model", folder.path()).arg(&model).args(outputs), 2);
    for name in ["viem", "evaluator"] {
        let mut command = program(name, folder.path());
        let message = failure_of(command.args(["-", "--input_mapping=-"]).args(MACHINE), 2);
        assert!(message.contains("only one input"), "{message}");
    }
    assert_eq!(names(folder.path()), [""; 0]);
    let gone = ["--output_filename=/dev/null", "--json=/dev/null", "--threads=1000000000"];
    stdout_of(program("viem", folder.path()).arg(&model).args(MACHINE).args(gone));
}
