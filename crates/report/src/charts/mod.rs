//! Charts of verdicts, telemetry, comparisons, batches and histories. Formats draw them: as SVG, or small in a
//! terminal.
//!
//! Bars start at zero; an axis that does not says so. Colours are of Okabe and Ito's palette; no meaning is in a colour alone.

mod batch;
mod columns;
mod comparison;
mod history;
mod scale;
mod search;
mod sweep;
mod telemetry;
mod verdict;

pub use batch::batch_charts;
pub use columns::{Column, ColumnChart, ColumnSeries, ReferenceLine};
pub use comparison::comparison_charts;
pub use history::{CategoryResults, history_charts};
pub(super) use scale::{Scale, median, to_f64, value_range};
pub use telemetry::telemetry_charts;
pub use verdict::verdict_charts;

use itertools::join;

use super::document::sanitize_line;
use retrial_results::verdict::Outcome;

/// A chart, independent of its format.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Its title: `Offline performance: tokens_per_second`.
    pub title: String,
    /// A short name for its file: letters, digits, `-`.
    pub name: String,
    /// A description of its content, for those who do not see it.
    pub description: String,
    /// The data of the chart, by kind.
    pub kind: ChartKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ChartKind {
    /// Figures of one unit, from zero.
    Bars(BarChart),
    /// Figures of one unit in groups, next to what they are compared with.
    Columns(ColumnChart),
    /// Ratios around 1, with their intervals and what is required of them.
    Ratios(RatioChart),
    /// Figures over releases, percentiles or time.
    Lines(LineChart),
    /// Verdicts over releases.
    Verdicts(VerdictChart),
    /// Trials at ordered categories, in the order in which they were taken.
    Dots(DotChart),
}

/// Figures of one unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarChart {
    /// The unit of all values; empty for none.
    pub unit: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
    /// The meaning of the whiskers: `95 % confidence`.
    pub whiskers: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The label above the bar.
    pub label: String,
    /// The value, in the chart's unit.
    pub value: f64,
    pub interval: Option<(f64, f64)>,
    /// The trials behind it, if there are several.
    pub trials: Vec<f64>,
}

/// Ratios around 1: the data of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RatioChart {
    /// The meaning of 1: `published`.
    pub reference: String,
    /// The rows, from top to bottom.
    pub rows: Vec<RatioRow>,
    /// The meaning of the whiskers.
    pub whiskers: String,
    /// The meaning of the edges: `margin 5 %`.
    pub edge: String,
}

/// One row of a chart of ratios.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioRow {
    pub label: String,
    /// Above 1 is better.
    pub value: f64,
    /// The interval of the ratio, at the confidence of the chart's whiskers.
    pub interval: Option<(f64, f64)>,
    /// The edges of what is required: the least ratio, and for an equivalence the greatest.
    pub edges: Vec<f64>,
    /// The ratios of the trials behind it, if there are several.
    pub trials: Vec<f64>,
    /// Other published figures, relative to the reference: of other submitters, or for reference only.
    pub other_published: Vec<f64>,
    /// A word next to the number: `reproduced`, `faster`.
    pub word: String,
    /// Whether the word is bad news.
    pub bad: bool,
}

/// Figures over releases, percentiles or time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineChart {
    /// The name of the axis: `percentile`, `seconds since the run started`.
    pub axis_name: String,
    /// Names of the categories along the axis; if empty, the points' own numbers count.
    pub categories: Vec<String>,
    pub unit: String,
    /// Whether the axis begins at zero.
    pub from_zero: bool,
    /// The lines, in the order of the legend.
    pub series: Vec<LineSeries>,
    /// Stretches of the axis that are marked: measuring steps.
    pub stretches: Vec<(f64, f64)>,
    /// Where the batch was resumed, on the axis.
    pub breaks: Vec<f64>,
    /// The meaning of the whiskers at marked points.
    pub whiskers: &'static str,
}

/// Trials at ordered categories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DotChart {
    pub axis_name: String,
    /// Names of the categories along the axis.
    pub categories: Vec<String>,
    pub unit: String,
    /// Category and value of each trial, in their order.
    pub dots: Vec<(usize, f64)>,
    /// The two categories between which the change is, if it is known.
    pub change: Option<(usize, usize)>,
}

/// How the points of a series are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SeriesStyle {
    /// As a line.
    #[default]
    Line,
    /// As a line with a marker at each point.
    MarkedLine,
    /// As markers.
    Markers,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineSeries {
    /// The line's name in the legend.
    pub name: String,
    /// Its points; a gap is a point without a value.
    pub points: Vec<(f64, Option<f64>)>,
    /// The lowest and highest value at each of its points.
    pub band: Vec<(f64, f64)>,
    /// A short text next to each of its points; empty for none.
    pub labels: Vec<String>,
    pub style: SeriesStyle,
}

/// Verdicts over releases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VerdictChart {
    /// The name of the axis: `ROCm in the image, by release`.
    pub axis_name: String,
    /// Names of the categories along the axis.
    pub categories: Vec<String>,
    /// The rows, from top to bottom, each with its label and at most one verdict for each category.
    pub rows: Vec<(String, Vec<Option<Outcome>>)>,
}

impl Chart {
    /// A chart; benchmark and title name its file.
    pub(super) fn new(benchmark: &str, title: &str, description: &str, kind: ChartKind) -> Self {
        let title = sanitize_line(title);
        Self {
            name: file_name(&format!("{benchmark} {title}")),
            title,
            description: description.to_owned(),
            kind,
        }
    }
}

impl RatioChart {
    /// The chart, if it has a row.
    fn into_chart(self, benchmark: &str, title: &str, description: &str) -> Option<Chart> {
        let has_rows = !self.rows.is_empty();
        has_rows.then(|| Chart::new(benchmark, title, description, ChartKind::Ratios(self)))
    }
}

impl RatioRow {
    /// The values that its axis has room for, besides those of its trials.
    pub(super) fn axis_values(&self) -> impl Iterator<Item = f64> {
        let (lower, upper) = self.interval.unwrap_or((self.value, self.value));
        let edges = self.edges.iter().chain(&self.other_published).copied();
        edges.chain([self.value, lower, upper])
    }
}

impl Bar {
    /// A bar without an interval or trials.
    pub(super) fn new(label: impl Into<String>, value: f64) -> Self {
        Self { label: label.into(), value, interval: None, trials: Vec::new() }
    }
}

/// More colours cannot be distinguished.
const MAX_SERIES: usize = 6;

/// A remark of a title if not all of a chart's rows are shown: `, the first 6 of 9 lines`.
fn truncation_note(shown: usize, count: usize, things: &str) -> String {
    let cut = (shown < count).then(|| format!(", the first {shown} of {count}{things}"));
    cut.unwrap_or_default()
}

/// Returns whether the value of an axis is a release: `7.1.1`.
pub(super) fn is_release(value: &str) -> bool {
    value.contains('.') && value.starts_with(|first: char| first.is_ascii_digit())
}

/// Returns a text as a file's name: letters, digits and `-`.
pub(super) fn file_name(text: &str) -> String {
    let lowercase = text.to_lowercase();
    let words = lowercase.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut name = join(words.filter(|word| !word.is_empty()), "-");
    name.truncate(80);
    if name.is_empty() {
        return "chart".to_owned();
    }
    name
}

#[cfg(test)]
mod tests;
