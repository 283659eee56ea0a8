//! `viem map` as a user runs it: unusual redirections of outputs, limits of memory, file size and time.
//!
//! A run ends with a mapping that the auditor accepts, or with the exit code that the guide documents for the
//! missing resource; the existing file is then unchanged. No other files are left behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use viem::base::rng::Rng;
use viem::machine::Hierarchy;
use viem_verify as verify;

use super::pick;

/// A script in which `"$@"` is the program, the destination of the mapping, and whether the shell leaves
/// `out` unchanged.
const WAYS: [(&str, &str, bool); 7] = [
    (r#""$@""#, "out", true),
    (r#""$@" | exec true; exit ${PIPESTATUS[0]}"#, "out", true),
    (r#""$@" > out"#, "-", false),
    (r#""$@" > out"#, "out", false),
    (r#""$@" > out 2>&1"#, "/dev/stdout", false),
    (r#""$@" 5> out"#, "/dev/fd/5", false),
    (r#""$@" > >(cat > out); code=$?; wait $!; exit $code"#, "-", false),
];

/// Limits of the program, and the exit code when one is exceeded. Memory is counted in addition to the file
/// of the program, `$1`, which must be loaded first.
const LIMITS: [(&str, i32); 7] = [
    ("", 0),
    ("ulimit -f 0; ", 74),
    ("ulimit -f 1; ", 74),
    ("ulimit -f 4; ", 74),
    (r#"ulimit -v $(($(stat -c %s "$1") / 1024 + 8000)); "#, 71),
    (r#"ulimit -v $(($(stat -c %s "$1") / 1024 + 16000)); "#, 71),
    (r#"ulimit -v $(($(stat -c %s "$1") / 1024 + 32000)); "#, 71),
];

const TIMES: [&str; 4] = ["0", "0.01s", "0.0005m", "0.00003h"];

/// Runs the program once on a graph; returns whether it wrote a mapping.
pub fn check(rng: &mut Rng, graph: &str, hierarchy: &Hierarchy, is_refused: bool) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("model"), graph).expect("a file");
    fs::write(path("out"), "precious").expect("a file");
    let (way, output, stays) = pick(rng, &WAYS);
    let (limit, code_of_limit) = pick(rng, &LIMITS);
    let mut options = vec!["--output".to_string(), output.to_string()];
    options.extend([format!("--threads={}", pick(rng, &[1, 2])), format!("--seed={}", rng.next_u64())]);
    if rng.below(2) == 0 {
        options.push(format!("--time-limit={}", pick(rng, &TIMES)));
    }
    if rng.below(2) == 0 {
        options.push("--json=report".to_string());
    }
    // The limit applies only to the program, not to the readers of its output.
    let script = way.replace(r#""$@""#, &format!(r#"({limit}exec "$@")"#));
    let run = run(folder.path(), &script, hierarchy, &options);
    let what = || format!("{script} {options:?} {}", String::from_utf8_lossy(&run.stderr));
    let code = run.status.code();
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name of ours"))
        .collect();
    names.retain(|name| name != "report" || code != Some(0));
    names.sort();
    assert_eq!(names, ["model", "out"], "{}", what());
    let out = fs::read_to_string(path("out")).expect("a file");
    if code == Some(0) {
        assert!(!is_refused, "{}", what());
        let arities: Vec<u64> = hierarchy.arities().iter().map(|&arity| u64::from(arity)).collect();
        let distances: Vec<u64> = hierarchy.distances().iter().map(|&distance| distance as u64).collect();
        let cost = |mapping: &str| {
            verify::audit(graph, mapping, &arities, &distances)
                .unwrap_or_else(|error| panic!("{error} {}", what()))
        };
        let identity: String = (0..hierarchy.num_pes()).map(|pe| format!("{pe}\n")).collect();
        assert!(cost(&out) <= cost(&identity), "{}", what());
        return true;
    }
    let is_allowed = (is_refused && code == Some(65)) || (code_of_limit > 0 && code == Some(code_of_limit));
    assert!(is_allowed, "{code:?} {}", what());
    assert!(!stays || out == "precious", "{}", what());
    false
}

fn run(folder: &Path, script: &str, hierarchy: &Hierarchy, options: &[String]) -> Output {
    let list = |numbers: Vec<String>| numbers.join(":");
    Command::new("bash")
        .args(["-c", script, "bash", env!("CARGO_BIN_EXE_viem"), "map", "model"])
        .arg("--machine")
        .arg(list(hierarchy.arities().iter().map(u32::to_string).collect()))
        .arg("--distances")
        .arg(list(hierarchy.distances().iter().map(i64::to_string).collect()))
        .args(options)
        .current_dir(folder)
        .output()
        .expect("bash")
}
