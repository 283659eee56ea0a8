//! The guide is a book: `docs/SUMMARY.md` lists each chapter once, as mdBook reads it, and nothing that does not exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The links of a summary, in order.
fn links(summary: &str) -> Vec<&str> {
    summary.lines().filter_map(|line| line.split_once("](")?.1.strip_suffix(')')).collect()
}

/// The Markdown files of a folder, as paths that begin with `prefix`.
fn chapters(folder: &Path, prefix: &str) -> Vec<String> {
    let entries =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    entries.filter(|name| name.ends_with(".md")).map(|name| format!("{prefix}{name}")).collect()
}

/// What is wrong with a summary of these chapters.
fn faults(summary: &str, chapters: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = chapters.iter().map(|chapter| (chapter.as_str(), 0)).collect();
    let mut faults = Vec::new();
    for link in links(summary) {
        match counts.get_mut(link) {
            Some(count) => *count += 1,
            None => faults.push(format!("{link} does not exist")),
        }
    }
    let wrong = counts.into_iter().filter(|&(_, count)| count != 1);
    faults.extend(wrong.map(|(chapter, count)| format!("{chapter} is listed {count} times")));
    faults
}

#[test]
fn the_summary_lists_each_chapter_once() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut all = chapters(&docs, "");
    all.retain(|chapter| chapter != "SUMMARY.md");
    for folder in ["guide", "benchmarks"] {
        all.extend(chapters(&docs.join(folder), &format!("{folder}/")));
    }
    assert_eq!(faults(&summary, &all), [""; 0]);
}

#[test]
fn faults_of_a_summary_are_found() {
    let chapters = ["a.md", "b.md", "c.md"].map(str::to_owned);
    let summary = "# Summary\n\n[A](a.md)\n\n- [B](b.md)\n  - [B](b.md)\n- [D](d.md)\n";
    let expected = ["d.md does not exist", "b.md is listed 2 times", "c.md is listed 0 times"];
    assert_eq!(faults(summary, &chapters), expected);
    assert!(faults("[A](a.md)\n- [B](b.md)\n- [C](c.md)", &chapters).is_empty());
}
