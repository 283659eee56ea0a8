//! The inputs of the benchmarks: options, and tables of the results of peers.

#[path = "../../benches/common/mod.rs"]
mod common;

use common::{Options, changed, columns, geometric_mean, number_in};
use viem::mapping::construct::Construction;
use viem::solve::{MapPreset, OneToOneConfig};

fn parse<T>(line: &str, read: impl FnOnce(&mut Options) -> Result<T, String>) -> Result<T, String> {
    Options::parse(line.split_whitespace().map(String::from), read)
}

#[test]
fn settings_are_changed_by_name() {
    let default = OneToOneConfig::preset(MapPreset::Eco);
    let changed = |key: &str, value: &str| changed(&default, &[(key.to_string(), value.to_string())]);
    let mut expected = default;
    expected.improvement.anywhere.cooling.initial_acceptance = 0.5;
    assert_eq!(changed("improvement.anywhere.cooling.initial_acceptance", "0.5"), Ok(expected));
    let expected = default.with_construction(Construction::Growing);
    assert_eq!(changed("construction.algorithm", "growing"), Ok(expected));
    assert_eq!(changed("search.hops", "3"), Err("no setting is called `search.hops`".to_string()));
    assert!(changed("search.max_hops", "many").unwrap_err().starts_with("`search.max_hops=many`: "));
    assert!(changed("construction.algorithm", "grow").unwrap_err().contains("no construction is called"));
}

#[test]
fn values_lists_members_words_and_settings_are_read() {
    let line = "--bench seeds=3 k=2,8 preset=fast,eco table flow.rounds=4 balance.slack=0.1";
    let read = parse(line, |options| {
        let presets = options.members("preset", &MapPreset::ALL, MapPreset::name, &[])?;
        let (seeds, k) = (options.value("seeds", 1u64)?, options.list("k", vec![0usize])?);
        Ok((presets, seeds, k, options.word("table")?, options.settings()?))
    });
    let settings = vec![("flow.rounds".to_string(), 4.0), ("balance.slack".to_string(), 0.1)];
    assert_eq!(read, Ok((vec![MapPreset::Fast, MapPreset::Eco], 3, vec![2, 8], true, settings)));
}

#[test]
fn options_not_given_have_defaults() {
    let read = parse("", |options| {
        let presets = options.members("preset", &MapPreset::ALL, MapPreset::name, &[MapPreset::Eco])?;
        let (seeds, k) = (options.value("seeds", 1)?, options.list("k", vec![4])?);
        Ok((presets, seeds, k, options.optional::<u64>("only")?, options.word("table")?))
    });
    assert_eq!(read, Ok((vec![MapPreset::Eco], 1, vec![4], None, false)));
}

#[test]
fn invalid_options_are_rejected_by_name() {
    let refused = |line| {
        let read = parse(line, |options| {
            options.members("preset", &MapPreset::ALL, MapPreset::name, &[])?;
            options.list("k", vec![1usize])?;
            Ok((options.value("seeds", 1u64)?, options.word("table")?))
        });
        read.unwrap_err()
    };
    assert_eq!(refused("sede=3"), "no option is called `sede`; there are preset, k, seeds, table");
    assert_eq!(
        refused("flow.rounds=3"),
        "no option is called `flow.rounds`; there are preset, k, seeds, table"
    );
    assert_eq!(refused("seeds=two"), "`seeds=two`: invalid digit found in string");
    assert_eq!(refused("k=2,,8"), "`k=`: cannot parse integer from empty string");
    assert_eq!(refused("seeds"), "`seeds` has no value; give `seeds=…`");
    assert_eq!(refused("table=yes"), "`table=yes`: `table` stands alone");
    assert_eq!(refused("seeds=1 seeds=2"), "`seeds` is given twice");
    assert_eq!(refused("preset=magic"), "`preset=magic`: the values are strong, eco, fast");
}

#[test]
fn columns_are_found_by_heading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("peers.tsv");
    std::fs::write(&path, "model\ttool\tJ\na\tscotch\t12\n\nb\tscotch\t-\n").unwrap();
    let rows = columns(path.to_str().unwrap(), ["J", "model"]);
    assert_eq!(rows, [["12", "a"], ["-", "b"]].map(|row| row.map(String::from)));
    let costs: Vec<_> = rows.iter().map(|[cost, _]| number_in(cost)).collect();
    assert_eq!(costs, [Some(12.0), None]);
    assert!((geometric_mean(&[2.0, 8.0]) - 4.0).abs() < 1e-12);
}
