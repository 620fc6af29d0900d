//! Scenarios: for each mode and trial its command, its check, and the fetching of its results.

use std::collections::BTreeMap;

use itertools::join;

use super::error::PlanError;
use super::{Builder, expression};
use crate::plan::measurement::{MeasurementPlan, is_scenario};
use crate::plan::step::{Action, Condition, Purpose};
use retrial_recipe::expression::Scope;
use retrial_recipe::model::{
    Measurement, MeasurementCommand, Mode, Placement, Recipe, Template, Trials,
};

impl Builder<'_> {
    pub(super) fn measure(&mut self) -> Result<(), PlanError> {
        self.known_scenarios()?;
        let wanted = written(self.recipe).filter(|one| self.wants(one));
        let wanted: Vec<_> = wanted.collect();
        let mut shared = Shared::new();
        for (index, one) in wanted.iter().enumerate() {
            let plan = self.measurement(one)?;
            let last = *plan.judged_trials().end();
            self.measurements.push(plan);
            for trial in 1..=last {
                let trial = OneTrial::of(self, one.measurement, trial);
                self.trial(&trial, &mut shared)?;
            }
            let later = wanted[index + 1..].iter();
            self.stop_unneeded(later.map(|one| one.measurement));
        }
        if self.measurements.is_empty() {
            return Err(self.nothing_to_measure());
        }
        Ok(())
    }

    /// One trial: the command, its check, and the fetching of its results.
    fn trial(&mut self, one: &OneTrial<'_>, shared: &mut Shared) -> Result<(), PlanError> {
        let (from, index, trial) = (one.from, one.index, one.trial);
        let (stem, place, scope) = (&one.stem, &one.place, &one.scope);
        let results = from.results.as_ref();
        let results = results
            .map(|path| expression(&format!("{place}.results"), path, scope))
            .transpose()?;
        let of = match &from.command {
            MeasurementCommand::Run(run) => {
                let purpose = Purpose::Measure {
                    measurements: vec![index],
                    trial,
                };
                let place = format!("{place}.run");
                let mut exec = self.exec(purpose, &place, run, &from.options, scope)?;
                exec.results.extend(results.clone());
                self.measuring_step(one, &one.name(stem), exec, &from.needs, from.on)?
            }
            MeasurementCommand::From(name) => self.shared(name, one, results.as_ref(), shared)?,
        };
        let mut fetching = of;
        if let Some(check) = &from.check {
            let purpose = Purpose::Check {
                measurement: index,
                trial,
                of,
            };
            let place = format!("{place}.check");
            let mut exec = self.exec(purpose, &place, check, &from.options, scope)?;
            if let Some(timeout) = from.check_timeout {
                exec.timeout_s = timeout.as_secs().max(1);
            }
            fetching = self.step_of_the_head(one, "check", Action::Exec(exec));
        }
        let name = self.measurements[index].stem();
        self.fetches(fetching, name, from.download.as_ref());
        if let Some(path) = results {
            let action = Action::Collect {
                measurement: index,
                trial,
                of,
                path,
                max_bytes: from.max_results,
            };
            self.step_of_the_head(one, "collect", action);
        }
        Ok(())
    }

    /// Adds what the first machine does with the results of a trial.
    fn step_of_the_head(&mut self, one: &OneTrial<'_>, what: &str, action: Action) -> u32 {
        let name = one.name(&format!("{}-{what}", one.stem));
        let when = one.when.clone();
        self.step_on(Placement::Head, &name, Some("main"), when, action)
    }

    /// The step of a shared command: made by the first measurement that names it, once a trial.
    fn shared(
        &mut self,
        name: &str,
        one: &OneTrial<'_>,
        results: Option<&String>,
        shared: &mut Shared,
    ) -> Result<u32, PlanError> {
        let key = (name.to_owned(), one.trial);
        let number = match shared.get(&key) {
            Some(number) => *number,
            None => self.shared_step(name, one)?,
        };
        shared.insert(key, number);
        let step = self.steps.iter_mut().find(|step| step.number == number);
        if let Some(Action::Exec(exec)) = step.map(|step| &mut step.action) {
            exec.results.extend(results.cloned());
            if let Purpose::Measure { measurements, .. } = &mut exec.purpose {
                measurements.push(one.index);
            }
        }
        Ok(number)
    }

    fn shared_step(&mut self, name: &str, one: &OneTrial<'_>) -> Result<u32, PlanError> {
        let Some((_, command)) = self.recipe.commands.iter().find(|(key, _)| key == name) else {
            // The recipe's check refuses an unknown `from`.
            return Ok(0);
        };
        let mut scope = self.scope();
        scope.trial = Some(one.trial);
        let purpose = Purpose::Measure {
            measurements: Vec::new(),
            trial: one.trial,
        };
        let place = format!("commands.{name}.run");
        let exec = self.exec(purpose, &place, &command.run, &command.options, &scope)?;
        let name = one.name(&format!("command-{name}"));
        self.measuring_step(one, &name, exec, &command.needs, command.on)
    }

    fn measurement(&self, written: &Written<'_>) -> Result<MeasurementPlan, PlanError> {
        let Written {
            key,
            loadgen,
            mode,
            measurement: from,
        } = *written;
        let scope = self.scope();
        let mut figures = from.figures.clone();
        for (name, figure) in &mut figures {
            if let Some(file) = &figure.file {
                let file = &below_results(file, from.results.as_ref());
                let place = format!("scenarios.{key}.{mode}.figures.{name}.file");
                figure.file = Some(Template(expression(&place, file, &scope)?));
            }
        }
        let trials = match (mode, self.options.trials) {
            (Mode::Performance, chosen) => chosen.unwrap_or(from.trials),
            _ => Trials::default(),
        };
        let warmup = match (mode, self.options.warmup) {
            (Mode::Performance, chosen) => chosen.unwrap_or(from.warmup),
            _ => 0,
        };
        if let (1.., MeasurementCommand::From(command)) = (warmup, &from.command) {
            return Err(PlanError::SharedWarmup {
                measurement: format!("{key} {mode}"),
                command: command.clone(),
            });
        }
        Ok(MeasurementPlan {
            key: key.to_owned(),
            scenario: loadgen.unwrap_or(key).to_owned(),
            loadgen: loadgen.is_some() && from.results.is_some(),
            mode,
            trials,
            warmup,
            target_qps: from.target_qps,
            figures,
            expect: from.expect.clone(),
            limits: from.limits.clone(),
            rules: None,
        })
    }

    /// The modes in which something is measured.
    pub(super) fn modes(&self) -> Vec<Mode> {
        let wanted = written(self.recipe).filter(|one| self.wants(one));
        wanted.map(|one| one.mode).collect()
    }

    fn wants(&self, one: &Written<'_>) -> bool {
        let (scenarios, modes) = (&self.options.scenarios, &self.options.modes);
        let mut named = scenarios.iter();
        (scenarios.is_empty() || named.any(|name| is_scenario(name, one.key, one.loadgen)))
            && (modes.is_empty() || modes.contains(&one.mode))
    }

    /// Whether the options leave out some of the recipe's measurements.
    pub(super) fn is_partial(&self) -> bool {
        self.measurements.len() < written(self.recipe).count()
    }

    /// A scenario that is asked for and misspelt would be left out in silence.
    fn known_scenarios(&self) -> Result<(), PlanError> {
        let scenarios = &self.recipe.scenarios;
        let unknown = self.options.scenarios.iter().find(|wanted| {
            !scenarios
                .iter()
                .any(|(key, scenario)| is_scenario(wanted, key, scenario.loadgen.as_deref()))
        });
        unknown.map_or(Ok(()), |name| {
            Err(PlanError::NoSuchScenario {
                name: name.clone(),
                has: join(scenarios.iter().map(|(key, _)| key), ", "),
            })
        })
    }

    fn nothing_to_measure(&self) -> PlanError {
        let scenarios = self.options.scenarios.iter();
        let scenarios = scenarios.map(|name| format!("--scenario {name}"));
        let modes = self.options.modes.iter();
        let modes = modes.map(|mode| format!("--mode {mode}"));
        let has = written(self.recipe).map(|one| format!("{} {}", one.key, one.mode));
        PlanError::NothingToMeasure {
            asked: join(scenarios.chain(modes), " "),
            has: join(has, ", "),
        }
    }
}

/// A measurement as the recipe has it.
#[derive(Clone, Copy)]
struct Written<'a> {
    /// The scenario's key.
    key: &'a str,
    /// `LoadGen`'s name of the scenario, if it has one.
    loadgen: Option<&'a str>,
    mode: Mode,
    measurement: &'a Measurement,
}

/// All measurements of a recipe.
fn written(recipe: &Recipe) -> impl Iterator<Item = Written<'_>> {
    recipe.scenarios.iter().flat_map(|(key, scenario)| {
        let modes = scenario.modes.iter();
        modes.map(move |(mode, measurement)| Written {
            key,
            loadgen: scenario.loadgen.as_deref(),
            mode: *mode,
            measurement,
        })
    })
}

/// A file's path in the container, as one below the results that are fetched.
fn below_results(file: &Template, results: Option<&Template>) -> Template {
    let inner = results
        .and_then(|results| file.0.strip_prefix(results.0.trim_end_matches('/')))
        .and_then(|rest| rest.strip_prefix('/'));
    inner.map_or_else(|| file.clone(), |inner| Template(inner.to_owned()))
}

/// The step of a shared command for one trial.
type Shared = BTreeMap<(String, u32), u32>;

/// One trial of one measurement, on its way into the plan.
pub(super) struct OneTrial<'a> {
    from: &'a Measurement,
    index: usize,
    trial: u32,
    several: bool,
    pub(super) stem: String,
    place: String,
    scope: Scope,
    pub(super) when: Condition,
}

impl<'a> OneTrial<'a> {
    /// Of the measurement that was added last.
    fn of(builder: &Builder<'_>, from: &'a Measurement, trial: u32) -> Self {
        let index = builder.measurements.len() - 1;
        let plan = &builder.measurements[index];
        let mut scope = builder.scope();
        scope.scenario = Some(plan.scenario.clone());
        scope.mode = Some(plan.mode);
        scope.trial = Some(trial);
        let is_warmup = trial <= plan.warmup;
        let when = if trial > plan.warmup + plan.trials.min {
            Condition::UntilDecided {
                stages: plan.trials.stages(),
            }
        } else {
            Condition::Always
        };
        Self {
            from,
            index,
            trial,
            several: plan.warmup + plan.trials.max > 1,
            stem: if is_warmup {
                format!("{}-warmup", plan.stem())
            } else {
                plan.stem()
            },
            place: format!("scenarios.{}.{}", plan.key, plan.mode),
            scope,
            when,
        }
    }

    /// A step's name: with the trial's number where there are several.
    pub(super) fn name(&self, stem: &str) -> String {
        if self.several {
            format!("{stem}-{}", self.trial)
        } else {
            stem.to_owned()
        }
    }
}
