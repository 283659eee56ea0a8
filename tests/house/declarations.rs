//! What a file of Rust code declares, as far as the record of the public interface needs it.

use crate::code::{CratePath, follow};

/// An item: a type, a function, a constant, a module.
#[derive(Clone, Debug)]
pub struct Declaration<'a> {
    pub is_public: bool,
    /// `struct`, `fn` and so on.
    pub keyword: &'a str,
    pub name: &'a str,
    /// Derived traits, and whether it may grow.
    pub attributes: Vec<String>,
    /// All up to the body, as text.
    pub head: String,
    /// What stands between the braces of the body, if it has one.
    pub body: Option<&'a [&'a str]>,
}

/// What stands in a module, or between other braces.
#[derive(Default)]
pub struct Declarations<'a> {
    pub items: Vec<Declaration<'a>>,
    /// Items in tables of choices (`named!`, `members!`): the enum, and its methods.
    pub choices: Vec<Vec<Declaration<'a>>>,
    pub impls: Vec<Impl<'a>>,
    /// Names handed on to everyone, and what they stand for.
    pub exports: Vec<(String, CratePath)>,
}

/// An implementation.
pub struct Impl<'a> {
    /// The type that has it.
    pub of: &'a str,
    pub is_of_trait: bool,
    pub head: String,
    pub body: &'a [&'a str],
}

const KEYWORDS: [&str; 9] = ["struct", "enum", "union", "trait", "type", "fn", "mod", "static", "const"];

/// The declarations among tokens that stand in the module `own`.
pub fn declarations<'a>(tokens: &'a [&'a str], own: &[String]) -> Declarations<'a> {
    let mut found = Declarations::default();
    let mut rest = tokens;
    while !rest.is_empty() {
        let (attributes, item) = after_attributes(rest);
        let (item, after) = item.split_at(length_of_item(item));
        rest = after;
        if attributes.contains(&["doc", "(", "hidden", ")"].as_slice()) {
            continue;
        }
        match item {
            ["pub", "use", path @ ..] => {
                let mut mentions = Vec::new();
                follow(path.strip_suffix(&[";"]).unwrap_or(path), None, own, true, &mut mentions);
                found.exports.extend(mentions.into_iter().filter_map(|it| Some((it.exported?, it.path))));
            }
            ["impl", ..] => found.impls.extend(implementation(item)),
            ["named" | "members", "!", "{", table @ .., "}"] => {
                found.choices.push(declarations(table, own).items);
            }
            _ => found.items.extend(declaration(&attributes, item)),
        }
    }
    found
}

/// The attributes at the start of the tokens, and what comes after them.
fn after_attributes<'a>(tokens: &'a [&'a str]) -> (Vec<&'a [&'a str]>, &'a [&'a str]) {
    let mut attributes = Vec::new();
    let mut rest = tokens;
    while let ["#", "[", ..] | ["#", "!", "[", ..] = rest {
        let start = rest.iter().position(|&token| token == "[").expect("an attribute") + 1;
        let inside = &rest[start..];
        let end = top_level(inside, &["]"]).unwrap_or(inside.len());
        attributes.push(&inside[..end]);
        rest = inside.get(end + 1..).unwrap_or(&[]);
    }
    (attributes, rest)
}

/// How many tokens an item takes: up to its semicolon, or to the end of its braces.
fn length_of_item(tokens: &[&str]) -> usize {
    let mut depth = 0;
    for (index, &token) in tokens.iter().enumerate() {
        match token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (token == ";" || token == "}" && tokens[..2.min(index)] != ["pub", "use"]) {
            return index + 1;
        }
    }
    tokens.len()
}

/// Where one of some tokens first stands outside of all brackets.
fn top_level(tokens: &[&str], wanted: &[&str]) -> Option<usize> {
    let (mut depth, mut angles) = (0, 0);
    for (index, &token) in tokens.iter().enumerate() {
        if depth == 0 && angles == 0 && wanted.contains(&token) {
            return Some(index);
        }
        match token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            "<" => angles += 1,
            ">" if index == 0 || tokens[index - 1] != "-" => angles -= 1,
            _ => {}
        }
    }
    None
}

/// The parts between commas.
pub fn parts<'a>(tokens: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let mut parts = Vec::new();
    let mut rest = tokens;
    while !rest.is_empty() {
        let end = top_level(rest, &[","]).unwrap_or(rest.len());
        parts.push(after_attributes(&rest[..end]).1);
        rest = rest.get(end + 1..).unwrap_or(&[]);
    }
    parts
}

fn declaration<'a>(attributes: &[&[&str]], item: &'a [&'a str]) -> Option<Declaration<'a>> {
    let is_public = matches!(item, ["pub", next, ..] if *next != "(");
    let at = item.iter().position(|token| KEYWORDS.contains(token))?;
    // What precedes a function or a constant: `pub const unsafe fn`.
    let at = at + usize::from(item[at] == "const" && matches!(item.get(at + 1), Some(&"fn")));
    let (&keyword, &name) = (item.get(at)?, item.get(at + 1)?);
    let end = match keyword {
        "type" => top_level(item, &[";"]),
        "const" | "static" => top_level(item, &["=", ";"]),
        "fn" => top_level(item, &["{", ";", "="]),
        _ => top_level(item, &["{", ";"]),
    };
    let end = end.unwrap_or(item.len());
    let body = match item[end..] {
        ["{", .., "}"] => Some(&item[end + 1..item.len() - 1]),
        _ => None,
    };
    let attributes =
        attributes.iter().filter(|attribute| ["derive", "non_exhaustive"].contains(&attribute[0]));
    let attributes = attributes.map(|attribute| text(attribute)).collect();
    Some(Declaration { is_public, keyword, name, attributes, head: text(&item[..end]), body })
}

fn implementation<'a>(item: &'a [&'a str]) -> Option<Impl<'a>> {
    let end = top_level(item, &["{"])?;
    let generics = match item {
        ["impl", "<", ..] => 1 + closing_angle(&item[1..end])?,
        _ => 1,
    };
    let named = &item[generics..end];
    let trait_end = top_level(named, &["for"]);
    let subject = &named[trait_end.map_or(0, |at| at + 1)..];
    let path = &subject[..top_level(subject, &["<", "where"]).unwrap_or(subject.len())];
    let of = path.iter().rfind(|token| token.starts_with(char::is_alphabetic))?;
    let body = &item[end + 1..item.len() - 1];
    Some(Impl { of, is_of_trait: trait_end.is_some(), head: text(&item[..end]), body })
}

/// How many tokens the generics at the start take.
fn closing_angle(tokens: &[&str]) -> Option<usize> {
    let mut depth = 0;
    for (index, &token) in tokens.iter().enumerate() {
        match token {
            "<" => depth += 1,
            ">" if tokens[index - 1] != "-" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

/// Tokens as text, without what a caller does not see: trailing commas, and which parameters a body changes.
pub fn text(tokens: &[&str]) -> String {
    let mut text = String::new();
    for (index, &token) in tokens.iter().enumerate() {
        let before = if index == 0 { "" } else { tokens[index - 1] };
        let is_own_mut = token == "mut" && ["(", ","].contains(&before);
        let is_trailing = token == "," && matches!(tokens.get(index + 1), Some(&")" | &"]" | &"}") | None);
        if is_own_mut || is_trailing {
            continue;
        }
        let is_word = |text: &str| text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_closing = matches!(token, ")" | "]" | "}" | ",");
        let is_arrow = token == "-" && tokens.get(index + 1) == Some(&">");
        let ends_arrow = before == ">" && index > 1 && tokens[index - 2] == "-";
        let has_space = is_arrow
            || ends_arrow
            || ["=", "+", "{"].contains(&token)
            || [",", ":", "=", "+", ";"].contains(&before)
            || is_word(token) && (is_word(before) || [")", ">", "]"].contains(&before))
            || token == "[" && before == "mut"
            || token == "&" && is_word(before);
        if has_space && !is_closing && !text.is_empty() && !text.ends_with([' ', '(']) {
            text.push(' ');
        }
        text.push_str(token);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::tokens;

    fn heads(code: &str) -> Vec<String> {
        let tokens = tokens(code);
        declarations(&tokens, &[]).items.into_iter().map(|item| item.head).collect()
    }

    #[test]
    fn heads_end_at_bodies_and_values() {
        let code = "pub const fn f<'a>(mut x: &'a mut [u8; 3], g: impl Fn(u8) -> Option<u8>,) -> Vec<u8> where u8: Copy { x }
                    pub const A: [u8; 2] = [1, 2]; pub(crate) struct S(pub Vec<u8>, u8); pub type T<'a> = &'a dyn Fn();";
        let expected = [
            "pub const fn f<'a>(x: &'a mut [u8; 3], g: impl Fn(u8) -> Option<u8>) -> Vec<u8> where u8: Copy",
            "pub const A: [u8; 2]",
            "pub(crate) struct S(pub Vec<u8>, u8)",
            "pub type T<'a> = &'a dyn Fn()",
        ];
        assert_eq!(heads(code), expected);
    }

    #[test]
    fn items_have_attributes_and_members() {
        let code = "#[derive(Clone, Debug)]\n#[non_exhaustive]\npub struct S<'a> { pub a: Map<u8, u8>, b: &'a u8, }\n\
                    #[doc(hidden)] pub fn hidden() {}\nmembers! { #[derive(Default)] pub enum E: \"e\" { A = \"a\" by f::g, } }";
        let tokens = tokens(code);
        let found = declarations(&tokens, &[]);
        assert_eq!(found.items.len(), 1);
        assert_eq!(found.items[0].attributes, ["derive(Clone, Debug)", "non_exhaustive"]);
        let fields: Vec<String> = parts(found.items[0].body.unwrap()).into_iter().map(text).collect();
        assert_eq!(fields, ["pub a: Map<u8, u8>", "b: &'a u8"]);
        assert_eq!(found.choices[0][0].name, "E");
    }

    #[test]
    fn implementations_name_their_type() {
        let code = "impl<'a, T: Into<u8>> From<T> for crate::a::S<'a, T> where T: Copy {} impl<M> R<M> { pub fn f() {} }";
        let tokens = tokens(code);
        let found: Vec<_> = declarations(&tokens, &[])
            .impls
            .into_iter()
            .map(|it| (it.of.to_owned(), it.is_of_trait))
            .collect();
        assert_eq!(found, [("S".to_owned(), true), ("R".to_owned(), false)]);
    }
}
