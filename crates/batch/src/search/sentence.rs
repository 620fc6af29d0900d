//! One sentence on a search.

use std::fmt::Write as _;

use super::SearchVerdict;
use retrial_document::measures::format;
use retrial_results::verdict::number;
use retrial_stats::search::SearchStep;
use retrial_stats::{Aggregate, aggregate_trials};

/// Describes the change that was found, or why none was.
pub(super) fn describe_search(
    verdict: &SearchVerdict,
    next: &Result<SearchStep, usize>,
    confidence: f64,
) -> String {
    let axis = &verdict.axis;
    let criterion = &verdict.criterion;
    let trials = format::format_count(verdict.trials.len(), "trial");
    let ends = (verdict.values.first(), verdict.values.last());
    let (Some(first), Some(last)) = ends else {
        return String::new();
    };
    let confidence = number::format_percent(confidence);
    let figure = match verdict.figure_name() {
        name if name.is_empty() => name,
        name => format!(": {name}"),
    };
    let before = verdict.before.as_deref().unwrap_or_default();
    let after = verdict.after.as_deref().unwrap_or_default();
    match next {
        Ok(SearchStep::Found(found)) => {
            let detail = match criterion.lost_property() {
                Some(property) => format!("{before} is {property}, {after} is not"),
                None => describe_figures(verdict, before, after, &confidence),
            };
            let sweep = format::format_count(found.sweep, "trial");
            format!(
                "The change is between {axis} {before} and {after}: {detail}. {trials}; a sweep with the same error rate takes {sweep}."
            )
        }
        Ok(SearchStep::NoDifference) => match criterion.lost_property() {
            Some(property) => format!(
                "{axis} {first} is not {property}, or {last} is ({trials}): there is no change to search for."
            ),
            None => format!(
                "{axis} {last} is not {criterion}, compared with {first}, at {confidence} confidence{figure} ({trials})."
            ),
        },
        Ok(SearchStep::EndsUndecided) => format!(
            "{trials} do not show that {axis} {last} is {criterion}, compared with {first}{figure}; more trials: --max-trials."
        ),
        Ok(SearchStep::Undecided { .. }) => format!(
            "The change is between {axis} {before} and {after}; {trials} cannot narrow it down; allow more with --max-trials."
        ),
        Err(end) => {
            let value = verdict.values.get(*end).cloned().unwrap_or_default();
            let mut reasons = verdict.skipped.iter();
            let skipped = reasons.find(|(known, _)| *known == value);
            let reason = skipped.map_or("", |(_, reason)| reason.as_str());
            format!("{axis} {value} is an end of the search range and has no result: {reason}.")
        }
        Ok(SearchStep::Measure(_)) => format!("The search has not ended; {trials} so far."),
    }
}

/// `size speed: 120.4 items/s and 110.2 items/s, a ratio of 0.915 (95 % interval 0.905–0.925; above 1 is better)`
fn describe_figures(
    verdict: &SearchVerdict,
    before: &str,
    after: &str,
    confidence: &str,
) -> String {
    let mean = |value: &str| {
        let trials = verdict.trials.iter().filter(|trial| trial.value == value);
        let figures: Vec<f64> = trials.filter_map(|trial| trial.figure).collect();
        let mean = aggregate_trials(&figures, Aggregate::Mean).unwrap_or_default();
        number::format_figure(mean, &verdict.unit)
    };
    let mut text = format!("{}: ", verdict.figure_name());
    let _ = write!(text, "{} and {}", mean(before), mean(after));
    if let (Some(ratio), Some(interval)) = (verdict.ratio, verdict.interval) {
        let [ratio, lower, upper] =
            [ratio, interval.lower, interval.upper].map(number::format_ratio);
        let _ = write!(
            text,
            ", a ratio of {ratio} ({confidence} interval {lower}–{upper}; above 1 is better)"
        );
    }
    text
}
