//! Small charts: a line for each bar, ratio or series.

use console::{Alignment, pad_str, truncate_str};
use itertools::join;
use unicode_width::UnicodeWidthStr;

use super::{Terminal, TerminalWriter};
use crate::charts::{
    BarChart, Chart, ChartKind, DotChart, FigureOrigin, LineChart, LineSeries, RatioChart,
    RatioRow, Scale, VerdictChart, extent, to_f64,
};
use crate::document::{StatusMark, clean};
use retrial_results::verdict::number;

const MEASURED: &str = "34";
const PUBLISHED: &str = "33";
const BAD: &str = "31";

/// A chart in at most `width` columns (40 or more).
pub(crate) fn text(chart: &Chart, width: usize, terminal: Terminal) -> String {
    let mut canvas = TerminalWriter {
        width: width.max(40),
        ..TerminalWriter::new(terminal)
    };
    let title = canvas.fitted(&chart.title, canvas.width);
    canvas.line(&canvas.terminal.bold(title.trim_end()));
    match &chart.kind {
        ChartKind::Bars(bars) => of_bars(&mut canvas, bars),
        ChartKind::Ratios(ratios) => of_ratios(&mut canvas, ratios),
        ChartKind::Lines(lines) => of_lines(&mut canvas, lines),
        ChartKind::Verdicts(verdicts) => of_verdicts(&mut canvas, verdicts),
        ChartKind::Dots(dots) => of_dots(&mut canvas, dots),
    }
    canvas.text
}

/// A row of a chart: its label, the words behind its drawing, and a note below it.
struct ChartRow<'a> {
    label: &'a str,
    words: String,
    note: Option<String>,
}

impl<'a> ChartRow<'a> {
    fn new(label: &'a str, words: String) -> Self {
        Self {
            label,
            words,
            note: None,
        }
    }
}

impl TerminalWriter {
    /// Draws the rows: `draw` gets a row's position and the columns of its drawing, and returns the
    /// drawing with the code of its colour. The note is below all rows.
    fn rows<'a>(
        &mut self,
        rows: impl Iterator<Item = ChartRow<'a>>,
        draw: impl Fn(usize, usize) -> (String, &'static str),
        note: Option<&str>,
    ) {
        let rows: Vec<ChartRow<'_>> = rows.collect();
        let words: Vec<String> = rows.iter().map(|row| self.plain(&row.words)).collect();
        let label = rows.iter().map(|row| clean(row.label).width()).max();
        let label = label.unwrap_or(0).min(self.width / 3);
        let word = words.iter().map(|word| word.width()).max().unwrap_or(0);
        let columns = self.width.saturating_sub(label + word + 6).clamp(6, 60);
        let below = |canvas: &mut Self, note: &str| {
            let note = format!("  {}  {note}", " ".repeat(label));
            let note = canvas.plain(&canvas.fitted(&note, canvas.width));
            canvas.line(&canvas.terminal.dim(&note));
        };
        for (at, (row, words)) in rows.iter().zip(&words).enumerate() {
            let (drawn, code) = draw(at, columns);
            let padding = " ".repeat(columns.saturating_sub(drawn.width()));
            let label = self.fitted(row.label, label);
            let drawn = self.terminal.with(code, &drawn);
            self.line(&format!("  {label}  {drawn}{padding}  {words}"));
            if let Some(note) = &row.note {
                below(self, note);
            }
        }
        if let Some(note) = note {
            below(self, note);
        }
    }

    /// A text in exactly so many columns.
    fn fitted(&self, text: &str, columns: usize) -> String {
        let text = clean(text);
        let more = if self.terminal.unicode { "…" } else { "~" };
        let cut = truncate_str(&text, columns, more);
        pad_str(&cut, columns, Alignment::Left, None).into_owned()
    }

    /// A text without signs beyond ASCII, if the terminal has none.
    fn plain(&self, text: &str) -> String {
        if self.terminal.unicode {
            return text.to_owned();
        }
        text.replace('µ', "u").replace('°', "").replace('–', "-")
    }
}

fn of_bars(canvas: &mut TerminalWriter, bars: &BarChart) {
    let like = bars.bars.first().map_or(1.0, |bar| bar.value);
    let text = |value| number::format_figure_like(value, &bars.unit, like);
    let rows = bars.bars.iter().map(|bar| ChartRow {
        label: &bar.label,
        words: text(bar.value),
        note: bar
            .interval
            .map(|(lower, upper)| format!("{} to {}", text(lower), text(upper))),
    });
    let most = bars.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let unicode = canvas.terminal.unicode;
    let draw = |at: usize, columns| {
        let bar = &bars.bars[at];
        let share = if most > 0.0 { bar.value / most } else { 0.0 };
        let (full, part, code) = match (bar.origin, unicode) {
            (FigureOrigin::Measured, true) => ("█", true, MEASURED),
            (_, true) => ("░", false, PUBLISHED),
            (FigureOrigin::Measured, false) => ("#", false, MEASURED),
            (_, false) => ("-", false, PUBLISHED),
        };
        (filled(share, columns, full, part), code)
    };
    canvas.rows(rows, draw, None);
}

/// A bar of a share of so many columns, to an eighth if there are signs for that.
fn filled(share: f64, columns: usize, full: &str, eighths: bool) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let steps = if eighths { 8 } else { 1 };
    let filled = steps_of(share, columns * steps);
    full.repeat(filled / steps) + PARTS[filled % steps]
}

/// A share of so many steps, rounded.
fn steps_of(share: f64, steps: usize) -> usize {
    let reaches = |step: &usize| share >= (to_f64(*step) + 0.5) / to_f64(steps);
    (0..steps).take_while(reaches).count()
}

fn of_ratios(canvas: &mut TerminalWriter, ratios: &RatioChart) {
    let rows = ratios.rows.iter().map(|row| {
        let words = format!("{} {}", number::ratio(row.value), row.word);
        ChartRow::new(&row.label, words)
    });
    let values = ratios.rows.iter().flat_map(RatioRow::values);
    let scale = Scale::of(values.chain([1.0]), false, 5);
    let (good, bad, whisker, reference_line, edge) = if canvas.terminal.unicode {
        ("●", "◆", "─", "│", "┆")
    } else {
        ("o", "x", "-", "|", ":")
    };
    let draw = |at: usize, columns: usize| {
        let row = &ratios.rows[at];
        let column = |value| steps_of(scale.position(value), columns - 1);
        let mut cells = vec![" "; columns];
        if let Some((lower, upper)) = row.interval {
            cells[column(lower)..=column(upper)].fill(whisker);
        }
        for required in &row.edges {
            cells[column(*required)] = edge;
        }
        cells[column(1.0)] = reference_line;
        cells[column(row.value)] = if row.bad { bad } else { good };
        (cells.concat(), if row.bad { BAD } else { MEASURED })
    };
    let has_edges = ratios.rows.iter().any(|row| !row.edges.is_empty());
    let edge = has_edges.then(|| format!("{edge} {}; ", ratios.edge));
    let edge = edge.unwrap_or_default();
    let note = format!(
        "{reference_line} {}; {edge}right is better",
        ratios.reference
    );
    canvas.rows(rows, draw, Some(&note));
}

fn of_lines(canvas: &mut TerminalWriter, chart: &LineChart) {
    let rows = chart.series.iter();
    let rows = rows.map(|series| ChartRow::new(&series.name, range(series, &chart.unit)));
    let all = chart.series.iter().flat_map(|series| &series.points);
    let all = all.filter_map(|(_, value)| *value);
    let scale = Scale::of(all, chart.from_zero, 5);
    let over = match (chart.categories.first(), chart.categories.last()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => chart.over.clone(),
    };
    let unicode = canvas.terminal.unicode;
    let draw = |at: usize, columns| {
        let series = &chart.series[at];
        (spark(series, &scale, columns, unicode), MEASURED)
    };
    canvas.rows(rows, draw, Some(&over));
}

/// A sign for each category; the word is of the latest.
fn of_verdicts(canvas: &mut TerminalWriter, chart: &VerdictChart) {
    let rows = chart.rows.iter().map(|(label, cells)| {
        let latest = cells.iter().rev().flatten().next();
        ChartRow::new(label, latest.map_or(String::new(), ToString::to_string))
    });
    let unicode = canvas.terminal.unicode;
    let draw = |at: usize, _| {
        let signs = chart.rows[at].1.iter().map(|cell| match cell {
            Some(verdict) if unicode => StatusMark::from(*verdict).sign,
            // The first letter of the word.
            Some(verdict) => &verdict.word()[..1],
            None => " ",
        });
        (signs.collect::<String>(), MEASURED)
    };
    canvas.rows(rows, draw, chart.categories.last().map(String::as_str));
}

/// A row for each category with a trial: its trials along the axis of values, and their numbers.
fn of_dots(canvas: &mut TerminalWriter, chart: &DotChart) {
    let numbers = |category: usize| {
        let here = (1..)
            .zip(&chart.dots)
            .filter(|(_, (at, _))| *at == category);
        join(here.map(|(number, _): (i32, _)| number), " ")
    };
    let measured = |category: &usize| chart.dots.iter().any(|(at, _)| at == category);
    let measured_categories: Vec<usize> = (0..chart.categories.len()).filter(measured).collect();
    let rows = measured_categories.iter();
    let rows = rows.map(|category| ChartRow::new(&chart.categories[*category], numbers(*category)));
    let values = || chart.dots.iter().map(|(_, value)| *value);
    let (low, high) = extent(values());
    let scale = Scale::of(values(), false, 5);
    let (dot, line) = if canvas.terminal.unicode {
        ("●", "·")
    } else {
        ("o", ".")
    };
    let draw = |at: usize, columns: usize| {
        let mut cells = vec![line; columns];
        for (category, value) in &chart.dots {
            if *category == measured_categories[at] {
                cells[steps_of(scale.position(*value), columns - 1)] = dot;
            }
        }
        (cells.concat(), MEASURED)
    };
    let low = number::format_figure_like(low, &chart.unit, high);
    let high = number::format_figure(high, &chart.unit);
    let note = format!("{low} to {high}; numbers: the order of the trials");
    canvas.rows(rows, draw, Some(&note));
}

/// `12.3 ms to 45.6 ms`, from the lowest to the highest.
fn range(series: &LineSeries, unit: &str) -> String {
    let (low, high) = extent(series.points.iter().filter_map(|(_, value)| *value));
    if low > high {
        return String::new();
    }
    let short = |value: f64| {
        let digits = if high >= 100.0 { 1.0 } else { 100.0 };
        (value * digits).round() / digits
    };
    let low = number::format_figure_like(short(low), unit, high);
    format!("{low} to {}", number::format_figure(short(high), unit))
}

/// A block of one of eight heights for each point; of many points, the mean of those in a column.
fn spark(series: &LineSeries, scale: &Scale, columns: usize, unicode: bool) -> String {
    let signs: &[&str] = if unicode {
        &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    } else {
        &["_", ".", "-", "=", "+", "*", "#"]
    };
    let count = series.points.len();
    let columns = columns.min(count);
    let blocks = (0..columns).map(|column| {
        let points = &series.points[column * count / columns..(column + 1) * count / columns];
        let values: Vec<f64> = points.iter().filter_map(|(_, value)| *value).collect();
        if values.is_empty() {
            return " ";
        }
        let mean = values.iter().sum::<f64>() / to_f64(values.len());
        signs[steps_of(scale.position(mean), signs.len() - 1)]
    });
    blocks.collect()
}
