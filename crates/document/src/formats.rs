//! The formats of texts: their required syntax.

use super::suggest::did_you_mean;

/// The problem of a text that violates its format, and a suggested fix.
pub type FormatMismatch = (String, Option<String>);

/// A format of texts. Crates declare their own as constants.
#[derive(Debug, Clone, Copy)]
pub struct StringFormat {
    check: fn(&str) -> Option<FormatMismatch>,
    check_start: fn(&str) -> Option<FormatMismatch>,
    /// A regular expression for the format, where one exists.
    pub pattern: Option<&'static str>,
    /// The check receives the text with its expressions, before they are evaluated.
    pub has_own_expressions: bool,
}

impl StringFormat {
    /// Returns a format that this function checks.
    pub const fn new(check: fn(&str) -> Option<FormatMismatch>) -> Self {
        Self { check, check_start: |_| None, pattern: None, has_own_expressions: false }
    }

    /// Adds a regular expression of the format for editors; it may be weaker than the check.
    #[must_use]
    pub const fn with_pattern(mut self, pattern: &'static str) -> Self {
        self.pattern = Some(pattern);
        self
    }

    /// Adds a check of the start of a text, for texts that continue with an expression.
    #[must_use]
    pub const fn with_start_check(mut self, check: fn(&str) -> Option<FormatMismatch>) -> Self {
        self.check_start = check;
        self
    }

    /// Passes texts to the check with their expressions, before they are evaluated.
    #[must_use]
    pub const fn with_expressions(mut self) -> Self {
        self.has_own_expressions = true;
        self
    }

    /// Returns the problem of a text, none if it has this format.
    pub fn mismatch(self, text: &str) -> Option<FormatMismatch> {
        (self.check)(text)
    }

    /// Returns the problem of a text's start, up to its first expression.
    pub fn start_mismatch(self, start: &str) -> Option<FormatMismatch> {
        (self.check_start)(start)
    }
}

/// Accepts any text, empty text too.
pub const ANY: StringFormat = StringFormat::new(|_| None);

/// Accepts text that is not empty.
pub const FILLED: StringFormat = StringFormat::new(check_not_empty);

/// Accepts one line that is not empty.
pub const LINE: StringFormat = StringFormat::new(check_line);

/// Accepts a name of the user's choice: letters, digits, `_`, `-`, `.`.
pub const NAME: StringFormat =
    StringFormat::new(check_name).with_pattern("^[A-Za-z0-9_][A-Za-z0-9_.-]*$");

/// Accepts a whole number above 0.
pub const COUNT: StringFormat = StringFormat::new(check_count).with_pattern("^[1-9][0-9]*$");

/// Accepts 64 hexadecimal digits.
pub const SHA256: StringFormat = StringFormat::new(check_sha256).with_pattern("^[0-9a-fA-F]{64}$");

/// Accepts a relative path that stays below its directory.
pub const RELATIVE_PATH: StringFormat = StringFormat::new(check_relative_path);

/// Returns a mismatch with a suggested fix.
pub fn mismatch_with_help(
    message: impl Into<String>,
    help: impl Into<String>,
) -> Option<FormatMismatch> {
    Some((message.into(), Some(help.into())))
}

/// Returns a mismatch unless the text fits.
pub fn mismatch_unless(
    fits: bool,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Option<FormatMismatch> {
    if fits { None } else { mismatch_with_help(message, help) }
}

/// Checks that a text is one of a list.
pub fn check_one_of(text: &str, values: &[&str], problem: &str) -> Option<FormatMismatch> {
    if values.contains(&text) {
        return None;
    }
    let help = did_you_mean(text, values.iter().copied(), "known are");
    mismatch_with_help(format!("`{text}` is {problem}"), help)
}

/// Checks that a path has no `..`.
pub fn check_no_parent(text: &str) -> Option<FormatMismatch> {
    if text.split('/').any(|part| part == "..") {
        return mismatch_with_help("`..` in a path", "write the resolved path, without `..`");
    }
    None
}

/// Returns whether a text is not empty, and of ASCII letters, digits and these characters.
pub fn is_word(text: &str, others: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    !text.is_empty() && text.chars().all(fits)
}

/// Returns whether a text has exactly this number of hexadecimal digits.
pub fn is_hexadecimal(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a text has exactly this number of hexadecimal digits, all letters in lower case.
pub fn is_lower_hexadecimal(text: &str, digits: usize) -> bool {
    is_hexadecimal(text, digits) && !text.contains(|letter: char| letter.is_ascii_uppercase())
}

fn check_not_empty(text: &str) -> Option<FormatMismatch> {
    if text.trim().is_empty() {
        return mismatch_with_help("this is empty", "write it, or remove the key");
    }
    None
}

fn check_line(text: &str) -> Option<FormatMismatch> {
    if text.trim_end().contains('\n') {
        return mismatch_with_help("this must be one line", "put longer text under `description`");
    }
    check_not_empty(text)
}

fn check_name(text: &str) -> Option<FormatMismatch> {
    let good = is_word(text, "_-.") && !text.starts_with(['-', '.']) && text.len() <= 100;
    mismatch_unless(
        good,
        format!("`{text}` is not a valid name"),
        "names have letters, digits, `_`, `-` and `.`, and begin with a letter or digit",
    )
}

fn check_count(text: &str) -> Option<FormatMismatch> {
    mismatch_unless(
        text.parse::<u64>().is_ok_and(|count| count > 0),
        format!("`{text}` is not a count"),
        "write a whole number above 0",
    )
}

fn check_sha256(text: &str) -> Option<FormatMismatch> {
    mismatch_unless(
        is_hexadecimal(text, 64),
        "this is not a SHA-256",
        "64 hexadecimal digits, as `sha256sum FILE` prints them",
    )
}

fn check_relative_path(text: &str) -> Option<FormatMismatch> {
    if text.is_empty() {
        return mismatch_with_help("this is empty", "write a relative path");
    }
    if text.starts_with('/') || text.starts_with('~') {
        return mismatch_with_help(
            "this path must be relative",
            "it is relative to a directory of its own",
        );
    }
    check_no_parent(text)
}
