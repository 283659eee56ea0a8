//! `viem check` and `viem convert` as a user runs them.

use std::fs;

use crate::common::{Folder, instance, says};

#[test]
fn valid_graphs_are_reported_as_valid() {
    let folder = Folder::new();
    for file in fs::read_dir(instance("")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "graph") {
            let text = folder.stdout(format!("viem check '{}'", file.display()));
            says(&text, [" is valid: "]);
        }
    }
}

#[test]
fn every_fault_is_listed_with_its_place() {
    // Vertex 1 lists itself, vertex 2 lists 1 twice, 3 does not list 2, and 9 does not exist.
    let folder =
        Folder::with(&[("bad.graph", "3 3\n1 2\n1 1 3\n9\n"), ("header.graph", "2  1 0001\n2\n1\n")]);
    let check = |arguments: &str| {
        let mut command = folder.command(format!("viem check {arguments}"));
        let output = command.assert().code(65).get_output().clone();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (faults, verdict) = check("bad.graph");
    says(&faults, ["line 2, column 1", "line 3, column 3", "line 3, column 5", "line 4, column 1"]);
    says(&verdict, ["bad.graph: not a valid graph"]);
    let (faults, verdict) = check("header.graph");
    says(&faults, ["line 1, column 6: `0001`: this is not a format"]);
    assert!(verdict.ends_with("not a valid graph, 1 fault\n"), "{verdict}");
    let (first, _) = check("bad.graph --max-errors=1");
    assert_eq!(first.lines().count(), 2, "one fault and the number of the others: {first}");
    assert_eq!(check("bad.graph --quiet").0, "");
    folder.fails("viem check missing.graph", 66, "");
}

/// The exit code says whether there is now a valid graph; with `--fix`, at OUT.
#[test]
fn repairable_graphs_are_repaired() {
    let folder =
        Folder::with(&[("bad.graph", "3 3 1\n1 9 2 5\n1 4 3 6\n\n"), ("hopeless.graph", "3 3 1\nx\n")]);
    let text = folder.stdout("viem check bad.graph --fix=good.graph");
    says(&text, ["repaired graph written to good.graph"]);
    assert_eq!(folder.read("good.graph"), "3 2 1\n2 5\n1 5 3 6\n2 6\n");
    folder.stdout("viem check good.graph");
    folder.fails("viem check bad.graph", 65, "");
    let text = folder.stdout("viem check good.graph --fix=good.graph");
    says(&text, ["repaired graph written to good.graph: nothing to repair"]);
    folder.fails("viem check hopeless.graph --fix=good.graph", 65, "");
    assert!(folder.read("good.graph").starts_with("3 2 1"));
}

/// Every reader of graphs names the kind of file that it was given instead.
#[test]
fn files_of_other_kinds_are_named() {
    let folder = Folder::new();
    let random: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let files: [(&[u8], &str); 13] = [
        (b"2\n0\n3\n1\n", "a mapping or a partition"),
        (b"0 1\n0 2\n1 2\n2 3\n", "an edge list"),
        (b"1 2 0.5\n1 3 1.5\n2 3 1\n1 4 2\n", "an edge list"),
        (b"# POINT TO POINT\nE\t0\t1\t80 bytes\t2 msgs sent\t0,1,1\n", "Open MPI"),
        (b"0 3 1 2\n3 0 4 1\n1 4 0 2\n2 1 2 0\n", "a dense matrix"),
        (b"source,target,weight\n1,2,3\n", "CSV"),
        (b"name,colour\na,red\n", "a table with separators"),
        (b"3 5\n1 2 3\n3 4\n4 5 1\n", "a hypergraph"),
        (b"4 3\n1\n0 2\n1 3\n2\n", "from 0"),
        (b"{\"nodes\": []}\n", "a JSON file"),
        (b"PROCESS 0 STOP\n", "a workload (PROCESS ...)"),
        // Prose that begins with the same word.
        (b"Process mapping is the placement\nof processes.\n", "a text (its first lines hold no numbers)"),
        (&random, "a binary file"),
    ];
    for (bytes, kind) in files {
        folder.write("file", bytes);
        let viem = "viem map --machine=4 --distances=1 file";
        let message = folder.fails(viem, 65, kind);
        assert!(message.contains("file, line 1,"), "{kind}: {message}");
        let is_traffic = ["an edge list", "Open MPI", "a dense matrix"].contains(&kind);
        assert_eq!(message.contains("viem traffic --from="), is_traffic, "{message}");
        folder.fails("viem partition --blocks=2 file", 65, kind);
        let faults = folder.command("viem check file").assert().code(65).get_output().stdout.clone();
        assert!(String::from_utf8(faults).unwrap().contains(kind), "{kind}");
    }
}

/// Every program reads a binary graph like the text that it was made of.
#[test]
fn graphs_are_converted_and_read_alike() {
    let folder = Folder::new();
    folder.copy("mesh_64x48.graph", "text");
    folder.stdout("viem convert text --output=again --format=metis");
    for format in ["parhip", "parhip32"] {
        let written = folder.stdout(format!("viem convert text --output=binary --format={format}"));
        says(&written, [format!("written to binary in the format {format}")]);
        says(&folder.stdout("viem check binary"), ["binary is valid: "]);
        folder.stdout("viem convert binary --output=back");
        assert_eq!(folder.bytes("back"), folder.bytes("again"));
        let results = ["text", "binary"].map(|graph| {
            let to = "--machine=2:4 --distances=1:10";
            folder.stdout(format!("viem partition {graph} --blocks=8 --model=model --output=parts --verify"));
            folder.stdout(format!("viem map model {to} -o mapping"));
            folder.stdout(format!("viem map {graph} --output=many --verify {to}"));
            let score = folder.stdout(format!("viem score {graph} many {to}"));
            let costs: Vec<String> =
                score.lines().filter(|line| !line.contains("time")).map(str::to_owned).collect();
            (["model", "parts", "mapping", "many"].map(|name| folder.bytes(name)), costs)
        });
        assert!(results[0] == results[1]);
    }
    let packed = folder.bytes("binary");
    folder.write("cut", &packed[..packed.len() - 3]);
    for line in ["viem check cut", "viem partition cut --blocks=2"] {
        folder.fails(line, 65, &format!("cut, byte {}: the file ends here", packed.len() - 3));
    }
    folder.fails("viem check binary --fix=fixed", 2, "--fix repairs text only");
    for line in ["viem convert text --output=text", "viem convert binary --output=./binary"] {
        folder.fails(line, 2, "would overwrite the input");
    }
    // What a binary graph has no place for.
    folder.write("sizes", "2 1 110\n3 4 2\n3 5 1\n");
    says(&folder.stderr("viem convert sizes --output=binary"), ["vertex sizes"]);
    folder.stdout("viem convert binary --output=back");
    assert_eq!(folder.read("back"), "2 1 10\n4 2\n5 1\n");
}
