//! Quotes words for a POSIX shell.

/// Quotes a word for a POSIX shell where it needs it. Unlike shlex, leaves `=`, `:` and `@`
/// alone, so that flags read as a guide writes them.
pub fn shell_quote(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./=:,@+%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_quote;

    #[test]
    fn words_are_quoted_only_if_necessary() {
        assert_eq!(shell_quote("--device=/dev/kfd"), "--device=/dev/kfd");
        assert_eq!(shell_quote("it's"), r"'it'\''s'");
        assert_eq!(shell_quote("a b"), "'a b'");
        assert_eq!(shell_quote(""), "''");
    }
}
