//! A guide's page: its code blocks with heading and place, its prompts, and the output that it prints.
//!
//! This module decides which lines are commands. It does not read them.

mod markdown;
mod prompts;
mod text;
mod typography;

use retrial_document::{Source, Span};

pub use text::Text;

use crate::shell::mask_secrets;

use markdown::{CodeBlock, find_code_blocks, is_markdown};

/// Lines of commands of a page.
#[derive(Debug, Clone)]
pub struct Block {
    pub text: Text,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// The headings above it, the outermost first.
    pub headings: Vec<String>,
    /// Lines that it prints as output.
    pub output: Vec<String>,
}

/// The commands and the outputs of a guide.
#[derive(Debug, Clone)]
pub struct Page {
    pub source: Source,
    pub blocks: Vec<Block>,
    /// Lines of code blocks that are no commands.
    pub output: Vec<String>,
    /// Differences from the text.
    pub notes: Vec<String>,
}

impl Page {
    /// Reads a page in Markdown, or a text of commands.
    pub fn read(path: &str, text: &str) -> Self {
        // Messages show its lines.
        let masked = mask_secrets(text);
        let shown = if masked.len() == text.len() { masked } else { text.to_owned() };
        let source = Source::new(path, shown);
        let mut page = Self { source, blocks: Vec::new(), output: Vec::new(), notes: Vec::new() };
        let names_page = [".md", ".mdx", ".markdown"].iter().any(|end| path.ends_with(end));
        if !is_markdown(text) && (!names_page || find_code_blocks(text).is_empty()) {
            page.add_block(CodeBlock::whole(text));
            return page;
        }
        for code in find_code_blocks(text) {
            if code.has_commands() {
                page.add_block(code);
            } else {
                let letters: String = code.letters.iter().map(|(letter, _)| *letter).collect();
                page.output.extend(letters.lines().map(str::to_owned));
            }
        }
        page
    }

    fn add_block(&mut self, code: CodeBlock) {
        let (mut text, mut notes) = Text::prepare(&code.letters);
        let output = prompts::remove_prompts(&mut text);
        if let Some(first) = output.iter().find(|line| !line.trim().is_empty()) {
            notes.push(describe_output(first, output.len()));
        }
        text.mark_placeholders();
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.blocks.push(Block { text, line: code.line, headings: code.headings, output });
    }

    /// Returns the place of characters of a block.
    pub fn span(&self, block: usize, range: std::ops::Range<usize>) -> Span {
        self.source.span(self.blocks[block].text.bytes(range))
    }

    /// Returns the line of a character of a block, from 1.
    pub fn line_of(&self, block: usize, position: usize) -> usize {
        let byte = self.blocks[block].text.bytes(position..position).start;
        self.source.text[..byte].matches('\n').count() + 1
    }
}

/// Returns a note on lines that are dropped as output.
pub fn describe_output(first: &str, count: usize) -> String {
    let shown: String = first.trim().chars().take(60).collect();
    let others = match count {
        0 | 1 => String::new(),
        2 => " and 1 more line".to_owned(),
        count => format!(" and {} more lines", count - 1),
    };
    format!("`{shown}`{others}: dropped as output")
}

/// Returns the texts of a page's blocks of commands.
pub fn shell_blocks(markdown: &str) -> Vec<String> {
    let blocks = find_code_blocks(markdown).into_iter().filter(CodeBlock::is_of_shell);
    let texts =
        blocks.map(|code| code.letters.iter().map(|(letter, _)| *letter).collect::<String>());
    texts.filter(|text| !text.trim().is_empty()).collect()
}
