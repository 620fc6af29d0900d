//! Removes the output from a transcript of a terminal: lines without a prompt, if the typed commands have one.

use brush_parser::Parser;

use super::grammar::parser_options;
use super::shown_text::show_text;

/// Programs and shell words that make a line without a prompt a command, since not every author gives all lines a
/// prompt.
const COMMANDS: [&str; 20] = [
    "accelerate",
    "apt",
    "apt-get",
    "bash",
    "cd",
    "curl",
    "export",
    "git",
    "make",
    "mpirun",
    "pip",
    "pip3",
    "python",
    "python3",
    "sh",
    "source",
    "sudo",
    "torchrun",
    "vllm",
    "wget",
];

/// A line of a block, as the grammar is given it.
#[derive(Debug, Clone)]
pub(super) struct PreparedLine {
    pub text: String,
    /// Whether it is in a code block of the page, or the text has no code blocks.
    pub is_command: bool,
    pub has_prompt: bool,
    /// Whether it begins with a container's tool.
    pub starts_tool: bool,
}

impl PreparedLine {
    /// Replaces the line by blanks, so that all places stay the same.
    pub(super) fn blank(&mut self) {
        let blank = |letter| if letter == '\n' { '\n' } else { ' ' };
        self.text = self.text.chars().map(blank).collect();
    }
}

/// Blanks the output of a block's commands. Returns a note on it.
pub(super) fn blank_output(lines: &mut [PreparedLine]) -> Option<String> {
    let mut output = Vec::new();
    for block in lines.chunk_by_mut(|one, next| one.is_command == next.is_command) {
        if is_transcript(block) {
            output.extend(blank_lines(block));
        }
    }
    let shown = show_text(output.first()?);
    let others = match output.len() {
        1 => String::new(),
        2 => " and 1 more line".to_owned(),
        count => format!(" and {} more lines", count - 1),
    };
    Some(format!("`{shown}`{others}: dropped as output, the block's commands have prompts"))
}

/// Whether commands that are no container's tool have prompts, behind the last that is one: guides often give only that one a
/// prompt.
fn is_transcript(lines: &[PreparedLine]) -> bool {
    let is_tool = |line: &PreparedLine| line.has_prompt && line.starts_tool;
    let behind = lines.rsplit(is_tool).next().unwrap_or(lines);
    behind.iter().any(|line| line.has_prompt)
}

/// Blanks the lines that belong to no command with a prompt, and returns them.
fn blank_lines(lines: &mut [PreparedLine]) -> Vec<String> {
    let mut blanked = Vec::new();
    let mut command = String::new();
    for line in lines {
        let bare = line.text.trim();
        if line.has_prompt {
            command.clone_from(&line.text);
        } else if bare.is_empty() || bare.starts_with('#') || begins_as_command(bare) {
            command.push_str(&line.text);
        } else if is_complete(&command) {
            blanked.push(bare.to_owned());
            line.blank();
        } else {
            command.push_str(&line.text);
        }
    }
    blanked
}

fn begins_as_command(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    COMMANDS.contains(&first) || ["./", "../"].iter().any(|start| first.starts_with(start))
}

/// Whether a command does not continue on the next line.
fn is_complete(command: &str) -> bool {
    let mut parser = Parser::new(command.as_bytes(), &parser_options());
    !command.ends_with("\\\n") && parser.parse_program().is_ok()
}
