//! YAML documents as trees of values with their positions, read by `saphyr-parser`.
//!
//! Aliases are replaced by the values that they refer to, and maps take over the values that a merge key `<<` refers to. Tags are skipped: all
//! scalars are texts. A value is held once, whatever refers to it, so memory is in proportion to the file. What aliases expand
//! to is bounded, as readers walk all of it, and so is how deep values lie in each other.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::files::{ClusterFault, Fault};

/// Values inside each other at most.
const MOST_DEPTH: usize = 64;

/// Values and bytes of texts that all aliases together may expand to.
const MOST_EXPANSION: usize = 1 << 20;

/// The key of what a map takes over from other maps.
const MERGE: &str = "<<";

/// A value and where it starts; what an alias stands for starts where it is described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) at: usize,
    node: Rc<Node>,
    extent: Extent,
}

/// The size of a value, with the expansion of aliases in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// Values and bytes of texts.
    size: usize,
    /// Values inside each other.
    depth: usize,
}

/// The content of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    /// A text, and where it starts if the file has it verbatim, not escaped or folded.
    Scalar(String, Option<usize>),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    fn new(at: usize, node: Node) -> Self {
        Self { at, extent: node.extent(), node: Rc::new(node) }
    }

    /// The value of a key, in a map.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        match &*self.node {
            Node::Map(entries) => value_of(entries, key),
            _ => None,
        }
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &*self.node {
            Node::Scalar(text, _) => Some(text),
            _ => None,
        }
    }

    /// The members of a list.
    pub(super) fn list(&self) -> Option<&[Value]> {
        match &*self.node {
            Node::List(values) => Some(values),
            _ => None,
        }
    }

    /// Returns whether it stands for nothing: an empty map or list, `null` or `false`.
    pub(super) fn is_nothing(&self) -> bool {
        match &*self.node {
            Node::Scalar(text, _) => ["", "~", "null", "false"].contains(&text.to_ascii_lowercase().as_str()),
            Node::List(values) => values.is_empty(),
            Node::Map(entries) => entries.is_empty(),
        }
    }

    /// Returns the offset in the file of a byte of the text of a scalar, or that of the scalar if that is not known.
    pub(super) fn offset_of(&self, byte: usize) -> usize {
        match *self.node {
            Node::Scalar(_, Some(start)) => start + byte,
            _ => self.at,
        }
    }
}

impl Node {
    fn extent(&self) -> Extent {
        let around = |own: usize, inner: &mut dyn Iterator<Item = &Value>| {
            inner.fold(Extent { size: 1 + own, depth: 0 }, |all, value| Extent {
                size: all.size.saturating_add(value.extent.size),
                depth: all.depth.max(value.extent.depth + 1),
            })
        };
        match self {
            Self::Scalar(text, _) => around(text.len(), &mut std::iter::empty()),
            Self::List(values) => around(0, &mut values.iter()),
            Self::Map(entries) => {
                let keys = entries.iter().map(|(key, _)| key.len()).sum();
                around(keys, &mut entries.iter().map(|(_, value)| value))
            }
        }
    }
}

fn value_of<'a>(entries: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

fn fault<T>(at: usize, reason: impl Into<String>) -> Result<T, Fault> {
    Err((at, ClusterFault::Yaml { reason: reason.into() }))
}

/// The value of a text, which holds one document.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    let places = Places::new(text);
    let mut loader = Loader::default();
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => loader.take(event, places.offset(span.start.index()), text)?,
            Err(error) => return fault(places.offset(error.marker().index()), error.info()),
        }
    }
    loader.document.map_or_else(|| fault(0, "the file is empty"), Ok)
}

/// Returns the start of the value whose anchor and tag, if it has them, start here.
fn behind_properties(text: &str, mut at: usize) -> usize {
    while text[at..].starts_with(['&', '!']) {
        let rest = text[at..].trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
        at = text.len() - rest.len();
    }
    at
}

/// The map from characters, which the parser counts, to bytes.
struct Places {
    /// The offset of each character, unless all are of one byte.
    offsets: Option<Vec<usize>>,
    end: usize,
}

impl Places {
    fn new(text: &str) -> Self {
        let offsets = (!text.is_ascii()).then(|| text.char_indices().map(|(at, _)| at).collect());
        Self { offsets, end: text.len() }
    }

    fn offset(&self, index: usize) -> usize {
        match &self.offsets {
            None => index.min(self.end),
            Some(offsets) => offsets.get(index).copied().unwrap_or(self.end),
        }
    }
}

/// A list or a map that goes on.
struct Open {
    at: usize,
    /// The number of its anchor; 0 for none.
    anchor: usize,
    node: OpenNode,
}

enum OpenNode {
    List(Vec<Value>),
    Map(OpenMap),
}

#[derive(Default)]
struct OpenMap {
    entries: Vec<(String, Value)>,
    names: HashSet<String>,
    /// The key whose value comes next.
    key: Option<String>,
    /// The values that are merged into it.
    merged: Vec<Value>,
}

/// Makes a tree of events.
#[derive(Default)]
struct Loader {
    document: Option<Value>,
    open: Vec<Open>,
    /// The values by the numbers of anchors.
    anchored: HashMap<usize, Value>,
    expanded: usize,
}

impl Loader {
    fn take(&mut self, event: Event<'_>, at: usize, text: &str) -> Result<(), Fault> {
        match event {
            Event::DocumentStart(_) if self.document.is_some() => {
                fault(at, "the file can have only one document")
            }
            Event::Scalar(scalar, style, anchor, _) => {
                let at = behind_properties(text, at);
                let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
                let start = at + usize::from(is_quoted);
                let is_verbatim = text.get(start..).is_some_and(|text| text.starts_with(&*scalar));
                let node = Node::Scalar(scalar.into_owned(), is_verbatim.then_some(start));
                self.add(Value::new(at, node), anchor)
            }
            Event::SequenceStart(anchor, _) => self.begin(at, anchor, OpenNode::List(Vec::new())),
            Event::MappingStart(anchor, _) => self.begin(at, anchor, OpenNode::Map(OpenMap::default())),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(at, anchor),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, at: usize, anchor: usize, node: OpenNode) -> Result<(), Fault> {
        if self.open.len() >= MOST_DEPTH {
            return fault(at, "values lie too deep in each other");
        }
        self.open.push(Open { at, anchor, node });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        let Some(Open { at, anchor, node }) = self.open.pop() else { return Ok(()) };
        let node = match node {
            OpenNode::List(values) => Node::List(values),
            OpenNode::Map(map) => Node::Map(map.close()?),
        };
        self.add(Value::new(at, node), anchor)
    }

    /// Adds the value with an anchor once more.
    fn alias(&mut self, at: usize, anchor: usize) -> Result<(), Fault> {
        let Some(value) = self.anchored.get(&anchor) else {
            return fault(at, "an alias is inside the value that it refers to");
        };
        let Extent { size, depth } = value.extent;
        self.expanded = self.expanded.saturating_add(size);
        if self.expanded > MOST_EXPANSION {
            return fault(at, "aliases expand to too much");
        }
        if self.open.len() + depth > MOST_DEPTH {
            return fault(at, "values lie too deep in each other");
        }
        let value = value.clone();
        self.add(value, 0)
    }

    /// Adds a value to the map or list that it is in.
    fn add(&mut self, value: Value, anchor: usize) -> Result<(), Fault> {
        if anchor != 0 {
            self.anchored.insert(anchor, value.clone());
        }
        match self.open.last_mut().map(|open| &mut open.node) {
            Some(OpenNode::List(values)) => values.push(value),
            Some(OpenNode::Map(map)) => map.add(value)?,
            None => self.document = Some(value),
        }
        Ok(())
    }
}

impl OpenMap {
    /// Adds a key, or the value of the last key.
    fn add(&mut self, value: Value) -> Result<(), Fault> {
        match self.key.take() {
            Some(key) if key == MERGE => self.merged.push(value),
            Some(key) => self.entries.push((key, value)),
            None => {
                let Some(key) = value.text() else { return fault(value.at, "the key of a map is no text") };
                if !self.names.insert(key.to_owned()) {
                    return fault(value.at, "a key occurs twice in a map");
                }
                self.key = Some(key.to_owned());
            }
        }
        Ok(())
    }

    /// The entries, and those of merged maps whose keys are not among them.
    fn close(mut self) -> Result<Vec<(String, Value)>, Fault> {
        for merged in self.merged {
            let maps = merged.list().unwrap_or(std::slice::from_ref(&merged));
            for map in maps {
                let Node::Map(entries) = &*map.node else { return fault(map.at, "only maps can be merged") };
                let is_new = |(key, _): &&(String, Value)| self.names.insert(key.clone());
                self.entries.extend(entries.iter().filter(is_new).cloned());
            }
        }
        Ok(self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value as JSON.
    fn told(text: &str) -> String {
        fn tell(value: &Value) -> String {
            match &*value.node {
                Node::Scalar(text, _) => format!("{text:?}"),
                Node::List(values) => format!("[{}]", values.iter().map(tell).collect::<Vec<_>>().join(",")),
                Node::Map(entries) => {
                    let entry = |(key, value): &(String, Value)| format!("{key:?}:{}", tell(value));
                    format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
                }
            }
        }
        tell(&parse(text).unwrap())
    }

    #[test]
    fn blocks_and_brackets_are_understood() {
        let block = "---\n# all\n- topology: t1   # one\n  cluster_default: true\n  tree:\n    switches:\n    - switch: \"s # 1\"\n      \
                     nodes: node[01-04]\n    -\n      switch: s2\n- topology: t2\n  block:\n    block_sizes:\n      - 4\n      - 16\n";
        let expected = r#"[{"topology":"t1","cluster_default":"true","tree":{"switches":[{"switch":"s # 1","nodes":"node[01-04]"},{"switch":"s2"}]}},{"topology":"t2","block":{"block_sizes":["4","16"]}}]"#;
        assert_eq!(told(block), expected);
        let flow = "- {topology: t1, dims: {x: 2, y: 3}, nodes: 'node[1,2-3]', sizes: [4, 16], name: 'a b', set: {c}}\n";
        let expected = r#"[{"topology":"t1","dims":{"x":"2","y":"3"},"nodes":"node[1,2-3]","sizes":["4","16"],"name":"a b","set":{"c":""}}]"#;
        assert_eq!(told(flow), expected);
        assert_eq!(told("a:\nb: c:d\n"), r#"{"a":"","b":"c:d"}"#);
    }

    #[test]
    fn directives_anchors_tags_and_texts_of_several_lines_are_understood() {
        let file = "%YAML 1.2\n# what is alike\n---\n- &leaf\n  speed: !!int 100\n  nodes: |-\n    n[1-2]\n- <<: *leaf\n  speed: \"1\\u0030\"\n\
                    - again: *leaf\n- !own >\n  a\n  b\n...\n";
        let leaf = r#"{"speed":"100","nodes":"n[1-2]"}"#;
        let expected = format!(r#"[{leaf},{{"speed":"10","nodes":"n[1-2]"}},{{"again":{leaf}}},"a b\n"]"#);
        assert_eq!(told(file), expected);
        assert_eq!(
            told("- &a {x: 1}\n- &b {x: 2, y: 3}\n- <<: [*a, *b]\n  z: 4\n"),
            r#"[{"x":"1"},{"x":"2","y":"3"},{"z":"4","x":"1","y":"3"}]"#
        );
    }

    #[test]
    fn what_is_not_understood_is_refused_where_it_stands() {
        let texts = [
            ("", 0),
            ("# nothing\n", 0),
            ("a: 1\na: 2\n", 5),
            ("ü: 1\nü: 2\n", 6),
            ("a: [1, 2\n", 9),
            ("a: {b: 1\n", 9),
            ("a: [1] 2\n", 7),
            ("a: \"b\n", 3),
            ("a:\n    b: 1\n  c: 2\n", 14),
            ("a: 1\n- b\n", 7),
            ("a: 1\n---\nb: 2\n", 5),
            ("a: [,]\n", 4),
            ("a: *x\n", 3),
            ("- &a [*a]\n", 6),
            ("? [a]\n: b\n", 2),
            ("<<: 1\n", 4),
        ];
        for (text, at) in texts {
            assert_eq!(parse(text).map_err(|(at, _)| at), Err(at), "{text:?}");
        }
    }

    #[test]
    fn places_in_texts_are_those_in_the_file() {
        let offset = |text: &str, byte| parse(text).unwrap().list().unwrap()[0].offset_of(byte);
        assert_eq!(offset("- ab\n", 1), 3);
        assert_eq!(offset("- &x !!str 'ab'\n", 1), 13);
        assert_eq!(offset("# ä\n- \"ab\"\n", 1), 9);
        // The text is none of the file.
        assert_eq!(offset("- \"\\u0061b\"\n", 1), 2);
        assert_eq!(offset("- a\n  b\n", 2), 2);
    }

    #[test]
    fn hostile_files_end_early() {
        assert!(parse(&("[".repeat(100_000))).is_err());
        assert!(parse(&("- ".repeat(100_000))).is_err());
        assert!(parse(&("? ".repeat(100_000))).is_err());
        let reason = |text: &str| parse(text).unwrap_err().1.to_string();
        // Each line stands for ten of the one before.
        let laughs = |count: usize, line: fn(usize) -> String| {
            (1..count).map(line).fold("- &a0 lol\n".to_owned(), |file, line| file + &line)
        };
        let tenfold = |index| format!("- &a{index} [{}]\n", vec![format!("*a{}", index - 1); 10].join(", "));
        assert!(parse(&laughs(5, tenfold)).is_ok());
        assert!(reason(&laughs(60, tenfold)).contains("aliases expand to too much"));
        let deeper = |index| format!("- &a{index} [*a{}]\n", index - 1);
        assert!(parse(&laughs(MOST_DEPTH, deeper)).is_ok());
        assert!(reason(&laughs(MOST_DEPTH + 1, deeper)).contains("too deep"));
    }

    #[test]
    fn anchors_of_what_lies_in_each_other_hold_one_value() {
        // What lies inside of all anchors is as large as aliases may make it.
        let line = format!("- &line [{}]\n", vec!["abcdefg"; 1000].join(", "));
        let inner = vec!["*line"; 100].join(", ");
        let anchors: String = (0..MOST_DEPTH - 4).map(|index| format!("&a{index} [")).collect();
        let file = format!("{line}- {anchors}{inner}{}\n", "]".repeat(MOST_DEPTH - 4));
        let parsed = parse(&file).unwrap();
        let mut values = vec![&parsed.list().unwrap()[1]];
        while let Some(inner) = values[values.len() - 1].list().filter(|list| list.len() == 1) {
            values.push(&inner[0]);
        }
        assert_eq!(values.len(), MOST_DEPTH - 4);
        let lines = values[values.len() - 1].list().unwrap();
        assert!(lines.iter().all(|line| Rc::ptr_eq(&line.node, &parsed.list().unwrap()[0].node)));
        // A key that is taken over is charged as often as it is.
        let merges: String = (1..30)
            .map(|index| {
                format!("- &m{index}\n  <<: [*m{0}, *m{0}]\n  k{index}: [*m{0}, *m{0}]\n", index - 1)
            })
            .collect();
        assert!(parse(&format!("- &m0 {{x: 1}}\n{merges}")).is_err());
    }
}
