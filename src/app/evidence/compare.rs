//! The verdict of a bundle next to the verdict that its logs give again, and what the statement says of both.

use crate::bundle::manifest::Manifest;
use crate::bundle::statement::{Facts, Statement};
use crate::bundle::verification::{Basis, BasisKind};
use crate::results::verdict::{ResultVerdict, Verdict};

/// Figures that differ by less are the same: JSON keeps every digit, but another version may add up in another
/// order.
const SAME: f64 = 1e-9;
/// No more are named.
const MOST_NAMED: usize = 10;

/// How a verdict differs from the one that was made again; nothing where only its wording does.
pub fn differences(said: &Verdict, again: &Verdict) -> Vec<String> {
    let mut found = Vec::new();
    if said.outcome != again.outcome {
        found.push(format!(
            "recorded {}, recomputed {}",
            said.outcome, again.outcome
        ));
    }
    if said.results.len() != again.results.len() {
        let (said, again) = (said.results.len(), again.results.len());
        found.push(format!("recorded {said} results, recomputed {again}"));
    }
    for result in &again.results {
        let other = said.results.iter().find(|other| other.path == result.path);
        let name = format!("{} {}", result.scenario, result.mode);
        match other {
            Some(other) => found.extend(of_result(&name, other, result)),
            None => found.push(format!("{name}: its verdict is missing")),
        }
    }
    if found.len() > MOST_NAMED {
        let more = found.len() - MOST_NAMED;
        found.truncate(MOST_NAMED);
        found.push(format!("and {more} more"));
    }
    found
}

fn of_result(name: &str, said: &ResultVerdict, again: &ResultVerdict) -> Vec<String> {
    let mut found = Vec::new();
    if said.outcome != again.outcome {
        let reason = format!(
            "{name}: recorded {}, recomputed {}",
            said.outcome, again.outcome
        );
        found.push(reason);
    }
    if said.valid != again.valid {
        let word = |valid| if valid { "valid" } else { "invalid" };
        let (said, again) = (word(said.valid), word(again.valid));
        found.push(format!("{name}: recorded {said}, recomputed {again}"));
    }
    for (figure, value) in &again.figures {
        match said.figures.get(figure) {
            Some(other) if is_same(other.value, value.value) && other.unit == value.unit => {}
            Some(other) => found.push(format!(
                "{name}: {figure}: recorded {} {}, the logs have {}",
                other.value, other.unit, value.value
            )),
            None => found.push(format!("{name}: {figure} is not in its verdict")),
        }
    }
    let mut claimed = said.figures.keys();
    if let Some(figure) = claimed.find(|figure| !again.figures.contains_key(*figure)) {
        found.push(format!("{name}: {figure} is not in any log"));
    }
    for judgement in &again.judgements {
        let mut others = said.judgements.iter();
        let other = others.find(|other| other.figure == judgement.figure);
        let ratio = |found: Option<f64>| found.unwrap_or(f64::NAN);
        match other {
            Some(other)
                if other.outcome == judgement.outcome
                    && (other.ratio == judgement.ratio
                        || is_same(ratio(other.ratio), ratio(judgement.ratio))) => {}
            Some(other) => found.push(format!(
                "{name}: {}: said {}, judged {}",
                judgement.figure, other.outcome, judgement.outcome
            )),
            None => found.push(format!("{name}: {} is not judged in it", judgement.figure)),
        }
    }
    found
}

#[expect(clippy::float_cmp, reason = "infinities are the same")]
fn is_same(one: f64, other: f64) -> bool {
    one == other || (one.is_nan() && other.is_nan()) || (one - other).abs() <= SAME * other.abs()
}

/// Where a statement says something else than the files that it is about.
pub fn statement(
    statement: &Statement,
    facts: Facts<'_>,
    manifest: &Manifest,
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

/// On what a verdict rests: which files were judged again, and which are taken as they are.
pub fn basis(manifest: &Manifest) -> Vec<Basis> {
    use BasisKind::{Declared, Raw};
    const KINDS: [(BasisKind, &str, &str); 9] = [
        (
            Raw,
            "results/",
            "the benchmark's own logs: figures and rules",
        ),
        (
            Raw,
            "steps/",
            "output of the steps: figures that are printed",
        ),
        (
            Declared,
            "journal.jsonl",
            "times, exit codes, image digests",
        ),
        (
            Declared,
            "plan.json",
            "what was executed, and the rules it was judged by",
        ),
        (Declared, "host.json", "host, GPUs, drivers, settings"),
        (Declared, "packages.json", "packages in the container"),
        (
            Declared,
            "models.json",
            "names and hashes of the models' files",
        ),
        (Declared, "telemetry.csv", "samples of GPUs and container"),
        (Declared, "nodes/", "the same of the other machines"),
    ];
    let found = KINDS.into_iter().map(|(kind, path, what)| {
        let of_kind = manifest
            .files
            .iter()
            .filter(|file| match path.strip_suffix('/') {
                Some(_) => file.path.starts_with(path),
                None => file.path == path,
            });
        let (files, bytes) = of_kind.fold((0, 0), |(files, bytes), file| {
            (files + 1, bytes + file.bytes)
        });
        Basis {
            kind,
            path: path.to_owned(),
            files,
            bytes,
            what,
        }
    });
    found.filter(|one| one.files > 0).collect()
}
