//! Tables, with the ways in which a narrow format may lay out their columns.

use std::borrow::Cow;

use itertools::Itertools as _;

use super::{Block, Line, StatusMark, Tone};

/// The text of a cell without a value.
pub const NOTHING: &str = "–";

/// A table, independent of its format.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The caption; HTML hides one that equals the heading above it.
    pub caption: Line,
    /// Whether the caption is needed to understand it: formats without captions write it as well.
    pub titled: bool,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    pub groups: Vec<RowGroup>,
}

/// Rows, with a title.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowGroup {
    pub title: Option<TableCell>,
    /// A cell for each column.
    pub rows: Vec<Vec<TableCell>>,
}

/// A column, with its layout in narrow formats.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Column {
    /// The first line of its head.
    pub name: Line,
    /// A second line of its head.
    pub note: Line,
    pub kind: ColumnKind,
    /// The column below whose cells it may go if the table is too wide.
    pub stacked_under: Option<usize>,
    /// It may be omitted if the table is too wide, those of the lowest rank first.
    pub omission_rank: Option<u8>,
    /// It may be made narrower than its cells if the table is too wide, when columns of a lower rank are omitted.
    pub narrowing: Option<ColumnNarrowing>,
}

/// When a column is made narrower than its cells, and how these then fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnNarrowing {
    /// Columns of a lower rank are omitted before.
    pub rank: u8,
    /// Cells are wrapped at spaces; otherwise they are cut off.
    pub wraps: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// The subject of the row.
    Head,
    Text,
    Number,
    /// Good or bad news.
    Status,
}

impl Column {
    fn new(name: impl Into<Line>, kind: ColumnKind) -> Self {
        Self {
            name: name.into(),
            note: Line::default(),
            kind,
            stacked_under: None,
            omission_rank: None,
            narrowing: None,
        }
    }

    /// Creates a column of the rows' subjects.
    pub fn head(name: impl Into<Line>) -> Self {
        Self::new(name, ColumnKind::Head)
    }

    /// Creates a column of words.
    pub fn text(name: impl Into<Line>) -> Self {
        Self::new(name, ColumnKind::Text)
    }

    /// Creates a column of numbers.
    pub fn number(name: impl Into<Line>) -> Self {
        Self::new(name, ColumnKind::Number)
    }

    /// Creates a column of good and bad news.
    pub fn status(name: impl Into<Line>) -> Self {
        Self::new(name, ColumnKind::Status)
    }

    /// Adds a second line to its head.
    pub fn with_note(mut self, note: impl Into<Line>) -> Self {
        self.note = note.into();
        self
    }

    /// Places it below another column's cells if the table is too wide.
    pub fn stack_under(mut self, column: usize) -> Self {
        self.stacked_under = Some(column);
        self
    }

    /// Omits it if the table is too wide.
    pub fn omit_at_rank(mut self, rank: u8) -> Self {
        self.omission_rank = Some(rank);
        self
    }

    /// Cuts off its cells if the table is too wide.
    pub fn shorten_at_rank(mut self, rank: u8) -> Self {
        self.narrowing = Some(ColumnNarrowing { rank, wraps: false });
        self
    }

    /// Wraps its cells if the table is too wide.
    pub fn wrap_at_rank(mut self, rank: u8) -> Self {
        self.narrowing = Some(ColumnNarrowing { rank, wraps: true });
        self
    }

    /// Returns whether its cells are wrapped if the table is too wide.
    pub fn wraps(&self) -> bool {
        self.narrowing.is_some_and(|narrowing| narrowing.wraps)
    }

    /// The whole head on one line: `measured (unverified)`.
    pub fn full_name(&self) -> String {
        match self.note.as_str() {
            "" => self.name.to_string(),
            note => format!("{} ({note})", self.name),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct TableCell {
    /// The text; empty without a value.
    pub text: Line,
    /// Less important text after it, in parentheses; on a page below it.
    pub note: Line,
    /// Good or bad news, if it is either.
    pub tone: Option<Tone>,
    /// The target of its link: `#` and the id of a section, or a path relative to the document.
    pub link: Option<String>,
    /// A ratio around 1, which a page draws as a bar below the text.
    pub ratio: Option<f64>,
}

impl TableCell {
    /// Creates a cell of a mark and its word.
    pub fn status(mark: impl Into<StatusMark>, word: &str) -> Self {
        let status_mark = mark.into();
        Self::with_tone(status_mark.tone, format!("{} {word}", status_mark.sign))
    }

    /// Creates a cell of good or bad news.
    pub fn with_tone(tone: Tone, text: impl Into<Line>) -> Self {
        Self { text: text.into(), tone: Some(tone), ..Self::default() }
    }

    /// Sets the less important text after its text.
    pub fn with_note(self, note: impl Into<Line>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Sets the ratio that a page draws as a bar.
    pub fn with_ratio(self, ratio: Option<f64>) -> Self {
        Self { ratio, ..self }
    }

    /// Returns all of its text on one line: `reproduced (modified)`.
    pub fn full_text(&self) -> Cow<'_, str> {
        match self.note.as_str() {
            "" => Cow::Borrowed(&self.text),
            note => Cow::Owned(format!("{} ({note})", self.text)),
        }
    }

    /// Sets the target of its link, if there is one.
    pub fn with_link(self, link: Option<String>) -> Self {
        Self { link, ..self }
    }
}

impl<T: Into<Line>> From<T> for TableCell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Table {
    /// Creates a table of one group.
    pub fn new(
        caption: impl Into<Line>,
        columns: Vec<Column>,
        rows: impl IntoIterator<Item = Vec<TableCell>>,
    ) -> Self {
        let cells = rows.into_iter().collect();
        Self::from_groups(caption, columns, vec![RowGroup { title: None, rows: cells }])
    }

    pub fn from_groups(
        caption: impl Into<Line>,
        columns: Vec<Column>,
        groups: Vec<RowGroup>,
    ) -> Self {
        Self { caption: caption.into(), titled: false, columns, groups }
    }

    /// Builds a table of one group, column by column.
    pub fn builder<R>(caption: impl Into<Line>, rows: impl IntoIterator<Item = R>) -> RowTable<R> {
        let records: Vec<R> = rows.into_iter().collect();
        let cells = records.iter().map(|_| Vec::new());
        RowTable { table: Self::new(caption, Vec::new(), cells), rows: records }
    }

    /// Returns the rows of all groups.
    pub fn rows(&self) -> impl Iterator<Item = &Vec<TableCell>> {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    /// Returns the positions of the columns that have text.
    pub fn used_columns(&self) -> Vec<usize> {
        let is_used = |at: &usize| {
            let mut cells = self.rows().filter_map(|row| row.get(*at));
            cells.any(|cell| !cell.text.is_empty())
        };
        (0..self.columns.len()).filter(is_used).collect()
    }
}

/// A table whose cells are functions of its rows.
#[must_use]
pub struct RowTable<R> {
    pub rows: Vec<R>,
    pub table: Table,
}

impl<R> RowTable<R> {
    /// Adds a column whose cells are computed from the rows.
    pub fn column<C: Into<TableCell>>(mut self, column: Column, cell: impl Fn(&R) -> C) -> Self {
        let cells = self.table.groups.iter_mut().flat_map(|group| &mut group.rows);
        for (row, cells) in self.rows.iter().zip(cells) {
            cells.push(cell(row).into());
        }
        self.table.columns.push(column);
        self
    }

    /// Adds a column of the rows' subjects.
    pub fn head<C: Into<TableCell>>(self, name: &str, cell: impl Fn(&R) -> C) -> Self {
        self.column(Column::head(name), cell)
    }

    /// Adds a column of words.
    pub fn text<C: Into<TableCell>>(self, name: &str, cell: impl Fn(&R) -> C) -> Self {
        self.column(Column::text(name), cell)
    }

    /// Adds a column of numbers.
    pub fn number<C: Into<TableCell>>(self, name: &str, cell: impl Fn(&R) -> C) -> Self {
        self.column(Column::number(name), cell)
    }

    /// Adds a column of good and bad news.
    pub fn status<C: Into<TableCell>>(self, name: &str, cell: impl Fn(&R) -> C) -> Self {
        self.column(Column::status(name), cell)
    }

    /// Groups consecutive rows by their title, after all columns.
    pub fn group_by(mut self, title: impl Fn(&R) -> String) -> Self {
        let groups = std::mem::take(&mut self.table.groups).into_iter();
        let cells = groups.flat_map(|group| group.rows);
        let paired = self.rows.iter().zip(cells);
        let together = paired.chunk_by(|(row, _)| TableCell::from(title(row)));
        let groups = together.into_iter().map(|(title, rows)| RowGroup {
            title: Some(title),
            rows: rows.map(|(_, cells)| cells).collect(),
        });
        self.table.groups = groups.collect();
        self
    }

    /// Returns the table as a part of a report, if it has a row.
    pub fn into_block(self) -> Option<Block> {
        (!self.rows.is_empty()).then_some(Block::Table(self.table))
    }
}
