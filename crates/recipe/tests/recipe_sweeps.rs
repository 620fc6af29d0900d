//! Sweeps: a measurement at several points is a scenario for each.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::error::Error;

use retrial_recipe::model::{Mode, Recipe};
use retrial_recipe::{RecipeFileKind, Source, TemplateSource, check_source, resolve_recipe};
use rstest::rstest;

struct NoTemplates;

impl TemplateSource for NoTemplates {
    fn read_template(&self, _: &str) -> Result<Option<Source>, Box<dyn Error>> {
        Ok(None)
    }

    fn find_base(&self, _: &str) -> Option<(String, Source)> {
        None
    }

    fn template_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn companion_exists(&self, _: &str) -> Option<bool> {
        None
    }
}

const RECIPE: &str = "
schema: 1
title: t
submission: { suite: s, benchmark: b }
image: own/image:1
params: { rounds: { type: int, default: 10 } }
judge: { noise: 1% }
scenarios:
  serving:
    performance:
      sweep: { concurrency: [1, 4, 16] }
      run: bench --concurrency ${{ sweep.concurrency }} --requests ${{ sweep.concurrency * params.rounds }}
      figures: { rate: { pattern: 'rate: ${number}', better: higher }, errors: { pattern: 'errors: ${number}', better: lower } }
      limits: { errors: { max: '${{ sweep.concurrency }}' } }
      expect:
        rate:
          - { at: { 1: 118.2, 16: 900 }, kind: official, source: there }
          - { value: 50, kind: guide }
    accuracy:
      run: eval
      figures: { score: { pattern: 'score: ${number}', better: higher } }
";

fn source(text: &str) -> Source {
    Source::new("r.yaml", text)
}

fn resolve(text: &str) -> Recipe {
    resolve_recipe("r", &source(text), &NoTemplates, &[]).unwrap().recipe
}

#[test]
fn each_point_is_a_scenario() {
    let recipe = resolve(RECIPE);
    let keys: Vec<&str> = recipe.scenarios.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["serving-1", "serving-4", "serving-16", "serving"]);
    let modes = |key: &str| -> Vec<Mode> {
        let (_, scenario) = recipe.scenarios.iter().find(|(other, _)| other == key).unwrap();
        scenario.modes.iter().map(|(mode, _)| *mode).collect()
    };
    assert_eq!(modes("serving-16"), [Mode::Performance]);
    assert_eq!(modes("serving"), [Mode::Accuracy]);
    let values = |position: usize| -> Vec<f64> {
        let (_, measurement) = &recipe.scenarios[position].1.modes[0];
        let expected = measurement.expect.iter().flat_map(|(_, published)| published);
        expected.map(|published| published.value).collect()
    };
    assert_eq!(
        [values(0), values(1), values(2)],
        [vec![118.2, 50.0], vec![50.0], vec![900.0, 50.0]]
    );
    let (_, measurement) = &recipe.scenarios[1].1.modes[0];
    let point = measurement.point.as_ref().unwrap();
    assert_eq!(
        (point.sweep.as_str(), point.axis.as_str(), point.value),
        ("serving", "concurrency", 4.0)
    );
    assert_eq!(measurement.limits[0].1.max, Some(4.0));
}

#[rstest]
#[case("[1, 4, 16]", "[1, 4, 4]", "the point 4 is there twice")]
#[case("[1, 4, 16]", "[1, 4, 4.0]", "the point 4.0 is there twice")]
#[case("16: 900", "1.0: 900", "concurrency 1.0 has two values")]
#[case("[1, 4, 16]", "[1, many]", "a point is a number above 0")]
#[case("[1, 4, 16]", "[0, 1, 16]", "a point is a number above 0")]
#[case("[1, 4, 16]", "16", "a sweep has a list of points")]
#[case(
    "{ concurrency: [1, 4, 16] }",
    "{ concurrency: [1, 16], rate: [2] }",
    "a sweep has one axis"
)]
#[case("16: 900", "32: 900", "concurrency 32 is no point of the sweep")]
#[case("${{ sweep.concurrency }} --", "${{ sweep.rate }} --", "`sweep.rate` is not defined")]
#[case(
    "      sweep: { concurrency: [1, 4, 16] }\n",
    "",
    "`at` is allowed in a measurement with `sweep` only"
)]
#[case(
    "  serving:\n",
    "  serving-4: { performance: { run: x, figures: { y: { csv: y } } } }\n  serving:\n",
    "`serving-4` is a point of the sweep of `serving`, too"
)]
#[case(
    "  serving:\n",
    "  other: { performance: { run: x, point: { sweep: serving, axis: concurrency, value: 4 }, figures: { y: { csv: y } } } }\n  serving:\n",
    "`other` is no point of a sweep"
)]
#[case("run: eval", "run: eval\n      sweep: { concurrency: [1] }", "only performance is swept")]
#[case("[1, 4, 16] }", "[1, 4, 16] }\n      shuffle: by-day", "a seed is an integer")]
#[case("run: eval", "run: eval\n      shuffle: 7", "`shuffle` without a sweep")]
fn a_sweep_that_is_not_plain_is_refused(
    #[case] from: &str,
    #[case] to: &str,
    #[case] message: &str,
) {
    assert!(RECIPE.contains(from), "{from}");
    let recipe = if message.starts_with("only") {
        RECIPE
            .replace("      sweep: { concurrency: [1, 4, 16] }\n", "")
            .replace("at: { 1: 118.2, 16: 900 }", "value: 1")
    } else {
        RECIPE.to_owned()
    };
    let problems =
        check_source(&source(&recipe.replace(from, to)), RecipeFileKind::Recipe, &NoTemplates);
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    // Without a sweep, what names it is undefined, too.
    let has_sweep = !message.starts_with("`at`") && !message.starts_with("only");
    let named = found.iter().filter(|problem| problem.contains(message)).count();
    assert_eq!((named, found.len() == 1), (1, has_sweep), "once for all points: {found:#?}");
}

#[test]
fn a_seed_decides_the_order_of_the_points() {
    let order = |seed: &str| -> String {
        let sweep = "sweep: { concurrency: [1, 4, 16] }";
        let recipe = resolve(&RECIPE.replace(sweep, &format!("{sweep}\n      shuffle: {seed}")));
        let keys = recipe.scenarios.iter().map(|(key, _)| key.trim_start_matches("serving"));
        keys.collect()
    };
    assert_eq!(order("8"), "-4-16-1");
    let of_seeds: std::collections::BTreeSet<String> =
        (0..40).map(|seed| order(&seed.to_string())).collect();
    assert_eq!(of_seeds.len(), 6, "each order of three points: {of_seeds:?}");
}

#[test]
fn a_service_that_names_the_point_is_one_for_each() {
    let recipe = RECIPE
        .replace("scenarios:", "services:\n  server: { run: 'serve --batch ${{ sweep.concurrency }}', scope: point, ready: { port: 80 } }\n  hub: { run: hub, ready: { port: 81 } }\nscenarios:")
        .replace("      run: bench", "      needs: [server, hub]\n      run: bench");
    let recipe = resolve(&recipe);
    let services: Vec<&str> = recipe.services.iter().map(|(name, _)| &**name).collect();
    assert_eq!(services, ["hub", "server-1", "server-4", "server-16"]);
    let (_, scenario) = &recipe.scenarios[1];
    assert_eq!(scenario.modes[0].1.needs, ["server-4", "hub"]);
    assert!(format!("{:?}", recipe.services[2].1).contains("serve --batch ${{ 4 }}"));
}

#[test]
fn a_reference_has_values_at_points() {
    let recipe = RECIPE.replace(
        "      expect:\n",
        "      references: { kind: official, values: { errors: { at: { 4: 68 } } } }\n      expect:\n",
    );
    let references = |recipe: &Recipe| {
        let all = recipe
            .scenarios
            .iter()
            .flat_map(|(_, scenario)| &scenario.modes)
            .map(|(_, one)| one)
            .filter(|one| one.point.is_some());
        all.map(|one| one.references.as_ref().map(|own| own.values.clone())).collect::<Vec<_>>()
    };
    let found = references(&resolve(&recipe));
    assert_eq!(found, [None, Some(vec![("errors".to_owned(), 68.0)]), None]);
    let alone = recipe
        .replace("      sweep: { concurrency: [1, 4, 16] }\n", "")
        .replace("sweep.concurrency", "params.rounds")
        .replace("at: { 1: 118.2, 16: 900 }", "value: 1");
    let problems = check_source(&source(&alone), RecipeFileKind::Recipe, &NoTemplates);
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(
        found.iter().any(|one| one.contains("`at` is allowed in a measurement with `sweep` only")),
        "{found:?}"
    );
}
