//! Every option in every mode of every program: it has an effect, or is rejected by name. Also the page of
//! the guide that lists all options.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use serde_json::Value;
use viem_cli::reference::{self, OptionReference, ProgramReference};

use crate::common::{Folder, names, program};

/// If set in the environment, the page of the guide is rewritten.
const REWRITE: &str = "VIEM_REWRITE_DOCS";

#[test]
fn the_guide_lists_every_option() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/options.md");
    let page = reference::markdown();
    if std::env::var_os(REWRITE).is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == page,
        "run this test with {REWRITE}=1, and look at the changes"
    );
    let longest = page.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(longest.chars().count() <= 200, "{longest}");
}

/// A mode of a program, with its arguments.
struct Setting {
    mode: &'static str,
    arguments: &'static str,
}

/// The trial of an option.
struct Trial {
    option: &'static str,
    value: &'static str,
    /// Additional arguments that it needs.
    beside: &'static str,
    /// The arguments that it replaces: options, or a file, which is omitted in any case.
    replaces: &'static str,
    /// The modes in which it is tried; all if empty.
    only: &'static str,
}

const fn setting(mode: &'static str, arguments: &'static str) -> Setting {
    Setting { mode, arguments }
}

const fn trial(option: &'static str, value: &'static str) -> Trial {
    Trial { option, value, beside: "", replaces: "", only: "" }
}

impl Trial {
    const fn beside(self, beside: &'static str) -> Self {
        Self { beside, ..self }
    }

    const fn replaces(self, replaces: &'static str) -> Self {
        Self { replaces, ..self }
    }

    const fn only(self, only: &'static str) -> Self {
        Self { only, ..self }
    }

    fn argument(&self) -> String {
        if self.value.is_empty() {
            format!("--{}", self.option)
        } else {
            format!("--{}={}", self.option, self.value)
        }
    }
}

/// Options that change the way to a result but not the result, or that state what is evident from the input
/// anyway.
const UNSEEN: [&str; 4] = ["threads", "distance_construction_algorithm", "input_format", "from"];

/// Options that choose the mode: the options that they make meaningless are named instead.
const CHOOSING: &str = "machine hierarchy_parameter_string distance_parameter_string pes pe_weights remap_from migration_weight \
                        remap_left parents curve index from generate parallel experts";

/// Options that are meaningful for only some inputs of a mode, and are rejected for others.
const FOR_SOME_INPUTS: [&str; 10] =
    ["pe", "pu", "latency", "link_cycles", "include", "first_rank", "renumber", "sizes", "nics", "from"];

const JOB: &str = "--parallel=tp:2,dp:4,pp:2 --model=layers=4,hidden=8,sequence=16,microbatches=2";

const JOB_AS_WORKLOAD: &str =
    "--workload --parallel=tp:2,dp:4,pp:2 --model=layers=4,hidden=8,sequence=16,microbatches=2";

const REMAPPED: &str = "--remap_from=old --migration_weight=1";

/// Modes with a PE for each process, and modes with few PEs.
const FINE: &str = "one-to-one workload QAP";
const COARSE: &str = "many-to-one remapping experts";

/// Modes without experts.
const ON_GRAPHS: &str = "one-to-one many-to-one remapping workload QAP";

const HIERARCHY: Trial = trial("hierarchy_parameter_string", "2:16")
    .replaces("machine")
    .beside("--distance_parameter_string=1:10");

const VIEM: [Setting; 6] = [
    setting("one-to-one", "graph --machine=4:8 --distance_parameter_string=1:10"),
    setting("many-to-one", "graph --machine=2:2 --distance_parameter_string=1:10"),
    setting(
        "remapping",
        "graph --machine=2:2 --distance_parameter_string=1:10 --remap_from=old --migration_weight=1",
    ),
    setting("workload", "workload --machine=4:4 --distance_parameter_string=1:10"),
    setting("QAP", "problem --input_format=qaplib"),
    setting("experts", "experts.csv --experts=16 --machine=2:2 --distance_parameter_string=1:10"),
];

const TRIALS_OF_VIEM: &[Trial] = &[
    trial("input_format", "metis"),
    HIERARCHY.only(FINE),
    Trial { value: "4:1", ..HIERARCHY }.only(COARSE),
    trial("distance_parameter_string", "2:30"),
    trial("machine", "2:16").only(FINE),
    trial("machine", "4:1").only(COARSE),
    trial("pes", "0-15").only(FINE),
    trial("pes", "3,2,1,0").only(COARSE),
    trial("pe", "thread"),
    trial("pu", ""),
    trial("latency", "latencies"),
    trial("link_cycles", "graph"),
    trial("imbalance", "40"),
    trial("least_load", "90"),
    trial("pe_weights", "weights"),
    trial("seed", "7"),
    trial("preconfiguration_mapping", "fast"),
    trial("construction_algorithm", "random"),
    trial("construction_algorithm", "linear"),
    trial("coordinates", "points").beside("--construction_algorithm=rcb"),
    trial("coordinate_ids", "yes").beside("--construction_algorithm=rcb --coordinates=numbered"),
    trial("distance_construction_algorithm", "hierarchyonline"),
    trial("local_search_neighborhood", "nsquare"),
    trial("local_search_neighborhood", "none").only("one-to-one workload remapping QAP"),
    trial("local_search_neighborhood", "none").beside("--construction_algorithm=linear"),
    trial("communication_neighborhood_dist", "3"),
    trial("search_space_s", "8"),
    trial("input_mapping", "start").only("one-to-one workload"),
    trial("input_mapping", "old").only(COARSE),
    trial("input_mapping", "start_of_problem").only("QAP"),
    trial("fixed", "fixed"),
    trial("first_host", "rank0"),
    trial("keep", "3"),
    trial("objective", "mixed"),
    trial("secondary", "busiest_link"),
    trial("secondary_excess", "5").beside("--secondary=busiest_link"),
    trial("time_limit", "0.05"),
    trial("target", "1"),
    trial("output_filename", "other"),
    trial("output_format", "sln"),
    trial("threads", "2"),
    trial("verify", ""),
    trial("launch", "plain:ranks"),
    trial("goal", "job.goal,renamed.goal"),
    trial("picture", "picture.svg"),
    trial("quiet", ""),
    trial("json", "other"),
    trial("remap_from", "other_old").beside("--migration_weight=1").only(ON_GRAPHS),
    trial("remap_from", "other.json").beside("--migration_weight=1").only("experts"),
    trial("migration_weight", "5").beside("--remap_from=old").only(ON_GRAPHS),
    trial("migration_weight", "5").beside("--remap_from=other.json").only("experts"),
    trial("remap_left", "3").beside(REMAPPED),
    trial("parents", "parents").beside(REMAPPED),
    trial("curve", "").beside(REMAPPED),
    trial("experts", "20").only("experts"),
    trial("read_as", "loads").beside("open.csv").replaces("experts.csv").only("experts"),
    trial("token_bytes", "2048").only("experts"),
    trial("replicas", "4").only("experts"),
    trial("send_cycles", "5"),
    trial("receive_cycles", "5"),
    trial("sharing", "fair"),
    trial("latency_cycles", "7").beside("--sharing=fair"),
    trial("tasks_per_pe", "2"),
    trial("judge", "estimate"),
];

#[test]
fn viem_applies_or_rejects_every_option_in_every_mode() {
    check("viem", &VIEM, TRIALS_OF_VIEM);
}

const EVALUATOR: [Setting; 5] = [
    setting("one-to-one", "graph --machine=4:8 --distance_parameter_string=1:10 --input_mapping=start"),
    setting("many-to-one", "graph --machine=2:2 --distance_parameter_string=1:10 --input_mapping=old"),
    setting("workload", "workload --machine=4:4 --distance_parameter_string=1:10 --input_mapping=start"),
    setting("QAP", "problem --input_format=qaplib --input_mapping=start_of_problem"),
    setting(
        "experts",
        "experts.csv --experts=16 --machine=2:2 --distance_parameter_string=1:10 --input_mapping=placement.json",
    ),
];

const TRIALS_OF_EVALUATOR: &[Trial] = &[
    trial("input_format", "metis"),
    trial("input_mapping", "changed").only("one-to-one workload"),
    trial("input_mapping", "other_old").only("many-to-one"),
    trial("input_mapping", "other_of_problem").only("QAP"),
    trial("input_mapping", "other.json").only("experts"),
    trial("remap_from", "other.json").only("experts"),
    trial("compare", "block"),
    trial("picture", "picture.svg").only("one-to-one many-to-one QAP"),
    trial("picture", "picture.svg").beside("--simulate"),
    HIERARCHY.only(FINE),
    Trial { value: "4:1", ..HIERARCHY }.only(COARSE),
    trial("distance_parameter_string", "2:30"),
    trial("machine", "2:16").only(FINE),
    trial("machine", "4:1").only(COARSE),
    trial("pes", "0-15").only(FINE),
    trial("pes", "3,2,1,0").only(COARSE),
    trial("pe", "thread"),
    trial("pu", ""),
    trial("latency", "latencies"),
    trial("link_cycles", "graph"),
    trial("imbalance", "40"),
    trial("least_load", "90"),
    trial("pe_weights", "weights"),
    trial("quiet", ""),
    trial("json", "other"),
    trial("send_cycles", "5"),
    trial("receive_cycles", "5"),
    trial("sharing", "fair").beside("--simulate"),
    trial("latency_cycles", "7").beside("--simulate --sharing=fair"),
    // Of another number the trace is none.
    trial("experts", "016").replaces("--experts=16").only("experts"),
    trial("read_as", "loads").beside("open.csv").replaces("experts.csv").only("experts"),
    trial("token_bytes", "2048").only("experts"),
    trial("simulate", ""),
    trial("trace", "trace").beside("--simulate"),
];

#[test]
fn evaluator_applies_or_rejects_every_option_in_every_mode() {
    check("evaluator", &EVALUATOR, TRIALS_OF_EVALUATOR);
}

const GENERATE_MODEL: [Setting; 10] = [
    setting("partition", "graph --k=4"),
    setting("index", "graph --k=4 --index=order"),
    setting("repartition", "graph --k=4 --remap_from=old --migration_weight=1"),
    setting("many-to-one", "graph --machine=2:2 --distance_parameter_string=1:10"),
    setting(
        "remapping",
        "graph --machine=2:2 --distance_parameter_string=1:10 --remap_from=old --migration_weight=1",
    ),
    setting("traffic", "traffic.csv"),
    setting("order", "order.0 order.1"),
    setting("workload", "workload"),
    setting("generator", "--generate=random:16"),
    setting("training", JOB),
];

const TRIALS_OF_GENERATE_MODEL: &[Trial] = &[
    trial("k", "5"),
    trial("speeds", "1,2,1,2"),
    trial("algorithm", "linear"),
    trial("coordinates", "points").beside("--algorithm=rcb"),
    trial("coordinate_ids", "yes").beside("--algorithm=rcb --coordinates=numbered"),
    trial("coordinates", "points").beside("--picture=picture.svg"),
    trial("grouping", "binpacking").beside("--algorithm=rsb"),
    trial("write_index", "written"),
    trial("index", "other_order"),
    trial("picture", "picture.svg").beside("--coordinates=points"),
    trial("machine", "4:2").beside("--distance_parameter_string=1:10"),
    trial("distance_parameter_string", "2:30").beside("--machine=2:2"),
    trial("pes", "3,2,1,0").beside("--machine=2:2 --distance_parameter_string=1:10"),
    trial("pe_weights", "weights").beside("--machine=2:2 --distance_parameter_string=1:10"),
    trial("fixed", "fixed"),
    trial("seed", "7"),
    trial("preconfiguration", "fast"),
    trial("imbalance", "40"),
    trial("least_load", "90"),
    trial("output_filename", "other"),
    trial("mapping_filename", "blocks"),
    trial("threads", "2"),
    trial("verify", ""),
    trial("quiet", ""),
    trial("json", "other"),
    trial("remap_from", "other_old").beside("--migration_weight=1"),
    trial("migration_weight", "5").beside("--remap_from=old"),
    trial("remap_left", "3").beside(REMAPPED),
    trial("parents", "parents").beside(REMAPPED),
    trial("curve", "").beside(REMAPPED),
    trial("from", "edges"),
    trial("from", "mtx")
        .beside("pattern.mtx")
        .replaces("graph traffic.csv")
        .only("partition many-to-one traffic"),
    trial("sizes", "each").beside("sizes.csv").replaces("traffic.csv").only("traffic"),
    trial("sizes", "each").only("partition many-to-one workload"),
    trial("nics", "2").beside("job.goal").replaces("traffic.csv").only("traffic"),
    trial("nics", "2").only("partition many-to-one workload"),
    trial("renumber", "ids"),
    trial("weight", "msgs"),
    trial("include", "E"),
    // Edge lists have no classes.
    trial("include", "E").beside("recorded.prof").replaces("traffic.csv").only("traffic"),
    trial("top", "50%"),
    trial("ranks", "40"),
    trial("first_rank", "0"),
    trial("flit_bytes", "100").only("partition many-to-one traffic order workload generator"),
    trial("flit_bytes", "100").beside("--workload").only("training"),
    trial("workload", "").beside("job.goal").replaces("order.0 order.1").only("order"),
    trial("workload", "").only("partition many-to-one traffic workload generator training"),
    trial("generate", "mesh:4x4"),
    trial("rounds", "5").beside("--generate=random:16"),
    trial("flits", "3").beside("--generate=random:16"),
    trial("cycles", "9").beside("--generate=random:16"),
    trial("shuffle", "").beside("--generate=random:16"),
    trial("parallel", "tp:4,dp:4").beside("--model=layers=4,hidden=8,sequence=16,microbatches=2"),
    trial("order", "tp,cp,ep,pp,dp").beside(JOB),
    trial("overlap", "pipeline,data").beside(JOB_AS_WORKLOAD),
    trial("model", "layers=2,hidden=8,sequence=16,microbatches=2").beside("--parallel=tp:2,dp:4,pp:2"),
];

#[test]
fn generate_model_applies_or_rejects_every_option_in_every_mode() {
    check("generate_model", &GENERATE_MODEL, TRIALS_OF_GENERATE_MODEL);
}

#[test]
fn graphchecker_applies_every_option() {
    let trials = [
        trial("max_errors", "1"),
        trial("fix", "fixed"),
        trial("quiet", ""),
        trial("convert", "converted").beside("graph").replaces("faulty"),
        trial("format", "parhip32").beside("graph --convert=converted").replaces("faulty"),
    ];
    check("graphchecker", &[setting("check", "faulty")], &trials);
}

fn check(name: &str, settings: &[Setting], trials: &[Trial]) {
    let reference = reference::programs().into_iter().find(|program| program.name == name).unwrap();
    let mut modes: Vec<&str> = settings.iter().map(|setting| setting.mode).collect();
    modes.dedup();
    assert_eq!(modes, reference.modes);
    for option in reference.options.iter().filter(|option| option.is_named) {
        assert!(
            trials.iter().any(|trial| trial.option == option.name),
            "{name}: --{} is not tried",
            option.name
        );
    }
    let (mut faults, mut without) = (Vec::new(), HashMap::new());
    for setting in settings {
        let is_tried = |trial: &&Trial| trial.only.is_empty() || has(trial.only, setting.mode);
        for trial in trials.iter().filter(is_tried) {
            faults.extend(fault(&reference, setting, trial, &mut without));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The error of an option in a mode. Runs without it are kept by their arguments.
fn fault(
    program: &ProgramReference,
    setting: &Setting,
    trial: &Trial,
    runs_without: &mut HashMap<Vec<String>, Outcome>,
) -> Option<String> {
    let option = program.options.iter().find(|option| option.name == trial.option).unwrap();
    let without = arguments(setting, trial, false);
    let with = arguments(setting, trial, true);
    let changed = run(&program.name, &with);
    let what = format!("{} {}: {}", program.name, with.join(" "), changed.message);
    let names = |option: &str| changed.code == Some(2) && changed.message.contains(&format!("--{option}"));
    let is_refused = names(trial.option)
        || trial
            .beside
            .split_whitespace()
            .any(|beside| names(beside.trim_start_matches('-').split('=').next().unwrap()))
        || has(CHOOSING, trial.option) && changed.code == Some(2) && changed.message.contains("--");
    let means_something = has_meaning(option, setting.mode, trial.value);
    let may_be_refused = FOR_SOME_INPUTS.contains(&trial.option) || !trial.beside.is_empty();
    if is_refused {
        let is_right = !means_something || may_be_refused;
        return (!is_right).then(|| format!("refused, though it stands in the table: {what}"));
    }
    let before = runs_without.entry(without).or_insert_with_key(|without| run(&program.name, without));
    if !means_something && !has(CHOOSING, trial.option) {
        return Some(format!("neither refused nor in the table: {what}"));
    }
    if !changed.is_done() {
        return Some(format!("fails: {what}"));
    }
    let is_seen = !before.is_done() || before.results != changed.results;
    (!is_seen && !UNSEEN.contains(&trial.option)).then(|| format!("changes nothing: {what}"))
}

/// Whether a list of words holds one.
fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|other| other == word)
}

fn has_meaning(option: &OptionReference, mode: &str, value: &str) -> bool {
    option.modes.iter().any(|(name, values)| *name == mode && (values.is_empty() || values.contains(&value)))
}

/// The arguments of a run in a mode, with or without an option, and with the arguments it needs.
fn arguments(setting: &Setting, trial: &Trial, with_option: bool) -> Vec<String> {
    let name = |argument: &str| argument.split('=').next().unwrap().to_owned();
    let mut all: Vec<String> = setting.arguments.split(' ').map(str::to_owned).collect();
    let reports = !["json", "quiet", "max_errors", "fix", "convert", "format"].contains(&trial.option);
    all.extend(reports.then(|| "--json=report".to_owned()));
    let own = with_option.then(|| trial.argument());
    for argument in trial.beside.split_whitespace().map(str::to_owned).chain(own) {
        all.retain(|other| name(other) != name(&argument));
        all.push(argument);
    }
    let is_replaced = |argument: &String| {
        let replaces = |other| argument == other || with_option && name(argument) == format!("--{other}");
        trial.replaces.split_whitespace().any(replaces)
    };
    all.retain(|argument| !is_replaced(argument));
    all
}

/// The result of a run.
struct Outcome {
    code: Option<i32>,
    message: String,
    /// The output and all files, without times.
    results: BTreeMap<String, String>,
}

impl Outcome {
    /// Whether the program has succeeded: the graphs checked here are faulty.
    fn is_done(&self) -> bool {
        matches!(self.code, Some(0 | 65))
            && (self.code == Some(0) || self.message.starts_with("graphchecker"))
    }
}

fn run(name: &str, arguments: &[String]) -> Outcome {
    let folder = Folder::new();
    fill(&folder);
    // One weight for each processing element of the machine.
    let is_on = |machine: &str| arguments.iter().any(|argument| argument.contains(machine));
    let num_pes = [("4:8", 32), ("4:4", 16)].into_iter().find(|(machine, _)| is_on(machine));
    folder.write_lines("weights", (0..num_pes.map_or(4, |found| found.1)).map(|pe| 1 + pe % 2));
    let output = program(name, folder.path()).args(arguments).output().unwrap();
    let files = names(folder.path()).into_iter().map(|name| (folder.bytes(&name), name));
    let results = files
        .chain([(output.stdout, "stdout".to_owned())])
        .map(|(text, name)| (name, without_times(&String::from_utf8_lossy(&text))))
        .collect();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    Outcome { code: output.status.code(), message, results }
}

/// A text, or a report, without values that differ from run to run.
fn without_times(text: &str) -> String {
    if let Ok(mut report @ Value::Object(_)) = serde_json::from_str::<Value>(text) {
        forget_times(&mut report);
        return report.to_string();
    }
    let is_time = |line: &&str| ["time: ", " took ", "time spent"].iter().any(|word| line.contains(word));
    text.lines().filter(|line| !is_time(line)).collect::<Vec<_>>().join("\n")
}

fn forget_times(report: &mut Value) {
    if let Value::Object(members) = report {
        members.remove("seconds");
        members.remove("memory");
        members.values_mut().for_each(forget_times);
    }
}

/// Writes the files used by the settings and trials.
fn fill(folder: &Folder) {
    const N: usize = 16;
    let lines = |name: &str, line: &dyn Fn(usize) -> usize| folder.write_lines(name, (0..N).map(line));
    let all = |line: &dyn Fn(usize) -> String| (0..N).map(line).collect::<String>();
    // A ring with chords: vertex v is adjacent to v + 1 and v + 5.
    let neighbours = |v: usize| [(v + 1) % N, (v + N - 1) % N, (v + 5) % N, (v + N - 5) % N];
    let row = |v: usize| neighbours(v).map(|u| format!("{} {}", u + 1, 1 + (u + v) % 7)).join(" ") + "\n";
    folder.write("graph", format!("{N} {} 1\n{}", 2 * N, all(&row)));
    folder.write("faulty", "3 1\n2 3\n1\n\n");
    lines("old", &|v| v / 4);
    lines("other_old", &|v| v % 4);
    lines("parents", &|v| v);
    lines("start", &|v| v);
    folder.write("fixed", "3 1\n");
    lines("changed", &|v| N - 1 - v);
    lines("order", &|v| (v * 3) % N);
    lines("other_order", &|v| (v * 5) % N);
    let sent = |v: usize| {
        let [next, second] = [(v + 1) % N, (v + 2) % N];
        let sent = format!("E\t{v}\t{next}\t{} bytes\t2 msgs sent\t0,2\n", 80 + v);
        sent + &format!("I\t{v}\t{second}\t8 bytes\t1 msgs sent\t0,1\n")
    };
    folder.write("recorded.prof", format!("# POINT TO POINT\n{}", all(&sent)));
    folder.write_lines("points", (0..N).map(|v| format!("{} {}", v % 4, v / 4)));
    folder.write_lines("numbered", (0..N).map(|v| format!("{v} {} {}", v % 4, v / 4)));
    folder.write("sizes.csv", "sender,receiver,size,count\n0,1,8,1000\n1,2,64,10\n");
    let entries: String = (1..N).map(|v| format!("{} {v} 1\n", v + 1)).collect();
    let header = "%%MatrixMarket matrix coordinate real symmetric";
    folder.write("pattern.mtx", format!("{header}\n{N} {N} {}\n{entries}", N - 1));
    folder.write("latencies", "0 1\n1 0\n");
    folder.write("order.0", "viem_order 1\nrank 0 of 2\nssend 1 5 6400\nwait 1 6\nend 2\n");
    folder.write("order.1", "viem_order 1\nrank 1 of 2\nrecv 0 5\nsend 0 6 1000\nend 2\n");
    let block = |v: usize| format!("rank {v} {{\nsend 8b to {}\n}}\n", (v + 1) % N);
    folder.write("job.goal", format!("num_ranks {N}\n{}", all(&block)));
    let flow = |v: usize| format!("{},{},{},{}\n", v + 1, (v + 1) % N + 1, 100 + v, 1 + v % 3);
    folder.write("traffic.csv", format!("source,target,weight,messages\n{}", all(&flow)));
    let matrix = |seed: usize| {
        let entry = |i: usize, j: usize| if i == j { 0 } else { 1 + (seed * i * j + i + j) % 9 };
        (0..8)
            .map(|i| (0..8).map(|j| entry(i, j).to_string()).collect::<Vec<_>>().join(" ") + "\n")
            .collect::<String>()
    };
    let experts = |v: usize| [v % N, (v * v + 8) % N, (v * 5 + 3) % N];
    let is_token = |v: &usize| matches!(experts(*v), [a, b, c] if a != b && b != c && a != c);
    let token = |v: usize| format!("{} {}", v % 2, experts(v).map(|expert| expert.to_string()).join(" "));
    folder.write_lines("experts.csv", (0..200).filter(is_token).map(token));
    // Tokens with two experts, or loads of experts.
    folder.write_lines("open.csv", (0..2 * N).map(|v| format!("{},{},{}", v / N, v % N, (v + 5) % N)));
    let layer = |step: usize| format!("{:?}", (0..N).map(|v| (v * step) % N).collect::<Vec<_>>());
    for (name, first, second) in [("placement.json", 1, 3), ("other.json", 5, 7)] {
        let layers = format!("[{}, {}]", layer(first), layer(second));
        folder.write(name, format!("{{\"physical_to_logical_map\": {layers}}}"));
    }
    folder.write("problem", format!("8\n\n{}\n{}", matrix(3), matrix(5)));
    folder.write_lines("start_of_problem", 0..8);
    folder.write_lines("other_of_problem", (0..8).rev());
    folder.stdout("generate_model --generate=random:16 --rounds=3 --quiet -o workload");
}
