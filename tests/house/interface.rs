//! The public interface of the library is on record, so that every change of it is seen.
//!
//! The record is made from the source: all `pub` items that can be reached from outside, their methods,
//! fields and variants, and what traits they implement. Documentation, bodies and values are not part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::code::{CratePath, sources, tokens, without_tests};
use crate::declarations::{Declaration, Declarations, declarations, parts, text};

const RECORD: &str = "docs/public-interface.txt";

/// Set in the environment, it has the record written again.
const REWRITE: &str = "VIEM_REWRITE_DOCS";

#[test]
fn the_public_interface_is_on_record() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORD);
    let interface = with_modules(interface);
    if std::env::var_os(REWRITE).is_some() {
        std::fs::write(&path, interface.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
    let record = std::fs::read_to_string(&path).unwrap_or_default();
    let recorded: BTreeSet<String> = record.lines().map(String::from).collect();
    let added: Vec<_> = interface.difference(&recorded).collect();
    let removed: Vec<_> = recorded.difference(&interface).collect();
    assert!(
        added.is_empty() && removed.is_empty(),
        "{RECORD} is out of date. Run this test with {REWRITE}=1. If others have to change their code, say so in docs/CHANGELOG.md.\n\
         added: {added:#?}\nremoved: {removed:#?}"
    );
}

#[test]
fn no_two_public_types_share_a_name() {
    let twins = with_modules(|modules| {
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, item) in public_items(modules) {
            if is_type(item) {
                places.entry(item.name.to_owned()).or_default().insert(path);
            }
        }
        places.retain(|_, paths| paths.len() > 1);
        places
    });
    assert!(twins.is_empty(), "{twins:#?}");
}

type Modules<'a> = BTreeMap<CratePath, Declarations<'a>>;

/// What a function makes of all modules of the library.
fn with_modules<R>(function: impl FnOnce(&Modules<'_>) -> R) -> R {
    let sources = sources("src");
    let files: Vec<(CratePath, Vec<&str>)> =
        sources.iter().map(|source| (source.path.clone(), without_tests(&tokens(&source.text)))).collect();
    let modules = files.iter().map(|(path, tokens)| (path.clone(), declarations(tokens, path)));
    function(&modules.collect())
}

/// The lines of the record.
fn interface(modules: &Modules<'_>) -> BTreeSet<String> {
    let public = public_modules(modules);
    let mut lines = BTreeSet::new();
    let items = public_items(modules);
    let is_item = |place: &str| items.iter().any(|(path, _)| path == place);
    for path in &public {
        lines.insert(format!("{}: module", shown(path)));
        for (name, target) in &modules[path].exports {
            let (place, of) = (shown(&join(path, name)), target.last().map_or("", |last| last));
            if !is_item(&place) {
                lines.insert(format!("{place}: re-export of {of}"));
            }
        }
    }
    for (path, item) in &items {
        let attributes: String = item.attributes.iter().map(|attribute| format!("#[{attribute}] ")).collect();
        lines.insert(format!("{path}: {attributes}{}", item.head));
        lines.extend(members(item).into_iter().map(|member| format!("{path}: {member}")));
    }
    let paths: BTreeMap<&str, &str> =
        items.iter().filter(|(_, item)| is_type(item)).map(|(path, item)| (item.name, &path[..])).collect();
    for (own, module) in modules {
        // A type that cannot be reached may be called like one that can.
        let is_hidden = |name: &str| {
            let mut types = all_items(module).filter(|item| is_type(item));
            types
                .any(|item| item.name == name && !items.iter().any(|(_, public)| std::ptr::eq(*public, item)))
        };
        let place = |name: &str| paths.get(name).filter(|_| !is_hidden(name));
        for block in &module.impls {
            let Some(path) = place(block.of) else { continue };
            if block.is_of_trait {
                lines.insert(format!("{path}: {}", block.head));
                continue;
            }
            let methods = declarations(block.body, own).items;
            lines.extend(methods.iter().filter(|it| it.is_public).map(|it| format!("{path}: {}", it.head)));
        }
        for table in &module.choices {
            let Some(path) = table.first().and_then(|choice| place(choice.name)) else { continue };
            let methods = table[1..].iter().filter(|it| it.is_public);
            lines.extend(methods.map(|method| format!("{path}: {}", method.head)));
        }
    }
    lines
}

/// The modules that can be reached from outside.
fn public_modules(modules: &Modules<'_>) -> Vec<CratePath> {
    let mut public = vec![Vec::new()];
    let mut next = 0;
    while let Some(path) = public.get(next).cloned() {
        let inner = modules[&path].items.iter().filter(|item| item.is_public && item.keyword == "mod");
        let inner = inner.map(|item| join(&path, item.name));
        public.extend(inner.filter(|path| modules.contains_key(path)));
        next += 1;
    }
    public
}

/// The items that can be reached from outside, with the paths of the deepest modules that have them.
fn public_items<'a, 'm>(modules: &'m Modules<'a>) -> Vec<(String, &'m Declaration<'a>)> {
    let mut places: BTreeMap<CratePath, CratePath> = BTreeMap::new();
    for module in public_modules(modules) {
        for (name, target) in &modules[&module].exports {
            hand_on(modules, target, &join(&module, name), &mut places);
        }
        for item in all_items(&modules[&module]) {
            places.insert(join(&module, item.name), join(&module, item.name));
        }
    }
    let mut found = Vec::new();
    for (path, module) in modules {
        for item in all_items(module).filter(|item| item.is_public && item.keyword != "mod") {
            found.extend(places.get(&join(path, item.name)).map(|place| (shown(place), item)));
        }
    }
    found
}

fn all_items<'a, 'm>(module: &'m Declarations<'a>) -> impl Iterator<Item = &'m Declaration<'a>> {
    module.items.iter().chain(module.choices.iter().filter_map(|table| table.first()))
}

/// Notes that what is at `target` can be reached as `place`; if it is handed on there, then what that stands
/// for.
fn hand_on(
    modules: &Modules<'_>,
    target: &CratePath,
    place: &CratePath,
    places: &mut BTreeMap<CratePath, CratePath>,
) {
    let known = places.entry(target.clone()).or_insert_with(|| place.clone());
    if known.len() < place.len() {
        *known = place.clone();
    }
    let Some((name, module)) = target.split_last() else { return };
    let exports = modules.get(module).map_or(&[][..], |module| &module.exports);
    for (_, next) in exports.iter().filter(|(exported, next)| exported == name && next != target) {
        hand_on(modules, next, place, places);
    }
}

fn is_type(item: &Declaration<'_>) -> bool {
    ["struct", "enum", "union", "trait", "type"].contains(&item.keyword)
}

/// Fields, variants, or what a trait has.
fn members(item: &Declaration<'_>) -> Vec<String> {
    let Some(body) = item.body else { return Vec::new() };
    match item.keyword {
        "struct" | "union" => {
            let fields: Vec<String> = parts(body).into_iter().map(text).collect();
            let (public, others): (Vec<_>, Vec<_>) =
                fields.into_iter().partition(|field| field.starts_with("pub "));
            let others = others.first().map(|_| "other fields".to_owned());
            public.into_iter().chain(others).collect()
        }
        "enum" => {
            let name = |variant: &[&str]| text(variant.split(|&token| token == "=").next().unwrap_or(&[]));
            parts(body).into_iter().map(|variant| format!("variant {}", name(variant))).collect()
        }
        "trait" => {
            let provided = |item: &Declaration<'_>| if item.body.is_some() { " (provided)" } else { "" };
            let items = declarations(body, &[]).items;
            items.iter().map(|item| format!("{}{}", item.head, provided(item))).collect()
        }
        _ => Vec::new(),
    }
}

fn join(path: &[String], name: &str) -> CratePath {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

fn shown(path: &[String]) -> String {
    ["viem"].into_iter().chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join("::")
}
