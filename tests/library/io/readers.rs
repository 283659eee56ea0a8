//! What all readers share: byte order marks, encodings, line ends, packing, the grammar of numbers, separators; and that a file that is
//! cut off anywhere is read or refused, but nothing else.

use std::fmt::{Debug, Display};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use viem::ground::number_list::ListOf;
use viem::ground::types::{Distance, PeId};
use viem::machine::{DistanceOracle, DistanceVisitor, Machine};
use viem_cluster::files::topology::Topology;
use viem_cluster::nodes::{Cluster, Draft, DraftNode, Unit, regular};
use viem_cluster::{SpecError, files};
use viem_io as io;
use viem_io::coordinates::{self, Ids};
use viem_io::fixed::{self, FixedKind};
use viem_io::metis::{self, NodeWeights};
use viem_io::{ReadError, Source, mapping, number_list, pe_weights, qap_solution};
use viem_launch::placement;
use viem_traffic::{Collector, Format, Recording, TrafficConfig};
use viem_training::{expert_trace, experts};
use viem_workload::recorded;

/// Reads a file and shows what it holds.
type Read = dyn Fn(Source<'_>) -> Result<String, String>;

/// A way to write whole numbers, and its name.
type Spelling = (&'static str, fn(&str) -> String);

/// A reader, a file for it, and what may be written in another way in that.
struct Reader {
    name: &'static str,
    text: String,
    read: Box<Read>,
    /// From which line on whole numbers may have fractions and exponents; none if they stand in words of the format.
    numbers_from: Option<usize>,
    /// Whether commas, semicolons or tabulators may stand between numbers.
    has_separators: bool,
}

fn reader<T: Debug, E: Display>(
    name: &'static str,
    text: impl Into<String>,
    read: impl Fn(Source<'_>) -> Result<T, E> + 'static,
) -> Reader {
    let shown = |value: T| format!("{value:?}");
    let read = move |source: Source<'_>| read(source).map(shown).map_err(|error| error.to_string());
    Reader { name, text: text.into(), read: Box::new(read), numbers_from: Some(0), has_separators: false }
}

impl Reader {
    fn numbers_from(self, line: impl Into<Option<usize>>) -> Self {
        Self { numbers_from: line.into(), ..self }
    }

    fn with_separators(self) -> Self {
        Self { has_separators: true, ..self }
    }

    fn read(&self, bytes: &[u8]) -> Result<String, String> {
        let source = Source::new("test", bytes).map_err(|error| error.to_string());
        source.and_then(|source| (self.read)(source))
    }
}

fn traffic(name: &'static str, text: &str) -> Reader {
    reader(name, text, move |source| {
        let mut collector = Collector::new(None);
        collector.read(source, Format::ALL.into_iter().find(|format| format.name() == name))?;
        let finished = collector.finish(&TrafficConfig::default());
        Ok::<_, ReadError>(finished.map(|(graph, summary)| (graph, summary.classes)))
    })
}

/// All distances, row by row.
struct Table;

impl DistanceVisitor for Table {
    type Output = Vec<Distance>;
    fn visit<O: DistanceOracle>(self, oracle: &O) -> Self::Output {
        let pes = 0..oracle.num_pes() as PeId;
        pes.clone().flat_map(|p| pes.clone().map(move |q| oracle.distance(p, q))).collect()
    }
}

/// A file of a machine: its distances.
fn machine(name: &'static str, text: &str) -> Reader {
    reader(name, text, |source| {
        let machine = viem_cluster::read(source, "test".as_ref())?;
        Ok::<_, SpecError>(machine.distances().expect("it is small").visit(Table))
    })
}

/// A file of a launcher, on two hosts of two cores.
fn placed(name: &'static str, text: &str) -> Reader {
    let num_ranks = if name == "hosts of ranks" || name == "rank order" { 3 } else { 2 };
    let read = move |source: Source<'_>| {
        let hosts = Source::new("hosts", "n1 slots=2\nn2 slots=2\n".as_bytes())?;
        let nodes = files::hostfile::read(hosts)?.into_iter().map(|host| DraftNode::new(Some(host.name), 0));
        let draft = Draft {
            nodes: nodes.collect(),
            insides: vec![regular(&[2])],
            unit: Unit::Core,
            topology: Topology::Flat,
            distances: None,
            latencies: None,
            slurm_job: None,
            notes: Vec::new(),
        };
        let machine = Cluster::new(draft).expect("two nodes alike");
        placement::read(source, num_ranks, &machine, mapping::Room::plain(4), None)
    };
    reader(name, text, read).numbers_from(None)
}

fn all() -> Vec<Reader> {
    let points = |source: Source<'_>| coordinates::read_with(source, 3, Ids::No);
    vec![
        reader("metis", "3 2 11\n4 2 7\n0 1 7 3 8\n6 2 8\n", |source| metis::read(source, NodeWeights::Read)).numbers_from(1),
        reader("check", "2 1 1\n2 7\n1 7\n", |source| metis::check(source, 9).map(|report| report.faults)).numbers_from(1),
        reader("mapping", "2\n0\n1\n", |source| mapping::read(source, 3, mapping::Room::plain(3))),
        reader("partition", "2\n0\n1\n", |source| io::partition::read(source, Some(3))),
        reader("parents", "2\n0\n1\n", |source| io::parents::read(source, 3, 3)),
        reader("index", "2\n0\n1\n", |source| io::index::read(source, 3)),
        reader("pe_weights", "2\n10\n1\n", |source| pe_weights::read(source, 3)),
        reader("speeds", "2\n0\n1000\n", pe_weights::read_speeds),
        reader("points", "0 5 9\n10 6 1\n3 7 2\n", points).with_separators(),
        reader("points with header", "2\n3\n0 5 9\n1 6 1\n2 7 2\n", points),
        reader("points of Matrix Market", "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n", points).numbers_from(2),
        reader("matrix", "0 10 3\n10 0 4\n3 4 0\n", io::matrix::read).with_separators(),
        reader("matrix with n", "3\n0 10 3\n10 0 4\n3 4 0\n", io::matrix::read).with_separators(),
        reader("qaplib", "2\n0 10\n3 0\n5 6\n7 8\n", io::qaplib::read).with_separators(),
        reader("solution", "3 700\n3 1 2\n", |source| qap_solution::read(source, 3)).with_separators(),
        reader("target", "tleaf 2 4 10 2 1\n", io::target::read),
        reader("list", "0-2,4\n7\n", |source| number_list::read(source, ListOf::Pes, 9)).numbers_from(None),
        reader("workload", "PROCESS 0 INT_OP 100 SEND 1 16 STOP\nPROCESS 1 RECEIVE 0 16 STOP\n", viem_workload::text::read),
        reader("hosts", "n1 slots=4\nn2 slots=4\n", files::hostfile::read).numbers_from(None),
        reader("topology", "SwitchName=s0 Nodes=n[1-4]\nSwitchName=s1 Nodes=n[5-8]\nSwitchName=s2 Switches=s[0-1]\n", files::topology::read)
            .numbers_from(None),
        reader("printed topology", "BlockName=b1 BlockIndex=0 Nodes=c[1-2] BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=c[3-4] BlockSize=2\n", files::topology::read)
            .numbers_from(None),
        reader(
            "fabric",
            "vendid=0x2c9\nSwitch\t4 \"S-1\"\t# \"leaf1\" base port 0\n[1]\t\"H-a\"[1](a)\t# \"n1 mlx5_0\" lid 11 4xHDR\n[2]\t\"H-b\"[1]\t# \"n2 mlx5_0\"\n",
            files::topology::read,
        )
        .numbers_from(None),
        reader(
            "topograph",
            "{\n  \"instances\": [\n    {\"id\": \"n1\", \"network_layers\": [\"leaf1\", \"spine\"], \"labels\": {\"accelerator.topograph.run/domain\": \"d\"}},\n    \
             {\"id\": \"n2\", \"network_layers\": [\"leaf2\", \"spine\"]}\n  ]\n}\n",
            files::topology::read,
        )
        .numbers_from(None),
        reader("NUMA distances", "node distances:\nnode   0   1\n  0:  10  21\n  1:  21  10\n", files::numa::read)
            .numbers_from(None),
        reader("likwid-topology", "NUMA domains:\t\t2\nDomain:\t\t\t0\nDistances:\t\t10 21\nDomain:\t\t\t1\nDistances:\t\t21 10\n", files::numa::read)
            .numbers_from(None),
        reader(
            "nvidia-smi topo -m",
            "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\tPIX\t0-31\t0\nGPU1\tNV18\t X \tSYS\t0-31\t0\n",
            files::gpus::read,
        )
        .numbers_from(None),
        reader(
            "rocm-smi --showtopo",
            "==== Weight between two GPUs ====\n       GPU0         GPU1\nGPU0   0            15\nGPU1   15           0\n",
            files::gpus::read,
        )
        .numbers_from(None),
        reader("model of a training job", "layers = 8\nhidden = 64\nsequence = 128\nmicrobatches = 4\n", viem_training::jobs::text::read)
            .numbers_from(None),
        reader(
            "lstopo --distances",
            "Relative latency matrix (name NUMALatency kind 5) between 2 NUMANodes (depth -3) by logical indexes:\n  index     0     1\n\
             \x20     0    10    21\n      1    21    10\n",
            files::numa::read,
        )
        .numbers_from(None),
        reader("trace of experts", "0 1 2\n1 3 0\n10 2 3\n", |source| experts::text::read_routing(source, 4)).numbers_from(0).with_separators(),
        reader("pairs of experts", "9 2 0\n2 5 10\n0 10 7\n", |source| experts::text::read_routing(source, 3)).with_separators(),
        reader("copies of experts", "1 2 10\n1 1 1\n", expert_trace::read_copies).with_separators(),
        reader("placement of experts", "{\"physical_to_logical_map\": [\n[0, 2, 1],\n[2, 0, 1]\n]}\n", |source| {
            experts::text::read_placement(source, 3)
        })
        .numbers_from(None),
        reader("hosts of LSF", "n1 4 n2 4 n3 2\n", files::hostfile::read).numbers_from(None),
        reader("hosts of Grid Engine", "n1.site 4 all.q@n1.site UNDEFINED\nn2.site 4 all.q@n2.site UNDEFINED\n", files::hostfile::read)
            .numbers_from(None),
        reader("addresses", "s0.s1.n1\ns0.s1.n2\ns0.s2.n3\n", files::topology::read).numbers_from(None),
        reader(
            "topology.yaml",
            "---\n- topology: t\n  cluster_default: true\n  tree:\n    switches:\n      - switch: s0\n        nodes: n[1-2]\n\
             \x20     - switch: s1\n        nodes: n[3-4]\n      - switch: s2\n        children: s[0-1]\n",
            files::topology::read,
        )
        .numbers_from(None),
        reader(
            "hwloc",
            "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\">\n\
             <object type=\"Core\" os_index=\"0\"><object type=\"PU\" os_index=\"0\"/></object>\n\
             <object type=\"Core\" os_index=\"1\"><object type=\"PU\" os_index=\"1\"/></object>\n</object>\n</topology>\n",
            files::hwloc::read,
        )
        .numbers_from(None),
        machine("machine: target", "tleaf 2 4 10 2 1\n"),
        machine("machine: network", "3 2 11\n1 2 7\n0 1 7 3 8\n1 2 8\n").numbers_from(1),
        machine("machine: matrix", "0 10 3\n10 0 4\n3 4 0\n").with_separators(),
        machine("machine: matrix with names", "pe a b c\na 0 10 3\nb 10 0 4\nc 3 4 0\n").numbers_from(1).with_separators(),
        reader("fixed processes", "-1\n2\n-1\n", |source| {
            fixed::read(source, 3, mapping::Room::plain(3), FixedKind::Processes)
        }),
        reader("fixed vertices by pairs with names", "vertex part\n0 2\n2 1\n", |source| {
            fixed::read(source, 3, mapping::Room::plain(3), FixedKind::Parts)
        })
        .with_separators(),
        reader("fixed processes by pairs", "0 2\n2 1\n", |source| {
            fixed::read(source, 3, mapping::Room::plain(3), FixedKind::Processes)
        })
        .with_separators(),
        placed("rankfile", "rank 0=n1 slot=0:1\nrank 1=n2 slot=0:0-1\n"),
        placed("hosts of ranks", "n1\nn2\nn1\n"),
        placed("rank order", "0,2\n1-1\n"),
        placed("script of ranks", "#!/bin/sh\n# The host, the GPU and the number of each rank:\nn1 1 0\nn2 0 1\n"),
        placed("pods", "{\"pods\": [\n{\"host\": \"n1\", \"gpus\": [1, 0], \"ranks\": [0, 1]}]}\n"),
        placed("inverse", "1\n-1\n0\n-1\n"),
        reader("latencies", "0 10 3\n10 0 4\n3 4 0\n", files::latency::read).with_separators(),
        traffic("openmpi", "E\t0\t1\t80 bytes\t2 msgs sent\nE\t1\t0\t60 bytes\t1 msgs sent\n"),
        traffic("matrix", "0 10 3\n1000 0 4\n3 4 0\n").with_separators(),
        traffic("edges", "0 1 10\n1 2 300\n2 0 7\n").with_separators(),
        traffic("mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 100\n3 1 5\n").numbers_from(1),
        traffic("scotch", "0\n3 4\n0 010\n1 7 1\n2 7 0 8 2\n1 8 1\n").numbers_from(3),
        traffic("aps", "| Rank --> Rank Time\n0000 --> 0001 1 2 4 5 6\n0001 --> 0000 1 2 4 5 6\n").numbers_from(1),
        traffic("trace", "viem_trace 1\nrank 0 of 2\np2p 1 10 5120\nend 1\n").numbers_from(1),
        traffic(
            "json",
            "{\"nodes\": [{\"id\": 0}, {\"id\": 1}],\n \"links\": [{\"source\": 0, \"target\": 1, \"weight\": 7}]}\n",
        )
        .numbers_from(None),
        traffic(
            "graphml",
            "<?xml version=\"1.0\"?>\n<graphml>\n<key id=\"w\" for=\"edge\" attr.name=\"weight\"/>\n<graph>\n<node id=\"a\"/>\n\
             <node id=\"b\"/>\n<edge source=\"a\" target=\"b\"><data key=\"w\">7</data></edge>\n</graph>\n</graphml>\n",
        )
        .numbers_from(None),
        traffic(
            "nccl",
            "n1:5:6 [0] NCCL INFO comm 0x7 rank 0 nranks 3 cudaDev 0 busId 1000 - Init START\n\
             n1:5:6 [0] NCCL INFO Channel 00/01 :    0   1   2\n\
             n1:5:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 2[0] [send] via NET/IB/0\n",
        )
        .numbers_from(None),
        traffic(
            "goal",
            "num_ranks 3\nrank 0 {\nl1: send 70b to 2 tag 3\ncalc 5\n}\nrank 1 {\nsend 8b to 0\n}\nrank 2 {\nl1: recv 70b from 0\n}\n",
        )
        .numbers_from(None),
        reader("order", "viem_order 1\nrank 0 of 1\nsend 0 7 640\nssend 0 8 65536\nrecv 0 7\nwait 0 8\nsent 0 7\nend 5\n", |source| {
            let mut recording = Recording::default();
            recording.read(source)?;
            Ok::<_, ReadError>(recorded::workload(&recording, 64))
        })
        .numbers_from(None),
        traffic(
            "paje",
            "Container, 0, 0, 0.0, 1.0, 1.0, root\nLink, root, LINK, 0.1, 0.2, 0.1, PTP, rank0, rank1, 0, 800\n",
        )
        .numbers_from(None),
        traffic("simgrid", "0 init\n0 send 1 0 1e6\n1 init\n1 recv 0 0 1e6\n0 bcast 10 0\n1 bcast 10 0\n").numbers_from(None),
        traffic(
            "kineto",
            "{\"schemaVersion\": 1,\n\"distributedInfo\": {\"rank\": 1, \"world_size\": 3},\n\"traceEvents\": [\n\
             {\"name\": \"record_param_comms\", \"args\": {\"Collective name\": \"allreduce\", \"dtype\": \"Float\",\n\
             \"In msg nelems\": 30, \"Out msg nelems\": 30, \"Group size\": 3, \"Process Group Ranks\": \"[0, 1, 2]\"}}\n]}\n",
        )
        .numbers_from(None),
    ]
}

/// Every reader reads these bytes as it reads its text.
fn assert_same(reader: &Reader, how: &str, bytes: &[u8]) {
    let expected = reader.read(reader.text.as_bytes()).unwrap();
    match reader.read(bytes) {
        Ok(read) => assert_eq!(read, expected, "{}: {how}: {}", reader.name, String::from_utf8_lossy(bytes)),
        Err(error) => panic!("{}: {how}: {error} in {}", reader.name, String::from_utf8_lossy(bytes)),
    }
}

fn utf16(text: &str, bytes: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}

#[test]
fn a_text_is_read_in_any_encoding_and_with_any_line_ends() {
    for reader in all() {
        let text = &reader.text;
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(text.as_bytes()).unwrap();
        assert_same(&reader, "gzip", &packer.finish().unwrap());
        let ends =
            [("LF", text.clone()), ("CR LF", text.replace('\n', "\r\n")), ("CR", text.replace('\n', "\r"))];
        for (name, text) in ends.iter().map(|(name, text)| (name, text)) {
            assert_same(&reader, name, text.as_bytes());
            assert_same(&reader, &format!("{name}, no last one"), text.trim_end().as_bytes());
            assert_same(&reader, &format!("{name}, a mark"), format!("\u{feff}{text}").as_bytes());
            assert_same(&reader, &format!("{name}, UTF-16, little"), &utf16(text, u16::to_le_bytes));
            assert_same(&reader, &format!("{name}, UTF-16, big"), &utf16(text, u16::to_be_bytes));
        }
    }
}

/// The text with each whole number from a line on written in another way.
fn respelled(text: &str, from: usize, spell: impl Fn(&str) -> String) -> String {
    let mut respelled = String::new();
    for (line, content) in text.split_inclusive('\n').enumerate() {
        let mut rest = content;
        while let Some(end) = rest.find([' ', '\t', '\n']) {
            let word = &rest[..end];
            let is_number =
                line >= from && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            respelled += &if is_number { spell(word) } else { word.to_owned() };
            respelled.push_str(&rest[end..=end]);
            rest = &rest[end + 1..];
        }
        respelled += rest;
    }
    respelled
}

#[test]
fn numbers_are_what_they_say_however_they_are_spelled() {
    let spellings: [Spelling; 7] = [
        ("a fraction", |word| format!("{word}.0")),
        ("a point", |word| format!("{word}.")),
        ("a plus", |word| format!("+{word}")),
        ("an exponent", |word| format!("{word}e0")),
        ("a negative exponent", |word| format!("{word}00E-2")),
        ("Fortran", |word| format!("{word}.0D+00")),
        ("NumPy", |word| format!("{:.18e}", word.parse::<f64>().unwrap())),
    ];
    for reader in all() {
        let Some(from) = reader.numbers_from else { continue };
        // Rows of that table are the lines that start with a digit.
        let is_spelled = |how: &str| how != "a plus" || reader.name != "aps";
        for (how, spell) in spellings.into_iter().filter(|&(how, _)| is_spelled(how)) {
            assert_same(&reader, how, respelled(&reader.text, from, spell).as_bytes());
        }
        // What is no whole number, or no number, is refused or left out, and never read as another one.
        for word in ["1.5", "1e30", "-7", "0x1", "1,5", "1;5", "1e", ".", "nan"] {
            let broken = respelled(&reader.text, from, |_| word.to_owned());
            if let Ok(read) = reader.read(broken.as_bytes()) {
                assert_ne!(read, reader.read(reader.text.as_bytes()).unwrap(), "{}: {word}", reader.name);
            }
        }
    }
}

#[test]
fn commas_semicolons_and_tabulators_stand_between_numbers() {
    for reader in all().iter().filter(|reader| reader.has_separators) {
        for separator in [",", ", ", " , ", ";", "; ", "\t", "   "] {
            assert_same(reader, separator, reader.text.replace(' ', separator).as_bytes());
        }
        // An empty field of an edge is a fault.
        for separator in [",", ";"].into_iter().filter(|_| reader.name != "edges") {
            let trailing = reader.text.replace(' ', separator).replace('\n', &format!("{separator}\n"));
            assert_same(reader, "a separator at the end of each line", trailing.as_bytes());
        }
    }
}

#[test]
fn a_file_that_is_cut_off_or_damaged_is_read_or_refused() {
    let mut state = 7u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for reader in all() {
        for length in 0..reader.text.len() {
            if let Err(error) = reader.read(&reader.text.as_bytes()[..length]) {
                let names_file = error.starts_with("test") || error.starts_with("machine `test`");
                assert!(names_file, "{}: {error}", reader.name);
            }
        }
        for _ in 0..300 {
            let mut bytes = reader.text.clone().into_bytes();
            for _ in 0..=below(3) {
                let place = below(bytes.len());
                bytes[place] = *b"0129 ,;.\n\r-+e#%\"x\0\xff".get(below(19)).unwrap_or(&b'x');
            }
            let _ = reader.read(&bytes);
            let _ = io::readings(&bytes, true);
        }
    }
}
