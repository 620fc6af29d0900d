//! Diagnostics for people: path, line, column, the line itself, a caret under the text.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

use super::diagnostic::{Diagnostic, Diagnostics, Severity};

/// Lines longer than this are shown in part.
const WIDEST: usize = 110;

struct Style {
    bad: &'static str,
    look: &'static str,
    frame: &'static str,
    bold: &'static str,
    reset: &'static str,
}

const COLOUR: Style = Style {
    bad: "\u{1b}[1;31m",
    look: "\u{1b}[1;33m",
    frame: "\u{1b}[34m",
    bold: "\u{1b}[1m",
    reset: "\u{1b}[0m",
};

const PLAIN: Style = Style {
    bad: "",
    look: "",
    frame: "",
    bold: "",
    reset: "",
};

impl Diagnostics {
    /// All of them as text, with a line that counts them at the end.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let style = if colour { &COLOUR } else { &PLAIN };
        let mut out = String::new();
        for diagnostic in self {
            // Writing to a string cannot fail.
            let _ = one(&mut out, diagnostic, style);
        }
        if self.left_out() > 0 {
            let _ = writeln!(out, "and {} more", self.left_out());
        }
        if !self.is_empty() {
            let _ = writeln!(out, "{}", self.summary());
        }
        out
    }
}

fn one(out: &mut String, diagnostic: &Diagnostic, style: &Style) -> std::fmt::Result {
    let Style {
        frame, bold, reset, ..
    } = style;
    let (word, tone) = match diagnostic.severity {
        Severity::Error => ("error", style.bad),
        Severity::Warning => ("warning", style.look),
    };
    writeln!(
        out,
        "{tone}{word}{reset}{bold}: {}{reset}",
        shown(&diagnostic.message)
    )?;
    let (number, _) = diagnostic.span.position();
    let margin = number.to_string().len();
    let excerpt = Excerpt::of(diagnostic);
    let place = match &*diagnostic.span.source.path {
        option if option.starts_with("--") || option == "RECIPE" => {
            format!("{option} {}", diagnostic.span.source.text)
        }
        _ => diagnostic.span.to_string(),
    };
    writeln!(out, "{:margin$}{frame}-->{reset} {}", "", shown(&place))?;
    writeln!(out, "{:margin$} {frame}|{reset}", "")?;
    if !excerpt.line.is_empty() {
        writeln!(out, "{frame}{number} |{reset} {}", excerpt.line)?;
        let carets = "^".repeat(excerpt.width);
        writeln!(
            out,
            "{:margin$} {frame}|{reset} {:2$}{tone}{carets}{reset}",
            "", "", excerpt.before
        )?;
    }
    if let Some(help) = &diagnostic.help {
        writeln!(out, "{:margin$} {frame}={reset} help: {}", "", shown(help))?;
    }
    if let Some(variants) = &diagnostic.variants {
        writeln!(
            out,
            "{:margin$} {frame}={reset} with {}",
            "",
            shown(variants)
        )?;
    }
    out.push('\n');
    Ok(())
}

/// A line of the file as it may be shown, and where the caret stands below it, in columns.
struct Excerpt {
    line: String,
    before: usize,
    width: usize,
}

impl Excerpt {
    fn of(diagnostic: &Diagnostic) -> Self {
        let span = &diagnostic.span;
        let text = &*span.source.text;
        let start = text[..span.start]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let end = text[start..]
            .find('\n')
            .map_or(text.len(), |newline| start + newline);
        let line = text[start..end].trim_end_matches('\r');
        let from = (span.start - start).min(line.len());
        let to = (span.end - start).clamp(from, line.len());
        // A span that goes on below is marked to the end of its first line, less what is blank.
        let marked = line[from..to].trim_end();
        let after = &line[from + marked.len()..];
        // A line may be the whole file; what is far from the place is not looked at.
        let near = 4 * WIDEST;
        let mut before = shown(&line[line.floor_char_boundary(from.saturating_sub(near))..from]);
        let marked = shown(&marked[..marked.floor_char_boundary(near)]);
        let mut after = shown(&after[..after.floor_char_boundary(near)]);
        let mut lead = "";
        if columns(&before) > WIDEST / 2 {
            before = last_columns(&before, WIDEST / 2);
            lead = "…";
        }
        let marked = first_columns(&marked, WIDEST);
        let room = WIDEST.saturating_sub(columns(&before) + columns(&marked));
        if columns(&after) > room {
            after = first_columns(&after, room) + "…";
        }
        Self {
            before: columns(lead) + columns(&before),
            width: columns(&marked).max(1),
            line: format!("{lead}{before}{marked}{after}")
                .trim_end()
                .to_owned(),
        }
    }
}

/// A file may hold anything: control characters never reach the terminal raw.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => out.push_str("    "),
            '\n' => out.push(' '),
            // Marks that turn the direction of what follows are controls, too.
            '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

fn columns(text: &str) -> usize {
    text.chars().map(|letter| letter.width().unwrap_or(0)).sum()
}

fn first_columns(text: &str, most: usize) -> String {
    let mut used = 0;
    text.chars()
        .take_while(|letter| {
            used += letter.width().unwrap_or(0);
            used <= most
        })
        .collect()
}

fn last_columns(text: &str, most: usize) -> String {
    let mut used = 0;
    let kept: Vec<char> = text
        .chars()
        .rev()
        .take_while(|letter| {
            used += letter.width().unwrap_or(0);
            used <= most
        })
        .collect();
    kept.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn rendered(text: &str, mark: &str) -> String {
        let source = Source::new("r.yaml", text);
        let at = text.find(mark).unwrap();
        let span = source.span(at..at + mark.len());
        Diagnostics::from(Diagnostic::error("code", "wrong", span).help("do this")).render(false)
    }

    #[test]
    fn caret_under_the_text() {
        let expected = "error: wrong\n --> r.yaml:2:4\n  |\n2 | b: cc\n  |    ^^\n  = help: do this\n\n1 error\n";
        assert_eq!(rendered("a: 1\nb: cc\n", "cc"), expected);
    }

    #[test]
    fn wide_letters_and_tabs_keep_the_caret_in_place() {
        let text = rendered("名:\tx: bad\n", "bad");
        assert!(
            text.contains("1 | 名:    x: bad\n  |           ^^^\n"),
            "{text}"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let line = format!("{} bad {}", "x".repeat(500), "y".repeat(500));
        let text = rendered(&line, "bad");
        assert!(text.lines().all(|line| columns(line) < 130), "{text}");
        assert!(text.contains("^^^"));
    }

    #[test]
    fn control_characters_are_not_printed() {
        let text = rendered("a: \u{1b}[31mred\u{202e}\n", "red");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    }
}
