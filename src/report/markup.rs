//! HTML and SVG, written so that nothing from evidence can become markup: names of elements and
//! attributes are literals of this crate, everything else is text and is escaped.

use super::words::clean;

/// Markup that grows.
#[derive(Debug, Default)]
pub(super) struct Markup {
    text: String,
}

impl Markup {
    /// What was written so far.
    pub fn into_string(self) -> String {
        self.text
    }

    /// Markup of our own, as it is.
    pub fn literal(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Markup that was written by another writer.
    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.text.push_str(&other.text);
        self
    }

    /// Text on one line: escaped, control characters as pictures.
    pub fn text(&mut self, text: &str) -> &mut Self {
        escape(&mut self.text, &clean(text));
        self
    }

    /// Text whose lines count.
    pub fn lines(&mut self, text: &str) -> &mut Self {
        for line in text.lines() {
            escape(&mut self.text, &crate::logs::sanitize(line));
            self.text.push('\n');
        }
        self
    }

    /// An element with its content.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, &str)],
        content: impl FnOnce(&mut Self),
    ) -> &mut Self {
        self.open(name, attributes);
        self.text.push('>');
        content(self);
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
        self
    }

    /// An element that holds one line of text.
    pub fn leaf(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, &str)],
        text: &str,
    ) -> &mut Self {
        self.element(name, attributes, |inner| {
            inner.text(text);
        })
    }

    /// An element of SVG that holds nothing.
    pub fn empty(&mut self, name: &'static str, attributes: &[(&'static str, &str)]) -> &mut Self {
        self.open(name, attributes);
        self.text.push_str("/>");
        self
    }

    fn open(&mut self, name: &'static str, attributes: &[(&'static str, &str)]) {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            escape(&mut self.text, &clean(value));
            self.text.push('"');
        }
    }
}

/// Escapes what is markup, and leaves out what XML has no way to write.
fn escape(into: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => into.push(char::REPLACEMENT_CHARACTER),
            letter => into.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_text() {
        let mut markup = Markup::default();
        let hostile = "</p><script>alert('1')</script>]]>\0\u{1b}[31m\u{202e}\"&\u{ffff}";
        markup.element("p", &[("title", hostile)], |inner| {
            inner.text(hostile);
        });
        let written = markup.into_string();
        assert!(!written.contains("<script"), "{written}");
        assert!(!written.contains("]]>"), "{written}");
        assert!(!written.contains(['\0', '\u{1b}', '\u{202e}', '\u{ffff}']));
        assert_eq!(written.matches('<').count(), 2, "{written}");
        assert_eq!(written.matches('"').count(), 2, "{written}");
    }
}
