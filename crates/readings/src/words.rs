//! Texts that programs print in place of a number: words for a missing one, and for a failure.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

/// Marks before such a word: `(null)`, `<none>`, `"nan"`.
pub const OPENING: &str = r#"[(<\["'`]*"#;
/// Words in place of a number, in any case.
pub const MISSING: &str = concat!(
    r"(?i:[-+]?nan|[-+]?inf(?:inity)?|n/?a|null|nil|none|undefined|unknown|unavailable|unsupported",
    r"|no (?:data|result|value|output|measurement)s?",
    r"|not (?:measured|available|run|found|supported|finished|completed|reported|known|valid))"
);
/// Words for what went wrong.
pub const FAILED: &str = concat!(
    r"(?i:err(?:or)?|\w+(?:error|exception)|exception|traceback|fail(?:ed|ure)?|oom|out[ -]of[ -]memory",
    r"|time(?:d[ -]?)?out|crash(?:ed)?|abort(?:ed)?|killed|terminated|skipped|invalid|cancell?ed",
    r"|interrupted|panic(?:ked)?|seg(?:mentation )?fault|fatal|died|refused|unreachable|incomplete)"
);
/// Words for what went wrong wherever they stand behind a name, since no figure's name has them.
pub const BROKEN: &str = concat!(
    r"(?:(?-i:\b\w*[a-z](?:Error|Exception)\b)|(?i:\b(?:out of memory|outofmemory\w*|traceback|killed",
    r"|aborted|crashed|segmentation fault|core dumped|timed out",
    r"|(?:cuda|hip|nccl|rccl|gpu|device|runtime|internal|system|network|connection) (?:error|fault|failure)",
    r"|(?:connection|launch|run|benchmark|test|job|server|process|worker|rank) (?:failed|died|refused|reset))\b))"
);
/// Marks in place of a number. Behind a list's mark or a dash there may be prose, so the text ends with them,
/// or the cell.
pub const MARKS: &str = r"(?:-+|\?+|\*+|\.\.+|…)\s*(?:[,;|│)\]].*)?$";
/// The end of such a word.
pub const END: &str = r#"(?:[\s,;:.!|│)%\]}<>"'`].*)?$"#;
/// The end of such a word that no number follows: an error of 3 % is a figure.
pub const END_WITHOUT_NUMBER: &str =
    r#"(?:[\s,;:.!|│)%\]}<>"'`(]*$|[\s,;:.!|│)%\]}<>"'`(]+[^\s\d+.,-].*$)"#;

/// Returns whether a text stands in place of a number.
pub fn is_number_placeholder(text: &str) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let word = format!("^{OPENING}(?:(?:{MISSING}|{FAILED}){END}|{MARKS})|{BROKEN}");
        Regex::new(&word).ok()
    });
    let trimmed = text.trim();
    WORDS.as_ref().is_some_and(|words| words.is_match(trimmed))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    fn what_stands_in_place_of_a_number_is_known(
        #[values(
            "nan",
            "(null)",
            "<none>",
            "not measured",
            "no data",
            "--",
            "CUDA out of memory",
            "RuntimeError: CUDA error",
            "OutOfMemoryError",
            "Traceback (most recent call last):",
            "killed by signal 9",
            "OOM",
            "ERROR: see log"
        )]
        text: &str,
    ) {
        assert!(is_number_placeholder(text));
    }

    #[rstest]
    fn other_text_is_not(#[values("", "bf16", "bye", "12", "nano", "-a", "errors")] text: &str) {
        assert!(!is_number_placeholder(text));
    }
}
