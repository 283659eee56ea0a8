//! Texts with places to fill, such as `@RANKS@`.

/// A text with a value in each of its places. Values are never searched for places, whatever they hold.
///
/// Panics if a place has no value, or a value no place: both are constants of this module's users.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut is_used = vec![false; values.len()];
    let mut rest = template;
    while let Some((before, name, after)) = next_place(rest) {
        let index = values.iter().position(|value| value.0 == name);
        let index = index.unwrap_or_else(|| panic!("no value for the place {name}"));
        is_used[index] = true;
        text += before;
        text += values[index].1;
        rest = after;
    }
    assert!(is_used.iter().all(|&is_used| is_used), "a value without a place");
    text + rest
}

/// Returns the text before the first place, its name and the text behind it. A name has capital letters only: an `@` of a shell's `"$@"` is none.
fn next_place(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('@').find_map(|(at, _)| {
        let behind = &text[at + 1..];
        let end = behind.find(|c: char| !c.is_ascii_uppercase())?;
        let after = behind[end..].strip_prefix('@')?;
        (end > 0).then(|| (&text[..at], &behind[..end], after))
    })
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn values_are_not_searched_for_places() {
        let values = [("A", "@B@"), ("B", "@A@"), ("LONG", "")];
        assert_eq!(fill("@A@@B@ x@LONG@y \"$@\" @@ @a@ A@A@", &values), "@B@@A@ xy \"$@\" @@ @a@ A@B@");
        assert_eq!(fill("exec \"$@\"", &[]), "exec \"$@\"");
        assert_eq!(fill("@", &[]), "@");
    }

    #[test]
    #[should_panic(expected = "no value for the place RANKS")]
    fn each_place_needs_a_value() {
        fill("@RANKS@", &[("RANK", "1")]);
    }
}
