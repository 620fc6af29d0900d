//! Breaks long lines between words: texts by YAML's `>-`, which joins them by blanks, and comments.

use itertools::Itertools as _;
use textwrap::{Options, WordSeparator, WordSplitter};

use crate::expression::find_expressions;

/// The most columns of a line. A word that is longer, and a line of a script, stay as they are.
pub(super) const MAX_COLUMNS: usize = 118;

/// Returns a comment as lines of at most this width, with `# ` and an indent; those behind the first of an item `- ` are
/// within it.
pub(super) fn wrap_comment(text: &str, indent: &str) -> String {
    let first = format!("{indent}# ");
    let within = if text.starts_with("- ") { "  " } else { "" };
    let others = format!("{first}{within}");
    let lines = break_line(text, &first, &others);
    lines.iter().map(|line| line.trim_end()).join("\n") + "\n"
}

fn break_line<'a>(
    text: &'a str,
    first: &'a str,
    others: &'a str,
) -> Vec<std::borrow::Cow<'a, str>> {
    let options = Options::new(MAX_COLUMNS)
        .initial_indent(first)
        .subsequent_indent(others)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options)
}

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
    is_foldable.then(|| {
        let text = join_expressions(&text);
        let lines = break_line(&text, &margin, &margin).join("\n").replace(JOINT, " ");
        format!("{}{start}>-\n{lines}\n", &line[..indent])
    })
}

/// Stands for a blank in an expression, which is not broken: a character that no such text has.
const JOINT: char = '\u{1}';

fn join_expressions(text: &str) -> String {
    let mut out = String::new();
    let mut done = 0;
    for expression in find_expressions(text).unwrap_or_default() {
        out.push_str(&text[done..expression.inner.start]);
        out.extend(
            text[expression.inner.clone()].chars().map(|one| if one == ' ' { JOINT } else { one }),
        );
        done = expression.inner.end;
    }
    out + &text[done..]
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

    #[test]
    fn an_expression_is_on_one_line() {
        let text = "bench --requests ${{ sweep.concurrency * 10 }} ".repeat(9);
        let folded = fold_line(&format!("run: {}\n", text.trim()));
        let lines: Vec<&str> = folded.lines().skip(1).collect();
        assert!(lines.len() > 3, "{folded}");
        let opened = |line: &&str| line.matches("${{").count() == line.matches("}}").count();
        assert!(lines.iter().all(opened), "{folded}");
        assert_eq!(lines.iter().map(|line| line.trim()).join(" "), text.trim());
    }
}
