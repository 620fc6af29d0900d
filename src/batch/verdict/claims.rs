//! Claims, held against the evidence.

use super::differences::{named, side};
use super::gap::GapTest;
use super::model::{AskedOfPart, ClaimOutcome, ClaimPart, ClaimVerdict};
use super::part::{Test, Tested, about, limits};
use super::sentence;
use super::subject::{Both, Subject, both};
use crate::batch::{Assertion, Claim, Part, same_scenario};
use crate::results::verdict::comparison::{Change, Measured, Pair};
use retrial_recipe::model::Mode;
use retrial_stats::step_down;

/// How claims are judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Rounds of cells make pairs.
    pub paired: bool,
    /// Error of each one-sided bound.
    pub alpha: f64,
}

/// Judges all claims: the error that any of them is decided wrongly is shared between them.
pub(super) fn judge(claims: &[Claim], subjects: &[Subject], rules: Rules) -> Vec<ClaimVerdict> {
    let find = |name: &str| subjects.iter().find(|subject| subject.name == name);
    let tested: Vec<Vec<Tested>> = claims
        .iter()
        .map(|claim| {
            let parts = claim.parts.iter();
            parts
                .flat_map(|part| tests(claim, part, &find, rules))
                .collect()
        })
        .collect();
    let family: Vec<&Tested> = tested
        .iter()
        .flatten()
        .filter(|one| one.shares_error())
        .collect();
    let decided = step_down(family.len(), |one, share| {
        family[one].outcome(rules.alpha / share) != ClaimOutcome::NotDecided
    });
    let open = decided.iter().filter(|decided| !**decided).count();
    let mut decided = decided.into_iter();
    let outcomes: Vec<Vec<ClaimOutcome>> = tested
        .iter()
        .map(|tests| {
            let outcome = |one: &Tested| {
                if one.shares_error() && !decided.next().unwrap_or(false) {
                    ClaimOutcome::NotDecided
                } else {
                    one.outcome(rules.alpha)
                }
            };
            tests.iter().map(outcome).collect()
        })
        .collect();
    let verdicts = claims.iter().zip(tested).zip(outcomes);
    verdicts
        .map(|((claim, tests), outcomes)| {
            let parts = tests.into_iter().zip(outcomes);
            let parts: Vec<ClaimPart> = parts
                .map(|(one, outcome)| one.finish(outcome, rules.alpha, open))
                .collect();
            let outcome = of_all(&parts);
            ClaimVerdict {
                claim: claim.text.clone(),
                source: claim.source.clone(),
                outcome,
                sentence: sentence::of_claim(outcome, &parts),
                parts,
            }
        })
        .collect()
}

/// Supported where all parts are, contradicted where one is.
fn of_all(parts: &[ClaimPart]) -> ClaimOutcome {
    let outcomes = parts.iter().map(|part| part.outcome);
    outcomes.max().unwrap_or(ClaimOutcome::NotDecided)
}

/// The tests of a part: one for each benchmark, scenario and figure that the claim is about.
fn tests<'a>(
    claim: &Claim,
    part: &Part,
    find: &impl Fn(&str) -> Option<&'a Subject>,
    rules: Rules,
) -> Vec<Tested> {
    let asked = claim.assertion.asked();
    let asked = AskedOfPart {
        claim: asked.map(|(claim, _)| claim),
        margin: asked.map_or(0.0, |(_, margin)| margin),
    };
    let of = part.of.to_string();
    let nothing = |because: String| {
        let baseline = part.baseline.as_deref();
        vec![Tested {
            part: about(asked, &of, &part.candidate, baseline),
            test: Test::Nothing(because),
        }]
    };
    let names = [
        Some(&part.candidate),
        part.baseline.as_ref(),
        part.gap_to.as_ref(),
    ];
    let mut there = names.into_iter().flatten();
    let lacks = |name: &&String| find(name).is_none_or(|one| one.measured.is_empty());
    if let Some(missing) = there.find(lacks) {
        return nothing(format!("{missing} has no result"));
    }
    let Some(candidate) = find(&part.candidate) else {
        return nothing(format!("{} has no result", part.candidate));
    };
    let found = match part.baseline.as_deref().and_then(find) {
        None => alone(claim, candidate, asked, &of),
        Some(baseline) => {
            let third = part.gap_to.as_deref().and_then(find);
            two(claim, [candidate, baseline], third, asked, &of, rules)
        }
    };
    if found.is_empty() {
        return nothing(match (&claim.scenario, &claim.figure) {
            (None, None) => match claim.assertion {
                Assertion::Accurate => "its accuracy was not measured".to_owned(),
                Assertion::Accuracy { .. } => "not both have an accuracy".to_owned(),
                Assertion::Speed { .. } | Assertion::Gap { .. } => {
                    "they have no figure in common".to_owned()
                }
            },
            (scenario, figure) => {
                let words = [scenario.as_deref(), figure.as_deref()];
                let words: Vec<&str> = words.into_iter().flatten().collect();
                format!("there is no {} to compare", words.join(" "))
            }
        });
    }
    found
}

fn alone(claim: &Claim, candidate: &Subject, asked: AskedOfPart, of: &str) -> Vec<Tested> {
    let measured = candidate.measured.iter();
    measured
        .filter(|one| {
            one.measurement.mode == Mode::Accuracy && is_meant(claim, &one.measurement.scenario)
        })
        .map(|one| {
            let mut part = about(asked, of, &candidate.name, None);
            part.benchmark.clone_from(&one.measurement.benchmark);
            part.scenario.clone_from(&one.measurement.scenario);
            part.mode = Mode::Accuracy;
            let figure = one.measurement.figures.iter().find(|figure| {
                let meant = claim
                    .figure
                    .as_ref()
                    .is_none_or(|asked| figure.name == *asked);
                meant && one.limited.contains(&figure.name)
            });
            if let Some(figure) = figure {
                part.figure.clone_from(&figure.name);
                part.unit.clone_from(&figure.unit);
                part.better = figure.better;
                part.candidate.trials = figure.trials.clone().unwrap_or_default();
                part.candidate.value = part.candidate.trials.first().copied();
            }
            Tested {
                part,
                test: limits(one, claim.figure.as_deref()),
            }
        })
        .collect()
}

fn is_meant(claim: &Claim, scenario: &str) -> bool {
    let asked = claim.scenario.as_deref();
    asked.is_none_or(|asked| same_scenario(asked, scenario))
}

/// A subject next to another, cut to common rounds where both are cells.
fn cut(one: &Subject, other: &Subject, rules: Rules) -> (Both, bool) {
    let paired = rules.paired && one.is_cell && other.is_cell;
    (both(other, one, paired), paired)
}

fn two(
    claim: &Claim,
    [candidate, baseline]: [&Subject; 2],
    third: Option<&Subject>,
    asked: AskedOfPart,
    of: &str,
    rules: Rules,
) -> Vec<Tested> {
    let (cut_both, paired) = cut(candidate, baseline, rules);
    let theirs = named(&baseline.name, &cut_both.baseline);
    let ours = named(&candidate.name, &cut_both.candidate);
    let mode = match claim.assertion {
        Assertion::Accuracy { .. } | Assertion::Accurate => Mode::Accuracy,
        Assertion::Speed { .. } | Assertion::Gap { .. } => Mode::Performance,
    };
    let mut all = Vec::new();
    for one in &theirs {
        let like = |other: &&Measured<'_>| {
            one.measured
                .is_like(other.measured, several(&theirs, &ours))
        };
        let meant = one.measured.mode == mode && is_meant(claim, &one.measured.scenario);
        let Some(other) = ours.iter().find(like).filter(|_| meant) else {
            continue;
        };
        let Some(pair) = pair(*one, *other, claim.figure.as_deref(), paired) else {
            continue;
        };
        all.push(of_pair(&pair, asked, of, paired, rules, |pair| {
            third.map(|third| gap(pair, third, [candidate, baseline], rules))
        }));
    }
    all
}

/// Whether benchmarks are told apart by their names.
fn several(one: &[Measured<'_>], other: &[Measured<'_>]) -> bool {
    let of_one = |all: &[Measured<'_>]| {
        let benchmark = |one: &Measured<'_>| one.measured.benchmark.clone();
        let first = all.first().map(benchmark);
        all.iter().all(|one| Some(benchmark(one)) == first)
    };
    !(of_one(one) && of_one(other))
}

/// The figure that is asked for, or the first that both have.
fn pair<'a>(
    baseline: Measured<'a>,
    candidate: Measured<'a>,
    asked: Option<&str>,
    paired: bool,
) -> Option<Pair<'a>> {
    let mut figures = baseline.measured.figures.iter();
    let meant = |name: &str| asked.is_none_or(|asked| asked == name);
    figures.find_map(|figure| {
        let pair = Pair::of(baseline, candidate, figure, paired)?;
        meant(&figure.name).then_some(pair)
    })
}

fn of_pair(
    pair: &Pair<'_>,
    asked: AskedOfPart,
    of: &str,
    paired: bool,
    rules: Rules,
    gap: impl FnOnce(&Pair<'_>) -> Option<Result<(GapTest, super::PartSide), String>>,
) -> Tested {
    let shown = pair.finish(rules.alpha, Change::NotCompared, None);
    let mut part = about(
        asked,
        of,
        &shown.candidate.subject,
        Some(&shown.baseline.subject),
    );
    let cells = [
        shown.candidate.subject.clone(),
        shown.baseline.subject.clone(),
    ];
    part.benchmark = shown.benchmark;
    part.scenario = shown.scenario;
    part.mode = shown.mode;
    part.figure = shown.figure;
    part.unit = shown.unit;
    part.better = shown.better;
    part.candidate = side(shown.candidate);
    part.baseline = Some(side(shown.baseline));
    part.paired = paired;
    let test = match (&pair.difference, gap(pair)) {
        (None, _) => Test::Nothing(obstacle(pair)),
        (Some(difference), None) => Test::Ratio(difference.clone()),
        (Some(_), Some(Err(because))) => Test::Nothing(because),
        (Some(_), Some(Ok((gap, to)))) => {
            part.gaps = gap.shown([&cells[0], &cells[1]], &to, rules.alpha);
            Test::Gap(gap)
        }
    };
    Tested { part, test }
}

/// The third next to both, in the figure of the pair.
fn gap(
    pair: &Pair<'_>,
    third: &Subject,
    [candidate, baseline]: [&Subject; 2],
    rules: Rules,
) -> Result<(GapTest, super::PartSide), String> {
    let figure = &pair.figures[0].name;
    let next_to = |other: &Subject| {
        let (cut, paired) = cut(third, other, rules);
        let theirs = named(&other.name, &cut.baseline);
        let its = named(&third.name, &cut.candidate);
        let like = |one: &&Measured<'_>| {
            one.measured.is_like(pair.baseline.measured, true)
                || (!several(&theirs, &its) && one.measured.is_like(pair.baseline.measured, false))
        };
        let (Some(one), Some(of_third)) = (theirs.iter().find(like), its.iter().find(like)) else {
            return Err(format!(
                "{} has no {}",
                third.name, pair.baseline.measured.scenario
            ));
        };
        let Some(pair) = self::pair(*one, *of_third, Some(figure), paired) else {
            return Err(format!("{} has no {figure}", third.name));
        };
        let shown = pair.finish(rules.alpha, Change::NotCompared, None);
        let found = pair.difference.clone().ok_or_else(|| obstacle(&pair))?;
        Ok((found, side(shown.candidate)))
    };
    let (with_candidate, to) = next_to(candidate)?;
    let (with_baseline, _) = next_to(baseline)?;
    let between = pair.difference.clone().ok_or_else(|| obstacle(pair))?;
    Ok((
        GapTest {
            between,
            with_candidate,
            with_baseline,
        },
        to,
    ))
}

fn obstacle(pair: &Pair<'_>) -> String {
    let broken = [&pair.candidate, &pair.baseline]
        .into_iter()
        .find(|one| !one.measured.valid);
    match broken {
        Some(one) => format!("{} is {}", one.letter, one.measured.outcome),
        None => "a trial of it has no figure".to_owned(),
    }
}
