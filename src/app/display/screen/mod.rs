//! The terminal that indicatif draws on.
//!
//! indicatif clears its lines and draws them again for every change of a bar, pads the last one to
//! the full width, and counts rows at the width they were drawn with: a terminal that is made narrower breaks
//! each line in two, and every later drawing leaves a copy behind. Here the latest drawing of a
//! moment is written at once, over the one before, without padding; rows are counted at the current
//! width. The cursor rests on the line below, so that what another program, or the terminal's own
//! `^C`, writes there damages nothing.

use std::fmt::{Debug, Write as _};
use std::io::{Result, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use console::{measure_text_width, truncate_str};
use indicatif::TermLike;

/// A terminal that a live view is drawn on.
pub trait ScreenTerminal: Debug + Send + 'static {
    /// Returns its columns and rows.
    fn size(&self) -> (usize, usize);
    /// Writes a drawing. It may fail: the terminal may be closed.
    fn write(&mut self, text: &str) -> Result<()>;
    /// Returns whether a terminal that is made narrower breaks long lines (all but a few old ones do).
    fn reflows(&self) -> bool;
}

/// The terminal behind standard error.
#[derive(Debug)]
pub struct Stderr;

impl ScreenTerminal for Stderr {
    fn size(&self) -> (usize, usize) {
        terminal_size::terminal_size_of(std::io::stderr()).map_or((80, 24), |(width, height)| {
            (usize::from(width.0).max(1), usize::from(height.0).max(1))
        })
    }

    fn write(&mut self, text: &str) -> Result<()> {
        let mut to = std::io::stderr().lock();
        to.write_all(text.as_bytes())?;
        to.flush()
    }

    fn reflows(&self) -> bool {
        // xterm and GNU screen cut lines instead.
        std::env::var_os("XTERM_VERSION").is_none() && std::env::var_os("STY").is_none()
    }
}

/// A terminal with lines at its end that are replaced.
#[derive(Debug)]
pub struct Screen<T>(Arc<Mutex<ScreenState<T>>>);

#[derive(Debug)]
struct ScreenState<T> {
    terminal: T,
    /// The lines of indicatif's latest drawing.
    drawn_lines: Vec<String>,
    /// The lines on the terminal, which the next drawing replaces.
    shown_lines: Vec<String>,
    is_closed: bool,
}

impl<T: ScreenTerminal> Screen<T> {
    /// Nothing is shown yet.
    pub fn new(terminal: T) -> Self {
        Self(Arc::new(Mutex::new(ScreenState {
            terminal,
            drawn_lines: Vec::new(),
            shown_lines: Vec::new(),
            is_closed: false,
        })))
    }

    /// Columns of a line, and how many lines there is room for.
    pub fn drawable_size(&self) -> (usize, usize) {
        let (columns, rows) = self.lock_state().terminal.size();
        // The last column stays free: not every terminal agrees on the width of every character.
        (columns.saturating_sub(1).max(1), rows.saturating_sub(1))
    }

    /// Writes lines that stay, and the latest drawing below them in place of the one before.
    pub fn write_frame(&self, stay: &[String]) {
        self.lock_state().write_frame(stay);
    }

    /// Leaves the drawing where it is: the next one goes below.
    pub fn abandon_frame(&self) {
        self.lock_state().shown_lines.clear();
    }

    fn lock_state(&self) -> MutexGuard<'_, ScreenState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Screen<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ScreenTerminal> ScreenState<T> {
    fn write_frame(&mut self, stay: &[String]) {
        if self.is_closed || (stay.is_empty() && self.drawn_lines == self.shown_lines) {
            return;
        }
        // Shown all at once by terminals that know of it (DEC mode 2026), ignored by others.
        let mut text = String::from("\u{1b}[?2026h\r");
        let up = self.shown_rows();
        if up > 0 {
            let _ = write!(text, "\u{1b}[{up}A");
        }
        for line in stay {
            // The rest of the earlier line is cleared; a line that breaks clears its own rows.
            let _ = write!(text, "\u{1b}[K{line}\u{1b}[K\r\n");
        }
        // These lines never break, whatever a character's width (DEC mode 7).
        text.push_str("\u{1b}[?7l");
        for line in &self.drawn_lines {
            let _ = write!(text, "{line}\u{1b}[K\r\n");
        }
        text.push_str("\u{1b}[?7h\u{1b}[J\u{1b}[?2026l");
        self.shown_lines.clone_from(&self.drawn_lines);
        // After EIO or EPIPE the run continues unseen.
        self.is_closed = self.terminal.write(&text).is_err();
    }

    /// Rows from the first line that is shown to the cursor.
    fn shown_rows(&self) -> usize {
        if !self.terminal.reflows() {
            return self.shown_lines.len();
        }
        let (columns, _) = self.terminal.size();
        let rows = |line: &String| measure_text_width(line).div_ceil(columns.max(1)).max(1);
        self.shown_lines.iter().map(rows).sum()
    }
}

impl<T: ScreenTerminal> TermLike for Screen<T> {
    fn width(&self) -> u16 {
        // indicatif 0.18.6 panics if a wide character is wider than the terminal.
        u16::try_from(self.drawable_size().0.max(2)).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        u16::try_from(self.drawable_size().1).unwrap_or(u16::MAX)
    }

    /// Every drawing begins with this.
    fn move_cursor_up(&self, _: usize) -> Result<()> {
        self.lock_state().drawn_lines.clear();
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> Result<()> {
        self.write_str(text)
    }

    /// A line, or blanks up to the full width.
    fn write_str(&self, text: &str) -> Result<()> {
        if !text.trim().is_empty() {
            let (columns, _) = self.drawable_size();
            let line = truncate_str(text.trim_end(), columns, "").into_owned();
            self.lock_state().drawn_lines.push(line);
        }
        Ok(())
    }

    fn clear_line(&self) -> Result<()> {
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
