//! The pure function from recipe, choices and host to the plan.

use std::collections::BTreeSet;

use thiserror::Error;

use super::choices::{Choices, Keep};
use super::container::{ContainerSpec, GpuDevices, Mount};
use super::first_process;
use super::host::{HostView, lacks};
use super::measurement::MeasurementPlan;
use super::power;
use super::step::{Action, Condition, ExecStep, Plan, Purpose, Step};
use crate::recipe::expression::{ExpressionError, Scope, render};
use crate::recipe::model::{
    Entrypoint, GpuVendor, Image, Measurement, MeasurementCommand, Mode, ModelSource, Ordered,
    Place, Recipe, Setup, SharedCommand, Template, Trials,
};
use crate::verdict::stages_of;

/// The longest time of a step that names none: a day.
const DEFAULT_TIMEOUT_S: u64 = 24 * 3600;

/// Why no plan could be made: the command line asks for something that the recipe has not.
#[derive(Debug, Error)]
pub enum PlanError {
    /// `--scenario` or `--mode` matches nothing.
    #[error("nothing is left to measure: {asked}\n  the recipe has: {has}")]
    NothingToMeasure {
        /// What was asked.
        asked: String,
        /// What there is.
        has: String,
    },
    /// `--skip` or `--from` names no step.
    #[error("{option} {name}: the plan has no such step{hint}\n  its steps: {has}")]
    NoSuchStep {
        /// The option.
        option: &'static str,
        /// What was typed.
        name: String,
        /// ` (did you mean …?)`
        hint: String,
        /// The steps there are.
        has: String,
    },
    /// `--gpus` with a recipe that asks for none, or with an index that the host has not.
    #[error("--gpus {gpus}: {because}")]
    Gpus {
        /// What was typed.
        gpus: String,
        /// Why not.
        because: String,
    },
    /// A recipe's secret that the command line does not allow.
    #[error(
        "the recipe asks for the secret {name}: only HF_TOKEN may be named without asking\n  if it may have it: --secret {name}"
    )]
    SecretNotAllowed {
        /// The variable.
        name: String,
    },
    /// An expression that cannot be evaluated.
    #[error("{place}: {source}")]
    Expression {
        /// Which key.
        place: String,
        /// Why.
        source: ExpressionError,
    },
}

/// What the catalog knows of a recipe besides its text.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The recipe's directory, absolute; companions and build contexts lie in it.
    pub directory: Option<String>,
    /// SHA-256 of the resolved recipe.
    pub hash: String,
}

/// Makes the plan.
///
/// # Errors
/// What the command line asks for and the recipe has not, and expressions that fail.
pub fn build(
    recipe: &Recipe,
    origin: &Origin,
    choices: &Choices,
    host: &HostView,
) -> Result<Plan, PlanError> {
    let mut builder = Builder {
        recipe,
        origin,
        choices,
        host,
        steps: Vec::new(),
        measurements: Vec::new(),
        notes: Vec::new(),
    };
    if let Some(name) = recipe
        .secrets
        .iter()
        .find(|name| *name != "HF_TOKEN" && !choices.secrets.iter().any(|allowed| allowed == *name))
    {
        return Err(PlanError::SecretNotAllowed { name: name.clone() });
    }
    let (image, pinned) = builder.image();
    let container = builder.container(&image)?;
    builder.models()?;
    builder.step("create", Some("main"), Action::Create);
    builder.prepare()?;
    builder.measure()?;
    builder.step("judge", None, Action::Judge);
    let keep = Condition::Unless { keep: choices.keep };
    builder.step_when("remove", Some("main"), keep, Action::Remove);
    builder.leave_out()?;

    let sources: Vec<String> = container
        .mounts
        .iter()
        .map(|mount| mount.source.clone())
        .collect();
    let lacks = lacks(&recipe.requires, host, &choices.gpus);
    Ok(Plan {
        schema: 1,
        recipe: recipe.name.clone(),
        recipe_hash: origin.hash.clone(),
        title: recipe.title.clone(),
        submission: recipe.submission.clone(),
        params: recipe.params.clone(),
        variant: recipe.variant.clone(),
        modified: recipe.modified.clone(),
        requires: recipe.requires.clone(),
        gpus: choices.gpus.clone(),
        lacks,
        powers: power::asked(recipe, &sources, origin.directory.as_deref()),
        image,
        pinned,
        container,
        measurements: builder.measurements,
        judge: recipe.judge.clone(),
        secrets: recipe.secrets.clone(),
        steps: builder.steps,
        notes: builder.notes,
    })
}

/// The name of a built image: one for each resolved recipe.
fn built_tag(recipe: &Recipe, hash: &str) -> String {
    let stem = recipe.submission.benchmark.to_lowercase();
    let stem: String = stem
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '-'
            }
        })
        .collect();
    let short = hash.get(..12).unwrap_or("unhashed");
    format!("retrial/{}:{short}", stem.trim_matches('-'))
}

struct Builder<'a> {
    recipe: &'a Recipe,
    origin: &'a Origin,
    choices: &'a Choices,
    host: &'a HostView,
    steps: Vec<Step>,
    measurements: Vec<MeasurementPlan>,
    notes: Vec<String>,
}

impl Builder<'_> {
    fn step(&mut self, name: &str, container: Option<&str>, action: Action) -> u32 {
        self.step_when(name, container, Condition::Always, action)
    }

    fn step_when(
        &mut self,
        name: &str,
        container: Option<&str>,
        when: Condition,
        action: Action,
    ) -> u32 {
        let number = u32::try_from(self.steps.len()).unwrap_or(u32::MAX - 1) + 1;
        self.steps.push(Step {
            number,
            name: name.to_owned(),
            node: "local".to_owned(),
            container: container.map(str::to_owned),
            when,
            action,
        });
        number
    }

    fn scope(&self) -> Scope {
        Scope::of(self.recipe)
    }

    fn image(&mut self) -> (String, bool) {
        match &self.recipe.image {
            Image::Pull { reference, digest } => {
                let wanted = match digest {
                    Some(digest) if !reference.contains('@') => format!("{reference}@{digest}"),
                    _ => reference.clone(),
                };
                let policy = self.choices.pull;
                let when = if policy == super::choices::PullPolicy::Missing {
                    Condition::UnlessPresent
                } else {
                    Condition::Always
                };
                self.step_when(
                    "pull",
                    None,
                    when,
                    Action::Pull {
                        reference: wanted.clone(),
                        policy,
                    },
                );
                let pinned = wanted.contains('@');
                (wanted, pinned)
            }
            Image::Build {
                context,
                dockerfile,
                args,
            } => {
                let directory = self.origin.directory.as_deref().unwrap_or(".");
                let context = join(directory, context);
                let tag = built_tag(self.recipe, &self.origin.hash);
                let action = Action::Build {
                    context,
                    dockerfile: dockerfile.clone(),
                    args: args.clone(),
                    tag: tag.clone(),
                };
                self.step("build", None, action);
                (tag, false)
            }
        }
    }

    fn container(&mut self, image: &str) -> Result<ContainerSpec, PlanError> {
        let asked = &self.recipe.container;
        let scope = self.scope();
        let (entrypoint, command) = first_process::command(asked.entrypoint == Entrypoint::Bypass);
        let mut env = render_map("container.env", &asked.env, &scope)?;
        if !env.iter().any(|(name, _)| name == "PYTHONUNBUFFERED") {
            env.push(("PYTHONUNBUFFERED".to_owned(), "1".to_owned()));
        }
        let directory = self.origin.directory.as_deref().unwrap_or(".");
        let mut mounts = Vec::new();
        for request in &asked.mounts {
            let source = expression("container.mounts", &request.source, &scope)?;
            let source = if source.starts_with('/') {
                source
            } else {
                join(directory, &source)
            };
            let target = expression("container.mounts", &request.target, &scope)?;
            mounts.push(Mount {
                source,
                target,
                read_only: request.read_only,
            });
        }
        for companion in &self.recipe.files {
            mounts.push(Mount {
                source: join(directory, &companion.source),
                target: companion.target.clone(),
                read_only: true,
            });
        }
        for (name, model) in &self.recipe.models {
            if let (ModelSource::Path(path), Some(mount)) = (&model.source, &model.mount) {
                let place = format!("models.{name}");
                mounts.push(Mount {
                    source: expression(&place, path, &scope)?,
                    target: expression(&place, mount, &scope)?,
                    read_only: model.writable.is_empty(),
                });
            }
        }
        let (devices, gpus) = self.devices()?;
        Ok(ContainerSpec {
            name: String::new(),
            image: image.to_owned(),
            entrypoint,
            command,
            privileged: asked.privileged,
            ipc: asked.ipc.clone(),
            network: asked.network.clone(),
            uts: asked.uts.clone(),
            pid: asked.pid.clone(),
            devices,
            gpus,
            cap_add: asked.cap_add.clone(),
            security_opt: asked.security_opt.clone(),
            group_add: asked.group_add.clone(),
            shm_size: asked.shm_size,
            ulimits: asked.ulimits.clone(),
            env,
            mounts,
            workdir: asked
                .workdir
                .as_ref()
                .map(|workdir| expression("container.workdir", workdir, &scope))
                .transpose()?,
            user: asked.user.clone(),
            init: asked.init,
            labels: std::collections::BTreeMap::new(),
        })
    }

    /// The recipe's devices, narrowed to the GPUs that were chosen.
    fn devices(&self) -> Result<(Vec<String>, Option<GpuDevices>), PlanError> {
        let devices = self.recipe.container.devices.clone();
        let request = self.recipe.requires.gpus.as_ref();
        let chosen = &self.choices.gpus;
        let nvidia = request.is_some_and(|request| request.vendor == GpuVendor::Nvidia);
        if chosen.is_empty() {
            let listed = devices
                .iter()
                .any(|device| device.starts_with("/dev/nvidia"));
            return Ok((devices, (nvidia && !listed).then_some(GpuDevices::All)));
        }
        let error = |because: String| PlanError::Gpus {
            gpus: chosen.join(","),
            because,
        };
        let Some(request) = request else {
            return Err(error(
                "the recipe asks for no GPUs (requires.gpus)".to_owned(),
            ));
        };
        if nvidia {
            return Ok((devices, Some(GpuDevices::Ids(chosen.clone()))));
        }
        let of_vendor: Vec<_> = self
            .host
            .gpus
            .iter()
            .filter(|gpu| gpu.vendor == request.vendor)
            .collect();
        let mut nodes = Vec::new();
        for index in chosen {
            let gpu = index
                .parse::<usize>()
                .ok()
                .and_then(|index| of_vendor.get(index));
            let Some(gpu) = gpu else {
                return Err(error(format!(
                    "this host has {} such GPUs, counted from 0",
                    of_vendor.len()
                )));
            };
            nodes.extend(gpu.nodes.iter().cloned());
        }
        let mut narrowed: Vec<String> = Vec::new();
        for device in devices {
            if device == "/dev/dri" {
                narrowed.append(&mut nodes)
            } else {
                narrowed.push(device)
            }
        }
        Ok((narrowed, None))
    }

    fn models(&mut self) -> Result<(), PlanError> {
        let scope = self.scope();
        for (name, model) in &self.recipe.models {
            if let ModelSource::Hub {
                repository,
                revision,
                ..
            } = &model.source
            {
                let mount = model
                    .mount
                    .as_ref()
                    .map(|mount| expression(&format!("models.{name}.mount"), mount, &scope))
                    .transpose()?;
                let action = Action::FetchModel {
                    model: name.clone(),
                    repository: repository.clone(),
                    revision: revision.clone(),
                    mount,
                };
                self.step(&format!("fetch-{name}"), None, action);
            }
        }
        Ok(())
    }

    fn prepare(&mut self) -> Result<(), PlanError> {
        for (name, model) in &self.recipe.models {
            if let ModelSource::Run(run) = &model.source {
                let run = expression(&format!("models.{name}.source.run"), run, &self.scope())?;
                let exec = self.exec(Purpose::Prepare, run, &Command::default(), &self.scope())?;
                self.step(&format!("model-{name}"), Some("main"), Action::Exec(exec));
            }
        }
        let lists = [
            ("dataset", &self.recipe.datasets),
            ("setup", &self.recipe.setup),
        ];
        for (prefix, list) in lists {
            for (name, setup) in list {
                let scope = self.scope();
                let run = expression(&format!("{prefix} {name}"), &setup.run, &scope)?;
                let exec = self.exec(Purpose::Prepare, run, &Command::from(setup), &scope)?;
                let step = format!("{prefix}-{name}");
                match setup.on {
                    Place::Container => self.step(&step, Some("main"), Action::Exec(exec)),
                    Place::Host => self.step(&step, None, Action::Host(exec)),
                };
                if let Some(keep) = &setup.keep {
                    let path =
                        expression(&format!("{prefix} {name} keep.path"), &keep.path, &scope)?;
                    self.notes.push(format!("{step}: {path} is filled anew in each run; kept directories come with a later release"));
                }
            }
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<(), PlanError> {
        let mut shared_done: BTreeSet<(String, u32)> = BTreeSet::new();
        let mut shared_numbers: Vec<(String, u32, u32)> = Vec::new();
        let chosen: Vec<(&String, &crate::recipe::model::Scenario, Mode, &Measurement)> = self
            .recipe
            .scenarios
            .iter()
            .flat_map(|(key, scenario)| {
                scenario
                    .modes
                    .iter()
                    .map(move |(mode, measurement)| (key, scenario, *mode, measurement))
            })
            .filter(|(key, scenario, mode, _)| self.wanted(key, scenario.loadgen.as_deref(), *mode))
            .collect();
        if chosen.is_empty() {
            return Err(self.nothing_to_measure());
        }
        for (key, scenario, mode, measurement) in &chosen {
            let index = self.measurements.len();
            let plan = self.measurement(key, scenario.loadgen.as_deref(), *mode, measurement)?;
            let stem = plan.stem();
            let trials = plan.trials;
            self.measurements.push(plan);
            for trial in 1..=trials.max {
                let suffix = if trials.max > 1 {
                    format!("-{trial}")
                } else {
                    String::new()
                };
                let mut scope = self.scope();
                scope.scenario = Some(scenario.loadgen.clone().unwrap_or_else(|| (*key).clone()));
                scope.mode = Some(*mode);
                scope.trial = Some(trial);
                let when = if trial > trials.min {
                    Condition::UntilDecided {
                        stages: stages_of(trials),
                    }
                } else {
                    Condition::Always
                };
                let place = format!("scenarios.{key}.{mode}");
                let results = measurement
                    .results
                    .as_ref()
                    .map(|results| expression(&format!("{place}.results"), results, &scope))
                    .transpose()?;
                let of = match &measurement.command {
                    MeasurementCommand::Run(run) => {
                        let run = expression(&format!("{place}.run"), run, &scope)?;
                        let purpose = Purpose::Measure {
                            measurements: vec![index],
                            trial,
                        };
                        let mut exec =
                            self.exec(purpose, run, &Command::from(*measurement), &scope)?;
                        exec.results.extend(results.clone());
                        self.step_when(
                            &format!("{stem}{suffix}"),
                            Some("main"),
                            when.clone(),
                            Action::Exec(exec),
                        )
                    }
                    MeasurementCommand::From(name) => {
                        let number = if shared_done.insert((name.clone(), trial)) {
                            let number = self.shared(name, trial, &suffix, &when)?;
                            shared_numbers.push((name.clone(), trial, number));
                            number
                        } else {
                            shared_numbers
                                .iter()
                                .find(|(known, of, _)| known == name && *of == trial)
                                .map_or(0, |found| found.2)
                        };
                        if let Some(step) = self.steps.iter_mut().find(|step| step.number == number)
                            && let Action::Exec(exec) = &mut step.action
                        {
                            exec.results.extend(results.clone());
                            if let Purpose::Measure { measurements, .. } = &mut exec.purpose {
                                measurements.push(index);
                            }
                        }
                        number
                    }
                };
                if let Some(check) = &measurement.check {
                    let run = expression(&format!("{place}.check"), check, &scope)?;
                    let purpose = Purpose::Check {
                        measurement: index,
                        trial,
                        of,
                    };
                    let mut exec = self.exec(purpose, run, &Command::from(*measurement), &scope)?;
                    if let Some(timeout) = measurement.check_timeout {
                        exec.timeout_s = timeout.as_secs();
                    }
                    self.step_when(
                        &format!("{stem}-check{suffix}"),
                        Some("main"),
                        when.clone(),
                        Action::Exec(exec),
                    );
                }
                if let Some(path) = results {
                    let action = Action::Collect {
                        measurement: index,
                        trial,
                        of,
                        path,
                    };
                    self.step_when(
                        &format!("{stem}-collect{suffix}"),
                        Some("main"),
                        when.clone(),
                        action,
                    );
                }
            }
        }
        Ok(())
    }

    fn shared(
        &mut self,
        name: &str,
        trial: u32,
        suffix: &str,
        when: &Condition,
    ) -> Result<u32, PlanError> {
        let Some((_, command)) = self.recipe.commands.iter().find(|(key, _)| key == name) else {
            // The recipe's check refuses an unknown `from`.
            return Ok(0);
        };
        let mut scope = self.scope();
        scope.trial = Some(trial);
        let run = expression(&format!("commands.{name}.run"), &command.run, &scope)?;
        let purpose = Purpose::Measure {
            measurements: Vec::new(),
            trial,
        };
        let exec = self.exec(purpose, run, &Command::from(command), &scope)?;
        Ok(self.step_when(
            &format!("command-{name}{suffix}"),
            Some("main"),
            when.clone(),
            Action::Exec(exec),
        ))
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
                let place = format!("scenarios.{key}.{mode}.figures.{name}.file");
                figure.file = Some(Template(expression(&place, file, &scope)?));
            }
        }
        let trials = match (mode, self.choices.trials) {
            (Mode::Performance, Some(count)) => Trials {
                min: count,
                max: count,
            },
            (Mode::Performance, None) => from.trials,
            _ => Trials::default(),
        };
        Ok(MeasurementPlan {
            key: key.to_owned(),
            scenario: loadgen.unwrap_or(key).to_owned(),
            loadgen: loadgen.is_some() && from.results.is_some(),
            mode,
            trials,
            target_qps: from.target_qps,
            figures,
            expect: from.expect.clone(),
            limits: from.limits.clone(),
        })
    }

    fn wanted(&self, key: &str, loadgen: Option<&str>, mode: Mode) -> bool {
        let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
        let scenario = self.choices.scenarios.is_empty()
            || self.choices.scenarios.iter().any(|wanted| {
                plain(wanted) == plain(key)
                    || loadgen.is_some_and(|name| plain(wanted) == plain(name))
            });
        scenario && (self.choices.modes.is_empty() || self.choices.modes.contains(&mode))
    }

    fn nothing_to_measure(&self) -> PlanError {
        let mut asked: Vec<String> = self
            .choices
            .scenarios
            .iter()
            .map(|name| format!("--scenario {name}"))
            .collect();
        asked.extend(
            self.choices
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

    fn exec(
        &self,
        purpose: Purpose,
        run: String,
        command: &Command<'_>,
        scope: &Scope,
    ) -> Result<ExecStep, PlanError> {
        let secrets = self
            .recipe
            .secrets
            .iter()
            .filter(|name| names(&run, name))
            .cloned()
            .collect();
        Ok(ExecStep {
            purpose,
            run,
            shell: command
                .shell
                .or(self.recipe.container.shell.as_ref())
                .cloned(),
            env: command
                .env
                .map_or(Ok(Vec::new()), |env| render_map("env", env, scope))?,
            secrets,
            workdir: command
                .workdir
                .map(|workdir| expression("workdir", workdir, scope))
                .transpose()?,
            user: command.user.cloned(),
            timeout_s: command
                .timeout
                .map_or(DEFAULT_TIMEOUT_S, |timeout| timeout.as_secs().max(1)),
            silence_s: command.silence.map(|silence| silence.as_secs()),
            results: Vec::new(),
        })
    }

    /// Marks the steps that `--skip` and `--from` leave out.
    fn leave_out(&mut self) -> Result<(), PlanError> {
        for name in &self.choices.skip {
            let mut found = false;
            for step in &mut self.steps {
                if step.name == *name || step.number.to_string() == *name {
                    step.when = Condition::Skipped {
                        because: format!("--skip {name}"),
                    };
                    found = true;
                }
            }
            if !found {
                return Err(self.no_such_step("--skip", name));
            }
        }
        if let Some(name) = &self.choices.from {
            let Some(first) = self
                .steps
                .iter()
                .position(|step| step.name == *name || step.number.to_string() == *name)
            else {
                return Err(self.no_such_step("--from", name));
            };
            for step in &mut self.steps[..first] {
                let needed = matches!(
                    step.action,
                    Action::Create | Action::Pull { .. } | Action::Build { .. }
                );
                if !needed {
                    step.when = Condition::Skipped {
                        because: format!("--from {name}"),
                    };
                }
            }
        }
        if self.choices.keep == Keep::Always {
            self.notes
                .push("the container is kept at the end: `retrial clean` removes it".to_owned());
        }
        Ok(())
    }

    fn no_such_step(&self, option: &'static str, name: &str) -> PlanError {
        let near = self
            .steps
            .iter()
            .map(|step| (strsim::jaro_winkler(&step.name, name), &step.name))
            .filter(|(score, _)| *score > 0.8)
            .max_by(|left, right| left.0.total_cmp(&right.0));
        PlanError::NoSuchStep {
            option,
            name: name.to_owned(),
            hint: near
                .map(|(_, name)| format!(" (did you mean {name}?)"))
                .unwrap_or_default(),
            has: self
                .steps
                .iter()
                .map(|step| step.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        }
    }
}

/// Whether a command names a variable.
fn names(run: &str, variable: &str) -> bool {
    run.match_indices(variable).any(|(start, _)| {
        let boundary = |character: Option<char>| {
            !character
                .is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
        };
        boundary(run[..start].chars().next_back())
            && boundary(run[start + variable.len()..].chars().next())
    })
}

fn join(directory: &str, relative: &str) -> String {
    let relative = relative.trim_start_matches("./");
    if relative.is_empty() || relative == "." {
        return directory.to_owned();
    }
    format!("{}/{relative}", directory.trim_end_matches('/'))
}

fn expression(place: &str, template: &Template, scope: &Scope) -> Result<String, PlanError> {
    render(template, scope).map_err(|source| PlanError::Expression {
        place: place.to_owned(),
        source,
    })
}

fn render_map(
    place: &str,
    map: &Ordered<Template>,
    scope: &Scope,
) -> Result<Vec<(String, String)>, PlanError> {
    map.iter()
        .map(|(name, value)| {
            Ok((
                name.clone(),
                expression(&format!("{place}.{name}"), value, scope)?,
            ))
        })
        .collect()
}

/// The keys that every kind of command has.
#[derive(Default)]
struct Command<'a> {
    shell: Option<&'a Vec<String>>,
    env: Option<&'a Ordered<Template>>,
    workdir: Option<&'a Template>,
    user: Option<&'a String>,
    timeout: Option<std::time::Duration>,
    silence: Option<std::time::Duration>,
}

impl<'a> From<&'a Setup> for Command<'a> {
    fn from(setup: &'a Setup) -> Self {
        Self {
            shell: setup.shell.as_ref(),
            env: Some(&setup.env),
            workdir: setup.workdir.as_ref(),
            user: setup.user.as_ref(),
            timeout: setup.timeout,
            silence: None,
        }
    }
}

impl<'a> From<&'a SharedCommand> for Command<'a> {
    fn from(command: &'a SharedCommand) -> Self {
        Self {
            shell: command.shell.as_ref(),
            env: Some(&command.env),
            workdir: command.workdir.as_ref(),
            user: command.user.as_ref(),
            timeout: command.timeout,
            silence: command.silence,
        }
    }
}

impl<'a> From<&'a Measurement> for Command<'a> {
    fn from(measurement: &'a Measurement) -> Self {
        Self {
            shell: measurement.shell.as_ref(),
            env: Some(&measurement.env),
            workdir: measurement.workdir.as_ref(),
            user: measurement.user.as_ref(),
            timeout: measurement.timeout,
            silence: measurement.silence,
        }
    }
}
