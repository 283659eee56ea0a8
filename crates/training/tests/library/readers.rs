//! Properties of all readers, for those of this package.

use viem_training::{expert_trace, experts};

use crate::reader::{Reader, check, reader};

fn all() -> Vec<Reader> {
    vec![
        reader(
            "model of a training job",
            "layers = 8\nhidden = 64\nsequence = 128\nmicrobatches = 4\n",
            viem_training::jobs::text::read,
        )
        .numbers_from(None),
        reader("trace of experts", "0 1 2\n1 3 0\n10 2 3\n", |source| experts::text::read_routing(source, 4))
            .numbers_from(0)
            .with_separators(),
        reader("pairs of experts", "9 2 0\n2 5 10\n0 10 7\n", |source| {
            experts::text::read_routing(source, 3)
        })
        .with_separators(),
        reader("copies of experts", "1 2 10\n1 1 1\n", expert_trace::read_copies).with_separators(),
        reader(
            "placement of experts",
            "{\"physical_to_logical_map\": [\n[0, 2, 1],\n[2, 0, 1]\n]}\n",
            |source| experts::text::read_placement(source, 3),
        )
        .numbers_from(None),
    ]
}

#[test]
fn spellings_encodings_and_damage_are_treated_alike() {
    check(&all());
}
