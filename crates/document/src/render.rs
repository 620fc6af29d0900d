//! Diagnostics for people, drawn as rustc draws its own.

use std::fmt::Write as _;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::source::Span;
use super::text::is_harmful;

/// Lines with more columns than this are shown in part.
const MAX_LINE_COLUMNS: usize = 110;

impl Diagnostics {
    /// Returns all of them as text, with a line that counts them at the end.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let wide_renderer = renderer.term_width(MAX_LINE_COLUMNS);
        let mut out = String::new();
        for diagnostic in self {
            out += &wide_renderer.render(&[diagnostic_group(diagnostic)]);
            out += "\n\n";
        }
        if self.omitted_count() > 0 {
            let _ = writeln!(out, "and {} more", self.omitted_count());
        }
        if !self.is_empty() {
            out += &self.count_summary();
            out.push('\n');
        }
        out
    }
}

fn diagnostic_group(diagnostic: &Diagnostic) -> Group<'static> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(to_one_line(&diagnostic.message));
    let mut group = title.element(marked_snippet(&diagnostic.span));
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(to_one_line(help)));
    }
    if let Some(variants) = &diagnostic.variants {
        group = group.element(Level::NOTE.message(format!("only with {}", to_one_line(variants))));
    }
    group
}

/// Returns the first line of a span, with its marked part.
fn marked_snippet(span: &Span) -> Snippet<'static, Annotation<'static>> {
    let path = &*span.source.path;
    let text = &*span.source.text;
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or("");
    let from = (span.start - start).min(line.len());
    let to = (span.end - start).clamp(from, line.len());
    let marked = line[from..to].trim_end();
    let after = &line[from + marked.len()..];
    // A line may be the whole file; text far to the right of the span would be cut anyway.
    let near = 4 * MAX_LINE_COLUMNS;
    let marked = replace_harmful(&marked[..marked.floor_char_boundary(near)]);
    let after = replace_harmful(after[..after.floor_char_boundary(near)].trim_end());
    // An option of the command line is its own source, and has no lines.
    let is_option = path.starts_with("--") || path == "RECIPE";
    let before = replace_harmful(&line[..from]);
    let before = if is_option { format!("{path} {before}") } else { before };
    let range = before.len()..before.len() + marked.len();
    let snippet =
        Snippet::source(before + &marked + &after).annotation(AnnotationKind::Primary.span(range));
    if is_option {
        return snippet.line_numbering(false);
    }
    let (number, _) = span.line_and_column();
    snippet.line_start(number).path(to_one_line(path))
}

/// A file may hold anything: no control character reaches the terminal. Every character stays one,
/// so that columns stay right; the renderer expands tabs.
fn replace_harmful(text: &str) -> String {
    let is_odd = |letter: char| letter == '\u{feff}' || is_harmful(letter);
    text.replace(is_odd, "\u{fffd}")
}

fn to_one_line(text: &str) -> String {
    replace_harmful(&text.replace('\n', " ").replace('\t', "    "))
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn render_marked(text: &str, mark: &str) -> String {
        let source = Source::new("r.yaml", text);
        let at = text.find(mark).unwrap();
        let span = source.span(at..at + mark.len());
        Diagnostics::from(Diagnostic::error("code", "wrong", span).with_help("do this"))
            .render(false)
    }

    #[test]
    fn the_caret_is_under_the_marked_text() {
        let expected = "error: wrong\n --> r.yaml:2:4\n  |\n2 | b: cc\n  |    ^^\n  |\n  = help: do this\n\n1 error\n";
        assert_eq!(render_marked("a: 1\nb: cc\n", "cc"), expected);
    }

    #[test]
    fn the_caret_is_aligned_after_wide_characters_and_tabs() {
        let text = render_marked("名:\tx: bad\n", "bad");
        assert!(text.contains("1 | 名:    x: bad\n  |           ^^^\n"), "{text}");
    }

    #[test]
    fn long_lines_are_truncated_around_the_caret() {
        let line = format!("{} bad {}", "x".repeat(500), "y".repeat(500));
        let text = render_marked(&line, "bad");
        assert!(text.lines().all(|line| line.chars().count() < 130), "{text}");
        assert!(text.contains("^^^"));
    }

    #[test]
    fn control_characters_are_not_printed() {
        let text = render_marked("a: \u{1b}[31mred\u{202e}\n", "red");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    }
}
