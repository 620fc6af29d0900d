//! Runs, folders of results, cells of batches and whole histories side by side.

mod by_axis;
mod pool;
mod subject;

pub use by_axis::compare_by_axis;

use std::collections::BTreeSet;

use crate::app::failure::Failure;
use crate::app::options::{CompareRequest, GlobalOptions};
use retrial_document::did_you_mean;
use retrial_results::verdict::comparison::{
    Comparison, ComparisonOptions, ComparisonSubject, compare_subjects,
};

/// The most notes that are shown below an error.
const MAX_NOTES: usize = 8;

/// Compares the named subjects with the first of them.
pub fn compare_named_subjects(
    global: &GlobalOptions,
    request: &CompareRequest,
) -> Result<Comparison, Failure> {
    let mut subjects = subject::read_subjects(global, request)?;
    if let [only] = &subjects[..] {
        let name = &request.subjects[0];
        return Err(Failure::usage(format!(
            "a comparison needs two results, and {} is one",
            only.name
        ))
        .with_help(format!("name another after it: retrial compare {name} RUN"))
        .with_help("see the runs: retrial runs"));
    }
    refuse_duplicates(&subjects)?;
    if let Some(baseline) = &request.baseline {
        let is_baseline = |subject: &ComparisonSubject| subject.name.contains(baseline.as_str());
        let Some(position) = subjects.iter().position(is_baseline) else {
            let names = subjects.iter().map(|one| one.name.as_str());
            let help = did_you_mean(baseline, names, "they are");
            let message = format!("--baseline {baseline} is not among the subjects");
            return Err(Failure::usage(message).with_help(help));
        };
        subjects[..=position].rotate_right(1);
    }
    let comparison = compare_subjects(&subjects, &comparison_options(request));
    if comparison.figures.is_empty() {
        let subjects = request.subjects.join(" and ");
        let failure = Failure::usage(format!("{subjects} have no figure in common"));
        return Err(comparison.notes.into_iter().take(MAX_NOTES).fold(failure, Failure::with_help));
    }
    Ok(comparison)
}

/// Refuses a comparison of results with themselves.
fn refuse_duplicates(subjects: &[ComparisonSubject]) -> Result<(), Failure> {
    let mut names = BTreeSet::new();
    let duplicate = subjects.iter().find(|one| !names.insert(one.name.as_str()));
    duplicate.map_or(Ok(()), |subject| {
        Err(Failure::usage(format!(
            "{} is named twice: a comparison needs different results",
            subject.name
        ))
        .with_help("see the runs: retrial runs"))
    })
}

fn comparison_options(request: &CompareRequest) -> ComparisonOptions {
    ComparisonOptions {
        paired: request.paired,
        fail_if: request.fail_if,
        ..ComparisonOptions::default()
    }
}
