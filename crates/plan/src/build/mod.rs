//! Builds the plan from recipe, options and host. Pure.

mod command;
mod container;
mod error;
mod measure;
mod models;
mod other_host;
mod services;
mod setup;
mod skip;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use itertools::Itertools as _;

use super::changes::changes_by_options;
use super::commit::commit_placeholder;
use super::deviation;
use super::download::PlannedDownload;
use super::measurement::MeasurementPlan;
use super::options::PlanOptions;
use super::privilege;
use super::sku;
use super::step::{Action, Plan, Step, StepCondition};
use retrial_host::checks::{Requirements, unmet_requirements};
use retrial_host::model::HostView;
use retrial_recipe::expression::{ExpressionScope, NodeScope, render_template};
use retrial_recipe::model::{
    ClaimedFigure, Download, FigureClaim, ModelSource, OrderedMap, Placement, Recipe, Template,
    is_commit,
};

pub use error::PlanError;
pub use other_host::plan_for_host;

/// The catalog's data about a recipe, apart from its text.
#[derive(Debug, Clone, Default)]
pub struct RecipeOrigin {
    /// The recipe's directory, absolute; companion files and build contexts are in it.
    pub directory: Option<String>,
    /// The home directory of the user who runs the recipe, for paths that begin with `~/`.
    pub home: Option<String>,
    /// SHA-256 of the resolved recipe.
    pub hash: String,
    pub built_in: bool,
    /// SHA-256 of the Dockerfile and the context of its build; none if it is not built, or if they cannot be read.
    pub build_content: Option<String>,
}

/// Makes the plan, and compares it with the recipe's own.
///
/// # Errors
/// If the command line requests something that the recipe does not have, or an expression fails.
pub fn build_plan(
    recipe: &Recipe,
    origin: &RecipeOrigin,
    options: &PlanOptions,
    host: &HostView,
) -> Result<Plan, PlanError> {
    let plan = build_without_changes(recipe, origin, options, host)?;
    let build_other = |options: &PlanOptions| build_without_changes(recipe, origin, options, host);
    let changes = changes_by_options(recipe, options, &plan, build_other)?;
    Ok(Plan { changes, ..plan })
}

/// Makes the plan without comparing it.
fn build_without_changes(
    recipe: &Recipe,
    origin: &RecipeOrigin,
    options: &PlanOptions,
    host: &HostView,
) -> Result<Plan, PlanError> {
    let mut reduced_recipe = recipe.clone();
    let mut removed_privileges = Vec::new();
    if options.least_privilege {
        removed_privileges = privilege::remove_recipe_privileges(&mut reduced_recipe);
    }
    let recipe = &reduced_recipe;
    check_secrets(recipe, options)?;
    if options.smoke_test && !recipe.smoke_test {
        return Err(PlanError::NoSmokeTest);
    }
    let recipe_notes = recipe.host_notes.iter();
    let host_notes = recipe_notes.map(|note| format!("host note: {}", note.trim_end()));
    let mut builder = PlanBuilder {
        recipe,
        origin,
        options,
        host,
        plan: Plan { notes: host_notes.collect(), ..Plan::default() },
        running: BTreeMap::new(),
    };
    builder.add_steps()?;
    let plan = &builder.plan;
    let assigned = plan.assigned_gpus.as_ref();
    let requirements =
        Requirements { host: &recipe.requires, scenario_memory: plan.scenario_memory() };
    let unmet_checks = unmet_requirements(requirements, host, assigned, !options.gpus.is_empty());
    let system = recipe.submission.system.as_deref();
    let same_sku =
        unmet_checks.is_empty() && system.is_some_and(|system| sku::is_same_sku(system, host));
    let mut plan = Plan {
        schema: 1,
        recipe: recipe.name.clone(),
        recipe_hash: origin.hash.clone(),
        built_in: origin.built_in,
        title: recipe.title.clone(),
        expected_duration: recipe.expected_duration,
        excluded: builder.excluded_measurements(),
        excluded_accuracy: builder.excluded_accuracy(),
        submission: recipe.submission.clone(),
        params: recipe.params.clone(),
        variant: recipe.variant.clone(),
        modified: recipe.modified.clone(),
        given_params: recipe.given_params.clone(),
        replaced: recipe.replaced.clone(),
        base: recipe.base.clone(),
        published_image: recipe.published_image.clone(),
        image_contents: recipe.image_contents.clone(),
        smoke_test: recipe.smoke_test,
        options: options.clone(),
        requires: recipe.requires.clone(),
        nodes: recipe.nodes,
        directory: origin.directory.clone(),
        in_place: paths_in_place(recipe, origin, &builder.expression_scope()),
        home: origin.home.clone().filter(|_| names_home(recipe)),
        gpus: options.gpus.clone(),
        removed_privileges,
        unmet: unmet_checks,
        deviations: deviation::plan_deviations(recipe, &plan.container),
        packages: recipe.packages.clone(),
        claims: measured_claims(recipe, &plan.measurements),
        judge: recipe.judge.clone(),
        secrets: builder.nameable_secrets(),
        same_sku,
        ..builder.plan
    };
    plan.notes.extend(plan.describe_foreign_figures());
    plan.derive_access(&host.gpu_support, &options.secrets);
    if let Some(path) = plan.find_unknown_companion() {
        return Err(PlanError::UnknownCompanion { path: path.to_owned() });
    }
    let relative = mounts_next_to_recipe(recipe, origin);
    if let Some(path) = plan.find_path_named_twice(&relative) {
        return Err(PlanError::NamedTwice { path: path.to_owned() });
    }
    Ok(plan)
}

/// Returns the recipe's claims whose figures are both measured. A smoke test shows nothing of them.
fn measured_claims(recipe: &Recipe, measurements: &[MeasurementPlan]) -> Vec<FigureClaim> {
    let is_measured = |side: &ClaimedFigure| {
        let mut planned = measurements.iter();
        planned.any(|one| one.mode == side.mode && one.has_scenario_name(&side.scenario))
    };
    let claims = recipe.claims.iter().filter(|_| !recipe.smoke_test);
    let measured = claims.filter(|claim| claim.sides().into_iter().all(is_measured));
    measured.cloned().collect()
}

/// Rejects secrets that the command line does not allow.
fn check_secrets(recipe: &Recipe, options: &PlanOptions) -> Result<(), PlanError> {
    let is_allowed = |name: &String| name == "HF_TOKEN" || options.secrets.contains(name);
    let refused = recipe.secrets.iter().find(|name| !is_allowed(name));
    refused.map_or(Ok(()), |name| Err(PlanError::SecretNotAllowed { name: name.clone() }))
}

struct PlanBuilder<'a> {
    recipe: &'a Recipe,
    origin: &'a RecipeOrigin,
    options: &'a PlanOptions,
    host: &'a HostView,
    plan: Plan,
    /// Start steps of services with the run's scope, by the service's name.
    running: BTreeMap<String, u32>,
}

impl PlanBuilder<'_> {
    /// Adds all steps in their order, and the container.
    fn add_steps(&mut self) -> Result<(), PlanError> {
        self.add_image_setup_steps()?;
        self.add_image_step();
        self.add_service_pulls();
        self.set_container()?;
        self.add_model_fetches()?;
        self.add_image_copies();
        self.add_host_and_cache_steps()?;
        self.add_step("create", Some("main"), Action::Create);
        self.add_container_models()?;
        self.add_container_setup_steps()?;
        self.add_measurements()?;
        let (head, always) = (Placement::Head, StepCondition::Always);
        self.add_step_on(head, "judge", None, always, Action::Judge);
        let keep = StepCondition::Unless { keep: self.options.keep };
        let (all, main) = (Placement::All, Some("main"));
        self.add_step_on(all, "remove", main, keep, Action::Remove);
        self.mark_skipped_steps()?;
        self.mark_late_downloads();
        self.check_commits_known()
    }

    fn add_step(&mut self, name: &str, container: Option<&str>, action: Action) -> u32 {
        self.add_step_on(Placement::All, name, container, StepCondition::Always, action)
    }

    /// Adds a step, executed on the machines of the placement if the condition holds.
    fn add_step_on(
        &mut self,
        on: Placement,
        name: &str,
        container: Option<&str>,
        when: StepCondition,
        action: Action,
    ) -> u32 {
        let number = u32::try_from(self.plan.steps.len()).unwrap_or(u32::MAX - 1) + 1;
        self.plan.steps.push(Step {
            number,
            name: name.to_owned(),
            on: self.recipe.nodes.map(|_| on),
            container: container.map(str::to_owned),
            when,
            action,
        });
        number
    }

    /// Adds a download of a step, once for all trials.
    fn add_download(&mut self, step: u32, name: String, download: Option<&Download>) {
        let downloads = &mut self.plan.downloads;
        let is_known = downloads.iter().any(|known| known.name == name);
        let new_download = download.filter(|_| !is_known).cloned();
        downloads.extend(new_download.map(|download| PlannedDownload {
            step,
            name,
            late: false,
            download,
        }));
    }

    /// Removes downloads of skipped steps, and marks those after a measurement.
    fn mark_late_downloads(&mut self) {
        let steps = &self.plan.steps;
        let mut measuring = steps.iter().filter(|step| step.runs_measurement());
        let measured = measuring.find(|step| !step.is_skipped());
        let skipped_steps = steps.iter().filter(|step| step.is_skipped());
        let skipped: BTreeSet<u32> = skipped_steps.map(|step| step.number).collect();
        let downloads = &mut self.plan.downloads;
        downloads.retain(|download| !skipped.contains(&download.step));
        for download in downloads {
            download.late = measured.is_some_and(|measured| download.step > measured.number);
        }
    }

    fn expression_scope(&self) -> ExpressionScope {
        let mut scope = self.recipe.expression_scope();
        for (name, model) in &self.recipe.models {
            if let ModelSource::Hub { revision, .. } = &model.source {
                if is_commit(revision) {
                    scope.models.insert(name.clone(), revision.clone());
                } else {
                    let later = commit_placeholder(name);
                    scope.models_later.insert(name.clone(), later);
                }
            }
        }
        scope
    }
}

/// Returns the sources of the recipe's mounts, those of models included.
fn mount_sources(recipe: &Recipe) -> impl Iterator<Item = &Template> {
    let services = recipe.services.iter().filter_map(|(_, service)| service.own_container.as_ref());
    let own = services.map(|container| &container.flags);
    let mounts = std::iter::once(&recipe.container).chain(own).flat_map(|one| &one.mounts);
    let of_models = recipe.models.iter().filter_map(|(_, model)| match &model.source {
        ModelSource::Path(path) => Some(path),
        _ => None,
    });
    mounts.map(|mount| &mount.source).chain(of_models)
}

/// Returns whether a mount of the recipe is in the home directory.
fn names_home(recipe: &Recipe) -> bool {
    mount_sources(recipe).any(|path| path.0.starts_with('~'))
}

/// Returns the paths in the recipe's directory that it names as paths of the host, absolute or in the home.
fn paths_in_place(recipe: &Recipe, origin: &RecipeOrigin, scope: &ExpressionScope) -> Vec<String> {
    let sources = mount_sources(recipe).filter_map(|source| render_template(source, scope).ok());
    let of_host = sources.filter(|source| source.starts_with(['/', '~']));
    let paths = of_host.map(|source| resolve_host_path(origin, &source));
    let directory = origin.directory.as_deref();
    let inside = |path: &String| directory.is_some_and(|own| Path::new(path).starts_with(own));
    paths.filter(inside).sorted().dedup().collect()
}

/// Returns the paths of mounts that the recipe names as next to it.
fn mounts_next_to_recipe(recipe: &Recipe, origin: &RecipeOrigin) -> Vec<String> {
    let scope = recipe.expression_scope();
    let sources = mount_sources(recipe).filter_map(|source| render_template(source, &scope).ok());
    let own = sources.filter(|source| !source.starts_with(['/', '~']));
    own.map(|source| resolve_host_path(origin, &source)).collect()
}

/// A path of the host; relative paths are resolved in the recipe's directory, and `~/` in the home directory.
fn resolve_host_path(origin: &RecipeOrigin, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    if let Some(below) = path.strip_prefix('~') {
        return format!("{}{below}", origin.home.as_deref().unwrap_or("~"));
    }
    let directory = origin.directory.as_deref().unwrap_or(".");
    match path.trim_start_matches("./") {
        "" | "." => directory.to_owned(),
        relative => format!("{}/{relative}", directory.trim_end_matches('/')),
    }
}

fn render_expression(
    place: &str,
    template: &Template,
    scope: &ExpressionScope,
) -> Result<String, PlanError> {
    let error = |source| PlanError::Expression { place: place.to_owned(), source };
    let text = render_template(template, scope).map_err(error)?;
    if text.contains("${{") {
        // Expressions that are evaluated later on the machines must not fail there.
        let example = ExpressionScope { node: Some(NodeScope::for_two_nodes()), ..scope.clone() };
        render_template(template, &example).map_err(error)?;
    }
    Ok(text)
}

fn render_map(
    place: &str,
    map: &OrderedMap<Template>,
    scope: &ExpressionScope,
) -> Result<Vec<(String, String)>, PlanError> {
    map.iter()
        .map(|(name, value)| {
            let value = render_expression(&format!("{place}.{name}"), value, scope)?;
            Ok((name.clone(), value))
        })
        .collect()
}
