//! Where a run stands, read from its journal.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::event::{CacheMounted, Event, ImageDifference, What};
use super::reason::AbortReason;
use super::step_end::{StepEnd, StepFault};
use crate::plan::step::{Action, Plan, Purpose, Step};

/// Where a run stands.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// A process has taken it up before.
    pub begun: bool,
    /// When the first one did.
    pub since: Option<Timestamp>,
    /// When each step began last.
    pub started: BTreeMap<u32, Timestamp>,
    /// How each step ended; a step that began again is not in it.
    pub ended: BTreeMap<u32, (StepEnd, Timestamp)>,
    /// Steps that began in the container that there is, and did not end: they may be running.
    pub open: BTreeSet<u32>,
    /// Of them, those that run on this machine, whatever becomes of containers.
    on_host: BTreeSet<u32>,
    /// The container that was made and not removed: id.
    pub container: Option<String>,
    /// The step that made it.
    pub made_by: Option<u32>,
    /// Services that were ready and have not ended, by the step that started them, each with the
    /// engine's name for its process, if that is known.
    pub services: BTreeMap<u32, Option<String>>,
    /// Containers of services by the step that made them: ids.
    pub service_containers: BTreeMap<u32, String>,
    /// Registry digests of the image.
    pub digests: Vec<String>,
    /// The image's id.
    pub image: Option<String>,
    /// Images that are not the same on all machines, by the step that got them.
    pub image_differences: BTreeMap<u32, Vec<ImageDifference>>,
    /// Commits of the models, by the model's key: a run stays with the one that it found first.
    pub models: BTreeMap<String, String>,
    /// Cache mounts of all its containers.
    pub cache_mounts: Vec<CacheMounted>,
    /// From where in the container each step that collects results took them last.
    pub collected: BTreeMap<u32, String>,
    /// How the run ended, if it did: exit code and reason.
    pub over: Option<(u8, Option<AbortReason>)>,
    /// Warnings so far.
    pub warnings: Vec<String>,
    /// Containers so far, and in which of them each step ended.
    containers: u32,
    ended_in: BTreeMap<u32, u32>,
}

impl State {
    /// Whether the run ended with a verdict, so that nothing is left to do.
    pub fn is_judged(&self) -> bool {
        matches!(self.over, Some((0 | 1 | 5, _)))
    }

    /// Reads the journal's entries.
    pub fn of(events: &[Event]) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    /// Takes one more event in.
    pub fn apply(&mut self, event: &Event) {
        match (&event.what, event.step) {
            (What::RunBegan { .. }, _) => {
                *self = self.resumed();
                self.begun = true;
                self.since.get_or_insert(event.time);
            }
            (What::StepBegan { .. }, Some(step)) => {
                self.started.insert(step, event.time);
                self.ended.remove(&step);
                self.open.insert(step);
                self.image_differences.remove(&step);
                if event.container.is_none() {
                    self.on_host.insert(step);
                }
            }
            (What::StepEnded { end, .. }, Some(step)) => {
                self.ended.insert(step, (end.clone(), event.time));
                self.ended_in.insert(step, self.containers);
                self.open.remove(&step);
                self.on_host.remove(&step);
            }
            // A service's own image.
            (What::Image { .. }, _) if event.container.is_some() => {}
            (What::Image { id, digests, .. }, _) => {
                self.image = Some(id.clone());
                self.digests.clone_from(digests);
            }
            (What::ImageDiffers(difference), Some(step)) => {
                let differences = self.image_differences.entry(step).or_default();
                differences.push(difference.clone());
            }
            (What::ModelResolved { model, commit, .. }, _) => {
                self.models.insert(model.clone(), commit.clone());
            }
            (What::ContainerCreated { id, service, .. }, Some(step)) if *service => {
                self.service_containers.insert(step, id.clone());
            }
            (What::ServiceReady { service: _, exec }, Some(step)) => {
                self.services.insert(step, exec.clone());
            }
            (What::ServiceEnded { of, .. }, _) => drop(self.services.remove(of)),
            (What::ContainerCreated { id, .. }, _) => {
                self.container = Some(id.clone());
                self.made_by = event.step;
                self.containers += 1;
                self.only_open(event.step);
            }
            (What::CacheMounted(mounted), _) => self.cache_mounts.push(mounted.clone()),
            (What::ContainerRemoved { id }, _) if let Some(start) = self.service_of(id) => {
                self.service_containers.remove(&start);
                self.services.remove(&start);
            }
            (What::ContainerRemoved { .. }, _) => {
                self.container = None;
                self.made_by = None;
                self.only_open(None);
            }
            (What::Collected { from, .. }, Some(step)) => {
                self.collected.insert(step, from.clone());
            }
            (What::CheckReset, Some(step)) => {
                self.over = None;
                self.ended.remove(&step);
            }
            (What::Warning { text }, _) => self.warnings.push(text.clone()),
            (What::RunEnded { exit_code, reason }, _) => {
                self.over = Some((*exit_code, reason.clone()));
            }
            _ => {}
        }
    }

    /// The step that started the service whose own container this is.
    fn service_of(&self, id: &str) -> Option<u32> {
        let mut containers = self.service_containers.iter();
        containers
            .find(|(_, known)| *known == id)
            .map(|(start, _)| *start)
    }

    /// Nothing runs any more in a container that is gone; what made the new one goes on.
    fn only_open(&mut self, maker: Option<u32>) {
        let Self { open, on_host, .. } = self;
        self.services.clear();
        open.retain(|step| Some(*step) == maker || on_host.contains(step));
    }

    /// The state from which the run is resumed: one that was over executes its failed steps again.
    #[must_use]
    pub fn resumed(&self) -> Self {
        let mut state = self.clone();
        if state.over.take().is_some() {
            state.ended.retain(|_, (end, _)| end.is_done());
        }
        state
    }

    /// Whether a step was done.
    pub fn done(&self, number: u32) -> bool {
        self.ended
            .get(&number)
            .is_some_and(|(end, _)| end.is_done())
    }

    /// Steps whose work stands and is not done again: what was done, and what was measured and
    /// failed. Without a living container, what only lived in it is lost: its preparation, and
    /// measurements whose results were not fetched.
    pub fn completed_steps(&self, plan: &Plan, container_lives: bool) -> Vec<u32> {
        let steps = plan.steps.iter();
        steps
            .filter(|step| self.is_complete(plan, step, container_lives))
            .map(|step| step.number)
            .collect()
    }

    fn is_complete(&self, plan: &Plan, step: &Step, container_lives: bool) -> bool {
        let done = self.done(step.number);
        let here = container_lives && self.is_of_this_container(step.number);
        match &step.action {
            Action::Create => done && here,
            Action::StartService(_) => {
                let mut needing = plan.that_need(step.number);
                self.failed(step.number)
                    || done
                        && (self.services.contains_key(&step.number)
                            || needing.all(|step| self.is_complete(plan, step, container_lives)))
            }
            // One that is started again is stopped again.
            Action::StopService(ending) => {
                done && !self.services.contains_key(&ending.of)
                    && plan
                        .service(ending.of)
                        .is_none_or(|(start, _)| self.is_complete(plan, start, container_lives))
            }
            // Cheap, and right only at the end.
            Action::Judge | Action::Remove => false,
            Action::Exec(exec) => match exec.purpose {
                Purpose::Prepare => done && here,
                Purpose::Measure { .. } => {
                    self.failed(step.number) || done && (here || self.kept(plan, step.number))
                }
                Purpose::Check { of, .. } => {
                    self.failed(step.number) || done && (here || self.kept(plan, of))
                }
            },
            // Of a check that is run again, the results are collected again.
            Action::Collect { of, .. } => {
                let mut checks = plan.steps_of(*of).filter(|check| check.checks());
                done && self.kept(plan, *of) && checks.all(|check| self.settled(check.number))
            }
            // Somebody may have cleared the cache since, and the next container may be another machine's,
            // whose engine does not have the image; without a new container nobody would look.
            Action::Populate(_)
            | Action::FetchModel(_)
            | Action::Pull { .. }
            | Action::Build(_) => done && container_lives,
            Action::CopyOut { .. } | Action::Host(_) => done,
        }
    }

    fn failed(&self, number: u32) -> bool {
        let end = self.ended.get(&number).map(|(end, _)| end);
        matches!(
            end,
            Some(StepEnd::Failed {
                fault: StepFault::Command | StepFault::Timeout | StepFault::NoResult,
                ..
            })
        )
    }

    /// Whether a step ended in the container that there is, or that was there last.
    pub fn is_of_this_container(&self, number: u32) -> bool {
        self.ended_in.get(&number) == Some(&self.containers)
    }

    /// Whether everything that a measurement left is in the run's directory. A check that looks at collected
    /// results can be run again, one that looks at the container cannot.
    fn kept(&self, plan: &Plan, number: u32) -> bool {
        let mut collecting = plan
            .steps_of(number)
            .filter(|step| step.collects())
            .peekable();
        self.done(number)
            && if collecting.peek().is_some() {
                collecting.all(|step| self.done(step.number))
            } else {
                plan.steps_of(number)
                    .all(|check| self.settled(check.number))
            }
    }

    /// Whether something that was measured, or is being measured, is in the container only.
    pub fn uncollected(&self, plan: &Plan) -> bool {
        plan.steps.iter().any(|step| match &step.action {
            Action::Exec(exec) => {
                matches!(exec.purpose, Purpose::Measure { .. }) && self.open.contains(&step.number)
            }
            Action::Collect { of, .. } => self.done(*of) && !self.settled(step.number),
            _ => false,
        })
    }

    /// Whether a step came to an end that trying again would not change.
    fn settled(&self, number: u32) -> bool {
        self.done(number) || self.failed(number)
    }
}
