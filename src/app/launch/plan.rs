//! The second step: a recipe is planned for a host, or for one that is not known yet.

use std::sync::Arc;

use super::host_mounts::check_host_paths;
use super::known_issues::describe_known_issues;
use super::missing_requirements::add_missing_files;
use super::open::OpenedRecipe;
use super::secrets::withdraw_unset_secrets;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, PlanFiles, PlanRequest, RunRequest};
use crate::app::{catalog, lock_file, terminal};
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::measurement::MeasurementPlan;
use retrial_plan::step::FollowedLock;
use retrial_recipe::Diagnostic;
use retrial_recipe::model::{Mode, Recipe};
use retrial_results::verdict::ExitCode;
use retrial_store::companions::StagedCompanions;

/// A run that is planned, and not checked yet.
pub struct PlannedRun<'a> {
    pub(super) opened: &'a OpenedRecipe,
    pub(super) request: &'a RunRequest,
    /// Secrets that the command line names.
    pub(super) named_secrets: Vec<String>,
    pub(super) plan: Plan,
    pub(super) companions: Option<Arc<StagedCompanions>>,
}

impl PlannedRun<'_> {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Prints the warnings of the recipe and of its lock, where the plan is executed so many times: a batch repeats it.
    pub fn print_warnings(&self, global: &GlobalOptions, trial_runs: usize) {
        self.opened.print_warnings(global, &self.plan, trial_runs);
    }
}

impl OpenedRecipe {
    /// Plans a run as the command line requests. Without a host, the node of a cluster completes the plan. The
    /// files next to the recipe are copied in either case.
    pub fn plan_run<'a>(
        &'a self,
        global: &GlobalOptions,
        request: &PlanRequest,
        run: &'a RunRequest,
        host: Option<&HostView>,
    ) -> Result<PlannedRun<'a>, Failure> {
        self.require_complete()?;
        let mut plan = self.build_plan(global, request, host, true)?;
        if !self.is_trusted() {
            withdraw_unset_secrets(global, &mut plan);
        }
        // Options that can change a figure are in the plan, where the verdict's context reads them.
        let RunRequest {
            allow: _,
            telemetry,
            // Unmet requirements and warnings are in the plan.
            force: _,
            no_wait,
            require_accuracy,
            verify_cache,
        } = run;
        plan.require_accuracy = *require_accuracy;
        plan.verify_cache = *verify_cache;
        plan.no_wait = *no_wait;
        plan.telemetry = *telemetry;
        let companions = self.stage_companions(global, &mut plan)?;
        check_host_paths(&plan, global)?;
        Ok(PlannedRun {
            opened: self,
            companions,
            request: run,
            named_secrets: request.options.secrets.clone(),
            plan,
        })
    }

    /// Plans a recipe that is not run: for `plan`, `show`, `doctor` and `judge`. Writes nothing.
    pub fn plan(
        &self,
        global: &GlobalOptions,
        request: &PlanRequest,
        host: Option<&HostView>,
    ) -> Result<Plan, Failure> {
        self.build_plan(global, request, host, false)
    }

    fn build_plan(
        &self,
        global: &GlobalOptions,
        request: &PlanRequest,
        host: Option<&HostView>,
        is_run: bool,
    ) -> Result<Plan, Failure> {
        let origin = RecipeOrigin {
            directory: self.directory(global)?,
            home: std::env::var("HOME").ok().filter(|home| home.starts_with('/')),
            hash: self.resolved.hash.clone(),
            built_in: self.is_trusted(),
            build_content: self.hash_build_content(),
        };
        let (recipe, lock) = self.follow_lock(global, request)?;
        let mut plan = if let Some(host) = host {
            retrial_plan::build_plan(&recipe, &origin, &request.options, host)?
        } else {
            let mut options = request.options.clone();
            // Determined on the node.
            options.gpus.clear();
            retrial_plan::build_plan(&recipe, &origin, &options, &HostView::default())?
        };
        self.record_paths(global, &mut plan, is_run)?;
        // `FollowedLock::differs` says whether a lock is of another recipe.
        let PlanFiles { lock: _, rules } = &request.files;
        plan.add_round_rules(&catalog::load_rounds(rules)?);
        if !rules.is_empty() {
            record_rule_changes(&mut plan);
        }
        plan.lock = lock;
        plan.cache = global.cache.display().to_string();
        match host {
            Some(host) => {
                let issues = describe_known_issues(&plan, host, global.rocm_releases());
                plan.notes.extend(issues);
                add_missing_files(&mut plan, &self.resolved.recipe, &global.root);
            }
            None => plan.unmet.clear(),
        }
        Ok(plan)
    }

    /// The recipe pinned to its lock, from which a node completes the plan.
    pub fn pin_recipe(
        &self,
        global: &GlobalOptions,
        request: &PlanRequest,
    ) -> Result<Recipe, Failure> {
        self.follow_lock(global, request).map(|(recipe, _)| recipe)
    }

    fn follow_lock(
        &self,
        global: &GlobalOptions,
        request: &PlanRequest,
    ) -> Result<(Recipe, Option<FollowedLock>), Failure> {
        let mut recipe = self.resolved.recipe.clone();
        let lock = lock_file::apply_lock(global, request, &self.entry, &mut recipe)?;
        Ok((recipe, lock))
    }

    /// Refuses a recipe that is not complete.
    fn require_complete(&self) -> Result<(), Failure> {
        let open = &self.resolved.recipe.incomplete;
        if open.is_empty() {
            return Ok(());
        }
        let errors = open.iter().map(|part| format!("to be completed: {part}").into());
        Err(Failure::with_errors(ExitCode::Usage, errors.collect()).with_help(format!(
            "complete {}, and remove these lines from its `incomplete`",
            self.entry.name
        )))
    }

    /// Prints the warnings of the recipe and of the lock that its plan follows. The plan is executed so many times.
    pub fn print_warnings(&self, global: &GlobalOptions, plan: &Plan, trial_runs: usize) {
        if global.quiet {
            return;
        }
        let is_builtin = self.entry.is_builtin();
        let mut open_warnings = self.resolved.warnings.clone();
        open_warnings.retain(|warning| {
            let is_repeated = trial_runs > 1 && warning.code == "single-trial";
            !is_repeated && !is_settled(warning, plan, is_builtin)
        });
        terminal::print_problems(&open_warnings);
        if let Some(lock) = &plan.lock {
            for difference in &lock.differs {
                let recipe = &self.entry.name;
                terminal::advise(
                    format!("warning: {}: {difference}", lock.path),
                    format!("lock it again: retrial lock {recipe}"),
                );
            }
        }
    }
}

/// Returns whether a warning is about a tag or branch that may move. Of a built-in recipe, whose names a user cannot
/// change, only the plan lists them.
pub fn is_moving_name(warning: &Diagnostic) -> bool {
    matches!(warning.code, "floating-tag" | "floating-revision")
}

/// Returns whether a plan has settled a warning of its recipe: its lock pins the name, or its options repeat the
/// measurement.
fn is_settled(warning: &Diagnostic, plan: &Plan, is_builtin: bool) -> bool {
    let follows_lock = || plan.lock.as_ref().is_some_and(|lock| lock.differs.is_empty());
    match warning.code {
        _ if is_moving_name(warning) => is_builtin || follows_lock(),
        "single-trial" => {
            let is_repeated =
                |one: &MeasurementPlan| one.mode != Mode::Performance || one.trials.max > 1;
            plan.smoke_test || plan.measurements.iter().all(is_repeated)
        }
        _ => false,
    }
}

/// Adds to a plan's changes that `--rules` replaced the built-in rules of its round.
fn record_rule_changes(plan: &mut Plan) {
    let mut builtin = plan.clone();
    builtin.add_round_rules(catalog::built_in_rounds());
    let given = plan.measurements.iter().zip(&builtin.measurements);
    let mut replaced =
        given.filter(|(given, builtin)| builtin.rules.is_some() && given.rules != builtin.rules);
    let file = replaced.find_map(|(given, _)| Some(given.rules.as_ref()?.file.clone()));
    let change = file.map(|file| format!("--rules {file} in place of the built-in rules"));
    plan.changes.extend(change);
}
