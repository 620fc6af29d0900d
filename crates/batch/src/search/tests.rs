use retrial_recipe::model::Better;
use retrial_stats::search::SearchStep;

use super::*;
use crate::tests::build::{cell, plan_of};
use crate::{BatchPlan, Cell, RunOrder};

fn plan(values: &[&str], criterion: Criterion) -> BatchPlan {
    let with_value = |value: &&str| {
        let axis = ("release".to_owned(), (*value).to_owned());
        Cell { axes: [axis].into_iter().collect(), ..cell(&format!("release={value}"), 1) }
    };
    let cells: Vec<Cell> = values.iter().map(with_value).collect();
    BatchPlan {
        search: Some(SearchPlan { axis: "release".to_owned(), figure: None, criterion, most: 64 }),
        ..plan_of(cells, RunOrder::Grouped)
    }
}

/// Takes the trials that the search asks for, until it ends.
fn search(plan: &BatchPlan, observe: impl Fn(usize, usize) -> RunObservation) -> SearchVerdict {
    let mut trials: Vec<ObservedTrial> = Vec::new();
    loop {
        let course = SearchState::new(plan, plan.search.as_ref().unwrap(), &trials);
        let Ok(SearchStep::Measure(cell)) = course.next_step() else {
            return judge_search(plan, &course);
        };
        trials.push(ObservedTrial {
            cell,
            run: format!("run-{}", trials.len() + 1),
            observed: observe(cell, trials.len()),
        });
    }
}

fn figure(value: f64) -> RunObservation {
    RunObservation::Figure(ObservedFigure {
        scenario: "sorting".into(),
        points: 1,
        figure: "speed".to_owned(),
        unit: "items/s".to_owned(),
        better: Better::Higher,
        value,
        rounding_error: 0.0005,
    })
}

/// A figure with a little noise, 10 % less from the fourth value on.
fn speed(cell: usize, trial: usize) -> RunObservation {
    let noise = [0.1, -0.2, 0.15, 0.0, -0.1][trial % 5];
    figure(if cell < 3 { 100.0 } else { 90.0 } + noise)
}

const RELEASES: [&str; 6] = ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"];
const SLOWER: Criterion = Criterion::Slower { margin: 0.05 };

#[test]
fn a_search_reports_pair_ratio_and_sweep_cost() {
    let verdict = search(&plan(&RELEASES, SLOWER), speed);
    let pair = (verdict.before.as_deref(), verdict.after.as_deref());
    assert_eq!((verdict.outcome, pair), (SearchOutcome::Found, (Some("1.2"), Some("1.3"))));
    assert!((verdict.ratio.unwrap() - 0.9).abs() < 0.01);
    insta::assert_snapshot!(verdict.sentence, @"The change is between release 1.2 and 1.3: sorting speed: 100.025 items/s and 89.9499 items/s, a ratio of 0.899 (95 % interval 0.896–0.903; above 1 is better). 8 trials; a sweep with the same error rate takes 6 trials.");
    assert_eq!(verdict.exit_code.code(), 0);
}

#[test]
fn a_value_without_a_result_is_skipped() {
    let verdict = search(&plan(&RELEASES, SLOWER), |cell, trial| match cell {
        2 => RunObservation::NotMeasured("it failed".to_owned()),
        _ => speed(cell, trial),
    });
    assert_eq!((verdict.before.as_deref(), verdict.after.as_deref()), (Some("1.1"), Some("1.3")));
    assert_eq!(verdict.skipped, [("1.2".to_owned(), "it failed".to_owned())]);
}

/// A number of another figure, scenario or unit is none of the search.
#[test]
fn a_value_with_another_figure_is_skipped() {
    let verdict = search(&plan(&RELEASES, SLOWER), |cell, trial| match cell {
        2 => RunObservation::Figure(ObservedFigure {
            unit: "ms".to_owned(),
            ..speed(cell, trial).figure().unwrap().clone()
        }),
        _ => speed(cell, trial),
    });
    assert_eq!(verdict.skipped.len(), 1);
    let reason =
        "it has speed (ms) in sorting, and the search began with speed (items/s) in sorting";
    assert_eq!(verdict.skipped[0], ("1.2".to_owned(), reason.to_owned()));
    assert_eq!(verdict.after.as_deref(), Some("1.3"));
}

#[test]
fn an_end_without_a_result_ends_the_search() {
    let verdict = search(&plan(&RELEASES, SLOWER), |cell, trial| match cell {
        5 => RunObservation::NotMeasured("it failed".to_owned()),
        _ => speed(cell, trial),
    });
    assert_eq!(verdict.exit_code.code(), 5);
    insta::assert_snapshot!(verdict.sentence, @"release 1.5 is an end of the search range and has no result: it failed.");
}

#[test]
fn ends_without_a_difference_are_reported() {
    let verdict = search(&plan(&RELEASES, SLOWER), |_, trial| speed(0, trial));
    assert_eq!(verdict.exit_code.code(), 1);
    insta::assert_snapshot!(verdict.sentence, @"release 1.5 is not slower by more than 5 %, compared with 1.0, at 95 % confidence: sorting speed (4 trials).");
    let faster = plan(&RELEASES, Criterion::Faster { margin: 0.0 });
    assert_eq!(search(&faster, speed).outcome, SearchOutcome::NoDifference);
}

#[test]
fn validity_is_searched_by_yes_or_no() {
    let verdict =
        search(&plan(&RELEASES, Criterion::Validity), |cell, _| RunObservation::Answer(cell < 5));
    assert_eq!(verdict.after.as_deref(), Some("1.5"));
    insta::assert_snapshot!(verdict.sentence, @"The change is between release 1.4 and 1.5: 1.4 is valid, 1.5 is not. 8 trials; a sweep with the same error rate takes 18 trials.");
}

#[test]
fn trial_runs_are_numbered_by_round() {
    let plan = plan(&RELEASES, SLOWER);
    let cell_and_trial =
        |number| plan.trial_run(number).map(|trial_run| (trial_run.cell, trial_run.trial));
    assert_eq!(cell_and_trial(1), Some((0, 1)));
    assert_eq!(cell_and_trial(6), Some((5, 1)));
    assert_eq!(cell_and_trial(15), Some((2, 3)));
    assert_eq!(cell_and_trial(0), None);
}

#[test]
fn criteria_are_parsed_with_their_margin() {
    let read = |text: &str| text.parse::<Criterion>().ok();
    assert_eq!(read("slower"), Some(Criterion::Slower { margin: 0.0 }));
    assert_eq!(read("slower:5%"), Some(SLOWER));
    assert_eq!(read("faster: 0.5 %"), Some(Criterion::Faster { margin: 0.005 }));
    assert_eq!(read("validity"), Some(Criterion::Validity));
    for bad in ["", "slower:5", "slower:-1%", "slower:100%", "accuracy:1%", "equal"] {
        assert_eq!(read(bad), None, "{bad}");
    }
}
