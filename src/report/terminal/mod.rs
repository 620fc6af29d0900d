//! The table at the end of a run, for a terminal of 60 columns or more.
//!
//! Where it fits, a figure is one line; on narrower terminals its name and source go under their
//! values; on the narrowest each figure is a small list. Below: one sentence of reason for each
//! figure, the run's verdict with what stands beside it, what to do next, where the evidence lies.

mod advice;
mod batch;
mod compared;
mod grid;
mod layout;
mod runs;
pub(super) mod style;

use self::grid::{wrap, wrapped};
use self::style::Paint;
use super::rows::{self, Row};
use super::words::{self, clean, reasons, symbol, title};
use crate::verdict::{Outcome, QualifierKind, Verdict};

pub use batch::batch;
pub use compared::comparison;
pub use runs::runs;

/// Narrower than this nothing is made to fit.
const NARROWEST: usize = 60;
/// Wider than this lines are hard to read.
const WIDEST: usize = 132;

/// The table of a verdict, with its reasons; `evidence` is where the run's files lie.
#[must_use]
pub fn table(verdict: &Verdict, evidence: &str, width: u16, color: bool) -> String {
    let paint = Paint { color };
    let width = usize::from(width).clamp(NARROWEST, WIDEST);
    let rows: Vec<Row> = verdict.results.iter().flat_map(rows::of).collect();
    let mut text = String::from("\n");
    for line in wrap(&title(verdict), width, 0) {
        line_of(&mut text, &paint.bold(&line));
    }
    text.push('\n');
    if !rows.is_empty() {
        text += &layout::lay_out(&rows, width, verdict, paint);
        text.push('\n');
    }
    for (outcome, reason) in verdict.results.iter().flat_map(reasons) {
        let marked = format!("{} {}", symbol(outcome), clean(&reason));
        let mut lines = wrap(&marked, width, 2).into_iter();
        if let Some(first) = lines.next() {
            let rest = first.strip_prefix(symbol(outcome)).unwrap_or(&first);
            line_of(
                &mut text,
                &format!("{}{rest}", paint.outcome(outcome, symbol(outcome))),
            );
        }
        lines.for_each(|line| line_of(&mut text, &line));
    }
    if !verdict.results.is_empty() {
        text.push('\n');
    }
    text += &headline(verdict, width, paint);
    text += &idle_gpus(verdict, width, paint);
    for of_kind in verdict
        .qualifiers
        .iter()
        .filter(|qualifier| qualifier.kind != QualifierKind::IdleGpus)
        .collect::<Vec<_>>()
        .chunk_by(|one, other| one.kind == other.kind)
    {
        let because: Vec<String> = of_kind.iter().map(|one| clean(&one.because)).collect();
        let line = format!("  {}: {}", of_kind[0].kind, because.join("; "));
        text += &wrapped(&line, width, 4);
    }
    for warning in &verdict.warnings {
        let line = format!("  warning: {}", clean(warning));
        text += &wrapped(&line, width, 4);
    }
    for advice in advice::next(verdict, evidence) {
        text += &wrapped(&format!("  next: {}", clean(&advice)), width, 8);
    }
    line_of(&mut text, &format!("  evidence: {}", clean(evidence)));
    if let Some(notice) = &verdict.notice {
        text.push('\n');
        for line in wrap(&clean(notice), width, 0) {
            line_of(&mut text, &paint.dim(&line));
        }
    }
    text
}

fn line_of(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// `✓ reproduced (performance only). All 2 published figures hold.`
fn headline(verdict: &Verdict, width: usize, paint: Paint) -> String {
    let (word, sentence) = words::headline(verdict);
    let painted = paint.verdict(verdict.outcome, &word);
    let text = format!("{word}: {sentence}");
    let mut out = String::new();
    for line in wrap(text.trim_end_matches([':', ' ']), width, 2) {
        line_of(&mut out, &line.replacen(&word, &painted, 1));
    }
    out
}

/// A figure of GPUs that did nothing is no figure of theirs, whatever the verdict says: it is said
/// under the headline, in its own colour.
fn idle_gpus(verdict: &Verdict, width: usize, paint: Paint) -> String {
    let mut out = String::new();
    for idle in &verdict.qualifiers {
        if idle.kind == QualifierKind::IdleGpus {
            let text = format!("! {}: {}", idle.kind, clean(&idle.because));
            for line in wrap(&text, width, 2) {
                line_of(&mut out, &paint.verdict(Outcome::Failed, &line));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
