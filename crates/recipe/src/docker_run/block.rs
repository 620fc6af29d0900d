//! Prepares a guide's block for the grammar of the shell: prompts, placeholders, and leftovers of copying a web page.
//! A character stays one character, so that places are those of the text that the user has.

use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;
use retrial_document::is_harmful;

use super::continuation::settle_continuation;
use super::grammar::{PLACEHOLDER_BLANK, PLACEHOLDER_START, mark_placeholders};
use super::markdown::find_command_lines;
use super::secret::mask_secrets;
use super::transcript::{PreparedLine, blank_output};
use super::typography::undo_typesetting;
use crate::{Diagnostics, Source, Span};

/// The longest block, bytes: it is a page of a guide.
pub const MAX_BLOCK_BYTES: usize = 1 << 16;
/// The deepest nesting of brackets and braces. Each level multiplies the time that the grammar needs.
const MAX_NESTING: usize = 8;

/// A block, prepared, and the text in which its places are shown.
pub(super) struct Block {
    /// The text for the grammar.
    pub text: String,
    /// The user's text without the values of secrets.
    source: Source,
    /// The byte offset in `source` of each character, and of the end.
    offsets: Vec<usize>,
    /// Notes on parts of the user's text that were replaced or removed.
    pub notes: Vec<String>,
}

impl Block {
    /// Prepares a text. `name` is what places call it.
    pub(super) fn prepare(name: &str, text: &str) -> Result<Self, Diagnostics> {
        let masked = mask_secrets(text);
        let ends = std::iter::once(masked.len());
        let offsets = masked.char_indices().map(|(at, _)| at).chain(ends).collect();
        let plain = undo_typesetting(text);
        let mut lines = prepare_lines(&plain.text);
        let mut block = Self {
            text: String::new(),
            source: Source::new(name, masked),
            offsets,
            notes: Vec::new(),
        };
        let mut problems = block.find_unreadable(text);
        if plain.has_typeset_quotes {
            let note = "typeset quotes (“ ” ‘ ’) are read as plain ones";
            block.notes.push(note.to_owned());
        }
        if !problems.has_errors() {
            block.notes.extend(blank_output(&mut lines));
        }
        block.text = lines.iter().map(|line| &*line.text).collect();
        let is_command = |at: &usize| block.text.chars().nth(*at) != Some(' ');
        for at in plain.dashes.into_iter().filter(is_command) {
            let help = "write `-` or `--` in its place, as the program has it";
            let message = "a typeset dash, which a program takes for text";
            problems.error("block", message, &block.span(at..at + 1), help);
        }
        problems.into_result(Some(block), name)
    }

    /// Returns the place of a range of characters.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        let offset = |at: usize| self.offsets[at.min(self.offsets.len() - 1)];
        self.source.span(offset(range.start)..offset(range.end))
    }

    /// Returns everything that the grammar is not given.
    fn find_unreadable(&self, text: &str) -> Diagnostics {
        let mut problems = Diagnostics::default();
        if text.len() > MAX_BLOCK_BYTES {
            let message = format!("more than {MAX_BLOCK_BYTES} bytes");
            let help = "give the lines around `docker run` only";
            problems.error("block", message, &self.span(0..1), help);
        }
        let mut depth = 0_usize;
        for (at, letter) in text.chars().enumerate() {
            depth = match letter {
                '(' | '{' => depth + 1,
                ')' | '}' => depth.saturating_sub(1),
                _ => depth,
            };
            let is_private = (PLACEHOLDER_START..=PLACEHOLDER_BLANK).contains(&letter);
            // YAML rejects the last two.
            let is_unseen = is_harmful(letter) && !matches!(letter, '\n' | '\r' | '\t');
            if is_unseen || is_private || matches!(letter, '\u{fffe}' | '\u{ffff}') {
                let message = format!("invisible character U+{:04X}", u32::from(letter));
                let help = "copy the block again as plain text";
                problems.error("block", message, &self.span(at..at + 1), help);
            } else if depth > MAX_NESTING {
                let help = "write the command into a script, and give the line that runs it";
                let place = self.span(at..at + 1);
                problems.error("block", "brackets are nested too deeply", &place, help);
                break;
            }
        }
        problems
    }
}

/// Replaces what is not the shell's by characters that mean the same to it.
fn prepare_lines(text: &str) -> Vec<PreparedLine> {
    let mut lines = Vec::new();
    let mut is_continued = false;
    // Next to plain lines, `# docker run` is a comment: an alternative.
    let has_plain = text.lines().any(|line| starts_tool(line.trim_start()));
    let text = text.replace('\u{a0}', " ");
    let mut rest = &*text;
    for (line, is_command) in text.split_inclusive('\n').zip(find_command_lines(&text)) {
        rest = &rest[line.len()..];
        let mut letters: Vec<char> = line.chars().collect();
        let has_prompt = blank_prompt(&mut letters, is_continued, has_plain);
        mark_placeholders(&mut letters);
        is_continued = settle_continuation(&mut letters, is_continued, rest) && is_command;
        let text: String = letters.into_iter().collect();
        let mut prepared = PreparedLine {
            starts_tool: starts_tool(text.trim_start()),
            text: text.replace('\r', " "),
            is_command,
            has_prompt,
        };
        if !is_command {
            prepared.blank();
        }
        lines.push(prepared);
    }
    lines
}

/// The prompts of shells: `$ `, `user@host:~$ `, `[user@host dir]# `, `host:/w# `, `bash-5.1# `, `PS C:\> `, each also
/// behind the name of a Python environment, `(venv) `.
static PROMPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let prompts = [
        r"[$❯]",
        r"[\w.-]+@[\w.-]+(:\S*| \S+ ?)?[$#%]",
        r"\[[\w.-]+@[\w.-]+([: ][^\]\s]*)?\][$#%]",
        r"[\w.-]+:[~/]\S*[$#]",
        r"(ba)?sh-[\d.]+[$#]",
        r"PS( [^>]*)?>",
    ];
    let pattern = format!(r"^(\([\w.:/-]+\) ?)?({}) ", prompts.join("|"));
    Regex::new(&pattern).ok()
});

/// Whether a line begins with a container's tool.
fn starts_tool(line: &str) -> bool {
    let command = line.trim_start_matches("sudo ");
    let mut tools = ["docker ", "podman ", "nvidia-docker "].iter();
    tools.any(|tool| command.starts_with(tool))
}

/// Replaces by blanks a prompt, `# ` before a command of root, and `> ` of a continued line. Returns whether a command
/// begins behind it.
fn blank_prompt(letters: &mut [char], is_continued: bool, has_plain: bool) -> bool {
    let line: String = letters.iter().collect();
    let bare = line.trim_start();
    let indent = line.chars().count() - bare.chars().count();
    let is_command = |rest: &&str| !has_plain && starts_tool(rest);
    let prompt = if is_continued {
        bare.strip_prefix("> ").map(|_| "> ".len())
    } else if bare.strip_prefix("# ").as_ref().is_some_and(is_command) {
        Some("# ".len())
    } else {
        let prompt = PROMPT.as_ref().and_then(|prompt| prompt.find(bare));
        prompt.map(|prompt| prompt.as_str().chars().count())
    };
    for letter in letters.iter_mut().skip(indent).take(prompt.unwrap_or(0)) {
        *letter = ' ';
    }
    prompt.is_some() && !is_continued
}
