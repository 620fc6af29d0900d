//! Charts small: a line for each bar, ratio or series.

use unicode_width::UnicodeWidthStr;

use super::Terminal;
use super::style::Paint;
use crate::report::charts::{Bars, Chart, Kind, Lines, Origin, Ratios, Scale, Series};
use crate::report::document::clean;
use crate::results::verdict::number;

const MEASURED: &str = "34";
const PUBLISHED: &str = "33";

/// A chart in at most `width` columns (40 or more).
pub(in crate::report) fn text(chart: &Chart, width: usize, signs: Terminal) -> String {
    let width = width.max(40);
    let paint = Paint { color: signs.color };
    let title = fitted(&chart.title, width, signs);
    let mut lines = vec![paint.bold(title.trim_end())];
    match &chart.kind {
        Kind::Bars(bars) => of_bars(&mut lines, bars, width, signs),
        Kind::Ratios(ratios) => of_ratios(&mut lines, ratios, width, signs),
        Kind::Lines(series) => of_lines(&mut lines, series, width, signs),
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Columns of labels, of the drawing, and of the words behind it.
fn room<'a>(
    labels: impl Iterator<Item = &'a str>,
    words: impl Iterator<Item = &'a str>,
    width: usize,
) -> (usize, usize) {
    let label = labels.map(|label| clean(label).width()).max().unwrap_or(0);
    let word = words.map(UnicodeWidthStr::width).max().unwrap_or(0);
    let label = label.min(width / 3);
    let drawing = width.saturating_sub(label + word + 6).clamp(6, 60);
    (label, drawing)
}

/// A text in exactly so many columns.
fn fitted(text: &str, columns: usize, signs: Terminal) -> String {
    let text = clean(text);
    if text.width() <= columns {
        return text.clone() + &" ".repeat(columns - text.width());
    }
    let end = if signs.unicode { "…" } else { "~" };
    let mut shown = String::new();
    for letter in text.chars() {
        let mut longer = shown.clone();
        longer.push(letter);
        if longer.width() + 1 > columns {
            break;
        }
        shown = longer;
    }
    shown += end;
    let padding = columns.saturating_sub(shown.width());
    shown + &" ".repeat(padding)
}

fn of_bars(lines: &mut Vec<String>, bars: &Bars, width: usize, signs: Terminal) {
    let paint = Paint { color: signs.color };
    let like = bars.bars.first().map_or(1.0, |bar| bar.value);
    let words: Vec<String> = bars
        .bars
        .iter()
        .map(|bar| number::figure_like(bar.value, &bars.unit, like))
        .map(|word| plain(&word, signs))
        .collect();
    let labels = bars.bars.iter().map(|bar| bar.label.as_str());
    let (label, drawing) = room(labels, words.iter().map(String::as_str), width);
    let most = bars.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    for (bar, word) in bars.bars.iter().zip(&words) {
        let share = if most > 0.0 { bar.value / most } else { 0.0 };
        let (full, part, code) = match (bar.origin, signs.unicode) {
            (Origin::Measured, true) => ("█", true, MEASURED),
            (_, true) => ("░", false, PUBLISHED),
            (Origin::Measured, false) => ("#", false, MEASURED),
            (_, false) => ("-", false, PUBLISHED),
        };
        let drawn = filled(share, drawing, full, part);
        let padding = " ".repeat(drawing.saturating_sub(drawn.width()));
        lines.push(format!(
            "  {}  {}{padding}  {word}",
            fitted(&bar.label, label, signs),
            paint.with(code, &drawn),
        ));
        if let Some((lower, upper)) = bar.interval {
            let from = number::figure_like(lower, &bars.unit, like);
            let to = number::figure_like(upper, &bars.unit, like);
            let said = format!("  {}  {from} to {to}", " ".repeat(label));
            lines.push(paint.dim(&plain(&fitted(&said, width, signs), signs)));
        }
    }
}

/// A bar of a share of so many columns, to an eighth where there are signs for that.
fn filled(share: f64, columns: usize, full: &str, eighths: bool) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let steps = if eighths { 8 } else { 1 };
    let whole = columns * steps;
    let filled = (0..whole)
        .take_while(|step| at_least(share, *step, whole))
        .count();
    let mut bar = full.repeat(filled / steps);
    bar += PARTS[filled % steps];
    bar
}

/// Whether a share reaches beyond the middle of a step.
fn at_least(share: f64, step: usize, of: usize) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "columns of a terminal")]
    let middle = (step as f64 + 0.5) / of as f64;
    share >= middle
}

fn of_ratios(lines: &mut Vec<String>, ratios: &Ratios, width: usize, signs: Terminal) {
    let paint = Paint { color: signs.color };
    let words: Vec<String> = ratios
        .rows
        .iter()
        .map(|row| format!("{} {}", number::ratio(row.value), row.word))
        .collect();
    let labels = ratios.rows.iter().map(|row| row.label.as_str());
    let (label, drawing) = room(labels, words.iter().map(String::as_str), width);
    let values = ratios.rows.iter().flat_map(|row| {
        let (lower, upper) = row.interval.unwrap_or((row.value, row.value));
        [row.value, lower, upper]
    });
    let scale = Scale::of(values.chain([1.0]), false, 5);
    for (row, word) in ratios.rows.iter().zip(&words) {
        let mut cells = vec![" "; drawing];
        let (dot, whisker, one) = match (signs.unicode, row.bad) {
            (true, true) => ("◆", "─", "│"),
            (true, false) => ("●", "─", "│"),
            (false, true) => ("x", "-", "|"),
            (false, false) => ("o", "-", "|"),
        };
        if let Some((lower, upper)) = row.interval {
            let (from, to) = (
                column(&scale, lower, drawing),
                column(&scale, upper, drawing),
            );
            cells[from..=to].fill(whisker);
        }
        cells[column(&scale, 1.0, drawing)] = one;
        cells[column(&scale, row.value, drawing)] = dot;
        let code = if row.bad { "31" } else { MEASURED };
        lines.push(format!(
            "  {}  {}  {word}",
            fitted(&row.label, label, signs),
            paint.with(code, &cells.concat()),
        ));
    }
    let line = if signs.unicode { "│" } else { "|" };
    let said = format!(
        "  {}  {line} {}; to the right: better",
        " ".repeat(label),
        ratios.of
    );
    lines.push(paint.dim(&fitted(&said, width, signs)));
}

fn column(scale: &Scale, value: f64, columns: usize) -> usize {
    let share = scale.place(value);
    (0..columns.saturating_sub(1))
        .take_while(|step| at_least(share, *step, columns - 1))
        .count()
}

fn of_lines(lines: &mut Vec<String>, chart: &Lines, width: usize, signs: Terminal) {
    let paint = Paint { color: signs.color };
    let words: Vec<String> = chart
        .series
        .iter()
        .map(|series| plain(&extent(series, &chart.unit), signs))
        .collect();
    let labels = chart.series.iter().map(|series| series.name.as_str());
    let (label, drawing) = room(labels, words.iter().map(String::as_str), width);
    let all = chart.series.iter().flat_map(|series| &series.points);
    let all = all.filter_map(|(_, value)| *value);
    let scale = Scale::of(all, chart.from_zero, 5);
    for (series, word) in chart.series.iter().zip(&words) {
        let drawn = spark(series, &scale, drawing, signs.unicode);
        let padding = " ".repeat(drawing.saturating_sub(drawn.width()));
        lines.push(format!(
            "  {}  {}{padding}  {word}",
            fitted(&series.name, label, signs),
            paint.with(MEASURED, &drawn),
        ));
    }
    let over = match (chart.places.first(), chart.places.last()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => chart.over.clone(),
    };
    let said = format!("  {}  {over}", " ".repeat(label));
    lines.push(paint.dim(&plain(&fitted(&said, width, signs), signs)));
}

/// `12.3 ms to 45.6 ms`, from the lowest to the highest.
fn extent(series: &Series, unit: &str) -> String {
    let values = || series.points.iter().filter_map(|(_, value)| *value);
    let (low, high) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    );
    if low > high {
        return String::new();
    }
    let short = |value: f64| {
        let digits = if high >= 100.0 { 1.0 } else { 100.0 };
        (value * digits).round() / digits
    };
    let low = number::figure_like(short(low), unit, high);
    format!("{low} to {}", number::figure(short(high), unit))
}

/// Eight heights of a block; of many points, the mean of those that share a column.
fn spark(series: &Series, scale: &Scale, columns: usize, unicode: bool) -> String {
    let signs: &[&str] = if unicode {
        &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    } else {
        &["_", ".", "-", "=", "+", "*", "#"]
    };
    let count = series.points.len();
    let columns = columns.min(count);
    let mut text = String::new();
    for column in 0..columns {
        let (from, to) = (column * count / columns, (column + 1) * count / columns);
        let values: Vec<f64> = series.points[from..to]
            .iter()
            .filter_map(|(_, value)| *value)
            .collect();
        if values.is_empty() {
            text.push(' ');
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "points of a chart")]
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let share = scale.place(mean);
        let height = (0..signs.len() - 1)
            .take_while(|step| at_least(share, *step, signs.len() - 1))
            .count();
        text.push_str(signs[height]);
    }
    text
}

/// Without signs beyond ASCII where the terminal has none.
fn plain(text: &str, signs: Terminal) -> String {
    if signs.unicode {
        return text.to_owned();
    }
    text.replace('µ', "u").replace('°', "").replace('–', "-")
}
