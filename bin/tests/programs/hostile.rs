//! Inputs that no honest program writes: files without an end, counts beyond all measure, controls of the terminal. Each ends with one clear message, soon
//! and with little memory.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{MACHINE, failure_of, instance, names, program};

/// Runs a program with at most 3 GiB of address space and two minutes, with these variables; the standard input is what a command of the shell writes.
fn limited(folder: &Path, input: &str, variables: &[(&str, &str)], name: &str, options: &[&str]) -> Output {
    Command::new("bash")
        .args(["-c", &format!(r#"ulimit -v 3000000; {input} | timeout 120 "$@""#), "bash"])
        .arg(program(name, folder).get_program())
        .args(options)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// A folder with a graph of 64 vertices, a mapping, a topology and latencies.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(instance("openfoam_sphere_64.msgs.graph"), folder.path().join("model")).unwrap();
    let identity: String = (0..64).map(|pe| format!("{pe}\n")).collect();
    fs::write(folder.path().join("mapping"), identity).unwrap();
    let hosts: String = (0..4).map(|host| format!("n{host} slots=16\n")).collect();
    fs::write(folder.path().join("hosts"), hosts).unwrap();
    folder
}

/// Options behind the graph, each of which has one file that does not end: `@`.
const ENDLESS: [&[&str]; 14] = [
    &["--machine=hosts:@,node=4:4"],
    &["--machine=hosts:hosts,node=@"],
    &["--machine=hosts:hosts,node=4:4,topology=@"],
    &["--machine=hosts:hosts,node=4:4", "--latency=@"],
    &["--machine=hosts:lsf,node=4:4"],
    &["--machine=hwloc:@"],
    &["--machine=@"],
    &[MACHINE[0], MACHINE[1], "--pes=@"],
    &[MACHINE[0], MACHINE[1], "--fixed=@"],
    &[MACHINE[0], MACHINE[1], "--input_mapping=@"],
    &[MACHINE[0], MACHINE[1], "--coordinates=@", "--construction_algorithm=rcb"],
    &["--machine=2:2", "--distance_parameter_string=1:2", "--pe_weights=@"],
    &["--machine=2:2", "--distance_parameter_string=1:2", "--remap_from=@", "--migration_weight=1"],
    &["--machine=2:2", "--distance_parameter_string=1:2", "--fixed=@"],
];

/// Commands that write for ever.
const INPUTS: [&str; 5] = ["cat /dev/zero", "yes n1", "yes 1", "yes ''", "yes '#'"];

#[test]
#[cfg(target_os = "linux")]
fn files_without_an_end_are_refused() {
    let folder = folder();
    for options in ENDLESS {
        // A matrix may be as large as the memory is.
        let is_matrix = |input: &&str| *input == "yes 1" && options == ["--machine=@"];
        for input in INPUTS.into_iter().filter(|input| !is_matrix(input)) {
            let options: Vec<String> =
                options.iter().map(|option| option.replace('@', "/dev/stdin")).collect();
            let options: Vec<&str> =
                ["model"].into_iter().chain(options.iter().map(String::as_str)).collect();
            let run = limited(folder.path(), input, &[("LSB_DJOB_HOSTFILE", "/dev/stdin")], "viem", &options);
            let message = String::from_utf8(run.stderr).unwrap();
            assert!(
                matches!(run.status.code(), Some(2 | 65 | 71)),
                "{input} {options:?} {}: {message}",
                run.status
            );
            assert_eq!(message.lines().count(), 1, "{input} {options:?}: {message}");
        }
    }
    assert_eq!(names(folder.path()), ["hosts", "mapping", "model"]);
}

#[test]
#[cfg(target_os = "linux")]
fn blank_lines_and_comments_without_an_end_are_refused() {
    let folder = folder();
    let idle = "there is nothing but blank lines and comments for 64 MiB";
    let graph = ["/dev/stdin", MACHINE[0], MACHINE[1]];
    let machine = ["model", "--machine=/dev/stdin"];
    let cases: [(&str, &[&str], &str); 8] = [
        ("yes ''", &graph, "the header is missing"),
        ("yes '%'", &graph, idle),
        ("echo 2 1; echo 2; echo 1; yes '%'", &graph, idle),
        ("echo 2 1; echo 2; echo 1; yes ''", &graph, idle),
        ("yes ''", &["/dev/stdin", "--input_format=qaplib"], idle),
        ("yes '#'", &["/dev/stdin", "--input_format=qaplib"], idle),
        ("echo 0 1; echo 1 0; yes '# a comment'", &machine, idle),
        ("echo tleaf 1 64 1; yes ''", &machine, idle),
    ];
    for (input, options, reason) in cases {
        let run = limited(folder.path(), &format!("({input})"), &[], "viem", options);
        let message = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(65), "{input} {options:?}: {message}");
        assert!(message.contains(reason) && message.lines().count() == 1, "{input} {options:?}: {message}");
    }
    // Each vertex without neighbours has a blank line, however many there are.
    let run = limited(
        folder.path(),
        "(echo 100000000 0; yes '' | head -n 100000000)",
        &[],
        "graphchecker",
        &["/dev/stdin"],
    );
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn counts_alone_take_no_memory() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("schedule.goal", "num_ranks 16777216\n");
    write("one.trace", "viem_trace 1\nrank 3 of 16777216\nend 0\n");
    write("far.csv", "source,target,weight\n0,16777000,1\n");
    write("far.mtx", "%%MatrixMarket matrix coordinate pattern general\n16777216 16777216 1\n1 16777216\n");
    for (file, format) in
        [("schedule.goal", "goal"), ("one.trace", "trace"), ("far.csv", "edges"), ("far.mtx", "mtx")]
    {
        let format = format!("--from={format}");
        let run =
            limited(folder.path(), "true", &[], "generate_model", &[file, &format, "--output_filename=out"]);
        let message = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(65), "{file}: {message}");
        assert!(message.contains("ranks in") && message.contains("--ranks="), "{file}: {message}");
    }
}

/// Files that only the environment names are inputs, too.
#[test]
fn no_output_overwrites_a_file_that_the_environment_names() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("topology.conf"), "SwitchName=s0 Nodes=n[0-3]\n").unwrap();
    fs::write(path("slurm.conf"), "").unwrap();
    fs::write(path("node.xml"), "<topology><object type=\"Machine\"/></topology>").unwrap();
    let configuration = path("slurm.conf");
    let cases = [
        ("LSB_DJOB_HOSTFILE", "hosts", "hosts:lsf,node=16", "hosts"),
        ("PE_HOSTFILE", "hosts", "hosts:sge,node=16", "hosts"),
        ("PBS_NODEFILE", "hosts", "hosts:pbs,node=16", "hosts"),
        ("SLURM_CONF", configuration.to_str().unwrap(), "slurm:node=16", "topology.conf"),
        ("HWLOC_XMLFILE", "node.xml", "hwloc:hosts=hosts", "node.xml"),
    ];
    for (variable, value, machine, file) in cases {
        let before = fs::read(path(file)).unwrap();
        for output in ["--output_filename", "--json"] {
            let mut viem = program("viem", folder.path());
            viem.arg("model").args(["--machine", machine, output, file]).env_remove("LSB_MCPU_HOSTS");
            viem.env("SLURM_JOB_NODELIST", "n[0-3]").env(variable, value);
            let message = failure_of(&mut viem, 2);
            assert!(message.contains("would overwrite the input"), "{variable}: {message}");
            assert_eq!(fs::read(path(file)).unwrap(), before, "{variable}");
        }
    }
}

/// Characters that a message must not hold as they are.
const HIDDEN: &str = "\u{1b}[31m\u{9b}\u{202e}\u{200b}";

/// Files with such characters where names, values and numbers stand, and the options with which they are read.
fn escapes() -> Vec<(&'static str, String, Vec<&'static str>)> {
    let machine = |spec: &'static str| vec!["model", spec];
    let tree = |option: &'static str| vec!["model", MACHINE[0], MACHINE[1], option];
    let graph = |format: &'static str| vec!["bad", format];
    let h = HIDDEN;
    let attribute = h.replace('\u{1b}', "");
    vec![
        ("viem", h.to_owned(), tree("--fixed=bad")),
        ("viem", format!("process {h}\n"), tree("--fixed=bad")),
        ("viem", format!("0\n{h}\n"), tree("--input_mapping=bad")),
        ("viem", format!("0,{h}"), tree("--pes=bad")),
        ("viem", format!("n1 {h}=4\n"), machine("--machine=hosts:bad,node=16")),
        ("viem", format!("n{h}[1-\n"), machine("--machine=hosts:bad,node=16")),
        ("viem", format!("n{h}\n"), machine("--machine=hosts:bad")),
        ("viem", format!("SwitchName={h} {h}=n1\n"), machine("--machine=hosts:hosts,node=16,topology=bad")),
        (
            "viem",
            format!("- topology: {h}\n  {h}: [*{h}]\n"),
            machine("--machine=hosts:hosts,node=16,topology=bad"),
        ),
        ("viem", format!("<{attribute}/>"), machine("--machine=hwloc:bad")),
        (
            "viem",
            format!("<topology><object type=\"{attribute}\" os_index=\"x\"/></topology>"),
            machine("--machine=hwloc:bad"),
        ),
        ("viem", format!("<topology {h}/>"), machine("--machine=hwloc:bad")),
        ("viem", format!("{h} 1\n1 {h}\n"), machine("--machine=bad")),
        ("viem", format!("2 1\n{h}\n1\n"), vec!["bad", MACHINE[0], MACHINE[1]]),
        ("viem", format!("2\n0 {h}\n"), vec!["bad", "--input_format=qaplib"]),
        (
            "generate_model",
            format!(
                "{{\"nodes\":[{{\"id\":\"{}\"}}],\"links\":[{{\"source\":\"{}\",\"target\":1}}]}}",
                attribute, attribute
            ),
            graph("--from=json"),
        ),
        (
            "generate_model",
            r#"{"nodes":[{"id":"\u001b[31m"},{"id":"\u001b[31m"}],"links":[]}"#.to_owned(),
            graph("--from=json"),
        ),
        (
            "generate_model",
            format!(
                "{{\"nodes\":[{{\"id\":0}},{{\"id\":1}}],\"links\":[{{\"source\":0,\"target\":1,\"weight\":\"{attribute}\"}}]}}"
            ),
            graph("--from=json"),
        ),
        (
            "generate_model",
            format!(
                "<graphml><graph><node id=\"{attribute}\"/><edge source=\"{attribute}\" target=\"{attribute}x\"/></graph></graphml>"
            ),
            graph("--from=graphml"),
        ),
        ("generate_model", format!("<graphml><{attribute}></graphml>"), graph("--from=graphml")),
        ("generate_model", format!("source,target,{h}\n0,{h},1\n"), graph("--from=edges")),
        ("generate_model", format!("viem_trace 1\nrank 0 of 2\n{h} 1 1 1\n"), graph("--from=trace")),
        (
            "generate_model",
            format!("num_ranks 2\nrank 0 {{\n{h}: send 8b to 1\n{h}: send 8b to 1\n}}\n"),
            graph("--from=goal"),
        ),
    ]
}

fn assert_plain(what: &str, text: &[u8]) {
    let text = std::str::from_utf8(text).unwrap();
    let hidden = |c: &char| c.is_control() && *c != '\n' || matches!(c, '\u{202e}' | '\u{200b}');
    assert_eq!(text.chars().find(hidden), None, "{what}: {text:?}");
}

#[test]
fn messages_hold_no_controls_of_the_terminal() {
    let folder = folder();
    for (name, text, options) in escapes() {
        fs::write(folder.path().join("bad"), &text).unwrap();
        let run = program(name, folder.path()).args(&options).output().unwrap();
        assert_ne!(run.status.code(), Some(0), "{text:?} is refused");
        assert!(!run.stderr.is_empty());
        assert_plain(&text, &run.stderr);
        assert_plain(&text, &run.stdout);
    }
    // Names of files, of which there are none, and values of options.
    let named = format!("{HIDDEN}\nnothing");
    for (name, option) in [
        ("viem", "--fixed="),
        ("viem", "--pes="),
        ("viem", "--machine="),
        ("viem", "--seed="),
        ("generate_model", "--k="),
    ] {
        let mut command = program(name, folder.path());
        command.args([named.as_str(), &format!("{option}{named}")]);
        let run = command.output().unwrap();
        assert_ne!(run.status.code(), Some(0));
        assert_plain(option, &run.stderr);
    }
    #[cfg(unix)]
    {
        fs::copy(folder.path().join("model"), folder.path().join(&named)).unwrap();
        let mut viem = program("viem", folder.path());
        viem.args([named.as_str(), MACHINE[0], MACHINE[1], "--output_filename", &format!("{named}.out")]);
        let run = viem.output().unwrap();
        assert_eq!(run.status.code(), Some(0));
        assert_plain("a graph", &run.stdout);
        assert_plain("a graph", &run.stderr);
    }
}
