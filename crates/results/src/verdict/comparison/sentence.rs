//! One sentence on each compared figure.

use itertools::join;

use super::measurement::MeasuredFigure;
use super::model::ComparedFigure;
use super::pair::{FigurePair, SideMeasurement};
use super::{ComparisonOptions, FailIf};
use crate::verdict::number;
use retrial_stats::Decision;

/// `B's 101,000 tokens/s is 1.020 of A's 99,000 tokens/s: faster; 95 % interval 1.012–1.028 (…).`
pub fn describe_comparison(
    pair: &FigurePair<'_>,
    figure: &ComparedFigure,
    options: &ComparisonOptions,
) -> String {
    let (Some(ratio), Some(ours), Some(theirs)) =
        (figure.ratio, figure.baseline.value, figure.candidate.value)
    else {
        return format!("{}: not compared: {}.", figure.figure, describe_obstacle(pair, options));
    };
    let head = format!(
        "{}: {}'s {} is {} of {}'s {}",
        figure.figure,
        figure.candidate.subject,
        number::format_figure(theirs, &figure.unit),
        number::format_ratio(ratio),
        figure.baseline.subject,
        number::format_figure_like(ours, &figure.unit, theirs),
    );
    let word = figure.change;
    let basis = describe_basis(pair, figure, options);
    let at = number::format_percent(options.confidence);
    let alone = pair.change_at((1.0 - options.confidence) / 2.0);
    let finding = match figure.interval {
        None if pair.figures.iter().all(|figure| figure.noise.is_some()) => {
            format!("{word}: {basis}, of which two are further apart than the assumed noise allows")
        }
        None => format!("{word}: {basis}, and their noise is unknown"),
        Some(interval) if interval.upper <= interval.lower => {
            format!("{word} (compared as printed)")
        }
        Some(interval) => {
            let corrected = if alone == figure.change {
                String::new()
            } else {
                format!(" ({alone} before Holm's correction for all these figures)")
            };
            format!(
                "{word}{corrected}; two-sided {at} interval {}–{} ({basis})",
                number::format_ratio(interval.lower),
                number::format_ratio(interval.upper)
            )
        }
    };
    let limit = options.fail_if.and_then(|limit| Some(describe_limit(limit, figure.limit?)));
    format!("{head}: {finding}{}.", limit.unwrap_or_default())
}

fn describe_limit(limit: FailIf, side: Decision) -> String {
    match side {
        Decision::Holds => format!("; {limit} is ruled out"),
        Decision::Worse => format!("; it is {limit}"),
        Decision::Open => format!("; {limit} is undecided"),
    }
}

/// `3 and 5 trials`, `one trial each, assumed noise 0.3 % from …`
fn describe_basis(
    pair: &FigurePair<'_>,
    figure: &ComparedFigure,
    options: &ComparisonOptions,
) -> String {
    let mut words = vec![describe_trials(figure, options)];
    let is_single =
        |figure: &&MeasuredFigure| figure.trials.as_ref().is_some_and(|all| all.len() == 1);
    let single = pair.figures.iter().map(AsRef::as_ref).find(is_single);
    let pooled = pair.difference.as_ref().and_then(|difference| difference.pooled_deviation);
    if let Some(deviation) = pooled {
        let deviation = number::format_fine_percent(deviation);
        words.push(format!("a single trial has the scatter of the others, {deviation}"));
    } else if let Some((noise, from)) =
        single.and_then(|figure| figure.noise.zip(figure.noise_basis.as_ref()))
        && noise > 0.0
    {
        let noise = number::format_percent(noise);
        words.push(format!("assumed noise {noise} from {from}"));
    }
    if pair.difference.as_ref().is_some_and(|it| it.dependent) {
        words.push("which depend on their order and count as one".to_owned());
    }
    words.join(", ")
}

fn describe_trials(figure: &ComparedFigure, options: &ComparisonOptions) -> String {
    let (ours, theirs) = (figure.baseline.trials.len(), figure.candidate.trials.len());
    let mean = figure.aggregate.name();
    match (ours, theirs) {
        (1, 1) => "one trial each".to_owned(),
        _ if options.paired => format!("{mean} of {ours} pairs of trials"),
        (ours, theirs) if ours == theirs => format!("{mean}s of {ours} trials each"),
        _ => format!("{mean}s of {ours} and {theirs} trials"),
    }
}

fn describe_obstacle(pair: &FigurePair<'_>, options: &ComparisonOptions) -> String {
    let broken = |side: &SideMeasurement<'_>| {
        (!side.measured.valid).then(|| format!("{} is {}", side.letter, side.measured.outcome))
    };
    let sides = [&pair.baseline, &pair.candidate];
    let broken = join(sides.into_iter().filter_map(broken), ", ");
    let [ours, theirs] = pair.trial_counts();
    if !broken.is_empty() {
        broken
    } else if !pair.has_common_unit() {
        let [first, second] = &pair.figures;
        let letters = [pair.baseline.letter, pair.candidate.letter];
        format!("{} gives it in {} and {} in {}", letters[0], first.unit, letters[1], second.unit)
    } else if options.paired && ours != theirs && ours.min(theirs) > 0 {
        format!("{ours} and {theirs} trials cannot be paired")
    } else {
        "a trial of it has no figure".to_owned()
    }
}
