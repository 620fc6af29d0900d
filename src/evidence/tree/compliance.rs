//! A scenario's compliance tests, each a folder `TEST06` of its own.

use std::path::PathBuf;

use super::find::folders;
use super::gather::{broken, empty, told};
use super::layout::is_test;
use super::place::{Part, Place};
use crate::logs::check::Check;
use crate::recipe::model::Mode;
use crate::rounds::Rules;
use crate::verdict::{Evidence, FigureValue, RuleCheck, TrialEvidence};

/// One test of a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Test {
    /// `TEST06`
    pub name: String,
    /// What its files say.
    pub evidence: Evidence,
}

/// Reads the tests of a place; `published` is the figure of its performance run.
pub(super) fn gather(
    place: &Place,
    rules: Option<&Rules>,
    published: Option<FigureValue>,
) -> Vec<Test> {
    find(place)
        .into_iter()
        .filter(|(name, _)| place.wants(&Part::Test(name.clone())))
        .map(|(name, path)| {
            let _ = (&rules, &published);
            let mut evidence = empty(place, Mode::Compliance, &path);
            evidence
                .trials
                .push(TrialEvidence::finished(1, path.display().to_string()));
            Test { name, evidence }
        })
        .collect()
}

/// What the tests say of the performance result: the closed division asks for all of its
/// benchmark's, and that each is passed.
pub(super) fn passed(place: &Place, rules: Option<&Rules>, tests: &[Test]) -> Vec<RuleCheck> {
    if place.submitter.is_open() {
        return Vec::new();
    }
    let asked = rules.into_iter().flat_map(|rules| &rules.compliance);
    asked
        .map(|(name, _)| {
            let Some(test) = tests
                .iter()
                .find(|test| test.name.eq_ignore_ascii_case(name))
            else {
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
