//! The history of verdicts over releases: the latest verdict with each, and the ratios of the valid ones.

use itertools::join;

use super::{
    Chart, ChartKind, LineChart, LineSeries, SeriesStyle, VerdictChart, median, value_range,
};
use retrial_readings::nearest::truncate_to_chars;
use retrial_results::verdict::{Outcome, number};

/// Lines in more colours cannot be distinguished.
const MAX_LINES: usize = 6;
const MAX_DESCRIPTION_LETTERS: usize = 500;

/// The results of one category of a chart, oldest first.
#[derive(Debug, Clone, Default)]
pub struct CategoryResults {
    /// The outcomes, oldest first.
    pub verdicts: Vec<Outcome>,
    /// The ratios of valid results to the published figure.
    pub ratios: Vec<f64>,
}

/// Verdicts as a chart, and ratios as another if a category has one. `over` is the word for the categories and the
/// name of their axis. Each row has a label and its results in each of the categories.
pub fn history_charts(
    over: (&str, &str),
    categories: &[String],
    rows: &[(String, Vec<CategoryResults>)],
    unverified: bool,
) -> Vec<Chart> {
    let mut charts = vec![verdicts_chart(over, categories, rows)];
    charts.extend(ratios_chart(over, categories, rows, unverified));
    charts
}

fn verdicts_chart(
    over: (&str, &str),
    categories: &[String],
    rows: &[(String, Vec<CategoryResults>)],
) -> Chart {
    let labelled_latest = rows.iter().map(|(label, results)| {
        let latest = results.iter().map(|category| category.verdicts.last().copied());
        (label.clone(), latest.collect::<Vec<_>>())
    });
    let rows: Vec<_> = labelled_latest.collect();
    let row_texts = rows.iter().map(|(label, latest)| {
        let both = categories.iter().zip(latest);
        let words =
            both.filter_map(|(category, verdict)| Some(format!("{category} {}", (*verdict)?)));
        format!("{label}: {}", join(words, ", "))
    });
    let described = join_truncated(row_texts);
    let title = format!("Latest verdict by {}", over.0);
    let kind = ChartKind::Verdicts(VerdictChart {
        axis_name: over.1.to_owned(),
        categories: categories.to_vec(),
        rows,
    });
    Chart::new("", &title, &described, kind)
}

fn ratios_chart(
    over: (&str, &str),
    categories: &[String],
    rows: &[(String, Vec<CategoryResults>)],
    unverified: bool,
) -> Option<Chart> {
    let with_ratio = rows
        .iter()
        .filter(|(_, results)| results.iter().any(|category| !category.ratios.is_empty()));
    let median_lines = with_ratio.take(MAX_LINES).map(|(label, results)| {
        let medians = results.iter().zip(0_u32..);
        let points = medians.map(|(category, at)| (f64::from(at), median(&category.ratios)));
        let ratios = results.iter().map(|category| category.ratios.iter().copied());
        LineSeries {
            name: label.clone(),
            points: points.collect(),
            band: ratios.map(value_range).collect(),
            style: SeriesStyle::MarkedLine,
            ..LineSeries::default()
        }
    });
    let series: Vec<LineSeries> = median_lines.collect();
    if series.is_empty() {
        return None;
    }
    let line_texts = series.iter().map(|line| {
        let points = line.points.iter().zip(categories);
        let words = points.filter_map(|((_, median), category)| {
            Some(format!("{category} {}", number::format_ratio((*median)?)))
        });
        format!("{}: {}", line.name, join(words, ", "))
    });
    let described = join_truncated(line_texts);
    let word = if unverified { ", unverified" } else { "" };
    let title = format!("Ratio to the published figure by {}, median{word}", over.0);
    let lines = LineChart {
        axis_name: over.1.to_owned(),
        categories: categories.to_vec(),
        unit: "of the published".to_owned(),
        series,
        whiskers: "lowest and highest run",
        ..LineChart::default()
    };
    Some(Chart::new("", &title, &described, ChartKind::Lines(lines)))
}

/// Joins the rows' texts, truncated for listeners: the tables of a page have all of it.
fn join_truncated(rows: impl Iterator<Item = String>) -> String {
    truncate_to_chars(&join(rows, "; "), MAX_DESCRIPTION_LETTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_without_runs_is_a_gap() {
        let category = |verdicts: &[Outcome], ratios: &[f64]| CategoryResults {
            verdicts: verdicts.to_vec(),
            ratios: ratios.to_vec(),
        };
        let results = vec![
            category(&[Outcome::Reproduced, Outcome::Invalid], &[1.0, 0.9, 1.2]),
            CategoryResults::default(),
        ];
        let categories = ["7.0".to_owned(), "7.1".to_owned()];
        let rows = [("8 x MI355X".to_owned(), results)];
        let charts = history_charts(("ROCm", "ROCm"), &categories, &rows, false);
        let [ChartKind::Verdicts(verdicts), ChartKind::Lines(lines)] =
            [&charts[0], &charts[1]].map(|chart| &chart.kind)
        else {
            panic!("{charts:?}");
        };
        assert_eq!(verdicts.rows[0].1, [Some(Outcome::Invalid), None]);
        assert_eq!(lines.series[0].points, [(0.0, Some(1.0)), (1.0, None)]);
        assert_eq!(lines.series[0].band[0], (0.9, 1.2));
        assert_eq!(charts[0].description, "8 x MI355X: 7.0 invalid");
    }

    #[test]
    fn verdicts_without_ratios_have_one_chart() {
        let results =
            vec![CategoryResults { verdicts: vec![Outcome::Measured], ratios: Vec::new() }];
        let rows = [("8 x MI355X".to_owned(), results)];
        assert_eq!(history_charts(("ROCm", "ROCm"), &["7.2".to_owned()], &rows, false).len(), 1);
    }
}
