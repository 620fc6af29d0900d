//! Compares the recorded verdict of a bundle with the recomputed one, the statement with both, and the rules of its
//! plan with the built-in ones.

use std::fmt::Display;

use crate::manifest::BundleManifest;
use crate::statement::{Statement, StatementSources};
use crate::verification::{BasisKind, RulesComparison, VerdictBasis};
use retrial_mlperf::rounds::Rounds;
use retrial_plan::Plan;
use retrial_results::verdict::{Qualifier, ResultVerdict, Verdict};

/// Figures that differ by less are the same: JSON keeps every digit, but another version may add up in another
/// order.
const MAX_RELATIVE_ROUNDING: f64 = 1e-9;
/// The largest number of differences that are named.
const MAX_NAMED_DIFFERENCES: usize = 10;

/// Returns the differences between a recorded and a recomputed verdict, except those of wording.
pub fn verdict_differences(recorded: &Verdict, recomputed: &Verdict) -> Vec<String> {
    let mut differences = Vec::new();
    let [before, now] = [recorded, recomputed].map(Verdict::qualified_outcome);
    if before != now {
        differences.push(format!("recorded {before}, recomputed {now}"));
    }
    if recorded.results.len() != recomputed.results.len() {
        let (recorded, recomputed) = (recorded.results.len(), recomputed.results.len());
        differences.push(format!("recorded {recorded} results, recomputed {recomputed}"));
    }
    differences.extend(qualifier_differences("", &recorded.qualifiers, &recomputed.qualifiers));
    if recorded.warnings != recomputed.warnings {
        differences.push("its warnings differ from those of its files".to_owned());
    }
    differences.extend(
        (recorded.notice != recomputed.notice).then(|| "its trademark notice differs".to_owned()),
    );
    for result in &recomputed.results {
        let other = recorded.results.iter().find(|other| other.path == result.path);
        let name = format!("{} {}", result.scenario, result.mode);
        match other {
            Some(other) => differences.extend(result_differences(&name, other, result)),
            None => differences.push(format!("{name}: its verdict is missing")),
        }
    }
    if differences.len() > MAX_NAMED_DIFFERENCES {
        let more = differences.len() - MAX_NAMED_DIFFERENCES;
        differences.truncate(MAX_NAMED_DIFFERENCES);
        differences.push(format!("and {more} more"));
    }
    differences
}

/// Returns the qualifiers that a verdict lacks, and those that do not follow from its files.
fn qualifier_differences(
    prefix: &str,
    recorded: &[Qualifier],
    recomputed: &[Qualifier],
) -> Vec<String> {
    let only = |these: &[Qualifier], others: &[Qualifier], word: &str| -> Vec<String> {
        let unmatched = these.iter().filter(|one| !others.contains(one));
        let line =
            |one: &Qualifier| format!("{prefix}qualifier {word}: {}: {}", one.kind, one.reason);
        unmatched.map(line).collect()
    };
    let missing = only(recomputed, recorded, "missing");
    let unfounded = only(recorded, recomputed, "not derived");
    [missing, unfounded].concat()
}

/// Returns how a recorded value differs from the recomputed one, if it does.
pub fn describe_difference<T: Copy + PartialEq + Display>(
    recorded: T,
    recomputed: T,
) -> Option<String> {
    (recorded != recomputed).then(|| format!("recorded {recorded}, recomputed {recomputed}"))
}

fn result_differences(
    name: &str,
    recorded: &ResultVerdict,
    recomputed: &ResultVerdict,
) -> Vec<String> {
    let mut differences = Vec::new();
    let word = |valid| if valid { "valid" } else { "not valid" };
    let outcome = describe_difference(recorded.outcome, recomputed.outcome);
    let validity = describe_difference(word(recorded.valid), word(recomputed.valid));
    let whole = outcome.into_iter().chain(validity);
    differences.extend(whole.map(|difference| format!("{name}: {difference}")));
    let prefix = format!("{name}: ");
    let (recorded_ones, all) = (&recorded.qualifiers, &recomputed.qualifiers);
    differences.extend(qualifier_differences(&prefix, recorded_ones, all));
    for (figure, value) in &recomputed.figures {
        match recorded.figures.get(figure) {
            Some(other) if is_same_figure(other.value, value.value) && other.unit == value.unit => {
            }
            Some(other) => differences.push(format!(
                "{name}: {figure}: recorded {} {}, the logs have {}",
                other.value, other.unit, value.value
            )),
            None => differences.push(format!("{name}: {figure} is not in its verdict")),
        }
    }
    let mut claimed = recorded.figures.keys();
    if let Some(figure) = claimed.find(|figure| !recomputed.figures.contains_key(*figure)) {
        differences.push(format!("{name}: {figure} is not in any log"));
    }
    for judgement in &recomputed.judgements {
        let mut others = recorded.judgements.iter();
        let other = others.find(|other| other.figure == judgement.figure);
        let ratio = |ratio: Option<f64>| ratio.unwrap_or(f64::NAN);
        match other {
            Some(other)
                if other.outcome == judgement.outcome
                    && (other.ratio == judgement.ratio
                        || is_same_figure(ratio(other.ratio), ratio(judgement.ratio))) => {}
            Some(other) => differences.push(format!(
                "{name}: {}: recorded {}, recomputed {}",
                judgement.figure, other.outcome, judgement.outcome
            )),
            None => differences.push(format!("{name}: {} is not judged in it", judgement.figure)),
        }
    }
    differences
}

#[expect(clippy::float_cmp, reason = "infinities are the same")]
fn is_same_figure(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= MAX_RELATIVE_ROUNDING * b.abs()
}

/// Returns the parts of a statement that differ from the files.
pub fn statement_differences(
    statement: &Statement,
    facts: StatementSources<'_>,
    manifest: &BundleManifest,
    text: &[u8],
) -> Vec<String> {
    let own = &statement.predicate;
    let expected = Statement::new(facts, &manifest.run, text, own.run.tool.clone()).predicate;
    let parts = [
        ("result", own.result == expected.result),
        ("configuration", own.configuration == expected.configuration),
        ("passedTests", own.passed_tests == expected.passed_tests),
        ("warnedTests", own.warned_tests == expected.warned_tests),
        ("failedTests", own.failed_tests == expected.failed_tests),
        ("run", own.run == expected.run),
    ];
    let wrong = parts.into_iter().filter(|(_, same)| !same);
    wrong.map(|(name, _)| name.to_owned()).collect()
}

pub fn compare_rules(plan: &Plan, known: &Rounds) -> RulesComparison {
    let Some(name) = plan.describe_rules() else {
        return RulesComparison::None;
    };
    let replaced = with_rules_of(plan, known);
    if replaced.measurement_rules().next().is_none() {
        return RulesComparison::Unknown { name };
    }
    let rules_of = |plan: &Plan| -> Vec<_> {
        let measurements = plan.measurements.iter();
        measurements.map(|one| one.rules.clone()).collect()
    };
    if rules_of(&replaced) == rules_of(plan) {
        RulesComparison::Same { name }
    } else {
        RulesComparison::Differ { name }
    }
}

pub fn with_rules_of(plan: &Plan, known: &Rounds) -> Plan {
    let mut replaced = plan.clone();
    replaced.add_round_rules(known);
    replaced
}

/// Returns the basis of a verdict: files that were judged again, and files whose statements are accepted.
pub fn verdict_basis(manifest: &BundleManifest) -> Vec<VerdictBasis> {
    /// Files that were judged again.
    const JUDGED_FILES: [(&str, &str); 2] = [
        ("results/", "the benchmark's own logs: figures and rules"),
        ("steps/", "output of the steps: figures that are printed"),
    ];
    /// Files whose statements are accepted.
    const DECLARED_FILES: [(&str, &str); 8] = [
        ("journal.jsonl", "times, exit codes, image digests"),
        ("plan.json", "what was executed, and the rules it was judged by"),
        ("companions/", "the copied files of the recipe"),
        ("host.json", "host, GPUs, drivers, settings"),
        ("packages.json", "packages in the container"),
        ("models.json", "names and hashes of the models' files"),
        ("telemetry.csv", "samples of GPUs and container"),
        ("nodes/", "the same of the other machines"),
    ];
    let raw = JUDGED_FILES.map(|part| (BasisKind::Raw, part)).into_iter();
    let declared = DECLARED_FILES.map(|part| (BasisKind::Declared, part));
    let parts = raw.chain(declared).map(|(kind, (path, content))| {
        let is_directory = path.ends_with('/');
        let files_of_part = manifest
            .files
            .iter()
            .filter(|file| file.path == path || (is_directory && file.path.starts_with(path)));
        let (files, bytes) =
            files_of_part.fold((0, 0), |(files, bytes), file| (files + 1, bytes + file.bytes));
        VerdictBasis { kind, path: path.to_owned(), files, bytes, what: content }
    });
    parts.filter(|one| one.files > 0).collect()
}
