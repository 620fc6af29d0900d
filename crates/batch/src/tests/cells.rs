//! Batches over a recipe with two axes: cells, reasons, diagnostics.

use crate::*;
use retrial_recipe::{Diagnostics, LoadedRecipe, NoTemplates, Source};

const RECIPE: &str = r#"
schema: 1
title: t
submission: { suite: own, benchmark: b }
params:
  size: { type: int, default: 3 }
  kind: { type: enum, values: [one, other], default: one }
variants:
  rocm:
    "6.4.1": { image: "lab/x:6.4.1" }
    "7.0.0": { image: "lab/x:7.0.0" }
    "7.1.1": { image: "lab/x:7.1.1" }
  backend: { rocm: {}, migraphx: {} }
default: { rocm: "7.1.1", backend: migraphx }
unsupported:
  - { rocm: "7.1.1", backend: rocm, reason: this release left the provider out }
image: lab/x
scenarios:
  offline:
    performance: { run: "echo ${{ params.size }} ${{ params.kind }}", results: /out }
    accuracy: { run: "true", results: /out }
"#;

pub(crate) fn domain(name: &str, text: &str) -> AxisDomain {
    let source = Source::new("recipe.yaml", text);
    let loaded = LoadedRecipe::from_source(name, &source, &NoTemplates).unwrap();
    AxisDomain::new(name, format!("./{name}.yaml"), &loaded)
}

pub(crate) fn planned(text: &str) -> Result<BatchPlan, Diagnostics> {
    let (batch, problems) = read_batch(&Source::new("batch.yaml", text));
    let batch = problems.into_result(batch, "batch.yaml")?;
    let recipes: Vec<AxisDomain> = batch
        .recipes
        .iter()
        .map(|recipe| {
            let mut domain = domain(&recipe.name, RECIPE);
            domain.path.clone_from(&recipe.recipe.value);
            domain
        })
        .collect();
    plan_batch(&batch, &recipes)
}

fn names(plan: &BatchPlan) -> Vec<&str> {
    plan.cells.iter().map(|cell| cell.name.as_str()).collect()
}

fn rendered(text: &str) -> String {
    match planned(text) {
        Ok(plan) => format!("{plan:#?}"),
        Err(problems) => problems.render(false),
    }
}

#[test]
fn unsupported_combinations_are_excluded_from_the_product() {
    let plan = planned(
        "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary:\n  rocm: [6.4.1, 7.1.1]\n  backend: [rocm, migraphx]\n",
    )
    .unwrap();
    assert_eq!(
        names(&plan),
        ["rocm=6.4.1,backend=rocm", "rocm=6.4.1,backend=migraphx", "rocm=7.1.1,backend=migraphx"]
    );
    let excluded = &plan.excluded[0];
    assert_eq!(excluded.name, "rocm=7.1.1,backend=rocm");
    assert_eq!(excluded.reason.to_string(), "this release left the provider out");
    assert_eq!(plan.cells[0].path, "./r.yaml");
    assert_eq!(plan.cells[0].baseline, None);
    assert_eq!(plan.cells[2].baseline.as_deref(), Some("rocm=6.4.1,backend=rocm"));
}

#[test]
fn exclude_and_include() {
    let plan = planned(
        "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary:\n  rocm: [6.4.1, 7.0.0]\n  backend: [rocm, migraphx]\n\
         exclude: [{ rocm: 7.0.0, backend: rocm, reason: known slow }]\n\
         include: [{ rocm: 7.1.1 }, { rocm: 6.4.1, backend: rocm, size: 5 }]\n",
    )
    .unwrap();
    assert_eq!(
        names(&plan),
        [
            "rocm=6.4.1,backend=rocm",
            "rocm=6.4.1,backend=migraphx",
            "rocm=7.0.0,backend=migraphx",
            "rocm=7.1.1,backend=migraphx",
            "rocm=6.4.1,backend=rocm,size=5"
        ]
    );
    assert_eq!(plan.excluded[0].reason.to_string(), "excluded: known slow");
    assert_eq!(plan.axes[2], ("size".to_owned(), vec!["5".to_owned()]));
}

/// A key of the whole batch within a cell.
#[test]
fn misplaced_keys_are_explained() {
    let text = "schema: 1\ntitle: t\nrecipe: ./r.yaml\ninclude:\n  \
         - { rocm: 7.0.0, claims: [7.1.1 is faster than 7.0.0] }\n  - { rocm: 7.1.1, trials: 3 }\n";
    let (_, problems) = read_batch(&Source::new("batch.yaml", text));
    let of_list = problems.render(false);
    assert!(of_list.contains("`claims` is a key: write it at the top of the file"), "{of_list}");
    let of_value = rendered(&text.replace("claims: [7.1.1 is faster than 7.0.0]", "size: 2"));
    assert!(
        of_value.contains("`trials` is for all cells: write it at the top of the file"),
        "{of_value}"
    );
}

#[test]
fn each_cell_has_its_own_baseline() {
    let plan = planned(
        "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary:\n  rocm: [6.4.1, 7.0.0]\n  backend: [rocm, migraphx]\n\
         baseline: { rocm: 6.4.1 }\n",
    )
    .unwrap();
    let baselines: Vec<Option<&str>> =
        plan.cells.iter().map(|cell| cell.baseline.as_deref()).collect();
    assert_eq!(
        baselines,
        [None, None, Some("rocm=6.4.1,backend=rocm"), Some("rocm=6.4.1,backend=migraphx")]
    );
}

#[test]
fn several_recipes_are_the_first_axis() {
    let plan = planned(
        "schema: 1\ntitle: t\nrecipes: { bert: ./b.yaml, resnet: ./r.yaml }\nvary: { rocm: [6.4.1, 7.0.0] }\nbaseline: \"rocm=6.4.1\"\ntrials: 2\n",
    )
    .unwrap();
    assert_eq!(
        names(&plan),
        ["bert,rocm=6.4.1", "bert,rocm=7.0.0", "resnet,rocm=6.4.1", "resnet,rocm=7.0.0"]
    );
    assert_eq!(plan.axes[0].0, "recipe");
    assert_eq!(plan.cells[3].baseline.as_deref(), Some("resnet,rocm=6.4.1"));
    assert_eq!(plan.schedule.trial_runs.len(), 8);
    assert_eq!(plan.cells[3].path, "./r.yaml");
}

#[test]
fn options_and_file_give_the_same_plan() {
    let overrides = CliOverrides {
        vary: vec!["rocm=6.4.1,7.1.1".to_owned(), "backend=rocm,migraphx".to_owned()],
        baseline: vec!["rocm=6.4.1,backend=rocm".to_owned()],
        claims: vec!["7.1.1 + migraphx is faster than 6.4.1 + migraphx".to_owned()],
        ..CliOverrides::default()
    };
    let batch = overrides.to_batch("./r.yaml").unwrap();
    assert_eq!(batch.title, "r over rocm and backend");
    let plan = crate::plan_batch(&batch, &[domain("r", RECIPE)]).unwrap();
    // And as YAML it is the same again.
    let again = planned(&yaml(&batch)).unwrap();
    assert_eq!(plan, again);
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<BatchPlan>(&json).unwrap(), plan);
}

#[test]
fn images_are_an_axis_of_every_recipe() {
    let batch = "schema: 1\ntitle: t\nrecipe: ./r.yaml\nset: { rocm: 7.0.0 }\n\
                 vary: { image: { old: \"lab/x:1\", new: \"lab/y:2\" } }\n\
                 baseline: { image: old }\nclaims: [new is faster than old]\n";
    let plan = planned(batch).unwrap();
    assert_eq!(names(&plan), ["image=old", "image=new"]);
    assert_eq!(plan.cells[1].baseline.as_deref(), Some("image=old"));
    let settings = plan.cells[1].recipe_settings();
    let settings: Vec<_> =
        settings.iter().map(|one| format!("{}={}", one.name, one.value)).collect();
    assert_eq!(settings, ["rocm=7.0.0", "image=lab/y:2"]);
    assert_eq!(plan.claims.len(), 1);
    // As YAML it is the same again.
    let (read, _) = read_batch(&Source::new("batch.yaml", batch));
    assert_eq!(planned(&yaml(&read.unwrap())).unwrap(), plan);
    let listed =
        batch.replace("{ old: \"lab/x:1\", new: \"lab/y:2\" }", "[\"lab/x:1\", \"lab/y:2\"]");
    let listed = planned(
        &listed
            .replace("image: old", "image: \"lab/x:1\"")
            .replace("new is faster than old", "y:2 is faster than x:1"),
    );
    assert_eq!(names(&listed.unwrap()), ["image=lab/x:1", "image=lab/y:2"]);
    for (key, problem) in [("image.server", "image.server"), ("build_arg.BASE", "build_arg.BASE")] {
        let other = planned(&batch.replace("image:", &format!("{key}:"))).unwrap_err().to_string();
        assert!(other.contains(problem), "{other}");
    }
}

#[test]
fn an_axis_without_values_has_all_that_the_recipe_supports() {
    let overrides = CliOverrides { vary: vec!["rocm".to_owned()], ..CliOverrides::default() };
    let mut batch = overrides.to_batch("./r.yaml").unwrap();
    let domains = [domain("r", RECIPE)];
    assert!(fill_axes(&mut batch, &domains).is_empty());
    let plan = crate::plan_batch(&batch, &domains).unwrap();
    assert_eq!(names(&plan), ["rocm=6.4.1", "rocm=7.0.0", "rocm=7.1.1"]);
    for (axis, message) in
        [("image", "lists no values of `image`"), ("rokm", "no variant or param")]
    {
        let overrides = CliOverrides { vary: vec![axis.to_owned()], ..CliOverrides::default() };
        let mut batch = overrides.to_batch("./r.yaml").unwrap();
        let problems = fill_axes(&mut batch, &domains).to_string();
        assert!(problems.contains(message), "{problems}");
    }
}

#[test]
fn the_title_of_a_search_is_made_of_its_parts() {
    let mut batch = CliOverrides::default().to_batch("./r.yaml").unwrap();
    batch.recipes[0].name = "speed over time".to_owned();
    let title = crate::search_title(&batch.recipes, "rocm");
    assert_eq!(title, "speed over time along rocm");
}

#[test]
fn every_problem_is_reported_at_once() {
    insta::assert_snapshot!(rendered(
        "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary:\n  rokm: [6.4.1]\n  backend: [rocm, migrapx, rocm]\n  size: [many]\n\
         set: { kind: neither }\nscenarios: [offlin]\ntrails: 3\norder: interleave\n"
    ), @r#"
error: duplicate `rocm` under `backend`
 --> batch.yaml:6:28
  |
6 |   backend: [rocm, migrapx, rocm]
  |                            ^^^^
  |
  = help: remove one of them; `trials` repeats all cells

error: unknown key `trails` in a batch
  --> batch.yaml:10:1
   |
10 | trails: 3
   | ^^^^^^
   |
   = help: did you mean `trials`?

error: invalid value `interleave` for `order`
  --> batch.yaml:11:8
   |
11 | order: interleave
   |        ^^^^^^^^^^
   |
   = help: did you mean `interleaved`?

3 errors
"#);
}

#[test]
fn every_name_and_value_unknown_to_the_recipe() {
    insta::assert_snapshot!(rendered(
        "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary:\n  rokm: [6.4.1]\n  backend: [rocm, migrapx]\n  size: [many]\n\
         set: { kind: neither }\nscenarios: [offlin]\nbaseline: rocm=6.4\nexclude: [{ gpu: x }]\n"
    ), @r#"
error: r has no variant or param `rokm`
 --> batch.yaml:5:3
  |
5 |   rokm: [6.4.1]
  |   ^^^^
  |
  = help: did you mean `rocm`?

error: invalid value `migrapx` for `backend`
 --> batch.yaml:6:19
  |
6 |   backend: [rocm, migrapx]
  |                   ^^^^^^^
  |
  = help: did you mean `migraphx`?

error: invalid value `many` for `size`
 --> batch.yaml:7:10
  |
7 |   size: [many]
  |          ^^^^
  |
  = help: expected a whole number

error: invalid value `neither` for `kind`
 --> batch.yaml:8:14
  |
8 | set: { kind: neither }
  |              ^^^^^^^
  |
  = help: expected one of one, other

error: no recipe has the scenario `offlin`
 --> batch.yaml:9:13
  |
9 | scenarios: [offlin]
  |             ^^^^^^
  |
  = help: did you mean `offline`?

error: invalid value `6.4` for `rocm`
  --> batch.yaml:10:11
   |
10 | baseline: rocm=6.4
   |           ^^^^^^^^
   |
   = help: values are: 6.4.1, 7.0.0, 7.1.1

error: r has no variant or param `gpu`
  --> batch.yaml:11:13
   |
11 | exclude: [{ gpu: x }]
   |             ^^^
   |
   = help: axes and params that can be varied: rocm, backend, size, kind, image; for another one, write `params: { gpu: { type: string } }` in the recipe, and `${{ params.gpu }}` where it is used

7 errors
"#);
}

#[test]
fn a_batch_without_cells_is_refused() {
    insta::assert_snapshot!(rendered(
        "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary: { rocm: [7.1.1], backend: [rocm] }\n"
    ), @r#"
error: no cell is left
 --> batch.yaml:4:9
  |
4 | vary: { rocm: [7.1.1], backend: [rocm] }
  |         ^^^^
  |
  = help: rocm=7.1.1,backend=rocm: this release left the provider out

1 error
"#);
    insta::assert_snapshot!(rendered(
        "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary: { rocm: [7.0.0] }\nbaseline: { rocm: 6.4.1 }\n"
    ), @r#"
error: no cell has rocm=6.4.1, the baseline
 --> batch.yaml:5:11
  |
5 | baseline: { rocm: 6.4.1 }
  |           ^^^^^^^^^^^^^^^
  |
  = help: the cells are rocm=7.0.0

1 error
"#);
    insta::assert_snapshot!(rendered(
        "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary: { rocm: [7.0.0] }\nexclude: [{ rocm: 6.4.1 }]\n"
    ), @r#"
error: no cell has rocm=6.4.1
 --> batch.yaml:5:11
  |
5 | exclude: [{ rocm: 6.4.1 }]
  |           ^^^^^^^^^^^^^^^
  |
  = help: remove it from `exclude`

1 error
"#);
}

#[test]
fn batches_are_distinguished_from_recipes() {
    let is = |text: &str| is_batch(&Source::new("x.yaml", text));
    assert!(is("schema: 1\ntitle: t\nrecipe: x\n"));
    assert!(is("vary: { a: [b] }\n"));
    assert!(!is(RECIPE));
    assert!(!is("- recipe: x\n"));
}

const TWO_HOSTS: &str = "schema: 1\ntitle: t\nrecipe: ./r.yaml\nvary:\n  rocm: [6.4.1, 7.1.1]\n  kind: [one, other]\nothers: { far: { runs: [20260101-x], cells: { kind: other } } }\n";

#[test]
fn cells_of_other_hosts_are_compared_and_not_run() {
    let plan = planned(&format!(
        "{TWO_HOSTS}claims: [7.1.1 is faster than 6.4.1, other is faster than one]\n"
    ))
    .unwrap();
    assert_eq!(names(&plan), ["rocm=6.4.1,kind=one", "rocm=7.1.1,kind=one"]);
    let far = &plan.external_cells[1];
    assert_eq!(far.name, "rocm=7.1.1,kind=other");
    assert_eq!((far.external.as_deref(), far.trials), (Some("far"), 0));
    assert_eq!(plan.schedule.trial_runs.len(), 2);
    let pairs = plan.claims.iter().flat_map(|claim| &claim.parts);
    let candidates: Vec<&str> = pairs.map(|part| &*part.candidate).collect();
    assert_eq!(
        candidates,
        [
            "rocm=7.1.1,kind=one",
            "rocm=7.1.1,kind=other",
            "rocm=6.4.1,kind=other",
            "rocm=7.1.1,kind=other",
        ]
    );
    // What is stored reads to the same cells.
    let (batch, _) = read_batch(&Source::new("batch.yaml", TWO_HOSTS));
    let again = planned(&yaml(&batch.unwrap())).unwrap();
    assert_eq!(again.external_cells, plan.external_cells);
}

#[test]
fn cells_of_other_hosts_exist_once() {
    let twice =
        TWO_HOSTS.replace("others: {", "others: { near: { runs: [y], cells: { rocm: 7.1.1 } },");
    assert!(rendered(&twice).contains("rocm=7.1.1,kind=other is a cell of `near` already"));
    let none = TWO_HOSTS.replace("[one, other]", "[one]");
    assert!(rendered(&none).contains("no cell has kind=other"));
    let unknown = TWO_HOSTS.replace("kind: other", "kind: thrid");
    assert!(rendered(&unknown).contains("invalid value `thrid` for `kind`"));
    let named = format!("{TWO_HOSTS}claims: [far is faster than one]\n");
    assert!(rendered(&named).contains("`far` is neither a value of an axis"));
}
