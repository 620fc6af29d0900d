//! One sentence on each compared figure.

use itertools::{Itertools as _, join};

use super::measurement::MeasuredFigure;
use super::model::ComparedFigure;
use super::pair::{FigurePair, SideMeasurement};
use super::{ComparisonOptions, FailIf};
use crate::verdict::number;
use retrial_readings::units::is_time;
use retrial_recipe::model::Better;
use retrial_stats::Decision;

/// Describes a ratio that is above 1 if better, with the values of candidate and baseline:
/// `1.020 × A (101,000 against 99,000 tokens/s)`; of times, `1.020 × as fast as A (9.8 against 10 ms)`.
pub fn describe_ratio(
    ratio: f64,
    better: Better,
    unit: &str,
    [ours, theirs]: [f64; 2],
    baseline: Option<&str>,
) -> String {
    let meaning = match better {
        Better::Higher => "",
        Better::Lower if is_time(unit) => " as fast",
        Better::Lower => " as good",
    };
    let baseline = match (baseline, meaning) {
        (None, _) => String::new(),
        (Some(baseline), "") => format!(" {baseline}"),
        (Some(baseline), _) => format!(" as {baseline}"),
    };
    let (factor, _) = number::display_scale(unit, theirs);
    format!(
        "{} ×{meaning}{baseline} ({} against {})",
        number::format_ratio(ratio),
        number::format_grouped(ours * factor),
        number::format_figure(theirs, unit),
    )
}

/// `B is 1.020 × A (101,000 against 99,000 tokens/s): faster; 95 % interval 1.012–1.028 (…).`
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
        "{}: {} is {}",
        figure.figure,
        figure.candidate.subject,
        describe_ratio(
            ratio,
            figure.better,
            &figure.unit,
            [theirs, ours],
            Some(&figure.baseline.subject)
        ),
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
    let singles = pair.figures.iter().map(AsRef::as_ref).filter(is_single);
    let assumed = singles.filter_map(|figure| figure.noise.zip(figure.noise_basis.as_ref()));
    let assumed = assumed
        .filter(|(noise, _)| *noise > 0.0)
        .map(|(noise, from)| format!("{} from {from}", number::format_percent(noise)));
    let assumed = assumed.unique().join(" and ");
    let pooled = pair.difference.as_ref().and_then(|difference| difference.pooled_deviation);
    if let Some(deviation) = pooled {
        let deviation = number::format_fine_percent(deviation);
        words.push(format!("a single trial has the scatter of the others, {deviation}"));
    } else if !assumed.is_empty() {
        words.push(format!("assumed noise {assumed}"));
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
