//! Colours, as escape sequences if the terminal has them.

use super::Terminal;
use crate::document::Tone;

impl Terminal {
    pub(super) fn bold(self, text: &str) -> String {
        self.apply_code("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.apply_code("2", text)
    }

    pub(super) fn style_tone(self, tone: Tone, text: &str) -> String {
        self.apply_code(tone_code(tone), text)
    }

    pub(super) fn style_strong_tone(self, tone: Tone, text: &str) -> String {
        self.apply_code(&format!("1;{}", tone_code(tone)), text)
    }

    /// Wraps a text in an escape sequence, if the terminal has colours.
    pub(super) fn apply_code(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

fn tone_code(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "32",
        Tone::Plain => "36",
        Tone::Open => "33",
        Tone::Bad => "31",
        Tone::Faint => "2",
    }
}
