//! `viem.h` is what cbindgen makes of the source. `.ci/generate` writes it again.

use std::collections::HashMap;

use cbindgen::{Builder, Config, DocumentationStyle, EnumConfig, Language, RenameRule, Style};

use crate::tools::folder;

/// The beginning of the header.
const BEGINNING: &str = "/*
 * viem: process mapping and graph partitioning.
 *
 * Functions return a status and take an error last: where they fail, it gets an error with a message and the place of the fault, which
 * viem_error_free frees; where they succeed, it gets null. It may be null. Its value before the call is not read.
 *
 * Graphs, machines, mappings, settings and problems are handles. The caller that makes one frees it, once; results do not need what they were made
 * from. All indices count from 0. Texts are UTF-8 and end with a zero byte. Functions may be called from any number of threads at once, as long
 * as no arguments of a running call are changed or freed. Nothing is printed, and no function ends the process, unless the system refuses memory
 * that was free when a call began.
 *
 * This file is generated from the Rust source. The guide is docs/guide/c.md.
 */";

fn generated() -> String {
    let names = [
        "Graph",
        "Machine",
        "Mapping",
        "Qap",
        "Settings",
        "Error",
        "Status",
        "Preset",
        "Pe",
        "Report",
        "Loads",
        "Migration",
    ];
    let mut rename: HashMap<String, String> =
        names.map(|name| (name.to_owned(), format!("viem_{}", name.to_lowercase()))).into();
    rename.insert("DistanceFunction".into(), "viem_distance_function".into());
    rename.insert("ProgressFunction".into(), "viem_progress_function".into());
    let mut config = Config {
        language: Language::C,
        cpp_compat: true,
        style: Style::Type,
        documentation_style: DocumentationStyle::Doxy,
        header: Some(BEGINNING.into()),
        include_guard: Some("VIEM_H".into()),
        no_includes: true,
        sys_includes: vec!["stddef.h".into(), "stdint.h".into()],
        usize_is_size_t: true,
        line_length: 110,
        enumeration: EnumConfig {
            rename_variants: RenameRule::QualifiedScreamingSnakeCase,
            ..EnumConfig::default()
        },
        ..Config::default()
    };
    config.export.rename = rename;
    config.export.include = vec!["Preset".into(), "Pe".into()];
    let builder = Builder::new().with_config(config).with_src(folder().join("src/lib.rs"));
    let mut header = Vec::new();
    builder.generate().expect("the source is valid").write(&mut header);
    let header = String::from_utf8(header).expect("the header is UTF-8");
    // Commas at the end of enumerations are no C++98.
    header.replace(" * # Safety\n *\n * ", " * Precondition: ").replace(",\n} viem_", "\n} viem_")
}

#[test]
fn the_header_is_that_of_the_source() {
    let path = folder().join("include/viem.h");
    let header = generated();
    if std::env::var_os("VIEM_REWRITE_DOCS").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == header, "{} differs from the source; run .ci/generate", path.display());
}
