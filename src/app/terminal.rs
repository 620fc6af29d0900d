//! What is known of the terminal: width, colours, and writing to a pipe that may close.

use std::io::{BufRead, IsTerminal, Write};

use crate::report::document::{Block, Document};
use crate::report::terminal::{self, Terminal};

/// Whether colours go to standard output.
pub fn color() -> bool {
    std::io::stdout().is_terminal() && colors_wanted()
}

/// Whether colours go to standard error.
pub fn error_color() -> bool {
    std::io::stderr().is_terminal() && colors_wanted()
}

fn colors_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether more than ASCII can be shown: the locale says.
pub fn unicode() -> bool {
    // As the C library looks for it.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// The width of standard output; 100 where it is no terminal.
pub fn width() -> u16 {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| width.0.max(60))
}

/// What standard output can show.
pub fn shape() -> Terminal {
    Terminal {
        width: width(),
        color: color(),
        unicode: unicode(),
    }
}

/// Writes a document.
pub fn show(document: &Document) {
    print(&terminal::render(document, shape()));
}

/// Writes blocks without a title.
pub fn show_blocks(blocks: &[Block]) {
    print(&terminal::blocks(blocks, shape()));
}

/// Writes a result. A reader that has gone (`| head`) is no fault.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a result as JSON on one line, piece by piece: a round's verdicts are never held as text.
pub fn print_json(result: &impl serde::Serialize) {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if serde_json::to_writer(&mut out, result).is_ok() {
        let _ = writeln!(out).and_then(|()| out.flush());
    }
}

/// Asks a person to confirm. None where there is no terminal to ask at.
pub fn ask(question: &str) -> Option<bool> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return None;
    }
    let mut err = std::io::stderr();
    let _ = write!(err, "{question} [y/N] ").and_then(|()| err.flush());
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes a result as JSON of several lines.
pub fn print_pretty(result: &impl serde::Serialize) -> Result<(), serde_json::Error> {
    print(&format!("{}\n", serde_json::to_string_pretty(result)?));
    Ok(())
}

/// JSON on one line.
pub fn json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    format!("{text}\n")
}

/// Writes something to know.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes a result of several lines.
pub fn print_lines(lines: impl IntoIterator<Item = String>) {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    print(&text);
}
