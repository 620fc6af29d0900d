//! Variants of the built-in recipes: no figure of one configuration stands next to the measurement of another.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use retrial::app::catalog::{self, FoundRecipe};
use retrial_plan::Plan;
use retrial_plan::step::Action;
use retrial_recipe::{LoadedRecipe, ParamSetting, VariantChoice};

use crate::images::plan;

/// A recipe's plans by variant, that of the default first.
fn plans(entry: &FoundRecipe) -> Vec<(VariantChoice, Plan)> {
    let loaded = LoadedRecipe::from_source(&entry.name, &entry.source, entry).unwrap();
    let variants = loaded.variants();
    let default = variants.default_choice();
    let mut choices = variants.supported_choices();
    choices.sort_by_key(|choice| *choice != default);
    let planned = choices.into_iter().map(|choice| {
        let settings = choice.iter().map(|(axis, value)| ParamSetting::new(axis, value));
        let plan = plan(entry, settings.collect());
        (choice, plan)
    });
    planned.collect()
}

/// The published figures of a plan and those shown next to them, each with its place and its source.
fn published_figures(plan: &Plan) -> BTreeSet<String> {
    let measured = plan.measurements.iter().flat_map(|measured| {
        let at = format!("{} {}", measured.scenario, measured.mode);
        let expected = measured.expect.iter().flat_map(|(name, rows)| {
            rows.iter().map(move |row| format!("{name} {} {:?}", row.value, row.source))
        });
        let shown = measured.references.iter().flat_map(|references| {
            let source = &references.source;
            let values = references.values.iter();
            values.map(move |(name, value)| format!("{name} {value:?} {source:?}"))
        });
        let figures: Vec<String> = expected.chain(shown).collect();
        figures.into_iter().map(move |figure| format!("{at} {figure}"))
    });
    measured.collect()
}

/// The image, or the arguments of its build.
fn image(plan: &Plan) -> String {
    let mut builds = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Build(build) => Some(format!("{:?}", build.args)),
        _ => None,
    });
    builds.next().unwrap_or_else(|| plan.image.clone())
}

/// GPUs, machine and models: what a published figure belongs to besides the image.
fn machine(plan: &Plan) -> String {
    let submission = &plan.submission;
    let models = plan.steps.iter().filter_map(|step| match &step.action {
        Action::FetchModel(model) => Some(format!("{model:?}")),
        _ => None,
    });
    let models: Vec<_> = models.collect();
    format!("{:?} {:?} {models:?}", plan.requires.gpus, submission.system)
}

#[test]
fn a_figure_of_another_configuration_is_never_reproduced() {
    for entry in catalog::builtin_recipes() {
        let plans = plans(&entry);
        for (choice, plan) in &plans {
            let name = format!("{} {choice:?}", entry.name);
            // By madengine, the container that is named only reads the log of the one that is measured.
            let by = choice.get("by");
            let default = &plans.iter().find(|(other, _)| other.get("by") == by).unwrap().1;
            let (theirs, own) = (published_figures(default), published_figures(plan));
            let inherited: Vec<_> = theirs.intersection(&own).collect();
            if machine(plan) != machine(default) {
                assert!(inherited.is_empty(), "{name} inherits {inherited:?}");
            } else if image(plan) != image(default) && !inherited.is_empty() {
                let changes = plan.replaced_images(|_| None);
                assert!(!changes.is_empty(), "{name} is not `modified`: {inherited:?}");
            }
        }
    }
}

#[test]
fn a_source_of_another_system_is_no_variant_s() {
    for entry in catalog::builtin_recipes() {
        let plans = plans(&entry);
        let systems: BTreeSet<_> =
            plans.iter().filter_map(|(_, plan)| plan.submission.system.clone()).collect();
        for (choice, plan) in &plans {
            let system = &plan.submission.system;
            for other in systems.iter().filter(|other| Some(*other) != system.as_ref()) {
                let sources = plan.submission.sources.iter();
                let foreign: Vec<_> =
                    sources.filter(|source| source.ends_with(&format!("/{other}"))).collect();
                assert!(foreign.is_empty(), "{} {choice:?}: {foreign:?}", entry.name);
            }
        }
    }
}

#[test]
fn recipes_over_the_releases_of_rocm_plan_in_the_image_of_each() {
    let folder = tempfile::tempdir().unwrap();
    for template in ["vllm-serve-rocm", "sglang-serve-rocm"] {
        let path = folder.path().join(format!("{template}.yaml"));
        let text = format!(
            "schema: 1\nextends: {template}\ntitle: A model\nsubmission: {{ suite: mine, benchmark: serve }}\nrequires: {{ gpus: {{ count: 2 }} }}\ndefault: {{ rocm: 10.1.0, gpu: mi350x }}\n"
        );
        std::fs::write(&path, text).unwrap();
        let entry = catalog::open_recipe(path.to_str().unwrap()).unwrap();
        let plans = plans(&entry);
        assert!(plans.len() > 10, "{template}: {}", plans.len());
        for (choice, plan) in &plans {
            assert_eq!(
                plan.image_contents["rocm"],
                choice["rocm"].trim_end_matches("-rdna"),
                "{template} {choice:?}"
            );
            let env: BTreeMap<_, _> = plan.container.env.iter().cloned().collect();
            let is_affected = choice["rocm"] == "10.1.0" && choice["gpu"].starts_with("mi35");
            let protocol = env.get("NCCL_PROTO").map(String::as_str);
            assert_eq!(protocol, is_affected.then_some("LL128,Simple"), "{template} {choice:?}");
            let is_affected = choice["rocm"] == "10.0.0" && choice["gpu"] == "r9700";
            assert_eq!(env.contains_key("TORCH_BLAS_PREFER_HIPBLASLT"), is_affected, "{choice:?}");
        }
    }
}

#[test]
fn training_benchmarks_over_the_releases_of_rocm_name_what_each_image_contains() {
    for name in ["gemm", "ddp", "simple-training", "transformer"] {
        let entry =
            catalog::open_recipe(&format!("training-benchmarks/amd/mi350x/{name}")).unwrap();
        let plans = plans(&entry);
        let amd = plans.iter().filter(|(choice, _)| choice["gpu"].starts_with("mi3"));
        let mut count = 0;
        for (choice, plan) in amd {
            let value = &choice["rocm"];
            let (release, torch) = value.split_once("-torch").unwrap_or((value, ""));
            let contents = &plan.image_contents;
            assert_eq!(contents["rocm"], release, "{name} {choice:?}");
            assert!(torch.is_empty() || contents["torch"] == torch, "{name} {choice:?}");
            let is_published = value == "7.0.0";
            let is_judged = !published_figures(plan).is_empty();
            let is_modified = !plan.replaced_images(|_| None).is_empty();
            assert_eq!(is_modified, is_judged && !is_published, "{name} {choice:?}");
            if !is_published {
                assert!(plan.image.ends_with(&contents["torch"]), "{name} {choice:?}");
                assert_eq!(plan.container.ipc.as_deref(), Some("host"));
            }
            let mut runs = plan.steps.iter().filter_map(|step| match &step.action {
                Action::Exec(exec) => Some(&exec.run),
                _ => None,
            });
            let in_venv = release.starts_with("10.");
            assert!(runs.all(|run| run.starts_with("/opt/venv/bin/python3 ") == in_venv));
            let env: BTreeMap<_, _> = plan.container.env.iter().cloned().collect();
            let protocol = env.get("NCCL_PROTO").map(String::as_str);
            let is_affected = name == "ddp" && release == "10.1.0" && choice["gpu"] == "mi350x";
            assert_eq!(protocol, is_affected.then_some("LL128,Simple"), "{name} {choice:?}");
            count += 1;
        }
        assert!(count > 40, "{name}: {count}");
    }
}
