//! A line of text that is harmless in every format.

use std::fmt;
use std::ops::Deref;

use retrial_readings::sanitize_message_line;

/// Text on one line, cut if it is very long, without control characters, escape sequences, marks of direction and
/// characters that XML cannot have. The format that writes it escapes markup.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line(String);

impl Line {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: AsRef<str>> From<T> for Line {
    fn from(text: T) -> Self {
        let line = text.as_ref().replace(['\n', '\t'], " ");
        Self(sanitize_message_line(&line).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
    }
}

/// A line is a text, as `String` is.
impl Deref for Line {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Returns the text of a [`Line`].
pub fn sanitize_line(text: &str) -> String {
    Line::from(text).0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn harmful_characters_are_removed(text in any::<String>()) {
            let line = Line::from(text);
            let harmful = ['\0', '\u{1b}', '\n', '\t', '\u{202e}', '\u{fffe}', '\u{ffff}'];
            prop_assert!(!line.contains(harmful));
            prop_assert_eq!(&Line::from(line.as_str()), &line);
        }
    }
}
