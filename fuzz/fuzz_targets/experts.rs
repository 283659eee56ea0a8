//! Any bytes as a trace of experts, as numbers of copies and as a placement: an error, or a placement whose cost is that of a score from
//! scratch. The first byte is the number of experts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem_io::Source;
use viem_training::experts::{ExpertConfig, ExpertCopies, ExpertRequest, score_experts, text};

fn source(bytes: &[u8]) -> Source<'_> {
    Source::new("fuzz", bytes).expect("bytes can be read")
}

fn checked<T>(result: Result<T, impl std::fmt::Display>) -> Option<T> {
    result.map_err(|error| assert!(!error.to_string().is_empty())).ok()
}

fuzz_target!(|input: &[u8]| {
    let Some((&experts, bytes)) = input.split_first() else { return };
    let experts = u32::from(experts % 17);
    checked(text::read_placement(source(bytes), experts));
    let Some(routing) = checked(text::read_routing(source(bytes), experts)) else { return };
    if routing.num_layers() > 8 {
        return;
    }
    checked(text::read_copies(source(bytes), &routing));
    let machine = viem_cluster::build("2:2", "1:10").expect("few PEs");
    let replicas = (experts as usize).next_multiple_of(4) - experts as usize;
    let Some(copies) = checked(ExpertCopies::replicated(&routing, replicas)) else { return };
    let mut config = ExpertConfig::default();
    config.proposals = 20;
    let Some(found) = checked(ExpertRequest::new(&routing, &copies, &machine).solve(&config)) else { return };
    assert_eq!(found.placement.copies(), copies);
    let mut written = Vec::new();
    text::write_placement(&mut written, &found.placement).expect("memory can be written");
    let read = text::read_placement(source(&written), experts).expect("it was written");
    let score = score_experts(&routing, &read, &machine).expect("it was scored");
    assert_eq!(score, found.score);
});
