//! A search: its trials in their order, and what differs between the two neighbours.

use super::figures::NOTHING;
use super::{DetailLevel, environment, marks};
use crate::document::{Block, ListItem, Section, Table};
use retrial_batch::search::{SearchOutcome, SearchTrial, SearchVerdict};
use retrial_document::measures::format;
use retrial_readings::number::ColumnUnit;

pub(super) fn outcome_word(outcome: SearchOutcome) -> &'static str {
    match outcome {
        SearchOutcome::Found => "change found",
        SearchOutcome::NoDifference => "no difference",
        SearchOutcome::NotDecided => "not decided",
    }
}

pub(super) fn search_blocks(search: &SearchVerdict, detail: DetailLevel) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let (Some(before), Some(after)) = (&search.before, &search.after) {
        let title = format!("Differences between {} {before} and {after}", search.axis);
        let differences = environment::difference_blocks(&[before, after], &search.changes, detail);
        blocks.extend(Section::nonempty_block(title, differences));
    }
    let skipped = search.skipped.iter().map(|(value, reason)| {
        let text = format!("{} {value} was excluded: {reason}", search.axis);
        ListItem::new(text).with_mark(marks::BAD)
    });
    let trials = (detail == DetailLevel::Full).then(|| {
        let count = format::format_count(search.trials.len(), "trial");
        Block::folded(format!("{count}, in their order"), trials_table(search))
    });
    let content = Block::list(skipped).into_iter().chain(trials);
    blocks.extend(Section::nonempty_block("Search", content));
    blocks
}

/// Every trial, in the order of the search.
fn trials_table(search: &SearchVerdict) -> Option<Block> {
    let figures = search.trials.iter().filter_map(|trial| trial.figure);
    let unit = ColumnUnit::of(figures.map(|figure| (figure, search.unit.as_str())));
    let result = |trial: &SearchTrial| match (trial.figure, trial.answer) {
        (Some(figure), _) => unit.format(figure, &search.unit),
        (None, Some(true)) => {
            let property = search.criterion.lost_property();
            property.unwrap_or(NOTHING).to_owned()
        }
        (None, Some(false)) => search.criterion.to_string(),
        (None, None) => NOTHING.to_owned(),
    };
    Table::builder("Trials, in their order", (1..).zip(&search.trials))
        .number("trial", |(number, _): &(i32, &SearchTrial)| number.to_string())
        .head(&search.axis, |(_, trial)| &trial.value)
        .number("result", |(_, trial)| result(trial))
        .text("run", |(_, trial)| &trial.run)
        .into_block()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn accurate_and_inaccurate_trials_are_distinguished() {
        let search: SearchVerdict = serde_json::from_value(json!({
            "axis": "release", "values": ["1.0", "1.1"], "criterion": { "kind": "accuracy" },
            "scenario": "", "points": 0, "figure": "", "unit": "", "outcome": "found", "before": "1.0",
            "after": "1.1", "probability": 0.99, "ratio": null, "interval": null,
            "trials": [
                { "value": "1.0", "run": "one", "figure": null, "answer": true },
                { "value": "1.1", "run": "two", "figure": null, "answer": false },
            ],
            "sweep": 2, "skipped": [], "changes": [], "sentence": "", "exit_code": 0,
        }))
        .unwrap();
        let table = format!("{:?}", trials_table(&search));
        assert_eq!(table.matches("not accurate").count(), 1, "{table}");
        assert_eq!(table.matches("accurate").count(), 2, "{table}");
    }
}
