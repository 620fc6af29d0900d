//! The charts of a subject's results.

use super::Subject;
use super::frame::{Heading, part};
use crate::report::charts::{self, Chart};
use crate::report::markup::Markup;

pub(super) fn section(main: &mut Markup, one: &Subject<'_>, heading: Heading, number: usize) {
    let verdict = one.entry.verdict;
    let charts: Vec<Chart> = verdict
        .results
        .iter()
        .flat_map(|result| charts::of_result(verdict, result))
        .collect();
    if !charts.is_empty() {
        part(main, heading, "Charts", |main| {
            drawn(main, &charts, &format!("c{number}"));
        });
    }
}

/// Charts side by side; `prefix` keeps their names apart.
pub(super) fn drawn(main: &mut Markup, charts: &[Chart], prefix: &str) {
    main.element("div", &[("class", "charts")], |grid| {
        for (number, chart) in charts.iter().enumerate() {
            grid.element("figure", &[], |figure| {
                figure.leaf("figcaption", &[], &chart.title);
                charts::inline(figure, chart, &format!("{prefix}-{number}"));
            });
            grid.literal("\n");
        }
    });
}
