//! The characters of a block with their places in the page, as the grammar of the shell reads them.

use std::ops::Range;

use super::typography::undo_typesetting;
use crate::shell::{mark_placeholders, open_quotes};

/// A text whose characters know their places.
#[derive(Debug, Clone)]
pub struct Text {
    pub letters: Vec<char>,
    /// The place of each character in the page, in bytes.
    origins: Vec<usize>,
}

impl Text {
    /// Undoes what the typesetting of a page does to commands. Returns notes on it.
    pub fn prepare(letters: &[(char, usize)]) -> (Self, Vec<String>) {
        let mut notes = Vec::new();
        let written: String = letters.iter().map(|(letter, _)| *letter).collect();
        let plain = undo_typesetting(&written);
        if plain.has_typeset_quotes {
            notes.push("typeset quotes (“ ”) are read as plain ones".to_owned());
        }
        if !plain.dashes.is_empty() {
            notes.push("typeset dashes (–) before options are read as plain ones".to_owned());
        }
        let mut text = Self { letters: Vec::new(), origins: Vec::new() };
        let plain_letters: Vec<char> = plain.text.chars().collect();
        for (at, (_, origin)) in letters.iter().enumerate() {
            let letter = plain_letters[at];
            let next = plain_letters.get(at + 1).copied().unwrap_or('\n');
            let behind = plain_letters.get(at + 2).copied().unwrap_or(' ');
            match letter {
                '\r' | '\u{200b}' | '\u{feff}' => {}
                '\u{a0}' => text.push(' ', *origin),
                _ if plain.dashes.contains(&at) => {
                    text.push('-', *origin);
                    if behind.is_alphanumeric() && next.is_alphanumeric() {
                        text.push('-', *origin);
                    }
                }
                // Markdown's own escape: `\<yy.mm\>`.
                '\\' if matches!(next, '<' | '>') && is_escaped_placeholder(&plain_letters, at) => {
                }
                _ => text.push(letter, *origin),
            }
        }
        if text.drop_comments() {
            notes.push("comments and empty lines within a command are dropped".to_owned());
        }
        if text.join_lines() {
            notes.push("a blank behind `\\` at the end of a line is dropped".to_owned());
        }
        (text, notes)
    }

    fn push(&mut self, letter: char, origin: usize) {
        self.letters.push(letter);
        self.origins.push(origin);
    }

    /// Removes comments and empty lines behind a line that ends in `\\`, at which the shell would end the command: no
    /// guide means that where an indented line follows.
    fn drop_comments(&mut self) -> bool {
        let quoted = open_quotes(&self.letters);
        let lines = self.lines();
        let shown: Vec<String> = lines.iter().map(|range| self.slice(range.clone())).collect();
        let mut removed: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let line = shown[at].trim_end();
            if let Some(comment) = comment_behind_continuation(line, &quoted[lines[at].clone()]) {
                removed.push(lines[at].start + comment..lines[at].end);
            } else if !line.ends_with('\\') {
                at += 1;
                continue;
            }
            let is_dropped =
                |line: &&String| line.trim().is_empty() || line.trim_start().starts_with('#');
            let count = shown[at + 1..].iter().take_while(is_dropped).count();
            let next = shown.get(at + 1 + count);
            let continues = next.is_some_and(|next| next.starts_with([' ', '\t', '-']));
            if count > 0 && continues {
                removed
                    .extend(lines[at + 1..=at + count].iter().map(|line| line.start..line.end + 1));
            } else if count > 0 {
                let end = lines[at].start + line.chars().count();
                removed.push(end - 1..end);
            }
            at += 1 + count;
        }
        for range in removed.iter().rev() {
            self.remove(range.start..range.end.min(self.letters.len()));
        }
        !removed.is_empty()
    }

    /// Removes blanks between `\` and the end of its line, which a page may add.
    fn join_lines(&mut self) -> bool {
        let mut removed = Vec::new();
        for at in 0..self.letters.len() {
            if self.letters[at] != '\\' || at > 0 && self.letters[at - 1] == '\\' {
                continue;
            }
            let blanks = self.letters[at + 1..]
                .iter()
                .take_while(|letter| matches!(letter, ' ' | '\t'))
                .count();
            if blanks > 0 && self.letters.get(at + 1 + blanks) == Some(&'\n') {
                removed.push(at + 1..at + 1 + blanks);
            }
        }
        for range in removed.iter().rev() {
            self.remove(range.clone());
        }
        !removed.is_empty()
    }

    pub fn remove(&mut self, range: Range<usize>) {
        self.letters.drain(range.clone());
        self.origins.drain(range);
    }

    pub fn mark_placeholders(&mut self) {
        mark_placeholders(&mut self.letters);
    }

    /// Returns the characters of a range as text.
    pub fn slice(&self, range: Range<usize>) -> String {
        self.letters[range.start..range.end.min(self.letters.len())].iter().collect()
    }

    /// Returns the bytes of the page that characters come from.
    pub fn bytes(&self, range: Range<usize>) -> Range<usize> {
        let last = self.origins.last().zip(self.letters.last());
        let end_of_text = last.map_or(0, |(origin, letter)| origin + letter.len_utf8());
        let at = |position: usize| self.origins.get(position).copied().unwrap_or(end_of_text);
        let start = at(range.start);
        let end = match range.end.checked_sub(1) {
            Some(before) if range.end > range.start => at(before) + 1,
            _ => start,
        };
        start..end.max(start)
    }

    /// Returns the ranges of the lines, without their ends.
    pub fn lines(&self) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let mut start = 0;
        for (at, letter) in self.letters.iter().enumerate() {
            if *letter == '\n' {
                lines.push(start..at);
                start = at + 1;
            }
        }
        if start < self.letters.len() {
            lines.push(start..self.letters.len());
        }
        lines
    }
}

/// Returns the position behind the `\` of `\ # comment`, in characters.
fn comment_behind_continuation(line: &str, quotes: &[Option<char>]) -> Option<usize> {
    let letters: Vec<char> = line.chars().collect();
    let is_comment = |at: &usize| letters[*at..].starts_with(&['\\', ' ', '#']);
    let found = (0..letters.len()).rev().find(|at| is_comment(at) && quotes[*at].is_none())?;
    (!line.trim_start().starts_with('#')).then_some(found + 1)
}

/// Whether `\<` or `\>` at a position is one of a pair on its line.
fn is_escaped_placeholder(letters: &[char], at: usize) -> bool {
    let line_start =
        letters[..at].iter().rposition(|letter| *letter == '\n').map_or(0, |start| start + 1);
    let line_end = letters[at..]
        .iter()
        .position(|letter| *letter == '\n')
        .map_or(letters.len(), |end| at + end);
    let line: String = letters[line_start..line_end].iter().collect();
    line.contains("\\<") && line.contains("\\>")
}
