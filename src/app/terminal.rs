//! The terminal: width, colours, and writing to a pipe that may close.

use std::io::{BufRead, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};
use std::sync::OnceLock;

use itertools::join;
use terminal_size::{Height, Width};
use tracing::level_filters::LevelFilter;

use retrial_document::{ErrorText, is_harmful};
use retrial_readings::{sanitize, sanitize_message};
use retrial_recipe::Diagnostics;
use retrial_report::document::{Block, Document};
use retrial_report::terminal::wrap::wrap_words;
use retrial_report::terminal::{self, Terminal};

/// Returns whether colours go to standard output.
pub fn uses_color() -> bool {
    std::io::stdout().is_terminal() && colors_enabled()
}

/// Returns whether colours go to standard error.
pub fn uses_error_color() -> bool {
    std::io::stderr().is_terminal() && colors_enabled()
}

fn colors_enabled() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns whether a terminal can be drawn on. A dumb one (an editor's shell, a serial console) shows escapes as
/// they are, and lines of the log would tear a drawing.
pub fn can_draw() -> bool {
    let is_logging = LevelFilter::current() != LevelFilter::OFF;
    !is_logging && std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Returns whether the locale allows more than ASCII.
pub fn allows_unicode() -> bool {
    // In the order of the C library.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    locale.is_none_or(|locale| {
        let lower_case = locale.to_ascii_lowercase();
        lower_case.contains("utf-8") || lower_case.contains("utf8")
    })
}

/// The width of standard output; 100 where it is no terminal.
pub fn stdout_width() -> u16 {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| width.0.max(60))
}

/// The capabilities of standard output.
pub fn stdout_capabilities() -> Terminal {
    Terminal { width: stdout_width(), color: uses_color(), unicode: allows_unicode() }
}

/// Prints a document, as wide and as coloured as standard output allows.
pub fn print_document(document: &Document) {
    print_text(&terminal::render_terminal(document, stdout_capabilities()));
}

/// Prints blocks without a title, as wide and as coloured as standard output allows.
pub fn print_blocks(blocks: &[Block]) {
    print_text(&terminal::render_blocks(blocks, stdout_capabilities()));
}

/// Prints a notice that is due next to figures, after an empty line; nothing for none.
pub fn print_notice(notice: Option<String>) {
    if let Some(notice) = notice {
        print_text("\n");
        print_blocks(&[Block::Notice(notice.into())]);
    }
}

/// The first failure to write standard output. A command reports it when it ends, as the tools of
/// coreutils do (gnulib's `close_stdout`): the run or the verdict itself is not lost by it.
static WRITE_FAILURE: OnceLock<std::io::Error> = OnceLock::new();

/// Records a failure to write standard output, for the end of the command. A reader that has gone
/// (`| head`) is no failure.
pub fn record_write_failure(result: std::io::Result<()>) {
    if let Err(error) = result
        && error.kind() != ErrorKind::BrokenPipe
    {
        // Only the first is reported.
        let _ = WRITE_FAILURE.set(error);
    }
}

/// The first failure to write standard output, if there was one.
pub fn first_write_failure() -> Option<&'static std::io::Error> {
    WRITE_FAILURE.get()
}

/// Standard output, whose failures are recorded instead of returned.
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        record_write_failure(std::io::stdout().write_all(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        record_write_failure(std::io::stdout().flush());
        Ok(())
    }
}

/// Prints text to standard output as it is.
pub fn print_text(text: &str) {
    let mut out = std::io::stdout().lock();
    record_write_failure(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Prints text to standard output that quotes a recipe: characters that would control the terminal are shown by their
/// codes.
pub fn print_quoted_text(text: &str) {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character != '\n' && is_harmful(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    print_text(&shown);
}

/// Prints a value to standard output as JSON in one line.
pub fn print_json(result: &impl serde::Serialize) {
    write_json(|out| serde_json::to_writer(out, result));
}

/// Prints a value to standard output as JSON in several lines.
pub fn print_pretty_json(result: &impl serde::Serialize) {
    write_json(|out| serde_json::to_writer_pretty(out, result));
}

/// Writes JSON piece by piece: a round's verdicts are never held as text.
fn write_json(write: impl FnOnce(&mut BufWriter<StdoutLock<'_>>) -> serde_json::Result<()>) {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = write(&mut out).map_err(std::io::Error::from);
    record_write_failure(written.and_then(|()| writeln!(out)).and_then(|()| out.flush()));
}

/// Asks a person to confirm. None if there is no terminal.
pub fn confirm(question: &str) -> Option<bool> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return None;
    }
    let mut err = std::io::stderr();
    // A question that is not seen is answered by no.
    let _ = write!(err, "{} [y/N] ", sanitize_message(question)).and_then(|()| err.flush());
    let mut answer = String::new();
    // No answer is a no.
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

pub fn to_json_line(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    format!("{text}\n")
}

/// Writes a message to standard error. It may quote anything: nothing in it controls the terminal.
pub fn print_note(text: &str) {
    // There is no other place to report it.
    let _ = writeln!(std::io::stderr(), "{}", wrap_for_stderr(&sanitize_message(text)));
}

/// Breaks lines between words where the terminal of standard error would break them within one.
pub fn wrap_for_stderr(text: &str) -> String {
    wrap_at(terminal_size::terminal_size_of(std::io::stderr()), text)
}

/// Breaks lines of prose between words where the terminal of standard output would break them within one; not within
/// backticks, where commands are.
pub fn wrap_for_stdout(text: &str) -> String {
    // An odd part is quoted.
    let glue = |(position, part): (usize, &str)| match position % 2 {
        0 => part.to_owned(),
        _ => part.replace(' ', "\u{a0}"),
    };
    let glued = join(text.split('`').enumerate().map(glue), "`");
    wrap_at(terminal_size::terminal_size_of(std::io::stdout()), &glued).replace('\u{a0}', " ")
}

fn wrap_at(size: Option<(Width, Height)>, text: &str) -> String {
    let Some((width, _)) = size else {
        return text.to_owned();
    };
    let wrap = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        wrap_words(line, width.0.into(), indent + 2)
    };
    join(text.split('\n').flat_map(wrap), "\n")
}

/// Writes a message, and below it what to do about it, to standard error.
pub fn advise(text: impl Into<String>, help: impl Into<String>) {
    note_error(&ErrorText::new(text).with_help(help));
}

/// Writes what failed, and below it what to do about it, to standard error; nothing for an empty text.
pub fn note_error(error: &ErrorText) {
    let message = Some(error.message.as_str()).filter(|message| !message.is_empty());
    let message = message.map(|message| wrap_for_stderr(&sanitize_message(message)));
    // A command in a remedy is copied: no line break is in it.
    let help = error.help_lines().map(|line| sanitize_message(&line));
    let lines = join(message.into_iter().chain(help), "\n");
    if !lines.is_empty() {
        // There is no other place to report it.
        let _ = writeln!(std::io::stderr(), "{lines}");
    }
}

/// Writes a value to standard error as JSON in one line.
pub fn note_json(value: &impl serde::Serialize) {
    let mut out = std::io::stderr().lock();
    // There is no other place to report it.
    let _ = serde_json::to_writer(&mut out, value)
        .map_err(std::io::Error::from)
        .and_then(|()| writeln!(out));
}

/// Writes the problems of a document, which quote its source, to standard error.
pub fn print_problems(problems: &Diagnostics) {
    // Colours are ours, and its lines were sanitized before they got them.
    let text = problems.render(uses_error_color());
    if !text.is_empty() {
        // There is no other place to report it.
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// Writes a result of several lines, without control characters in them.
pub fn print_lines(lines: impl IntoIterator<Item = String>) {
    let safe_lines = lines.into_iter().map(|line| sanitize(&line).into_owned() + "\n");
    print_text(&safe_lines.collect::<String>());
}
