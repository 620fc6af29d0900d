//! The runs there are: what stands in the cells of their table, in a terminal and in Markdown.

use jiff::tz::TimeZone;

use super::markdown::{grid, quoted};
use super::words::{clean, symbol};
use crate::format;
use crate::history::{Row, Stand};
use crate::verdict::{notice, number};

/// For whom the table is, and of which runs.
pub(super) struct Reader {
    /// In which times are told.
    zone: TimeZone,
    /// The figures are of several scenarios.
    scenarios: bool,
}

impl Reader {
    pub fn of(rows: &[Row], zone: &TimeZone) -> Self {
        let figures = rows.iter().filter_map(|row| row.deciding.as_ref());
        let mut scenarios = figures.map(|deciding| &deciding.scenario);
        let first = scenarios.next();
        Self {
            zone: zone.clone(),
            scenarios: scenarios.any(|scenario| Some(scenario) != first),
        }
    }
}

/// A longer text of somebody else's is cut.
const LONGEST: usize = 48;

/// The columns of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Run,
    Outcome,
    What,
    Choices,
    Figure,
    Ratio,
    Began,
    Took,
    Host,
}

impl Column {
    pub const ALL: [Self; 9] = [
        Self::Run,
        Self::Outcome,
        Self::What,
        Self::Choices,
        Self::Figure,
        Self::Ratio,
        Self::Began,
        Self::Took,
        Self::Host,
    ];

    pub fn head(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Outcome => "outcome",
            Self::What => "what",
            Self::Choices => "with",
            Self::Figure => "figure",
            Self::Ratio => "ratio",
            Self::Began => "began",
            Self::Took => "took",
            Self::Host => "host",
        }
    }

    /// What stands in it.
    pub fn cell(self, row: &Row, reader: &Reader) -> String {
        match self {
            Self::Run => clean(&row.id),
            Self::Outcome => match (row.stand, row.outcome) {
                (Stand::Running { pid }, _) => format!("running ({pid})"),
                (_, Some(outcome)) => format!("{} {outcome}", symbol(outcome)),
                (_, None) => format!("- {}", row.state()),
            },
            Self::What => cut(&row.title),
            Self::Choices => cut(&row.choices()),
            Self::Figure => figure(row, reader.scenarios),
            Self::Ratio => {
                let ratio = row.deciding.as_ref().and_then(|deciding| deciding.ratio);
                ratio.map(number::ratio).unwrap_or_default()
            }
            Self::Began => row.began.map_or_else(String::new, |began| {
                let began = began.to_zoned(reader.zone.clone());
                began.strftime("%Y-%m-%d %H:%M").to_string()
            }),
            Self::Took => row.seconds().map(format::duration).unwrap_or_default(),
            Self::Host => cut(&row.host),
        }
    }
}

/// `98,123.9 tokens/s`, with its scenario where there are several; why there is none, where the run
/// says so.
fn figure(row: &Row, scenarios: bool) -> String {
    match (&row.deciding, &row.because) {
        (Some(deciding), _) => {
            let value = deciding.value;
            let value = value.map(|value| number::figure(value, &deciding.unit));
            let value = value.unwrap_or_else(|| "no figure".to_owned());
            if scenarios {
                cut(&format!("{} {value}", deciding.scenario))
            } else {
                cut(&value)
            }
        }
        (None, Some(because)) => cut(because),
        (None, None) => String::new(),
    }
}

fn cut(text: &str) -> String {
    let text = clean(text);
    if text.chars().count() <= LONGEST {
        return text;
    }
    let begin: String = text.chars().take(LONGEST - 1).collect();
    format!("{}…", begin.trim_end())
}

/// What `MLCommons`' policy asks for where figures of `MLPerf` are among them.
pub(super) fn notice_of(rows: &[Row]) -> Option<String> {
    let mut shown = rows.iter().filter(|row| row.deciding.is_some());
    shown.find_map(|row| notice(&row.submission))
}

/// The runs as a table of Markdown.
#[must_use]
pub fn markdown(rows: &[Row], zone: &TimeZone) -> String {
    let notice = notice_of(rows);
    let reader = Reader::of(rows, zone);
    let head = Column::ALL.map(|column| match (column, &notice) {
        (Column::Figure, Some(_)) => "figure (unverified)",
        (column, _) => column.head(),
    });
    let cells = rows.iter().map(|row| {
        let columns = Column::ALL.iter();
        columns.map(|column| column.cell(row, &reader)).collect()
    });
    grid(&head, cells) + &quoted(notice.as_deref())
}
