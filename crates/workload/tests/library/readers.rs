//! What all readers share, for those of this package.

use viem_io::ReadError;
use viem_traffic::Recording;
use viem_workload::recorded;

use crate::reader::{Reader, check, reader};

fn all() -> Vec<Reader> {
    vec![
        reader(
            "workload",
            "PROCESS 0 INT_OP 100 SEND 1 16 STOP\nPROCESS 1 RECEIVE 0 16 STOP\n",
            viem_workload::text::read,
        ),
        reader(
            "order",
            "viem_order 1\nrank 0 of 1\nsend 0 7 640\nssend 0 8 65536\nrecv 0 7\nwait 0 8\nsent 0 7\nend 5\n",
            |source| {
                let mut recording = Recording::default();
                recording.read(source)?;
                Ok::<_, ReadError>(recorded::workload(&recording, 64))
            },
        )
        .numbers_from(None),
    ]
}

#[test]
fn spellings_encodings_and_damage_are_treated_alike() {
    check(&all());
}
