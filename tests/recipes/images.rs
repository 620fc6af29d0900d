//! Any image in any recipe: `--image` and `--build-arg`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use retrial::app::catalog::{self, FoundRecipe};
use retrial_host::model::HostView;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::step::Action;
use retrial_plan::{Plan, PlanOptions, build_plan};
use retrial_recipe::{LoadedRecipe, ParamSetting, resolve_recipe};

const OTHER: &str = "registry.example/other:2";

/// Plans a recipe; a param that must be set is a path.
pub fn plan(entry: &FoundRecipe, mut settings: Vec<ParamSetting>) -> Plan {
    let resolve = |settings: &[ParamSetting]| resolve_recipe("r", &entry.source, entry, settings);
    if let Err(problems) = resolve(&settings) {
        let unset = problems.iter().filter(|problem| problem.code == "unset");
        let paths = unset.map(|problem| ParamSetting::new(problem.span.slice(), "/to-be-set"));
        settings.extend(paths.collect::<Vec<_>>());
    }
    let recipe = resolve(&settings).unwrap_or_else(|problems| panic!("{problems}")).recipe;
    let (origin, options) = (RecipeOrigin::default(), PlanOptions::default());
    build_plan(&recipe, &origin, &options, &HostView::default()).unwrap()
}

#[test]
fn every_built_in_recipe_plans_with_another_image() {
    let mut count = 0;
    for entry in catalog::builtin_recipes() {
        let loaded = LoadedRecipe::from_source(&entry.name, &entry.source, &entry).unwrap();
        for choice in loaded.variants().supported_choices() {
            let variants = choice.iter().map(|(axis, value)| ParamSetting::new(axis, value));
            let published = plan(&entry, variants.clone().collect());
            let image = ParamSetting::parse_image(OTHER).unwrap();
            let changed = plan(&entry, variants.chain([image]).collect());
            let name = format!("{} {choice:?}", entry.name);
            assert_eq!((&*changed.image, &*changed.container.image), (OTHER, OTHER), "{name}");
            let images: Vec<&str> = changed
                .steps
                .iter()
                .filter_map(|step| match &step.action {
                    Action::Pull { reference, .. } => Some(reference.as_str()),
                    Action::Build(_) => panic!("{name} is built"),
                    _ => None,
                })
                .collect();
            assert_eq!(images, [OTHER], "{name}");
            let replaced = changed.replaced_images(|_| None).join("; ");
            assert!(replaced.starts_with(&format!("--image {OTHER} in place of ")), "{replaced}");
            assert_eq!(changed.recipe, published.recipe);
            let has_figures = published.measurements.iter().any(|one| !one.expect.is_empty());
            let is_noted = changed.notes.iter().any(|note| note.starts_with(&replaced));
            assert!(is_noted || !has_figures, "{name}: {:?}", changed.notes);
            let command = changed.run_command("retrial");
            assert!(command.contains(&format!("--image {OTHER}")), "{command}");
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn the_base_of_a_built_image_can_be_set() {
    let resnet50 = "mlperf-inference-reference/onnxruntime/resnet50-radeon";
    let entry = catalog::open_recipe(resnet50).unwrap();
    let set = |text: &str| vec![ParamSetting::parse_build_arg(text).unwrap()];
    let changed = plan(&entry, set("BASE=rocm/dev-ubuntu-24.04:7.2.4-complete"));
    let mut builds = changed.steps.iter().filter_map(|step| match &step.action {
        Action::Build(build) => Some(build),
        _ => None,
    });
    assert_eq!(builds.next().unwrap().args["BASE"], "rocm/dev-ubuntu-24.04:7.2.4-complete");
    let replaced = changed.replaced_images(|_| None);
    assert!(
        replaced[0].ends_with(" in place of rocm/dev-ubuntu-24.04:7.1.1-complete"),
        "{replaced:?}"
    );
    let mistaken = resolve_recipe("r", &entry.source, &entry, &set("BASES=1"));
    let problems = mistaken.unwrap_err().to_string();
    assert!(problems.contains("has no `ARG BASES`"), "{problems}");
}
