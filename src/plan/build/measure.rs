//! Scenarios: for each mode and trial its command, its check, and the fetching of its results.

use std::collections::BTreeMap;

use super::error::PlanError;
use super::{Builder, expression};
use crate::plan::measurement::{MeasurementPlan, is_scenario};
use crate::plan::step::{Action, Condition, Purpose};
use retrial_recipe::expression::Scope;
use retrial_recipe::model::{Measurement, MeasurementCommand, Mode, Placement, Template, Trials};

impl Builder<'_> {
    pub(super) fn measure(&mut self) -> Result<(), PlanError> {
        let recipe = self.recipe;
        let every = recipe.scenarios.iter().flat_map(|(key, scenario)| {
            scenario
                .modes
                .iter()
                .map(move |(mode, measurement)| (key, scenario, *mode, measurement))
        });
        self.known_scenarios()?;
        let wanted: Vec<_> = every
            .filter(|(key, scenario, mode, _)| self.wanted(key, scenario.loadgen.as_deref(), *mode))
            .collect();
        let mut shared = Shared::new();
        for (index, (key, scenario, mode, from)) in wanted.iter().copied().enumerate() {
            let loadgen = scenario.loadgen.as_deref();
            let plan = self.measurement(key, loadgen, mode, from)?;
            let last = *plan.judged_trials().end();
            self.measurements.push(plan);
            for trial in 1..=last {
                let one = OneTrial::of(self, from, trial);
                self.trial(&one, &mut shared)?;
            }
            let later = wanted[index + 1..].iter();
            self.stop_unneeded(later.map(|(_, _, _, from)| *from));
        }
        if self.measurements.is_empty() {
            return Err(self.nothing_to_measure());
        }
        Ok(())
    }

    /// One trial: the command, its check, and the fetching of its results.
    fn trial(&mut self, one: &OneTrial<'_>, shared: &mut Shared) -> Result<(), PlanError> {
        let OneTrial {
            from,
            index,
            trial,
            stem,
            place,
            scope,
            ..
        } = one;
        let (index, trial) = (*index, *trial);
        let results = from.results.as_ref();
        let results = results
            .map(|path| expression(&format!("{place}.results"), path, scope))
            .transpose()?;
        let of = match &from.command {
            MeasurementCommand::Run(run) => {
                let run = expression(&format!("{place}.run"), run, scope)?;
                let purpose = Purpose::Measure {
                    measurements: vec![index],
                    trial,
                };
                let mut exec = self.exec(purpose, run, &from.options, scope)?;
                exec.results.extend(results.clone());
                self.measuring_step(one, &one.name(stem), exec, &from.needs, from.on)?
            }
            MeasurementCommand::From(name) => self.shared(name, one, results.as_ref(), shared)?,
        };
        let mut fetching = of;
        if let Some(check) = &from.check {
            let run = expression(&format!("{place}.check"), check, scope)?;
            let purpose = Purpose::Check {
                measurement: index,
                trial,
                of,
            };
            let mut exec = self.exec(purpose, run, &from.options, scope)?;
            if let Some(timeout) = from.check_timeout {
                exec.timeout_s = timeout.as_secs().max(1);
            }
            let name = one.name(&format!("{stem}-check"));
            let number = self.step_when(&name, Some("main"), one.when.clone(), Action::Exec(exec));
            self.place(number, Placement::Head);
            fetching = number;
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
            let name = one.name(&format!("{stem}-collect"));
            let number = self.step_when(&name, Some("main"), one.when.clone(), action);
            self.place(number, Placement::Head);
        }
        Ok(())
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
        let run = expression(&format!("commands.{name}.run"), &command.run, &scope)?;
        let purpose = Purpose::Measure {
            measurements: Vec::new(),
            trial: one.trial,
        };
        let exec = self.exec(purpose, run, &command.options, &scope)?;
        let name = one.name(&format!("command-{name}"));
        self.measuring_step(one, &name, exec, &command.needs, command.on)
    }

    fn measurement(
        &self,
        key: &str,
        loadgen: Option<&str>,
        mode: Mode,
        from: &Measurement,
    ) -> Result<MeasurementPlan, PlanError> {
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
        let scenarios = self.recipe.scenarios.iter();
        let every = scenarios.flat_map(|(key, scenario)| {
            let modes = scenario.modes.iter();
            modes.map(move |(mode, _)| (key, scenario.loadgen.as_deref(), *mode))
        });
        let wanted = every.filter(|(key, loadgen, mode)| self.wanted(key, *loadgen, *mode));
        wanted.map(|(_, _, mode)| mode).collect()
    }

    fn wanted(&self, key: &str, loadgen: Option<&str>, mode: Mode) -> bool {
        let scenario = self.options.scenarios.is_empty()
            || self
                .options
                .scenarios
                .iter()
                .any(|wanted| is_scenario(wanted, key, loadgen));
        scenario && (self.options.modes.is_empty() || self.options.modes.contains(&mode))
    }

    /// Whether the options leave out some of the recipe's measurements.
    pub(super) fn is_partial(&self) -> bool {
        let scenarios = self.recipe.scenarios.iter();
        let all: usize = scenarios.map(|(_, scenario)| scenario.modes.len()).sum();
        self.measurements.len() < all
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
                has: scenarios
                    .iter()
                    .map(|(key, _)| key.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
        })
    }

    fn nothing_to_measure(&self) -> PlanError {
        let mut asked: Vec<String> = self
            .options
            .scenarios
            .iter()
            .map(|name| format!("--scenario {name}"))
            .collect();
        asked.extend(
            self.options
                .modes
                .iter()
                .map(|mode| format!("--mode {mode}")),
        );
        let has: Vec<String> = self
            .recipe
            .scenarios
            .iter()
            .flat_map(|(key, scenario)| {
                scenario
                    .modes
                    .iter()
                    .map(move |(mode, _)| format!("{key} {mode}"))
            })
            .collect();
        PlanError::NothingToMeasure {
            asked: asked.join(" "),
            has: has.join(", "),
        }
    }
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
