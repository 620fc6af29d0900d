//! One sentence on a batch.

use std::fmt::{Display, Write as _};

use retrial_document::measures::format;
use retrial_results::verdict::Outcome;
use retrial_results::verdict::claim::ClaimOutcome;

/// `5 cells: 4 measured, 1 failed. Of 3 claims 2 are supported and 1 is not decided.`
pub(super) fn summarize_batch(cells: &[Option<Outcome>], claims: &[ClaimOutcome]) -> String {
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
    let mut sentence = format!("{cells}: {}.", words.join(", "));
    if !claims.is_empty() {
        let outcomes = [
            ClaimOutcome::Supported,
            ClaimOutcome::Contradicted,
            ClaimOutcome::NotDecided,
        ];
        let counts = count_by_outcome(outcomes, |outcome| {
            claims.iter().filter(|claim| *claim == outcome).count()
        });
        let claims = format::format_count(claims.len(), "claim");
        let _ = write!(sentence, " {claims}: {}.", counts.join(", "));
    }
    sentence
}

/// `4 measured`, `1 failed`: those of which there are any.
fn count_by_outcome<Word: Display>(
    words: impl IntoIterator<Item = Word>,
    count: impl Fn(&Word) -> usize,
) -> Vec<String> {
    let counted = words.into_iter().map(|word| (count(&word), word));
    let some = counted.filter(|(count, _)| *count > 0);
    some.map(|(count, word)| format!("{count} {word}"))
        .collect()
}
