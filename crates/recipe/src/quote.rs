//! Quotes words for a POSIX shell.

/// Quotes a word for a POSIX shell where it needs it. Unlike shlex, leaves `=`, `:` and `@`
/// alone, so that flags read as a guide writes them.
pub fn quote(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./=:,@+%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn words_are_quoted_only_if_necessary() {
        assert_eq!(quote("--device=/dev/kfd"), "--device=/dev/kfd");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote(""), "''");
    }
}
