//! Settings: ranges, names, and round trips.

use std::fmt::Debug;
use std::str::FromStr;
use std::time::Duration;

use viem::machine::{DistanceKind, Grid, Hierarchy};
use viem::mapping::construct::Construction;
use viem::mapping::search::Neighbourhood;
use viem::partition::PartitionPreset;
use viem::solve::{Config, MapPreset};

/// A member of a family is found by its name, and by no other name.
fn check_names<T: Copy + Debug + PartialEq + FromStr<Err: Debug + ToString> + ToString>(all: &[T]) {
    for member in all {
        assert_eq!(member.to_string().parse::<T>().unwrap(), *member);
    }
    let message = "nowhere".parse::<T>().unwrap_err().to_string();
    assert!(message.contains("is called `nowhere`; there are"), "{message}");
    assert!(all.iter().all(|member| message.contains(&member.to_string())), "{message}");
}

#[test]
fn members_are_found_by_name() {
    check_names(&Construction::ALL);
    check_names(&Neighbourhood::ALL);
    check_names(&MapPreset::ALL);
    check_names(&PartitionPreset::ALL);
    check_names(&DistanceKind::ALL);
}

#[test]
fn settings_survive_a_round_trip() {
    for preset in MapPreset::ALL {
        let config = Config::preset(preset)
            .with_seed(u64::MAX)
            .with_distances(DistanceKind::Stored)
            .with_construction(Construction::Growing)
            .with_neighbourhood(Neighbourhood::NSquarePruned)
            .with_time_limit(Duration::from_millis(1500));
        for config in [config, Config::preset(preset)] {
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config, "{text}");
        }
    }
    let unknown = r#"{"neighbourhood": "nsquare", "max_hops": 1, "block_size": 1, "hops": 3}"#;
    assert!(serde_json::from_str::<viem::mapping::search::SearchConfig>(unknown).is_err());
}

/// The error message for these settings if they are invalid.
fn complaint(change: impl Fn(&mut Config)) -> Option<(String, String)> {
    let mut config = Config::default();
    change(&mut config);
    config.validate().err().map(|error| {
        assert!(error.to_string().contains(&error.field) && error.to_string().contains(&error.value));
        (error.field, error.value)
    })
}

#[test]
fn presets_are_valid() {
    for preset in MapPreset::ALL {
        assert_eq!(Config::preset(preset).validate(), Ok(()));
    }
}

/// Asserts that the error names a setting, if it is out of range, and the value that it has.
macro_rules! complains {
    ($($field:ident).+ = $value:expr) => {{
        let named = (stringify!($($field).+).replace(' ', ""), $value.to_string());
        assert_eq!(complaint(|config| config.$($field).+ = $value), Some(named));
    }};
}

#[test]
fn settings_out_of_range_are_named() {
    complains!(threads = 0);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        complains!(one_to_one.improvement.inside.initial_temperature = bad);
        complains!(one_to_one.improvement.annealing.final_temperature = bad);
        complains!(one_to_one.improvement.rebuilt.initial_temperature = bad);
        complains!(one_to_one.construction.domains.initial_acceptance = bad);
        complains!(one_to_one.improvement.anywhere.cooling.final_acceptance = bad);
    }
    assert_eq!(complaint(|config| config.one_to_one.construction.domains.final_acceptance = 1.0), None);
    complains!(one_to_one.improvement.anywhere.rounds = 0);
    complains!(one_to_one.construction.multilevel.tries = 0);
    complains!(one_to_one.construction.multilevel.cooling.final_acceptance = 2.0);
}

#[test]
fn numbers_that_a_neighbourhood_does_not_use_may_be_anything() {
    let with = |neighbourhood| {
        complaint(move |c| {
            c.one_to_one.search.neighbourhood = neighbourhood;
            (c.one_to_one.search.max_hops, c.one_to_one.search.block_size) = (0, 0);
        })
    };
    assert_eq!(with(Neighbourhood::Communication).unwrap().0, "one_to_one.search.max_hops");
    assert_eq!(with(Neighbourhood::NSquarePruned).unwrap().0, "one_to_one.search.block_size");
    assert_eq!(with(Neighbourhood::NSquare), None);
    assert_eq!(with(Neighbourhood::None), None);
}

#[test]
fn effective_settings_are_those_that_decide_the_result() {
    let tree = Hierarchy::parse("2:2", "1:10").unwrap();
    let torus = Grid::torus(&[2, 2]).unwrap();
    let config = Config::default();
    let of = |config: &Config| config.one_to_one.effective_on(&tree);
    assert_eq!(of(&config).construction.algorithm, Some(Construction::HierarchyTopDown));
    assert_eq!(config.one_to_one.effective_on(&torus).construction.algorithm, Some(Construction::Multilevel));
    let large = Grid::torus(&[17, 241]).unwrap();
    assert_eq!(
        config.one_to_one.effective_on(&large).construction.algorithm,
        Some(Construction::DualRecursive)
    );
    assert_eq!(of(&config.with_threads(8).with_distances(DistanceKind::Stored)), of(&config));
    assert_ne!(of(&config.with_neighbourhood(Neighbourhood::None)), of(&config));
}
