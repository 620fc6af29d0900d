//! Tables: what stands in them, and what a narrow format may do with a column.

use super::{Line, Mark, Tone};

/// Stands in a cell where there is nothing to say.
pub const NOTHING: &str = "–";

/// A table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub caption: Line,
    /// The caption is needed to understand it: formats without captions write it as well.
    pub titled: bool,
    /// A few rows, each worth a look of its own: a page shows them as cards.
    pub cards: bool,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, by group.
    pub groups: Vec<Group>,
}

/// Rows, with what they have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Group {
    /// What they have in common, if that is said.
    pub title: Option<Cell>,
    /// A cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its head.
    pub name: Line,
    /// A second line of its head.
    pub note: Line,
    /// What it holds.
    pub kind: ColumnKind,
    /// The column below whose cells it may go where there is no room beside them.
    pub under: Option<usize>,
    /// It may be omitted where there is no room, those of the lowest rank first.
    pub spare: Option<u8>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// What the row is about.
    Head,
    /// Words.
    Text,
    /// Numbers.
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
            under: None,
            spare: None,
        }
    }

    /// Of what the rows are about.
    pub fn head(name: impl Into<Line>) -> Self {
        Self::new(name, ColumnKind::Head)
    }

    /// Of words.
    pub fn text(name: impl Into<Line>) -> Self {
        Self::new(name, ColumnKind::Text)
    }

    /// Of numbers.
    pub fn number(name: impl Into<Line>) -> Self {
        Self::new(name, ColumnKind::Number)
    }

    /// Of good and bad news.
    pub fn status(name: impl Into<Line>) -> Self {
        Self::new(name, ColumnKind::Status)
    }

    /// With a second line of its head.
    #[must_use]
    pub fn noted(self, note: impl Into<Line>) -> Self {
        Self {
            note: note.into(),
            ..self
        }
    }

    /// Below another column's cells where there is no room.
    #[must_use]
    pub fn under(self, column: usize) -> Self {
        Self {
            under: Some(column),
            ..self
        }
    }

    /// Omitted where there is no room.
    #[must_use]
    pub fn spare(self, rank: u8) -> Self {
        Self {
            spare: Some(rank),
            ..self
        }
    }

    /// The whole head on one line: `measured (unverified)`.
    #[must_use]
    pub fn full_name(&self) -> String {
        match self.note.as_str() {
            "" => self.name.to_string(),
            note => format!("{} ({note})", self.name),
        }
    }
}

/// A cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// Its text.
    pub text: Line,
    /// Good or bad news, if it is either.
    pub tone: Option<Tone>,
    /// Where it leads: `#` and the id of a section, or a path as seen from the document.
    pub link: Option<String>,
}

impl Cell {
    /// A mark and its word.
    #[must_use]
    pub fn status(mark: Mark, word: &str) -> Self {
        Self::toned(mark.tone, format!("{} {word}", mark.sign))
    }

    /// Good or bad news.
    pub fn toned(tone: Tone, text: impl Into<Line>) -> Self {
        Self {
            text: text.into(),
            tone: Some(tone),
            link: None,
        }
    }

    /// With what it leads to, if it is known.
    #[must_use]
    pub fn linked(self, link: Option<String>) -> Self {
        Self { link, ..self }
    }
}

impl<T: Into<Line>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

impl Table {
    /// A table of one group.
    pub fn new(
        caption: impl Into<Line>,
        columns: Vec<Column>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let rows = rows.into_iter().collect();
        Self {
            caption: caption.into(),
            columns,
            groups: vec![Group { title: None, rows }],
            ..Self::default()
        }
    }

    /// All rows, whatever their group.
    pub fn rows(&self) -> impl Iterator<Item = &Vec<Cell>> {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    /// The columns in which something stands, by their numbers.
    #[must_use]
    pub fn used(&self) -> Vec<usize> {
        let is_used = |at: &usize| {
            let mut cells = self.rows().filter_map(|row| row.get(*at));
            cells.any(|cell| !cell.text.is_empty())
        };
        (0..self.columns.len()).filter(is_used).collect()
    }
}
