//! The programs of VieM: scripts written for them run unchanged.

use crate::common::{Folder, after, given, names, says};

/// A machine of 64 PEs, as VieM has it.
const MACHINE: &str = "--hierarchy_parameter_string=4:4:4 --distance_parameter_string=1:10:100";

const SPHERE: &str = "openfoam_sphere_64.msgs.graph";

/// J that a program printed.
fn objective(text: &str) -> i64 {
    after(text, "quadratic assignment objective J(C,D,Pi') = ").parse().unwrap()
}

#[test]
fn scripts_find_the_lines_of_viem() {
    let folder = Folder::new();
    let graph = given(SPHERE);
    let text = folder.stdout(format!("viem {graph} {MACHINE}"));
    says(&text, ["model has 64 nodes, 1172 edges", "specified hierarchy has 64 entities."]);
    let constructed: i64 = after(&text, "J(C,D,Pi) = ").parse().unwrap();
    for seconds in ["io time: ", "construction took ", "local search took ", "time spent for mapping "] {
        assert!(after(&text, seconds).parse::<f64>().unwrap() >= 0.0);
    }
    assert!(objective(&text) <= constructed);
    for name in ["input_mapping", "input"] {
        let score = folder.stdout(format!("evaluator {graph} --{name}=permutation {MACHINE}"));
        assert_eq!(objective(&score), objective(&text));
    }
    // The verb does the same.
    folder.stdout(format!("viem map {graph} -m 4:4:4 -d 1:10:100 -o verb --quiet"));
    assert_eq!(folder.read("verb"), folder.read("permutation"));
}

/// Packages have one file under all names.
#[cfg(unix)]
#[test]
fn the_program_knows_by_which_name_it_is_called() {
    let folder = Folder::new();
    let viem = assert_cmd::cargo::cargo_bin("viem");
    for program in ["evaluator", "generate_model", "graphchecker"] {
        let link = folder.path().join(program);
        std::os::unix::fs::symlink(&viem, &link).unwrap();
        let printed = std::process::Command::new(link).arg("--version").output().unwrap();
        let expected = format!("{program} {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(String::from_utf8_lossy(&printed.stdout), expected);
    }
}

#[test]
fn the_version_has_details_for_reports_of_faults() {
    let folder = Folder::new();
    assert_eq!(folder.stdout("viem --version"), format!("viem {}\n", env!("CARGO_PKG_VERSION")));
    for verbose in ["viem --version --verbose", "viem -v -V"] {
        let text = folder.stdout(verbose);
        says(&text, [concat!("viem ", env!("CARGO_PKG_VERSION")), "threads:", "vectors:", "programs found:"]);
    }
}

/// The commands of VieM's user guide, with a graph of ours.
#[test]
fn every_command_of_the_manual_of_viem_runs() {
    let folder = Folder::new();
    folder.copy("mesh_64x48.graph", "grid");
    let machine = "--hierarchy_parameter_string=4:8:8 --distance_parameter_string=1:10:100";
    says(&folder.stdout("graphchecker grid"), ["The graph format seems correct."]);
    for preset in ["strong", "eco", "fast", "fastsocial", "ecosocial", "strongsocial"] {
        let model = format!("--k=256 --seed=0 --preconfiguration={preset} --imbalance=3");
        let text = folder.stdout(format!("generate_model grid {model} --output_filename=model"));
        says(
            &text,
            ["graph has 3072 nodes and 17986 edges", "performing partitioning!", "model has 256 nodes"],
        );
    }
    folder.stdout("generate_model grid --k=4");
    assert_eq!(names(folder.path()), ["grid", "model", "model.graph"], "the model and nothing else");
    let mapped = |more: &str| objective(&folder.stdout(format!("viem model {machine} {more}")));
    let constructions = "random identity growing hierarchybottomup hierarchytopdown";
    for construction in constructions.split(' ') {
        mapped(&format!("--preconfiguration_mapping=fast --construction_algorithm={construction}"));
    }
    for kind in ["hierarchy", "hierarchyonline"] {
        mapped(&format!("--preconfiguration_mapping=fast --distance_construction_algorithm={kind}"));
    }
    for neighbourhood in ["nsquare", "nsquarepruned", "communication"] {
        let search = format!("--local_search_neighborhood={neighbourhood}");
        mapped(&format!(
            "--preconfiguration_mapping=fast {search} --communication_neighborhood_dist=10 --search_space_s=64"
        ));
    }
    let cost = mapped("--seed=1 --preconfiguration_mapping=eco --output_filename=mapping");
    let scored = folder.stdout(format!("evaluator model {machine} --input_mapping=mapping"));
    assert_eq!(objective(&scored), cost);
}

#[test]
fn prefixes_of_options_work_if_they_fit_one_option_only() {
    let folder = Folder::new();
    let model = given("openfoam_sphere_16.msgs.graph");
    folder.stdout(format!("viem {model} --hier 4:4 --distance_p=1:10 --prec=fast --output=short"));
    assert!(folder.has("short"));
    folder.fails(format!("viem {model} --hierarchy=4:4 --distance=1:10"), 2, "");
}

#[test]
fn abbreviated_options_are_accepted_with_a_warning() {
    let folder = Folder::new();
    let graph = given(SPHERE);
    assert_eq!(
        folder.stderr(format!("viem {graph} {MACHINE} --prec=fast --see=1")),
        "warning: --prec is taken for --preconfiguration_mapping, --see is taken for --seed; scripts should give the names of options in full\n"
    );
    assert_eq!(folder.stderr(format!("viem {graph} {MACHINE} --seed=1")), "");
}

/// What VieM never had is only in the verbs, and the programs say which these are.
#[test]
fn the_programs_have_the_options_of_viem_and_no_others() {
    let folder = Folder::new();
    folder.copy("mesh_64x48.graph", "grid");
    for (program, verb) in [
        ("viem grid", "map"),
        ("evaluator", "score"),
        ("generate_model", "partition"),
        ("graphchecker", "check"),
    ] {
        let name = program.split(' ').next().unwrap();
        let arguments = if name == "viem" { "--hier 1 --help" } else { "--help" };
        says(&folder.stdout(format!("{program} {arguments}")), [format!("This is `viem {verb}`")]);
        folder.fails(format!("{program} --json=report --hier 1"), 2, "there is no option --json");
        // What is missing is called as VieM calls it.
        if name != "graphchecker" {
            let missing = if name == "generate_model" { "--k" } else { "--hierarchy_parameter_string" };
            folder.fails(format!("{name} grid"), 2, missing);
        }
        if name != "viem" {
            let version = folder.stdout(format!("{name} --version"));
            assert_eq!(version.trim(), format!("{name} {}", env!("CARGO_PKG_VERSION")));
            folder.fails(name, 2, "");
        }
    }
    folder.fails(
        "viem mpa graph",
        2,
        "there is no verb `mpa`, and no file of that name; did you mean `viem map`?",
    );
    folder.fails("viem qqqqqq graph", 2, "no file of that name (viem --help lists the verbs)");
}
