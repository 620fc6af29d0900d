//! A vendor's claims, parsed from sentences to comparisons of cells.
//!
//! ```text
//! SIDE is faster than SIDE [by P]               SIDE is as fast as SIDE [to within P]
//! SIDE is slower than SIDE [by P]               SIDE is not slower than SIDE [by more than P]
//! SIDE is more accurate than SIDE [by P]        SIDE is as accurate as SIDE [to within P]
//! SIDE is less accurate than SIDE [by P]        SIDE is not less accurate than SIDE [by more than P]
//! SIDE is more consistent than SIDE [by P]      SIDE is as consistent as SIDE [to within P]
//! SIDE is less consistent than SIDE [by P]      SIDE is not less consistent than SIDE [by more than P]
//! SIDE is accurate
//! the gap to SIDE is smaller with SIDE than with SIDE [by P]
//! the gain from SIDE to SIDE is larger with SIDE than with SIDE [by P]
//! ```
//!
//! `is not always faster than` and the like claim that at least one of the pairs is an exception. Each may end in `in SCENARIO`, `in FIGURE` or `in SCENARIO FIGURE`. A side is values joined with
//! ` + `, each alone (`migraphx`) or after its axis (`rocm 7.1.1`), or the name of another host's
//! runs.

mod grammar;
mod measured;
mod model;
mod pairs;
mod sentence;
mod side;
mod words;

pub use measured::warn_of_unmeasured_accuracy;
pub use model::{Assertion, BatchClaim, CellPair};

use super::model::WrittenClaim;
use retrial_recipe::Diagnostics;

pub(super) use sentence::ClaimSubjects;

/// Parses a claim; none if nothing in it can be checked.
pub(super) fn parse_claim(
    written: &WrittenClaim,
    subjects: &ClaimSubjects<'_>,
    problems: &mut Diagnostics,
) -> Option<BatchClaim> {
    let read = grammar::parse_sentence(&written.text, subjects).and_then(|sentence| {
        let parts = pairs::pair_cells(&sentence, subjects)?;
        Ok(BatchClaim {
            text: written.text.value.trim().to_owned(),
            source: written.source.clone(),
            assertion: sentence.assertion,
            scenario: sentence.tail.scenario,
            figure: sentence.tail.figure,
            not_always: sentence.not_always,
            parts,
        })
    });
    match read {
        Ok(claim) => Some(claim),
        Err(problem) => {
            problems.push(*problem);
            None
        }
    }
}

#[cfg(test)]
mod tests;
