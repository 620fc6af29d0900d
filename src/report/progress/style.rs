//! Colours, or none.

/// How text is marked: by colours where they are wanted, else not at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    color: bool,
}

impl Style {
    /// With colours or without.
    #[must_use]
    pub fn new(color: bool) -> Self {
        Self { color }
    }

    /// What went well.
    #[must_use]
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// What failed.
    #[must_use]
    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// What to know.
    #[must_use]
    pub fn warning(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// What goes on.
    #[must_use]
    pub fn active(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// What stands in the foreground.
    #[must_use]
    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What stands in the background.
    #[must_use]
    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
