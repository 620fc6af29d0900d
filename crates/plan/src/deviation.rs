//! Deviations of a plan from the guide that it follows: those of its recipe, and those of Retrial with every
//! recipe. Pure.

use itertools::Itertools as _;

use retrial_container::ContainerSpec;
use retrial_recipe::model::Recipe;

/// Why verdicts carry the qualifier `reimplemented`.
pub const REIMPLEMENTED_REASON: &str = "the workload's own script was never published";

/// The deviations of every recipe, for a page of all recipes.
pub const COMMON_DEVIATIONS: &str = "`docker run` starts the container in the background (`-d`) under a name of the run, \
     instead of `-it`, `--rm` and the guide's name; a process that waits takes the place of the image's command, and of \
     its entrypoint where the plan says `bypassed`; `PYTHONUNBUFFERED=1` is set; each command is a `docker exec`";

/// Returns the deviations of a recipe's plan, the recipe's own first, without [`COMMON_DEVIATIONS`]; none for a recipe
/// without a source, which follows no guide.
pub(super) fn plan_deviations(recipe: &Recipe, container: &ContainerSpec) -> Vec<String> {
    let recipe_deviations = recipe.deviations.iter();
    let own = recipe_deviations.map(|text| text.split_whitespace().join(" "));
    let follows_guide = !recipe.submission.sources.is_empty();
    let mounted_files = own_files_deviation(recipe, container).filter(|_| follows_guide);
    own.chain(mounted_files).collect()
}

/// Names the recipe's files that are mounted, which the guide's container does not have.
fn own_files_deviation(recipe: &Recipe, container: &ContainerSpec) -> Option<String> {
    let targets: Vec<&String> = container.mounts.iter().map(|mount| &mount.target).collect();
    let recipe_files = recipe.files.iter();
    let mounted_files = recipe_files.filter(|file| targets.contains(&&file.target));
    let files = mounted_files.map(|file| &file.source).join(", ");
    (!files.is_empty()).then(|| format!("docker run: {files} of the recipe mounted read-only"))
}
