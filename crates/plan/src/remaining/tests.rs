use super::*;
use crate::PlanOptions;
use crate::build::RecipeOrigin;
use retrial_host::model::HostView;
use retrial_recipe::model::{Mode, Trials};

/// Three trials of one measurement, which needs a server, and one of another.
fn plan(options: PlanOptions, expected: &str) -> Plan {
    let text = format!(
        "schema: 1\ntitle: t\n{expected}submission: {{ suite: own, benchmark: b, sources: [x] }}\nimage: debian\nservices: {{ server: {{ run: serve, ready: {{ port: 80 }} }} }}\nscenarios:\n  s:\n    performance: {{ needs: [server], run: \"true\", figures: {{ speed: {{ pattern: \"([0-9]+)\" }} }} }}\n    accuracy: {{ run: \"true\", figures: {{ right: {{ pattern: \"([0-9]+)\" }} }} }}\n"
    );
    let source = retrial_recipe::Source::new("r.yaml", text);
    let resolved = retrial_recipe::resolve("r", &source, &retrial_recipe::NoTemplates, &[]);
    let options = PlanOptions {
        trials: Some(Trials { min: 3, max: 3 }),
        ..options
    };
    let recipe = resolved.unwrap().recipe;
    crate::build(
        &recipe,
        &RecipeOrigin::default(),
        &options,
        &HostView::default(),
    )
    .unwrap()
}

fn number(plan: &Plan, name: &str) -> u32 {
    let step = plan.steps.iter().find(|step| step.name == name);
    step.unwrap_or_else(|| panic!("{name}: {:#?}", plan.steps))
        .number
}

fn times(plan: &Plan, steps: &[(&str, f64)]) -> StepTimes {
    let mut times = StepTimes::default();
    for (name, seconds) in steps {
        times.add(plan, number(plan, name), *seconds);
    }
    times
}

fn estimated(
    remaining: &RemainingSteps,
    running: Option<(u32, f64)>,
) -> Option<(f64, EstimateBasis)> {
    let estimate = remaining.estimate(running)?;
    Some((estimate.seconds, estimate.basis))
}

#[test]
fn an_earlier_run_estimates_each_step() {
    let plan = plan(PlanOptions::default(), "");
    let earlier = times(
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
    let first = number(&plan, "s-performance-1");
    let before = plan.steps.iter().map(|step| step.number);
    let before: Vec<u32> = before.filter(|step| *step < first).collect();
    let mut remaining = RemainingSteps::new(plan, StepTimes::default(), earlier);
    // Without the pull; three starts of the server, three trials of 110 s.
    assert_eq!(
        estimated(&remaining, None),
        Some((392.0, EstimateBasis::EarlierRun))
    );
    for step in before {
        remaining.ended(step, None);
    }
    assert_eq!(
        estimated(&remaining, Some((first, 50.0))),
        Some((330.0, EstimateBasis::EarlierRun))
    );
    // Longer than before: the following steps remain.
    assert_eq!(
        estimated(&remaining, Some((first, 500.0))),
        Some((270.0, EstimateBasis::EarlierRun))
    );
    // This run's own trial takes precedence.
    remaining.ended(first, Some(50.0));
    assert_eq!(
        estimated(&remaining, None),
        Some((150.0, EstimateBasis::EarlierRun))
    );
}

#[test]
fn a_recipe_estimates_the_sum_of_its_measurements() {
    let whole = plan(PlanOptions::default(), "expected_duration: 10m\n");
    let first = number(&whole, "s-performance-1");
    let mut remaining = RemainingSteps::new(whole, StepTimes::default(), StepTimes::default());
    assert_eq!(
        estimated(&remaining, None),
        Some((1200.0, EstimateBasis::Recipe))
    );
    remaining.ended(first, Some(20.0));
    assert_eq!(
        estimated(&remaining, None),
        Some((340.0, EstimateBasis::Recipe))
    );
}

#[test]
fn without_data_there_is_no_estimate() {
    let unknown = plan(PlanOptions::default(), "");
    let first = number(&unknown, "s-performance-1");
    let mut remaining = RemainingSteps::new(unknown, StepTimes::default(), StepTimes::default());
    remaining.ended(first, Some(20.0));
    assert_eq!(estimated(&remaining, None), None);
    // The distribution of the total over some of them is unknown.
    let options = PlanOptions {
        modes: vec![Mode::Performance],
        ..PlanOptions::default()
    };
    let part = plan(options, "expected_duration: 10m\n");
    let mut remaining = RemainingSteps::new(part, StepTimes::default(), StepTimes::default());
    assert_eq!(estimated(&remaining, None), None);
    remaining.ended(first, Some(20.0));
    assert_eq!(
        estimated(&remaining, None),
        Some((40.0, EstimateBasis::ThisRun))
    );
    let steps = remaining.steps.clone();
    for step in steps {
        remaining.ended(step, None);
    }
    assert_eq!(estimated(&remaining, None), None);
}
