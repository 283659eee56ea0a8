//! Everything named in the documents exists: files, options, chapters and headings, functions and fields of Rust types, constants.
//!
//! Documents are found by listing, so new ones are included. Files are checked in code and links, options
//! anywhere. Names from outside the project are listed below with their origin.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use viem_cli::reference;

use crate::common::{names, root};

/// Files of other programs, default output files of commands, and files created outside the project.
const OTHER_FILES: [(&str, &str); 7] = [
    ("Slurm", "topology.yaml topology.conf slurm.conf"),
    ("the user", "mesh.graph train.py"),
    ("PyTorch's profiler", "trace.*.json.gz"),
    ("viem map --launch", "bind.sh rank.sh gpus.sh"),
    ("viem traffic", "model.graph job.workload"),
    ("benches/tables", "mapping.tsv partition.tsv many.tsv target/tables/*"),
    ("cargo build", "target/release target/release/viem_mpi target/debug"),
];

/// Options of other programs, and options of these programs that are not in their help.
const OTHER_OPTIONS: [(&str, &str); 17] = [
    (
        "cargo",
        "--bench --bin --dry-run --nocapture --offline --open --path --profile --release --test --workspace",
    ),
    ("viem_mpi", "--attempts --coarsest --generate"),
    (".ci/generate", "--check"),
    ("packaging", "--here --quick"),
    ("rocm-smi", "--showtopo"),
    ("sglang", "--init-expert-location --ep-num-redundant-experts"),
    ("rank.sh", "--count"),
    ("mpirun", "--bind-to --map-by --mca --rankfile --report-bindings"),
    (
        "srun",
        "--distribution --exclusive --het-group --hint --mpi --nodes --ntasks-per-node --overcommit --overlap --pty",
    ),
    ("torchrun", "--nproc-per-node"),
    ("flux", "--requires --taskmap"),
    ("lstopo", "--distances --of"),
    ("numactl", "--hardware"),
    ("maturin", "--target --zig"),
    ("mypy", "--strict"),
    ("pkg-config", "--cflags --libs"),
    ("viem", "--hier --input"), // an abbreviation, and the name that --input_mapping has in VieM
];

/// The extensions of file names that are checked.
const ENDINGS: &str = "rs md toml c f90 py sh yml yaml conf graph tgt svg tsv gz txt";

/// Upper limit on the length of a table line in the guide, in characters.
const LONGEST_ROW: usize = 200;

/// A document, and its path in the project.
struct Document {
    path: String,
    text: String,
}

/// The files and folders below a folder of the project, without build results, hidden and downloaded ones.
fn files_below(folder: &str, found: &mut Vec<String>) {
    for name in names(&root().join(folder)) {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let is_folder = root().join(&path).is_dir();
        if is_folder && !["target", ".git", "corpus", "artifacts"].contains(&name.as_str()) {
            files_below(&path, found);
        }
        found.push(path);
    }
}

fn project_files() -> Vec<String> {
    let mut files = Vec::new();
    files_below("", &mut files);
    files
}

/// Every document of the project.
fn documents() -> Vec<Document> {
    let is_document = |path: &String| {
        path.ends_with(".md")
            && (!path.contains('/') || path.starts_with("docs/") || path == "instances/README.md")
    };
    let paths = project_files().into_iter().filter(is_document);
    paths.map(|path| Document { text: fs::read_to_string(root().join(&path)).unwrap(), path }).collect()
}

impl Document {
    /// Its folder, with a trailing slash unless it is the root.
    fn folder(&self) -> &str {
        self.path.rfind('/').map_or("", |slash| &self.path[..=slash])
    }

    /// Its lines without those of fenced blocks.
    fn prose(&self) -> impl Iterator<Item = &str> {
        let mut is_fenced = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            is_fenced ^= is_fence;
            !is_fence && !is_fenced
        })
    }

    /// The words of its code: in backticks, in fenced blocks, and in indented blocks.
    fn words_of_code(&self) -> Vec<&str> {
        let mut words = Vec::new();
        for paragraph in self.text.split("\n\n") {
            let is_block = paragraph.contains("```") || paragraph.starts_with("    ");
            let pieces = paragraph.split('`').enumerate();
            let code = pieces.filter(|(index, _)| is_block || index % 2 == 1);
            words.extend(code.flat_map(|(_, code)| code.split_whitespace()));
        }
        words
    }

    /// The targets of its links and pictures inside the project.
    fn links(&self) -> Vec<&str> {
        let targets = self.prose().flat_map(|line| line.split("](").skip(1));
        let targets = targets.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        targets.filter(|target| !target.contains("://")).collect()
    }

    /// The anchors that GitHub gives its headings.
    fn anchors(&self) -> BTreeSet<String> {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let headings = self.prose().filter(|line| line.starts_with('#'));
        let anchor = |heading: &str| {
            let anchor = anchor(heading.trim_start_matches('#').trim());
            let count = counts.entry(anchor.clone()).or_default();
            *count += 1;
            if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
        };
        headings.map(anchor).collect()
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Whether a word of code names a file or folder: it starts with a folder of the project, or has a file
/// extension.
fn is_path(word: &str) -> bool {
    let may_stand = |c: char| c.is_ascii_alphanumeric() || "./_-*{},".contains(c);
    if !word.chars().all(may_stand) || word.starts_with(['/', '-']) || word.starts_with("./") {
        return false;
    }
    let first = word.split_once('/').map(|(first, _)| first);
    let is_in_folder = first.is_some_and(|first| first != ".." && root().join(first).is_dir());
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    is_in_folder
        || (!word.starts_with('.')
            && ending.is_some_and(|ending| ENDINGS.split(' ').any(|other| other == ending)))
}

/// Whether a path matches a pattern in which `*` and NAME stand for any part of a name.
fn fits(path: &str, pattern: &str) -> bool {
    let pattern = pattern.replace("NAME", "*");
    match pattern.split_once('*') {
        None => path == pattern,
        Some((start, rest)) => path.strip_prefix(start).is_some_and(|path| {
            let ends = (0..=path.len()).take_while(|&end| !path[..end].contains('/'));
            ends.into_iter().any(|end| fits(&path[end..], rest))
        }),
    }
}

/// The alternatives of `a{b,c}d`.
fn alternatives(word: &str) -> Vec<String> {
    let parts = word.split_once('{').and_then(|(start, rest)| Some((start, rest.split_once('}')?)));
    match parts {
        None => vec![word.to_owned()],
        Some((start, (middle, end))) => {
            middle.split(',').flat_map(|choice| alternatives(&format!("{start}{choice}{end}"))).collect()
        }
    }
}

/// Whether a document may name a path: one of the project, relative to its root or to the folder of the
/// document, or a suffix of one.
fn exists(path: &str, document: &Document, files: &[String]) -> bool {
    let path = path.trim_end_matches('/');
    files.iter().any(|file| {
        let ends = file.match_indices('/').map(|(slash, _)| &file[slash + 1..]);
        let from_document = file.strip_prefix(document.folder());
        [file.as_str()].into_iter().chain(from_document).chain(ends).any(|file| fits(file, path))
    })
}

/// The options named in a text, in order.
fn options(text: &str) -> Vec<&str> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let starts = text.match_indices("--").map(|(start, _)| start);
    let starts = starts.filter(|&start| !text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '-'));
    let starts = starts.filter(|&start| text[start + 2..].starts_with(|c: char| c.is_ascii_lowercase()));
    let name = |start: usize| text[start..].split(|c| !is_of_name(c)).next().unwrap();
    starts.map(|start| name(start).trim_end_matches('-')).collect()
}

/// The name at the start of a text.
fn name(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap()
}

/// A function or a field of a Rust type, `Type::item`, if a word of code names one.
fn item_of_type(word: &str) -> Option<(&str, &str)> {
    let (path, item) = word.rsplit_once("::")?;
    let of = path.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let is_type =
        of.starts_with(|c: char| c.is_ascii_uppercase()) && of.contains(|c: char| c.is_ascii_lowercase());
    (is_type && item.starts_with(|c: char| c.is_ascii_lowercase())).then_some((of, name(item)))
}

/// Whether code declares or implements a type, and has a function or a field of this name.
fn has_item(code: &str, (of, item): (&str, &str)) -> bool {
    let is_named = |start: &str, wanted: &str| {
        code.match_indices(start).any(|(at, _)| name(code[at + start.len()..].trim_start()) == wanted)
    };
    let declares =
        ["struct ", "enum ", "trait ", "impl ", "for ", "> "].iter().any(|start| is_named(start, of));
    declares && (is_named("fn ", item) || code.contains(&format!(" {item}: ")))
}

/// The words of a line that are in backticks.
fn code(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The constants in a line, each with the files that stand in brackets behind it.
fn constants(line: &str) -> Vec<(&str, Vec<&str>)> {
    let is_constant = |word: &&str| {
        word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let pieces = line.split(')').filter_map(|piece| piece.rsplit_once('('));
    let found = pieces.flat_map(|(before, inside)| {
        let files: Vec<&str> = code(inside).filter(|word| word.ends_with(".rs")).collect();
        let names = code(before).map(|word| word.rsplit("::").next().unwrap()).filter(is_constant);
        names.map(|name| (name, files.clone())).collect::<Vec<_>>()
    });
    found.filter(|(_, files)| !files.is_empty()).collect()
}

/// The options of all verbs and of the programs of VieM.
fn options_of_verbs() -> impl Iterator<Item = String> {
    let commands = reference::verbs().into_iter().chain(reference::forms());
    let named = commands.flat_map(|command| command.options).filter(|option| option.is_named);
    let general = ["--help", "--version", "--man", "--completions"].map(str::to_owned);
    named.map(|option| format!("--{}", option.name)).chain(general)
}

/// The files created in documents: names after an output option or a `>`.
fn made_by_commands(documents: &[Document]) -> BTreeSet<&str> {
    const OPTIONS: &str =
        "--output_filename= --output= --write-index= --picture= --json= --trace= --curve= --fix=";
    let outputs: Vec<&str> = OPTIONS.split(' ').chain(["-o ", "> ", "xml "]).collect();
    let texts = documents.iter().map(|document| document.text.as_str());
    let after = texts.flat_map(|text| outputs.iter().flat_map(|option| text.split(option).skip(1)));
    after.filter_map(|rest| rest.split(|c: char| c.is_whitespace() || c == '`').next()).collect()
}

#[test]
fn files_exist() {
    let (files, documents) = (project_files(), documents());
    let made = made_by_commands(&documents);
    let is_other =
        |path: &str| OTHER_FILES.iter().any(|(_, others)| others.split(' ').any(|other| fits(path, other)));
    let mut missing = Vec::new();
    for document in &documents {
        for word in document.words_of_code().into_iter().filter(|word| is_path(word)) {
            let is_known = |path: &String| is_other(path) || exists(path, document, &files);
            if !made.contains(word) && !alternatives(word).iter().all(is_known) {
                missing.push(format!("{}: {word}", document.path));
            }
        }
    }
    assert!(missing.is_empty(), "no such files:\n{}", missing.join("\n"));
}

#[test]
fn links_lead_to_files_and_headings() {
    let documents = documents();
    let mut broken = Vec::new();
    for document in &documents {
        for link in document.links() {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let here = root().join(&document.path);
            let target = if path.is_empty() { here } else { here.with_file_name("").join(path) };
            let target = fs::canonicalize(target).unwrap_or_default();
            let is_target =
                |document: &&Document| fs::canonicalize(root().join(&document.path)).unwrap() == target;
            let anchors = documents.iter().find(is_target).map(Document::anchors).unwrap_or_default();
            if !target.exists() || !(heading.is_empty() || anchors.contains(heading)) {
                broken.push(format!("{}: {link}", document.path));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn targets_of_cargo_exist() {
    let (files, documents) = (project_files(), documents());
    let mut missing = Vec::new();
    for document in &documents {
        let words = document.words_of_code();
        for pair in words.windows(2) {
            let folder = match pair[0] {
                "--test" => "tests",
                "--bench" => "benches",
                _ => continue,
            };
            let paths = [format!("{folder}/{}.rs", pair[1]), format!("{folder}/{}/main.rs", pair[1])];
            if !paths.iter().any(|path| exists(path, document, &files)) {
                missing.push(format!("{}: {} {}", document.path, pair[0], pair[1]));
            }
        }
    }
    assert!(missing.is_empty(), "no such targets:\n{}", missing.join("\n"));
}

#[test]
fn options_exist() {
    let own = options_of_verbs();
    let others = OTHER_OPTIONS.iter().flat_map(|(_, options)| options.split(' ')).map(str::to_owned);
    let known: BTreeSet<String> = own.chain(others).collect();
    let mut unknown = Vec::new();
    for document in documents() {
        let named = options(&document.text);
        let strange = named.into_iter().filter(|&option| !known.contains(option));
        unknown.extend(strange.map(|option| format!("{}: {option}", document.path)));
    }
    assert!(unknown.is_empty(), "no such options:\n{}", unknown.join("\n"));
}

#[test]
fn functions_and_fields_exist() {
    let rust = project_files().into_iter().filter(|file| file.ends_with(".rs") && !file.contains("tests/"));
    let sources: Vec<String> = rust.map(|file| fs::read_to_string(root().join(file)).unwrap()).collect();
    let mut missing = Vec::new();
    for document in &documents() {
        let named = document.words_of_code().into_iter().filter_map(item_of_type);
        let strange = named.filter(|&item| !sources.iter().any(|code| has_item(code, item)));
        missing.extend(strange.map(|(of, item)| format!("{}: {of}::{item}", document.path)));
    }
    assert!(missing.is_empty(), "no such functions or fields:\n{}", missing.join("\n"));
}

#[test]
fn constants_are_in_their_files() {
    let files = project_files();
    let has = |file: &str, constant: &str| {
        let code = fs::read_to_string(root().join(file)).unwrap();
        code.split("const ").skip(1).any(|rest| name(rest) == constant)
    };
    let (mut count, mut missing) = (0, Vec::new());
    for document in &documents() {
        for (constant, named) in document.text.lines().flat_map(constants) {
            let is_named = |file: &&String| named.iter().any(|end| exists(end, document, &[(*file).clone()]));
            count += 1;
            if !files.iter().filter(is_named).any(|file| has(file, constant)) {
                missing.push(format!("{}: {constant} in {named:?}", document.path));
            }
        }
    }
    assert!(missing.is_empty(), "no such constants:\n{}", missing.join("\n"));
    assert!(count > 50, "{count}");
}

#[test]
fn the_guide_is_a_book() {
    let documents = documents();
    let guide = "docs/guide/";
    let index = documents.iter().find(|document| document.path == format!("{guide}README.md")).unwrap();
    let links = index.links();
    for chapter in documents.iter().filter(|document| document.path.starts_with(guide)) {
        let name = &chapter.path[guide.len()..];
        assert!(name == "README.md" || links.contains(&name), "{guide}README.md does not link to {name}");
        let long = chapter.prose().find(|line| line.starts_with('|') && line.chars().count() > LONGEST_ROW);
        assert_eq!(long, None, "{} has a row of more than {LONGEST_ROW} characters", chapter.path);
    }
}

#[test]
fn only_references_are_checked() {
    let paths = "src/io/NAME.rs tests/io_*.rs refine/k_way.rs docs/ README.md job.graph .ci/run";
    paths.split(' ').for_each(|path| assert!(is_path(path), "{path}"));
    let words = "1/2 .dat.gz ./app --json=a.graph /etc/slurm .tgt 4:16:8 flow.rounds k_way.rounds -o";
    words.split(' ').for_each(|word| assert!(!is_path(word), "{word}"));
    assert!(fits("tests/io_metis.rs", "tests/io_NAME.rs") && !fits("tests/io/metis.rs", "tests/io*.rs"));
    assert_eq!(alternatives("a{b,c}.d"), ["ab.d", "ac.d"]);
    assert_eq!(options("`--a_b=1` |---| --c, x--d"), ["--a_b", "--c"]);
    let row = "| `A_B`, `T::CC` = 2 (`x/y.rs`) | `D` | `E` (`z`) |";
    assert_eq!(constants(row), [("A_B", vec!["x/y.rs"]), ("CC", vec!["x/y.rs"])]);
    assert_eq!(item_of_type("viem::Request::fixed(x)"), Some(("Request", "fixed")));
    assert_eq!((item_of_type("NAME::visit,"), item_of_type("mapping::solve")), (None, None));
    let code = "pub struct A<'a> {\n    size: u32,\n}\nimpl<'a> A<'a> {\n    fn new() {}\n}\n";
    assert!(has_item(code, ("A", "size")) && has_item(code, ("A", "new")));
    assert!(!has_item(code, ("A", "ne")) && !has_item(code, ("B", "new")));
    assert_eq!(anchor("`viem`: how, and why"), "viem-how-and-why");
    let document = Document { path: "docs/a.md".to_owned(), text: String::new() };
    let files = ["docs".to_owned(), "docs/a.md".to_owned(), "src/io/metis.rs".to_owned()];
    assert!(exists("io/metis.rs", &document, &files) && exists("a.md", &document, &files));
    assert!(!exists("o/metis.rs", &document, &files) && !exists("tutorial.rs", &document, &files));
}
