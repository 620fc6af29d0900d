//! Bars from zero: what was measured with its interval and trials, beside what was published.

use super::super::scale::Scale;
use super::super::{Bar, Bars, Tone};
use super::frame::{BOLD, Drawing, WIDTH, text_width};
use super::legend::{self, Sign};
use crate::verdict::number;

/// A row: its words above, its bar below.
const ROW: f64 = 46.0;
const BAR: f64 = 16.0;

pub(super) fn draw(drawing: &mut Drawing, bars: &Bars) {
    let values = bars.bars.iter().flat_map(|bar| {
        let (lower, upper) = bar.interval.unwrap_or((bar.value, bar.value));
        let trials = bar.trials.iter().copied();
        trials.chain([bar.value, lower, upper])
    });
    let like = bars.bars.first().map_or(1.0, |bar| bar.value);
    let (factor, unit) = number::scale(&bars.unit, like);
    let mark = bars.mark.iter().map(|(value, _)| *value);
    let scale = Scale::of(values.chain(mark).map(|value| value * factor), true, 5);
    let (left, right) = (4.0, WIDTH - 14.0);
    let at = |value: f64| left + scale.place(value * factor) * (right - left);
    patterns(drawing);

    let top = drawing.height;
    let bottom = top + super::frame::real(bars.bars.len()) * ROW + 4.0;
    drawing.height = bottom;
    let named = if unit.is_empty() {
        "without a unit"
    } else {
        unit
    };
    drawing.axis_below(&scale, top + 22.0, (left, right), named);
    for (row, bar) in bars.bars.iter().enumerate() {
        let y = top + super::frame::real(row) * ROW;
        words(drawing, bar, &bars.unit, like, y);
        let y = y + 22.0;
        let zero = at(0.0);
        let end = at(bar.value);
        let fill = match bar.tone {
            Tone::Measured => "var(--c1)".to_owned(),
            Tone::Published => format!("url(#{}-published)", drawing.id),
            Tone::Other => format!("url(#{}-other)", drawing.id),
        };
        let outline = match bar.tone {
            Tone::Measured => "f1",
            Tone::Published => "h",
            Tone::Other => "o",
        };
        let style = format!("fill:{fill}");
        let (x, y1) = (super::frame::place(zero.min(end)), super::frame::place(y));
        let width = super::frame::place((end - zero).abs().max(1.0));
        let height = super::frame::place(BAR);
        let attributes = [
            ("class", outline),
            ("style", style.as_str()),
            ("x", x.as_str()),
            ("y", y1.as_str()),
            ("width", width.as_str()),
            ("height", height.as_str()),
        ];
        drawing.markup.empty("rect", &attributes);
        for (nth, trial) in bar.trials.iter().enumerate() {
            // Side by side where they are alike.
            let shift = if nth % 2 == 0 { -3.5 } else { 3.5 };
            legend::point(drawing, at(*trial), y + BAR / 2.0 + shift);
        }
        if let Some((value, _)) = &bars.mark {
            drawing.line("k", (at(*value), y - 3.0), (at(*value), y + BAR + 5.0));
        }
        if let Some((lower, upper)) = bar.interval {
            drawing.whisker(y + BAR / 2.0, at(lower), at(upper));
        }
    }
    legend::draw(drawing, &entries(bars));
}

fn words(drawing: &mut Drawing, bar: &Bar, unit: &str, like: f64, y: f64) {
    let value = number::figure_like(bar.value, unit, like);
    drawing.text("t e", WIDTH - 4.0, y + 16.0, &value);
    let room = WIDTH - 24.0 - text_width(&value, BOLD);
    drawing.cut("", 4.0, y + 16.0, &bar.label, room);
}

/// Hatching: colour alone tells nobody who does not see it.
fn patterns(drawing: &mut Drawing) {
    for (name, line, turn) in [
        ("published", "h", "rotate(45)"),
        ("other", "o", "rotate(-45)"),
    ] {
        let id = format!("{}-{name}", drawing.id);
        let attributes = [
            ("id", id.as_str()),
            ("width", "6"),
            ("height", "6"),
            ("patternUnits", "userSpaceOnUse"),
            ("patternTransform", turn),
        ];
        drawing.markup.element("pattern", &attributes, |pattern| {
            let ends = [("x1", "0"), ("y1", "0"), ("x2", "0"), ("y2", "6")];
            let mut attributes = vec![("class", line)];
            attributes.extend(ends);
            pattern.empty("line", &attributes);
        });
    }
}

fn entries(bars: &Bars) -> Vec<(Sign, String)> {
    let has = |tone| bars.bars.iter().any(|bar| bar.tone == tone);
    let mut entries = Vec::new();
    let mut add = |there: bool, sign: Sign, name: &str| {
        if there {
            entries.push((sign, name.to_owned()));
        }
    };
    add(has(Tone::Measured), Sign::Square("f1"), "measured");
    add(
        has(Tone::Published),
        Sign::Hatched("published"),
        "published",
    );
    add(
        has(Tone::Other),
        Sign::Hatched("other"),
        "published by others",
    );
    let trials = bars.bars.iter().any(|bar| !bar.trials.is_empty());
    add(trials, Sign::Point, "trials");
    let intervals = bars.bars.iter().any(|bar| bar.interval.is_some());
    add(intervals, Sign::Whisker, &bars.whiskers);
    if let Some((_, name)) = &bars.mark {
        add(true, Sign::Dashed, name);
    }
    entries
}
