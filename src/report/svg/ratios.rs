//! Ratios around 1, each with its interval and the least required one.

use super::drawing::{At, BOLD, Drawing, WIDTH, real, text_width};
use super::legend::{self, Sign};
use crate::report::charts::{Ratios, Scale};
use crate::results::verdict::number;

const ROW: f64 = 44.0;

pub(super) fn draw(drawing: &mut Drawing, ratios: &Ratios) {
    let values = ratios.rows.iter().flat_map(|row| {
        let (lower, upper) = row.interval.unwrap_or((row.value, row.value));
        [row.value, lower, upper, row.least.unwrap_or(1.0)]
    });
    let scale = Scale::of(values.chain([1.0]), false, 5);
    let (left, right) = (14.0, WIDTH - 14.0);
    let at = |value: f64| left + scale.place(value) * (right - left);
    let top = drawing.height;
    let bottom = top + real(ratios.rows.len()) * ROW + 4.0;
    drawing.height = bottom;
    let named = format!("relative to {} (right is better)", ratios.of);
    drawing.axis_below(&scale, top + 20.0, (left, right), &named);
    for (number, row) in ratios.rows.iter().enumerate() {
        let y = top + real(number) * ROW;
        let text = match row.word.as_str() {
            "" => number::ratio(row.value),
            word => format!("{} {word}", number::ratio(row.value)),
        };
        let class = if row.bad { "bad e" } else { "t e" };
        drawing.text(class, WIDTH - 4.0, y + 15.0, &text);
        let room = WIDTH - 24.0 - text_width(&text, BOLD);
        drawing.cut("", 4.0, y + 15.0, &row.label, room);
        let y = y + 30.0;
        drawing.line("k", (at(1.0), y - 9.0), (at(1.0), y + 12.0));
        if let Some(least) = row.least {
            legend::required(drawing, at(least), y);
        }
        if let Some((lower, upper)) = row.interval {
            drawing.whisker(y, at(lower), at(upper));
        }
        let x = at(row.value);
        if row.bad {
            // Not by colour alone.
            drawing.path("f2", &format!("M{} {}l6 6-6 6-6-6z", At(x), At(y - 6.0)));
        } else {
            drawing.circle("f1", (x, y), 5.5);
        }
    }
    let mut entries = vec![(Sign::Dashed, ratios.of.clone())];
    if ratios.rows.iter().any(|row| row.interval.is_some()) {
        entries.push((Sign::Whisker, ratios.whiskers.clone()));
    }
    if ratios.rows.iter().any(|row| row.least.is_some()) {
        entries.push((Sign::Required, "required".to_owned()));
    }
    if !(scale.least..=scale.most).contains(&0.0) {
        let begin = format!("axis starts at {}", scale.shown(scale.least));
        drawing.height += 2.0;
        drawing.text("s", 4.0, drawing.height + 10.0, &begin);
        drawing.height += 14.0;
    }
    legend::draw(drawing, &entries);
}
