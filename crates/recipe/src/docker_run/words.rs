//! Splits a guide's block into commands and words as a shell does: continued lines, prompts, comments, quotes,
//! variables.

use super::error::DockerRunError;
use crate::formats::VARIABLE;
use retrial_readings::is_harmful;

/// A part of a word: text, or a value that the shell inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellWordPart {
    /// Literal text without quotes and escapes.
    Text(String),
    /// A variable of the shell: `$NAME`, `${NAME}`, `${NAME:-default}`.
    Variable {
        /// The name of the variable, without `$`.
        name: String,
        /// The value if the variable is not set.
        default: Option<String>,
    },
    /// The working directory: `$(pwd)`, `$PWD`.
    WorkingDirectory,
}

/// A word of a command, of text and variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellWord {
    /// The parts of the word; neighbouring texts are joined.
    pub pieces: Vec<ShellWordPart>,
}

impl ShellWord {
    /// Returns a word of text only.
    pub fn new(text: &str) -> Self {
        let mut word = Self::default();
        word.push_text(text);
        word
    }

    /// Returns the text of a word without variables; none for other words.
    pub fn as_plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [ShellWordPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the word as a person would write it, unquoted.
    pub fn to_shell_text(&self) -> String {
        let piece = |piece: &ShellWordPart| match piece {
            ShellWordPart::Text(text) => text.clone(),
            ShellWordPart::Variable { name, default } => default.as_ref().map_or_else(
                || format!("${{{name}}}"),
                |default| format!("${{{name}:-{default}}}"),
            ),
            ShellWordPart::WorkingDirectory => "$(pwd)".to_owned(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Returns the rest of the word after a prefix of text.
    pub fn strip_prefix(&self, prefix: &str) -> Option<Self> {
        let Some(ShellWordPart::Text(text)) = self.pieces.first() else {
            return None;
        };
        let rest = text.strip_prefix(prefix)?;
        let mut word = Self::new(rest);
        word.pieces.extend_from_slice(&self.pieces[1..]);
        Some(word)
    }

    /// Returns the words before and after the first such letter in a text.
    pub fn split_once(&self, letter: char) -> Option<(Self, Self)> {
        for (at, piece) in self.pieces.iter().enumerate() {
            let ShellWordPart::Text(text) = piece else {
                continue;
            };
            if let Some((before, after)) = text.split_once(letter) {
                let mut left = Self {
                    pieces: self.pieces[..at].to_vec(),
                };
                left.push_text(before);
                let mut right = Self::new(after);
                right.pieces.extend_from_slice(&self.pieces[at + 1..]);
                return Some((left, right));
            }
        }
        None
    }

    /// Returns all words between such letters.
    pub fn split(&self, letter: char) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut rest = self.clone();
        while let Some((part, after)) = rest.split_once(letter) {
            parts.push(part);
            rest = after;
        }
        parts.push(rest);
        parts
    }

    fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(ShellWordPart::Text(last)) => last.push_str(text),
            _ => self.pieces.push(ShellWordPart::Text(text.to_owned())),
        }
    }
}

/// Splits a block into commands, each a list of words.
///
/// # Errors
/// Unclosed quotes, invisible characters, and syntax that only a shell can execute.
pub fn split_commands(block: &str) -> Result<Vec<Vec<ShellWord>>, DockerRunError> {
    let text = remove_prompts(block);
    // YAML rejects the last two.
    let unseen = |c: &char| *c != '\n' && is_harmful(*c) || matches!(c, '\u{fffe}' | '\u{ffff}');
    if let Some(character) = text.chars().find(unseen) {
        return Err(DockerRunError::Control { character });
    }
    let mut reader = ShellLexer {
        letters: text.chars().collect(),
        position: 0,
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
    };
    reader.read_commands()?;
    Ok(reader.commands)
}

/// Removes prompts (`$ `, `# ` before a command of root, `> ` of a continued line) and leftovers of copying a web page:
/// no-break spaces, Windows' line ends.
fn remove_prompts(block: &str) -> String {
    let normalized = block.replace('\u{a0}', " ").replace("\r\n", "\n");
    let mut lines = Vec::new();
    let mut continued = false;
    for line in normalized.lines() {
        let bare = line.trim_start();
        let stripped = if continued {
            bare.strip_prefix("> ").unwrap_or(line)
        } else {
            bare.strip_prefix("$ ")
                .or_else(|| bare.strip_prefix("# ").filter(|rest| is_docker(rest)))
                .unwrap_or(line)
        };
        // Guides put a space after a backslash by mistake: it still continues the line.
        let stripped = match stripped.trim_end().strip_suffix('\\') {
            Some(before) if !before.ends_with('\\') => format!("{before}\\"),
            _ => stripped.to_owned(),
        };
        continued = stripped.ends_with('\\');
        lines.push(stripped);
    }
    lines.join("\n")
}

fn is_docker(text: &str) -> bool {
    text.trim_start_matches("sudo ").starts_with("docker ")
}

struct ShellLexer {
    letters: Vec<char>,
    position: usize,
    commands: Vec<Vec<ShellWord>>,
    words: Vec<ShellWord>,
    /// The word that is being read; an empty one is a word where there were quotes.
    word: Option<ShellWord>,
}

impl ShellLexer {
    fn read_commands(&mut self) -> Result<(), DockerRunError> {
        while let Some(letter) = self.next() {
            match letter {
                '\\' if self.peek() == Some('\n') => self.position += 1,
                '\\' => {
                    let escaped = self.next().unwrap_or('\\');
                    self.push_literal(&escaped.to_string());
                }
                '\'' => self.read_single_quoted()?,
                '"' => self.read_double_quoted()?,
                '$' => self.read_expansion()?,
                '`' => self.read_backticks()?,
                '#' if self.word.is_none() => self.skip_comment(),
                '\n' | ';' => self.end_command(),
                '&' if self.peek() == Some('&') => {
                    self.position += 1;
                    self.end_command();
                }
                '<' if self.read_placeholder() => {}
                '|' | '<' | '>' | '&' => {
                    return Err(DockerRunError::Shell {
                        text: letter.to_string(),
                    });
                }
                letter if letter.is_whitespace() => self.end_word(),
                '~' if self.word.is_none() && matches!(self.peek(), Some('/') | None) => {
                    self.push_variable("HOME", None);
                }
                letter => self.push_literal(&letter.to_string()),
            }
        }
        self.end_command();
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.position).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.position += 1;
        Some(letter)
    }

    fn push_literal(&mut self, text: &str) {
        self.word.get_or_insert_default().push_text(text);
    }

    fn push_variable(&mut self, name: &str, default: Option<String>) {
        let piece = if name == "PWD" {
            ShellWordPart::WorkingDirectory
        } else {
            ShellWordPart::Variable {
                name: name.to_owned(),
                default,
            }
        };
        self.word.get_or_insert_default().pieces.push(piece);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.commands.push(words);
        }
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some_and(|letter| letter != '\n') {
            self.position += 1;
        }
    }

    /// Reads `<HOST_DIR>`, the placeholder of many guides, as a variable; returns whether it is one.
    fn read_placeholder(&mut self) -> bool {
        let rest = &self.letters[self.position..];
        let Some(end) = rest.iter().position(|&letter| letter == '>') else {
            return false;
        };
        let name: String = rest[..end].iter().collect();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "_- ".contains(letter);
        if name.is_empty() || !name.chars().all(fits) || name.starts_with(' ') {
            return false;
        }
        self.position += end + 1;
        self.push_variable(&name.to_uppercase().replace(['-', ' '], "_"), None);
        true
    }

    fn read_single_quoted(&mut self) -> Result<(), DockerRunError> {
        let text = self.read_until('\'')?;
        self.push_literal(&text);
        Ok(())
    }

    fn read_double_quoted(&mut self) -> Result<(), DockerRunError> {
        let from = self.position;
        self.push_literal("");
        loop {
            match self.next() {
                None => return Err(self.unclosed_quote_error('"', from)),
                Some('"') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('\n') | None => {}
                    Some(letter @ ('"' | '\\' | '$' | '`')) => {
                        self.push_literal(&letter.to_string());
                    }
                    Some(letter) => self.push_literal(&format!("\\{letter}")),
                },
                Some('$') => self.read_expansion()?,
                Some('`') => self.read_backticks()?,
                Some(letter) => self.push_literal(&letter.to_string()),
            }
        }
    }

    fn read_expansion(&mut self) -> Result<(), DockerRunError> {
        match self.peek() {
            Some('(') => {
                self.position += 1;
                let inner = self.read_until(')')?;
                self.push_substitution(&inner, &format!("$({inner})"))?;
            }
            Some('{') => {
                self.position += 1;
                let inner = self.read_until('}')?;
                let shape = inner.split_once(":-").or_else(|| inner.split_once('-'));
                let (name, default) = match shape {
                    Some((name, default)) => (name, Some(default.to_owned())),
                    None => (inner.as_str(), None),
                };
                if !is_variable_name(name) {
                    return Err(DockerRunError::Substitution {
                        text: format!("${{{inner}}}"),
                    });
                }
                self.push_variable(name, default);
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                let rest = &self.letters[self.position..];
                let fits = |letter: &&char| letter.is_ascii_alphanumeric() || **letter == '_';
                let name: String = rest.iter().take_while(fits).collect();
                self.position += name.len();
                self.push_variable(&name, None);
            }
            _ => self.push_literal("$"),
        }
        Ok(())
    }

    fn read_backticks(&mut self) -> Result<(), DockerRunError> {
        let inner = self.read_until('`')?;
        self.push_substitution(&inner, &format!("`{inner}`"))
    }

    fn push_substitution(&mut self, inner: &str, written: &str) -> Result<(), DockerRunError> {
        match inner.trim() {
            "pwd" => self.push_variable("PWD", None),
            "whoami" => self.push_variable("USER", None),
            _ => {
                return Err(DockerRunError::Substitution {
                    text: written.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Returns the text up to a letter, and skips the letter.
    fn read_until(&mut self, end: char) -> Result<String, DockerRunError> {
        let from = self.position;
        let quote_length = self.letters[from..]
            .iter()
            .position(|&letter| letter == end);
        let length = quote_length.ok_or_else(|| self.unclosed_quote_error(end, from))?;
        self.position += length + 1;
        Ok(self.letters[from..from + length].iter().collect())
    }

    /// Returns the error of a quote that begins before this letter.
    fn unclosed_quote_error(&self, quote: char, from: usize) -> DockerRunError {
        let near = self.letters[from - 1..].iter().take(20).collect();
        DockerRunError::OpenQuote { quote, near }
    }
}

/// Returns whether a text is the name of a variable.
pub(super) fn is_variable_name(text: &str) -> bool {
    VARIABLE.mismatch(text).is_none()
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
