//! What others look up in a plan: its steps, containers, models, downloads and measurements.

use std::collections::BTreeSet;

use itertools::Itertools as _;

use super::cached::{self, CachedDirectory};
use super::model::ModelFetch;
use super::service::ServiceStep;
use super::step::{Action, Plan, Purpose, Step};
use retrial_container::ContainerSpec;
use retrial_mlperf::rounds::{Rounds, Rules};

impl Step {
    /// The measurement and the trial that it is a part of: of several that share it, the first.
    pub fn trial(&self) -> Option<(usize, u32)> {
        match &self.action {
            Action::Exec(exec) => match &exec.purpose {
                Purpose::Measure {
                    measurements,
                    trial,
                } => Some((*measurements.first()?, *trial)),
                Purpose::Check {
                    measurement, trial, ..
                } => Some((*measurement, *trial)),
                Purpose::Prepare => None,
            },
            Action::Collect {
                measurement, trial, ..
            } => Some((*measurement, *trial)),
            _ => None,
        }
    }

    /// The step of the measured command whose results it checks or collects.
    pub fn of(&self) -> Option<u32> {
        match &self.action {
            Action::Collect { of, .. } => Some(*of),
            Action::Exec(exec) => match exec.purpose {
                Purpose::Check { of, .. } => Some(of),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it measures.
    pub fn measures(&self) -> bool {
        matches!(&self.action, Action::Exec(exec) if matches!(exec.purpose, Purpose::Measure { .. }))
    }

    /// Whether it collects results.
    pub fn collects(&self) -> bool {
        matches!(self.action, Action::Collect { .. })
    }

    /// Whether it checks results.
    pub fn checks(&self) -> bool {
        self.of().is_some() && !self.collects()
    }
}

impl Plan {
    /// The step of a number.
    pub fn step(&self, number: u32) -> Option<&Step> {
        self.steps.iter().find(|step| step.number == number)
    }

    /// The recipe's container, and those of services with containers of their own.
    pub fn containers(&self) -> impl Iterator<Item = &ContainerSpec> {
        let services = own_containers(&self.steps).map(|(_, own)| own);
        std::iter::once(&self.container).chain(services)
    }

    /// The service that a step starts.
    pub fn service(&self, start: u32) -> Option<(&Step, &ServiceStep)> {
        let step = self.step(start)?;
        match &step.action {
            Action::StartService(service) => Some((step, service)),
            _ => None,
        }
    }

    /// The steps that need the service which a step starts.
    pub fn that_need(&self, start: u32) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(
            move |step| matches!(&step.action, Action::Exec(exec) if exec.needs.contains(&start)),
        )
    }

    /// The name of the directory of a cache mount, without the number that tells apart those of runs at the
    /// same time. What was compiled for one GPU, on one machine, by one recipe is nothing for another; and a
    /// recipe that nobody looked at cannot leave programs for one that is trusted.
    pub fn cache_mount(&self, path: &str, image: &str, machine: &str) -> String {
        let assigned = self.assigned_gpus.iter().flat_map(|given| &given.gpus);
        let gpus = assigned.map(|given| given.gpu.gfx.as_ref().unwrap_or(&given.gpu.model));
        let gpus: BTreeSet<&String> = gpus.collect();
        let identity = cached::identity(&(&self.recipe_hash, path, machine, gpus));
        cached::of_image(&identity, image)
    }

    /// Cached directories in the order in which they are populated; without skipped ones, where the image's own is seen.
    pub fn cached_directories(&self) -> impl Iterator<Item = (u32, &CachedDirectory)> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Populate(fill) if !step.is_skipped() => Some((step.number, &fill.directory)),
            _ => None,
        })
    }

    /// The models that are fetched, in order; not those whose step is skipped: there the container
    /// has what the image has.
    pub fn fetched_models(&self) -> impl Iterator<Item = &ModelFetch> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::FetchModel(model) if !step.is_skipped() => Some(model),
            _ => None,
        })
    }

    /// The size of what these steps download, if it is known of all of them.
    pub fn size_of(&self, is_one: impl Fn(&Step) -> bool) -> Option<u64> {
        let steps = self.steps.iter();
        let steps = steps.filter(|step| is_one(step) && !step.is_skipped());
        let sizes = steps.map(|step| {
            let known = self.downloads.iter().find(|one| one.step == step.number)?;
            known.download.size
        });
        sizes.sum()
    }

    /// The hosts that the plan's commands connect to, each once.
    pub fn needed_hosts(&self) -> Vec<String> {
        let hosts = self.downloads.iter().flat_map(|one| &one.download.hosts);
        hosts.sorted().dedup().cloned().collect()
    }
}

impl Plan {
    /// The steps that check or collect the results of a measured command.
    pub fn steps_of(&self, command: u32) -> impl Iterator<Item = &Step> {
        self.steps
            .iter()
            .filter(move |step| step.of() == Some(command))
    }

    /// The step that collects what a check looks at, if one does.
    pub fn collects_for(&self, check: &Step) -> Option<&Step> {
        let mut collecting = self.steps_of(check.of()?).filter(|step| step.collects());
        collecting.find(|step| step.trial() == check.trial())
    }

    /// Where the results of a trial lie below the run's directory.
    pub fn results_directory(&self, measurement: usize, trial: u32) -> String {
        let measured = self.measurements.get(measurement);
        measured
            .map(|measured| measured.results_directory(trial))
            .unwrap_or_default()
    }

    /// Has `MLPerf`'s scenarios judged by the rules of the submission's round. The plan keeps them,
    /// so that a run is judged tomorrow as it is today.
    pub fn ruled_by(&mut self, rounds: &Rounds) {
        let submission = &self.submission;
        let Some(round) = &submission.round else {
            return;
        };
        let division = submission.division.as_deref().unwrap_or("closed");
        for measured in &mut self.measurements {
            let (suite, benchmark) = (&submission.suite, &submission.benchmark);
            let rules = rounds.rules(suite, round, benchmark, &measured.scenario);
            measured.rules = rules.map(|rules| rules.in_division(division));
        }
        if submission.suite == "mlperf-inference" && self.rules().next().is_none() {
            self.notes.push(format!(
                "no rules of {round} for {}: only the recipe's own limits are checked; --rules FILE adds a round's rules",
                submission.benchmark
            ));
        }
    }

    /// The rules by which it is judged, one for each measurement that has any.
    pub fn rules(&self) -> impl Iterator<Item = &Rules> {
        self.measurements
            .iter()
            .filter_map(|measured| measured.rules.as_ref())
    }

    /// ` on the published system`, for a duration; nothing where nothing was published.
    pub fn published_system(&self) -> &'static str {
        let mut measurements = self.measurements.iter();
        if measurements.any(|measured| !measured.expect.is_empty()) {
            " on the published system"
        } else {
            ""
        }
    }

    /// By which rules it is judged, in words.
    pub fn judged_by(&self) -> Option<String> {
        let rules = self.rules().next()?;
        let free = if rules.accuracy.is_empty() {
            ", without accuracy limits, as in the open division"
        } else {
            ""
        };
        Some(format!(
            "{} of {}{free} ({})",
            rules.benchmark, rules.round, rules.file
        ))
    }
}

/// The services among steps that have containers of their own.
pub fn own_containers(steps: &[Step]) -> impl Iterator<Item = (&ServiceStep, &ContainerSpec)> {
    steps.iter().filter_map(|step| match &step.action {
        Action::StartService(service) => Some((&**service, service.own_container.as_ref()?)),
        _ => None,
    })
}
