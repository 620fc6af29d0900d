//! A report before it has a format: sections, lists, tables, charts, notices.
//!
//! `content` makes documents of verdicts, batches, comparisons and runs; each format (terminal, HTML,
//! Markdown) draws any document and knows nothing of what it is about. Every text is a [`Line`],
//! which is harmless wherever it is written.

mod line;
mod table;

pub use line::{Line, clean};
pub use table::{Cell, Column, ColumnKind, Group, NOTHING, Table};

use super::charts::Chart;

/// A report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// What it is about.
    pub title: Line,
    /// With what and when it was made; a page says it.
    pub made: Line,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// What the blocks beside it come to: formats put it where it is read first.
    Conclusion(Conclusion),
    /// A paragraph.
    Paragraph(Text),
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
    /// Charts, side by side where there is room.
    Charts(Vec<Chart>),
    /// Lines as they are, with their label.
    Verbatim(Line, Vec<Line>),
    /// Blocks that are read on demand, with their summary.
    Folded(Line, Vec<Block>),
    /// Blocks with a heading.
    Section(Section),
    /// A notice that somebody's policy demands.
    Notice(Line),
}

/// Blocks with a heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// The heading; empty for none.
    pub title: Line,
    /// By which links name it, unique in the document.
    pub id: Option<String>,
    /// Its content.
    pub blocks: Vec<Block>,
}

impl Section {
    /// A section without an id.
    pub fn block(title: impl Into<Line>, blocks: Vec<Block>) -> Block {
        Block::Section(Self {
            title: title.into(),
            id: None,
            blocks,
        })
    }
}

/// What the blocks beside it come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conclusion {
    /// Good or bad news, with the sign that says it without colour.
    pub mark: Option<Mark>,
    /// In a word or two.
    pub word: Line,
    /// In a sentence.
    pub sentence: Line,
    /// What nobody may overlook.
    pub alerts: Vec<Line>,
    /// What else is to be known, each with its label.
    pub remarks: Vec<(Line, Text)>,
}

/// Good or bad news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Neither.
    Plain,
    /// Not decided, or to be looked at.
    Open,
    /// Not as it should be.
    Bad,
    /// Of less weight than what is beside it.
    Faint,
}

/// A tone, and a sign that tells it from the others without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The tone.
    pub tone: Tone,
    /// The sign.
    pub sign: &'static str,
}

impl Mark {
    /// A mark.
    #[must_use]
    pub const fn new(tone: Tone, sign: &'static str) -> Self {
        Self { tone, sign }
    }
}

/// An entry of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item {
    /// Good or bad news, if it is either.
    pub mark: Option<Mark>,
    /// What the text is about; keys of a list stand one below the other.
    pub key: Line,
    /// The text.
    pub text: Text,
    /// More of it, each with its label.
    pub details: Vec<(Line, Line)>,
}

impl Item {
    /// An entry of text only.
    pub fn new(text: impl Into<Text>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The same with a key.
    pub fn keyed(key: impl Into<Line>, text: impl Into<Text>) -> Self {
        Self {
            key: key.into(),
            ..Self::new(text)
        }
    }

    /// The same with a mark.
    #[must_use]
    pub fn marked(self, mark: Mark) -> Self {
        Self {
            mark: Some(mark),
            ..self
        }
    }
}

/// Text of several parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text(pub Vec<Span>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Span {
    /// Text.
    Plain(Line),
    /// A path or a command.
    Code(Line),
    /// Text of less weight.
    Faint(Line),
}

impl Span {
    /// The text alone.
    #[must_use]
    pub fn line(&self) -> &Line {
        let (Self::Plain(line) | Self::Code(line) | Self::Faint(line)) = self;
        line
    }
}

impl Text {
    /// A path or a command.
    pub fn code(text: impl Into<Line>) -> Self {
        Self(vec![Span::Code(text.into())])
    }

    /// Text of less weight.
    pub fn faint(text: impl Into<Line>) -> Self {
        Self(vec![Span::Faint(text.into())])
    }

    /// The text alone.
    #[must_use]
    pub fn plain(&self) -> String {
        self.0.iter().map(|span| span.line().as_str()).collect()
    }
}

impl<T: Into<Line>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(vec![Span::Plain(text.into())])
    }
}

impl Block {
    /// A paragraph of text only.
    pub fn paragraph(text: impl Into<Text>) -> Self {
        Self::Paragraph(text.into())
    }

    /// A list, if it has an entry.
    #[must_use]
    pub fn list(items: impl IntoIterator<Item = Item>) -> Option<Self> {
        let items: Vec<Item> = items.into_iter().collect();
        (!items.is_empty()).then_some(Self::List(items))
    }

    /// Charts, if there is one.
    #[must_use]
    pub fn charts(charts: Vec<Chart>) -> Option<Self> {
        (!charts.is_empty()).then_some(Self::Charts(charts))
    }
}
