//! The live view's frame: what goes on, drawn anew several times a second.

use jiff::Timestamp;

use super::fit::{fit, pad, width as columns};
use super::plain::facts;
use super::pull::{Stand, Unit, seconds};
use super::row::{Row, bar};
use super::view::{Current, View};
use crate::format::{count, elapsed, limit, size};

/// Layers that are shown.
const LAYERS: usize = 4;
/// Files that are shown: as many as come at the same time.
const FILES: usize = 8;

impl View {
    /// What goes on, in lines of at most `width` columns, at most `height` of them.
    #[must_use]
    pub fn frame(&self, now: Timestamp, width: usize, height: usize) -> Vec<String> {
        let Some(step) = &self.current else {
            return Vec::new();
        };
        let mut lines = vec![self.head(step, now, width)];
        if !step.doing.is_empty() {
            lines.push(
                Row::new(width)
                    .put("  ")
                    .paint(|text| self.style.faint(text), &step.doing)
                    .text(),
            );
        }
        if !step.look.is_empty() {
            lines.push(Row::new(width).put("  ").put(&step.look).text());
        }
        let room = height.saturating_sub(lines.len());
        if step.pull.is_empty() {
            let tail = step.tail.iter().skip(step.tail.len().saturating_sub(room));
            lines.extend(tail.map(|line| {
                Row::new(width)
                    .paint(|text| self.style.faint(text), "  │ ")
                    .put(line)
                    .text()
            }));
        } else {
            lines.extend(self.pull(step, now, width).into_iter().take(room));
        }
        lines.truncate(height);
        lines
    }

    /// `⠹ 05 offline-performance  3m 12s, timeout 1h        step 5 of 9, 13m 02s in all`
    fn head(&self, step: &Current, now: Timestamp, width: usize) -> String {
        let style = self.style;
        let mut time = elapsed(seconds(step.began, now));
        if let Some(timeout) = step.timeout_s {
            time = format!("{time}, timeout {}", limit(timeout));
        }
        let row = Row::new(width)
            .paint(|text| style.active(text), spinner(now))
            .put(" ")
            .paint(|text| style.strong(text), &step.step)
            .put(&format!("  {time}"));
        // After a resume the step may be older than what this process knows of the run.
        let began = self.began.filter(|began| *began <= step.began);
        let all = began
            .map(|began| format!(", {} in all", elapsed(seconds(began, now))))
            .unwrap_or_default();
        let whole = format!("step {} of {}{all}", step.number, self.steps);
        let short = format!("{}/{}", step.number, self.steps);
        row.right(|text| style.faint(text), &[&whole, &short])
            .text()
    }

    fn pull(&self, step: &Current, now: Timestamp, width: usize) -> Vec<String> {
        let style = self.style;
        let sum = step.pull.sum(now);
        let mut texts = facts(&sum);
        texts.push(format!(
            "{} of {}",
            sum.done_parts,
            count(sum.parts, sum.unit.word())
        ));
        let mut row = Row::new(width).put("  ");
        if sum.total > 0 {
            let facts: usize = texts.iter().map(|text| columns(text) + 2).sum();
            let room = row.left().saturating_sub(facts).clamp(10, 30);
            let (full, rest) = bar(sum.done, sum.total, room);
            row = row
                .paint(|text| style.active(text), &full)
                .paint(|text| style.faint(text), &rest)
                .put("  ");
        }
        for (index, text) in texts.iter().enumerate() {
            let between = if index == 0 { "" } else { "  " };
            row = row.whole(&format!("{between}{text}"));
        }
        let mut lines = vec![row.text()];
        let (shown, name) = match sum.unit {
            Unit::Layer => (LAYERS, 12),
            Unit::File => (FILES, (width / 3).clamp(12, 36)),
        };
        for layer in step.pull.active().take(shown) {
            let doing = match layer.stand {
                Stand::Extracting => "extracting ",
                Stand::Checking => "checking   ",
                _ => "downloading",
            };
            let mut row = Row::new(width)
                .put("    ")
                .put(&pad(&fit(&layer.id, name), name))
                .put(" ")
                .put(doing)
                .put(" ");
            if let Some(total) = layer.total {
                let text = format!("  {} of {}", size(layer.current), size(total));
                let room = row.left().saturating_sub(columns(&text)).clamp(6, 12);
                let (full, rest) = bar(layer.current, total, room);
                row = row
                    .paint(|text| style.active(text), &full)
                    .paint(|text| style.faint(text), &rest)
                    .whole(&text);
            }
            lines.push(row.text());
        }
        lines
    }
}

fn spinner(now: Timestamp) -> &'static str {
    const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let tenth = now.as_millisecond().div_euclid(100).rem_euclid(10);
    FRAMES[usize::try_from(tenth).unwrap_or(0)]
}
