//! The code blocks of a page in Markdown, with their headings.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The languages of code blocks whose lines are commands.
const SHELL_LANGUAGES: [&str; 9] =
    ["sh", "bash", "shell", "zsh", "console", "shell-session", "shellsession", "terminal", "ksh"];
/// The programs that start a container: where one begins a line outside of all code blocks, the text is no Markdown.
const CONTAINER_PROGRAMS: [&str; 10] = [
    "docker",
    "podman",
    "nvidia-docker",
    "nerdctl",
    "srun",
    "apptainer",
    "singularity",
    "enroot",
    "sudo",
    "sbatch",
];
/// Programs by which a block without a language is known as one of commands.
const PROGRAMS: [&str; 36] = [
    "accelerate",
    "apt",
    "apt-get",
    "bash",
    "cat",
    "cd",
    "conda",
    "cp",
    "curl",
    "deepspeed",
    "echo",
    "export",
    "genai-perf",
    "git",
    "guidellm",
    "hf",
    "huggingface-cli",
    "ls",
    "make",
    "mkdir",
    "mpirun",
    "perf_analyzer",
    "pip",
    "pip3",
    "python",
    "python3",
    "sed",
    "sh",
    "source",
    "tar",
    "torchrun",
    "tritonserver",
    "trtllm-serve",
    "unzip",
    "vllm",
    "wget",
];

/// A code block.
#[derive(Debug, Clone, Default)]
pub struct CodeBlock {
    pub language: String,
    /// Its characters, each with its place in the page, in bytes.
    pub letters: Vec<(char, usize)>,
    pub line: usize,
    pub headings: Vec<String>,
}

impl CodeBlock {
    /// Returns a text that has no code blocks.
    pub fn whole(text: &str) -> Self {
        let letters = text.char_indices().map(|(at, letter)| (letter, at)).collect();
        Self { language: "sh".to_owned(), letters, line: 1, headings: Vec::new() }
    }

    /// Returns whether its language is that of a shell, or it has none.
    pub fn is_of_shell(&self) -> bool {
        self.language.is_empty() || SHELL_LANGUAGES.contains(&&*self.language)
    }

    /// Returns whether its lines are commands: by its language, or by its first line or one that names a program of
    /// containers.
    pub fn has_commands(&self) -> bool {
        if !self.language.is_empty() {
            return SHELL_LANGUAGES.contains(&&*self.language);
        }
        let text: String = self.letters.iter().map(|(letter, _)| *letter).collect();
        let lines = text.lines().map(str::trim);
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.next().is_some_and(begins_as_command) || lines.any(begins_with_container_program)
    }
}

/// Returns whether a line begins with a prompt, or with a program.
pub fn begins_as_command(line: &str) -> bool {
    if line.starts_with("$ ") {
        return true;
    }
    let mut words = line.split_whitespace().skip_while(|word| is_assignment(word));
    let Some(first) = words.next() else { return line.contains('=') };
    let is_path =
        ["./", "../", "/usr/", "/opt/", "/bin/"].iter().any(|start| first.starts_with(start));
    let is_listing = words.next() == Some("=");
    (CONTAINER_PROGRAMS.contains(&first)
        || PROGRAMS.contains(&first)
        || is_path && !first.ends_with('/'))
        && !is_listing
}

fn begins_with_container_program(line: &str) -> bool {
    let mut words = line.trim_start_matches("$ ").split_whitespace();
    let mut words = words.by_ref().skip_while(|word| *word == "sudo");
    words.next().is_some_and(|word| CONTAINER_PROGRAMS.contains(&word)) && words.next().is_some()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

/// Returns whether a text is a page: it has a code block, and no line outside of it starts a container.
pub fn is_markdown(text: &str) -> bool {
    let blocks = find_ranges(text);
    let starts = |line: &str| {
        let program = line.trim_start_matches(['$', ' ']).split_whitespace().next();
        program.is_some_and(|program| CONTAINER_PROGRAMS.contains(&program))
    };
    let mut at = 0;
    let outside = text.split_inclusive('\n').any(|line| {
        let start = at;
        at += line.len();
        let is_inside = blocks.iter().any(|range| range.contains(&start));
        !is_inside && starts(line)
    });
    let has_fence = text
        .lines()
        .any(|line| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~"));
    has_fence && !blocks.is_empty() && !outside
}

fn find_ranges(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    events
        .filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect()
}

/// Returns the code blocks of a page. One that is not closed ends with the page.
pub fn find_code_blocks(text: &str) -> Vec<CodeBlock> {
    let mut blocks = Vec::new();
    let mut headings: Vec<(HeadingLevel, String)> = Vec::new();
    let mut heading: Option<(HeadingLevel, String)> = None;
    let mut current: Option<CodeBlock> = None;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => heading = Some((level, String::new())),
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, title)) = heading.take() {
                    headings.retain(|(other, _)| *other < level);
                    headings.push((level, title));
                }
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => language_of(info),
                    CodeBlockKind::Indented => String::new(),
                };
                let titles = headings.iter().map(|(_, title)| title.clone()).collect();
                current = Some(CodeBlock { language, headings: titles, ..CodeBlock::default() });
            }
            Event::End(TagEnd::CodeBlock) => blocks.extend(current.take()),
            Event::Text(piece) | Event::Code(piece) => {
                if let Some(block) = &mut current {
                    add_text(block, &piece, range.start, text);
                } else if let Some((_, title)) = &mut heading {
                    title.push_str(&piece);
                }
            }
            _ => {}
        }
    }
    blocks
}

fn language_of(info: &str) -> String {
    let name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let trimmed = info.trim().trim_start_matches(['{', '.', '=']);
    let end = trimmed.find(|letter| !name(letter)).unwrap_or(trimmed.len());
    trimmed[..end].to_lowercase()
}

fn add_text(block: &mut CodeBlock, piece: &str, start: usize, page: &str) {
    if block.letters.is_empty() {
        block.line = page[..start].matches('\n').count() + 1;
    }
    block.letters.extend(piece.char_indices().map(|(at, letter)| (letter, start + at)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        let blocks = find_code_blocks(text).into_iter().filter(CodeBlock::has_commands);
        blocks.map(|block| block.letters.iter().map(|(letter, _)| *letter).collect()).collect()
    }

    #[test]
    fn commands_of_a_page_stand_in_its_code_blocks() {
        let page = "# Speed\n\nPull it:\n```bash\ndocker pull x:1\n```\nWe got 1 item/s:\n\n```text\nspeed: 1\n```\n- a\n\n  ~~~console\n  $ docker run x:1\n  ~~~\n";
        assert!(is_markdown(page));
        assert_eq!(commands(page), ["docker pull x:1\n", "$ docker run x:1\n"]);
        assert!(!is_markdown("docker run x:1 bench <<END\n```sh\nls\n```\nEND"));
        assert_eq!(commands("```\ndocker run x:1"), ["docker run x:1"], "a block without an end");
    }

    #[test]
    fn a_block_without_a_language_is_known_by_its_first_line() {
        for (text, is_known) in [
            ("@inproceedings{x,\n", false),
            ("dataset = load_dataset(\"x\")\n", false),
            ("repo/\n├── docker/\n", false),
            ("throughput: 812 images/s\n", false),
            ("# note\nA=1 ./bench --n 1\n", true),
            ("python3 bench.py\n", true),
            ("xhost +\ndocker run x:1\n", true),
            ("it prints:\nthe docker run\n", false),
        ] {
            let page = format!("```\n{text}```\n");
            assert_eq!(commands(&page).len(), usize::from(is_known), "{text}");
        }
    }

    #[test]
    fn a_block_knows_its_headings_and_its_line() {
        let blocks = find_code_blocks("# A\n## B\n```\nx\n```\n## C\n\n```\ny\n```\n");
        assert_eq!(blocks[0].headings, ["A", "B"]);
        assert_eq!((blocks[1].headings.join("/"), blocks[1].line), ("A/C".to_owned(), 9));
    }
}
