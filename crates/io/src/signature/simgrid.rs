//! Actions of time-independent traces of SimGrid.

use crate::table::{Fields, is_blank, number_at_end};

/// Actions that send nothing.
pub const QUIET: [&str; 23] = [
    "init",
    "finalize",
    "comm_size",
    "comm_split",
    "comm_dup",
    "compute",
    "sleep",
    "location",
    "recv",
    "irecv",
    "test",
    "testall",
    "testany",
    "testsome",
    "wait",
    "waitall",
    "waitany",
    "waitsome",
    "barrier",
    "probe",
    "iprobe",
    "getparams",
    "cancel",
];

/// Actions that send to one rank.
pub const SENDS: [&str; 8] = ["send", "isend", "ssend", "issend", "bsend", "ibsend", "rsend", "irsend"];

/// Collectives. Their variants with counts for each rank end in `v`.
const COLLECTIVES: [&str; 8] =
    ["bcast", "reduce", "allreduce", "alltoall", "gather", "allgather", "scatter", "reducescatter"];

/// Actions that move something which is not counted.
pub const UNCOUNTED: [&str; 2] = ["scan", "exscan"];

/// A collective without the letters before and behind its name, and whether it has a count for each rank.
pub fn collective(name: &str) -> Option<(&'static str, bool)> {
    let name = name.strip_prefix('i').filter(|name| *name != "nit").unwrap_or(name);
    let find = |name: &str| COLLECTIVES.into_iter().find(|known| *known == name);
    match find(name) {
        Some(known) => Some((known, known == "reducescatter")),
        None => find(name.strip_suffix('v')?).map(|known| (known, true)),
    }
}

fn is_action(name: &str) -> bool {
    QUIET.contains(&name) || SENDS.contains(&name) || UNCOUNTED.contains(&name) || collective(name).is_some()
}

/// Returns whether the first line is of a rank and an action.
pub(super) fn is_certain(start: &[u8]) -> bool {
    let lines = start.split(|&byte| byte == b'\n').map(|line| Fields::new(0, line, is_blank));
    let first = lines
        .filter_map(|mut fields| Some((fields.next()?, fields.next())))
        .find(|(rank, _)| !rank.text.starts_with(b"#"));
    let Some((rank, Some(action))) = first else { return false };
    let action = String::from_utf8_lossy(action.text).to_ascii_lowercase();
    number_at_end(rank.text).is_some() && is_action(&action)
}
