//! Test suites for CI, in the `JUnit` format: one for each scenario and mode, with a test case for the benchmark's own rules
//! and one for each published figure.
//!
//! An outcome that is not reproduced, invalid or inconclusive is a failure of that type, a failed one an
//! error: as with exit codes, nothing that is not shown passes.

use itertools::join;
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::ReportedVerdict;
use crate::content::verdict::submission_title;
use crate::document::sanitize_line;
use retrial_batch::verdict::BatchVerdict;
use retrial_results::evidence::tree::TreeFault;
use retrial_results::verdict::claim::{ClaimOutcome, ClaimVerdict};
use retrial_stats::Decision;

use retrial_results::verdict::comparison::{Change, ComparedFigure, Comparison};
use retrial_results::verdict::{Outcome, ResultVerdict, Verdict, number};

/// The suites of a submission tree: its verdicts, and the faults of the tree itself.
pub fn render_tree(entries: &[ReportedVerdict<'_>], faults: &[TreeFault]) -> String {
    let cases = faults.iter().map(|fault| {
        let text = fault.to_string();
        (fault.path.clone(), case_status(Outcome::Invalid, &text), text)
    });
    let mut report = verdicts_report(entries);
    report.add_test_suites(new_suite("submission tree", cases));
    serialize_report(&report)
}

/// The suites of verdicts.
pub fn render_verdicts(entries: &[ReportedVerdict<'_>]) -> String {
    serialize_report(&verdicts_report(entries))
}

fn serialize_report(report: &Report) -> String {
    // Writing to a string cannot fail.
    report.to_string().unwrap_or_default()
}

fn verdicts_report(entries: &[ReportedVerdict<'_>]) -> Report {
    let mut report = Report::new("retrial");
    for entry in entries {
        let verdict = entry.verdict;
        for result in &verdict.results {
            report.add_test_suite(result_suite(verdict, result, &entry.evidence));
        }
        let title = submission_title(verdict);
        // Of a submission besides its results: its system's description, its scenarios.
        let rules = entry.rules.iter().map(|rule| {
            let text = format!("{}; required {}", rule.measured, rule.required);
            let outcome = if rule.passed { Outcome::Measured } else { Outcome::Invalid };
            (rule.rule.clone(), case_status(outcome, &text), text)
        });
        report.add_test_suites(new_suite(&title, rules));
        let name = format!("claims: {title}");
        report.add_test_suites(claims_suite(&name, &verdict.claims));
        // A run without a result does not pass.
        if verdict.results.is_empty() {
            let mut suite = TestSuite::new(sanitize_line(&title));
            let status = case_status(verdict.outcome, &verdict.sentence());
            suite.add_test_case(TestCase::new("results", status));
            report.add_test_suite(suite);
        }
    }
    report
}

/// The suites of a history: its verdicts, and a suite of the runs that have none, each with the
/// reason.
pub fn render_history<'a>(
    entries: &[ReportedVerdict<'_>],
    without: impl Iterator<Item = (&'a str, String)>,
) -> String {
    let mut report = verdicts_report(entries);
    let cases = without.map(|(run, reason)| {
        let status = case_status(Outcome::Failed, &reason);
        (run.to_owned(), status, reason)
    });
    report.add_test_suites(new_suite("runs without a verdict", cases));
    serialize_report(&report)
}

/// The suites of a batch: its cells' results, a suite of the cells without any, and a suite of its claims.
pub fn render_batch(batch: &BatchVerdict, cells: &[ReportedVerdict<'_>]) -> String {
    let mut report = verdicts_report(cells);
    let without =
        batch.cells.iter().filter(|cell| cell.failure.is_some() || cell.verdict.is_none());
    let cases = without.map(|cell| {
        let failure = cell.failure.as_ref().map(ToString::to_string);
        let word = failure.unwrap_or_else(|| "no result".to_owned());
        let status = failed_status(NonSuccessKind::Error, &word, &cell.sentence);
        (cell.name.clone(), status, cell.sentence.clone())
    });
    report.add_test_suites(new_suite(&format!("cells without a result: {}", batch.title), cases));
    let name = format!("claims: {}", batch.title);
    report.add_test_suites(claims_suite(&name, &batch.claims));
    serialize_report(&report)
}

/// A suite of claims, none if there are none.
fn claims_suite(name: &str, claims: &[ClaimVerdict]) -> Option<TestSuite> {
    let cases = claims.iter().map(|claim| {
        let status = match claim.outcome {
            ClaimOutcome::Supported => TestCaseStatus::success(),
            outcome => failed_status(NonSuccessKind::Failure, outcome.word(), &claim.sentence),
        };
        (claim.claim.clone(), status, claim.sentence.clone())
    });
    new_suite(name, cases)
}

/// The suites of comparisons: one for each subject, scenario and mode.
pub fn render_comparisons(all: &[Comparison]) -> String {
    let mut report = Report::new("retrial compare");
    for comparison in all {
        let key = |figure: &ComparedFigure| {
            let subject = figure.candidate.subject.clone();
            (figure.benchmark.clone(), figure.scenario.clone(), figure.mode, subject)
        };
        let figures = comparison.figures.chunk_by(|figure, next| key(figure) == key(next));
        report.add_test_suites(figures.map(|figures| comparison_suite(comparison, figures)));
    }
    serialize_report(&report)
}

/// A suite of cases, each with its name, status and output; none without cases.
fn new_suite(
    name: &str,
    cases: impl Iterator<Item = (String, TestCaseStatus, String)>,
) -> Option<TestSuite> {
    let name = sanitize_line(name);
    let test_cases =
        cases.map(|(case_name, status, output)| new_case(&case_name, &name, status, &output));
    let cases: Vec<TestCase> = test_cases.collect();
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(cases);
    (suite.tests > 0).then_some(suite)
}

fn new_property(name: &str, value: &str) -> Property {
    Property::new(sanitize_line(name), sanitize_line(value))
}

fn result_suite(verdict: &Verdict, result: &ResultVerdict, evidence: &str) -> TestSuite {
    let name = format!("{} {} {}", result.benchmark, result.scenario, result.mode);
    let mut suite = TestSuite::new(sanitize_line(&name));
    suite.add_property(new_property("submission", &submission_title(verdict)));
    suite.add_property(new_property("outcome", &result.qualified_outcome().to_string()));
    suite.add_property(new_property("evidence", evidence));
    for (figure, value) in &result.figures {
        let value = format!("{} {}", value.value, value.unit);
        suite.add_property(new_property(figure, value.trim_end()));
    }
    for qualifier in &result.qualifiers {
        suite.add_property(new_property(&qualifier.kind.to_string(), &qualifier.reason));
    }
    let warnings = verdict.warnings.iter().map(|text| new_property("warning", text));
    let notices = verdict.notice.iter().map(|text| new_property("notice", text));
    suite.add_properties(warnings.chain(notices));
    suite.add_test_case(rules_case(result, &name));
    for judgement in result.judgements.iter().filter(|_| result.valid) {
        let status = case_status(judgement.outcome, &judgement.sentence);
        suite.add_test_case(new_case(&judgement.figure, &name, status, &judgement.sentence));
    }
    suite
}

/// The benchmark's own rules.
fn rules_case(result: &ResultVerdict, suite: &str) -> TestCase {
    let checked = result.rules.iter().map(|rule| {
        let word = match (rule.passed, rule.warning) {
            (false, _) => "VIOLATED",
            (true, true) => "warning",
            (true, false) => "passed",
        };
        let trial_number = rule.trial.map(|trial| format!(" (trial {trial})"));
        let trial = trial_number.unwrap_or_default();
        sanitize_line(&format!("{word}{trial}: {rule}"))
    });
    let checked = join(checked, "\n");
    let outcome = if result.valid { Outcome::Measured } else { result.outcome };
    let status = case_status(outcome, &result.sentence);
    let mut case = TestCase::new("the benchmark's own rules", status);
    case.set_classname(sanitize_line(suite));
    if !checked.is_empty() {
        case.set_system_out(checked);
    }
    case
}

fn new_case(name: &str, suite: &str, status: TestCaseStatus, output: &str) -> TestCase {
    let mut case = TestCase::new(sanitize_line(name), status);
    case.set_classname(sanitize_line(suite));
    case.set_system_out(sanitize_line(output));
    case
}

fn case_status(outcome: Outcome, sentence: &str) -> TestCaseStatus {
    let kind = match outcome {
        Outcome::Measured | Outcome::Reproduced => return TestCaseStatus::success(),
        Outcome::Running => return TestCaseStatus::skipped(),
        Outcome::Failed => NonSuccessKind::Error,
        Outcome::Inconclusive | Outcome::NotReproduced | Outcome::Invalid => {
            NonSuccessKind::Failure
        }
    };
    failed_status(kind, outcome.word(), sentence)
}

fn failed_status(kind: NonSuccessKind, word: &str, sentence: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(word);
    status.set_message(sanitize_line(sentence));
    status
}

/// The figures of one subject in one scenario and mode. Without a limit a change fails nothing.
fn comparison_suite(comparison: &Comparison, figures: &[ComparedFigure]) -> TestSuite {
    let first = &figures[0];
    let named = |letter: &str| {
        let mut subjects = comparison.subjects.iter();
        let subject = subjects.find(|subject| subject.letter == letter);
        subject.map_or("", |subject| subject.name.as_str())
    };
    let title = comparison.title.as_ref().map(|title| format!("{title}: "));
    let name = format!(
        "{}{} {} {}: {} against {}",
        title.unwrap_or_default(),
        first.benchmark,
        first.scenario,
        first.mode,
        named(&first.candidate.subject),
        named(&first.baseline.subject)
    );
    let mut suite = TestSuite::new(sanitize_line(&name));
    let notices = comparison.notice.iter();
    suite.add_properties(notices.map(|notice| new_property("notice", notice)));
    suite.add_test_cases(figures.iter().map(|figure| {
        let failure = |word| failed_status(NonSuccessKind::Failure, word, &figure.sentence);
        let status = match (figure.limit, figure.change) {
            (Some(Decision::Worse), _) => failure("slower"),
            (Some(Decision::Open), Change::NotCompared) => failure("not compared"),
            (Some(Decision::Open), _) => failure("inconclusive"),
            (None, Change::NotCompared) => TestCaseStatus::skipped(),
            _ => TestCaseStatus::success(),
        };
        let mut case = new_case(&figure.figure, &name, status, &figure.sentence);
        let ratio = figure.ratio.map(number::format_ratio);
        case.properties.extend(ratio.map(|ratio| new_property("ratio", &ratio)));
        case.add_property(new_property("change", figure.change.word()));
        case
    }));
    suite
}

#[cfg(test)]
mod tests;
