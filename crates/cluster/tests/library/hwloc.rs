//! Nodes described by hwloc, compared with the output of hwloc's own programs for the same files.
//!
//! Skipped if `lstopo` and `hwloc-calc` are not installed. `VIEM_HWLOC` may name a folder with further XML
//! files; files of version 3 are presented to older programs as version 2.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use viem::base::types::{Distance, PeId};
use viem::machine::{Machine, Nodes};
use viem_cluster::{MachineSpec, PeKind};

use crate::table;

/// The output of a program, if it runs and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn lstopo() -> Option<&'static str> {
    let found = ["lstopo-no-graphics", "lstopo"]
        .into_iter()
        .find(|program| output(program, &["--version"]).is_some());
    let found = found.filter(|_| output("hwloc-calc", &["--version"]).is_some());
    if found.is_none() {
        eprintln!("hwloc is not installed, so this test is skipped (apt-get install hwloc)");
    }
    found
}

/// Numbers that `hwloc-calc` prints with commas between them.
fn calc(file: &str, arguments: &[&str]) -> Vec<u32> {
    let all = [&["-i", file], arguments].concat();
    let text = output("hwloc-calc", &all).unwrap_or_default();
    text.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// Compares cores, PUs, and their membership in parts. `shown` is the version of `file` given to the hwloc
/// programs.
fn compare(file: &Path, shown: &Path) {
    let (spec, shown) = (format!("hwloc:{}", file.display()), shown.to_str().unwrap());
    let name = file.display();
    let build = |pe| viem_cluster::build_wanted(&MachineSpec::new(&spec).with_pe(pe)).unwrap();
    let pus = calc(shown, &["-I", "pu", "--po", "all"]);
    assert!(!pus.is_empty(), "hwloc-calc does not read {name}");
    let threads = build(PeKind::Thread);
    let threads = Nodes::of(&threads);
    let found: Vec<u32> =
        (0..threads.num_pes() as PeId).flat_map(|pe| threads.site(pe).cpus.to_vec()).collect();
    assert_eq!(found, pus, "{name}: PUs in order");
    let machine = build(PeKind::Core);
    let nodes = Nodes::of(&machine);
    let cores = calc(shown, &["-I", "core", "all"]);
    let is_plain = cores.is_empty();
    assert_eq!(nodes.num_pes(), if is_plain { pus.len() } else { cores.len() }, "{name}");
    for &core in &cores {
        let mut own = calc(shown, &["-I", "pu", "--po", &format!("core:{core}")]);
        own.sort_unstable();
        assert_eq!(nodes.site(core).cpus, own, "{name}: core {core}");
    }
    check_parts(machine.as_ref(), &nodes, shown, &format!("{name}"));
}

/// Each part that hwloc knows is a ball: its PEs are nearer to each other than to any PE outside.
fn check_parts(machine: &dyn Machine, nodes: &Nodes, shown: &str, name: &str) {
    let distances = table(machine);
    let pes = 0..nodes.num_pes();
    for kind in ["package", "numanode", "die", "l3cache", "group0", "group1"] {
        for (index, _) in calc(shown, &["-I", kind, "all"]).into_iter().enumerate() {
            let part = format!("{kind}:{index}");
            let own = calc(shown, &["-I", "pu", "--po", &part]);
            let is_in: Vec<bool> =
                pes.clone().map(|pe| own.contains(&nodes.site(pe as PeId).cpus[0])).collect();
            let pairs = pes.clone().flat_map(|p| pes.clone().map(move |q| (p, q))).filter(|&(p, _)| is_in[p]);
            let (inside, outside): (Vec<_>, Vec<_>) = pairs.partition(|&(_, q)| is_in[q]);
            let farthest = inside.into_iter().map(|(p, q)| distances[p][q]).max().unwrap_or(0);
            let nearest = outside.into_iter().map(|(p, q)| distances[p][q]).min().unwrap_or(Distance::MAX);
            assert!(farthest < nearest, "{name}: {part}");
            if kind == "package" {
                let packages: Vec<u32> =
                    pes.clone().filter(|&pe| is_in[pe]).map(|pe| nodes.site(pe as PeId).package()).collect();
                assert!(packages.iter().all(|&package| package == packages[0]), "{name}: {part}");
                let numbers: Vec<u32> = pes
                    .clone()
                    .filter(|&pe| is_in[pe])
                    .map(|pe| nodes.site(pe as PeId).cores[0].first)
                    .collect();
                assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>(), "{name}: {part}");
            }
        }
    }
}

const SYNTHETIC: [&str; 7] = [
    "pack:2 numa:4 core:16 pu:1",
    "numa:2 pack:2 l3:2 core:3 pu:2",
    "group:2 pack:2 core:2 pu:2",
    "pack:1 core:1 pu:1",
    "pack:3 die:2 l3:1 core:2 pu:3",
    "numa:4 pu:3",
    "core:5 pu:2",
];

#[test]
fn synthetic_machines_are_read_as_by_hwloc() {
    let Some(lstopo) = lstopo() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (index, line) in SYNTHETIC.into_iter().enumerate() {
        for (version, more) in [("2", &[][..]), ("1", &["--export-xml-flags", "v1"][..])] {
            let file = folder.path().join(format!("{index}.{version}.xml"));
            let file_name = file.to_str().unwrap();
            let arguments = [&["-i", line, "--of", "xml"], more, &["-f", file_name]].concat();
            if output(lstopo, &arguments).is_none() || !file.exists() {
                assert_eq!(version, "1", "{line}: lstopo cannot write it");
                continue;
            }
            compare(&file, &file);
        }
        // The line itself is the same machine.
        let spec = format!("hwloc:{line}");
        let machine = viem_cluster::build(&spec, None).unwrap();
        let file = folder.path().join(format!("{index}.2.xml"));
        let of_file = viem_cluster::build(&format!("hwloc:{}", file.display()), None).unwrap();
        assert_eq!(machine.describe(), of_file.describe(), "{line}");
        assert_eq!(Nodes::of(&machine), Nodes::of(&of_file), "{line}");
    }
}

#[test]
fn parts_of_machines_are_read_as_by_hwloc() {
    let Some(lstopo) = lstopo() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cuts = ["0x0fff", "0xf0f00f", "0x1", "0x00ff00ff", "0x3c3c3c3c"];
    for (index, cut) in cuts.into_iter().enumerate() {
        let file = folder.path().join(format!("{index}.xml"));
        let line = "pack:2 numa:2 l3:2 core:2 pu:2";
        let arguments = ["-i", line, "--restrict", cut, "--of", "xml", "-f", file.to_str().unwrap()];
        if output(lstopo, &arguments).is_some() {
            compare(&file, &file);
        }
    }
}

#[test]
fn files_of_a_folder_are_read_as_by_hwloc() {
    let (Some(_), Some(folder)) = (lstopo(), std::env::var_os("VIEM_HWLOC")) else { return };
    let copies = tempfile::tempdir().unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "xml")) {
        let text = fs::read_to_string(file)
            .unwrap()
            .replace("<topology version=\"3.0\"", "<topology version=\"2.0\"");
        let copy = copies.path().join("copy.xml");
        fs::write(&copy, text).unwrap();
        eprintln!("{}", file.display());
        compare(file, &copy);
    }
}
