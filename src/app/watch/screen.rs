//! Draws on a terminal: lines that stay, and below them a frame that is drawn anew in place.
//!
//! One write a drawing and no erasing before it, so that nothing flickers. The cursor rests on
//! the line below the frame: what another program, or the terminal's own `^C`, writes there
//! damages nothing. (The usual crate for this, indicatif, pads every line to the full width and
//! counts rows at the width they were drawn with: a terminal that is made narrower then breaks
//! each line in two, and every later drawing leaves a copy behind.)

use std::fmt::Write as _;
use std::io::Write as _;

use crate::report::progress::fit;

/// What is drawn on.
pub trait Terminal: Send + 'static {
    /// Columns and rows.
    fn size(&self) -> (usize, usize);
    /// Writes a drawing. It may fail: the terminal may be gone.
    fn write(&mut self, text: &str) -> std::io::Result<()>;
    /// Whether a terminal that is made narrower breaks long lines (all but a few old ones do).
    fn reflows(&self) -> bool;
}

/// The terminal behind standard error.
#[derive(Debug, Default)]
pub struct Stderr {}

impl Terminal for Stderr {
    fn size(&self) -> (usize, usize) {
        terminal_size::terminal_size_of(std::io::stderr()).map_or((80, 24), |(width, height)| {
            (usize::from(width.0).max(1), usize::from(height.0).max(1))
        })
    }

    fn write(&mut self, text: &str) -> std::io::Result<()> {
        let mut to = std::io::stderr().lock();
        to.write_all(text.as_bytes())?;
        to.flush()
    }

    fn reflows(&self) -> bool {
        // xterm and GNU screen cut lines instead.
        std::env::var_os("XTERM_VERSION").is_none() && std::env::var_os("STY").is_none()
    }
}

/// The frame that stands on a terminal.
pub struct Screen<T> {
    terminal: T,
    frame: Vec<String>,
    gone: bool,
}

impl<T: Terminal> Screen<T> {
    /// Nothing stands yet.
    pub fn new(terminal: T) -> Self {
        Self {
            terminal,
            frame: Vec::new(),
            gone: false,
        }
    }

    /// Columns that a frame's lines may take, and how many lines it may have.
    pub fn room(&self) -> (usize, usize) {
        let (columns, rows) = self.terminal.size();
        // The last column stays free: not every terminal agrees on the width of every character.
        (columns.saturating_sub(1).max(1), rows.saturating_sub(1))
    }

    /// Columns in all.
    pub fn columns(&self) -> usize {
        self.terminal.size().0
    }

    /// Writes lines that stay, and the frame below them in place of the one that stood.
    pub fn draw(&mut self, stay: &[String], frame: Vec<String>) {
        if self.gone || (stay.is_empty() && frame == self.frame) {
            return;
        }
        // Shown all at once by terminals that know of it (DEC mode 2026), ignored by others.
        let mut text = String::from("\u{1b}[?2026h\r");
        let up = self.rows_of_frame();
        if up > 0 {
            let _ = write!(text, "\u{1b}[{up}A");
        }
        for line in stay {
            // What is left of the old frame's line goes; a line that breaks clears its own rows.
            let _ = write!(text, "\u{1b}[K{line}\u{1b}[K\r\n");
        }
        // The frame's lines never break, whatever a character's width (DEC mode 7).
        text.push_str("\u{1b}[?7l");
        for line in &frame {
            let _ = write!(text, "{line}\u{1b}[K\r\n");
        }
        text.push_str("\u{1b}[?7h\u{1b}[J\u{1b}[?2026l");
        self.frame = frame;
        // Gone for good (EIO, EPIPE): the run goes on unseen.
        self.gone = self.terminal.write(&text).is_err();
    }

    /// The frame that stands is left to itself: the next one is drawn below.
    pub fn forget(&mut self) {
        self.frame.clear();
    }

    /// Rows from the frame's first line to the cursor.
    fn rows_of_frame(&self) -> usize {
        let columns = self.columns().max(1);
        let rows = |line: &String| {
            if self.terminal.reflows() {
                visible(line).div_ceil(columns).max(1)
            } else {
                1
            }
        };
        self.frame.iter().map(rows).sum()
    }
}

/// Columns of a line that may hold colours.
fn visible(line: &str) -> usize {
    let mut sum = 0;
    let mut parts = line.split("\u{1b}[");
    sum += parts.next().map_or(0, fit::width);
    for part in parts {
        sum += part.split_once('m').map_or(0, |(_, text)| fit::width(text));
    }
    sum
}

#[cfg(test)]
mod tests;
