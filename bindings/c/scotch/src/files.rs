//! Graphs and tables in files of C, in the formats of Scotch.
#![allow(unsafe_code)] // files of C

use std::collections::HashMap;

use libc::FILE;

use crate::graph::{Arrays, View};
use crate::{Num, text};

/// The longest number.
const LONGEST: usize = 20;

/// Numbers of a file, read one by one: what follows the last one that is asked for stays there, but for one character.
pub(crate) struct Numbers(*mut FILE);

impl Numbers {
    /// # Safety
    ///
    /// It is null or a file that is open for reading, as long as numbers are read.
    pub unsafe fn of(file: *mut FILE) -> Result<Self, String> {
        if file.is_null() { Err("the file is null".into()) } else { Ok(Self(file)) }
    }

    fn letter(&mut self) -> Option<u8> {
        // SAFETY: the file is open.
        u8::try_from(unsafe { libc::fgetc(self.0) }).ok()
    }

    fn word(&mut self) -> Result<String, String> {
        let mut word = String::new();
        while let Some(letter) = self.letter() {
            match letter.is_ascii_whitespace() {
                true if word.is_empty() => {}
                true => break,
                false if word.len() > LONGEST => return Err(format!("`{word}` is no number")),
                false => word.push(letter as char),
            }
        }
        if word.is_empty() { Err("the file ends early".into()) } else { Ok(word) }
    }

    pub fn next(&mut self) -> Result<Num, String> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("`{word}` is no number, or too large"))
    }

    fn count(&mut self) -> Result<usize, String> {
        let number = self.next()?;
        usize::try_from(number).map_err(|_| format!("{number} is negative"))
    }
}

/// The rest of a file.
///
/// # Safety
///
/// It is null or a file that is open for reading.
pub(crate) unsafe fn rest(file: *mut FILE) -> Result<String, String> {
    // SAFETY: the caller's promise.
    let mut numbers = unsafe { Numbers::of(file) }?;
    let bytes: Vec<u8> = std::iter::from_fn(|| numbers.letter()).collect();
    String::from_utf8(bytes).map_err(text)
}

/// Writes a text to a file.
///
/// # Safety
///
/// It is null or a file that is open for writing.
pub(crate) unsafe fn write(file: *mut FILE, text: &str) -> Result<(), String> {
    if file.is_null() {
        return Err("the file is null".into());
    }
    // SAFETY: the caller's promise.
    let written = unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), file) };
    if written == text.len() { Ok(()) } else { Err("the file cannot be written".into()) }
}

/// A graph that was read, with its memory.
#[derive(Default)]
struct Loaded {
    offsets: Vec<Num>,
    labels: Vec<Num>,
    vertex_weights: Vec<Num>,
    edge_weights: Vec<Num>,
    targets: Vec<Num>,
}

/// Reads a graph: from the base of the file if `base` is -1, without weights of vertices if the first bit of `omitted` is set, and without those of edges if the second
/// is.
pub(crate) fn load_graph(
    numbers: &mut Numbers,
    base: Num,
    omitted: Num,
) -> Result<(Arrays, Vec<Vec<Num>>), String> {
    if numbers.next()? != 0 {
        return Err("the graph is of another version than 0".into());
    }
    let (n, m, own_base) = (numbers.count()?, numbers.count()?, numbers.next()?);
    let flags = numbers.word()?;
    let [has_labels, has_edge_weights, has_weights] = match format!("{flags:0>3}").as_bytes() {
        flags @ [_, _, _] if flags.iter().all(|flag| matches!(flag, b'0' | b'1')) => {
            [0, 1, 2].map(|at| flags[at] == b'1')
        }
        _ => return Err(format!("`{flags}` are no flags of a graph")),
    };
    let base = if base == -1 { own_base } else { base };
    let mut loaded = Loaded { offsets: vec![base], ..Loaded::default() };
    for _ in 0..n {
        if has_labels {
            loaded.labels.push(numbers.next()?);
        }
        if has_weights {
            loaded.vertex_weights.push(numbers.next()?);
        }
        for _ in 0..numbers.count()? {
            if has_edge_weights {
                loaded.edge_weights.push(numbers.next()?);
            }
            loaded.targets.push(numbers.next()?);
        }
        let end = Num::try_from(loaded.targets.len()).ok().and_then(|arcs| arcs.checked_add(base));
        loaded.offsets.push(end.ok_or("there are too many arcs")?);
    }
    if loaded.targets.len() != m {
        return Err(format!("the graph has {} arcs, and not {m}", loaded.targets.len()));
    }
    loaded.number(own_base, base)?;
    if omitted & 1 != 0 {
        loaded.vertex_weights.clear();
    }
    if omitted & 2 != 0 {
        loaded.edge_weights.clear();
    }
    loaded.into_arrays(base)
}

impl Loaded {
    /// Numbers the ends of arcs from a base; they were labels, or numbers from another base.
    fn number(&mut self, before: Num, base: Num) -> Result<(), String> {
        let by_label: HashMap<Num, Num> = self.labels.iter().copied().zip(base..).collect();
        if by_label.len() < self.labels.len() {
            return Err("two vertices have the same label".into());
        }
        for target in &mut self.targets {
            let number = match self.labels.is_empty() {
                true => target.checked_sub(before).and_then(|target| target.checked_add(base)),
                false => by_label.get(target).copied(),
            };
            *target = number.ok_or_else(|| format!("there is no vertex {target}"))?;
        }
        Ok(())
    }

    fn into_arrays(self, base: Num) -> Result<(Arrays, Vec<Vec<Num>>), String> {
        let number = |length: usize| Num::try_from(length).map_err(text);
        let (num_vertices, num_arcs) = (number(self.offsets.len() - 1)?, number(self.targets.len())?);
        let Self { offsets, labels, vertex_weights, edge_weights, targets } = self;
        let mut owned = vec![offsets, targets, vertex_weights, edge_weights, labels];
        let [begins, targets, vertex_weights, edge_weights, labels] = [0, 1, 2, 3, 4].map(|at| {
            if owned[at].is_empty() && at > 1 { std::ptr::null_mut() } else { owned[at].as_mut_ptr() }
        });
        let ends = begins.wrapping_add(1);
        Ok((
            Arrays {
                base,
                num_vertices,
                num_arcs,
                begins,
                ends,
                vertex_weights,
                labels,
                targets,
                edge_weights,
            },
            owned,
        ))
    }
}

/// A graph as Scotch writes it.
pub(crate) fn graph_text(view: &View<'_>) -> String {
    let n = view.num_vertices();
    let [labels, weights] = [view.labels.is_some(), view.vertex_weights.is_some()].map(u8::from);
    let flags = format!("{labels}{}{weights}", u8::from(view.has_edge_weights()));
    let mut text = format!("0\n{n}\t{}\n{}\t{flags}\n", view.num_arcs(), view.base);
    for vertex in 0..n {
        let mut words = Vec::new();
        words.extend(view.labels.map(|labels| labels[vertex].to_string()));
        words.extend(view.vertex_weights.map(|weights| weights[vertex].to_string()));
        words.push(view.arcs(vertex).count().to_string());
        for (target, weight) in view.arcs(vertex) {
            words.extend(view.has_edge_weights().then(|| weight.to_string()));
            let is_vertex = usize::try_from(target).ok().filter(|&target| target < n);
            words.push(is_vertex.map_or(target + view.base, |target| view.label(target)).to_string());
        }
        text += &(words.join("\t") + "\n");
    }
    text
}

/// A number for each vertex, as Scotch writes it.
pub(crate) fn table_text(view: &View<'_>, table: &[Num]) -> String {
    let lines =
        table.iter().enumerate().map(|(vertex, number)| format!("{}\t{number}\n", view.label(vertex)));
    format!("{}\n{}", table.len(), lines.collect::<String>())
}

/// Reads a number for each vertex; -1 for those that the file does not have.
pub(crate) fn load_table(numbers: &mut Numbers, view: &View<'_>, table: &mut [Num]) -> Result<(), String> {
    let by_label = view.by_label();
    table.fill(-1);
    for _ in 0..numbers.count()? {
        let (label, number) = (i64::from(numbers.next()?), numbers.next()?);
        let vertex = match &by_label {
            Some(by_label) => by_label.get(&label).copied(),
            None => label.checked_sub(view.base).and_then(|vertex| usize::try_from(vertex).ok()),
        };
        if let Some(entry) = vertex.and_then(|vertex| table.get_mut(vertex)) {
            *entry = number;
        }
    }
    Ok(())
}
