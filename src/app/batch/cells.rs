//! The cells of a batch with their recipes, and the plan of each of their runs: all problems are
//! found here, before anything is pulled.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools as _;

use super::record::BatchRecord;
use crate::app::catalog::{self, FoundRecipe};
use crate::app::failure::Failure;
use crate::app::launch::gpu_support::probe_host_for;
use crate::app::launch::{
    ApprovedPlan, BatchFile, CheckedRun, OpenedRecipe, PlannedRun, RefusedRun, require_approved,
};
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use retrial_batch::{BatchPlan, TrialRun};
use retrial_document::ErrorText;
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_recipe::Diagnostics;
use retrial_results::verdict::ExitCode;

/// Recipes of cells, by the cells' positions.
pub struct CellRecipes(BTreeMap<usize, OpenedRecipe>);

pub struct TrialRunPlans {
    /// The host when it was examined.
    pub host: HostView,
    /// Trial runs of a cell differ in their modes: one plan for each.
    plans: Vec<(TrialRun, ApprovedPlan)>,
}

impl CellRecipes {
    /// Reads and resolves the recipe of every cell, and reports all problems. `file` is that of the batch, if it was read.
    pub fn open(plan: &BatchPlan, file: Option<&FoundRecipe>) -> Result<Self, Failure> {
        Self::open_at_positions(plan, file, &(0..plan.cells.len()).collect())
    }

    /// As [`Self::open`], of the cells at these positions.
    pub fn open_at_positions(
        plan: &BatchPlan,
        file: Option<&FoundRecipe>,
        positions: &BTreeSet<usize>,
    ) -> Result<Self, Failure> {
        let mut failures = CellFailures::default();
        // Problems that do not depend on a cell's choices are reported once.
        let mut problems = Diagnostics::default();
        let mut cells = BTreeMap::new();
        let batch_file =
            plan.file.as_ref().map(|path| BatchFile { path: path.clone(), read: file.cloned() });
        for (position, cell) in plan.cells.iter().enumerate() {
            if !positions.contains(&position) {
                continue;
            }
            match catalog::open_recipe(&cell.path) {
                Ok(entry) => match OpenedRecipe::resolve_cell(
                    entry,
                    &cell.recipe_settings(),
                    batch_file.clone(),
                ) {
                    Ok(opened) => drop(cells.insert(position, opened)),
                    Err(errors) => problems.extend(errors),
                },
                Err(error) => failures.add(&cell.name, error.into()),
            }
        }
        if problems.has_errors() {
            failures.add("", Failure::of_problems(problems));
        }
        failures.into_result().map(|()| Self(cells))
    }

    /// SHA-256 of each resolved recipe.
    pub fn recipe_hashes(&self) -> Vec<String> {
        let hashes = self.0.values().map(|cell| cell.resolved.hash.clone());
        hashes.collect()
    }

    /// The position of a cell whose recipe does not have its hash of these any more.
    pub fn find_changed(&self, hashes: &[String]) -> Option<usize> {
        let mut cells = self.0.iter();
        let changed =
            cells.find(|(cell, opened)| hashes.get(**cell) != Some(&opened.resolved.hash));
        changed.map(|(cell, _)| *cell)
    }

    pub fn get(&self, cell: usize) -> Option<&OpenedRecipe> {
        self.0.get(&cell)
    }

    /// Plans every run for a host, or for nodes of a site, which are not examined yet. Reports the
    /// problems of all at once.
    pub fn plan_runs(
        &self,
        global: &GlobalOptions,
        record: &BatchRecord,
        gpus: &[String],
        host: Option<HostView>,
    ) -> Result<TrialRunPlans, Failure> {
        let (run, mut failures) = (&record.options.run, CellFailures::default());
        let mut examined: Vec<(&TrialRun, Result<CheckedRun, Box<PlannedRun>>)> = Vec::new();
        let mut warned = BTreeSet::new();
        for trial_run in &record.plan.schedule.trial_runs {
            let cell = record.plan.cells.get(trial_run.cell);
            let (Some(cell), Some(opened)) = (cell, self.get(trial_run.cell)) else {
                continue;
            };
            let mut others = examined.iter();
            if others.any(|(other, _)| have_same_plan(other, trial_run)) {
                continue;
            }
            // Warnings of a recipe are printed once, not for every cell.
            let mut quiet = global.clone();
            quiet.quiet |= !warned.insert(&cell.path);
            let arguments = record.options.plan_request(cell, trial_run, gpus);
            match opened.plan_run(&quiet, &arguments, run, host.as_ref()) {
                Ok(planned) => {
                    if record.has_changed(trial_run.cell, planned.plan()) {
                        let what = format!(
                            "a file next to {}, or where one of its paths leads,",
                            cell.path
                        );
                        failures.add(&cell.name, changed_since_start(&what));
                    }
                    let trial_runs = record.plan.schedule.trial_runs.iter();
                    let of_cell = trial_runs.filter(|other| other.cell == trial_run.cell);
                    planned.print_warnings(&quiet, of_cell.count());
                    let checked = planned.check(&quiet);
                    let checked = checked.and_then(|run| run.require(require_single_machine));
                    let checked = checked.map_err(|RefusedRun { run, failure }| {
                        failures.add(&cell.name, failure);
                        run
                    });
                    examined.push((trial_run, checked));
                }
                Err(failure) => failures.add(&cell.name, failure),
            }
        }
        let approved = approve_if_all_can_run(global, examined, &mut failures);
        failures
            .into_result()
            .map(|()| TrialRunPlans { host: host.unwrap_or_default(), plans: approved })
    }

    /// Probes this host, and its engine if a recipe depends on it.
    pub fn probe_host(&self, global: &GlobalOptions) -> HostView {
        probe_host_for(global, self.0.values().map(|cell| &cell.resolved.recipe))
    }
}

/// Asks for approval only if all can run; else reports what is not approved.
fn approve_if_all_can_run(
    global: &GlobalOptions,
    examined: Vec<(&TrialRun, Result<CheckedRun, Box<PlannedRun>>)>,
    failures: &mut CellFailures,
) -> Vec<(TrialRun, ApprovedPlan)> {
    if !failures.is_empty() {
        let runs = examined.iter().map(|(_, run)| match run {
            Ok(checked) => checked.planned(),
            Err(refused) => refused,
        });
        if let Err(failure) = require_approved(global, &runs.collect::<Vec<_>>()) {
            failures.add("", failure);
        }
        return Vec::new();
    }
    let checked = examined.into_iter();
    let checked = checked.filter_map(|(trial_run, run)| Some((trial_run.clone(), run.ok()?)));
    let (trial_runs, runs): (Vec<TrialRun>, Vec<CheckedRun>) = checked.unzip();
    match CheckedRun::approve_all(runs, global) {
        Ok(plans) => trial_runs.into_iter().zip(plans).collect(),
        Err(failure) => {
            failures.add("", failure);
            Vec::new()
        }
    }
}

/// Refuses a recipe for several machines.
fn require_single_machine(plan: &Plan) -> Result<(), Failure> {
    let Some(nodes) = plan.nodes.filter(|nodes| nodes.count > 1) else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "{} needs {} machines, and a run of a batch has one",
        plan.recipe, nodes.count
    ))
    .with_help(format!("run it by itself: retrial run {} --site NAME", plan.recipe)))
}

impl TrialRunPlans {
    pub fn get_plan(&self, trial_run: &TrialRun) -> Option<&ApprovedPlan> {
        let mut plans = self.plans.iter();
        let found = plans.find(|(other, _)| have_same_plan(other, trial_run));
        found.map(|(_, plan)| plan)
    }

    /// What was approved of each cell, for the batch's record.
    pub fn approved(&self, record: &BatchRecord) -> BTreeMap<usize, BTreeSet<String>> {
        let approved =
            self.iter().filter_map(|(cell, plan)| Some((cell, record.approved_of(plan.plan())?)));
        approved.into_grouping_map().collect().into_iter().collect()
    }

    /// Returns every plan, with the position of its cell.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &ApprovedPlan)> {
        self.plans.iter().map(|(run, plan)| (run.cell, plan))
    }
}

/// The failure of a batch whose trials would not be one sample any more.
pub fn changed_since_start(what: &str) -> Failure {
    Failure::usage(format!(
        "{what} has changed since the batch started, so its trials would no longer be one sample"
    ))
    .with_help("undo the change, or start again: retrial batch … --new")
}

/// Returns whether two trial runs have the same plan.
fn have_same_plan(run: &TrialRun, other: &TrialRun) -> bool {
    run.cell == other.cell && run.modes == other.modes
}

/// Problems of cells, each once, with the names of all cells that have it.
#[derive(Default)]
pub struct CellFailures {
    cells: BTreeMap<ErrorText, Vec<String>>,
    /// Those of recipes, which have a place of their own.
    problems: Diagnostics,
    exits: Vec<ExitCode>,
}

/// How many cells a problem names.
const MAX_NAMED_CELLS: usize = 4;

impl CellFailures {
    /// Adds a problem of a cell; an empty name stands for the batch.
    pub fn add(&mut self, cell: &str, failure: Failure) {
        self.exits.push(failure.exit);
        let (errors, problems) = failure.into_parts();
        self.problems.extend(problems);
        for error in errors {
            let cells = self.cells.entry(error).or_default();
            if !cell.is_empty() && !cells.iter().any(|name| name == cell) {
                cells.push(cell.to_owned());
            }
        }
    }

    /// Returns whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.exits.is_empty()
    }

    /// Returns a failure with all problems, if there are any.
    pub fn into_result(self) -> Result<(), Failure> {
        if self.exits.is_empty() {
            return Ok(());
        }
        let errors = self.cells.into_iter().map(|(error, cells)| {
            let shown = &cells[..cells.len().min(MAX_NAMED_CELLS)];
            let lead = match (shown.is_empty(), cells.len().saturating_sub(MAX_NAMED_CELLS)) {
                (true, _) => String::new(),
                (false, 0) => format!("{}: ", shown.join(" and ")),
                (false, more) => format!("{} and {more} more: ", shown.join(", ")),
            };
            error.in_context(&lead)
        });
        let errors: Vec<ErrorText> = errors.collect();
        if !errors.is_empty() {
            terminal::print_note("nothing was started:");
        }
        let exit = ExitCode::first_applicable(self.exits);
        Err(Failure::with_errors(exit, errors).with_problems(self.problems))
    }
}
