//! Emulated terminals.

use std::sync::{Arc, Mutex};

use indicatif::TermLike;

use super::ScreenTerminal;

/// An emulated terminal that can be shared.
#[derive(Clone)]
pub struct Emulated {
    pub parser: Arc<Mutex<vt100::Parser>>,
    pub written: Arc<Mutex<Vec<String>>>,
}

impl std::fmt::Debug for Emulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emulated").finish_non_exhaustive()
    }
}

impl Emulated {
    pub fn new(columns: u16, rows: u16) -> Self {
        Self {
            parser: Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 200))),
            written: Arc::default(),
        }
    }

    /// The visible text, without blanks at the ends of lines.
    pub fn screen(&self) -> String {
        let parser = self.parser.lock().unwrap();
        let (_, columns) = parser.screen().size();
        let rows: Vec<String> =
            parser.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }
}

impl Emulated {
    /// Makes it narrower. The emulator cuts lines where terminals break them: here by hand.
    pub fn narrow(&self, columns: u16) {
        let screen = self.screen();
        let lines = screen.lines().flat_map(|line| {
            let characters: Vec<char> = line.chars().collect();
            let parts = characters.chunks(columns.into());
            parts.map(|part| part.iter().collect()).collect::<Vec<String>>()
        });
        let mut text = lines.collect::<Vec<_>>().join("\r\n");
        let mut parser = self.parser.lock().unwrap();
        if parser.screen().cursor_position().1 == 0 {
            text.push_str("\r\n");
        }
        *parser = vt100::Parser::new(parser.screen().size().0, columns, 0);
        parser.process(text.as_bytes());
    }
}

/// A terminal that executes every request of indicatif.
#[derive(Debug)]
pub struct PassThrough(pub Emulated);

impl PassThrough {
    fn escape(&self, number: usize, escape: &str) -> std::io::Result<()> {
        match number {
            0 => Ok(()),
            _ => self.write_str(&format!("\u{1b}[{number}{escape}")),
        }
    }
}

impl TermLike for PassThrough {
    fn width(&self) -> u16 {
        u16::try_from(self.0.size().0).unwrap()
    }

    fn move_cursor_up(&self, number: usize) -> std::io::Result<()> {
        self.escape(number, "A")
    }

    fn move_cursor_down(&self, number: usize) -> std::io::Result<()> {
        self.escape(number, "B")
    }

    fn move_cursor_right(&self, number: usize) -> std::io::Result<()> {
        self.escape(number, "C")
    }

    fn move_cursor_left(&self, number: usize) -> std::io::Result<()> {
        self.escape(number, "D")
    }

    fn write_line(&self, text: &str) -> std::io::Result<()> {
        self.write_str(&format!("{text}\r\n"))
    }

    fn write_str(&self, text: &str) -> std::io::Result<()> {
        self.0.clone().write(text)
    }

    fn clear_line(&self) -> std::io::Result<()> {
        self.write_str("\r\u{1b}[2K")
    }

    fn flush(&self) -> std::io::Result<()> {
        Ok(())
    }
}

impl ScreenTerminal for Emulated {
    fn size(&self) -> (usize, usize) {
        let (rows, columns) = self.parser.lock().unwrap().screen().size();
        (columns.into(), rows.into())
    }

    fn write(&mut self, text: &str) -> std::io::Result<()> {
        self.parser.lock().unwrap().process(text.as_bytes());
        self.written.lock().unwrap().push(text.to_owned());
        Ok(())
    }

    fn reflows(&self) -> bool {
        true
    }
}
