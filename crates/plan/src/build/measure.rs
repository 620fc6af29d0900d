//! Scenarios: for each mode and trial its command, its check, and the collection of its results.

use std::collections::BTreeMap;
use std::fmt;

use itertools::join;

use super::error::PlanError;
use super::{PlanBuilder, render_expression};
use crate::measurement::MeasurementPlan;
use crate::options::PlanOptions;
use crate::step::{Action, CommandPurpose, StepCondition};
use retrial_mlperf::ScenarioName;
use retrial_recipe::expression::ExpressionScope;
use retrial_recipe::model::{
    Measurement, MeasurementCommand, Mode, Placement, Recipe, SweepPoint, Template, Trials,
};

impl PlanBuilder<'_> {
    pub(super) fn add_measurements(&mut self) -> Result<(), PlanError> {
        self.check_scenarios()?;
        let matching = recipe_measurements(self.recipe).filter(|entry| self.is_selected(entry));
        let selected: Vec<_> = matching.collect();
        let mut shared = SharedSteps::new();
        for (index, entry) in selected.iter().enumerate() {
            let plan = self.measurement_plan(entry)?;
            let last = *plan.judged_trials().end();
            self.plan.measurements.push(plan);
            for trial in 1..=last {
                let trial = TrialContext::new(self, entry.measurement, trial);
                self.add_trial(&trial, &mut shared)?;
            }
            let later = selected[index + 1..].iter();
            self.stop_unneeded_services(later.map(|entry| entry.measurement));
        }
        if self.plan.measurements.is_empty() {
            return Err(self.nothing_to_measure_error());
        }
        Ok(())
    }

    /// Adds one trial: the command, its check, and the collection of its results.
    fn add_trial(
        &mut self,
        context: &TrialContext<'_>,
        shared: &mut SharedSteps,
    ) -> Result<(), PlanError> {
        let (from, index, trial) = (context.measurement, context.index, context.trial);
        let (stem, place, scope) = (&context.stem, &context.key_path, &context.scope);
        let results_template = from.results.as_ref();
        let results = results_template
            .map(|path| render_expression(&format!("{place}.results"), path, scope))
            .transpose()?;
        let command = match &from.command {
            MeasurementCommand::Run(run) => {
                let purpose = CommandPurpose::Measure { measurements: vec![index], trial };
                let place = format!("{place}.run");
                let mut exec = self.exec_step(purpose, &place, run, &from.options, scope)?;
                exec.results.extend(results.clone());
                self.add_measuring_step(
                    context,
                    &context.step_name(stem),
                    exec,
                    &from.needs,
                    from.on,
                )?
            }
            MeasurementCommand::From(name) => {
                self.shared_command_step(name, context, results.as_ref(), shared)?
            }
        };
        let mut fetching = command;
        if let Some(check) = &from.check {
            let purpose = CommandPurpose::Check { measurement: index, trial, of: command };
            let place = format!("{place}.check");
            let mut exec = self.exec_step(purpose, &place, check, &from.options, scope)?;
            if let Some(timeout) = from.check_timeout {
                exec.timeout_s = timeout.as_secs().max(1);
            }
            fetching = self.add_head_step(context, "check", Action::Exec(exec));
        }
        let name = self.plan.measurements[index].step_name_stem();
        self.add_download(fetching, name, from.download.as_ref());
        if let Some(path) = results {
            let action = Action::Collect {
                measurement: index,
                trial,
                of: command,
                path,
                max_bytes: from.max_results,
            };
            self.add_head_step(context, "collect", action);
        }
        Ok(())
    }

    /// Adds a step of the first machine for the results of a trial.
    fn add_head_step(&mut self, context: &TrialContext<'_>, suffix: &str, action: Action) -> u32 {
        let name = context.step_name(&format!("{}-{suffix}", context.stem));
        let when = context.when.clone();
        self.add_step_on(Placement::Head, &name, Some("main"), when, action)
    }

    /// Returns the step of a shared command: added by the first measurement that names it, once per trial.
    fn shared_command_step(
        &mut self,
        name: &str,
        context: &TrialContext<'_>,
        results: Option<&String>,
        shared: &mut SharedSteps,
    ) -> Result<u32, PlanError> {
        let key = (name.to_owned(), context.trial);
        let number = match shared.get(&key) {
            Some(number) => *number,
            None => self.add_shared_command(name, context)?,
        };
        shared.insert(key, number);
        let mut steps = self.plan.steps.iter_mut();
        let step = steps.find(|step| step.number == number);
        if let Some(Action::Exec(exec)) = step.map(|step| &mut step.action) {
            exec.results.extend(results.cloned());
            if let CommandPurpose::Measure { measurements, .. } = &mut exec.purpose {
                measurements.push(context.index);
            }
        }
        Ok(number)
    }

    fn add_shared_command(
        &mut self,
        name: &str,
        context: &TrialContext<'_>,
    ) -> Result<u32, PlanError> {
        let Some((_, command)) = self.recipe.commands.iter().find(|(key, _)| key == name) else {
            // The recipe's validation rejects an unknown `from`.
            return Ok(0);
        };
        let mut scope = self.expression_scope();
        scope.trial = Some(context.trial);
        let purpose = CommandPurpose::Measure { measurements: Vec::new(), trial: context.trial };
        let place = format!("commands.{name}.run");
        let exec = self.exec_step(purpose, &place, &command.run, &command.options, &scope)?;
        let name = context.step_name(&format!("command-{name}"));
        self.add_measuring_step(context, &name, exec, &command.needs, command.on)
    }

    fn measurement_plan(
        &self,
        entry: &RecipeMeasurement<'_>,
    ) -> Result<MeasurementPlan, PlanError> {
        let RecipeMeasurement { key, loadgen, mode, measurement: from } = *entry;
        let scope = self.expression_scope();
        let mut figures = from.figures.clone();
        for (name, figure) in &mut figures {
            if let Some(file) = &figure.file {
                let file = &relative_to_results(file, from.results.as_ref());
                let place = format!("scenarios.{key}.{mode}.figures.{name}.file");
                figure.file = Some(Template(render_expression(&place, file, &scope)?));
            }
        }
        let mut client = from.client.clone();
        if let Some(tokens) = client.as_mut().and_then(|client| client.output_tokens.as_mut()) {
            let place = format!("scenarios.{key}.{mode}.client.output_tokens");
            *tokens = Template(render_expression(&place, tokens, &scope)?);
        }
        let (trials, warmup) = match mode {
            Mode::Performance if self.recipe.smoke_test => {
                (self.options.trials.unwrap_or_default(), self.options.warmup.unwrap_or(0))
            }
            Mode::Performance => (
                self.options.trials.unwrap_or(from.trials),
                self.options.warmup.unwrap_or(from.warmup),
            ),
            Mode::Accuracy | Mode::Compliance => (Trials::default(), 0),
        };
        if let (1.., MeasurementCommand::From(command)) = (warmup, &from.command) {
            return Err(PlanError::SharedWarmup {
                measurement: format!("{key} {mode}"),
                command: command.clone(),
            });
        }
        Ok(MeasurementPlan {
            key: key.into(),
            scenario: loadgen.unwrap_or(key).into(),
            loadgen: loadgen.is_some() && from.results.is_some(),
            mode,
            trials,
            warmup,
            gpu_memory: from.gpu_memory,
            target_qps: from.target_qps,
            point: from.point.clone(),
            client,
            figures,
            expect: from.expect.clone(),
            references: from.references.clone(),
            limits: from.limits.clone(),
            required_values: from.required_values.clone(),
            rules: None,
        })
    }

    pub(super) fn selected_modes(&self) -> Vec<Mode> {
        let selected = recipe_measurements(self.recipe).filter(|entry| self.is_selected(entry));
        selected.map(|entry| entry.mode).collect()
    }

    fn is_selected(&self, entry: &RecipeMeasurement<'_>) -> bool {
        let modes = &self.options.modes;
        let is_mode_selected = if modes.is_empty() {
            // The accuracy is that of a whole data set, which no setting makes shorter.
            !self.recipe.smoke_test || entry.mode == Mode::Performance
        } else {
            modes.contains(&entry.mode)
        };
        is_mode_selected && self.is_scenario_selected(entry)
    }

    fn is_scenario_selected(&self, entry: &RecipeMeasurement<'_>) -> bool {
        let PlanOptions { scenarios, points, .. } = self.options;
        let point = entry.measurement.point.as_ref();
        let is_point = |point: &SweepPoint| {
            points.is_empty() || points.iter().any(|requested| point.is_at(requested))
        };
        let is_of = |name: &ScenarioName| {
            has_name(name, entry.key, entry.loadgen)
                || point.is_some_and(|point| *name == *point.sweep)
        };
        (scenarios.is_empty() || scenarios.iter().any(is_of)) && point.is_none_or(is_point)
    }

    /// Returns the scenarios whose speed is measured without the accuracy that the recipe has for them.
    pub(super) fn excluded_accuracy(&self) -> Vec<ScenarioName> {
        let all = recipe_measurements(self.recipe).filter(|_| !self.recipe.smoke_test);
        let excluded = all.filter(|entry| {
            entry.mode == Mode::Accuracy
                && self.is_scenario_selected(entry)
                && !self.is_selected(entry)
        });
        excluded.map(|entry| entry.loadgen.unwrap_or(entry.key).into()).collect()
    }

    /// Returns the recipe's measurements that the options exclude.
    pub(super) fn excluded_measurements(&self) -> Vec<String> {
        let excluded = recipe_measurements(self.recipe).filter(|entry| !self.is_selected(entry));
        excluded.map(|entry| entry.to_string()).collect()
    }

    /// Rejects misspelt scenarios, which would be excluded silently.
    fn check_scenarios(&self) -> Result<(), PlanError> {
        let scenarios = &self.recipe.scenarios;
        let all = || recipe_measurements(self.recipe);
        let points = || all().filter_map(|entry| entry.measurement.point.as_ref());
        let is_known = |name: &ScenarioName| {
            all().any(|entry| has_name(name, entry.key, entry.loadgen))
                || points().any(|point| *name == *point.sweep)
        };
        let mut requested = self.options.points.iter();
        if let Some(unknown) =
            requested.find(|requested| !points().any(|point| point.is_at(requested)))
        {
            return Err(PlanError::NoSuchPoint {
                value: unknown.clone(),
                available: join(points().map(|point| point.value), ", "),
            });
        }
        let unknown = self.options.scenarios.iter().find(|name| !is_known(name));
        unknown.map_or(Ok(()), |name| {
            Err(PlanError::NoSuchScenario {
                name: name.to_string(),
                available: join(scenarios.iter().map(|(key, _)| key), ", "),
            })
        })
    }

    fn nothing_to_measure_error(&self) -> PlanError {
        let scenario_names = self.options.scenarios.iter();
        let scenarios = scenario_names.map(|name| format!("--scenario {name}"));
        let mode_names = self.options.modes.iter();
        let modes = mode_names.map(|mode| format!("--mode {mode}"));
        let available = recipe_measurements(self.recipe);
        PlanError::NothingToMeasure {
            requested: join(scenarios.chain(modes), " "),
            available: join(available, ", "),
        }
    }
}

#[derive(Clone, Copy)]
struct RecipeMeasurement<'a> {
    /// The key of the scenario in the recipe.
    key: &'a str,
    /// `LoadGen`'s name of the scenario, if it has one.
    loadgen: Option<&'a str>,
    mode: Mode,
    measurement: &'a Measurement,
}

/// Writes its key and mode: `Server performance`.
impl fmt::Display for RecipeMeasurement<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.key, self.mode)
    }
}

/// Whether a name refers to a scenario of this key, or of `LoadGen`.
fn has_name(name: &ScenarioName, key: &str, loadgen: Option<&str>) -> bool {
    *name == *key || loadgen.is_some_and(|loadgen| *name == *loadgen)
}

fn recipe_measurements(recipe: &Recipe) -> impl Iterator<Item = RecipeMeasurement<'_>> {
    recipe.scenarios.iter().flat_map(|(key, scenario)| {
        let modes = scenario.modes.iter();
        modes.map(move |(mode, measurement)| RecipeMeasurement {
            key,
            loadgen: scenario.loadgen.as_deref(),
            mode: *mode,
            measurement,
        })
    })
}

/// Converts a file's path in the container to one relative to the collected results.
fn relative_to_results(file: &Template, results: Option<&Template>) -> Template {
    let inner = results
        .and_then(|results| file.0.strip_prefix(results.0.trim_end_matches('/')))
        .and_then(|rest| rest.strip_prefix('/'));
    inner.map_or_else(|| file.clone(), |inner| Template(inner.to_owned()))
}

/// The step of a shared command for one trial.
type SharedSteps = BTreeMap<(String, u32), u32>;

/// One trial of one measurement that is being added to the plan.
pub(super) struct TrialContext<'a> {
    measurement: &'a Measurement,
    index: usize,
    trial: u32,
    has_several_trials: bool,
    pub(super) stem: String,
    key_path: String,
    scope: ExpressionScope,
    pub(super) when: StepCondition,
}

impl<'a> TrialContext<'a> {
    /// Returns the context of a trial of the measurement that was added last.
    fn new(builder: &PlanBuilder<'_>, measurement: &'a Measurement, trial: u32) -> Self {
        let index = builder.plan.measurements.len() - 1;
        let plan = &builder.plan.measurements[index];
        let mut scope = builder.expression_scope();
        scope.scenario = Some(plan.scenario.to_string());
        scope.mode = Some(plan.mode);
        scope.trial = Some(trial);
        let is_warmup = trial <= plan.warmup;
        let when = if trial > plan.warmup + plan.trials.min {
            StepCondition::UntilDecided { stages: plan.trials.analysis_stages() }
        } else {
            StepCondition::Always
        };
        Self {
            measurement,
            index,
            trial,
            has_several_trials: plan.warmup + plan.trials.max > 1,
            stem: if is_warmup {
                format!("{}-warmup", plan.step_name_stem())
            } else {
                plan.step_name_stem()
            },
            key_path: format!("scenarios.{}.{}", plan.key, plan.mode),
            scope,
            when,
        }
    }

    /// A step's name: with the trial's number where there are several.
    pub(super) fn step_name(&self, stem: &str) -> String {
        if self.has_several_trials { format!("{stem}-{}", self.trial) } else { stem.to_owned() }
    }
}
