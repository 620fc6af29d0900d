//! One sentence on a batch.

use std::fmt::Display;

use super::model::CellVerdict;
use itertools::Itertools as _;
use retrial_document::measures::format;
use retrial_results::verdict::Outcome;
use retrial_results::verdict::claim::{ClaimOutcome, summarize_claims};

/// `2 of 3 claims contradicted.` Cells are counted where there is no claim, or one has no figure.
/// Those that failed by themselves are counted by the reason: `3 measured, 1 no such tag`.
pub(super) fn summarize_batch(cells: &[CellVerdict], claims: &[ClaimOutcome]) -> String {
    let is_complete =
        |cell: &CellVerdict| matches!(cell.outcome, Some(Outcome::Reproduced | Outcome::Measured));
    let claim_summary = summarize_claims(claims);
    if !claims.is_empty() && cells.iter().all(is_complete) {
        return claim_summary;
    }
    let mut words = count_by_outcome(Outcome::ALL, |outcome| {
        let cells = cells.iter().filter(|cell| cell.failure.is_none());
        cells.filter(|cell| cell.outcome == Some(*outcome)).count()
    });
    let failures = cells.iter().filter_map(|cell| cell.failure.as_ref());
    let by_failure = failures.map(ToString::to_string).counts().into_iter().sorted();
    words.extend(by_failure.map(|(failure, count)| format!("{count} {failure}")));
    let without = cells.iter().filter(|cell| cell.outcome.is_none()).count();
    if without > 0 {
        words.push(format!("{without} without a result"));
    }
    if words.is_empty() {
        words.push("nothing was run".to_owned());
    }
    let cells = format::format_count(cells.len(), "cell");
    format!("{cells}: {}. {claim_summary}", words.join(", ")).trim_end().to_owned()
}

/// `4 measured`, `1 failed`: those of which there are any.
fn count_by_outcome<Word: Display>(
    words: impl IntoIterator<Item = Word>,
    count: impl Fn(&Word) -> usize,
) -> Vec<String> {
    let counted = words.into_iter().map(|word| (count(&word), word));
    let some = counted.filter(|(count, _)| *count > 0);
    some.map(|(count, word)| format!("{count} {word}")).collect()
}
