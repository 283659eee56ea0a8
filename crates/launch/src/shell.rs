//! Words and options of command lines.

/// An option with a list of hosts. Empty if it is too long for an argument: the hosts must then be those of
/// the allocation.
pub(super) fn hosts_option(option: &str, hosts: impl Iterator<Item = String>) -> String {
    let list = hosts.collect::<Vec<_>>().join(",");
    if list.len() < LONGEST_ARGUMENT { format!(" {option} {}", word(&list)) } else { String::new() }
}

/// The same if the list is in the word of the option.
pub(super) fn list_option(option: &str, hosts: impl Iterator<Item = String>) -> String {
    let text = format!("{option}{}", hosts.collect::<Vec<_>>().join(","));
    if text.len() < LONGEST_ARGUMENT { format!(" {}", word(&text)) } else { String::new() }
}

/// Longest argument that Linux passes on: 128 KiB, including the byte at its end.
pub(super) const LONGEST_ARGUMENT: usize = (128 << 10) - 1;

/// CPUs as a list such as `0,4`.
pub(super) fn cpu_list(cpus: &[u32], separator: &str) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

/// A text as a single shell word.
pub(super) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted_where_they_must_be() {
        assert_eq!(word("a/b-1.txt"), "a/b-1.txt");
        assert_eq!(word("my file"), "'my file'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }
}
