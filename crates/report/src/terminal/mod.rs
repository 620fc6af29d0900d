//! Documents in a terminal, with conclusions last, where they are seen.

pub(super) mod chart;
mod grid;
mod style;
pub mod wrap;

use itertools::join;
use unicode_width::UnicodeWidthStr;

use self::wrap::wrap_words;
use super::document::{Block, Conclusion, Document, ListItem, StyledText, Tone};

/// The least width for which text is laid out.
const MIN_WIDTH: usize = 60;
const MAX_SENTENCE_WIDTH: usize = 132;
const MAX_CHART_WIDTH: usize = 100;

/// The properties of a terminal for which a document is laid out.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Its width in columns.
    pub width: u16,
    pub color: bool,
    /// Whether it has signs beyond ASCII.
    pub unicode: bool,
}

pub fn render_terminal(document: &Document, terminal: Terminal) -> String {
    let mut writer = TerminalWriter::new(terminal);
    if !document.title.is_empty() {
        writer.write_line("");
        writer.write_styled(&document.title, 0, Terminal::bold);
        writer.write_line("");
    }
    writer.write_blocks(&document.blocks);
    writer.text
}

/// Renders blocks that follow other output; a section begins after a blank line.
pub fn render_blocks(blocks: &[Block], terminal: Terminal) -> String {
    let mut writer = TerminalWriter::new(terminal);
    if matches!(blocks.first(), Some(Block::Section(_))) {
        writer.write_line("");
    }
    writer.write_blocks(blocks);
    writer.text
}

struct TerminalWriter {
    terminal: Terminal,
    width: usize,
    text: String,
}

impl TerminalWriter {
    fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            width: usize::from(terminal.width).clamp(MIN_WIDTH, MAX_SENTENCE_WIDTH),
            text: String::new(),
        }
    }

    fn write_line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn write_wrapped(&mut self, text: &str, indent: usize) {
        self.write_styled(text, indent, |_, line| line.to_owned());
    }

    /// Writes wrapped text, each line in a style.
    fn write_styled(
        &mut self,
        text: &str,
        indent: usize,
        apply: impl Fn(Terminal, &str) -> String,
    ) {
        for line in wrap_words(text, self.width, indent) {
            self.write_line(&apply(self.terminal, &line));
        }
    }

    /// Writes wrapped text, whose first bytes have a style. They do not go on in a second line.
    fn write_with_head(
        &mut self,
        text: &str,
        head_length: usize,
        indent: usize,
        apply: impl Fn(&str) -> String,
    ) {
        let lines = wrap_words(text, self.width, indent);
        for (number, line) in lines.iter().enumerate() {
            match line.split_at_checked(head_length) {
                Some((head, rest)) if number == 0 => self.write_line(&(apply(head) + rest)),
                _ => self.write_line(line),
            }
        }
    }

    /// Writes blocks with blank lines in between.
    fn write_blocks(&mut self, blocks: &[Block]) {
        let weight = |block: &&Block| match block {
            Block::Conclusion(_) => 1,
            Block::Notice(_) => 2,
            _ => 0,
        };
        let mut ordered: Vec<&Block> = blocks.iter().collect();
        ordered.sort_by_key(weight);
        for (position, block) in ordered.into_iter().enumerate() {
            if position > 0 {
                self.write_line("");
            }
            self.write_block(block);
        }
    }

    fn write_block(&mut self, block: &Block) {
        match block {
            Block::Conclusion(conclusion) => self.write_conclusion(conclusion),
            Block::Paragraph(StyledText::Faint(line)) => self.write_styled(line, 0, Terminal::dim),
            Block::Paragraph(text) => self.write_wrapped(text.line(), 0),
            Block::List(items) => self.write_list(items),
            Block::Table(table) => {
                if table.titled {
                    self.write_styled(&table.caption, 2, Terminal::bold);
                }
                let width = usize::from(self.terminal.width).max(MIN_WIDTH);
                self.text += &grid::render_table(table, width, self.terminal);
            }
            Block::Charts(charts) => {
                for (position, chart) in charts.iter().enumerate() {
                    if position > 0 {
                        self.write_line("");
                    }
                    self.text +=
                        &chart::render_chart(chart, self.width.min(MAX_CHART_WIDTH), self.terminal);
                }
            }
            Block::Verbatim(label, lines) => {
                self.write_line(&self.terminal.bold(label));
                for line in lines {
                    self.write_line(&format!("  {line}"));
                }
            }
            Block::Folded(summary, blocks) => {
                self.write_line(&self.terminal.bold(summary));
                self.write_blocks(blocks);
            }
            Block::Section(section) => {
                if !section.title.is_empty() {
                    self.write_styled(&section.title, 0, Terminal::bold);
                }
                self.write_blocks(&section.blocks);
            }
            Block::Notice(notice) => self.write_styled(notice, 0, Terminal::dim),
        }
    }

    fn write_conclusion(&mut self, conclusion: &Conclusion) {
        let sign = conclusion.mark.map(|mark| mark.sign);
        let word = join_filled([sign.unwrap_or_default(), &conclusion.word], " ");
        let tone = conclusion.mark.map_or(Tone::Plain, |mark| mark.tone);
        let text = join_filled([&word, &conclusion.sentence], ": ");
        let terminal = self.terminal;
        self.write_with_head(&text, word.len(), 2, |head| terminal.style_strong_tone(tone, head));
        for alert in &conclusion.alerts {
            self.write_styled(&format!("! {alert}"), 2, |terminal, line| {
                terminal.style_strong_tone(Tone::Bad, line)
            });
        }
        for (label, text) in &conclusion.remarks {
            let line = format!("  {label}: {}", text.line());
            match text {
                // Paths and commands are copied, and stay on one line.
                StyledText::Code(_) => self.write_line(&line),
                _ => self.write_wrapped(&line, 4),
            }
        }
    }

    /// Writes signs first, then aligned keys, with texts next to them. A key that is too long for
    /// the column moves only its own text.
    fn write_list(&mut self, items: &[ListItem]) {
        let mut widths: Vec<usize> = items.iter().map(|item| item.key.width()).collect();
        widths.sort_unstable();
        let typical = widths.get(widths.len() / 2).copied().unwrap_or(0);
        let most = (2 * typical).max(self.width / 4).min(self.width / 2);
        let has_keys = widths.last().is_some_and(|widest| *widest > 0);
        let fits = widths.into_iter().filter(|width| *width <= most);
        let column = fits.max().unwrap_or(0);
        let mut before = "";
        for item in items {
            let (sign, tone) = match item.mark {
                Some(mark) => (mark.sign, Some(mark.tone)),
                None if item.key.is_empty() => ("•", None),
                None => (" ", None),
            };
            let mut begin = format!("{sign} ");
            let key = item.key.as_str();
            // Entries with the same key show it once.
            let label = if key == before { "" } else { key };
            if has_keys {
                begin += label;
                begin += &" ".repeat(column.max(key.width()) + 2 - label.width());
            }
            before = if item.mark.is_none() { key } else { "" };
            let indent = match (has_keys, column) {
                (false, _) => 2,
                (true, 0) => 4,
                (true, column) => column + 4,
            };
            let text = format!("{begin}{}", item.text.line());
            let terminal = self.terminal;
            self.write_with_head(&text, sign.len(), indent, |head| match tone {
                Some(tone) => terminal.style_tone(tone, head),
                None => head.to_owned(),
            });
            let is_below = has_keys && item.mark.is_none();
            let indent = if is_below { indent } else { 4 };
            for (label, text) in &item.details {
                let colon = if label.is_empty() { "" } else { ": " };
                self.write_wrapped(
                    &format!("{:indent$}{label}{colon}{}", "", text.line()),
                    indent + 2,
                );
            }
        }
    }
}

/// Joins those texts that are not empty.
fn join_filled<const N: usize>(texts: [&str; N], separator: &str) -> String {
    let filled = texts.into_iter().filter(|text| !text.is_empty());
    join(filled, separator)
}

#[cfg(test)]
mod tests;
