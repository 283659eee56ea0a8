//! Inputs that no honest program writes: files without an end, counts beyond all measure, controls of the terminal. Each ends with one clear message, soon
//! and with little memory.

use std::process::{Command, Output, Stdio};

use crate::common::{Folder, MACHINE, failure_of, names, says};

/// Runs a command with at most 3 GiB of address space and two minutes; the standard input is what a command of the shell writes.
fn limited(folder: &Folder, input: &str, line: &str) -> Output {
    let command = folder.command(line);
    Command::new("bash")
        .args(["-c", &format!(r#"ulimit -v 3000000; {input} | timeout 120 "$@""#), "bash"])
        .arg(command.get_program())
        .args(command.get_args())
        .env("LSB_DJOB_HOSTFILE", "/dev/stdin")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// A folder with a graph of 64 vertices, a mapping and hosts.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.copy("openfoam_sphere_64.msgs.graph", "model");
    folder.write_lines("mapping", 0..64);
    folder.write_lines("hosts", (0..4).map(|host| format!("n{host} slots=16")));
    folder
}

/// Options behind the graph, each of which has one file that does not end: `@`.
const ENDLESS: [&str; 13] = [
    "--machine=hosts:@,node=4:4",
    "--machine=hosts:hosts,node=@",
    "--machine=hosts:hosts,node=4:4,topology=@",
    "--machine=hosts:hosts,node=4:4 --latencies=@",
    "--machine=hosts:lsf,node=4:4",
    "--machine=hwloc:@",
    "--machine=@",
    "--machine=4:4:4 --distances=1:10:100 --pes=@",
    "--machine=4:4:4 --distances=1:10:100 --fixed=@",
    "--machine=4:4:4 --distances=1:10:100 --initial=@",
    "--machine=4:4:4 --distances=1:10:100 --coordinates=@ --construction=rcb",
    "--machine=2:2 --distances=1:2 --capacities=@",
    "--machine=2:2 --distances=1:2 --fixed=@",
];

/// Commands that write for ever.
const INPUTS: [&str; 5] = ["cat /dev/zero", "yes n1", "yes 1", "yes ''", "yes '#'"];

#[test]
#[cfg(target_os = "linux")]
fn files_without_an_end_are_refused() {
    let folder = folder();
    for options in ENDLESS {
        // A matrix may be as large as the memory is.
        let is_matrix = |input: &&str| *input == "yes 1" && options == "--machine=@";
        for input in INPUTS.into_iter().filter(|input| !is_matrix(input)) {
            check_refused(&folder, input, &format!("viem map model {}", options.replace('@', "/dev/stdin")));
        }
    }
    for input in INPUTS {
        check_refused(&folder, input, "viem remap model /dev/stdin -m 2:2 -d 1:2 --migration-weight=1");
    }
    assert_eq!(names(folder.path()), ["hosts", "mapping", "model"]);
}

#[cfg(target_os = "linux")]
fn check_refused(folder: &Folder, input: &str, line: &str) {
    let run = limited(folder, input, line);
    let message = String::from_utf8(run.stderr).unwrap();
    let is_refused = matches!(run.status.code(), Some(2 | 65 | 71));
    assert!(is_refused, "{input} {line} {}: {message}", run.status);
    assert_eq!(message.lines().count(), 1, "{input} {line}: {message}");
}

#[test]
#[cfg(target_os = "linux")]
fn blank_lines_and_comments_without_an_end_are_refused() {
    let folder = folder();
    let idle = "there is nothing but blank lines and comments for 64 MiB";
    let graph = &*format!("map /dev/stdin {MACHINE}");
    let cases = [
        ("yes ''", graph, "the header is missing"),
        ("yes '%'", graph, idle),
        ("echo 2 1; echo 2; echo 1; yes '%'", graph, idle),
        ("echo 2 1; echo 2; echo 1; yes ''", graph, idle),
        ("yes ''", "qap /dev/stdin", idle),
        ("yes '#'", "qap /dev/stdin", idle),
        ("echo 0 1; echo 1 0; yes '# a comment'", "map model --machine=/dev/stdin", idle),
        ("echo tleaf 1 64 1; yes ''", "map model --machine=/dev/stdin", idle),
    ];
    for (input, options, reason) in cases {
        let run = limited(&folder, &format!("({input})"), &format!("viem {options}"));
        let message = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(65), "{input} {options}: {message}");
        assert!(message.contains(reason) && message.lines().count() == 1, "{input} {options}: {message}");
    }
    // Each vertex without neighbours has a blank line, however many there are.
    let many = "(echo 70000000 0; yes '' | head -n 70000000)";
    let run = limited(&folder, many, "viem check /dev/stdin");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn counts_alone_take_no_memory() {
    let mtx = "%%MatrixMarket matrix coordinate pattern general\n16777216 16777216 1\n1 16777216\n";
    let folder = Folder::with(&[
        ("goal", "num_ranks 16777216\n"),
        ("trace", "viem_trace 1\nrank 3 of 16777216\nend 0\n"),
        ("edges", "source,target,weight\n0,16777000,1\n"),
        ("mtx", mtx),
    ]);
    for format in ["goal", "trace", "edges", "mtx"] {
        let line = format!("viem traffic {format} --from={format} --output=out");
        let run = limited(&folder, "true", &line);
        let message = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(65), "{format}: {message}");
        says(&message, ["ranks in", "--ranks="]);
    }
}

/// Files that only the environment names are inputs, too.
#[test]
fn no_output_overwrites_a_file_that_the_environment_names() {
    let folder = folder();
    folder.write("topology.conf", "SwitchName=s0 Nodes=n[0-3]\n");
    folder.write("slurm.conf", "");
    folder.write("node.xml", "<topology><object type=\"Machine\"/></topology>");
    let configuration = folder.file("slurm.conf");
    let cases = [
        ("LSB_DJOB_HOSTFILE", "hosts", "hosts:lsf,node=16", "hosts"),
        ("PE_HOSTFILE", "hosts", "hosts:sge,node=16", "hosts"),
        ("PBS_NODEFILE", "hosts", "hosts:pbs,node=16", "hosts"),
        ("SLURM_CONF", configuration.to_str().unwrap(), "slurm:node=16", "topology.conf"),
        ("HWLOC_XMLFILE", "node.xml", "hwloc:hosts=hosts", "node.xml"),
    ];
    for (variable, value, machine, file) in cases {
        let before = folder.bytes(file);
        for output in ["--output", "--json"] {
            let mut viem = folder.command(format!("viem map model --machine {machine} {output} {file}"));
            viem.env_remove("LSB_MCPU_HOSTS").env("SLURM_JOB_NODELIST", "n[0-3]").env(variable, value);
            let message = failure_of(&mut viem, 2);
            assert!(message.contains("would overwrite the input"), "{variable}: {message}");
            assert_eq!(folder.bytes(file), before, "{variable}");
        }
    }
}

/// Characters that a message must not hold as they are.
const HIDDEN: &str = "\u{1b}[31m\u{9b}\u{202e}\u{200b}";

/// Files with such characters where names, values and numbers stand, and the commands that read them as `bad`.
fn escapes() -> Vec<(String, String)> {
    let h = HIDDEN;
    let attribute = h.replace('\u{1b}', "");
    let on_tree = format!("viem map model {MACHINE}");
    let with_topology = "viem map model --machine=hosts:hosts,node=16,topology=bad";
    let from = "viem traffic bad --from";
    let link = "{\"source\":0,\"target\":1,\"weight\":\"@\"}";
    let cases = [
        (h, &*format!("{on_tree} --fixed=bad")),
        ("process ^\n", &*format!("{on_tree} --fixed=bad")),
        ("0\n^\n", &*format!("{on_tree} --initial=bad")),
        ("0,^", &*format!("{on_tree} --pes=bad")),
        ("n1 ^=4\n", "viem map model --machine=hosts:bad,node=16"),
        ("n^[1-\n", "viem map model --machine=hosts:bad,node=16"),
        ("n^\n", "viem map model --machine=hosts:bad"),
        ("SwitchName=^ ^=n1\n", with_topology),
        ("- topology: ^\n  ^: [*^]\n", with_topology),
        ("<@/>", "viem map model --machine=hwloc:bad"),
        ("<topology><object type=\"@\" os_index=\"x\"/></topology>", "viem map model --machine=hwloc:bad"),
        ("<topology ^/>", "viem map model --machine=hwloc:bad"),
        ("^ 1\n1 ^\n", "viem map model --machine=bad"),
        ("2 1\n^\n1\n", &*format!("viem map bad {MACHINE}")),
        ("2\n0 ^\n", "viem qap bad"),
        (r#"{"nodes":[{"id":"@"}],"links":[{"source":"@","target":1}]}"#, &*format!("{from}=json")),
        (r#"{"nodes":[{"id":"\u001b[31m"},{"id":"\u001b[31m"}],"links":[]}"#, &*format!("{from}=json")),
        (&*format!("{{\"nodes\":[{{\"id\":0}},{{\"id\":1}}],\"links\":[{link}]}}"), &*format!("{from}=json")),
        (
            "<graphml><graph><node id=\"@\"/><edge source=\"@\" target=\"@x\"/></graph></graphml>",
            &*format!("{from}=graphml"),
        ),
        ("<graphml><@></graphml>", &*format!("{from}=graphml")),
        ("source,target,^\n0,^,1\n", &*format!("{from}=edges")),
        ("viem_trace 1\nrank 0 of 2\n^ 1 1 1\n", &*format!("{from}=trace")),
        ("num_ranks 2\nrank 0 {\n^: send 8b to 1\n^: send 8b to 1\n}\n", &*format!("{from}=goal")),
    ];
    // All of them stand for `^`, those that XML and JSON allow for `@`.
    cases.map(|(text, line)| (line.to_owned(), text.replace('^', h).replace('@', &attribute))).to_vec()
}

fn assert_plain(what: &str, text: &[u8]) {
    let text = std::str::from_utf8(text).unwrap();
    let hidden = |c: &char| c.is_control() && *c != '\n' || matches!(c, '\u{202e}' | '\u{200b}');
    assert_eq!(text.chars().find(hidden), None, "{what}: {text:?}");
}

#[test]
fn messages_hold_no_controls_of_the_terminal() {
    let folder = folder();
    for (line, text) in escapes() {
        folder.write("bad", &text);
        let run = folder.command(line).output().unwrap();
        assert_ne!(run.status.code(), Some(0), "{text:?} is refused");
        assert!(!run.stderr.is_empty());
        assert_plain(&text, &run.stderr);
        assert_plain(&text, &run.stdout);
    }
    // Names of files, of which there are none, and values of options.
    let named = format!("{HIDDEN}\nnothing");
    for option in [
        "viem map --fixed=",
        "viem map --pes=",
        "viem map --machine=",
        "viem map --seed=",
        "viem partition --blocks=",
    ] {
        let run = folder.command(format!("{option}{named} {named}")).output().unwrap();
        assert_ne!(run.status.code(), Some(0));
        assert_plain(option, &run.stderr);
    }
    #[cfg(unix)]
    {
        std::fs::copy(folder.file("model"), folder.file(&named)).unwrap();
        let line = format!("viem map {named} {MACHINE} --output {named}.out");
        let run = folder.command(line).output().unwrap();
        assert_eq!(run.status.code(), Some(0));
        assert_plain("a graph", &run.stdout);
        assert_plain("a graph", &run.stderr);
    }
}
