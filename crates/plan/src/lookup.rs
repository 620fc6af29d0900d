//! Lookups in a plan: steps, containers, models, downloads and measurements.

use std::collections::BTreeSet;
use std::slice;

use itertools::Itertools as _;

use super::cached_directory::{self, CachedDirectory};
use super::failure::FailureSigns;
use super::measurement::MeasurementPlan;
use super::model::ModelFetch;
use super::service::ServiceStep;
use super::step::{Action, CommandPurpose, Plan, Step};
use retrial_container::{ContainerSpec, Mount};
use retrial_host::checks::ScenarioMemory;
use retrial_mlperf::Division;
use retrial_mlperf::rounds::{InferenceRules, Rounds};

impl Step {
    /// The measurements and the trial that it is a part of.
    fn measurements_and_trial(&self) -> Option<(&[usize], u32)> {
        match &self.action {
            Action::Exec(exec) => match &exec.purpose {
                CommandPurpose::Measure { measurements, trial } => {
                    Some((measurements.as_slice(), *trial))
                }
                CommandPurpose::Check { measurement, trial, .. } => {
                    Some((slice::from_ref(measurement), *trial))
                }
                CommandPurpose::Prepare => None,
            },
            Action::Collect { measurement, trial, .. } => {
                Some((slice::from_ref(measurement), *trial))
            }
            _ => None,
        }
    }

    /// The measurement and the trial that it is a part of: of several that share it, the first.
    pub fn measurement_and_trial(&self) -> Option<(usize, u32)> {
        let (measurements, trial) = self.measurements_and_trial()?;
        Some((*measurements.first()?, trial))
    }

    /// Returns whether it measures, checks or collects this trial of a measurement, by itself or with others.
    pub fn belongs_to_trial(&self, measurement: usize, trial: u32) -> bool {
        let own = self.measurements_and_trial();
        own.is_some_and(|(all, number)| number == trial && all.contains(&measurement))
    }

    /// The step of the measured command whose results it checks or collects.
    pub fn measured_step(&self) -> Option<u32> {
        match &self.action {
            Action::Collect { of, .. } => Some(*of),
            Action::Exec(exec) => match exec.purpose {
                CommandPurpose::Check { of, .. } => Some(of),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether it executes the command of a measurement.
    pub fn runs_measurement(&self) -> bool {
        matches!(&self.action, Action::Exec(exec) if matches!(exec.purpose, CommandPurpose::Measure { .. }))
    }

    /// Returns whether it copies results out of the container.
    pub fn collects_results(&self) -> bool {
        matches!(self.action, Action::Collect { .. })
    }

    /// Returns whether it checks the results of a measured command.
    pub fn checks_results(&self) -> bool {
        self.measured_step().is_some() && !self.collects_results()
    }
}

impl Plan {
    /// The signs of a failure of a measurement's command, the same in each trial.
    pub fn failure_signs(&self, measured: &MeasurementPlan) -> Option<&FailureSigns> {
        let mut measurements = self.measurements.iter();
        let index = measurements
            .position(|other| other.key == measured.key && other.mode == measured.mode)?;
        let mut commands = self.steps.iter().filter_map(|step| match &step.action {
            Action::Exec(exec) => Some(exec),
            _ => None,
        });
        let command = commands.find(|exec| exec.purpose.measures(index));
        command.map(|exec| &exec.failure)
    }

    pub fn step(&self, number: u32) -> Option<&Step> {
        self.steps.iter().find(|step| step.number == number)
    }

    /// The recipe's container, and those of services with containers of their own.
    pub fn containers(&self) -> impl Iterator<Item = &ContainerSpec> {
        let services = service_containers(&self.steps).map(|(_, own)| own);
        std::iter::once(&self.container).chain(services)
    }

    /// The service that a step starts.
    pub fn started_service(&self, start: u32) -> Option<(&Step, &ServiceStep)> {
        let step = self.step(start)?;
        match &step.action {
            Action::StartService(service) => Some((step, service)),
            _ => None,
        }
    }

    /// The measurement and the trial that a step is a part of; of the start or the stop of a service, those of the first
    /// step that needs it.
    pub fn served_trial(&self, step: &Step) -> Option<(usize, u32)> {
        let start = match &step.action {
            Action::StartService(_) => Some(step.number),
            Action::StopService(ending) => Some(ending.of),
            _ => None,
        };
        let needing = start.and_then(|start| self.steps_needing_service(start).next());
        needing.unwrap_or(step).measurement_and_trial()
    }

    /// The step that runs the command of a trial.
    pub fn measuring_step(&self, measurement: usize, trial: u32) -> Option<&Step> {
        let mut measuring = self.steps.iter().filter(|step| step.runs_measurement());
        measuring.find(|step| step.belongs_to_trial(measurement, trial))
    }

    /// The GPU memory that each scenario needs, where it is stated: of its modes, the largest.
    pub fn scenario_memory(&self) -> Vec<ScenarioMemory> {
        let mut all: Vec<ScenarioMemory> = Vec::new();
        for measured in &self.measurements {
            let Some(bytes) = measured.gpu_memory else {
                continue;
            };
            let scenario = measured.key.to_string();
            match all.iter_mut().find(|known| known.scenario == scenario) {
                Some(known) => known.bytes = known.bytes.max(bytes),
                None => all.push(ScenarioMemory { scenario, bytes }),
            }
        }
        all
    }

    /// The steps that need the service which a step starts.
    pub fn steps_needing_service(&self, start: u32) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(
            move |step| matches!(&step.action, Action::Exec(exec) if exec.needs.contains(&start)),
        )
    }

    /// SHA-256 of the Dockerfile and the context of its build, if it was known.
    pub fn build_content(&self) -> Option<String> {
        self.steps.iter().find_map(|step| match &step.action {
            Action::Build(build) => build.content.clone(),
            _ => None,
        })
    }

    /// The targets of the GPUs that are assigned to it: `gfx942`.
    pub fn gpu_targets(&self) -> Vec<String> {
        let gpus = self.assigned_gpus.iter().flat_map(|assigned| &assigned.gpus);
        let targets: BTreeSet<&String> = gpus.filter_map(|one| one.gpu.gfx.as_ref()).collect();
        targets.into_iter().cloned().collect()
    }

    /// The identity of a cache mount: SHA-256, hexadecimal. Code compiled for one GPU, on one machine, by one recipe
    /// must not be reused by another; and an unreviewed recipe cannot leave programs for a trusted one. `image` is the
    /// image's id, `companions` a digest of the content of [`Self::companion_mounts`].
    pub fn cache_mount_identity(
        &self,
        path: &str,
        image: &str,
        machine: &str,
        companions: &str,
    ) -> String {
        let assigned = self.assigned_gpus.iter();
        let gpus = assigned.flat_map(|assigned| &assigned.gpus);
        let models = gpus.map(|assigned| assigned.gpu.gfx.as_ref().unwrap_or(&assigned.gpu.model));
        let gpus: BTreeSet<&String> = models.collect();
        let recipe = (&self.recipe_hash, self.built_in);
        let directory = self.directory.as_deref();
        let mounts = self.containers().flat_map(|container| &container.mounts);
        let others = mounts.filter(|mount| !mount.is_companion(directory));
        let mounts: BTreeSet<String> = others.map(ToString::to_string).collect();
        let files = (mounts, companions);
        cached_directory::hash_identity(&("cache mount", recipe, path, image, machine, gpus, files))
    }

    /// Read-only files next to the recipe that any of its containers mounts.
    pub fn companion_mounts(&self) -> Vec<Mount> {
        let mounts = self.containers().flat_map(|container| &container.mounts);
        let directory = self.directory.as_deref();
        let companions = mounts.filter(|mount| mount.is_companion(directory));
        companions.cloned().collect()
    }

    /// Cached directories in the order in which they are populated; without skipped ones, where the image's own
    /// directory is visible.
    pub fn cached_directories(&self) -> impl Iterator<Item = (u32, &CachedDirectory)> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Populate(populate_step) if !step.is_skipped() => {
                Some((step.number, &populate_step.directory))
            }
            _ => None,
        })
    }

    /// The models that are fetched, in order; not those whose step is skipped: there the container has the
    /// image's files.
    pub fn fetched_models(&self) -> impl Iterator<Item = &ModelFetch> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::FetchModel(model) if !step.is_skipped() => Some(model),
            _ => None,
        })
    }

    /// The total download size of these steps, if all sizes are known.
    pub fn total_download_size(&self, is_selected: impl Fn(&Step) -> bool) -> Option<u64> {
        let steps = self.steps.iter().filter(|step| is_selected(step) && !step.is_skipped());
        let sizes = steps.map(|step| {
            let mut downloads = self.downloads.iter();
            let planned = downloads.find(|planned| planned.step == step.number)?;
            planned.download.size
        });
        sizes.sum()
    }

    /// The hosts that the plan's commands connect to, each once.
    pub fn needed_hosts(&self) -> Vec<String> {
        let downloads = self.downloads.iter();
        let hosts = downloads.flat_map(|planned| &planned.download.hosts);
        hosts.sorted().dedup().cloned().collect()
    }

    /// The steps that check or collect the results of a measured command.
    pub fn result_steps(&self, command: u32) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |step| step.measured_step() == Some(command))
    }

    /// Returns the step that collects the results that a check reads, if there is one.
    pub fn find_collecting_step(&self, check: &Step) -> Option<&Step> {
        let mut steps = self.result_steps(check.measured_step()?);
        steps.find(|step| {
            step.collects_results() && step.measurement_and_trial() == check.measurement_and_trial()
        })
    }

    /// The directory of a trial's results, relative to the run's.
    pub fn results_directory(&self, measurement: usize, trial: u32) -> String {
        let measured = self.measurements.get(measurement);
        measured.map(|measured| measured.results_directory(trial)).unwrap_or_default()
    }

    /// Adds the rules of the submission's round for `MLPerf`'s scenarios. The plan stores them, so that later
    /// versions judge a run in the same way.
    pub fn add_round_rules(&mut self, rounds: &Rounds) {
        let submission = &self.submission;
        let Some(round) = &submission.round else {
            return;
        };
        let division = submission.division.unwrap_or(Division::Closed);
        for measured in &mut self.measurements {
            let (suite, benchmark) = (&submission.suite, &submission.benchmark);
            let rules = rounds.benchmark_rules(suite, round, benchmark, &measured.scenario);
            measured.rules = rules.map(|rules| rules.in_division(division));
        }
        if submission.suite == "mlperf-inference" && self.measurement_rules().next().is_none() {
            self.notes.push(format!(
                "no rules of {round} for {}: only the recipe's own limits are checked; --rules FILE adds a round's rules",
                submission.benchmark
            ));
        }
    }

    /// Returns the rules by which the measurements are judged, one for each measurement that has any.
    pub fn measurement_rules(&self) -> impl Iterator<Item = &InferenceRules> {
        self.measurements.iter().filter_map(|measured| measured.rules.as_ref())
    }

    /// ` on the published system`, for a duration; empty if nothing was published.
    pub fn published_system_suffix(&self) -> &'static str {
        let mut measurements = self.measurements.iter();
        if measurements.any(|measured| !measured.expect.is_empty()) {
            " on the published system"
        } else {
            ""
        }
    }

    /// Describes the rules by which the plan is judged: benchmark, round and file.
    pub fn describe_rules(&self) -> Option<String> {
        let rules = self.measurement_rules().next()?;
        let free = if rules.accuracy.is_empty() {
            ", without accuracy limits, as in the open division"
        } else {
            ""
        };
        Some(format!("{} of {}{free} ({})", rules.benchmark, rules.round, rules.file))
    }
}

/// The services among steps that have containers of their own.
pub fn service_containers(steps: &[Step]) -> impl Iterator<Item = (&ServiceStep, &ContainerSpec)> {
    steps.iter().filter_map(|step| match &step.action {
        Action::StartService(service) => Some((&**service, service.own_container.as_ref()?)),
        _ => None,
    })
}
