//! What a run shows of a search: the planned figure, or nothing.

use super::*;
use retrial_recipe::model::{Limit, Mode, SweepPoint};
use retrial_results::verdict::StepOutcome;
use retrial_results::verdict::tests::build::{accuracy, context, loadgen, offline, own, source};

fn searched(criterion: Criterion, figure: Option<&str>) -> SearchPlan {
    SearchPlan {
        axis: "release".to_owned(),
        figure: figure.map(str::to_owned),
        criterion,
        most: 64,
    }
}

const SLOWER: Criterion = Criterion::Slower { margin: 0.0 };

#[test]
fn a_failed_scenario_is_not_replaced_by_the_next() {
    let server = loadgen("Server", "tokens_per_second", "tokens/s", &[50.0]);
    let mut failed = offline(&[100.0]);
    failed.trials[0].figures.clear();
    failed.trials[0].outcome =
        StepOutcome::Failed { reason: "exit code 9".to_owned(), code: Some(9) };
    for name in [None, Some("tokens_per_second")] {
        let search = searched(SLOWER, name);
        let whole = observe_run(&search, &context(), &[offline(&[100.0]), server.clone()]);
        assert_eq!(whole.figure().unwrap().scenario, "Offline");
        let broken = observe_run(&search, &context(), &[failed.clone(), server.clone()]);
        assert!(matches!(broken, RunObservation::NotMeasured(_)), "{broken:?}");
    }
}

#[test]
fn a_missing_figure_is_not_replaced_by_another() {
    let evidence = own("case", "zero", "items/s", &[5.0])
        .with_source("speed", source())
        .with_source("zero", source());
    let whole = evidence.clone().with_figure("speed", 7.0, "items/s");
    let search = searched(SLOWER, None);
    let figure = observe_run(&search, &context(), &[whole]);
    assert_eq!(figure.figure().unwrap().figure, "speed");
    let missing = observe_run(&search, &context(), &[evidence]);
    assert_eq!(missing, RunObservation::NotMeasured("its case has no `speed`".to_owned()));
}

#[test]
fn of_a_sweep_all_points_count() {
    let at = |value: f64, rate: &[f64]| {
        let name = format!("serving-{value}");
        let mut evidence = own(&name, "rate", "tokens/s", rate).with_source("rate", source());
        let (sweep, axis) = ("serving".to_owned(), "concurrency".to_owned());
        evidence.plan.point = Some(SweepPoint { sweep, axis, value });
        evidence
    };
    let search = searched(SLOWER, None);
    let observed = observe_run(&search, &context(), &[at(1.0, &[100.0]), at(4.0, &[400.0])]);
    let figure = observed.figure().unwrap();
    assert_eq!((figure.scenario.as_str(), figure.points), ("serving", 2));
    assert!((figure.value - 200.0).abs() < 1e-9, "{figure:?}");
    let one = observe_run(&search, &context(), &[at(4.0, &[400.0])]);
    assert_eq!(one.figure().unwrap().scenario, "serving-4");
    let lacking = observe_run(&search, &context(), &[at(1.0, &[100.0]), at(4.0, &[])]);
    assert!(matches!(lacking, RunObservation::NotMeasured(_)), "{lacking:?}");
}

#[test]
fn an_accuracy_that_is_missing_or_has_no_limit_answers_nothing() {
    let limit = Limit { min: Some(44.0), max: None, below: None };
    let search = searched(Criterion::Accuracy, None);
    let answer = |evidence: Evidence| observe_run(&search, &context(), &[evidence]);
    let limited = |value: f64| accuracy("Offline", "ROUGE1", value).limited("ROUGE1", limit);
    assert_eq!(answer(limited(45.0)), RunObservation::Answer(true));
    assert_eq!(answer(limited(43.0)), RunObservation::Answer(false));
    let missing = accuracy("Offline", "GEN_LEN", 300.0).limited("ROUGE1", limit);
    for unknown in [missing, accuracy("Offline", "ROUGE1", 45.0), offline(&[1.0])] {
        let observed = answer(unknown);
        assert!(matches!(observed, RunObservation::NotMeasured(_)), "{observed:?}");
    }
    assert_eq!(limited(45.0).plan.mode, Mode::Accuracy);
}
