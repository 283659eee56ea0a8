//! Outputs of the programs are written completely or not at all, whatever the destination.

use std::fs;
use std::path::Path;

use crate::common::{MACHINE, failure_of, instance, names, program, stdout_of, to_spawn};
use assert_cmd::Command;

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
            // Reports differ by their times and their memory.
            if let Ok(mut report) = serde_json::from_str::<serde_json::Value>(text)
                && let Some(report_of_run) = report.as_object_mut()
            {
                report_of_run.remove("seconds");
                report_of_run.remove("memory");
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

    /// A graph for which every result exceeds some of the limits.
    fn write_path_graph(folder: &Path) {
        let line = |v: u32| match v {
            1 => "2\n".to_string(),
            16384 => "16383\n".to_string(),
            v => format!("{} {}\n", v - 1, v + 1),
        };
        let lines: String = (1..=16384).map(line).collect();
        fs::write(folder.join("path.graph"), format!("16384 16383\n{lines}")).unwrap();
    }

    #[test]
    fn a_full_device_is_reported() {
        if !Path::new("/dev/full").exists() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        for mut command in writers(folder.path(), "/dev/full") {
            assert!(failure_of(&mut command, 74).contains("/dev/full: cannot be written"));
        }
        // Standard output is full, under its own name.
        for command in writers(folder.path(), "-") {
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let run = to_spawn(&command, folder.path()).stdout(full).output().unwrap();
            assert_eq!(run.status.code(), Some(74), "{command:?}");
        }
    }

    /// Needs permission to mount; skipped otherwise.
    #[test]
    fn a_full_disk_leaves_files_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        fs::create_dir(&disk).unwrap();
        // In a mount namespace of its own, so that nothing is left behind.
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
        // 16384 lines exceed the free space.
        write_path_graph(folder.path());
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
    fn impossible_outputs_are_reported_before_any_work() {
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
        // The superuser may write anywhere, so nothing is rejected.
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

    /// Runs `viem`, as `"$@"` of a script, on a model of 64 processes.
    fn shell(folder: &Path, script: &str, options: &[&str]) -> std::process::Output {
        let viem = program("viem", folder);
        System::new("bash")
            .args(["-c", script, "bash"])
            .arg(viem.get_program())
            .arg(instance("openfoam_sphere_64.msgs.graph"))
            .args(MACHINE)
            .args(options)
            .current_dir(folder)
            .output()
            .unwrap()
    }

    fn is_mapping(bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut pes: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        pes.sort_unstable();
        text.lines().count() == 64 && pes.iter().copied().eq(0..64)
    }

    #[test]
    fn a_model_on_stdin_or_stdout_is_a_file_too() {
        let folder = tempfile::tempdir().unwrap();
        let model = fs::read(instance("openfoam_sphere_64.msgs.graph")).unwrap();
        fs::write(folder.path().join("model"), &model).unwrap();
        for (script, options) in [
            (r#""$1" - "${@:3}" < model"#, ["-o", "model"]),
            (r#""$1" model "${@:3}" >> model"#, ["-o", "-"]),
            (r#""$1" model "${@:3}" 5>> model"#, ["-o", "/dev/fd/5"]),
        ] {
            let run = shell(folder.path(), script, &options);
            let message = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(run.status.code(), Some(2), "{options:?}: {message}");
            assert!(message.contains("would overwrite the input"), "{message}");
            assert_eq!(fs::read(folder.path().join("model")).unwrap(), model);
        }
    }

    #[test]
    fn two_outputs_in_one_place_are_noticed_whatever_they_are_called() {
        let folder = tempfile::tempdir().unwrap();
        assert!(System::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
        for (script, options) in [
            (r#""$@" > out"#, ["-o", "-", "--json=out"]),
            (r#""$@" > out"#, ["-o", "out", "--json=-"]),
            (r#""$@""#, ["-o", "pipe", "--json=pipe"]),
            (r#""$@""#, ["-o", "/dev/stderr", "--json=/dev/fd/2"]),
            (r#""$@" 2>&1 | cat; exit ${PIPESTATUS[0]}"#, ["-o", "/dev/stderr", "--json=-"]),
            (r#""$@" 5> out 6>&5"#, ["-o", "/dev/fd/5", "--json=/proc/self/fd/6"]),
        ] {
            let run = shell(folder.path(), script, &options);
            let message = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
            assert_eq!(run.status.code(), Some(2), "{script} {options:?}: {message}");
            assert!(message.contains("two outputs cannot go to the same place"), "{message}");
        }
    }

    #[test]
    fn lines_for_people_never_get_into_a_result() {
        for (script, options) in [
            (r#""$@" > out"#, ["-o", "out"]),
            (r#""$@" > out"#, ["-o", "-"]),
            (r#""$@" > out 2>&1"#, ["-o", "-"]),
            (r#""$@" > out 2>&1"#, ["-o", "out"]),
            (r#""$@" 2> out"#, ["-o", "out"]),
            (r#""$@" 2>&1 | cat > out"#, ["-o", "/dev/stderr"]),
            (r#""$@" 5> out"#, ["-o", "/dev/fd/5"]),
            (r#""$@" > >(cat > out); wait $!"#, ["-o", "/dev/stdout"]),
            (r#"ln -s out link; "$@" >> out"#, ["-o", "link"]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let run = shell(folder.path(), script, &options);
            assert!(run.status.success(), "{script} {options:?}: {}", String::from_utf8_lossy(&run.stderr));
            let out = fs::read(folder.path().join("out")).unwrap();
            assert!(is_mapping(&out), "{script} {options:?}: {}", String::from_utf8_lossy(&out));
        }
    }

    #[test]
    fn output_to_a_closed_stream_is_not_lost_silently() {
        let folder = tempfile::tempdir().unwrap();
        for (script, options) in [
            (r#""$@" >&-"#, ["-o", "-"]),
            (r#""$@" >&-"#, ["-o", "/dev/stdout"]),
            (r#""$@" >&-"#, ["--json=-", "--quiet"]),
        ] {
            let run = shell(folder.path(), script, &options);
            let message = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(run.status.code(), Some(73), "{options:?}: {message}");
            assert!(message.contains("it is closed"), "{message}");
            assert_eq!(names(folder.path()), [""; 0]);
        }
        // Messages for people may be lost; so may output to the null device.
        for (script, options) in [
            (r#""$@" >&- 2>&-"#, ["-o", "out"]),
            (r#""$@" >/dev/null"#, ["-o", "-"]),
            (r#""$@" >&-"#, ["-o", "/dev/null"]),
        ] {
            assert!(shell(folder.path(), script, &options).status.success(), "{script} {options:?}");
        }
        assert!(is_mapping(&fs::read(folder.path().join("out")).unwrap()));
    }

    #[test]
    fn a_closed_pipe_loses_no_other_output() {
        let folder = tempfile::tempdir().unwrap();
        for (options, file) in [(["-o", "-", "--json=out"], false), (["--json=-", "-o", "out"], true)] {
            let script = r#"set -o pipefail; "$@" | exec true"#;
            let run = shell(folder.path(), script, &options);
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            let out = fs::read(folder.path().join("out")).unwrap();
            assert!(is_mapping(&out) == file && !out.is_empty(), "{options:?}");
        }
    }

    /// Needs permission to mount; skipped otherwise.
    #[test]
    fn a_file_that_cannot_be_replaced_is_written_in_place() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mounted"), "a line that is much longer than any line of a mapping\n")
            .unwrap();
        fs::write(folder.path().join("out"), "").unwrap();
        let script = r#"unshare --mount bash -c 'mount --bind mounted out || exit 99; "$@"' bash "$@""#;
        let run = shell(folder.path(), script, &["-o", "out", "--verify"]);
        if matches!(run.status.code(), Some(99 | 1 | 127)) {
            return eprintln!("skipped: no right to mount");
        }
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert!(is_mapping(&fs::read(folder.path().join("mounted")).unwrap()));
        assert_eq!(names(folder.path()), ["mounted", "out"]);
    }

    /// Needs permission to run as another user; skipped otherwise.
    #[test]
    fn the_file_of_another_user_in_a_sticky_folder_is_written_in_place() {
        use std::os::unix::process::CommandExt;
        const NOBODY: u32 = 65534;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        fs::copy(instance("openfoam_sphere_64.msgs.graph"), path("model")).unwrap();
        for (name, mode, code) in [("shared", 0o666, 0), ("protected", 0o644, 73)] {
            fs::write(path(name), "old").unwrap();
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
            let run = System::new(program("viem", folder.path()).get_program())
                .args(["model", "-o", name])
                .args(MACHINE)
                .current_dir(&folder)
                .uid(NOBODY)
                .output();
            let Ok(run) = run else { return eprintln!("skipped: no right to run as another user") };
            assert_eq!(run.status.code(), Some(code), "{}", String::from_utf8_lossy(&run.stderr));
            assert_eq!(is_mapping(&fs::read(path(name)).unwrap()), code == 0);
        }
        assert_eq!(names(folder.path()), ["model", "protected", "shared"]);
    }

    /// Needs `strace` and permission to trace; skipped otherwise.
    #[test]
    fn replacements_are_on_disk_before_the_rename() {
        let folder = tempfile::tempdir().unwrap();
        let script = r#"strace -f -y -o trace -e trace=fsync,rename,renameat,renameat2 "$@""#;
        let run = shell(folder.path(), script, &["-o", "out", "--json=report"]);
        if matches!(run.status.code(), Some(1 | 127)) {
            return eprintln!("skipped: no `strace`, or no right to trace");
        }
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
        let temporary = |line: &str| {
            let name = line.split(['/', '"', '>']).find(|part| part.starts_with(".viem-"));
            name.map(str::to_owned)
        };
        let (mut synced, mut renamed) = (Vec::new(), 0);
        for line in trace.lines() {
            let Some(name) = temporary(line) else { continue };
            match line.contains("fsync") {
                true => synced.push(name),
                false => {
                    assert!(synced.contains(&name), "{trace}");
                    renamed += 1;
                }
            }
        }
        assert_eq!((renamed, synced.len()), (2, 2), "{trace}");
    }

    #[test]
    fn a_limit_of_the_file_size_is_reported_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        write_path_graph(folder.path());
        fs::write(folder.path().join("out"), "precious").unwrap();
        for (name, options) in [
            (
                "viem",
                "--hierarchy_parameter_string=16384 --distance_parameter_string=1 --output_filename=out",
            ),
            ("generate_model", "--k=4096 --preconfiguration=fast --output_filename=out"),
            ("graphchecker", "--fix=out"),
        ] {
            let run = System::new("bash")
                .args(["-c", r#"ulimit -f 8; "$@""#, "bash"])
                .arg(program(name, folder.path()).get_program())
                .arg("path.graph")
                .args(options.split(' '))
                .current_dir(&folder)
                .output()
                .unwrap();
            let message = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(run.status.code(), Some(74), "{name}: {message}");
            assert!(message.contains("out: cannot be written"), "{message}");
            assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "precious");
            assert_eq!(names(folder.path()), ["out", "path.graph"]);
        }
    }

    #[test]
    fn a_closed_pipe_is_not_a_failure() {
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
fn a_file_can_be_improved_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let model = instance("openfoam_sphere_64.msgs.graph");
    fs::copy(&model, folder.path().join("graph")).unwrap();
    stdout_of(program("graphchecker", folder.path()).args(["graph", "--fix=graph"]));
    assert!(fs::read_to_string(folder.path().join("graph")).unwrap().starts_with("64 586"));
    let poor: String = (0..64).map(|process| format!("{}\n", process * 37 % 64)).collect();
    fs::write(folder.path().join("mapping"), &poor).unwrap();
    let mut viem = program("viem", folder.path());
    stdout_of(viem.arg(&model).args(MACHINE).args(["--input_mapping=mapping", "--output_filename=mapping"]));
    let improved = fs::read_to_string(folder.path().join("mapping")).unwrap();
    assert!(improved != poor && improved.lines().count() == 64);
    assert_eq!(names(folder.path()), ["graph", "mapping"]);
}

#[test]
fn a_name_that_can_only_be_a_folder_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    for output in ["new/", "new//", "new/."] {
        for mut command in writers(folder.path(), output) {
            let message = failure_of(&mut command, 73);
            assert!(message.contains("there is no such folder; name a file"), "{command:?}: {message}");
        }
    }
    assert_eq!(names(folder.path()), ["identity"]);
}

#[test]
fn an_output_that_would_overwrite_an_input_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let model = fs::read(instance("openfoam_sphere_64.msgs.graph")).unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("model"), &model).unwrap();
    fs::hard_link(path("model"), path("hard")).unwrap();
    let identity: String = (0..64).map(|pe| format!("{pe}\n")).collect();
    fs::write(path("mapping"), &identity).unwrap();
    let mut names_of_model = vec!["model", "./model", "hard"];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("model", path("soft")).unwrap();
        names_of_model.push("soft");
    }
    let refused = |name: &str, options: &[&str]| {
        let message = failure_of(program(name, folder.path()).arg("model").args(options), 2);
        assert!(message.contains("would overwrite the input m"), "{message}");
        assert_eq!(fs::read(path("model")).unwrap(), model);
        assert_eq!(fs::read_to_string(path("mapping")).unwrap(), identity);
    };
    for output in names_of_model {
        refused("viem", &[MACHINE[0], MACHINE[1], "--verify", "--output_filename", output]);
        refused("viem", &[MACHINE[0], MACHINE[1], "--json", output]);
        refused("generate_model", &["--k=2", "--output_filename", output]);
        refused("generate_model", &["--k=2", "--mapping_filename", output]);
        refused("generate_model", &["--k=2", "--json", output]);
        refused("evaluator", &[MACHINE[0], MACHINE[1], "--input_mapping=mapping", "--json", output]);
    }
    for name in ["viem", "evaluator"] {
        refused(name, &[MACHINE[0], MACHINE[1], "--input_mapping=mapping", "--json=mapping"]);
    }
    let machine = ["--machine=2:2", "--distance_parameter_string=1:2"];
    refused("generate_model", &[machine[0], machine[1], "--pe_weights=mapping", "--json=mapping"]);
    refused("generate_model", &["--speeds=mapping", "--json=mapping"]);
    assert!(!path("permutation").exists() && !path("model.graph").exists(), "refused before any work");
}

#[test]
fn no_output_overwrites_another_and_no_input_is_read_twice() {
    let folder = tempfile::tempdir().unwrap();
    let model = instance("openfoam_sphere_64.msgs.graph");
    for json in ["out", "./out"] {
        let outputs = ["--output_filename=out", "--json", json];
        let message = failure_of(program("viem", folder.path()).arg(&model).args(MACHINE).args(outputs), 2);
        assert!(message.contains("two outputs cannot go to the same place"), "{message}");
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

#[test]
fn a_failing_output_leaves_the_others_as_they_were() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let model = instance("openfoam_sphere_64.msgs.graph");
    let runs = [
        ("viem", vec![MACHINE[0], MACHINE[1], "--output_filename=first", "--json=/dev/full"]),
        ("viem", vec![MACHINE[0], MACHINE[1], "--output_filename=/dev/full", "--json=first"]),
        ("generate_model", vec!["--k=4", "--output_filename=first", "--mapping_filename=/dev/full"]),
        ("generate_model", vec!["--k=4", "--output_filename=first", "--json=/dev/full"]),
    ];
    for (name, options) in runs {
        fs::write(folder.path().join("first"), "precious").unwrap();
        failure_of(program(name, folder.path()).arg(&model).args(&options), 74);
        assert_eq!(fs::read_to_string(folder.path().join("first")).unwrap(), "precious", "{options:?}");
        assert_eq!(names(folder.path()), ["first"]);
    }
}
