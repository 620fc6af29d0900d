//! The subjects of a comparison: a run, a folder of results, or several runs of the same plan, pooled.

use std::collections::BTreeMap;

use itertools::{Itertools as _, join};

use super::environment::merge_facts;
use super::fact::Fact;
use super::measurement::PooledMeasurement;
use crate::verdict::{Evidence, Outcome, QualifierKind, RunContext, judge, trademark_notice};
use retrial_document::measures::format::join_first;
use retrial_recipe::model::Submission;

/// Names that a note lists.
const MAX_SHOWN_NAMES: usize = 6;

#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonSubject {
    pub name: String,
    /// The measured submission: suite, round, benchmark, variant.
    pub title: String,
    /// The outcome of its verdict; of several, the worst.
    pub outcome: Outcome,
    /// The kinds of its qualifiers, each once.
    pub qualifiers: Vec<QualifierKind>,
    /// Number of its runs; 0 for a folder of results.
    pub runs: usize,
    /// Each scenario in each mode.
    pub measured: Vec<PooledMeasurement>,
    /// The environment in which it was measured, in display order.
    pub environment: Vec<Fact>,
    /// Remarks on it, for the notes of the comparison.
    pub notes: Vec<String>,
    /// `MLCommons`' trademark notice, where figures are `MLPerf`'s.
    pub notice: Option<String>,
}

impl ComparisonSubject {
    fn new(name: impl Into<String>, title: String, environment: Vec<Fact>) -> Self {
        Self {
            name: name.into(),
            title,
            outcome: Outcome::Measured,
            qualifiers: Vec::new(),
            runs: 0,
            measured: Vec::new(),
            environment,
            notes: Vec::new(),
            notice: None,
        }
    }

    /// Returns the subject of groups of evidence, each of which is judged by itself.
    pub fn from_evidence(
        name: impl Into<String>,
        groups: &[(RunContext, Vec<Evidence>)],
        environment: Vec<Fact>,
    ) -> Self {
        let contexts = groups.iter();
        let titles =
            contexts.map(|(context, _)| subject_title(&context.submission, &context.variant));
        let titles: Vec<String> = titles.dedup().collect();
        let title = match titles.as_slice() {
            [] => String::new(),
            [title] => title.clone(),
            several => format!("{} benchmarks", several.len()),
        };
        let mut subject = Self::new(name, title, environment);
        for (context, evidence) in groups {
            let verdict = judge(context, evidence);
            subject.outcome = subject.outcome.max(verdict.outcome);
            let qualifiers = verdict.qualifiers.iter();
            subject.add_qualifiers(qualifiers.map(|qualifier| qualifier.kind));
            let results = evidence.iter().zip(&verdict.results);
            let measured =
                results.map(|(evidence, result)| PooledMeasurement::new(context, evidence, result));
            subject.measured.extend(measured);
            subject.notice = subject.notice.or(verdict.notice);
        }
        subject
    }

    /// Returns the subject of a run, by the measurements that an index stores.
    pub fn from_run(
        name: impl Into<String>,
        (submission, variant): (&Submission, &BTreeMap<String, String>),
        measured: Vec<PooledMeasurement>,
        qualifiers: &[QualifierKind],
        environment: Vec<Fact>,
    ) -> Self {
        let outcomes = measured.iter().map(|measured| measured.outcome);
        Self {
            outcome: outcomes.max().unwrap_or(Outcome::Failed),
            qualifiers: qualifiers.to_vec(),
            runs: 1,
            measured,
            notice: trademark_notice(submission),
            ..Self::new(name, subject_title(submission, variant), environment)
        }
    }

    /// Pools the trials of several runs one after the other, in the order in which they are given. A
    /// measurement that violated the rules is excluded if another run has a valid one; a note says so.
    pub fn pool(name: impl Into<String>, runs: Vec<Self>) -> Self {
        let facts: Vec<&[Fact]> = runs.iter().map(|run| run.environment.as_slice()).collect();
        let (environment, several) = merge_facts(&facts);
        let count = runs.len();
        let title = runs.first().map(|run| run.title.clone());
        let mut pool = Self {
            runs: count,
            notice: runs.iter().find_map(|run| run.notice.clone()),
            ..Self::new(name, title.unwrap_or_default(), environment)
        };
        if runs.iter().any(|run| run.title != pool.title) {
            pool.notes.push(format!(
                "the {count} runs of {} did not all measure the same thing",
                pool.name
            ));
        }
        if !several.is_empty() {
            pool.notes.push(format!(
                "the {count} runs of {} differ among themselves in {}",
                pool.name,
                join_first(&several, MAX_SHOWN_NAMES)
            ));
        }
        let mut invalid = Vec::new();
        for run in runs {
            pool.add_qualifiers(run.qualifiers.iter().copied());
            pool.notes.extend(run.notes);
            for measured in run.measured {
                if measured.valid {
                    pool.add_measurement(measured);
                } else {
                    invalid.push((run.name.clone(), measured));
                }
            }
        }
        let mut excluded: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (run, measured) in invalid {
            let mut existing = pool.measured.iter();
            if existing.any(|existing| existing.valid && existing.is_like(&measured, true)) {
                let name = format!("{} {}", measured.scenario, measured.mode);
                let runs = excluded.entry(name).or_default();
                runs.push(format!("{run} ({})", measured.outcome));
            } else {
                pool.add_measurement(measured);
            }
        }
        for (name, runs) in excluded {
            pool.notes.push(format!(
                "{name} of {} excludes {} of its {count} runs: {}",
                pool.name,
                runs.len(),
                join_first(&runs, MAX_SHOWN_NAMES)
            ));
        }
        let outcomes = pool.measured.iter().map(|measured| measured.outcome);
        pool.outcome = outcomes.max().unwrap_or(Outcome::Measured);
        pool
    }

    fn add_qualifiers(&mut self, kinds: impl Iterator<Item = QualifierKind>) {
        self.qualifiers.extend(kinds);
        self.qualifiers.sort();
        self.qualifiers.dedup();
    }

    fn add_measurement(&mut self, measured: PooledMeasurement) {
        let mut existing = self.measured.iter_mut();
        match existing.find(|existing| existing.is_like(&measured, true)) {
            Some(existing) => existing.append(measured),
            None => self.measured.push(measured),
        }
    }
}

fn subject_title(submission: &Submission, variant: &BTreeMap<String, String>) -> String {
    let words = [
        submission.submitter.as_deref(),
        Some(submission.suite.as_str()),
        submission.round.as_deref(),
        Some(submission.benchmark.as_str()),
    ];
    let nonempty_words = words.into_iter().flatten().filter(|word| !word.is_empty());
    let variant_words = variant.iter().flat_map(|(axis, value)| [axis, value]);
    join(nonempty_words.chain(variant_words.map(String::as_str)), " ")
}
