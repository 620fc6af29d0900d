//! The cells of a batch: the product of its axes, less what is excluded and what the recipes call
//! unsupported, plus what is included.

mod checks;

use indexmap::{IndexMap, IndexSet};
use itertools::{Itertools as _, join};

use super::axis_domain::AxisDomain;
use super::cell::{Cell, ExcludedCell, ExclusionReason};
use super::check_names::check_names;
use super::claim::{self, BatchClaim, ClaimSubjects};
use super::joint_changes::describe_planned_changes;
use super::model::{Batch, BatchExecution, Combination, ExternalResult, WrittenAxis};
use super::names::RECIPE;
use super::plan::BatchPlan;
use super::{NamedValues, Schedule};
use retrial_recipe::model::Mode;
use retrial_recipe::{Diagnostics, VariantChoice};

/// The version of batch.json's format.
const BATCH_SCHEMA_VERSION: u32 = 1;
/// The most cells of a batch: more are a mistake in an axis.
const MAX_CELLS: usize = 10_000;

/// Plans a batch: its cells, omissions with their reasons, the schedule, the parts of the claims.
///
/// # Errors
/// If the recipes do not have an axis, value or claimed cell, or no cell is left: every problem.
pub fn plan_batch(batch: &Batch, recipes: &[AxisDomain]) -> Result<BatchPlan, Diagnostics> {
    let measures_performance = batch.modes.is_empty() || batch.modes.contains(&Mode::Performance);
    let stated = recipes.iter().filter_map(|recipe| recipe.stated_trials);
    let default_trials = stated.max().filter(|_| measures_performance).unwrap_or(1);
    let trials = batch.execution.trials.unwrap_or(default_trials);
    let mut matrix = MatrixBuilder {
        batch,
        recipes,
        trials,
        cells: Vec::new(),
        excluded: Vec::new(),
        problems: check_names(batch, recipes),
    };
    if !matrix.problems.has_errors() {
        matrix.build_cells();
    }
    if !matrix.problems.has_errors() {
        matrix.assign_external_cells();
        matrix.check_any_cell();
        matrix.assign_baselines();
    }
    let claims = if matrix.problems.has_errors() { Vec::new() } else { matrix.parse_claims() };
    if matrix.problems.has_errors() {
        let first = batch.recipes.first();
        let path = first.map_or("", |recipe| &recipe.recipe.span.source.path);
        matrix.problems.sort_by_place(path);
        return Err(matrix.problems);
    }
    let (axes, external_results) = (matrix.axes_of_cells(), matrix.external_results());
    let joint_changes = describe_planned_changes(&matrix.cells, &claims, recipes);
    let (external_cells, cells): (Vec<Cell>, Vec<Cell>) =
        matrix.cells.into_iter().partition(|cell| cell.external.is_some());
    Ok(BatchPlan {
        schema: BATCH_SCHEMA_VERSION,
        file: None,
        title: batch.title.clone(),
        axes,
        schedule: Schedule::new(&cells, batch.execution.order),
        execution: BatchExecution { trials: Some(trials), ..batch.execution.clone() },
        external_results,
        cells,
        external_cells,
        excluded: matrix.excluded,
        claims,
        joint_changes,
        restated: false,
        search: None,
    })
}

struct MatrixBuilder<'a> {
    batch: &'a Batch,
    recipes: &'a [AxisDomain],
    /// The number of trials of each cell.
    trials: u32,
    cells: Vec<Cell>,
    excluded: Vec<ExcludedCell>,
    problems: Diagnostics,
}

impl MatrixBuilder<'_> {
    fn build_cells(&mut self) {
        let (batch, recipes) = (self.batch, self.recipes);
        for domain in recipes {
            let varied = batch.vary.iter();
            let axes: Vec<&WrittenAxis> =
                varied.filter(|axis| domain.has_axis(&axis.name.value)).collect();
            let sizes = axes.iter().map(|axis| axis.values.len());
            let count = sizes.fold(1, usize::saturating_mul);
            let is_too_large = self.cells.len().saturating_add(count) > MAX_CELLS;
            if let Some(axis) = axes.first().filter(|_| is_too_large) {
                let message = format!("more than {MAX_CELLS} cells");
                let help = "remove values, or make several batches";
                let at = &axis.name.span;
                return self.problems.error("too-large", message, at, help);
            }
            let choices = axes.into_iter().map(|axis| {
                let values = axis.values.iter();
                values.map(move |value| (axis.name.value.clone(), value.value.clone()))
            });
            for values in choices.multi_cartesian_product() {
                self.add_combination(domain, values.into_iter().collect());
            }
        }
        for include in &batch.include {
            self.add_included(include);
        }
        self.check_excludes();
    }

    /// Adds a combination of the product as a cell, or omits it if it is excluded.
    fn add_combination(&mut self, domain: &AxisDomain, axes: NamedValues) {
        let values_with_recipe = with_recipe(&domain.name, &axes);
        let mut excluded = self.batch.exclude.iter();
        if let Some(by) =
            excluded.find(|exclude| exclude.to_values().is_subset_of(&values_with_recipe))
        {
            let reason = by.reason.clone();
            return self.omit_cell(domain, axes, ExclusionReason::Excluded { reason });
        }
        self.add_cell(domain, axes);
    }

    /// Adds a cell, or omits it if its recipe does not support it.
    fn add_cell(&mut self, domain: &AxisDomain, axes: NamedValues) {
        let batch = self.batch;
        let missing =
            axes.iter().find(|(name, value)| !domain.has_value(name, batch.setting(name, value)));
        if let Some((name, value)) = missing {
            let reason = ExclusionReason::NoSuchValue {
                recipe: domain.name.clone(),
                name: name.to_owned(),
                value: value.to_owned(),
            };
            return self.omit_cell(domain, axes, reason);
        }
        let mut choice: VariantChoice = domain.variants.default_choice();
        let applicable = self.batch.set.iter().filter(|(name, _)| domain.has_axis(name));
        let set: NamedValues =
            applicable.map(|(name, set)| (name.clone(), set.value.clone())).collect();
        for (name, value) in set.iter().chain(axes.iter()) {
            choice.insert(name.to_owned(), batch.setting(name, value).to_owned());
        }
        if let Some(unsupported) = domain.variants.find_unsupported(&choice) {
            let reason = unsupported.reason.clone();
            return self.omit_cell(domain, axes, ExclusionReason::Unsupported { reason });
        }
        let is_named = |name: &str, value: &str| batch.setting(name, value) != value;
        let named = axes.iter().filter(|(name, value)| is_named(name, value));
        let named = named.map(|(name, value)| {
            let setting = batch.setting(name, value);
            (name.to_owned(), setting.to_owned())
        });
        let named = named.collect();
        self.cells.push(Cell {
            name: self.cell_name(domain, &axes),
            recipe: domain.name.clone(),
            path: domain.path.clone(),
            axes,
            named,
            set,
            scenarios: batch
                .scenarios
                .iter()
                .map(|scenario| scenario.value.as_str().into())
                .collect(),
            modes: batch.modes.clone(),
            trials: self.trials,
            external: None,
            baseline: None,
        });
    }

    fn add_included(&mut self, include: &Combination) {
        let mut values = include.to_values();
        let recipe = values.get(RECIPE).map(str::to_owned);
        values.retain(|name| name != RECIPE);
        let knows = |domain: &&AxisDomain| {
            recipe.as_deref().is_none_or(|name| domain.name == name)
                && values
                    .iter()
                    .all(|(name, value)| domain.has_value(name, self.batch.setting(name, value)))
        };
        let recipes: Vec<&AxisDomain> = self.recipes.iter().filter(knows).collect();
        if recipes.is_empty() {
            let message = "no recipe of this batch has all of these values";
            let help = "remove it, or name others";
            self.problems.error("unknown-value", message, &include.span, help);
        }
        for domain in recipes {
            // In the order of the other cells, what this one does not name by the recipe's default.
            let mut axes = NamedValues::default();
            let defaults = domain.variants.default_choice();
            for axis in &self.batch.vary {
                let name = &axis.name.value;
                let value = values.get(name).or(defaults.get(name).map(String::as_str));
                if let Some(value) = value {
                    axes.set(name, value);
                }
            }
            values.iter().for_each(|(name, value)| axes.set(name, value));
            let name = self.cell_name(domain, &axes);
            if self.cells.iter().any(|cell| cell.name == name) {
                let message = format!("{name} is a cell already");
                let help = "remove it from `include`";
                self.problems.error("duplicate", message, &include.span, help);
            } else {
                self.excluded.retain(|cell| cell.name != name);
                self.add_cell(domain, axes);
            }
        }
    }

    /// Marks the cells that other hosts measured.
    fn assign_external_cells(&mut self) {
        for (name, other) in &self.batch.external_results {
            let Some(combination) = &other.cells else {
                continue;
            };
            let values = combination.to_values();
            let mut matching = self
                .cells
                .iter_mut()
                .filter(|cell| values.is_subset_of(&with_recipe(&cell.recipe, &cell.axes)))
                .peekable();
            if matching.peek().is_none() {
                let message = format!("no cell has {values}");
                let help = "add its values to `vary`, or remove `cells`";
                self.problems.error("no-cell", message, &combination.span, help);
            }
            for cell in matching {
                if let Some(earlier) = &cell.external {
                    let message = format!("{} is a cell of `{earlier}` already", cell.name);
                    let help = "name the runs of a cell once";
                    self.problems.error("duplicate", message, &combination.span, help);
                }
                cell.external = Some(name.clone());
                cell.trials = 0;
            }
        }
    }

    /// Finds the baseline of each cell.
    fn assign_baselines(&mut self) {
        let baseline = self.batch.baseline.as_ref();
        let values = baseline.map(Combination::to_values).unwrap_or_default();
        let baseline_of = |cell: &Cell| -> Option<String> {
            let same_recipe = |other: &&Cell| {
                let recipe = values.get(RECIPE).unwrap_or(&cell.recipe);
                other.recipe == recipe
            };
            let mut others = self.cells.iter().filter(same_recipe);
            if baseline.is_none() {
                return others.next().map(|other| other.name.clone());
            }
            let mut expected = cell.axes.clone();
            for (name, value) in values.iter().filter(|(name, _)| *name != RECIPE) {
                expected.set(name, value);
            }
            let alike = |other: &&Cell| {
                expected.iter().all(|(name, value)| {
                    let named = values.get(name).is_some();
                    other.axes.get(name).map_or(!named, |own| own == value)
                })
            };
            others.find(alike).map(|other| other.name.clone())
        };
        let baselines: Vec<Option<String>> = self.cells.iter().map(baseline_of).collect();
        if let (Some(baseline), true) = (baseline, baselines.iter().all(Option::is_none)) {
            let message = format!("no cell has {values}, the baseline");
            let cells = join(self.cells.iter().take(8).map(|cell| &cell.name), "; ");
            let help = format!("the cells are {cells}");
            self.problems.error("no-baseline", message, &baseline.span, help);
        }
        for (cell, name) in self.cells.iter_mut().zip(baselines) {
            cell.baseline = name.filter(|name| *name != cell.name);
        }
    }

    fn omit_cell(&mut self, domain: &AxisDomain, axes: NamedValues, reason: ExclusionReason) {
        self.excluded.push(ExcludedCell {
            name: self.cell_name(domain, &axes),
            recipe: domain.name.clone(),
            axes,
            reason,
        });
    }

    fn cell_name(&self, domain: &AxisDomain, axes: &NamedValues) -> String {
        match (self.recipes.len(), axes.is_empty()) {
            (1, false) => axes.to_string(),
            (_, true) => domain.name.clone(),
            (_, false) => format!("{},{axes}", domain.name),
        }
    }

    /// The axes in order, with the values that cells have.
    fn axes_of_cells(&self) -> Vec<(String, Vec<String>)> {
        let mut values_by_axis: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
        for cell in &self.cells {
            let recipe = (self.recipes.len() > 1).then_some((RECIPE, &*cell.recipe));
            for (name, value) in recipe.into_iter().chain(cell.axes.iter()) {
                values_by_axis.entry(name).or_default().insert(value);
            }
        }
        let axes = values_by_axis.into_iter();
        axes.map(|(name, values)| {
            let owned_values = values.into_iter().map(str::to_owned);
            (name.to_owned(), owned_values.collect())
        })
        .collect()
    }

    fn external_results(&self) -> Vec<ExternalResult> {
        let others = self.batch.external_results.iter();
        let planned = others.map(|(name, other)| ExternalResult {
            name: name.clone(),
            runs: other.runs.iter().map(|run| run.value.clone()).collect(),
            cells: other.cells.as_ref().map(Combination::to_values).unwrap_or_default(),
        });
        planned.collect()
    }

    fn parse_claims(&mut self) -> Vec<BatchClaim> {
        let (mut scenarios, mut figures) = (Vec::new(), Vec::new());
        for domain in self.recipes {
            for name in &domain.scenarios {
                if !scenarios.contains(name) {
                    scenarios.push(name.clone());
                }
            }
            figures.extend(domain.figures.iter().cloned());
        }
        // Those that measured cells are named by the values of the cells.
        let mut external_results = self.external_results();
        external_results.retain(|other| other.cells.is_empty());
        let subjects = ClaimSubjects {
            recipes: self.recipes,
            axes: &self.axes_of_cells(),
            cells: &self.cells,
            excluded: &self.excluded,
            external_results: &external_results,
            scenarios: &scenarios,
            figures: &figures,
        };
        let written = self.batch.claims.iter();
        written
            .filter_map(|claim| claim::parse_claim(claim, &subjects, &mut self.problems))
            .collect()
    }
}

fn with_recipe(recipe: &str, axes: &NamedValues) -> NamedValues {
    let mut values = axes.clone();
    values.set(RECIPE, recipe);
    values
}
