use rstest::rstest;

use crate::build::RecipeOrigin;
use crate::options::{KeepContainer, PlanOptions, PullPolicy};
use crate::step::Plan;
use retrial_host::model::{Gpu, HostView};
use retrial_recipe::model::{Mode, Trials};

const RECIPE: &str = r#"schema: 1
title: t
submission: { suite: own, benchmark: b, sources: [x] }
image: debian
container: { privileged: true }
params: { batch: { type: int, default: 4 } }
setup:
  lock-clocks: { run: "lock 2100" }
  unpack: { run: "unpack" }
services: { server: { run: serve, ready: { port: 80 } } }
scenarios:
  s:
    performance:
      needs: [server]
      warmup: 1
      run: "bench --batch ${{ params.batch }} --mode $MODE"
      check: "check"
      figures: { speed: { pattern: "([0-9]+)" } }
    accuracy: { run: "true", figures: { right: { pattern: "([0-9]+)" } } }
  other:
    performance: { run: "true", figures: { speed: { pattern: "([0-9]+)" } } }
"#;

fn plan_with(settings: &[&str], options: &PlanOptions) -> Plan {
    build_plan_of(RECIPE, settings, options, &HostView::default())
}

fn build_plan_of(text: &str, settings: &[&str], options: &PlanOptions, host: &HostView) -> Plan {
    let source = retrial_recipe::Source::new("r.yaml", text);
    let settings: Vec<_> = settings.iter().map(|text| text.parse().unwrap()).collect();
    let templates = &retrial_recipe::NoTemplates;
    let resolved = retrial_recipe::resolve_recipe("r", &source, templates, &settings);
    let recipe = resolved.unwrap().recipe;
    crate::build_plan(&recipe, &RecipeOrigin::default(), options, host).unwrap()
}

/// The plan of a smoke test with these options.
fn trial_plan(options: &PlanOptions) -> Plan {
    let text = format!("{RECIPE}smoke_test: {{}}\n");
    let source = retrial_recipe::Source::new("r.yaml", text);
    let templates = &retrial_recipe::NoTemplates;
    let loaded = retrial_recipe::LoadedRecipe::from_source("r", &source, templates).unwrap();
    let resolved = loaded.for_smoke_test(true).resolve(templates, &[]).unwrap();
    let (origin, host) = (RecipeOrigin::default(), HostView::default());
    crate::build_plan(&resolved.recipe, &origin, options, &host).unwrap()
}

fn changes_with(options: &PlanOptions) -> Vec<String> {
    plan_with(&[], options).changes
}

fn skip_options(steps: &[&str]) -> PlanOptions {
    PlanOptions {
        skip: steps.iter().map(|step| (*step).to_owned()).collect(),
        ..PlanOptions::default()
    }
}

fn from_option(step: &str) -> PlanOptions {
    PlanOptions { from: Some(step.to_owned()), ..PlanOptions::default() }
}

#[test]
fn the_plan_of_the_recipe_alone_has_no_changes() {
    assert_eq!(changes_with(&PlanOptions::default()), Vec::<String>::new());
}

#[rstest]
#[case::setup("setup-lock-clocks")]
#[case::check("s-performance-check-2")]
#[case::service("s-performance-start-server-2")]
#[case::measurement("s-performance-2")]
#[case::other_trial("other-performance")]
fn a_skipped_step_is_a_change_whatever_its_kind(#[case] step: &str) {
    assert_eq!(changes_with(&skip_options(&[step])), [format!("--skip {step}")]);
}

#[rstest]
#[case("pull")]
#[case("judge")]
#[case("remove")]
fn a_skipped_step_that_measures_nothing_is_no_change(#[case] step: &str) {
    assert_eq!(changes_with(&skip_options(&[step])), Vec::<String>::new());
}

#[test]
fn a_step_skipped_by_its_number_is_named() {
    let plan = plan_with(&[], &PlanOptions::default());
    let mut steps = plan.steps.iter();
    let number = steps.find(|step| step.name == "setup-unpack").unwrap().number;
    let by_number = changes_with(&skip_options(&[&number.to_string()]));
    assert_eq!(by_number, ["--skip setup-unpack"]);
}

#[test]
fn from_names_the_steps_that_did_not_run() {
    let setup = changes_with(&from_option("setup-unpack"));
    assert_eq!(setup, ["--from setup-unpack (without setup-lock-clocks)"]);
    let later = changes_with(&from_option("other-performance"));
    let [later] = &later[..] else { panic!("{later:?}") };
    let named = "--from other-performance (without setup-lock-clocks, setup-unpack, ";
    assert!(later.starts_with(named) && later.ends_with(" more)"), "{later}");
    assert_eq!(changes_with(&from_option("create")), Vec::<String>::new());
}

#[test]
fn each_option_that_changes_something_is_listed_once() {
    let options = PlanOptions {
        least_privilege: true,
        from: Some("setup-unpack".to_owned()),
        warmup: Some(0),
        secrets: vec!["MODE".to_owned()],
        ..skip_options(&["setup-lock-clocks"])
    };
    let expected = [
        "--skip setup-lock-clocks",
        "--from setup-unpack (without setup-lock-clocks)",
        "--least-privilege removed container.privileged; scripts could not set clocks or kernel settings",
        "--warmup 0",
        "--secret MODE",
    ];
    let plan = plan_with(&["batch=8"], &options);
    assert_eq!(plan.changes, expected);
    assert_eq!(plan.changed_settings().as_deref(), Some("--set batch=8"));
}

#[test]
fn options_that_leave_each_measurement_as_it_is_are_no_changes() {
    let options = PlanOptions {
        scenarios: vec!["s".into()],
        modes: vec![Mode::Performance],
        trials: Some(Trials { min: 3, max: 8 }),
        // As the recipe has it.
        warmup: Some(1),
        keep: KeepContainer::Always,
        pull: PullPolicy::Never,
        // No command names them.
        secrets: vec!["HF_TOKEN".to_owned(), "UNUSED".to_owned()],
        ..PlanOptions::default()
    };
    assert_eq!(changes_with(&options), Vec::<String>::new());
}

#[test]
fn settings_equal_to_the_defaults_are_no_changes() {
    let plan = plan_with(&["batch=4"], &PlanOptions::default());
    assert_eq!(plan.changes, Vec::<String>::new());
    assert_eq!(plan.changed_settings(), None);
}

#[rstest]
#[case("0", &[])]
#[case("1", &[])]
#[case("0,1", &["--gpus 0,1: 2 GPUs, and the recipe requires 1"])]
fn more_gpus_than_required_are_a_change(#[case] gpus: &str, #[case] expected: &[&str]) {
    let gpu = |index: usize| Gpu::with_model("MI355X", &format!("0000:{index:02x}:00.0"));
    let host = HostView { gpus: (0..2).map(gpu).collect(), ..HostView::default() };
    let options = PlanOptions {
        gpus: gpus.split(',').map(str::to_owned).collect(),
        ..PlanOptions::default()
    };
    let requires = "requires: { gpus: { vendor: amd, count: 1 } }\ncontainer: { devices: [/dev/kfd, /dev/dri], privileged: true }";
    let text = RECIPE.replace("container: { privileged: true }", requires);
    assert_eq!(build_plan_of(&text, &[], &options, &host).changes, expected);
}

#[test]
fn what_a_plan_lacks_is_named_without_its_list() {
    for options in [
        skip_options(&["setup-lock-clocks", "setup-unpack"]),
        from_option("setup-unpack"),
        PlanOptions { least_privilege: true, ..skip_options(&["setup-unpack"]) },
    ] {
        let plan = plan_with(&[], &options);
        let unlisted = Plan { changes: Vec::new(), ..plan.clone() };
        assert!(!plan.changes.is_empty());
        assert_eq!(plan.changing_options(), plan.changes);
        assert_eq!(unlisted.changing_options(), plan.changes);
    }
}

#[test]
fn a_script_keeps_the_options_next_to_its_results() {
    let lines = |options: &PlanOptions| {
        let script = crate::shell::render_script(&plan_with(&[], options), &[]);
        let lines = script.lines().filter(|line| line.contains(super::OPTIONS_FILE));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&PlanOptions::default()), [""; 0]);
    let expected =
        "mkdir -p results; printf '%s\\n' '--skip setup-unpack' >results/changed-options.txt";
    assert_eq!(lines(&skip_options(&["setup-unpack"])), [expected]);
}

#[test]
fn a_smoke_test_measures_performance_once_and_says_so() {
    let options = PlanOptions { smoke_test: true, ..PlanOptions::default() };
    let plan = trial_plan(&options);
    let measured: Vec<_> = plan
        .measurements
        .iter()
        .map(|one| (one.step_name_stem(), one.trials.max, one.warmup))
        .collect();
    let expected = ["s-performance", "other-performance"].map(|stem| (stem.to_owned(), 1, 0));
    assert_eq!(measured, expected);
    assert_eq!(plan.changing_options(), ["--smoke-test"]);
    let script = crate::shell::render_script(&plan, &[]);
    assert!(script.contains("'%s\\n' --smoke-test >results/changed-options.txt"));
    // What the command line states is done.
    let options = PlanOptions { modes: vec![Mode::Accuracy], ..options };
    let plan = trial_plan(&options);
    assert_eq!(plan.measurements.len(), 1);
    assert_eq!(plan.measurements[0].mode, Mode::Accuracy);
}

#[test]
fn a_recipe_without_a_smoke_test_has_none() {
    let source = retrial_recipe::Source::new("r.yaml", RECIPE);
    let templates = &retrial_recipe::NoTemplates;
    let recipe = retrial_recipe::resolve_recipe("r", &source, templates, &[]).unwrap();
    let options = PlanOptions { smoke_test: true, ..PlanOptions::default() };
    let (origin, host) = (RecipeOrigin::default(), HostView::default());
    let error = crate::build_plan(&recipe.recipe, &origin, &options, &host).unwrap_err();
    assert!(matches!(error, crate::build::PlanError::NoSmokeTest));
}

#[test]
fn a_plan_names_the_measurements_that_were_not_selected() {
    assert!(plan_with(&[], &PlanOptions::default()).excluded.is_empty());
    let options = PlanOptions {
        scenarios: vec!["s".into()],
        modes: vec![Mode::Performance],
        ..PlanOptions::default()
    };
    assert_eq!(plan_with(&[], &options).excluded, ["s accuracy", "other performance"]);
}
