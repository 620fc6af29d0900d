//! One line that is put together from pieces and never gets wider than it may.

use super::fit::{fit, width};

/// A line under construction.
#[derive(Debug)]
pub struct Row {
    left: usize,
    text: String,
}

impl Row {
    /// An empty line for so many columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            left: columns,
            text: String::new(),
        }
    }

    /// Columns that are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// Adds a text, cut where the line ends.
    #[must_use]
    pub fn put(self, text: &str) -> Self {
        self.paint(str::to_owned, text)
    }

    /// As [`Self::put`], in a colour.
    #[must_use]
    pub fn paint(mut self, paint: impl Fn(&str) -> String, text: &str) -> Self {
        let fitted = fit(text, self.left);
        self.left -= width(&fitted).min(self.left);
        if !fitted.is_empty() {
            self.text.push_str(&paint(&fitted));
        }
        self
    }

    /// Adds a text if there is room for all of it.
    #[must_use]
    pub fn whole(self, text: &str) -> Self {
        if width(text) <= self.left {
            self.put(text)
        } else {
            self
        }
    }

    /// Adds the first of the texts for which there is room, at the line's right end.
    #[must_use]
    pub fn right(self, paint: impl Fn(&str) -> String, texts: &[&str]) -> Self {
        let Some(text) = texts.iter().find(|text| width(text) + 2 <= self.left) else {
            return self;
        };
        let blanks = " ".repeat(self.left - width(text));
        self.put(&blanks).paint(paint, text)
    }

    /// The line.
    #[must_use]
    pub fn text(self) -> String {
        self.text
    }
}

/// A bar of so many columns: its full part and its rest.
#[must_use]
pub fn bar(done: u64, total: u64, columns: usize) -> (String, String) {
    let halves = u128::try_from(columns).unwrap_or(0) * 2;
    let full = (u128::from(done) * halves / u128::from(total.max(1))).min(halves);
    let full = usize::try_from(full).unwrap_or(0);
    let mut text = "━".repeat(full / 2);
    if full % 2 == 1 {
        text.push('╸');
    }
    (text, "─".repeat(columns - full.div_ceil(2)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, 10, "", "────")]
    #[case(5, 10, "━━", "──")]
    #[case(4, 10, "━╸", "──")]
    #[case(10, 10, "━━━━", "")]
    #[case(11, 10, "━━━━", "")]
    #[case(1, 0, "━━━━", "")]
    #[case(u64::MAX, u64::MAX, "━━━━", "")]
    fn bars(#[case] done: u64, #[case] total: u64, #[case] full: &str, #[case] rest: &str) {
        assert_eq!(bar(done, total, 4), (full.to_owned(), rest.to_owned()));
    }

    #[test]
    fn the_right_end_takes_what_fits() {
        let row = |columns: usize| {
            Row::new(columns)
                .put("left")
                .right(str::to_owned, &["a long word", "short"])
                .text()
        };
        assert_eq!(row(20), "left     a long word");
        assert_eq!(row(12), "left   short");
        assert_eq!(row(8), "left");
        assert_eq!(row(3), "le…");
    }

    #[test]
    fn colours_take_no_columns() {
        let row = Row::new(6)
            .paint(|text| format!("\u{1b}[31m{text}\u{1b}[0m"), "red")
            .put("blue");
        assert_eq!(row.text(), "\u{1b}[31mred\u{1b}[0mbl…");
    }
}
