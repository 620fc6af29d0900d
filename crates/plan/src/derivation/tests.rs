use serde_json::Value;

use super::*;
use crate::options::{KeepContainer, PullPolicy};
use retrial_host::model::Gpu;
use retrial_recipe::model::{Mode, Trials};
use retrial_recipe::{LoadedRecipe, NoTemplates, ResolvedRecipe, Source, resolve_recipe};

const RECIPE: &str = r#"schema: 1
title: t
submission: { suite: own, benchmark: b, round: v5.1, system: 4xMI355X, sources: [x] }
image: debian:12
requires: { gpus: { vendor: amd, count: 1 }, disk: 1 GiB }
container:
  privileged: true
  env: { A: "1", B: "${{ params.batch }}" }
  mounts: ["/data:/data:ro"]
params: { batch: { type: int, default: 4 } }
variants: { backend: { vllm: {}, other: { title: other } } }
default: { backend: vllm }
smoke_test: { params: { batch: { default: 1 } }, scenarios: { s: { accuracy: null } } }
models: { m: { source: { hub: amd/tiny, revision: main }, mount: /m } }
host_notes: [reboot first]
setup:
  lock-clocks: { run: "lock 2100", timeout: 5m }
  unpack: { run: "unpack" }
services: { server: { run: serve, ready: { port: 80 } } }
scenarios:
  s:
    performance:
      needs: [server]
      warmup: 1
      run: "bench --batch ${{ params.batch }}"
      check: "check"
      timeout: 2h
      figures: { speed: { pattern: 'speed: ${number}', unit: items/s } }
      expect: { speed: { value: 100, kind: official, source: made up } }
      limits: { speed: { min: 1 } }
    accuracy: { run: "true", figures: { right: { pattern: "([0-9]+)" } } }
"#;

/// Keys of a plan that do not follow from recipe, options and host, and those that say how it was derived.
const SETTINGS: [&str; 15] = [
    "options",
    "batch",
    "warnings",
    "node_differences",
    "no_wait",
    "require_accuracy",
    "cache",
    "verify_cache",
    "telemetry",
    "lock",
    "unmet",
    "changes",
    "notes",
    "directory",
    "built_in",
];

fn two_gpu_host() -> HostView {
    HostView {
        gpus: vec![Gpu::with_model("MI355X", "a"), Gpu::with_model("MI355X", "b")],
        ..HostView::default()
    }
}

fn resolve_with_settings(settings: &[&str], smoke_test: bool) -> ResolvedRecipe {
    let settings: Vec<_> = settings.iter().map(|text| text.parse().unwrap()).collect();
    let source = Source::new("r.yaml", RECIPE);
    let loaded = LoadedRecipe::from_source("r", &source, &NoTemplates).unwrap();
    let resolved = loaded.for_smoke_test(smoke_test).resolve(&NoTemplates, &settings);
    resolved.map_err(|problems| problems.render(false)).unwrap()
}

/// A plan as it is made, and the recipe as its run's directory has it.
fn plan_and_stored_recipe(
    settings: &[&str],
    options: &PlanOptions,
    lock: Option<&RecipeLock>,
) -> (Plan, ResolvedRecipe) {
    let resolved = resolve_with_settings(settings, options.smoke_test);
    let origin = RecipeOrigin {
        directory: Some("/recipes/r".to_owned()),
        hash: resolved.hash.clone(),
        ..RecipeOrigin::default()
    };
    let mut recipe = resolved.recipe.clone();
    if let Some(lock) = lock {
        assert!(lock.apply_to(&mut recipe).is_empty());
    }
    let mut plan = build_plan(&recipe, &origin, options, &two_gpu_host()).unwrap();
    plan.lock = lock
        .map(|_| crate::step::FollowedLock { path: "r.lock.yaml".to_owned(), differs: Vec::new() });
    let stored = Source::new("recipe.yaml", resolved.yaml.clone());
    let again = resolve_recipe("r", &stored, &NoTemplates, &[]).unwrap();
    (plan, again)
}

fn list_differences(recorded: &Plan, resolved: &ResolvedRecipe) -> Vec<String> {
    let derivation = Derivation {
        recorded,
        recipe: &resolved.recipe,
        recipe_hash: &resolved.hash,
        host: &two_gpu_host(),
    };
    let found = derivation.find_differences().unwrap();
    found.iter().map(ToString::to_string).collect()
}

fn full_lock() -> RecipeLock {
    let hex = "0123456789abcdef".repeat(4);
    let model = LockedModel {
        commit: hex[..40].to_owned(),
        files: BTreeMap::from([("config.json".to_owned(), format!("sha256:{hex}"))]),
    };
    RecipeLock {
        images: BTreeMap::from([("debian:12".to_owned(), format!("sha256:{hex}"))]),
        models: BTreeMap::from([("amd/tiny@main".to_owned(), model)]),
        ..RecipeLock::default()
    }
}

#[test]
fn a_plan_follows_from_its_stored_recipe_and_settings() {
    let options = [
        PlanOptions::default(),
        PlanOptions {
            scenarios: vec!["s".into()],
            points: Vec::new(),
            modes: vec![Mode::Performance],
            trials: Some(Trials { min: 2, max: 5 }),
            smoke_test: false,
            warmup: Some(3),
            gpus: vec!["0".to_owned(), "1".to_owned()],
            least_privilege: true,
            skip: vec!["setup-lock-clocks".to_owned()],
            from: None,
            keep: KeepContainer::Always,
            pull: PullPolicy::Never,
            secrets: vec!["TOKEN".to_owned()],
        },
        PlanOptions { from: Some("setup-unpack".to_owned()), ..PlanOptions::default() },
        PlanOptions { smoke_test: true, ..PlanOptions::default() },
    ];
    for options in &options {
        for settings in [&[][..], &["batch=8"], &["batch=8", "backend=other"]] {
            for lock in [None, Some(&full_lock())] {
                let (plan, resolved) = plan_and_stored_recipe(settings, options, lock);
                let stored = serde_json::to_string(&plan).unwrap();
                let stored: Plan = serde_json::from_str(&stored).unwrap();
                let found = list_differences(&stored, &resolved);
                assert!(found.is_empty(), "{settings:?} {options:?}: {found:#?}");
            }
        }
    }
}

#[test]
fn a_jobs_plan_follows_from_the_recipe_and_its_nodes_gpus() {
    let resolved = resolve_with_settings(&[], false);
    let origin = RecipeOrigin { hash: resolved.hash.clone(), ..RecipeOrigin::default() };
    let options = PlanOptions::default();
    let submitted = build_plan(&resolved.recipe, &origin, &options, &HostView::default()).unwrap();
    let assigned = Plan { gpus: vec!["0".to_owned(), "1".to_owned()], ..submitted };
    let completed = plan_for_host(&assigned, &resolved.recipe, &two_gpu_host()).unwrap();
    // Two GPUs, and the recipe requires one.
    assert_eq!(completed.changes.len(), 1);
    let found = list_differences(&completed, &resolved);
    assert!(found.is_empty(), "{found:#?}");
}

/// Each value of a plan, changed by hand: what follows from the recipe is compared, whatever it is.
#[test]
fn every_forged_value_of_a_plan_is_named() {
    let (plan, resolved) = plan_and_stored_recipe(&[], &PlanOptions::default(), None);
    let stored = serde_json::to_value(&plan).unwrap();
    let mut pointers = Vec::new();
    collect_leaves(&stored, String::new(), &mut pointers);
    let mut forged = 0;
    for pointer in &pointers {
        let top = pointer[1..].split('/').next().unwrap();
        if SETTINGS.contains(&top) {
            continue;
        }
        let mut other = stored.clone();
        forge_value(other.pointer_mut(pointer).unwrap());
        let Ok(other) = serde_json::from_value::<Plan>(other) else {
            // An unknown word: nothing can be executed or judged by it.
            continue;
        };
        let found = list_differences(&other, &resolved);
        assert!(found.iter().any(|line| line.starts_with(top)), "{pointer}: {found:?}");
        forged += 1;
    }
    assert!(forged > 100, "{forged} of {}", pointers.len());
}

#[test]
fn requirements_changes_and_settings_cannot_be_removed() {
    let options =
        PlanOptions { skip: vec!["setup-lock-clocks".to_owned()], ..PlanOptions::default() };
    let (mut plan, resolved) = plan_and_stored_recipe(&[], &options, None);
    plan.changes.clear();
    assert!(list_differences(&plan, &resolved)[0].starts_with("changes: recorded nothing"));
    // As if nothing had been skipped, in a run that skipped it.
    let (mut plan, resolved) = plan_and_stored_recipe(&[], &options, None);
    plan.options = PlanOptions::default();
    assert!(!list_differences(&plan, &resolved).is_empty());
    // As if a smoke test had been a whole one.
    let smoke_test = PlanOptions { smoke_test: true, ..PlanOptions::default() };
    let (mut plan, resolved) = plan_and_stored_recipe(&[], &smoke_test, None);
    assert_eq!(plan.params["batch"].to_string(), "1");
    plan.options = PlanOptions::default();
    plan.smoke_test = false;
    assert_eq!(list_differences(&plan, &resolved), ["smoke_test: recorded nothing, derived true"]);
    // More unmet requirements, which the host's files show, are no advantage.
    let (mut plan, resolved) = plan_and_stored_recipe(&[], &PlanOptions::default(), None);
    let missing = retrial_host::checks::HostCheck::missing_source("/data", "/data");
    plan.unmet.push(missing);
    assert!(list_differences(&plan, &resolved).is_empty());
}

#[test]
fn a_lock_pins_versions_of_the_recipes_own_names_only() {
    let (mut plan, resolved) =
        plan_and_stored_recipe(&[], &PlanOptions::default(), Some(&full_lock()));
    plan.image = plan.image.replace("debian", "attacker/debian");
    let found = list_differences(&plan, &resolved);
    assert!(found.iter().any(|line| line.starts_with("image: ")), "{found:?}");
}

fn collect_leaves(value: &Value, pointer: String, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect_leaves(value, format!("{pointer}/{key}"), into);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                collect_leaves(value, format!("{pointer}/{at}"), into);
            }
        }
        _ => into.push(pointer),
    }
}

fn forge_value(value: &mut Value) {
    *value = match value {
        Value::Bool(is_set) => Value::from(!*is_set),
        Value::Number(number) => match number.as_u64() {
            Some(number) => Value::from(number + 1),
            None => Value::from(number.as_f64().unwrap() + 1.0),
        },
        Value::String(text) => Value::from(format!("{text}x")),
        _ => Value::from("x"),
    };
}
