//! Small charts of ratios and columns, a line for each; other charts are described in words.

use console::{Alignment, pad_str, truncate_str};
use unicode_width::UnicodeWidthStr;

use super::{Terminal, TerminalWriter};
use crate::charts::{Bar, Chart, ChartKind, ColumnChart, RatioChart, RatioRow, Scale, to_f64};
use crate::document::sanitize_line;
use retrial_results::verdict::number;

const MEASURED_COLOR: &str = "34";
const REFERENCE_COLOR: &str = "33";
const BAD_COLOR: &str = "31";

/// A chart in at most `width` columns (40 or more).
pub(crate) fn render_chart(chart: &Chart, width: usize, terminal: Terminal) -> String {
    let mut canvas = TerminalWriter { width: width.max(40), ..TerminalWriter::new(terminal) };
    let title = canvas.fit_to_columns(&chart.title, canvas.width);
    canvas.write_line(&canvas.terminal.bold(title.trim_end()));
    match &chart.kind {
        ChartKind::Columns(columns) => draw_columns(&mut canvas, columns),
        ChartKind::Ratios(ratios) => draw_ratios(&mut canvas, ratios),
        _ => {
            let description = format!("  {}", sanitize_line(&chart.description));
            let description = canvas.to_plain_signs(&description);
            canvas.write_wrapped(&description, 2);
        }
    }
    canvas.text
}

/// A row of a chart: its label, the words behind its drawing, and a note below it.
struct ChartRow<'a> {
    label: &'a str,
    words: String,
    note: Option<String>,
}

impl TerminalWriter {
    /// Draws the rows: `draw` gets a row's position and the columns of its drawing, and returns the
    /// drawing with the code of its colour. The note is below all rows.
    fn draw_rows<'a>(
        &mut self,
        rows: impl Iterator<Item = ChartRow<'a>>,
        draw: impl Fn(usize, usize) -> (String, &'static str),
        note: Option<&str>,
    ) {
        let chart_rows: Vec<ChartRow<'_>> = rows.collect();
        let words: Vec<String> =
            chart_rows.iter().map(|row| self.to_plain_signs(&row.words)).collect();
        let widest_label = chart_rows.iter().map(|row| sanitize_line(row.label).width()).max();
        let label = widest_label.unwrap_or(0).min(self.width / 3);
        let word = words.iter().map(|word| word.width()).max().unwrap_or(0);
        let columns = self.width.saturating_sub(label + word + 6).clamp(6, 60);
        let below = |canvas: &mut Self, note: &str| {
            let note = format!("  {}  {note}", " ".repeat(label));
            let note = canvas.to_plain_signs(&canvas.fit_to_columns(&note, canvas.width));
            canvas.write_line(&canvas.terminal.dim(&note));
        };
        for (at, (row, words)) in chart_rows.iter().zip(&words).enumerate() {
            let (drawn, code) = draw(at, columns);
            let padding = " ".repeat(columns.saturating_sub(drawn.width()));
            let label = self.fit_to_columns(row.label, label);
            let drawn = self.terminal.apply_code(code, &drawn);
            self.write_line(&format!("  {label}  {drawn}{padding}  {words}"));
            if let Some(note) = &row.note {
                below(self, note);
            }
        }
        if let Some(note) = note {
            below(self, note);
        }
    }

    /// A text in exactly so many columns.
    fn fit_to_columns(&self, text: &str, columns: usize) -> String {
        let text = sanitize_line(text);
        let more = if self.terminal.unicode { "…" } else { "~" };
        let cut = truncate_str(&text, columns, more);
        pad_str(&cut, columns, Alignment::Left, None).into_owned()
    }

    /// A text without signs beyond ASCII, if the terminal has none.
    fn to_plain_signs(&self, text: &str) -> String {
        if self.terminal.unicode {
            return text.to_owned();
        }
        text.replace('µ', "u").replace('°', "").replace('–', "-")
    }
}

/// A row for each column, and below them one for each line that they are compared with.
fn draw_columns(canvas: &mut TerminalWriter, chart: &ColumnChart) {
    let columns = chart.columns().map(|(group, series, column)| Bar {
        interval: column.range,
        ..Bar::new(chart.column_name(group, series), column.value)
    });
    let mut bars: Vec<Bar> = columns.collect();
    let measured = bars.len();
    bars.extend(chart.references.iter().map(|line| Bar::new(&line.name, line.value)));
    let like = bars.first().map_or(1.0, |bar| bar.value);
    let text = |value| number::format_figure_like(value, &chart.unit, like);
    let rows = bars.iter().map(|bar| ChartRow {
        label: &bar.label,
        words: text(bar.value),
        note: bar.interval.map(|(lower, upper)| format!("{} to {}", text(lower), text(upper))),
    });
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let unicode = canvas.terminal.unicode;
    let draw = |at: usize, columns| {
        let share = if most > 0.0 { bars[at].value / most } else { 0.0 };
        let (full, part, code) = match (at < measured, unicode) {
            (true, true) => ("█", true, MEASURED_COLOR),
            (false, true) => ("░", false, REFERENCE_COLOR),
            (true, false) => ("#", false, MEASURED_COLOR),
            (false, false) => ("-", false, REFERENCE_COLOR),
        };
        (render_bar(share, columns, full, part), code)
    };
    canvas.draw_rows(rows, draw, None);
}

/// A bar of a share of so many columns, to an eighth if there are signs for that.
fn render_bar(share: f64, columns: usize, full: &str, eighths: bool) -> String {
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

fn draw_ratios(canvas: &mut TerminalWriter, ratios: &RatioChart) {
    let rows = ratios.rows.iter().map(|row| {
        let words = format!("{} {}", number::format_ratio(row.value), row.word);
        ChartRow { label: &row.label, words, note: None }
    });
    let values = ratios.rows.iter().flat_map(RatioRow::axis_values);
    let scale = Scale::from_values(values.chain([1.0]), false, 5);
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
        (cells.concat(), if row.bad { BAD_COLOR } else { MEASURED_COLOR })
    };
    let has_edges = ratios.rows.iter().any(|row| !row.edges.is_empty());
    let edge_note = has_edges.then(|| format!("{edge} {}; ", ratios.edge));
    let edge = edge_note.unwrap_or_default();
    let note = format!("{reference_line} {}; {edge}right is better", ratios.reference);
    canvas.draw_rows(rows, draw, Some(&note));
}
