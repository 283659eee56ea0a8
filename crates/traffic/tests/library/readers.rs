//! What all readers share, for those of this package.

use viem_io::ReadError;
use viem_traffic::{Collector, Format, TrafficConfig};

use crate::reader::{Reader, check, reader};

fn traffic(name: &'static str, text: &str) -> Reader {
    reader(name, text, move |source| {
        let mut collector = Collector::new(None);
        collector.read(source, Format::ALL.into_iter().find(|format| format.name() == name))?;
        let finished = collector.finish(&TrafficConfig::default());
        Ok::<_, ReadError>(finished.map(|(graph, summary)| (graph, summary.classes)))
    })
}

fn all() -> Vec<Reader> {
    vec![
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

#[test]
fn spellings_encodings_and_damage_are_treated_alike() {
    check(&all());
}
