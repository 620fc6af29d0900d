//! Opens what the command line names: home, recipe with choices, engine.

use std::path::{Path, PathBuf};

use crate::app::catalog::{self, Catalog};
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, PlanRequest, RecipeRequest};
use crate::app::{gpu_support, lock_file, terminal};
use crate::host;
use crate::host::assign::depends_on_engine;
use crate::host::checks::Check;
use crate::host::model::HostView;
use crate::plan::Plan;
use crate::plan::build::Origin;
use crate::store::Record;
use crate::store::import::Mark;
use crate::store::{Home, RunDirectory, StoreError};
use retrial_engine::docker::Docker;
use retrial_readings::sanitize;
use retrial_recipe::expression::{Scope, render};
use retrial_recipe::model::{Image, ModelSource, MountRequest, Recipe};
use retrial_recipe::{Resolved, Setting, resolve};

/// A run, or a batch of runs.
pub enum RunOrBatch {
    /// A run.
    Run(RunDirectory),
    /// A batch.
    Batch(Record),
}

/// What an id, a part of it, a path or `last` (a run) names.
pub fn run_or_batch(home: &Home, wanted: &str) -> Result<RunOrBatch, Failure> {
    let path = Path::new(wanted);
    let is_batch = wanted.contains('/') && path.join("batch.json").exists();
    if is_batch || home.batches().join(wanted).join("batch.json").exists() {
        return Ok(RunOrBatch::Batch(home.find_batch(wanted)?));
    }
    match home.find(wanted) {
        Err(StoreError::NoSuch { matches: 0, .. }) if !wanted.is_empty() && wanted != "last" => {
            match home.find_batch(wanted) {
                Ok(batch) => Ok(RunOrBatch::Batch(batch)),
                Err(error @ StoreError::NoSuch { matches: 2.., .. }) => Err(error.into()),
                // Runs are what is mostly meant.
                Err(_) => Ok(RunOrBatch::Run(home.find(wanted)?)),
            }
        }
        found => Ok(RunOrBatch::Run(found?)),
    }
}

/// The host, as far as a plan depends on it.
pub fn host_view(global: &GlobalOptions) -> HostView {
    host::probe(&global.root, global.home.root())
}

/// Sees that a run began on this machine: somebody here was asked before its plan was executed.
pub fn began_here(run: &RunDirectory) -> Result<(), Failure> {
    Mark::of(run).map_or(Ok(()), |mark| {
        Err(Failure::usage(format!(
            "{} was imported from {}: it is evidence, and cannot be resumed",
            run.id(),
            sanitize(&mark.host)
        )))
    })
}

/// The engine.
pub async fn engine(global: &GlobalOptions) -> Result<Docker, Failure> {
    Ok(Docker::connect(global.engine.as_deref()).await?)
}

/// A recipe as found, and as resolved with the settings of the command line.
pub struct Opened {
    /// As found.
    pub entry: catalog::Opened,
    /// As resolved.
    pub resolved: Resolved,
}

/// Finds and resolves a recipe; its problems are told here.
pub fn recipe(arguments: &RecipeRequest) -> Result<Opened, Failure> {
    let catalog = Catalog::builtin();
    let entry = catalog
        .open(&arguments.recipe)
        .map_err(|error| Failure::usage(error.to_string()))?;
    match resolve(&entry.name, &entry.source, &entry, &settings(arguments)) {
        Ok(resolved) => Ok(Opened { entry, resolved }),
        Err(diagnostics) => {
            terminal::note(&diagnostics.render(terminal::error_color()));
            Err(Failure::told(crate::results::verdict::ExitCode::Usage))
        }
    }
}

/// As [`recipe`], for looking only: params that must be set and are not get a stand-in, and
/// their names are given.
pub fn recipe_to_look_at(arguments: &RecipeRequest) -> Result<(Opened, Vec<String>), Failure> {
    let found = Catalog::builtin().open(&arguments.recipe);
    let entry = found.map_err(|error| Failure::usage(error.to_string()))?;
    let settings: Vec<Setting> = settings(arguments);
    let unset: Vec<String> = match resolve(&entry.name, &entry.source, &entry, &settings) {
        Ok(_) => Vec::new(),
        Err(problems) => problems
            .iter()
            .filter(|problem| problem.code == "unset")
            .map(|problem| problem.span.slice().to_owned())
            .collect(),
    };
    let mut complete = arguments.clone();
    complete
        .settings
        .extend(unset.iter().map(|name| (name.clone(), stand_in(name))));
    Ok((recipe(&complete)?, unset))
}

/// What stands for a param that must be set and is not.
pub fn stand_in(name: &str) -> String {
    format!("/to-be-set/{name}")
}

fn settings(arguments: &RecipeRequest) -> Vec<Setting> {
    let pairs = arguments.settings.iter();
    pairs
        .map(|(name, value)| Setting::new(name.clone(), value.clone()))
        .collect()
}

/// The recipe's directory on this machine. What is built in is laid out under the home,
/// once for each resolved recipe, when it is needed.
pub fn directory(
    global: &GlobalOptions,
    opened: &Opened,
    lay_out: bool,
) -> Result<Option<String>, Failure> {
    if let Some(directory) = opened.entry.directory() {
        let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        return Ok(Some(directory.display().to_string()));
    }
    let recipe = &opened.resolved.recipe;
    let scope = Scope::of(recipe);
    let beside = |mount: &MountRequest| {
        render(&mount.source, &scope).is_ok_and(|source| !source.starts_with('/'))
    };
    let needed = !recipe.files.is_empty()
        || matches!(recipe.image, Image::Build { .. })
        || recipe.container.mounts.iter().any(beside);
    if !needed {
        return Ok(None);
    }
    let short = opened.resolved.hash.get(..16).unwrap_or("recipe");
    let path: PathBuf = global.home.root().join("recipes").join(short);
    if lay_out && !path.exists() {
        opened
            .entry
            .extract_to(&path)
            .map_err(|error| Failure::host(error.to_string()))?;
    }
    Ok(Some(path.display().to_string()))
}

/// The host, with what its engine says where a plan of the recipe depends on it.
pub fn host_and_engine(global: &GlobalOptions, opened: &Opened) -> HostView {
    let recipe = &opened.resolved.recipe;
    let mut host = host_view(global);
    if depends_on_engine(&recipe.container, recipe.requires.gpus.as_ref()) {
        gpu_support::ask_the_engine(global, &mut host.gpu_support);
    }
    host
}

/// The plan of a recipe on this host, without asking any engine.
pub fn plan(
    global: &GlobalOptions,
    arguments: &PlanRequest,
    opened: &Opened,
    lay_out: bool,
) -> Result<Plan, Failure> {
    plan_on(global, arguments, opened, lay_out, &host_view(global))
}

/// The plan of a recipe on a host.
pub fn plan_on(
    global: &GlobalOptions,
    arguments: &PlanRequest,
    opened: &Opened,
    lay_out: bool,
    host: &HostView,
) -> Result<Plan, Failure> {
    let origin = Origin {
        directory: directory(global, opened, lay_out)?,
        hash: opened.resolved.hash.clone(),
    };
    let mut recipe = opened.resolved.recipe.clone();
    let lock = lock_file::follow(global, arguments, &opened.entry, &mut recipe)?;
    let mut plan = crate::plan::build(&recipe, &origin, &arguments.options, host)?;
    let rounds = catalog::rounds_with(&arguments.files.rules)
        .map_err(|error| Failure::usage(error.to_string()))?;
    plan.ruled_by(&rounds);
    plan.lock = lock;
    plan.cache = global.cache.display().to_string();
    plan.unmet.extend(missing_models(
        &opened.resolved.recipe,
        origin.directory.as_deref(),
    ));
    Ok(plan)
}

/// Warnings of a recipe, and what its lock does not say.
pub fn report_warnings(global: &GlobalOptions, opened: &Opened, plan: &Plan) {
    if global.quiet {
        return;
    }
    let warnings = opened.resolved.warnings.clone();
    let warnings = lock_file::without_what_is_fixed(warnings, plan.lock.as_ref());
    let warnings = warnings.render(terminal::error_color());
    if !warnings.is_empty() {
        terminal::note(&warnings);
    }
    if let Some(lock) = &plan.lock {
        for difference in &lock.differs {
            let recipe = &opened.entry.name;
            terminal::note(&format!(
                "warning: {}: {difference}\n  lock it again: retrial lock {recipe}",
                lock.path
            ));
        }
    }
}

/// Models that should be on this host and are not: reported before anything is fetched.
fn missing_models(recipe: &Recipe, directory: Option<&str>) -> Vec<Check> {
    let scope = Scope::of(recipe);
    let models = recipe.models.iter().filter_map(|(name, model)| {
        let ModelSource::Path(path) = &model.source else {
            return None;
        };
        let path = render(path, &scope).ok()?;
        let path = Path::new(directory.unwrap_or("/")).join(path);
        let looked_at = path.starts_with(stand_in("")) || path.exists();
        (!looked_at).then(|| Check::missing_model(name, &path.display().to_string()))
    });
    models.collect()
}
