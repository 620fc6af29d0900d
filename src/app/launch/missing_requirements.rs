//! Missing requirements of a plan: files of this host, checked before anything is fetched, and params that must
//! be set.

use std::path::Path;

use itertools::Itertools as _;

use super::open::find_recipe;
use super::stand_ins::{is_stand_in, name_stand_ins, resolve_with_stand_in_counts};
use crate::app::options::{GlobalOptions, PlanRequest, RecipeRequest, RecipeSettings};
use retrial_host::checks::HostCheck;
use retrial_plan::access::{AccessKind, HostPath};
use retrial_plan::{Action, Plan};
use retrial_recipe::expression::render_template;
use retrial_recipe::model::{ModelSource, Recipe};

/// Adds missing files and devices to the unmet requirements. `root` is where the host's GPUs are read.
pub fn add_missing_files(plan: &mut Plan, recipe: &Recipe, root: &Path) {
    let missing: Vec<HostCheck> = missing_models(plan, recipe)
        .chain(missing_mounts(plan))
        .chain(missing_devices(plan, root))
        .collect();
    plan.unmet.extend(missing);
}

/// Returns what a run of a recipe will ask for: a line for each param to set, privilege to approve, and model and mount
/// that is missing. Empty if the recipe cannot be planned for another reason, which `plan` says.
pub fn describe_start(global: &GlobalOptions, recipe: &str) -> Vec<String> {
    let Ok(entry) = find_recipe(recipe) else {
        return Vec::new();
    };
    let Ok((opened, unset)) = resolve_with_stand_in_counts(entry) else {
        return Vec::new();
    };
    let settings = RecipeSettings::default();
    let request = RecipeRequest { recipe: recipe.to_owned(), settings };
    let Ok(plan) = opened.plan(global, &PlanRequest::whole_recipe(request), None) else {
        return Vec::new();
    };
    let set = unset.iter().map(|name| format!("to set: --set {name}=VALUE"));
    let privileges = plan.privileges.iter();
    let asks = privileges.map(|privilege| format!("to approve: {}, {privilege}", privilege.name));
    let missing = missing_models(&plan, &opened.resolved.recipe).chain(missing_mounts(&plan));
    let missing = missing.map(|check| format!("missing: {} ({})", check.required, check.name));
    set.chain(asks).chain(missing).map(|line| name_stand_ins(line, &unset)).collect()
}

/// Checks of models that are read from a directory which does not exist.
fn missing_models(plan: &Plan, recipe: &Recipe) -> impl Iterator<Item = HostCheck> {
    let scope = recipe.expression_scope();
    recipe.models.iter().filter_map(move |(name, model)| {
        let ModelSource::Path(path) = &model.source else {
            return None;
        };
        let path = render_template(path, &scope).ok()?;
        let path = Path::new(plan.directory.as_deref().unwrap_or("/")).join(path);
        is_missing(&path).then(|| HostCheck::missing_model(name, &path.display().to_string()))
    })
}

/// Checks of mounts whose source does not exist and that no step of the plan may make.
fn missing_mounts(plan: &Plan) -> Vec<HostCheck> {
    let runs_on_host = |action: &Action| matches!(action, Action::Host(_));
    if plan.steps.iter().any(|step| runs_on_host(&step.action)) {
        return Vec::new();
    }
    let mounts = plan.containers().flat_map(|one| &one.mounts);
    // Files of a built-in recipe are written when it runs.
    let recipe_directory = plan.directory.as_ref().map(Path::new);
    let unwritten = recipe_directory.filter(|directory| !directory.exists());
    let own = |source: &Path| unwritten.is_some_and(|directory| source.starts_with(directory));
    // The driver's were found where the host is read.
    let is_driver_file = |source: &Path| {
        let mut access = plan.access.iter().map(|access| &access.kind);
        access.any(
            |kind| matches!(kind, AccessKind::DriverFile { path } if source == Path::new(path)),
        )
    };
    let missing = mounts.filter(|mount| {
        // What an expression adds is looked for when the container is created.
        let known = plan.find_host_path(&mount.source).map(HostPath::known_directories);
        let source = Path::new(known.unwrap_or(&mount.source));
        source.is_absolute() && !own(source) && !is_driver_file(source) && is_missing(source)
    });
    missing.map(|mount| HostCheck::missing_source(&mount.source, &mount.target)).collect()
}

/// Checks of devices that a container is given and this host does not have.
fn missing_devices(plan: &Plan, root: &Path) -> Vec<HostCheck> {
    // The devices of another root are not those of this machine.
    if root != Path::new("/") {
        return Vec::new();
    }
    let devices = plan.containers().flat_map(|container| &container.devices);
    // Others are names of the Container Device Interface.
    let paths = devices.filter(|device| device.starts_with('/'));
    let sources = paths.filter_map(|device| device.split(':').next());
    let missing = sources.filter(|source| is_missing(Path::new(source)));
    missing.unique().map(HostCheck::missing_device).collect()
}

fn is_missing(path: &Path) -> bool {
    !is_stand_in(path) && !path.exists()
}
