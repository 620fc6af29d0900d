//! Lists the options of the command line that changed the recipe's own plan, for the verdict. The plan that runs is
//! compared with the plan of the recipe without options; an option counts if it makes a difference by itself. Pure.

use itertools::{Itertools as _, join};

use super::measurement::MeasurementPlan;
use super::options::PlanOptions;
use super::step::{Action, Plan, Step, StepCondition};
use retrial_container::ContainerSpec;
use retrial_document::measures::format::join_first;
use retrial_host::assign::count_cards;
use retrial_recipe::ParamSetting;
use retrial_recipe::model::Recipe;

/// The file in which a shell script keeps the changing options of its plan, a line each, next to its results:
/// whoever judges them reads it.
pub const OPTIONS_FILE: &str = "changed-options.txt";

/// The change by which a plan is a smoke test: its figures are not compared with published ones.
pub const SMOKE_TEST_CHANGE: &str = "--smoke-test";

/// The largest number of steps that a change names.
const MAX_NAMED_STEPS: usize = 3;

impl Plan {
    /// Returns the options that changed the execution, as fragments: `--skip setup-clocks`. Those that removed steps or
    /// privileges are read from the plan's own steps and privileges, whoever wrote its list of changes.
    pub fn changing_options(&self) -> Vec<String> {
        let smoke_test = self.smoke_test.then(|| SMOKE_TEST_CHANGE.to_owned());
        let listed = smoke_test.into_iter().chain(self.changes.iter().cloned());
        let all = listed.chain(removed_by_options(self));
        all.unique().collect()
    }

    /// The parameters that `--set` changed, as a fragment: `--set batch=4 --set tp=8`.
    pub fn changed_settings(&self) -> Option<String> {
        let params = self.modified_settings().filter(|set| !self.replaced.contains_key(&set.name));
        let set =
            join(params.map(|set| set.to_option()).map(|(name, set)| format!("{name} {set}")), " ");
        (!set.is_empty()).then_some(set)
    }

    /// The images and build arguments that the command line replaced, each as a fragment: `--image a:2 in place of a:1`;
    /// and the image of a variant whose published figures are of another. `ran` returns the digest of an image that ran, by the name of its setting.
    pub fn replaced_images(&self, ran: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let replaced = self.modified_settings().filter_map(|setting| {
            let published = self.replaced.get(&setting.name)?;
            let (option, value) = setting.to_option();
            let named = name_image(&value, ran(&setting.name));
            Some(format!("{option} {named} in place of {published}"))
        });
        let published = self.published_image.iter().filter(|_| self.has_published_figures());
        let by_variant = published.map(|published| {
            format!("{} in place of {published}", name_image(&self.image, ran("image")))
        });
        replaced.chain(by_variant).collect()
    }

    /// What differs from the recipe that the plan's recipe extends: `extends gemm, changing image`.
    pub fn describe_base(&self) -> Option<String> {
        self.base.as_ref()?.describe_changes()
    }

    fn modified_settings(&self) -> impl Iterator<Item = ParamSetting> {
        let names = self.modified.iter();
        names.map(|name| {
            let value = self.params.get(name).map(ToString::to_string);
            ParamSetting::new(name, value.unwrap_or_default())
        })
    }

    fn has_published_figures(&self) -> bool {
        let mut measured = self.measurements.iter();
        measured.any(|one| !one.expect.is_empty() || one.references.is_some())
    }

    /// Says that the figures of the recipe belong to another image, where it has any.
    pub(super) fn describe_foreign_figures(&self) -> Option<String> {
        let mut changes = self.replaced_images(|_| None);
        changes.extend(self.describe_base());
        (self.has_published_figures() && !changes.is_empty()).then(|| {
            let changes = changes.join(", ");
            format!("{changes}: the recipe's figures are of what is replaced, and the verdict is `modified`")
        })
    }
}

/// An image, and the digest that ran, unless its reference has one.
fn name_image(reference: &str, ran: Option<String>) -> String {
    match ran.filter(|_| !reference.contains('@')) {
        Some(digest) => format!("{reference} ({digest})"),
        None => reference.to_owned(),
    }
}

/// The options by which a plan differs from the recipe's own, as fragments: `--skip setup-clocks`. `build` makes
/// the plan of other options.
///
/// # Errors
/// Returns an error of `build`.
pub(super) fn changes_by_options<E>(
    recipe: &Recipe,
    options: &PlanOptions,
    plan: &Plan,
    build: impl Fn(&PlanOptions) -> Result<Plan, E>,
) -> Result<Vec<String>, E> {
    let own = own_options(recipe, options);
    let mut changes = Vec::from_iter(extra_gpus_change(options, plan));
    if own == *options {
        return Ok(changes);
    }
    let own_plan = build(&own)?;
    for (option, alone) in list_single_options(options, &own) {
        let alone = build(&alone)?;
        if Execution::from_plan(&alone) != Execution::from_plan(&own_plan) {
            // The plan itself names the steps and privileges that these removed.
            let removed = removed_by_options(&alone).into_iter().next();
            changes.push(removed.unwrap_or(option));
        }
    }
    if changes.is_empty() && Execution::from_plan(plan) != Execution::from_plan(&own_plan) {
        changes.push("options of the command line".to_owned());
    }
    Ok(changes)
}

/// Returns the change of a plan that uses more GPUs than the recipe requires.
fn extra_gpus_change(options: &PlanOptions, plan: &Plan) -> Option<String> {
    let required = plan.requires.gpus.as_ref()?.count as usize;
    let assigned = plan.assigned_gpus.as_ref()?.gpus.iter();
    let chosen = count_cards(assigned.map(|assigned| &assigned.gpu));
    let gpus = join(&options.gpus, ",");
    let is_more = !gpus.is_empty() && chosen > required;
    is_more.then(|| format!("--gpus {gpus}: {chosen} GPUs, and the recipe requires {required}"))
}

/// Returns the options without those that change what a measurement executes. Every option is decided here: a new
/// one does not compile until it is.
fn own_options(recipe: &Recipe, options: &PlanOptions) -> PlanOptions {
    let PlanOptions {
        // These select measurements; each selected one is measured as the recipe states.
        scenarios,
        points,
        modes,
        // The bounds of a figure depend on the number of its trials.
        trials,
        // `Plan::changing_options` lists it.
        smoke_test,
        warmup: _,
        // Fewer or other GPUs than required are an unmet requirement, `other hardware`; more are listed.
        gpus,
        least_privilege: _,
        skip: _,
        from: _,
        // After the last measurement.
        keep,
        // An image is judged by its digest: `unpinned image`.
        pull,
        secrets,
    } = options;
    let is_of_recipe = |name: &&String| recipe.secrets.contains(name) || *name == "HF_TOKEN";
    PlanOptions {
        scenarios: scenarios.clone(),
        points: points.clone(),
        modes: modes.clone(),
        trials: *trials,
        smoke_test: *smoke_test,
        warmup: None,
        gpus: gpus.clone(),
        least_privilege: false,
        skip: Vec::new(),
        from: None,
        keep: *keep,
        pull: *pull,
        secrets: secrets.iter().filter(is_of_recipe).cloned().collect(),
    }
}

/// Returns each option that the recipe's own plan does not have, with the options that differ by it only.
fn list_single_options(options: &PlanOptions, own: &PlanOptions) -> Vec<(String, PlanOptions)> {
    let mut all = Vec::new();
    for name in &options.skip {
        let skip = vec![name.clone()];
        all.push((format!("--skip {name}"), PlanOptions { skip, ..own.clone() }));
    }
    if let Some(name) = &options.from {
        let from = Some(name.clone());
        all.push((format!("--from {name}"), PlanOptions { from, ..own.clone() }));
    }
    if options.least_privilege {
        let least_privilege = true;
        let alone = PlanOptions { least_privilege, ..own.clone() };
        all.push(("--least-privilege".to_owned(), alone));
    }
    if let Some(count) = options.warmup {
        let warmup = Some(count);
        all.push((format!("--warmup {count}"), PlanOptions { warmup, ..own.clone() }));
    }
    let added = options.secrets.iter();
    for name in added.filter(|name| !own.secrets.contains(name)) {
        let secrets = own.secrets.iter().chain([name]).cloned().collect();
        all.push((format!("--secret {name}"), PlanOptions { secrets, ..own.clone() }));
    }
    all
}

/// Returns the steps and privileges that options removed from a plan, each with its option.
fn removed_by_options(plan: &Plan) -> Vec<String> {
    let mut skipped_by_option: Vec<(&str, Vec<&str>)> = Vec::new();
    for step in plan.steps.iter().filter(|step| affects_measurements(step)) {
        let StepCondition::Skipped { option } = &step.when else {
            continue;
        };
        match skipped_by_option.iter_mut().find(|(other, _)| other == option) {
            Some((_, names)) => names.push(&step.name),
            None => skipped_by_option.push((option.as_str(), vec![step.name.as_str()])),
        }
    }
    let skipped = skipped_by_option.into_iter().map(|(option, names)| match &names[..] {
        [name] if option == format!("--skip {name}") => option.to_owned(),
        _ => format!("{option} (without {})", join_first(&names, MAX_NAMED_STEPS)),
    });
    let removed_privileges = plan.removed_privileges.iter();
    let settings = join(removed_privileges.map(|privilege| &privilege.setting), ", ");
    let privileges = (!settings.is_empty()).then(|| {
        format!(
            "--least-privilege removed {settings}; scripts could not set clocks or kernel settings"
        )
    });
    skipped.chain(privileges).collect()
}

/// Returns whether something else is measured if the step is skipped.
fn affects_measurements(step: &Step) -> bool {
    // Without a pull the container starts from the image of the same name or digest.
    !matches!(step.action, Action::Pull { .. } | Action::Judge | Action::Remove)
}

/// The parts of a plan that decide what is executed, to compare two plans.
#[derive(PartialEq)]
struct Execution<'a> {
    image: &'a str,
    container: &'a ContainerSpec,
    measurements: &'a [MeasurementPlan],
    /// Name and action of each step, and whether something else is measured since it is skipped.
    steps: Vec<(&'a str, &'a Action, bool)>,
}

impl<'a> Execution<'a> {
    /// Every property of a plan is decided here: a new one does not compile until it is.
    fn from_plan(plan: &'a Plan) -> Self {
        let Plan {
            image,
            container,
            measurements,
            steps,
            // The recipe's identity, and its statements on the published result.
            schema: _,
            recipe: _,
            recipe_hash: _,
            built_in: _,
            title: _,
            expected_duration: _,
            submission: _,
            params: _,
            variant: _,
            requires: _,
            nodes: _,
            directory: _,
            home: _,
            deviations: _,
            notes: _,
            packages: _,
            claims: _,
            judge: _,
            // The selection of measurements, and settings that are compared by themselves.
            excluded: _,
            excluded_accuracy: _,
            modified: _,
            given_params: _,
            replaced: _,
            base: _,
            published_image: _,
            image_contents: _,
            smoke_test: _,
            changes: _,
            options: _,
            batch: _,
            // The host: unmet requirements and differences are qualifiers of their own.
            gpus: _,
            assigned_gpus: _,
            warnings: _,
            node_differences: _,
            unmet: _,
            same_sku: _,
            // In the container's flags and the steps' environment.
            removed_privileges: _,
            access: _,
            privileges: _,
            secrets: _,
            // The image's content: `unpinned image`; a lock that differs is a qualifier.
            pinned: _,
            lock: _,
            downloads: _,
            // How the run is executed and judged; set after the plan was made.
            no_wait: _,
            require_accuracy: _,
            cache: _,
            verify_cache: _,
            telemetry: _,
            simulated_host: _,
            companions: _,
            in_place: _,
        } = plan;
        let compared_steps = steps.iter().map(|step| {
            (step.name.as_str(), &step.action, step.is_skipped() && affects_measurements(step))
        });
        Self { image, container, measurements, steps: compared_steps.collect() }
    }
}

#[cfg(test)]
mod tests;
