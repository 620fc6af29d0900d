use super::*;
use crate::PlanOptions;
use crate::build::RecipeOrigin;
use retrial_host::model::HostView;
use retrial_recipe::model::{Mode, Trials};

/// Three trials of one measurement, which needs a server, and one of another.
fn build_test_plan(options: PlanOptions, expected: &str) -> Plan {
    let text = format!(
        "schema: 1\ntitle: t\n{expected}submission: {{ suite: own, benchmark: b, sources: [x] }}\nimage: debian\nservices: {{ server: {{ run: serve, ready: {{ port: 80 }} }} }}\nscenarios:\n  s:\n    performance: {{ needs: [server], run: \"true\", figures: {{ speed: {{ pattern: \"([0-9]+)\" }} }} }}\n    accuracy: {{ run: \"true\", figures: {{ right: {{ pattern: \"([0-9]+)\" }} }} }}\n"
    );
    let source = retrial_recipe::Source::new("r.yaml", text);
    let resolved = retrial_recipe::resolve_recipe("r", &source, &retrial_recipe::NoTemplates, &[]);
    let options = PlanOptions { trials: Some(Trials { min: 3, max: 3 }), ..options };
    let recipe = resolved.unwrap().recipe;
    crate::build_plan(&recipe, &RecipeOrigin::default(), &options, &HostView::default()).unwrap()
}

fn step_number(plan: &Plan, name: &str) -> u32 {
    let step = plan.steps.iter().find(|step| step.name == name);
    step.unwrap_or_else(|| panic!("{name}: {:#?}", plan.steps)).number
}

fn step_times(plan: &Plan, steps: &[(&str, f64)]) -> StepTimes {
    let mut times = StepTimes::default();
    for (name, seconds) in steps {
        times.add(plan, step_number(plan, name), *seconds);
    }
    times
}

fn estimate_pair(
    remaining: &RemainingSteps,
    running: Option<(u32, f64)>,
) -> Option<(f64, EstimateBasis)> {
    let estimate = remaining.estimate(running)?;
    Some((estimate.seconds, estimate.basis))
}

#[test]
fn an_earlier_run_estimates_each_step() {
    let plan = build_test_plan(PlanOptions::default(), "");
    let earlier = step_times(
        &plan,
        &[
            ("pull", 1000.0),
            ("create", 2.0),
            ("s-performance-start-server-1", 10.0),
            ("s-performance-1", 100.0),
            ("s-performance-2", 120.0),
            ("s-accuracy", 30.0),
        ],
    );
    let first = step_number(&plan, "s-performance-1");
    let before = plan.steps.iter().map(|step| step.number);
    let before: Vec<u32> = before.filter(|step| *step < first).collect();
    let mut remaining = RemainingSteps::new(plan, StepTimes::default(), earlier);
    // Without the pull; three starts of the server, three trials of 110 s.
    assert_eq!(estimate_pair(&remaining, None), Some((392.0, EstimateBasis::EarlierRun)));
    for step in before {
        remaining.finish_step(step, None);
    }
    assert_eq!(
        estimate_pair(&remaining, Some((first, 50.0))),
        Some((330.0, EstimateBasis::EarlierRun))
    );
    // Longer than before: the following steps remain.
    assert_eq!(
        estimate_pair(&remaining, Some((first, 500.0))),
        Some((270.0, EstimateBasis::EarlierRun))
    );
    // This run's own trial takes precedence.
    remaining.finish_step(first, Some(50.0));
    assert_eq!(estimate_pair(&remaining, None), Some((150.0, EstimateBasis::EarlierRun)));
}

#[test]
fn a_recipe_estimates_the_sum_of_its_measurements() {
    let whole = build_test_plan(PlanOptions::default(), "expected_duration: 10m\n");
    let first = step_number(&whole, "s-performance-1");
    let mut remaining = RemainingSteps::new(whole, StepTimes::default(), StepTimes::default());
    assert_eq!(estimate_pair(&remaining, None), Some((1200.0, EstimateBasis::Recipe)));
    remaining.finish_step(first, Some(20.0));
    assert_eq!(estimate_pair(&remaining, None), Some((340.0, EstimateBasis::Recipe)));
}

#[test]
fn without_data_there_is_no_estimate() {
    let unknown = build_test_plan(PlanOptions::default(), "");
    let first = step_number(&unknown, "s-performance-1");
    let mut remaining = RemainingSteps::new(unknown, StepTimes::default(), StepTimes::default());
    remaining.finish_step(first, Some(20.0));
    assert_eq!(estimate_pair(&remaining, None), None);
    // The distribution of the total over some of them is unknown.
    let options = PlanOptions { modes: vec![Mode::Performance], ..PlanOptions::default() };
    let part = build_test_plan(options, "expected_duration: 10m\n");
    let mut remaining = RemainingSteps::new(part, StepTimes::default(), StepTimes::default());
    assert_eq!(estimate_pair(&remaining, None), None);
    remaining.finish_step(first, Some(20.0));
    assert_eq!(estimate_pair(&remaining, None), Some((40.0, EstimateBasis::ThisRun)));
    let steps = remaining.steps.clone();
    for step in steps {
        remaining.finish_step(step, None);
    }
    assert_eq!(estimate_pair(&remaining, None), None);
}
