//! Verdicts over releases: a row of cells for each, its label above.

use super::axes;
use super::drawing::{BOLD_LETTER_WIDTH, Drawing, text_width};
use super::legend::{self, LegendSign};
use crate::charts::{VerdictChart, to_f64};
use crate::document::{StatusMark, Tone};
use retrial_results::verdict::Outcome;

/// A row: its words above, its cells below.
const ROW_HEIGHT: f64 = 50.0;
const CELL_HEIGHT: f64 = 22.0;

pub(super) fn draw_verdicts(drawing: &mut Drawing, verdicts: &VerdictChart) {
    let top = drawing.height;
    let (left, right) = (4.0, drawing.width - 4.0);
    let room = (right - left) / to_f64(verdicts.categories.len().max(1));
    for (number, (label, cells)) in verdicts.rows.iter().enumerate() {
        let y = top + to_f64(number) * ROW_HEIGHT;
        let latest = cells.iter().rev().flatten().next();
        let word = latest.map_or(String::new(), ToString::to_string);
        drawing.draw_text("t e", right, y + 16.0, &word);
        let width = right - left - text_width(&word, BOLD_LETTER_WIDTH) - 12.0;
        drawing.draw_truncated_text("", left, y + 16.0, label, width);
        for (category, verdict) in cells.iter().enumerate() {
            let Some(verdict) = *verdict else { continue };
            let (x, y) = (left + room * to_f64(category), y + 22.0);
            drawing.draw_rectangle(verdict_class(verdict), (x + 1.0, y), (room - 2.0, CELL_HEIGHT));
            let sign = StatusMark::from(verdict).sign;
            drawing.draw_text("m", x + room / 2.0, y + 16.0, sign);
        }
    }
    drawing.height = top + to_f64(verdicts.rows.len()) * ROW_HEIGHT;
    axes::draw_categories(drawing, &verdicts.categories, &verdicts.axis_name, (left, right));
    draw_verdict_legend(drawing, verdicts);
}

fn verdict_class(verdict: Outcome) -> &'static str {
    match StatusMark::from(verdict).tone {
        Tone::Good => "v f3",
        Tone::Plain | Tone::Faint => "v f1",
        Tone::Open => "v f5",
        Tone::Bad => "v bad",
    }
}

fn draw_verdict_legend(drawing: &mut Drawing, verdicts: &VerdictChart) {
    let is_shown = |outcome: &Outcome| {
        let mut cells = verdicts.rows.iter().flat_map(|(_, cells)| cells);
        cells.any(|cell| *cell == Some(*outcome))
    };
    let used = Outcome::ALL.into_iter().filter(is_shown);
    let entries = used.map(|outcome| {
        let name = format!("{} {outcome}", StatusMark::from(outcome).sign);
        (LegendSign::Square(verdict_class(outcome)), name)
    });
    legend::draw_legend(drawing, entries);
}
