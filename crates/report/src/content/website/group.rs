//! Runs by submission, and those of a submission by what was chosen and by their GPUs.

use std::collections::{BTreeMap, HashSet};

use itertools::Itertools as _;
use sha2::{Digest, Sha256};

use super::FRONT;
use crate::charts::file_name;
use crate::content::runs::benchmark_title;
use retrial_history::RunSummary;
use retrial_mlperf::Division;
use retrial_readings::natural::natural_sort_key;
use retrial_results::verdict::{Outcome, QualifierKind};

pub(super) struct SubmissionRuns<'a> {
    /// The name of its page, without `.html`.
    pub name: String,
    pub title: &'a str,
    /// The runs, newest last.
    pub rows: Vec<&'a RunSummary>,
    pub series: Vec<RunSeries<'a>>,
}

/// Runs of a submission with the same variant and parameters on the same GPUs: their verdicts can be
/// compared over time.
pub(super) struct RunSeries<'a> {
    pub choices: String,
    pub gpus: &'a str,
    /// The runs, newest last.
    pub rows: Vec<&'a RunSummary>,
}

impl SubmissionRuns<'_> {
    /// Returns the file name of its page.
    pub fn page_name(&self) -> String {
        format!("{}.html", self.name)
    }

    /// A variant and GPUs in words, as far as they differ from others.
    pub fn series_label(&self, choices: &str, gpus: &str) -> String {
        match (choices, gpus) {
            ("", "") if self.has_choices() => "default".to_owned(),
            ("", "") => "no GPU".to_owned(),
            ("", gpus) => gpus.to_owned(),
            (choices, "") => choices.to_owned(),
            (choices, _) if !self.has_several_gpus() => choices.to_owned(),
            (choices, gpus) => format!("{choices}, {gpus}"),
        }
    }

    /// Returns whether something was chosen for some of its runs.
    fn has_choices(&self) -> bool {
        self.series.iter().any(|series| !series.choices.is_empty())
    }

    /// Returns whether its runs are of several kinds or numbers of GPUs.
    pub fn has_several_gpus(&self) -> bool {
        !self.series.iter().map(|series| series.gpus).all_equal()
    }

    pub fn newest_run(&self) -> &RunSummary {
        self.rows[self.rows.len() - 1]
    }

    /// The run whose verdict is shown.
    pub fn deciding_run(&self) -> &RunSummary {
        newest_judged_or_last(&self.rows)
    }
}

/// The newest run with a verdict, or else the newest one.
pub(super) fn newest_judged_or_last<'a>(rows: &[&'a RunSummary]) -> &'a RunSummary {
    newest_judged(rows).unwrap_or(rows[rows.len() - 1])
}

/// The newest run with a verdict, of runs whose newest is the last. A smoke test, a part of the measurements, and a trial
/// of a batch's cell that was not judged yet and is inconclusive alone, only count where no other run does.
pub(super) fn newest_judged<'a>(rows: &[&'a RunSummary]) -> Option<&'a RunSummary> {
    let newest_of = |rows: &[&'a RunSummary]| {
        let mut newest = rows.iter().rev();
        newest.find(|row| row.outcome.is_some()).copied()
    };
    newest_of(&select_judged(rows)).or_else(|| newest_of(rows))
}

/// Returns the runs without smoke tests, which are compared with nothing, without those of a part of the measurements,
/// which are no verdict on the whole, and without trials that are inconclusive alone while their batch's cell has no
/// verdict: it may have several trials, and they are judged together.
pub(super) fn select_judged<'a>(rows: &[&'a RunSummary]) -> Vec<&'a RunSummary> {
    let is_open_trial = |row: &RunSummary| {
        row.outcome == Some(Outcome::Inconclusive) && row.batch.is_some() && row.cell.is_none()
    };
    let is_of_whole = |row: &RunSummary| {
        let parts = [QualifierKind::SmokeTest, QualifierKind::InPart];
        !row.qualifiers.iter().any(|kind| parts.contains(kind))
    };
    let counts = |row: &&RunSummary| !is_open_trial(row) && is_of_whole(row);
    rows.iter().copied().filter(counts).collect()
}

/// A published result, whatever recipe repeats it.
fn submission_key(row: &RunSummary) -> [&str; 6] {
    let submission = &row.submission;
    [
        &submission.suite,
        submission.round.as_deref().unwrap_or_default(),
        submission.division.map_or("", Division::word),
        submission.submitter.as_deref().unwrap_or_default(),
        submission.system.as_deref().unwrap_or_default(),
        &submission.benchmark,
    ]
}

/// Groups runs (the newest last) by submission, in the order of the submissions' titles.
pub(super) fn group_by_submission(rows: &[RunSummary]) -> Vec<SubmissionRuns<'_>> {
    let mut by_submission: BTreeMap<[&str; 6], Vec<&RunSummary>> = BTreeMap::new();
    for row in rows {
        by_submission.entry(submission_key(row)).or_default().push(row);
    }
    let names = unique_names(by_submission.keys());
    let groups = by_submission.into_values().zip(names).map(|(rows, name)| {
        let newest = rows[rows.len() - 1];
        SubmissionRuns {
            name,
            title: benchmark_title(newest),
            series: divide_into_series(&rows),
            rows,
        }
    });
    let key = |group: &SubmissionRuns<'_>| (natural_sort_key(group.title), group.name.clone());
    groups.sorted_by_cached_key(key).collect()
}

/// A name for each submission. Those that would have the same one end in a part of their hash.
fn unique_names<'a>(keys: impl Iterator<Item = &'a [&'a str; 6]>) -> Vec<String> {
    let names = keys.map(|key| (file_name(&key.join(" ")), key)).collect_vec();
    let mut unique = HashSet::from([FRONT.trim_end_matches(".html")]);
    let all = names.iter().map(|(name, _)| name.as_str());
    let duplicates: HashSet<&str> = all.filter(|name| !unique.insert(name)).collect();
    let unique = names.iter().map(|(name, key)| {
        if !duplicates.contains(name.as_str()) {
            return name.clone();
        }
        let hash = hex::encode(Sha256::digest(key.join("\0")));
        format!("{name}-{}", &hash[..8])
    });
    unique.collect()
}

fn divide_into_series<'a>(rows: &[&'a RunSummary]) -> Vec<RunSeries<'a>> {
    let mut by_series: BTreeMap<(String, &str), Vec<&RunSummary>> = BTreeMap::new();
    for row in rows {
        let key = (row.format_choices(), row.gpus.as_str());
        by_series.entry(key).or_default().push(row);
    }
    let series =
        by_series.into_iter().map(|((choices, gpus), rows)| RunSeries { choices, gpus, rows });
    let key =
        |series: &RunSeries<'_>| (natural_sort_key(series.gpus), natural_sort_key(&series.choices));
    series.sorted_by_cached_key(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::website::changes::find_changes;
    use retrial_history::JudgedCell;
    use retrial_plan::BatchPosition;
    use rstest::rstest;

    /// Runs of one submission, the newest last: `r` reproduced, `i` inconclusive, `d` inconclusive by the verdict of its
    /// cell, `p` reproduced in a part of the measurements; and the cell of a batch.
    fn summarize(runs: &[(char, &str)]) -> Vec<RunSummary> {
        let rows = runs.iter().enumerate().map(|(number, (outcome, cell))| RunSummary {
            id: number.to_string(),
            outcome: Some(match outcome {
                'r' | 'p' => Outcome::Reproduced,
                _ => Outcome::Inconclusive,
            }),
            batch: (!cell.is_empty()).then(|| BatchPosition {
                id: "batch".to_owned(),
                cell: (*cell).to_owned(),
                trial: 1,
            }),
            qualifiers: if *outcome == 'p' { vec![QualifierKind::InPart] } else { Vec::new() },
            cell: (*outcome == 'd').then_some(JudgedCell {
                trials: 2,
                outcome: Outcome::Inconclusive,
                qualifiers: Vec::new(),
                sentence: String::new(),
                deciding: None,
            }),
            ..RunSummary::default()
        });
        rows.collect()
    }

    #[rstest]
    #[case::runs(&[('r', ""), ('i', "")], "1", 1)]
    #[case::trials_of_a_cell(&[('r', ""), ('i', "a"), ('i', "a")], "0", 0)]
    #[case::a_batch_stopped_after_one_trial(&[('r', ""), ('i', "a")], "0", 0)]
    #[case::a_cell_that_does_not_decide(&[('r', ""), ('d', "a"), ('d', "a")], "2", 1)]
    #[case::a_trial_of_each_cell(&[('r', ""), ('i', "a"), ('r', "b")], "2", 0)]
    #[case::an_open_trial_only(&[('r', "a"), ('i', "a")], "0", 0)]
    #[case::a_decided_trial(&[('i', ""), ('r', "a"), ('i', "a")], "1", 1)]
    #[case::a_part_of_the_measurements(&[('i', ""), ('p', "")], "0", 0)]
    #[case::parts_only(&[('i', "a"), ('p', "")], "1", 0)]
    #[case::open_trials_only(&[('i', "a"), ('i', "a")], "1", 0)]
    fn open_trials_and_parts_are_no_verdict_of_a_submission(
        #[case] runs: &[(char, &str)],
        #[case] deciding: &str,
        #[case] changes: usize,
    ) {
        let rows = summarize(runs);
        let groups = group_by_submission(&rows);
        assert_eq!(groups[0].deciding_run().id, deciding);
        assert_eq!(find_changes(&groups[0]).count(), changes);
    }
}
