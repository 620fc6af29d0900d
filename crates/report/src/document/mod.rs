//! A report before it has a format: sections, lists, tables, charts, notices.
//!
//! `content` makes documents of verdicts, batches, comparisons and runs; each format (terminal, HTML,
//! Markdown) draws any document. Every text is a [`Line`], which is harmless in every format.

mod line;
mod table;

pub use line::{Line, sanitize_line};
pub use table::{
    Column, ColumnKind, ColumnNarrowing, NOTHING, RowGroup, RowTable, Table, TableCell,
};

use super::charts::Chart;
use retrial_document::measures::format;

/// A report, independent of its format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// The title; empty for a report that follows other output.
    pub title: Line,
    /// The version that made it, and when; for a page.
    pub made_by: Line,
    /// The content, in the order of a page.
    pub blocks: Vec<Block>,
}

impl Document {
    /// A report without a version.
    pub fn new(title: impl Into<Line>, blocks: impl IntoIterator<Item = Block>) -> Self {
        Self { title: title.into(), made_by: Line::default(), blocks: blocks.into_iter().collect() }
    }
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The result of the blocks next to it: formats put it where it is read first.
    Conclusion(Conclusion),
    Paragraph(StyledText),
    /// A list of entries with marks and keys.
    List(Vec<ListItem>),
    Table(Table),
    /// Charts, side by side if there is room.
    Charts(Vec<Chart>),
    /// Preformatted lines, with their label.
    Verbatim(Line, Vec<Line>),
    /// Blocks that are shown on demand, with their summary.
    Folded(Line, Vec<Block>),
    /// Blocks with a heading.
    Section(Section),
    /// A notice that a policy requires.
    Notice(Line),
}

/// Blocks with a heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// The heading; empty for none.
    pub title: Line,
    /// The target of links, unique in the document.
    pub id: Option<String>,
    /// The blocks below the heading.
    pub blocks: Vec<Block>,
}

impl Section {
    /// A section without an id.
    pub fn new_block(title: impl Into<Line>, blocks: impl IntoIterator<Item = Block>) -> Block {
        Block::Section(Self { title: title.into(), id: None, blocks: blocks.into_iter().collect() })
    }

    /// A section without an id, if it has a block.
    pub fn nonempty_block(
        title: impl Into<Line>,
        blocks: impl IntoIterator<Item = Block>,
    ) -> Option<Block> {
        let blocks: Vec<Block> = blocks.into_iter().collect();
        (!blocks.is_empty()).then(|| Self::new_block(title, blocks))
    }
}

/// The result of the blocks next to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conclusion {
    /// Good or bad news.
    pub mark: Option<StatusMark>,
    /// The result in a word or two.
    pub word: Line,
    /// The result in a sentence.
    pub sentence: Line,
    /// Warnings that must not be overlooked.
    pub alerts: Vec<Line>,
    /// The chart that shows it, on a page.
    pub chart: Option<Box<Chart>>,
    /// Further information, each with its label.
    pub remarks: Vec<(Line, StyledText)>,
}

impl Conclusion {
    /// A result without further information.
    pub fn new(
        mark: impl Into<Option<StatusMark>>,
        word: impl Into<Line>,
        sentence: impl Into<Line>,
    ) -> Self {
        Self { mark: mark.into(), word: word.into(), sentence: sentence.into(), ..Self::default() }
    }
}

/// Good or bad news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    /// Neither good nor bad news.
    Plain,
    /// Undecided, or to be checked.
    Open,
    /// Not as it should be.
    Bad,
    /// Less important than its surroundings.
    Faint,
}

/// A tone, and a sign that identifies it without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusMark {
    /// Whether it is good or bad news.
    pub tone: Tone,
    /// The sign that identifies the tone without colour.
    pub sign: &'static str,
}

impl StatusMark {
    pub const fn new(tone: Tone, sign: &'static str) -> Self {
        Self { tone, sign }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct ListItem {
    /// Good or bad news, if it is either.
    pub mark: Option<StatusMark>,
    /// The subject of the text; the keys of a list are aligned.
    pub key: Line,
    /// The text after the key.
    pub text: StyledText,
    /// Details, each with its label.
    pub details: Vec<(Line, StyledText)>,
}

impl ListItem {
    /// Creates an entry of text only.
    pub fn new(text: impl Into<StyledText>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates an entry with a key.
    pub fn with_key(key: impl Into<Line>, text: impl Into<StyledText>) -> Self {
        Self { key: key.into(), ..Self::new(text) }
    }

    pub fn with_mark(mut self, mark: impl Into<StatusMark>) -> Self {
        self.mark = Some(mark.into());
        self
    }

    /// Adds details, each with its label.
    pub fn with_details<L: Into<Line>, T: Into<StyledText>>(
        mut self,
        details: impl IntoIterator<Item = (L, T)>,
    ) -> Self {
        let labelled = details.into_iter();
        self.details = labelled.map(|(label, text)| (label.into(), text.into())).collect();
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum StyledText {
    Plain(Line),
    /// A path or a command.
    Code(Line),
    /// Less important text.
    Faint(Line),
    /// Text that links a file on a page.
    Link(Line, LinkTarget),
}

/// A file that a page links, and the passage in it.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkTarget {
    /// The path, relative to the page.
    pub path: String,
    /// The text at which a browser opens the file (a text fragment of its address).
    pub passage: Option<String>,
}

impl From<String> for LinkTarget {
    fn from(path: String) -> Self {
        Self { path, passage: None }
    }
}

impl StyledText {
    /// Returns the text without its style.
    pub fn line(&self) -> &Line {
        let (Self::Plain(line) | Self::Code(line) | Self::Faint(line) | Self::Link(line, _)) = self;
        line
    }
}

impl Default for StyledText {
    fn default() -> Self {
        Self::Plain(Line::default())
    }
}

impl<T: Into<Line>> From<T> for StyledText {
    fn from(text: T) -> Self {
        Self::Plain(text.into())
    }
}

impl Block {
    /// A paragraph of text only.
    pub fn paragraph(text: impl Into<StyledText>) -> Self {
        Self::Paragraph(text.into())
    }

    /// A paragraph on things that are not shown, if there are some: `3 more trials: --output csv has all.`
    pub fn omitted_note(count: usize, things: &str, hint: &str) -> Option<Self> {
        let things = (count > 0).then(|| format::format_count(count, things))?;
        Some(Self::paragraph(format!("{things}: {hint}.")))
    }

    /// Blocks that are shown on demand.
    pub fn folded(summary: impl Into<Line>, blocks: impl IntoIterator<Item = Self>) -> Self {
        Self::Folded(summary.into(), blocks.into_iter().collect())
    }

    /// A list, if it has an entry.
    pub fn list(items: impl IntoIterator<Item = ListItem>) -> Option<Self> {
        let entries: Vec<ListItem> = items.into_iter().collect();
        (!entries.is_empty()).then_some(Self::List(entries))
    }

    /// Charts, if there is one.
    pub fn charts(charts: Vec<Chart>) -> Option<Self> {
        (!charts.is_empty()).then_some(Self::Charts(charts))
    }
}
