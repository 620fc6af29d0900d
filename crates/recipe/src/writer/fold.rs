//! Folds long texts over several lines: YAML's `>-`, which joins them by blanks.

use std::fmt::Write as _;

/// The most columns of a line.
const MAX_COLUMNS: usize = 118;

/// Returns a line of YAML, over several lines if it is a text that is too long for one.
pub(super) fn fold_line(line: &str) -> String {
    let body = line.trim_end_matches('\n');
    fold(body).filter(|_| body.chars().count() > MAX_COLUMNS).unwrap_or_else(|| line.to_owned())
}

fn fold(line: &str) -> Option<String> {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    let (start, value) = match rest.strip_prefix("- ") {
        Some(value) => ("- ", value),
        None => rest.split_once(": ").map(|(key, value)| (&rest[..key.len() + 2], value))?,
    };
    if start.contains(['"', ' ']) && start != "- " && !start.ends_with(": ") {
        return None;
    }
    let text = match value.strip_prefix('"') {
        // The strings of JSON are YAML's.
        Some(_) => serde_json::from_str::<String>(value).ok()?,
        None if value.starts_with(['\'', '|', '>', '{', '[', '&', '*', '!']) => return None,
        None => value.to_owned(),
    };
    let is_foldable =
        text.trim() == text && !text.contains(char::is_control) && !text.contains("  ");
    let margin = " ".repeat(indent + 2);
    let width = MAX_COLUMNS.saturating_sub(margin.len());
    is_foldable.then(|| {
        let mut out = format!("{}{}>-\n", &line[..indent], start);
        let mut current = String::new();
        for word in text.split(' ') {
            let is_full =
                !current.is_empty() && current.chars().count() + 1 + word.chars().count() > width;
            if is_full {
                let _ = writeln!(out, "{margin}{current}");
                current.clear();
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        let _ = writeln!(out, "{margin}{current}");
        out
    })
}

#[cfg(test)]
mod tests {
    use retrial_document::{Diagnostics, Source, parse_yaml};

    use super::*;

    #[test]
    fn a_folded_text_is_read_as_it_was() {
        let words = "x --url \"http://a:1\" # 'b' ";
        let text = words.repeat(8).trim().to_owned();
        let line = format!("  run: {}\n", serde_json::to_string(&text).unwrap());
        let folded = fold_line(&line);
        assert!(folded.lines().all(|line| line.len() <= MAX_COLUMNS), "{folded}");
        let source = Source::new("fold", format!("a:\n{folded}"));
        let read = parse_yaml(&source, &mut Diagnostics::default()).unwrap();
        assert_eq!(read.get("a").unwrap().text_at("run"), Some(&*text));
        assert_eq!(fold_line("a: b\n"), "a: b\n");
    }
}
