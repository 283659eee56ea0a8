//! The modules of the engine import only lower layers, as documented in docs/DESIGN.md. Between packages, the compiler sees to it.

use crate::code::sources;

/// From the bottom up: a module imports only those before it.
pub const LAYERS: [&str; 7] = ["base", "graph", "partition", "machine", "mapping", "solve", "qap"];

fn layer(module: &str) -> usize {
    let layer = LAYERS.iter().position(|&layer| layer == module);
    layer.unwrap_or_else(|| panic!("`{module}` is in no layer; give it one"))
}

#[test]
fn modules_import_downwards_only() {
    let mut breaches = Vec::new();
    let all = ["src", "crates/partition/src"].into_iter().flat_map(sources);
    for source in all.filter(|source| !source.path.is_empty()) {
        let module = &source.path[0];
        for mention in source.mentions() {
            let other = mention.path.first().map_or("*", String::as_str);
            // A macro of `base` is exported at the root of the crate.
            if other != module && (other == "*" || layer(other) > layer(module)) {
                breaches.push(format!("{} imports {}", source.path.join("::"), mention.path.join("::")));
            }
        }
    }
    assert!(breaches.is_empty(), "{breaches:#?}");
}
