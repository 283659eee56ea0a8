//! Any two texts as hierarchy and distances: online and stored distances agree with the definition.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::base::types::PeId;
use viem::machine::{DistanceOracle, Hierarchy, StoredDistances};

fuzz_target!(|input: (&str, &str, PeId, PeId)| {
    let (arities, distances, p, q) = input;
    let hierarchy = match Hierarchy::parse(arities, distances) {
        Ok(hierarchy) => hierarchy,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let n = hierarchy.num_pes();
    assert_eq!(n as u128, hierarchy.arities().iter().map(|&a| u128::from(a)).product::<u128>());
    let (p, q) = (p % n as PeId, q % n as PeId);
    let expected = hierarchy.level(p, q).map_or(0, |level| hierarchy.distances()[level]);
    assert!(expected <= hierarchy.max_distance());
    assert_eq!(hierarchy.online64().distance(p, q), expected);
    if let Some(oracle) = hierarchy.online32() {
        assert_eq!(oracle.distance(p, q), expected);
    }
    if n <= 256 {
        let oracle = StoredDistances::new(&hierarchy).expect("64 KiB are free");
        assert_eq!(oracle.distance(p, q), expected);
    }
});
