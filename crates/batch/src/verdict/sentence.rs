//! One sentence on a batch.

use std::fmt::Display;

use retrial_document::measures::format;
use retrial_results::verdict::Outcome;
use retrial_results::verdict::claim::{ClaimOutcome, summarize_claims};

/// `2 of 3 claims contradicted.` Cells are counted where there is no claim, or one has no figure.
pub(super) fn summarize_batch(cells: &[Option<Outcome>], claims: &[ClaimOutcome]) -> String {
    let is_complete =
        |cell: &Option<Outcome>| matches!(cell, Some(Outcome::Reproduced | Outcome::Measured));
    let of_claims = summarize_claims(claims);
    if !claims.is_empty() && cells.iter().all(is_complete) {
        return of_claims;
    }
    let mut words = count_by_outcome(Outcome::ALL, |outcome| {
        cells.iter().filter(|cell| **cell == Some(*outcome)).count()
    });
    let without = cells.iter().filter(|cell| cell.is_none()).count();
    if without > 0 {
        words.push(format!("{without} without a result"));
    }
    if words.is_empty() {
        words.push("nothing was run".to_owned());
    }
    let cells = format::format_count(cells.len(), "cell");
    format!("{cells}: {}. {of_claims}", words.join(", ")).trim_end().to_owned()
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
