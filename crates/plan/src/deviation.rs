//! Deviations of a plan from the guide that it follows: those of its recipe, and those of Retrial with every
//! recipe. Pure.

use itertools::{Itertools as _, join};

use retrial_container::ContainerSpec;
use retrial_recipe::model::Recipe;

/// Why verdicts carry the qualifier `reimplemented`.
pub const REIMPLEMENTED_REASON: &str = "the workload's own script was never published";

/// The deviations of every recipe, for a page of all recipes.
pub const COMMON_DEVIATIONS: &str = "`docker run` starts the container in the background (`-d`) under a name of the run, \
     instead of `-it`, `--rm` and the guide's name; a process that waits takes the place of the image's command, and of \
     its entrypoint where the plan says `bypassed`; `PYTHONUNBUFFERED=1` is set; each command is a `docker exec`";

/// The deviations of a recipe's plan, the recipe's own first. A recipe that names no source follows no guide.
pub(super) fn plan_deviations(recipe: &Recipe, container: &ContainerSpec) -> Vec<String> {
    let recipe_deviations = recipe.deviations.iter();
    let own = recipe_deviations.map(|text| text.split_whitespace().join(" "));
    let docker_run =
        (!recipe.submission.sources.is_empty()).then(|| docker_run_deviation(recipe, container));
    own.chain(docker_run).collect()
}

fn docker_run_deviation(recipe: &Recipe, container: &ContainerSpec) -> String {
    let replaced = match container.entrypoint {
        Some(_) => "the image's entrypoint and command",
        None => "the image's command",
    };
    let stated = &recipe.container.env;
    let is_own = |(name, _): &&(String, String)| stated.iter().all(|(stated, _)| stated != name);
    let added = container.env.iter().filter(is_own);
    let added = join(added.map(|(name, value)| format!("{name}={value}")), " ");
    let mut parts = vec![
        "in the background (-d, --name) instead of -it".to_owned(),
        format!("a process that waits instead of {replaced}"),
    ];
    if !added.is_empty() {
        parts.push(format!("{added} added"));
    }
    let targets: Vec<&String> = container.mounts.iter().map(|mount| &mount.target).collect();
    let recipe_files = recipe.files.iter();
    let mounted_files = recipe_files.filter(|file| targets.contains(&&file.target));
    let files = mounted_files.map(|file| &file.source).join(", ");
    if !files.is_empty() {
        parts.push(format!("{files} of the recipe mounted read-only"));
    }
    format!(
        "docker run: {}. Each command is a docker exec",
        parts.join(", ")
    )
}
