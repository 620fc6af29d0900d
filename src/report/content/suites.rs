//! Test suites for CI: one for each scenario and mode, a test case for the benchmark's own rules
//! and one for each published figure.
//!
//! What is not reproduced, invalid or inconclusive is a failure (its type is the outcome's word),
//! what failed or ran out of time an error: as with exit codes, what is not shown is no pass.

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::verdict::title;
use crate::batch::verdict::{BatchVerdict, ClaimOutcome};
use crate::report::Entry;
use crate::report::document::clean;
use crate::results::evidence::tree::Fault;
use retrial_stats::Decision;

use crate::results::verdict::comparison::{Change, ComparedFigure, Comparison};
use crate::results::verdict::{Outcome, ResultVerdict, Verdict, number};

/// The suites of a submission tree: its verdicts, and what is wrong with the tree itself.
#[must_use]
pub fn tree(entries: &[Entry<'_>], faults: &[Fault]) -> Report {
    let mut report = verdicts(entries);
    if !faults.is_empty() {
        let mut suite = TestSuite::new("submission tree");
        for fault in faults {
            let said = clean(&fault.to_string());
            let status = status(Outcome::Invalid, &said);
            suite.add_test_case(case(&fault.path, "submission tree", status, &said));
        }
        report.add_test_suite(suite);
    }
    report
}

/// The suites of verdicts.
#[must_use]
pub fn verdicts(entries: &[Entry<'_>]) -> Report {
    let mut report = Report::new("retrial");
    for entry in entries {
        let verdict = entry.verdict;
        for result in &verdict.results {
            report.add_test_suite(suite(verdict, result, &entry.evidence));
        }
        if !entry.rules.is_empty() {
            report.add_test_suite(rules_of_the_whole(entry));
        }
        // A run without a result is no pass.
        if verdict.results.is_empty() {
            let mut suite = TestSuite::new(clean(&title(verdict)));
            let status = status(verdict.outcome, &verdict.sentence);
            suite.add_test_case(TestCase::new("results", status));
            report.add_test_suite(suite);
        }
    }
    report
}

/// The suites of a batch: its cells' results, and a suite of its claims.
#[must_use]
pub fn batch(batch: &BatchVerdict, cells: &[Entry<'_>]) -> Report {
    let mut report = verdicts(cells);
    if !batch.claims.is_empty() {
        let name = clean(&format!("claims: {}", batch.title));
        let mut suite = TestSuite::new(name.as_str());
        for claim in &batch.claims {
            let status = match claim.outcome {
                ClaimOutcome::Supported => TestCaseStatus::success(),
                outcome => failed(NonSuccessKind::Failure, outcome.word(), &claim.sentence),
            };
            suite.add_test_case(case(&claim.claim, &name, status, &claim.sentence));
        }
        report.add_test_suite(suite);
    }
    report
}

/// What is asked of a submission besides its results: its system's description, its scenarios.
fn rules_of_the_whole(entry: &Entry<'_>) -> TestSuite {
    let name = clean(&title(entry.verdict));
    let mut suite = TestSuite::new(name.as_str());
    for rule in entry.rules {
        let said = format!("{}; required: {}", rule.measured, rule.required);
        let outcome = if rule.passed {
            Outcome::Measured
        } else {
            Outcome::Invalid
        };
        suite.add_test_case(case(&rule.rule, &name, status(outcome, &said), &said));
    }
    suite
}

/// The suites of comparisons: one suite for each scenario and mode.
#[must_use]
pub fn comparisons(all: &[Comparison]) -> Report {
    let mut report = Report::new("retrial compare");
    for comparison in all {
        report.add_test_suites(suites(comparison));
    }
    report
}

fn suites(comparison: &Comparison) -> Vec<TestSuite> {
    let mut suites = Vec::new();
    let of_one = |one: &ComparedFigure, other: &ComparedFigure| {
        (
            &one.benchmark,
            &one.scenario,
            one.mode,
            &one.candidate.subject,
        ) == (
            &other.benchmark,
            &other.scenario,
            other.mode,
            &other.candidate.subject,
        )
    };
    for figures in comparison.figures.chunk_by(of_one) {
        let Some(first) = figures.first() else {
            continue;
        };
        let title = comparison.title.as_ref();
        let title = title.map_or_else(String::new, |title| format!("{title}: "));
        let name = format!(
            "{title}{} {} {}: {} against {}",
            first.benchmark,
            first.scenario,
            first.mode,
            named(comparison, &first.candidate.subject),
            named(comparison, &first.baseline.subject)
        );
        let mut suite = TestSuite::new(clean(&name));
        suite.add_properties(
            comparison
                .notice
                .iter()
                .map(|notice| property("notice", notice)),
        );
        suite.add_test_cases(figures.iter().map(|figure| compared(figure, &name)));
        suites.push(suite);
    }
    suites
}

fn property(name: &str, value: &str) -> Property {
    Property::new(clean(name), clean(value))
}

fn suite(verdict: &Verdict, result: &ResultVerdict, evidence: &str) -> TestSuite {
    let name = format!("{} {} {}", result.benchmark, result.scenario, result.mode);
    let mut suite = TestSuite::new(clean(&name));
    suite.add_property(property("submission", &title(verdict)));
    suite.add_property(property("outcome", result.outcome.word()));
    suite.add_property(property("evidence", evidence));
    for (figure, value) in &result.figures {
        let value = format!("{} {}", value.value, value.unit);
        suite.add_property(property(figure, value.trim_end()));
    }
    for qualifier in &result.qualifiers {
        suite.add_property(property(&qualifier.kind.to_string(), &qualifier.because));
    }
    let warnings = verdict.warnings.iter();
    suite.add_properties(warnings.map(|warning| property("warning", warning)));
    suite.add_properties(
        verdict
            .notice
            .iter()
            .map(|notice| property("notice", notice)),
    );
    suite.add_test_case(rules(result, &name));
    if result.valid {
        for judgement in &result.judgements {
            let status = status(judgement.outcome, &judgement.sentence);
            suite.add_test_case(case(&judgement.figure, &name, status, &judgement.sentence));
        }
    }
    suite
}

/// Whether the benchmark's own rules were passed.
fn rules(result: &ResultVerdict, suite: &str) -> TestCase {
    let checked: Vec<String> = result
        .rules
        .iter()
        .map(|rule| {
            let result = if rule.passed { "passed" } else { "VIOLATED" };
            let trial = rule
                .trial
                .map_or_else(String::new, |trial| format!(" (trial {trial})"));
            format!(
                "{result}: {}{trial}: {}; required: {}",
                rule.rule, rule.measured, rule.required
            )
        })
        .map(|line| clean(&line))
        .collect();
    let outcome = if result.valid {
        Outcome::Measured
    } else {
        result.outcome
    };
    let status = status(outcome, &result.sentence);
    let mut case = TestCase::new("the benchmark's own rules", status);
    case.set_classname(clean(suite));
    if !checked.is_empty() {
        case.set_system_out(checked.join("\n"));
    }
    case
}

fn case(name: &str, suite: &str, status: TestCaseStatus, said: &str) -> TestCase {
    let mut case = TestCase::new(clean(name), status);
    case.set_classname(clean(suite));
    case.set_system_out(clean(said));
    case
}

fn status(outcome: Outcome, sentence: &str) -> TestCaseStatus {
    let kind = match outcome {
        Outcome::Measured | Outcome::Reproduced => return TestCaseStatus::success(),
        Outcome::Failed => NonSuccessKind::Error,
        Outcome::Inconclusive | Outcome::NotReproduced | Outcome::Invalid => {
            NonSuccessKind::Failure
        }
    };
    failed(kind, outcome.word(), sentence)
}

fn failed(kind: NonSuccessKind, word: &str, sentence: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(word);
    status.set_message(clean(sentence));
    status
}

/// Without a limit a change is told, and fails nothing.
fn compared(figure: &ComparedFigure, suite: &str) -> TestCase {
    let failure = |word| failed(NonSuccessKind::Failure, word, &figure.sentence);
    let status = match (figure.limit, figure.change) {
        (Some(Decision::Worse), _) => failure("slower"),
        (Some(Decision::Open), Change::NotCompared) => failure("not compared"),
        (Some(Decision::Open), _) => failure("inconclusive"),
        (None, Change::NotCompared) => TestCaseStatus::skipped(),
        _ => TestCaseStatus::success(),
    };
    let mut case = case(&figure.figure, suite, status, &figure.sentence);
    if let Some(ratio) = figure.ratio {
        case.add_property(property("ratio", &number::ratio(ratio)));
    }
    case.add_property(property("change", figure.change.word()));
    case
}

fn named<'a>(comparison: &'a Comparison, letter: &str) -> &'a str {
    let mut subjects = comparison.subjects.iter();
    subjects
        .find(|subject| subject.letter == letter)
        .map_or("", |subject| subject.name.as_str())
}

#[cfg(test)]
mod tests;
