//! Published figures next to measured ones: information, which no verdict depends on.

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::published_entries;
use retrial_history::names_value;
use retrial_readings::units;
use retrial_recipe::model::Mode;
use retrial_results::verdict::{ResultVerdict, Verdict};
use retrial_submission::published::PublishedEntry;

/// What was published of a result's benchmark and scenario.
pub struct NearFigures {
    pub benchmark: String,
    pub scenario: String,
    /// The published figures, the nearest first, each with the ratio of the measured one to it.
    pub near: Vec<(f64, PublishedEntry)>,
}

/// Returns what was published of each performance result of these verdicts that nothing was compared with.
///
/// # Errors
/// If a built-in recipe cannot be read.
pub fn find_near(
    global: &GlobalOptions,
    verdicts: &[&Verdict],
) -> Result<Vec<NearFigures>, Failure> {
    let results = verdicts.iter().flat_map(|verdict| &verdict.results);
    let results = results.filter(|result| {
        result.mode == Mode::Performance && !result.violates_rule() && result.judgements.is_empty()
    });
    let results: Vec<&ResultVerdict> = results.collect();
    if results.is_empty() {
        return Ok(Vec::new());
    }
    let entries = published_entries::read_entries(global)?;
    Ok(results.into_iter().filter_map(|result| near_result(result, &entries)).collect())
}

fn near_result(result: &ResultVerdict, entries: &[PublishedEntry]) -> Option<NearFigures> {
    let (_, figure) = result.deciding_figure()?;
    let scenario = result.scenario.to_string();
    let of_result = entries.iter().filter(|entry| {
        entry.scenario == scenario && names_value(&result.benchmark, &entry.benchmark)
    });
    let with_ratio = of_result.filter_map(|entry| {
        let factor = units::conversion_factor(&figure.unit, &entry.unit)?;
        let ratio = figure.value * factor / entry.value;
        (ratio.is_finite() && ratio > 0.0).then(|| (ratio, entry.clone()))
    });
    let mut near: Vec<(f64, PublishedEntry)> = with_ratio.collect();
    near.sort_by(|(left, _), (right, _)| left.ln().abs().total_cmp(&right.ln().abs()));
    Some(NearFigures { benchmark: result.benchmark.clone(), scenario, near })
}
