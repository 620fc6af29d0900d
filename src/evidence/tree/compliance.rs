//! A scenario's compliance tests, each a folder `TEST06` of its own.

use std::path::{Path, PathBuf};

use super::find::folders;
use super::gather::{broken, empty, measurement, told};
use super::inferred;
use super::layout::is_test;
use super::performance::missing;
use super::place::{Part, Place};
use crate::evidence::compliance;
use crate::evidence::folder;
use crate::evidence::loadgen::loadgen_evidence;
use crate::logs::check::Check;
use crate::logs::compliance::{Asked, Test};
use crate::logs::loadgen::Run;
use crate::recipe::model::{Better, Mode};
use crate::rounds::{ComplianceTest, Rules};
use crate::verdict::{Evidence, FigureValue, RuleCheck, TrialEvidence, number};

/// The run of a test whose speed counts.
const RUN: &str = "performance/run_1";
/// What LoadGen calls an error where it finds `audit.config`, which each of these tests needs.
const AUDIT_CONFIG: &str = "Multiple conf files are used";

/// One test of a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tested {
    /// `TEST06`
    name: String,
    /// What its files say.
    pub evidence: Evidence,
}

/// Reads the tests of a place; `published` is the figure of its performance run.
pub(super) fn gather(
    place: &Place,
    rules: Option<&Rules>,
    published: Option<&FigureValue>,
) -> Vec<Tested> {
    find(place)
        .into_iter()
        .filter(|(name, _)| place.wants(&Part::Test(name.clone())))
        .map(|(name, path)| {
            let evidence = one(place, rules, published, &name, &path);
            Tested { name, evidence }
        })
        .collect()
}

fn one(
    place: &Place,
    rules: Option<&Rules>,
    published: Option<&FigureValue>,
    name: &str,
    path: &Path,
) -> Evidence {
    let mut evidence = empty(place, Mode::Compliance, path);
    let mut trial = TrialEvidence::finished(1, path.display().to_string());
    match name.parse::<Test>() {
        Ok(test) => {
            let asked = match rules {
                Some(rules) => compliance::asked(test, rules, !place.submitter.in_one_folder),
                None => Asked::new(test),
            };
            let found = compliance::read(&place.submitter.root.join(path), &asked);
            evidence.checks.extend(found.checks.into_iter().map(told));
            if matches!(test, Test::Test01 | Test::Test04 | Test::Test05) {
                speed(place, rules, path, &mut evidence, &mut trial);
                let asked = rules.and_then(|rules| {
                    let mut tests = rules.compliance.iter();
                    Some((rules, &tests.find(|(known, _)| known == test.name())?.1))
                });
                let figure = evidence.published_metric.as_ref().and_then(|it| trial.figures.get(it));
                if let (Some((rules, asked)), Some(found), Some(published)) = (asked, figure, published) {
                    evidence.checks.extend(against(rules, asked, found, published));
                }
            }
        }
        Err(error) => evidence.checks.push(broken("test", error.to_string(), "a test of the audit")),
    }
    evidence.trials.push(trial);
    evidence
}

/// The test's own performance run.
fn speed(
    place: &Place,
    rules: Option<&Rules>,
    path: &Path,
    evidence: &mut Evidence,
    trial: &mut TrialEvidence,
) {
    let mut logs = folder::logs(&place.submitter.root, &path.join(RUN));
    evidence.checks.extend(missing(&logs));
    if logs.run.summary.is_none() && logs.run.detail.is_none() {
        return;
    }
    without_audit_config(&mut logs.run);
    let measured = measurement(place, Mode::Compliance);
    loadgen_evidence(&logs.run, &measured, trial, &mut None);
    if let Some(rules) = rules {
        let metric = inferred::name(&rules.metric);
        if let Some(figure) = inferred::figure(&logs.run, rules) {
            let figure = FigureValue::new(figure.value, rules.metric.unit.clone());
            trial.figures.insert(metric.clone(), figure);
        }
        evidence.published_metric = Some(metric);
    }
}

/// The test's speed next to the published run's.
fn against(
    rules: &Rules,
    test: &ComplianceTest,
    found: &FigureValue,
    published: &FigureValue,
) -> Option<RuleCheck> {
    // Times are better where they are lower.
    let better = if rules.metric.figure.ends_with("_ns") { Better::Lower } else { Better::Higher };
    let ratio = match better {
        Better::Higher => found.value / published.value,
        Better::Lower => published.value / found.value,
    };
    let (kept, asked) = match (test.within, test.above) {
        (Some(share), _) => {
            ((ratio - 1.0).abs() <= share, format!("within {} of it", number::percent(share)))
        }
        (None, Some(share)) => {
            (ratio <= 1.0 + share, format!("at most {} better", number::percent(share)))
        }
        (None, None) => return None,
    };
    let shown = |figure: &FigureValue| number::figure(figure.value, &figure.unit);
    Some(told(Check::new(
        "speed next to the performance run",
        format!("{}, {} of {}", shown(found), number::ratio(ratio), shown(published)),
        asked,
        kept,
    )))
}

/// Leaves the error out that every run with an `audit.config` has.
fn without_audit_config(run: &mut Run) {
    let Some(detail) = &mut run.detail else {
        return;
    };
    let before = detail.error_messages.len();
    detail.error_messages.retain(|message| !message.text.contains(AUDIT_CONFIG));
    let left_out = (before - detail.error_messages.len()) as u64;
    detail.errors = detail.errors.saturating_sub(left_out);
    if let Some(errors) = run.summary.as_mut().and_then(|summary| summary.errors.as_mut()) {
        *errors = errors.saturating_sub(left_out);
    }
}

/// What the tests say of the performance result: the closed division asks for all of its
/// benchmark's, and that each is passed.
pub(super) fn passed(place: &Place, rules: Option<&Rules>, tests: &[Tested]) -> Vec<RuleCheck> {
    if place.submitter.is_open() {
        return Vec::new();
    }
    let asked = rules.into_iter().flat_map(|rules| &rules.compliance);
    asked
        .map(|(name, _)| {
            let Some(test) = tests.iter().find(|test| test.name == *name) else {
                return broken(name, "missing", "a compliance test of this benchmark");
            };
            let mut failed = test.evidence.checks.iter().filter(|check| !check.passed);
            match failed.next() {
                None => told(Check::new(name, "passed", "passed", true)),
                Some(first) => broken(name, format!("{}: {}", first.rule, first.found), "passed"),
            }
        })
        .collect()
}

/// The folders of tests, by name; where there are several of one name, the first.
fn find(place: &Place) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for at in place.compliance() {
        for name in folders(&place.submitter.root.join(&at)) {
            let upper = name.to_uppercase();
            if is_test(&name) && !found.iter().any(|(known, _)| *known == upper) {
                found.push((upper, at.join(name)));
            }
        }
    }
    found.sort();
    found
}
