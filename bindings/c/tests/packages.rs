//! Files for other build systems: pkg-config, CMake, the static library.

use std::process::Command;

use crate::tools::{expect, folder, has, installed, lib};

#[test]
fn pkg_config_knows_the_library() {
    if !has("pkg-config") {
        return;
    }
    let output = tempfile::tempdir().unwrap();
    let ask = |options: &[&str]| {
        let mut command = Command::new("pkg-config");
        expect(command.env("PKG_CONFIG_PATH", lib().join("pkgconfig")).args(options).arg("viem"))
    };
    assert_eq!(ask(&["--modversion"]).trim(), env!("CARGO_PKG_VERSION"));
    let program = output.path().join("program");
    let mut command = Command::new("cc");
    command
        .arg("-o")
        .arg(&program)
        .arg(folder().join("examples/partition.c"))
        .args(ask(&["--cflags", "--libs"]).split_whitespace());
    expect(&mut command);
    expect(Command::new(program).env("LD_LIBRARY_PATH", lib()));
}

#[test]
fn the_static_library_needs_no_other_file() {
    let output = tempfile::tempdir().unwrap();
    let program = output.path().join("program");
    let mut command = Command::new("cc");
    command.arg("-o").arg(&program).arg(folder().join("examples/partition.c")).arg(lib().join("libviem.a"));
    expect(command.arg("-I").arg(installed().join("include")).args(["-lpthread", "-ldl", "-lm"]));
    expect(&mut Command::new(program));
}

#[test]
fn cmake_finds_the_package() {
    if !has("cmake") {
        return;
    }
    let project = tempfile::tempdir().unwrap();
    let example = folder().join("examples/partition.c");
    let text = format!(
        "cmake_minimum_required(VERSION 3.10)\nproject(example C)\nfind_package(viem 2.0 REQUIRED)\n\
         add_executable(shared {0})\ntarget_link_libraries(shared viem::viem)\n\
         add_executable(static {0})\ntarget_link_libraries(static viem::static)\n",
        example.display()
    );
    std::fs::write(project.path().join("CMakeLists.txt"), text).unwrap();
    let cmake =
        |arguments: &[&str]| expect(Command::new("cmake").current_dir(project.path()).args(arguments));
    cmake(&["-S", ".", "-B", "build", &format!("-DCMAKE_PREFIX_PATH={}", installed().display())]);
    cmake(&["--build", "build"]);
    for program in ["shared", "static"] {
        expect(&mut Command::new(project.path().join("build").join(program)));
    }
}

#[test]
fn the_library_exports_its_interface_and_nothing_else() {
    let names = |file: &str| {
        let text =
            expect(Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(lib().join(file)));
        let mut names: Vec<String> =
            text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
        names.sort();
        names
    };
    let header = std::fs::read_to_string(folder().join("include/viem.h")).unwrap();
    let exported = names("libviem.so");
    for name in &exported {
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
    let declared = header.lines().filter(|line| {
        !line.starts_with([' ', '#', '/', 't']) && line.contains("viem_") && line.contains('(')
    });
    assert_eq!(declared.count(), exported.len());
    let of_metis = names("libviem_metis.so");
    assert!(of_metis.iter().all(|name| name.to_lowercase().starts_with("metis_")));
    // Seven functions have four names each for Fortran.
    let in_capitals = of_metis.iter().filter(|name| **name == name.to_uppercase()).count();
    assert_eq!((in_capitals, of_metis.iter().filter(|name| **name == name.to_lowercase()).count()), (7, 21));
    let of_kahip = names("libviem_kahip.so");
    assert_eq!(of_kahip, names("libviem_kahip64.so"));
    assert_eq!(
        of_kahip,
        [
            "edge_partitioning",
            "kaffpa",
            "kaffpa_balance",
            "kaffpa_balance_NE",
            "kahip_sizeof_idx",
            "node_separator",
            "process_mapping",
            "reduced_nd",
            "reduced_nd_fast",
            "viem_kahip_error"
        ]
    );
    for (file, header) in [("libviem_scotch.so", "scotch"), ("libviem_scotch64.so", "scotch-int64")] {
        let found = names(file);
        assert!(
            found
                .iter()
                .all(|name| name.starts_with("SCOTCH_") || name.to_lowercase().starts_with("scotchf"))
        );
        // Programs that are compiled against the header of Scotch link.
        let Ok(header) = std::fs::read_to_string(format!("/usr/include/{header}/scotch.h")) else { continue };
        let declared = header.lines().filter(|line| !line.starts_with('#'));
        let declared = declared.filter_map(|line| line.split_once('(')?.0.split_whitespace().last());
        let declared: Vec<&str> = declared.filter(|name| name.starts_with("SCOTCH_")).collect();
        assert!(declared.len() > 150, "{declared:?}");
        let missing: Vec<_> = declared.iter().filter(|name| found.iter().all(|own| own != *name)).collect();
        assert!(missing.is_empty(), "{missing:?} in {file}");
    }
    let version = ["MAJOR", "MINOR", "PATCH"].map(|part| {
        let line =
            header.lines().find_map(|line| line.strip_prefix(&format!("#define VIEM_VERSION_{part} ")));
        line.unwrap().to_owned()
    });
    assert_eq!(version.join("."), env!("CARGO_PKG_VERSION"));
    for name in ["", "_metis", "_metis64", "_kahip", "_kahip64", "_scotch", "_scotch64"] {
        let name = format!("libviem{name}");
        let soname = expect(Command::new("readelf").arg("-d").arg(lib().join(format!("{name}.so.2"))));
        assert!(soname.contains(&format!("[{name}.so.2]")), "{soname}");
    }
}
