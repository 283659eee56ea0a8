//! Every option of every verb has an effect; help, completions and manual pages. Also the page of the guide that lists all options.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use serde_json::Value;
use viem_cli::reference::{self, CommandReference};

use crate::common::{Folder, names, program, says};

/// If set in the environment, the page of the guide is rewritten; .ci/generate sets it.
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
        "run .ci/generate, and look at the changes"
    );
    // The whole story is here and on the terminal.
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let explained = in_one_line(&Folder::new().stdout("viem help map"));
    for text in [
        "also a rankfile, a rank order of Cray MPICH",
        "busiest_node: the traffic that leaves the busiest node",
    ] {
        says(&in_one_line(&page), [text]);
        says(&explained, [text]);
    }
}

/// The trial of an option of a verb.
struct Trial {
    option: &'static str,
    value: &'static str,
    /// Additional arguments that it needs.
    beside: &'static str,
    /// The arguments of the verb, if they are not the usual ones.
    instead: &'static str,
}

const fn trial(option: &'static str, value: &'static str) -> Trial {
    Trial { option, value, beside: "", instead: "" }
}

impl Trial {
    const fn beside(self, beside: &'static str) -> Self {
        Self { beside, ..self }
    }

    const fn instead(self, instead: &'static str) -> Self {
        Self { instead, ..self }
    }
}

/// Options that change the way to a result but not the result, or that state what is evident from the input anyway.
const UNSEEN: [&str; 4] = ["threads", "distance-construction", "from", "verbose"];

const MANY: &str = "graph --machine=2:2 --distances=1:10";
const CLUSTER: &str = "graph --machine=hosts:hosts,node=2:4";
const NETWORK: &str = "graph --machine=network";
/// A previous mapping to few PEs, or partition into few blocks.
const ONTO: &str = "graph old --machine=2:2 --distances=1:10 --migration-weight=1";
const ON_CLUSTER: &str = "graph old --machine=hosts:hosts,node=2:2 --migration-weight=1 --imbalance=20";
const ON_NETWORK: &str = "graph old --machine=network --pes=0-3 --migration-weight=1";

const MAP: &[Trial] = &[
    trial("machine", "2:16"),
    trial("distances", "2:30"),
    trial("pes", "0-15"),
    trial("pe", "thread").instead(CLUSTER),
    trial("latencies", "latencies").instead(CLUSTER),
    trial("link-cycles", "cycles").instead(NETWORK),
    trial("initial", "start"),
    trial("preset", "fast"),
    trial("time-limit", "0.05"),
    trial("seed", "7"),
    trial("threads", "2"),
    trial("construction", "random"),
    trial("construction", "linear").instead(MANY),
    trial("coordinates", "points").beside("--construction=rcb"),
    trial("coordinate-ids", "yes").beside("--construction=rcb --coordinates=numbered"),
    trial("neighbourhood", "nsquare"),
    trial("neighbourhood", "none").beside("--construction=linear").instead(MANY),
    trial("max-hops", "3"),
    trial("interval", "8"),
    trial("distance-construction", "hierarchyonline"),
    trial("objective", "mixed"),
    trial("excess", "5").beside("--objective=bottleneck"),
    trial("imbalance", "40").instead(MANY),
    trial("least-load", "90").instead(MANY),
    trial("least-loads", "least").instead(MANY),
    trial("capacities", "1,2,1,2").instead(MANY),
    trial("node-capacity", "5,1000").instead(MANY),
    trial("connected", "").instead(MANY),
    trial("one-to-one", "").beside("--node-capacity=1000"),
    trial("fixed", "fixed"),
    trial("common", "1").instead("mesh --machine=2:2 --distances=1:10 --imbalance=20"),
    trial("nodal", "").instead("mesh --machine=2:2 --distances=1:10 --imbalance=20"),
    trial("element-weights", "triangle=5").instead("mesh --machine=2:2 --distances=1:10 --imbalance=20"),
    trial("first-host", "rank0"),
    trial("together", "3"),
    trial("output", "other"),
    trial("model", "model").instead(MANY),
    trial("launch", "plain:ranks"),
    trial("goal", "job.goal,renamed.goal"),
    trial("picture", "picture.svg"),
    trial("verify", ""),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const REMAP: &[Trial] = &[
    trial("migration-weight", "0.5"),
    trial("removed", "1"),
    trial("removed", "1").instead(ONTO),
    trial("parents", "parents"),
    trial("curve", ""),
    trial("curve", "").instead(ONTO),
    trial("blocks", "5"),
    trial("from", "mtx").instead("pattern.mtx old --blocks=4 --migration-weight=1"),
    trial("machine", "4:1").instead(ONTO),
    trial("distances", "2:30").instead(ONTO),
    trial("pes", "3,2,1,0").instead(ONTO),
    trial("pe", "thread").instead(ON_CLUSTER),
    trial("latencies", "latencies").instead(ON_CLUSTER),
    trial("link-cycles", "cycles").instead(ON_NETWORK),
    trial("imbalance", "40"),
    trial("least-load", "90"),
    trial("least-loads", "least"),
    trial("least-loads", "least").instead(ONTO),
    trial("capacities", "1,2,1,2"),
    trial("capacities", "weights").instead(ONTO),
    trial("node-capacity", "5,1000").instead(ONTO),
    trial("fixed", "fixed"),
    trial("common", "1").instead("mesh old --blocks=4 --migration-weight=1"),
    trial("nodal", "").instead("mesh old --blocks=4 --migration-weight=1"),
    trial("element-weights", "triangle=5").instead("mesh old --blocks=4 --migration-weight=1"),
    trial("preset", "fast"),
    trial("time-limit", "0.05"),
    trial("time-limit", "0.05").instead(ONTO),
    trial("seed", "7"),
    trial("threads", "2"),
    trial("output", "other"),
    trial("picture", "picture.svg").beside("--coordinates=points"),
    trial("picture", "picture.svg").instead(ONTO),
    trial("coordinates", "points").beside("--picture=picture.svg"),
    trial("coordinate-ids", "yes").beside("--picture=picture.svg --coordinates=numbered"),
    trial("model", "model"),
    trial("verify", ""),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const SCORE: &[Trial] = &[
    trial("machine", "2:16"),
    trial("distances", "2:30"),
    trial("pes", "0-15"),
    trial("pe", "thread").instead("graph start --machine=hosts:hosts,node=2:4"),
    trial("latencies", "latencies").instead("graph start --machine=hosts:hosts,node=2:4"),
    trial("link-cycles", "cycles").instead("graph start --machine=network"),
    trial("imbalance", "40").instead("graph old --machine=2:2 --distances=1:10"),
    trial("least-load", "90").instead("graph old --machine=2:2 --distances=1:10"),
    trial("least-loads", "least").instead("graph old --machine=2:2 --distances=1:10"),
    trial("capacities", "weights").instead("graph old --machine=2:2 --distances=1:10"),
    trial("node-capacity", "5,1000").instead("graph old --machine=2:2 --distances=1:10"),
    trial("common", "1").instead("mesh old --machine=2:2 --distances=1:10 --imbalance=20"),
    trial("nodal", "").instead("mesh old --machine=2:2 --distances=1:10 --imbalance=20"),
    trial("element-weights", "triangle=5").instead("mesh old --machine=2:2 --distances=1:10 --imbalance=20"),
    trial("compare", "block"),
    trial("simulate", ""),
    trial("sharing", "fair").beside("--simulate"),
    trial("latency-cycles", "7").beside("--simulate --sharing=fair"),
    trial("trace", "trace").beside("--simulate"),
    trial("picture", "picture.svg"),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const PARTITION: &[Trial] = &[
    trial("from", "mtx").instead("pattern.mtx --blocks=4"),
    trial("blocks", "5"),
    trial("capacities", "1,2,1,2"),
    trial("preset", "fast"),
    trial("seed", "7"),
    trial("threads", "2"),
    trial("imbalance", "40"),
    trial("least-load", "90"),
    trial("least-loads", "least"),
    trial("connected", ""),
    trial("common", "1").instead("mesh --blocks=2"),
    trial("nodal", "").instead("mesh --blocks=2"),
    trial("element-weights", "triangle=5").instead("mesh --blocks=2"),
    trial("fixed", "fixed"),
    trial("algorithm", "linear"),
    trial("coordinates", "points").beside("--algorithm=rcb"),
    trial("coordinate-ids", "yes").beside("--algorithm=rcb --coordinates=numbered"),
    trial("grouping", "binpacking").beside("--algorithm=rsb"),
    trial("write-index", "written"),
    trial("index", "other_order"),
    trial("output", "other"),
    trial("model", "model"),
    trial("picture", "picture.svg").beside("--coordinates=points"),
    trial("verify", ""),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const CHECK: &[Trial] = &[
    trial("max-errors", "1"),
    trial("fix", "fixed"),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const CONVERT: &[Trial] = &[
    trial("from", "mtx").instead("pattern.mtx --output=converted"),
    trial("output", "other").instead("graph"),
    trial("format", "parhip32"),
    trial("common", "1").instead("mesh --output=converted"),
    trial("nodal", "").instead("mesh --output=converted"),
    trial("element-weights", "triangle=5").instead("mesh --output=converted"),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const PATTERN: &str = "--pattern=random:16";

const TRAFFIC: &[Trial] = &[
    trial("from", "edges"),
    trial("weight", "msgs"),
    trial("sizes", "each").instead("sizes.csv"),
    trial("include", "E").instead("recorded.prof"),
    trial("top", "50%"),
    trial("ranks", "40"),
    trial("first-rank", "0"),
    trial("nics", "2").instead("job.goal"),
    trial("renumber", "ids"),
    trial("workload", "").instead("job.goal"),
    trial("flit-bytes", "100").beside("--workload").instead("order.0 order.1"),
    trial("pattern", "mesh:4x4").instead("--workload"),
    trial("rounds", "5").instead(PATTERN),
    trial("flits", "3").instead(PATTERN),
    trial("cycles", "9").beside("--workload").instead(PATTERN),
    trial("shuffle", "").instead(PATTERN),
    trial("seed", "3").beside("--shuffle").instead(PATTERN),
    trial("output", "other"),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const TRAINING: &[Trial] = &[
    trial("parallel", "tp:4,dp:4"),
    trial("model", "layers=2,hidden=8,sequence=16,microbatches=2"),
    trial("order", "tp,cp,ep,pp,dp"),
    trial("workload", ""),
    trial("flit-bytes", "100").beside("--workload"),
    trial("overlap", "pipeline,data").beside("--workload"),
    trial("output", "other"),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const SCORED_EXPERTS: &str = "experts.csv --experts=16 --machine=2:2 --distances=1:10 --score=placement.json";

const EXPERTS: &[Trial] = &[
    trial("experts", "20"),
    trial("read-as", "loads").instead("open.csv --experts=16 --machine=2:2 --distances=1:10"),
    trial("token-bytes", "2048"),
    trial("machine", "4:1"),
    trial("distances", "2:30"),
    trial("pes", "3,2,1,0"),
    trial("pe", "thread").instead("experts.csv --experts=16 --machine=hosts:hosts,node=2:1"),
    trial("latencies", "latencies").instead("experts.csv --experts=16 --machine=hosts:hosts,node=2:1"),
    trial("link-cycles", "cycles").instead("experts.csv --experts=16 --machine=network"),
    trial("score", "placement.json"),
    trial("replicas", "4"),
    trial("imbalance", "40"),
    trial("preset", "fast"),
    trial("time-limit", "0.05"),
    trial("seed", "7"),
    trial("threads", "2"),
    trial("previous", "other.json").instead(SCORED_EXPERTS),
    trial("migration-weight", "5").beside("--previous=other.json"),
    trial("output", "other"),
    trial("verify", ""),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const SIMULATED: &str = "workload --machine=4:4 --distances=1:10 --score=start";

const SIMULATE: &[Trial] = &[
    trial("machine", "2:8"),
    trial("distances", "2:30"),
    trial("pes", "4-19").instead("workload --machine=mesh:4x5"),
    trial("pe", "thread").instead("workload --machine=hosts:hosts,node=2:4"),
    trial("latencies", "latencies").instead("workload --machine=hosts:hosts,node=2:4"),
    trial("link-cycles", "cycles").instead("workload --machine=network"),
    trial("score", "start"),
    trial("compare", "block").instead(SIMULATED),
    trial("send-cycles", "5"),
    trial("receive-cycles", "5"),
    trial("sharing", "fair"),
    trial("latency-cycles", "7").beside("--sharing=fair"),
    trial("trace", "trace").instead(SIMULATED),
    trial("initial", "start"),
    trial("preset", "fast"),
    trial("time-limit", "0.05"),
    trial("seed", "7"),
    trial("threads", "2"),
    trial("criterion", "estimate"),
    trial("construction", "random"),
    trial("neighbourhood", "nsquare"),
    trial("max-hops", "3"),
    trial("interval", "8"),
    trial("tasks-per-pe", "2"),
    trial("output", "other"),
    trial("launch", "plain:ranks"),
    trial("picture", "picture.svg"),
    trial("verify", ""),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const QAP: &[Trial] = &[
    trial("score", "start_of_problem"),
    trial("initial", "start_of_problem"),
    trial("preset", "fast"),
    trial("time-limit", "0.05"),
    trial("seed", "7"),
    trial("threads", "2"),
    trial("target", "100000"),
    trial("fixed", "fixed"),
    trial("output", "other"),
    trial("format", "sln"),
    trial("verify", ""),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

const MACHINE: &[Trial] = &[
    trial("distances", "2:30"),
    trial("pes", "0-3"),
    trial("pe", "thread").instead("hosts:hosts,node=2:4"),
    trial("latencies", "latencies").instead("hosts:hosts,node=2:4"),
    trial("link-cycles", "cycles").instead("network"),
    trial("picture", "machine.svg"),
    trial("scotch", "machine.tgt"),
    trial("hwloc", "machine.txt"),
    trial("matrix", "machine.matrix"),
    trial("json", "other"),
    trial("quiet", ""),
    trial("verbose", ""),
];

/// The verbs, the usual arguments of each, and its trials.
const VERBS: [(&str, &str, &[Trial]); 12] = [
    ("map", "graph --machine=4:8 --distances=1:10", MAP),
    ("partition", "graph --blocks=4", PARTITION),
    ("remap", "graph old --blocks=4 --migration-weight=1", REMAP),
    ("score", "graph start --machine=4:8 --distances=1:10", SCORE),
    ("check", "faulty", CHECK),
    ("convert", "graph --output=converted", CONVERT),
    ("traffic", "traffic.csv", TRAFFIC),
    ("training", "--parallel=tp:2,dp:4,pp:2 --model=layers=4,hidden=8,sequence=16,microbatches=2", TRAINING),
    ("experts", "experts.csv --experts=16 --machine=2:2 --distances=1:10", EXPERTS),
    ("simulate", "workload --machine=4:4 --distances=1:10", SIMULATE),
    ("qap", "problem", QAP),
    ("machine", "4:8 --distances=1:10", MACHINE),
];

#[test]
fn every_option_of_every_verb_is_tried_and_has_an_effect() {
    let (mut faults, mut without) = (Vec::new(), HashMap::new());
    for (verb, reference) in VERBS.iter().zip(reference::verbs()) {
        let &(name, usual, trials) = verb;
        assert_eq!(reference.name, format!("viem {name}"));
        check_complete(&reference, trials);
        faults.extend(trials.iter().filter_map(|trial| fault((name, usual), trial, &mut without)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn check_complete(verb: &CommandReference, trials: &[Trial]) {
    for option in verb.options.iter().filter(|option| option.is_named) {
        let is_tried = trials.iter().any(|trial| trial.option == option.name);
        assert!(is_tried, "{}: --{} is not tried", verb.name, option.name);
    }
}

/// The error of an option of a verb. Runs without it are kept by their arguments.
fn fault(
    (verb, usual): (&str, &str),
    trial: &Trial,
    runs_without: &mut HashMap<Vec<String>, Outcome>,
) -> Option<String> {
    let usual = if trial.instead.is_empty() { usual } else { trial.instead };
    let argument = match trial.value {
        "" => format!("--{}", trial.option),
        value => format!("--{}={value}", trial.option),
    };
    // Where there are two cores, two threads are what is taken without the option.
    let one_thread = (trial.option == "threads").then_some("--threads=1");
    let without = arguments((verb, usual), trial, one_thread);
    let with = arguments((verb, usual), trial, Some(&argument));
    let changed = run(&with);
    let what = format!("viem {}: {}", with.join(" "), changed.message);
    if !changed.is_done() {
        return Some(format!("fails: {what}"));
    }
    let before = runs_without.entry(without).or_insert_with_key(|without| run(without));
    let is_seen = !before.is_done() || before.results != changed.results;
    if trial.option == "threads" {
        return is_seen.then(|| format!("is not the same with one thread: {what}"));
    }
    (!is_seen && !UNSEEN.contains(&trial.option)).then(|| format!("changes nothing: {what}"))
}

/// The arguments of a run, with or without an option, and with the arguments that it needs.
fn arguments((verb, usual): (&str, &str), trial: &Trial, own: Option<&str>) -> Vec<String> {
    let name = |argument: &str| argument.split('=').next().unwrap().to_owned();
    let mut all: Vec<String> = vec![verb.to_owned()];
    all.extend(usual.split(' ').map(str::to_owned));
    let reports = !["json", "quiet", "verbose"].contains(&trial.option);
    all.extend(reports.then(|| "--json=report".to_owned()));
    for argument in trial.beside.split_whitespace().chain(own) {
        all.retain(|other| name(other) != name(argument));
        all.push(argument.to_owned());
    }
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
    /// Whether the program has succeeded: a graph that is checked here is faulty.
    fn is_done(&self) -> bool {
        self.code == Some(0) || self.code == Some(65) && self.message.starts_with("viem check")
    }
}

fn run(arguments: &[String]) -> Outcome {
    let folder = Folder::new();
    fill(&folder);
    let output = program("viem", folder.path()).args(arguments).output().unwrap();
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
    // A closed strip of triangles, with as many nodes.
    folder.write(
        "mesh",
        format!("{N}\n{}", all(&|v| format!("{} {} {}\n", v % N + 1, (v + 1) % N + 1, (v + 2) % N + 1))),
    );
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
    folder.stdout("viem traffic --pattern=random:16 --rounds=3 --workload --quiet -o workload");
    folder.write_lines("weights", (0..4).map(|pe| 1 + pe % 2));
    folder.write_lines("least", [0, 1, 2, 3]);
    folder.write_lines("hosts", ["n1", "n2"]);
    // Two routers with eight PEs each.
    let network = |between: u32| {
        let router = |other: usize, first: usize| {
            let pes = (0..8).map(|pe| format!(" {} 1", first + pe)).collect::<String>();
            format!("0 {other} {between}{pes}\n")
        };
        let pes = |router: usize| format!("1 {router} 1\n").repeat(8);
        format!("18 17 11\n{}{}{}{}", router(2, 3), router(1, 11), pes(1), pes(2))
    };
    folder.write("network", network(40));
    folder.write("cycles", network(3));
}

/// The lines that fit a screen, of 100 columns where output is no terminal.
const SCREEN: usize = 60;

#[test]
fn help_fits_a_screen_and_has_examples_that_name_the_verb() {
    let folder = Folder::new();
    let names = VERBS.map(|(name, ..)| format!("viem {name}"));
    for name in names.iter().map(String::as_str).chain(["viem"]) {
        for help in ["-h", "--help"] {
            let text = folder.stdout(format!("{name} {help}"));
            let lines = text.lines().count();
            assert!(lines <= SCREEN, "{name} {help} has {lines} lines");
            says(&text, ["Usage: ", "Examples:", &format!("  {name} ")]);
        }
    }
    folder.fails("viem", 2, "Usage: viem");
    let version = folder.stdout("viem --version");
    assert_eq!(version.trim(), format!("viem {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_lists_every_option_and_its_default_in_two_lines_at_most() {
    let folder = Folder::new();
    for verb in reference::verbs() {
        let listed = folder.stdout(format!("{} --help", verb.name));
        let explained = folder.stdout(verb.name.replacen("viem", "viem help", 1));
        says(&explained, ["Exit codes: 0 done", "Examples:"]);
        for option in verb.options.iter().filter(|option| option.is_named) {
            let entry =
                entry_of(&listed, &option.name).unwrap_or_else(|| panic!("{} of {}", option.name, verb.name));
            assert!(entry.len() <= 2, "{}: {entry:?}", verb.name);
            if !option.default.is_empty() {
                let shown = entry.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
                says(&shown, [format!("[default: {}]", option.default)]);
            }
            assert!(entry_of(&explained, &option.name).is_some(), "{} of {}", option.name, verb.name);
        }
    }
}

/// The lines of a help text about an option.
fn entry_of<'a>(help: &'a str, option: &str) -> Option<Vec<&'a str>> {
    let begins =
        |line: &str| line.trim_start().starts_with('-') || !line.starts_with(' ') || line.trim().is_empty();
    let is_own = |line: &str| {
        let words = line.trim_start().split([' ', ',', '[', '=']);
        begins(line) && words.take(3).any(|word| word.strip_prefix("--") == Some(option))
    };
    let lines: Vec<&str> = help.lines().collect();
    let first = lines.iter().position(|line| is_own(line))?;
    let more = lines[first + 1..].iter().take_while(|line| !begins(line)).count();
    Some(lines[first..=first + more].to_vec())
}

#[test]
fn wrong_arguments_are_named_in_plain_words() {
    let folder = Folder::new();
    for (line, expected) in [
        ("map graph -m 4:4 -i many", "--imbalance <PERCENT> is a number, not `many`"),
        ("partition graph -k 4x", "--blocks <INT> is a whole number, not `4x`"),
        (
            "traffic graph --ranks=99999999999999999999",
            "is a whole number that fits 64 bits, not `99999999999999999999`",
        ),
        ("score graph start -k 4", "there is no option -k (--help lists them all)"),
        ("partition graph 16 -k 4", "`16` is one argument too many (--help lists them all)"),
        (
            "map graph -m 4:4 -d 1:10 --capacities=1,2",
            "--capacities=1,2 is not a list of a number from 1 for each of 16 PEs",
        ),
        ("machine 4:4", "needs 2 distances, innermost first, such as 1:10; none are given (--distances)"),
    ] {
        folder.fails(format!("viem {line}"), 2, expected);
    }
    let asked = folder.stdout("viem machine -m 4:4 -d 1:10");
    assert_eq!(asked, folder.stdout("viem machine 4:4 -d 1:10"));
    folder.fails("viem machine -d 1:10", 2, "<SPEC>");
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        says(&folder.stdout(format!("viem --completions={shell}")), ["partition", "quiet"]);
    }
    // zsh evaluates the text after a colon, so colons in names of values are escaped.
    let zsh = folder.stdout("viem --completions=zsh");
    for value in ["d1:d2:...", "KIND[:FILE[,FILE]]", "PATTERN:SIZE"] {
        assert!(!zsh.contains(&format!(":{value}:")), "{value}");
    }
    says(&zsh, [r":d1\:d2\:...:"]);
    says(&folder.stdout("viem --man"), [".TH viem 1"]);
    for (name, ..) in VERBS {
        says(&folder.stdout(format!("viem {name} --man")), [&*format!(".TH {name} 1"), r"\fB\-\-quiet\fR"]);
    }
    for wrong in ["--completions=tcsh", "map --man file"] {
        folder.fails(format!("viem {wrong}"), 2, "");
    }
    assert_eq!(names(folder.path()), [""; 0]);
}
