//! `graphchecker` as a user runs it.

use std::fs;

use crate::common::{failure_of, instance, program, stdout_of};

#[test]
fn valid_graphs_are_reported_as_valid() {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(instance("")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "graph") {
            let text = stdout_of(program("graphchecker", folder.path()).arg(&file));
            assert!(text.contains("The graph format seems correct."), "{text}");
        }
    }
}

#[test]
fn every_fault_is_listed_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    // Vertex 1 lists itself, vertex 2 lists 1 twice, 3 does not list 2, and 9 does not exist.
    fs::write(folder.path().join("bad.graph"), "3 3\n1 2\n1 1 3\n9\n").unwrap();
    let check = |arguments: &[&str]| {
        let mut command = program("graphchecker", folder.path());
        let output = command.arg("bad.graph").args(arguments).assert().code(65).get_output().clone();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (faults, verdict) = check(&[]);
    for place in ["line 2, column 1", "line 3, column 3", "line 3, column 5", "line 4, column 1"] {
        assert!(faults.contains(place), "{place} in {faults}");
    }
    assert!(verdict.contains("bad.graph: not a valid graph"), "{verdict}");
    fs::write(folder.path().join("bad.graph"), "2  1 0001\n2\n1\n").unwrap();
    assert!(check(&[]).0.contains("line 1, column 6: `0001`: this is not a format"));
    assert!(check(&[]).1.ends_with("not a valid graph, 1 fault\n"));
    fs::write(folder.path().join("bad.graph"), "3 3\n1 2\n1 1 3\n9\n").unwrap();
    let (first, _) = check(&["--max_errors=1"]);
    assert_eq!(first.lines().count(), 2, "one fault and the number of the others: {first}");
    assert_eq!(check(&["--quiet"]).0, "");
    failure_of(program("graphchecker", folder.path()).arg("missing.graph"), 66);
}

/// The exit code says whether there is now a valid graph; with `--fix`, at OUT.
#[test]
fn repairable_graphs_are_repaired() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.graph"), "3 3 1\n1 9 2 5\n1 4 3 6\n\n").unwrap();
    let mut command = program("graphchecker", folder.path());
    let text = stdout_of(command.args(["bad.graph", "--fix=good.graph"]));
    assert!(text.contains("repaired graph written to good.graph"), "{text}");
    assert_eq!(fs::read_to_string(folder.path().join("good.graph")).unwrap(), "3 2 1\n2 5\n1 5 3 6\n2 6\n");
    stdout_of(program("graphchecker", folder.path()).arg("good.graph"));
    failure_of(program("graphchecker", folder.path()).arg("bad.graph"), 65);
    let text = stdout_of(program("graphchecker", folder.path()).args(["good.graph", "--fix=good.graph"]));
    assert!(text.contains("repaired graph written to good.graph: nothing to repair"), "{text}");

    fs::write(folder.path().join("hopeless.graph"), "3 3 1\nx\n").unwrap();
    let mut command = program("graphchecker", folder.path());
    failure_of(command.args(["hopeless.graph", "--fix=good.graph"]), 65);
    assert!(fs::read_to_string(folder.path().join("good.graph")).unwrap().starts_with("3 2 1"));
}

/// Every reader of graphs names the kind of file that it was given instead.
#[test]
fn files_of_other_kinds_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let random: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let files: [(&[u8], &str); 12] = [
        (b"2\n0\n3\n1\n", "a mapping or a partition"),
        (b"0 1\n0 2\n1 2\n2 3\n", "an edge list"),
        (b"1 2 0.5\n1 3 1.5\n2 3 1\n1 4 2\n", "an edge list"),
        (b"# POINT TO POINT\nE\t0\t1\t80 bytes\t2 msgs sent\t0,1,1\n", "Open MPI"),
        (b"0 3 1 2\n3 0 4 1\n1 4 0 2\n2 1 2 0\n", "a dense matrix"),
        (b"source,target,weight\n1,2,3\n", "CSV"),
        (b"name,colour\na,red\n", "a table with separators"),
        (b"3 5\n1 2 3\n3 4\n4 5 1\n", "a hypergraph"),
        (b"3\n1 2 5 4\n2 3 6 5\n4 5 8 7\n", "a METIS mesh"),
        (b"4 3\n1\n0 2\n1 3\n2\n", "from 0"),
        (b"{\"nodes\": []}\n", "a JSON file"),
        (&random, "a binary file"),
    ];
    for (bytes, kind) in files {
        fs::write(folder.path().join("file"), bytes).unwrap();
        let machine = ["--hierarchy_parameter_string=4", "--distance_parameter_string=1"];
        let mut viem = program("viem", folder.path());
        let mut generate_model = program("generate_model", folder.path());
        let message = failure_of(viem.args(machine).arg("file"), 65);
        assert!(message.contains("file, line 1,") && message.contains(kind), "{kind}: {message}");
        let is_traffic = ["an edge list", "Open MPI", "a dense matrix"].contains(&kind);
        assert_eq!(message.contains("generate_model --from="), is_traffic, "{message}");
        // Recorded traffic with its own header has no blocks.
        let shows = ["CSV", "Open MPI"].contains(&kind);
        let (code, what) = if shows { (2, "recorded traffic") } else { (65, kind) };
        let message = failure_of(generate_model.args(["--k=2", "file"]), code);
        assert!(message.contains(what), "{kind}: {message}");
        let mut checker = program("graphchecker", folder.path());
        let faults = checker.arg("file").assert().code(65).get_output().stdout.clone();
        assert!(String::from_utf8(faults).unwrap().contains(kind), "{kind}");
    }
}

/// Every program reads a binary graph like the text that it was made of.
#[test]
fn graphs_are_converted_and_read_alike() {
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    fs::copy(instance("mesh_64x48.graph"), here("text")).unwrap();
    let run = |name: &str, arguments: &[&str]| stdout_of(program(name, folder.path()).args(arguments));
    run("graphchecker", &["text", "--convert=again", "--format=metis"]);
    for format in ["parhip", "parhip32"] {
        let written = run("graphchecker", &["text", "--convert=binary", &format!("--format={format}")]);
        assert!(written.contains(&format!("written to binary in the format {format}")), "{written}");
        assert!(run("graphchecker", &["binary"]).contains("The graph format seems correct."));
        run("graphchecker", &["binary", "--convert=back"]);
        assert_eq!(fs::read(here("back")).unwrap(), fs::read(here("again")).unwrap());
        let results = ["text", "binary"].map(|graph| {
            run("generate_model", &[graph, "--k=8", "-o", "model", "--mapping_filename=parts", "--verify"]);
            run("viem", &["model", "--machine=2:4", "--distance_parameter_string=1:10", "-o", "mapping"]);
            let to = ["--machine=2:4", "--distance_parameter_string=1:10"];
            run("viem", &[&[graph, "--output_filename=many", "--verify"], &to[..]].concat());
            let score = run("evaluator", &[&[graph, "--input_mapping=many"], &to[..]].concat());
            let costs: Vec<String> =
                score.lines().filter(|line| !line.contains("time")).map(str::to_owned).collect();
            (["model", "parts", "mapping", "many"].map(|name| fs::read(here(name)).unwrap()), costs)
        });
        assert!(results[0] == results[1]);
    }
    let packed = fs::read(here("binary")).unwrap();
    fs::write(here("cut"), &packed[..packed.len() - 3]).unwrap();
    for (name, arguments) in [("graphchecker", &["cut"][..]), ("generate_model", &["cut", "--k=2"])] {
        let message = failure_of(program(name, folder.path()).args(arguments), 65);
        let place = format!("cut, byte {}: the file ends here", packed.len() - 3);
        assert!(message.contains(&place), "{message}");
    }
    let message = failure_of(program("graphchecker", folder.path()).args(["binary", "--fix=fixed"]), 2);
    assert!(message.contains("--fix repairs text only"), "{message}");
    // What a binary graph has no place for.
    fs::write(here("sizes"), "2 1 110\n3 4 2\n3 5 1\n").unwrap();
    let output = program("graphchecker", folder.path()).args(["sizes", "--convert=binary"]).assert().code(0);
    let message = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(message.contains("vertex sizes"), "{message}");
    run("graphchecker", &["binary", "--convert=back"]);
    assert_eq!(fs::read_to_string(here("back")).unwrap(), "2 1 10\n4 2\n5 1\n");
}
