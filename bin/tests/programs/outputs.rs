//! Outputs of the programs are written completely or not at all, whatever the destination.

use std::fs;
use std::path::Path;

use crate::common::{Folder, MACHINE, failure_of, given, names, says, stdout_of, to_spawn};
use assert_cmd::Command;

const MODEL: &str = "openfoam_sphere_64.msgs.graph";

/// Every program with each of its outputs in turn at `output`.
fn writers(folder: &Folder, output: &str) -> Vec<Command> {
    folder.write_lines("identity", 0..64);
    let model = given(MODEL);
    [
        format!("viem map {model} {MACHINE} --output {output}"),
        format!("viem map {model} {MACHINE} --output=mapping --json {output}"),
        format!("viem partition {model} --blocks=8 --model {output}"),
        format!("viem partition {model} --blocks=8 --model=model --output {output}"),
        format!("viem score {model} {MACHINE} identity --json {output}"),
        format!("viem check {model} --fix {output}"),
    ]
    .iter()
    .map(|line| folder.command(line))
    .collect()
}

#[test]
fn a_file_is_the_same_as_standard_output() {
    let folder = Folder::new();
    for (mut to_file, mut to_stdout) in writers(&folder, "out").into_iter().zip(writers(&folder, "-")) {
        stdout_of(&mut to_file);
        let mut file = folder.read("out");
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
    use std::process::{Command as System, Output, Stdio};

    use super::*;

    /// A graph for which every result exceeds some of the limits.
    fn write_path_graph(folder: &Folder) {
        let line = |v: u32| match v {
            1 => "2\n".to_string(),
            16384 => "16383\n".to_string(),
            v => format!("{} {}\n", v - 1, v + 1),
        };
        let lines: String = (1..=16384).map(line).collect();
        folder.write("path.graph", format!("16384 16383\n{lines}"));
    }

    /// Runs a command as `"$@"` of a script.
    fn scripted(folder: &Folder, interpreter: &[&str], script: &str, line: &str) -> std::io::Result<Output> {
        let command = folder.command(line);
        System::new(interpreter[0])
            .args(&interpreter[1..])
            .args(["bash", "-c", script, "bash"])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(folder.path())
            .output()
    }

    /// Runs `viem`, as `"$@"` of a script, on a model of 64 processes.
    fn shell(folder: &Folder, script: &str, options: &str) -> Output {
        scripted(folder, &["env"], script, &format!("viem map {} {MACHINE} {options}", given(MODEL))).unwrap()
    }

    /// What a run says on stderr, which must end with this code.
    #[track_caller]
    fn ended(run: &Output, code: i32) -> String {
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(code), "{message}");
        message
    }

    #[test]
    fn a_full_device_is_reported() {
        if !Path::new("/dev/full").exists() {
            return;
        }
        let folder = Folder::new();
        for mut command in writers(&folder, "/dev/full") {
            says(&failure_of(&mut command, 74), ["/dev/full: cannot be written"]);
        }
        // Standard output is full, under its own name.
        for command in writers(&folder, "-") {
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let run = to_spawn(&command, folder.path()).stdout(full).output().unwrap();
            assert_eq!(run.status.code(), Some(74), "{command:?}");
        }
    }

    /// Commands whose results exceed a limit, with `@` for their output.
    const LARGE: [&str; 4] = [
        "viem map path.graph --machine=16384 --distances=1 --output=@",
        "viem partition path.graph --blocks=4096 --preset=fast --output=/dev/null --model=@",
        "viem check path.graph --fix=@",
        "viem partition path.graph --blocks=2 --preset=fast --model=m --output=@",
    ];

    /// Needs permission to mount; skipped otherwise.
    #[test]
    fn a_full_disk_leaves_files_unchanged() {
        let folder = Folder::new();
        fs::create_dir(folder.file("disk")).unwrap();
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
        write_path_graph(&folder);
        for line in LARGE {
            let run = scripted(&folder, &["unshare", "--mount"], script, &line.replace('@', "disk/out"));
            match run.map(|run| run.status.code()) {
                Err(_) | Ok(Some(99 | 1)) => return eprintln!("skipped: no right to mount a file system"),
                code => assert_eq!(code.unwrap(), Some(74), "{line}"),
            }
            says(&folder.read("stderr"), ["disk/out: cannot be written"]);
        }
    }

    #[test]
    fn impossible_outputs_are_reported_before_any_work() {
        let folder = Folder::new();
        fs::create_dir(folder.file("folder")).unwrap();
        for output in ["folder", "no/such/folder", "identity/out"] {
            for mut command in writers(&folder, output) {
                says(&failure_of(&mut command, 73), [format!("{output}: cannot be created")]);
            }
        }
        let locked = folder.file("locked");
        fs::create_dir(&locked).unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
        // The superuser may write anywhere, so nothing is rejected.
        if fs::write(locked.join("probe"), "").is_err() {
            for mut command in writers(&folder, "locked/out") {
                failure_of(&mut command, 73);
            }
        }
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(names(folder.path()), ["folder", "identity", "locked"]);
    }

    #[test]
    fn permissions_links_and_pipes_stay() {
        let folder = Folder::new();
        assert!(System::new("mkfifo").arg(folder.file("pipe")).status().unwrap().success());
        symlink("target", folder.file("link")).unwrap();
        let direct = writers(&folder, "out").into_iter();
        let linked = direct.zip(writers(&folder, "link"));
        for ((mut direct, mut linked), mut piped) in linked.zip(writers(&folder, "pipe")) {
            let out = folder.file("out");
            folder.write("out", "old");
            fs::set_permissions(&out, fs::Permissions::from_mode(0o640)).unwrap();
            direct.assert().success();
            assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o640);
            let out = folder.bytes("out");
            assert!(out != b"old");

            linked.assert().success();
            assert!(fs::symlink_metadata(folder.file("link")).unwrap().is_symlink());
            let through_link = folder.bytes("target");

            let pipe = folder.file("pipe");
            let reader = std::thread::spawn(move || fs::read(pipe).unwrap());
            piped.assert().success();
            let through_pipe = reader.join().unwrap();
            if !out.starts_with(b"{") {
                assert_eq!((&through_link, &through_pipe), (&out, &out), "{piped:?}");
            }
        }
    }

    fn is_mapping(bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut pes: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        pes.sort_unstable();
        text.lines().count() == 64 && pes.iter().copied().eq(0..64)
    }

    #[test]
    fn a_model_on_stdin_or_stdout_is_a_file_too() {
        let folder = Folder::new();
        folder.copy(MODEL, "model");
        let model = folder.bytes("model");
        for (script, options) in [
            (r#""$1" map - "${@:4}" < model"#, "-o model"),
            (r#""$1" map model "${@:4}" >> model"#, "-o -"),
            (r#""$1" map model "${@:4}" 5>> model"#, "-o /dev/fd/5"),
        ] {
            let message = ended(&shell(&folder, script, options), 2);
            says(&message, ["would overwrite the input"]);
            assert_eq!(folder.bytes("model"), model);
        }
    }

    #[test]
    fn two_outputs_in_one_place_are_noticed_whatever_they_are_called() {
        let folder = Folder::new();
        assert!(System::new("mkfifo").arg(folder.file("pipe")).status().unwrap().success());
        for (script, options) in [
            (r#""$@" > out"#, "-o - --json=out"),
            (r#""$@" > out"#, "-o out --json=-"),
            (r#""$@""#, "-o pipe --json=pipe"),
            (r#""$@""#, "-o /dev/stderr --json=/dev/fd/2"),
            (r#""$@" 2>&1 | cat; exit ${PIPESTATUS[0]}"#, "-o /dev/stderr --json=-"),
            (r#""$@" 5> out 6>&5"#, "-o /dev/fd/5 --json=/proc/self/fd/6"),
        ] {
            let run = shell(&folder, script, options);
            let message = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
            assert_eq!(run.status.code(), Some(2), "{script} {options}: {message}");
            says(&message, ["write to the same place"]);
        }
    }

    #[test]
    fn lines_for_people_never_get_into_a_result() {
        for (script, options) in [
            (r#""$@" > out"#, "-o out"),
            (r#""$@" > out"#, "-o -"),
            (r#""$@" > out 2>&1"#, "-o -"),
            (r#""$@" > out 2>&1"#, "-o out"),
            (r#""$@" 2> out"#, "-o out"),
            (r#""$@" 2>&1 | cat > out"#, "-o /dev/stderr"),
            (r#""$@" 5> out"#, "-o /dev/fd/5"),
            (r#""$@" > >(cat > out); wait $!"#, "-o /dev/stdout"),
            (r#"ln -s out link; "$@" >> out"#, "-o link"),
        ] {
            let folder = Folder::new();
            let run = shell(&folder, script, options);
            assert!(run.status.success(), "{script} {options}: {}", String::from_utf8_lossy(&run.stderr));
            let out = folder.bytes("out");
            assert!(is_mapping(&out), "{script} {options}: {}", String::from_utf8_lossy(&out));
        }
    }

    #[test]
    fn output_to_a_closed_stream_is_not_lost_silently() {
        let folder = Folder::new();
        for options in ["-o -", "-o /dev/stdout", "--json=- --quiet"] {
            let message = ended(&shell(&folder, r#""$@" >&-"#, options), 73);
            says(&message, ["it is closed"]);
            assert_eq!(names(folder.path()), [""; 0], "{options}");
        }
        // Messages for people may be lost; so may output to the null device.
        for (script, options) in
            [(r#""$@" >&- 2>&-"#, "-o out"), (r#""$@" >/dev/null"#, "-o -"), (r#""$@" >&-"#, "-o /dev/null")]
        {
            assert!(shell(&folder, script, options).status.success(), "{script} {options}");
        }
        assert!(is_mapping(&folder.bytes("out")));
    }

    #[test]
    fn a_closed_pipe_loses_no_other_output() {
        let folder = Folder::new();
        for (options, file) in [("-o - --json=out", false), ("--json=- -o out", true)] {
            ended(&shell(&folder, r#"set -o pipefail; "$@" | exec true"#, options), 0);
            let out = folder.bytes("out");
            assert!(is_mapping(&out) == file && !out.is_empty(), "{options}");
        }
    }

    /// Needs permission to mount; skipped otherwise.
    #[test]
    fn a_file_that_cannot_be_replaced_is_written_in_place() {
        let folder = Folder::new();
        folder.write("mounted", "a line that is much longer than any line of a mapping\n");
        folder.write("out", "");
        let script = r#"unshare --mount bash -c 'mount --bind mounted out || exit 99; "$@"' bash "$@""#;
        let run = shell(&folder, script, "-o out --verify");
        if matches!(run.status.code(), Some(99 | 1 | 127)) {
            return eprintln!("skipped: no right to mount");
        }
        ended(&run, 0);
        assert!(is_mapping(&folder.bytes("mounted")));
        assert_eq!(names(folder.path()), ["mounted", "out"]);
    }

    /// Needs permission to run as another user; skipped otherwise.
    #[test]
    fn the_file_of_another_user_in_a_sticky_folder_is_written_in_place() {
        use std::os::unix::process::CommandExt;
        const NOBODY: u32 = 65534;
        let folder = Folder::new();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        folder.copy(MODEL, "model");
        for (name, mode, code) in [("shared", 0o666, 0), ("protected", 0o644, 73)] {
            folder.write(name, "old");
            fs::set_permissions(folder.file(name), fs::Permissions::from_mode(mode)).unwrap();
            let viem = folder.command(format!("viem map model -o {name} {MACHINE}"));
            let Ok(run) = to_spawn(&viem, folder.path()).uid(NOBODY).output() else {
                return eprintln!("skipped: no right to run as another user");
            };
            ended(&run, code);
            assert_eq!(is_mapping(&folder.bytes(name)), code == 0);
        }
        assert_eq!(names(folder.path()), ["model", "protected", "shared"]);
    }

    /// Needs `strace` and permission to trace; skipped otherwise.
    #[test]
    fn what_replaces_a_file_is_on_disk_before_the_rename() {
        let folder = Folder::with(&[("out", "precious")]);
        let script = r#"strace -f -y -o trace -e trace=fsync,rename,renameat,renameat2 "$@""#;
        let run = shell(&folder, script, "-o out --json=report");
        if matches!(run.status.code(), Some(1 | 127)) {
            return eprintln!("skipped: no `strace`, or no right to trace");
        }
        ended(&run, 0);
        let trace = folder.read("trace");
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
                    let replaces = !line.contains("report");
                    assert_eq!(synced.contains(&name), replaces, "{trace}");
                    renamed += 1;
                }
            }
        }
        assert_eq!((renamed, synced.len()), (2, 1), "{trace}");
    }

    #[test]
    fn a_limit_of_the_file_size_is_reported_and_leaves_nothing_behind() {
        let folder = Folder::with(&[("out", "precious")]);
        write_path_graph(&folder);
        for line in &LARGE[..3] {
            let run = scripted(&folder, &["env"], r#"ulimit -f 8; "$@""#, &line.replace('@', "out")).unwrap();
            says(&ended(&run, 74), ["out: cannot be written"]);
            assert_eq!(folder.read("out"), "precious", "{line}");
            assert_eq!(names(folder.path()), ["out", "path.graph"]);
        }
    }

    #[test]
    fn a_closed_pipe_is_not_a_failure() {
        let folder = Folder::new();
        for command in writers(&folder, "-") {
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
    let folder = Folder::new();
    folder.copy(MODEL, "graph");
    folder.stdout("viem check graph --fix=graph");
    assert!(folder.read("graph").starts_with("64 586"));
    folder.write_lines("mapping", (0..64).map(|process| process * 37 % 64));
    let poor = folder.read("mapping");
    let outputs = "--initial=mapping --output=mapping";
    folder.stdout(format!("viem map {} {MACHINE} {outputs}", given(MODEL)));
    let improved = folder.read("mapping");
    assert!(improved != poor && improved.lines().count() == 64);
    assert_eq!(names(folder.path()), ["graph", "mapping"]);
}

#[test]
fn a_name_that_can_only_be_a_folder_is_rejected() {
    let folder = Folder::new();
    for output in ["new/", "new//", "new/."] {
        for mut command in writers(&folder, output) {
            let message = failure_of(&mut command, 73);
            assert!(message.contains("there is no such folder; name a file"), "{command:?}: {message}");
        }
    }
    assert_eq!(names(folder.path()), ["identity"]);
}

#[test]
fn an_output_that_would_overwrite_an_input_is_rejected() {
    let folder = Folder::new();
    folder.copy(MODEL, "model");
    let model = folder.bytes("model");
    fs::hard_link(folder.file("model"), folder.file("hard")).unwrap();
    folder.write_lines("mapping", 0..64);
    let identity = folder.read("mapping");
    let mut names_of_model = vec!["model", "./model", "hard"];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("model", folder.file("soft")).unwrap();
        names_of_model.push("soft");
    }
    let refused = |line: &str| {
        folder.fails(line, 2, "would overwrite the input m");
        assert_eq!(folder.bytes("model"), model, "{line}");
        assert_eq!(folder.read("mapping"), identity, "{line}");
    };
    for output in names_of_model {
        for line in [
            &*format!("viem map model {MACHINE} --verify --output"),
            &format!("viem map model {MACHINE} --json"),
            "viem partition model --blocks=2 --model",
            "viem partition model --blocks=2 --output",
            "viem partition model --blocks=2 --json",
            &format!("viem score model {MACHINE} mapping --json"),
        ] {
            refused(&format!("{line} {output}"));
        }
    }
    refused(&format!("viem map model {MACHINE} --initial=mapping --json=mapping"));
    refused(&format!("viem score model mapping {MACHINE} --json=mapping"));
    let machine = "--machine=2:2 --distances=1:2";
    refused(&format!("viem map model {machine} --capacities=mapping --json=mapping"));
    refused("viem partition model --capacities=mapping --json=mapping");
    assert!(!folder.has("permutation") && !folder.has("partition"), "refused before any work");
}

#[test]
fn no_output_overwrites_another_and_no_input_is_read_twice() {
    let folder = Folder::new();
    let model = given(MODEL);
    for json in ["out", "./out"] {
        let outputs = format!("--output=out --json {json}");
        let expected =
            format!("--output (out) and --json ({json}) write to the same place; name another file");
        folder.fails(format!("viem map {model} {MACHINE} {outputs}"), 2, &expected);
    }
    let outputs = "--blocks=4 --model=out --output=out";
    folder.fails(format!("viem partition {model} {outputs}"), 2, "");
    folder.fails(format!("viem map - --initial=- {MACHINE}"), 2, "only one input");
    folder.fails(format!("viem score - - {MACHINE}"), 2, "only one input");
    assert_eq!(names(folder.path()), [""; 0]);
    let gone = "--output=/dev/null --json=/dev/null --threads=1000000000";
    folder.stdout(format!("viem map {model} {MACHINE} {gone}"));
}

#[test]
fn a_failing_output_leaves_the_others_as_they_were() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = Folder::new();
    let model = given(MODEL);
    for line in [
        format!("viem map {model} {MACHINE} --output=first --json=/dev/full"),
        format!("viem map {model} {MACHINE} --output=/dev/full --json=first"),
        format!("viem partition {model} --blocks=4 --model=first --output=/dev/full"),
        format!("viem partition {model} --blocks=4 --model=first --json=/dev/full"),
    ] {
        folder.write("first", "precious");
        folder.fails(&line, 74, "");
        assert_eq!(folder.read("first"), "precious", "{line}");
        assert_eq!(names(folder.path()), ["first"]);
    }
}

/// The lines of these verbs are their result.
#[test]
#[cfg(unix)]
fn lines_that_are_lost_on_a_full_disk_are_a_failure() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder =
        Folder::with(&[("g", "2 1\n2\n1\n"), ("p", "0\n1\n"), ("q.dat", "1\n5\n7\n"), ("one", "0\n")]);
    for line in [
        "viem score g p -m 2 -d 1",
        "viem check g",
        "viem machine mesh:4x4",
        "viem qap q.dat --score=one",
        "evaluator g --input_mapping=p --hierarchy_parameter_string=2 --distance_parameter_string=1",
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let run = to_spawn(&folder.command(line), folder.path()).stdout(full).output().unwrap();
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(74), "{line}: {message}");
        assert!(message.contains("standard output: cannot be written"), "{line}: {message}");
    }
}
