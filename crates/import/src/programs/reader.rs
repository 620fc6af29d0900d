//! Follows the commands of blocks in their order, as far as it matters for the lines that start containers. It executes
//! nothing, and reads nothing of the machine but files next to the guide.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use retrial_document::{Diagnostics, Span};

use super::commands::{Action, Command, names_tool};
use super::flags::Program;
use super::foreign::JobContext;
use super::line::{LineReader, TypedWords};
use super::roles::{Role, role_of_item, role_of_items};
use crate::page::{Page, Text};
use crate::shell::{
    Item, Joined, RawWord, Simple, Stage, Values, Word, expand_word, mask_secrets, unmark,
};

/// What an image runs by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageProgram {
    pub entrypoint: Vec<String>,
    pub command: Vec<String>,
}

/// What stands next to a guide: its files, and the images of the engine.
pub trait Companions {
    /// Reads a file that the guide names.
    ///
    /// # Errors
    /// The error of the operating system.
    fn read_file(&self, path: &str) -> io::Result<String>;

    /// Returns what an image runs by itself, if the engine has it.
    fn image_program(&self, _image: &str) -> Option<ImageProgram> {
        None
    }
}

/// No file, and no image.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCompanions;

impl Companions for NoCompanions {
    fn read_file(&self, _path: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The commands of blocks.
#[derive(Debug, Default)]
pub struct Reading {
    pub values: Values,
    pub commands: Vec<Command>,
    /// Texts of files that the guide writes, by their paths.
    pub files: BTreeMap<String, String>,
    pub job: JobContext,
    /// Lines that are dropped as output.
    pub output: Vec<String>,
    pub notes: Vec<String>,
    pub problems: Diagnostics,
}

/// Reads the commands of these blocks of a page.
pub fn read_blocks(page: &Page, blocks: &[usize]) -> Reading {
    let mut reader = Reader {
        page,
        block: 0,
        values: Values::default(),
        aliases: BTreeMap::new(),
        functions: BTreeMap::new(),
        files: BTreeMap::new(),
        job: JobContext::default(),
        is_typing: false,
        commands: Vec::new(),
        output: Vec::new(),
        notes: page.notes.clone(),
        problems: Diagnostics::default(),
    };
    for &block in blocks {
        reader.block = block;
        reader.read_job_lines();
        let items = reader.parse_block();
        reader.read_items(&items);
    }
    let Reader { values, commands, files, job, output, notes, problems, .. } = reader;
    Reading { values, commands, files, job, output, notes, problems }
}

/// The state of the reading.
pub(super) struct Reader<'a> {
    page: &'a Page,
    block: usize,
    pub values: Values,
    pub aliases: BTreeMap<String, Vec<RawWord>>,
    pub functions: BTreeMap<String, Vec<Item>>,
    pub files: BTreeMap<String, String>,
    pub job: JobContext,
    /// What follows is typed in a container's shell.
    is_typing: bool,
    pub commands: Vec<Command>,
    pub output: Vec<String>,
    notes: Vec<String>,
    pub problems: Diagnostics,
}

impl Reader<'_> {
    pub(super) fn text(&self) -> &Text {
        &self.page.blocks[self.block].text
    }

    pub(super) fn span(&self, range: Range<usize>) -> Span {
        self.page.span(self.block, range)
    }

    /// Returns text of the block on one line, shortened, without secrets.
    pub(super) fn shown(&self, range: Range<usize>) -> String {
        let text = mask_secrets(&unmark(&self.text().slice(range)));
        let line =
            text.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ");
        if line.chars().count() <= 70 {
            return line;
        }
        let start: String = line.chars().take(67).collect();
        format!("{}…", start.trim_end())
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Reads commands; a typed list whose commands depend on each other is one.
    fn read_items(&mut self, items: &[Item]) {
        let mut rest = items;
        while let Some(first) = rest.first() {
            let length =
                1 + rest[1..].iter().take_while(|item| item.joined != Joined::Then).count();
            let (list, behind) = rest.split_at(length);
            rest = behind;
            let depends = list.iter().any(|item| item.joined == Joined::Or)
                || list[..length - 1].iter().any(Item::has_here_document);
            if self.is_typing && depends && !list.iter().any(names_tool) {
                let end = list.iter().map(|item| item.range.end).max().unwrap_or(first.range.end);
                let is_background = list.last().is_some_and(|item| item.is_background);
                let range = first.range.start..end;
                let whole = Item { range, stages: Vec::new(), joined: Joined::Then, is_background };
                self.type_item(&whole, role_of_items(list));
            } else {
                for item in list {
                    self.read_item(item);
                }
            }
        }
    }

    pub(super) fn read_item(&mut self, item: &Item) {
        if self.is_typing && !names_tool(item) {
            return self.type_item(item, role_of_item(item));
        }
        if item.joined == Joined::Or && !names_tool(item) {
            let shown = self.shown(item.range.clone());
            return self.note(format!("`|| {shown}`: dropped, a step that fails ends the run"));
        }
        let before = self.commands.len();
        match item.stages.first() {
            Some(Stage::Simple(simple)) => self.read_simple(simple, item),
            Some(Stage::Compound { keyword: "{" | "(", inner }) => {
                let directory = self.values.directory.clone();
                self.read_items(inner);
                self.values.directory = directory;
            }
            Some(Stage::Compound { keyword, inner }) => self.read_branches(keyword, inner, item),
            Some(Stage::Function { name, inner }) => {
                self.functions.insert(name.clone(), inner.clone());
            }
            None => {}
        }
        self.read_filters(item, before);
    }

    /// Notes the filters behind a container's command; one that starts a container is refused.
    fn read_filters(&mut self, item: &Item, before: usize) {
        let Some(rest) = item.stages.get(1..).filter(|rest| !rest.is_empty()) else { return };
        let starts = rest.iter().any(|stage| {
            let alone = Item { stages: vec![stage.clone()], ..item.clone() };
            names_tool(&alone)
        });
        let shown = self.shown(item.range.clone());
        if starts {
            let span = self.span(item.range.clone());
            let help = "write the input into a file, or into `bash -c '… | …'` after the image";
            self.problems.error(
                "guide",
                format!("`{shown}`: a recipe's commands have no input"),
                &span,
                help,
            );
        } else if self.commands[before..]
            .iter()
            .any(|one| matches!(one.action, Action::Start(_) | Action::Exec(_)))
        {
            let filters = rest.iter().filter_map(|stage| match stage {
                Stage::Simple(simple) => simple.words.first().map(|word| word.text.clone()),
                _ => None,
            });
            let filters = filters.collect::<Vec<_>>().join(" | ");
            self.note(format!("`| {filters}`: dropped, Retrial keeps the whole output"));
        }
    }

    /// Adds a command that is typed in the container.
    fn type_item(&mut self, item: &Item, role: Role) {
        let words = item.simple().map_or(&[][..], |simple| &simple.words);
        match words.first().map(|word| &*word.text) {
            Some("exit") if words.len() == 1 => self.is_typing = false,
            Some(program @ ("tmux" | "screen")) => {
                let message = format!("`{program}` opens another terminal");
                let help =
                    "write the command that runs in it, with `&` behind it if it is a server";
                let span = self.span(item.range.clone());
                self.problems.error("guide", message, &span, help);
            }
            _ => self.push(Action::Typed(role), item, None),
        }
    }

    pub(super) fn push_host(&mut self, item: &Item) {
        self.push(Action::Host(role_of_item(item)), item, None);
    }

    pub(super) fn push(&mut self, action: Action, item: &Item, simple: Option<&Simple>) {
        let command = Command {
            action,
            block: self.block,
            range: item.range.clone(),
            span: self.span(item.range.clone()),
            shown: self.shown(item.range.clone()),
            is_background: item.is_background,
            here_document: simple.and_then(|simple| simple.here_document.clone()),
        };
        match command.action {
            Action::Start(_) | Action::Exec(_) | Action::Attach => {
                self.is_typing = command.opens_shell(&self.values);
            }
            _ => {}
        }
        self.commands.push(command);
    }

    /// Expands typed words as the host's shell does.
    pub(super) fn expand(&mut self, raw: &[RawWord]) -> TypedWords {
        let mut words = TypedWords { raw: raw.to_vec(), ..TypedWords::default() };
        for (origin, typed) in raw.iter().enumerate() {
            let span = self.span(typed.range.clone());
            for field in expand_word(typed, &mut self.values) {
                words.words.push(Word {
                    parts: field.parts,
                    span: span.clone(),
                    written: unmark(&typed.text),
                    is_open: field.is_open,
                });
                words.origins.push(origin);
            }
        }
        words
    }

    /// Returns a word of a table's flags: how the flags of a program are read.
    pub(super) fn skip_flags(&mut self, program: &'static Program, words: &TypedWords) -> usize {
        let mut reader = LineReader::new(program, &words.words, &mut self.problems);
        reader.read_flags();
        reader.position
    }
}
