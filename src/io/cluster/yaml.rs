//! The part of YAML that Slurm's `topology.yaml` is written in: nested maps and lists by indentation or in brackets, scalars with or
//! without quotes, comments.
//!
//! Anchors, tags, multi-line scalars and several documents are refused, not misread.

use std::collections::HashSet;

use crate::io::cluster::{ClusterFault, Fault};

/// Values inside each other at most.
const MOST_DEPTH: usize = 64;

/// A value and where it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) at: usize,
    pub(super) node: Node,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Scalar(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The value of a key, in a map.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        match &self.node {
            Node::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.node {
            Node::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The members of a list.
    pub(super) fn list(&self) -> Option<&[Value]> {
        match &self.node {
            Node::List(values) => Some(values),
            _ => None,
        }
    }
}

/// A line without its comment.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// Offset of the text in the file.
    at: usize,
    /// Column of the text, from 0.
    indent: usize,
    text: &'a str,
}

fn fault<T>(at: usize, reason: &'static str) -> Result<T, Fault> {
    Err((at, ClusterFault::Yaml { reason }))
}

/// The value of a text.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    let lines = lines(text)?;
    let Some(&first) = lines.first() else { return fault(0, "the file is empty") };
    let mut parser = Parser { lines, next: 0 };
    let value = parser.block(first.indent, 0)?;
    match parser.lines.get(parser.next) {
        Some(line) => fault(line.at, "the indentation fits nothing before"),
        None => Ok(value),
    }
}

fn lines(text: &str) -> Result<Vec<Line<'_>>, Fault> {
    let (mut lines, mut offset) = (Vec::new(), 0);
    for whole in text.split_inclusive('\n') {
        let start = offset;
        offset += whole.len();
        let line = &whole[..comment(whole)];
        let trimmed = line.trim_start_matches(' ');
        let (indent, trimmed) = (line.len() - trimmed.len(), trimmed.trim_end());
        let at = start + indent;
        match trimmed {
            "" => {}
            "---" if lines.is_empty() => {}
            "---" | "..." => return fault(at, "only one document can stand in the file"),
            text if text.starts_with('\t') => return fault(at, "a tab stands where blanks indent"),
            text => lines.push(Line { at, indent, text }),
        }
    }
    Ok(lines)
}

/// Where the comment of a line begins, or the line ends.
fn comment(line: &str) -> usize {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return at,
            (None, '"' | '\'') if !before.is_alphanumeric() => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        before = c;
    }
    line.len()
}

struct Parser<'a> {
    lines: Vec<Line<'a>>,
    next: usize,
}

impl<'a> Parser<'a> {
    /// The map, list or scalar whose lines stand at this column.
    fn block(&mut self, indent: usize, depth: usize) -> Result<Value, Fault> {
        let line = self.lines[self.next];
        if depth > MOST_DEPTH {
            return fault(line.at, "values lie too deep in each other");
        }
        if is_item(line.text) {
            return self.list(indent, depth);
        }
        if key(line.text).is_some() {
            return self.map(indent, depth);
        }
        self.next += 1;
        scalar(line.at, line.text, depth)
    }

    fn list(&mut self, indent: usize, depth: usize) -> Result<Value, Fault> {
        let at = self.lines[self.next].at;
        let mut values = Vec::new();
        while let Some(&line) = self.at(indent).filter(|line| is_item(line.text)) {
            let inside = line.text[1..].trim_start();
            if inside.is_empty() {
                self.next += 1;
                values.push(self.nested(line, indent + 1, depth)?);
            } else {
                // What stands behind the dash is the first line of a block of its own.
                let shift = line.text.len() - inside.len();
                self.lines[self.next] = Line { at: line.at + shift, indent: indent + shift, text: inside };
                values.push(self.block(indent + shift, depth + 1)?);
            }
        }
        self.check_indent(indent)?;
        Ok(Value { at, node: Node::List(values) })
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Value, Fault> {
        let at = self.lines[self.next].at;
        let mut entries: Vec<(String, Value)> = Vec::new();
        let mut names = HashSet::new();
        while let Some(&line) = self.at(indent).filter(|line| !is_item(line.text)) {
            let Some((name, rest)) = key(line.text) else {
                return fault(line.at, "`key: value` is expected");
            };
            if !names.insert(name.clone()) {
                return fault(line.at, "a key stands twice in a map");
            }
            self.next += 1;
            let value = match rest {
                // Lists may stand at the column of their key.
                "" => self.nested(
                    line,
                    indent + usize::from(!self.at(indent).is_some_and(|next| is_item(next.text))),
                    depth,
                )?,
                rest => scalar(line.at + line.text.len() - rest.len(), rest, depth)?,
            };
            entries.push((name, value));
        }
        self.check_indent(indent)?;
        Ok(Value { at, node: Node::Map(entries) })
    }

    /// The block below a line, which stands at this column or further in; an empty text if there is none.
    fn nested(&mut self, line: Line<'a>, least: usize, depth: usize) -> Result<Value, Fault> {
        match self.lines.get(self.next).filter(|next| next.indent >= least) {
            Some(next) => self.block(next.indent, depth + 1),
            None => Ok(Value { at: line.at, node: Node::Scalar(String::new()) }),
        }
    }

    fn at(&self, indent: usize) -> Option<&Line<'a>> {
        self.lines.get(self.next).filter(|line| line.indent == indent)
    }

    /// What follows a block stands further out.
    fn check_indent(&self, indent: usize) -> Result<(), Fault> {
        match self.lines.get(self.next) {
            Some(line) if line.indent > indent => fault(line.at, "the indentation fits nothing before"),
            _ => Ok(()),
        }
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// The key of a line `key: value`, and the value.
fn key(text: &str) -> Option<(String, &str)> {
    if let Some(open) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let end = text[1..].find(open)? + 1;
        let rest = text[end + 1..].trim_start().strip_prefix(':')?;
        return (rest.is_empty() || rest.starts_with(' '))
            .then(|| (text[1..end].to_owned(), rest.trim_start()));
    }
    if text.starts_with(['[', '{']) {
        return None;
    }
    let colon =
        text.match_indices(':').find(|&(at, _)| matches!(text.as_bytes().get(at + 1), None | Some(b' ')))?.0;
    Some((text[..colon].trim_end().to_owned(), text[colon + 1..].trim_start()))
}

/// A value in one line: a list or a map in brackets, or a scalar.
fn scalar(at: usize, text: &str, depth: usize) -> Result<Value, Fault> {
    let mut flow = Flow { text, position: 0, at };
    match text.chars().next() {
        Some('&' | '*' | '!' | '|' | '>' | '%' | '@' | '`') => {
            fault(at, "anchors, tags and texts of several lines are not read")
        }
        // Lists of hosts begin with brackets of their own only where a name is missing.
        Some('[' | '{' | '"' | '\'') => {
            let value = flow.value(depth)?;
            match flow.text[flow.position..].trim() {
                "" => Ok(value),
                _ => fault(at + flow.position, "something stands behind the value"),
            }
        }
        _ => Ok(Value { at, node: Node::Scalar(text.to_owned()) }),
    }
}

/// A value in brackets or quotes.
struct Flow<'a> {
    text: &'a str,
    position: usize,
    at: usize,
}

impl Flow<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start().len();
        self.text[self.position..].chars().next()
    }

    fn fault<T>(&self, reason: &'static str) -> Result<T, Fault> {
        fault(self.at + self.position, reason)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        if depth > MOST_DEPTH {
            return self.fault("values lie too deep in each other");
        }
        let first = self.peek();
        let at = self.at + self.position;
        let node = match first {
            Some('[') => self.list(depth)?,
            Some('{') => self.map(depth)?,
            _ => Node::Scalar(self.plain()?),
        };
        Ok(Value { at, node })
    }

    fn list(&mut self, depth: usize) -> Result<Node, Fault> {
        self.position += 1;
        let mut values = Vec::new();
        while self.peek() != Some(']') {
            values.push(self.value(depth + 1)?);
            self.comma(']')?;
        }
        self.position += 1;
        Ok(Node::List(values))
    }

    fn map(&mut self, depth: usize) -> Result<Node, Fault> {
        self.position += 1;
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        while self.peek() != Some('}') {
            let key = self.plain()?;
            if !names.insert(key.clone()) {
                return self.fault("a key stands twice in a map");
            }
            if self.peek() != Some(':') {
                return self.fault("`key: value` is expected");
            }
            self.position += 1;
            entries.push((key, self.value(depth + 1)?));
            self.comma('}')?;
        }
        self.position += 1;
        Ok(Node::Map(entries))
    }

    fn comma(&mut self, close: char) -> Result<(), Fault> {
        match self.peek() {
            Some(',') => self.position += 1,
            Some(found) if found == close => {}
            _ => return self.fault("a bracket is left open"),
        }
        Ok(())
    }

    /// A scalar: quoted, or up to a comma, a colon, or the end of the bracket around it. Brackets that open in it belong to it, as
    /// in `node[01-04]`.
    fn plain(&mut self) -> Result<String, Fault> {
        let rest = &self.text[self.position..];
        if let Some(open) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let Some(end) = rest[1..].find(open) else { return self.fault("a quotation mark is left open") };
            self.position += end + 2;
            return Ok(rest[1..=end].to_owned());
        }
        let mut depth = 0usize;
        let is_end = |c: char| {
            match c {
                '[' => depth += 1,
                ']' if depth > 0 => depth -= 1,
                ',' | ']' | '}' | ':' => return depth == 0,
                _ => {}
            }
            false
        };
        let end = rest.find(is_end).unwrap_or(rest.len());
        if rest[..end].trim().is_empty() {
            return self.fault("a value is missing");
        }
        self.position += end;
        Ok(rest[..end].trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value as JSON.
    fn told(text: &str) -> String {
        fn tell(value: &Value) -> String {
            match &value.node {
                Node::Scalar(text) => format!("{text:?}"),
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
        let flow = "- {topology: t1, dims: {x: 2, y: 3}, nodes: node[1,2-3], sizes: [4, 16], name: 'a b'}\n";
        let expected = r#"[{"topology":"t1","dims":{"x":"2","y":"3"},"nodes":"node[1,2-3]","sizes":["4","16"],"name":"a b"}]"#;
        assert_eq!(told(flow), expected);
        assert_eq!(told("a:\nb: c:d\n"), r#"{"a":"","b":"c:d"}"#);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let texts = [
            "",
            "# nothing\n",
            "a: 1\na: 2\n",
            "a: &x 1\n",
            "a: |\n  b\n",
            "a: [1, 2\n",
            "a: {b: 1\n",
            "a: [1] 2\n",
            "a: \"b\n",
            "a:\n    b: 1\n  c: 2\n",
            "- a\n  - b\n",
            "a: 1\n- b\n",
            "\ta: 1\n",
            "a: 1\n---\nb: 2\n",
            "a: {b}\n",
            "a: [,]\n",
        ];
        for text in texts {
            assert!(parse(text).is_err(), "{text:?} -> {}", told(text));
        }
        assert!(parse(&("[".repeat(100_000))).is_err());
        assert!(parse(&("- ".repeat(100_000))).is_err());
    }
}
