//! Files as people have them: read, or refused with what they are and the option that reads them.

use crate::common::{Folder, figure, says};

/// Asserts that `generate_model` makes this graph.
#[track_caller]
fn makes(folder: &Folder, arguments: &str, graph: &str) {
    folder.stdout(format!("viem traffic {arguments} -o g"));
    assert_eq!(folder.read("g"), graph, "{arguments}");
}

/// Asserts that `generate_model` refuses a file and says this.
#[track_caller]
fn refused(folder: &Folder, arguments: &str, expected: &str) -> String {
    folder.fails(format!("viem traffic {arguments} -o g"), 65, expected)
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let folder = Folder::with(&[
        ("g", "\u{feff}4 3\r\n2\r\n1 3\r\n2 4\r\n3\r\n"),
        ("hosts", "\u{feff}n1 slots=2\nn2 slots=2\n"),
        ("m", "\u{feff}0 1 2 3\n1 0 1 2\n2 1 0 1\n3 2 1 0\n"),
        ("map", "\u{feff}0\n1\n2\n3\n"),
    ]);
    folder.stdout("viem check g");
    folder.stdout("viem map g --machine=hosts:hosts --threads=1 -o p");
    folder.stdout("viem score g --machine=m map");
}

#[test]
fn a_graph_that_counts_from_zero_is_named_and_repaired() {
    let folder = Folder::with(&[("g", "5 4\n1\n0 2\n1 3\n2 4\n3\n")]);
    let zero = "counts its vertices from 0";
    says(&folder.fails("viem map g --machine=complete:5 -o p", 65, zero), ["--fix"]);
    folder.stdout("viem check g --fix=h");
    assert_eq!(folder.read("h"), "5 4\n2\n1 3\n2 4\n3 5\n4\n");
}

#[test]
fn weights_with_fractions_and_without_weight() {
    let folder =
        Folder::with(&[("g", "3 2 1\n2 1.0\n1 1.0 3 5.0\n2 5.0\n"), ("zero", "3 2 1\n2 0\n1 0 3 5\n2 5\n")]);
    folder.stdout("viem check g --fix=h");
    assert_eq!(folder.read("h"), "3 2 1\n2 1\n1 1 3 5\n2 5\n");
    folder.stdout("viem map g --machine=complete:3 -o p --verify");
    let message = folder.fails("viem map zero --machine=complete:3 -o p", 65, "is zero");
    says(&message, ["viem check --fix=FILE drops such edges"]);
    says(&folder.stdout("viem check zero --fix=h"), ["1 edge of weight zero dropped"]);
    assert_eq!(folder.read("h"), "3 1 1\n\n3 5\n2 5\n");
}

#[test]
fn valid_graphs_are_never_taken_for_edge_lists() {
    let folder = Folder::with(&[("g", "5 6 0\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n\n")]);
    folder.stdout("viem check g");
    folder.stdout("viem partition g --blocks=2 -o m");
    folder.stdout("viem map g --machine=complete:5 -o p");
}

#[test]
fn several_readings_are_named_with_their_options() {
    let folder = Folder::with(&[
        ("t.csv", "0,9000,10,0\n9000,0,0,10\n10,0,0,9000\n0,10,9000,0\n"),
        ("links", "0 1 4\n1 2 6\n2 0 9\n"),
        ("m.mat", "0 5000 0 0\n5000 0 70 0\n0 70 0 5000\n0 0 5000 0\n"),
    ]);
    for file in ["t.csv", "links", "m.mat"] {
        refused(&folder, file, "--from=matrix or --from=edges");
        let viem = format!("viem map {file} --machine=complete:4 -o p");
        let message = folder.fails(viem, 65, "a dense matrix or an edge list");
        says(&message, ["viem traffic --from=matrix or --from=edges"]);
    }
    let square = "4 4 1\n2 18000 3 20\n1 18000 4 20\n1 20 4 18000\n2 20 3 18000\n";
    makes(&folder, "t.csv --from=matrix", square);
    makes(&folder, "links --from=edges", "3 3 1\n2 4 3 9\n1 4 3 6\n1 9 2 6\n");
}

#[test]
fn what_is_no_graph_is_named() {
    let files = [
        ("nets", "3 5\n1 2 3\n3 4\n4 5 1\n", "a hypergraph"),
        ("zero", "3 2 11\n5 1 7\n5 0 7 2 8\n5 1 8\n", "counts its vertices from 0"),
        ("text", "hello world\nthis is text\n", "a text (its first lines hold no numbers)"),
        ("names", "a b 3\nb c 4\nc a 5\n", "an edge list with names"),
        ("names", "a b 3\nb c 4\nc a 5\n", "number the vertices"),
    ];
    let folder = Folder::with(&[("g", "2 1\n2\n1\n")]);
    for (name, text, expected) in files {
        folder.write(name, text);
        folder.fails(format!("viem partition {name} -k 2"), 65, expected);
    }
    folder.fails("viem partition g", 2, "--blocks");
}

#[test]
fn matrices_with_commas_are_traffic() {
    let rows: Vec<String> = (0..6)
        .map(|i: i32| {
            (0..6).map(|j| if (i - j).abs() == 1 { "1000" } else { "0" }).collect::<Vec<_>>().join(",")
        })
        .collect();
    let savetxt = rows.join("\n").replace("1000", "1.000000000000000000e+03");
    let labelled = format!(
        ",a,b,c,d,e,f\n{}",
        rows.iter().zip('a'..).map(|(row, name)| format!("{name},{row}\n")).collect::<String>()
    );
    let folder = Folder::with(&[
        ("a.csv", &rows.join("\n")),
        ("b.csv", &savetxt),
        ("c.csv", &labelled),
        ("d.csv", &rows.join("\n").replace(',', ";")),
    ]);
    for file in ["a.csv", "b.csv", "c.csv", "d.csv"] {
        let text = folder.stdout(format!("viem traffic {file} -o g"));
        says(&text, ["files of kind matrix: 1"]);
        assert!(folder.read("g").starts_with("6 5 1\n2 2000\n1 2000 3 2000\n"), "{file}");
    }
}

#[test]
fn numbers_of_fortran_are_numbers() {
    let header = "%%MatrixMarket matrix coordinate real general";
    let folder = Folder::with(&[
        ("t.mtx", &format!("{header}\n3 3 3\n1 2 1.0D+03\n2 3 2.0D+02\n3 1 5.0D+00\n")),
        ("large.mtx", &format!("{header}\n2 2 1\n1 2 1e30\n")),
    ]);
    makes(&folder, "t.mtx", "3 3 1\n2 1000 3 5\n1 1000 3 200\n1 5 2 200\n");
    refused(&folder, "large.mtx", "`1e30` is too large");
}

#[test]
fn ids_with_gaps_are_told_and_renumbered() {
    let lines: String = (1000..1039).map(|id| format!("{id}\t{}\n", id + 1)).collect();
    let folder = Folder::with(&[
        ("web.txt", &format!("# From\tTo\n{lines}")),
        ("far", "7 18446744073709551615\n7 8\n9 8\n"),
    ]);
    let text = folder.stdout("viem traffic web.txt --from=edges -o g");
    says(&text, ["ids that no line mentions, which are vertices without edges: 999"]);
    folder.stdout("viem traffic web.txt --renumber=ids -o g");
    assert!(folder.read("g").starts_with("40 39 1\n2 1\n1 1 3 1\n"));
    assert_eq!(folder.numbers("ids"), (1000..1040).collect::<Vec<_>>());
    refused(&folder, "far --from=edges", "--renumber");
    makes(&folder, "far --from=edges --renumber=ids", "4 3 1\n2 1 4 1\n1 1 3 1\n2 1\n1 1\n");
    assert_eq!(folder.read("ids"), "7\n8\n9\n18446744073709551615\n");
}

#[test]
fn a_size_may_be_that_of_each_message() {
    let sizes = "sender,receiver,size,count\n0,1,8,1000\n0,1,1048576,2\n1,2,64,10\n";
    let folder = Folder::with(&[("h.csv", sizes)]);
    says(&refused(&folder, "h.csv", "line 1, column 17"), ["--sizes=each or --sizes=all"]);
    makes(&folder, "h.csv --sizes=each", "3 2 1\n2 2105152\n1 2105152 3 640\n2 640\n");
    makes(&folder, "h.csv --sizes=all", "3 2 1\n2 1048584\n1 1048584 3 64\n2 64\n");
}

#[test]
fn edges_of_json_and_graphml_have_weights_as_columns_have() {
    let json = |fields: &str| {
        format!(
            "{{\"nodes\": [{{\"id\": 0}}, {{\"id\": 1}}], \"links\": [{{\"source\": 0, \"target\": 1, {fields}}}]}}\n"
        )
    };
    let graphml = "<graphml><key id='s' for='edge' attr.name='size'/><key id='c' for='edge' attr.name='count'/><graph>\
                   <node id='0'/><node id='1'/><edge source='0' target='1'><data key='s'>5</data><data key='c'>3</data></edge>\
                   </graph></graphml>\n";
    let folder = Folder::with(&[
        ("value.json", &json("\"value\": 7")),
        ("size.json", &json("\"size\": 5, \"count\": 3")),
        ("size.graphml", graphml),
    ]);
    makes(&folder, "value.json", "2 1 1\n2 7\n1 7\n");
    for file in ["size.json", "size.graphml"] {
        refused(&folder, file, "--sizes=each or --sizes=all");
        for (sizes, weight) in [("each", 15), ("all", 5)] {
            let graph = format!("2 1 1\n2 {weight}\n1 {weight}\n");
            makes(&folder, &format!("{file} --sizes={sizes}"), &graph);
        }
    }
    let line = "viem traffic value.json --renumber=ids -o g";
    folder.fails(line, 2, "--renumber is for edge lists");
}

#[test]
fn a_column_of_numbers_beside_coordinates_is_asked_for() {
    let row = |v: i32| {
        let (x, y) = (v % 4, v / 4);
        let near = [(x > 0, v - 1), (x < 3, v + 1), (y > 0, v - 4), (y < 3, v + 4)];
        near.iter().filter(|near| near.0).map(|near| format!("{} ", near.1 + 1)).collect::<String>()
    };
    let folder = Folder::new();
    folder.write_lines("g", std::iter::once("16 24".to_owned()).chain((0..16).map(row)));
    folder.write_lines("without", (0..16).map(|v| format!("{}.0 {}.0", v % 4, v / 4)));
    folder.write_lines("with", (0..16).map(|v| format!("{} {}.0 {}.0", v + 1, v % 4, v / 4)));
    let line = "viem partition g --blocks=4 --algorithm=rcb -o m --coordinates";
    let cut = |points: &str| figure(&folder.stdout(format!("{line}={points}")), "cut").to_owned();
    assert_eq!(cut("with --coordinate-ids=yes"), cut("without"));
    folder.fails(format!("{line}=with"), 65, "--coordinate-ids=yes or --coordinate-ids=no");
}

#[test]
fn graphs_in_other_formats_are_application_graphs() {
    let entries = |values: &[&str]| {
        (1..6).map(|v| format!("{} {v}{}\n", v + 1, values[v % values.len()])).collect::<String>()
    };
    let diagonal = |value: &str| (1..7).map(|v| format!("{v} {v}{value}\n")).collect::<String>();
    let market = |kind: &str, values: &[&str], on_diagonal: Option<&str>| {
        let diagonal = on_diagonal.map_or(String::new(), diagonal);
        let count = 5 + diagonal.lines().count();
        format!("%%MatrixMarket matrix coordinate {kind}\n% x\n6 6 {count}\n{diagonal}{}", entries(values))
    };
    let array: String = (0..6)
        .flat_map(|j| (0..6).map(move |i: i32| if (i - j).abs() < 2 { "-0.5\n" } else { "0.0\n" }))
        .collect();
    let nodes =
        |quote: &str| (0..6).map(|v| format!("{{\"id\": {quote}{v}{quote}}}")).collect::<Vec<_>>().join(",");
    let links = |quote: &str| {
        (0..5)
            .map(|v| {
                format!("{{\"source\": {quote}{v}{quote}, \"target\": {quote}{}{quote}, \"key\": 0}}", v + 1)
            })
            .collect::<Vec<_>>()
            .join(",")
    };
    let json = |quote: &str, list: &str| {
        format!(
            "{{\"directed\": false, \"multigraph\": true, \"graph\": {{}}, \"nodes\": [{}], \"{list}\": [{}]}}",
            nodes(quote),
            links(quote)
        )
    };
    let graphml = format!(
        "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"><graph edgedefault=\"undirected\">\n{}{}</graph></graphml>\n",
        (0..6).map(|v| format!("<node id=\"n{v}\"/>\n")).collect::<String>(),
        (0..5).map(|v| format!("<edge source=\"n{v}\" target=\"n{}\"/>\n", v + 1)).collect::<String>()
    );
    let files = [
        ("real.mtx", market("real symmetric", &[" -1.0", " 2.5e-3"], Some(" 2.0"))),
        ("general.mtx", market("real general", &[" -1.0D+00"], Some(" 2.0"))),
        ("integer.mtx", market("integer symmetric", &[" -7"], None)),
        ("skew.mtx", market("real skew-symmetric", &[" 1.5"], None)),
        ("hermitian.mtx", market("complex hermitian", &[" 1.5 -2"], Some(" 1 0"))),
        ("complex.mtx", market("complex general", &[" 0.0 1"], Some(" 1 1"))),
        ("pattern.mtx", market("pattern symmetric", &[""], Some(""))),
        ("array.mtx", format!("%%MatrixMarket matrix array real general\n6 6\n{array}")),
        ("links.json", json("", "links")),
        ("edges.json", json("\"", "edges")),
        ("g.graphml", graphml),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let folder = Folder::with(&files);
    for (file, _) in files {
        let text = folder.stdout(format!("viem partition {file} --blocks=2 -o m --verify"));
        assert_eq!(figure(&text, "cut"), "1", "{file}: {text}");
        says(&text, ["verified"]);
        folder.stdout(format!("viem convert {file} -o m"));
        let text = folder.stdout("viem map m --machine=complete:2 --verify");
        assert!(text.contains("graph: 6 vertices, 5 edges"), "{file}: {text}");
    }
    refused(&folder, "skew.mtx", "`skew-symmetric` is not");
}

/// An array as NumPy writes it.
fn npy(version: u8, descr: &str, is_by_column: bool, shape: &str, entries: &[Vec<u8>]) -> Vec<u8> {
    let order = if is_by_column { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}          \n");
    let mut bytes = [&b"\x93NUMPY"[..], &[version, 0]].concat();
    if version == 1 {
        bytes.extend((header.len() as u16).to_le_bytes());
    } else {
        bytes.extend((header.len() as u32).to_le_bytes());
    }
    bytes.extend(header.as_bytes());
    bytes.extend(entries.concat());
    bytes
}

#[test]
fn arrays_of_numpy_are_traffic() {
    let folder = Folder::new();
    let values = [0u16, 5, 0, 7, 0, 0, 0, 1, 0];
    let by_column = [0u16, 7, 0, 5, 0, 1, 0, 0, 0];
    let edges = [0u16, 1, 5, 1, 0, 7, 2, 1, 1, 2, 2, 9];
    let of = |values: &[u16], convert: &dyn Fn(u16) -> Vec<u8>| {
        values.iter().map(|&value| convert(value)).collect::<Vec<_>>()
    };
    for array in [
        npy(1, "<f8", false, "(3, 3)", &of(&values, &|value| f64::from(value).to_le_bytes().to_vec())),
        npy(2, ">f4", false, "(3, 3)", &of(&values, &|value| f32::from(value).to_be_bytes().to_vec())),
        npy(3, "<i8", true, "(3, 3)", &of(&by_column, &|value| i64::from(value).to_le_bytes().to_vec())),
        npy(1, ">u2", true, "(3, 3)", &of(&by_column, &|value| value.to_be_bytes().to_vec())),
        npy(1, "|u1", false, "(9,)", &of(&values, &|value| vec![value as u8])),
        npy(1, "<i4", false, "(3, 3)", &of(&values, &|value| i32::from(value).to_le_bytes().to_vec())),
        npy(1, "<i2", false, "(4, 3)", &of(&edges, &|value| value.to_le_bytes().to_vec())),
    ] {
        folder.write("a.npy", &array);
        says(&folder.stdout("viem traffic a.npy -o g"), ["files of kind npy: 1"]);
        assert_eq!(folder.read("g"), "3 2 1\n2 12\n1 12 3 1\n2 1\n");
    }
    let of_one = |value: f64| npy(1, "<f8", false, "(1, 1)", &[value.to_le_bytes().to_vec()]);
    for (array, expected) in [
        (of_one(1.5), "`1.5 (row 0, column 0, from 0)` is not a weight"),
        (of_one(-1.0), "is not a weight"),
        (npy(1, "<c16", false, "(1, 1)", &[vec![0; 16]]), "the header of an array"),
        (npy(1, "<f8", false, "(2, 9)", &[vec![0; 144]]), "`2 x 9` is not the shape"),
        (npy(1, "<f8", false, "(2, 2)", &[vec![0; 31]]), "an entry of the array is missing"),
        (npy(1, "<f8", false, "(1, 1)", &[vec![0; 9]]), "too much"),
        (npy(9, "<f8", false, "(1, 1)", &[vec![0; 8]]), "a version of NumPy arrays"),
        (npy(1, "<f8", false, "(16777217, 2)", &[]), "is missing"),
    ] {
        folder.write("a.npy", &array);
        refused(&folder, "a.npy", expected);
    }
}
