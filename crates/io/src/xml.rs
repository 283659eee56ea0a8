//! Files in XML: all of them are opened here.
//!
//! Files that define entities are refused, and so is an element with hundreds of attributes or a file with thousands of namespaces:
//! each could take time or memory out of proportion to its size. Where a document type is declared elsewhere, it is not read.

use roxmltree::{Document, ParsingOptions};

/// Attributes that an element may have at most. The time for them grows with the square of their number.
const MOST_ATTRIBUTES: usize = 1 << 8;
/// Declarations of namespaces that a file may have at most. Each element may hold all of them once more.
const MOST_NAMESPACES: usize = 1 << 12;

/// A text as XML, or why it is none and the offset of the byte where that shows.
pub fn open(text: &str) -> Result<Document<'_>, (usize, String)> {
    check(text)?;
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let at = error.pos();
        let line_start = match at.row {
            0 | 1 => 0,
            row => text.match_indices('\n').nth(row as usize - 2).map_or(text.len(), |(end, _)| end + 1),
        };
        let rest = text.get(line_start..).unwrap_or_default();
        let column = rest.char_indices().nth(at.col.saturating_sub(1) as usize).map_or(0, |(at, _)| at);
        (line_start + column, error.to_string())
    })
}

/// Refuses what expands. O(text).
fn check(text: &str) -> Result<(), (usize, String)> {
    if let Some(at) = text.find("<!ENTITY") {
        return Err((at, "it defines an entity; write instead of each entity what it stands for".to_owned()));
    }
    if let Some((at, _)) = text.match_indices("xmlns").nth(MOST_NAMESPACES) {
        return Err((at, format!("it has more than {MOST_NAMESPACES} namespaces")));
    }
    for (at, _) in text.match_indices('<') {
        if num_attributes(&text[at..]) > MOST_ATTRIBUTES {
            return Err((at, format!("an element has more than {MOST_ATTRIBUTES} attributes")));
        }
    }
    Ok(())
}

/// Returns the number of attributes of the tag that starts here: its quoted texts. O(tag).
fn num_attributes(text: &str) -> usize {
    let mut open = None;
    let mut count = 0;
    if text.starts_with("<!") || text.starts_with("<?") {
        return 0;
    }
    for byte in text.bytes().skip(1) {
        match (open, byte) {
            // No attribute has this in it.
            (_, b'<') | (None, b'>') => break,
            (None, b'"' | b'\'') => open = Some(byte),
            (Some(quote), _) if quote == byte => (open, count) = (None, count + 1),
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (usize, String) {
        open(text).map(|_| ()).unwrap_err()
    }

    #[test]
    fn what_expands_is_refused() {
        assert!(open("<!DOCTYPE a SYSTEM \"a.dtd\">\n<a b=\"&lt;&#65;\"/>").is_ok());
        let (at, reason) = refused("<!DOCTYPE a [\n<!ENTITY e \"x\">]>\n<a b=\"&e;\"/>");
        assert_eq!(at, 14);
        assert!(reason.contains("defines an entity"), "{reason}");
        let attributes = |count: usize| (0..count).map(|i| format!(" a{i}='>'")).collect::<String>();
        let elements = |count: usize| format!("<r>{0}{0}</r>", format!("<a{}/>", attributes(count)));
        assert!(open(&elements(MOST_ATTRIBUTES)).is_ok());
        assert_eq!(refused(&elements(MOST_ATTRIBUTES + 1)).0, 3);
        let namespaces = |count: usize| format!("<r>{}</r>", "<a xmlns:b='c'/>".repeat(count));
        assert!(open(&namespaces(MOST_NAMESPACES)).is_ok());
        assert!(refused(&namespaces(MOST_NAMESPACES + 1)).1.contains("namespaces"));
    }

    #[test]
    fn faults_stand_at_their_bytes() {
        assert_eq!(refused("<a>\nä <b></a>").0, 10);
        assert_eq!(refused("").0, 0);
    }
}
