//! The state of a run, from its journal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::event::{CacheIdentity, CacheMount, Event, EventKind, ImageDifference};
use super::file::{Journal, JournalEntries};
use super::history::History;
use super::reason::AbortReason;
use super::step_end::{StepEnd, StepFault};
use super::unreadable_line::UnreadableLine;
use crate::clock::Moment;
use crate::error::StoreError;
use crate::process::ProcessIdentity;
use retrial_plan::step::{Action, CommandPurpose, Plan, Step};

#[derive(Debug, Clone, Default)]
pub struct JournalState {
    /// A process has started it before.
    pub begun: bool,
    /// The latest process that executed it.
    pub process: Option<ProcessIdentity>,
    /// The time at which the first process started it.
    pub since: Option<Moment>,
    /// The latest start of each step.
    pub started: BTreeMap<u32, Moment>,
    /// The ends of the steps; without steps that started again.
    pub ended: BTreeMap<u32, (StepEnd, Moment)>,
    /// Unfinished steps of the current container: they may be running.
    pub open: BTreeSet<u32>,
    /// The open steps that run on this machine, independent of containers.
    on_host: BTreeSet<u32>,
    /// A step of the current container was being stopped, and nobody saw its end: the container is not used again.
    pub is_stopping: bool,
    /// The id of the current container.
    pub container: Option<String>,
    /// The step that created it.
    pub made_by: Option<u32>,
    /// Running services, by the step that started them, each with the engine's name for its process, if known.
    pub services: BTreeMap<u32, Option<String>>,
    /// Ids of service containers, by the step that created them.
    pub service_containers: BTreeMap<u32, String>,
    /// Registry digests of the image.
    pub digests: Vec<String>,
    /// The id of the image that the current container was launched from.
    pub image: Option<String>,
    /// The images of services with a container of their own, by the service: a registry's digest, or the id.
    pub service_images: BTreeMap<String, String>,
    /// Images that differ between machines, by the step that pulled or built them.
    pub image_differences: BTreeMap<u32, Vec<ImageDifference>>,
    /// Commits of the models, by the model's key: a run keeps the one that it resolved first.
    pub models: BTreeMap<String, String>,
    /// Cached directories, by the step that populates them.
    pub cached: BTreeMap<u32, CacheIdentity>,
    /// Cache mounts of all its containers.
    pub cache_mounts: Vec<CacheMount>,
    /// The latest path in the container from which each step collected results.
    pub collected: BTreeMap<u32, String>,
    /// The files that each step collected and that were last written before they were measured.
    pub older: BTreeMap<u32, Vec<String>>,
    /// The end of the run, if it ended: exit code and reason.
    pub over: Option<(u8, Option<AbortReason>)>,
    /// Lines of its journal that cannot be read: what they say of the run is unknown.
    pub unreadable: Vec<UnreadableLine>,
    /// Events before the latest start of each step, and others that the state does not have.
    pub history: History,
    /// The number of containers so far, and the one in which each step ended.
    containers: u32,
    ended_in: BTreeMap<u32, u32>,
}

impl JournalState {
    /// Returns whether the run ended with a verdict, so that no step remains.
    pub fn is_judged(&self) -> bool {
        matches!(self.over, Some((0 | 1 | 5, _)))
    }

    /// Reads the state of the run that has this journal.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn read(journal: &Path) -> Result<Self, StoreError> {
        let JournalEntries { entries, unreadable } = Journal::read_damaged::<Event>(journal)?;
        Ok(Self { unreadable, ..Self::from_events(&entries) })
    }

    pub fn from_events(events: &[Event]) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply_event(event);
        }
        state
    }

    pub fn apply_event(&mut self, event: &Event) {
        self.history.apply_event(event);
        match (&event.what, event.step) {
            (EventKind::RunStarted { process, .. }, _) => {
                *self = self.to_resumed();
                self.process = Some(process.clone());
                self.begun = true;
                self.since.get_or_insert_with(|| event.moment());
            }
            (EventKind::StepStarted { .. }, Some(step)) => {
                self.started.insert(step, event.moment());
                self.ended.remove(&step);
                self.open.insert(step);
                self.image_differences.remove(&step);
                if event.container.is_none() {
                    self.on_host.insert(step);
                }
            }
            (EventKind::StepEnded { end, .. }, Some(step)) => {
                self.ended.insert(step, (end.clone(), event.moment()));
                self.ended_in.insert(step, self.containers);
                self.open.remove(&step);
                self.on_host.remove(&step);
                self.is_stopping = false;
            }
            (EventKind::StepStopping, Some(step)) => {
                self.open.remove(&step);
                self.is_stopping |= !self.on_host.remove(&step);
            }
            (EventKind::Image { id, digests, .. }, _) => {
                self.set_image(event.container.as_deref(), id, digests);
            }
            (EventKind::ImageDiffers(difference), Some(step)) => {
                let differences = self.image_differences.entry(step).or_default();
                differences.push(difference.clone());
            }
            (EventKind::ModelResolved { model, commit, .. }, _) => {
                self.models.insert(model.clone(), commit.clone());
            }
            (EventKind::ContainerCreated { id, service, .. }, Some(step)) if *service => {
                self.service_containers.insert(step, id.clone());
            }
            (EventKind::ServiceReady { service: _, exec }, Some(step)) => {
                self.services.insert(step, exec.clone());
            }
            (EventKind::ServiceEnded { of, .. }, _) => drop(self.services.remove(of)),
            (EventKind::ContainerCreated { id, .. }, _) => {
                self.container = Some(id.clone());
                self.made_by = event.step;
                self.containers += 1;
                self.close_other_steps(event.step);
            }
            (EventKind::Cached(cached), Some(step)) => {
                self.cached.insert(step, cached.clone());
            }
            (EventKind::CacheMounted(mounted), _) => self.cache_mounts.push(mounted.clone()),
            (EventKind::ContainerRemoved { id }, _)
                if let Some(start) = self.find_service_start(id) =>
            {
                self.service_containers.remove(&start);
                self.services.remove(&start);
            }
            (EventKind::ContainerRemoved { .. }, _) => {
                self.container = None;
                self.made_by = None;
                self.close_other_steps(None);
            }
            (EventKind::Collected { from, older, .. }, Some(step)) => {
                self.collected.insert(step, from.clone());
                self.older.insert(step, older.clone());
            }
            (EventKind::CheckReset, Some(step)) => {
                self.over = None;
                self.ended.remove(&step);
            }
            (EventKind::RunEnded { exit_code, reason }, _) => {
                self.over = Some((*exit_code, reason.clone()));
            }
            _ => {}
        }
    }

    fn set_image(&mut self, service: Option<&str>, id: &str, digests: &[String]) {
        if let Some(service) = service {
            let content = digests.first().map_or(id, String::as_str).to_owned();
            self.service_images.insert(service.to_owned(), content);
        } else {
            self.image = Some(id.to_owned());
            self.digests = digests.to_vec();
        }
    }

    /// Returns the start step of the service with this container.
    fn find_service_start(&self, id: &str) -> Option<u32> {
        let mut containers = self.service_containers.iter();
        containers.find(|(_, listed)| *listed == id).map(|(start, _)| *start)
    }

    /// No step is running in a removed container; the step that created the new one continues.
    fn close_other_steps(&mut self, maker: Option<u32>) {
        let Self { open, on_host, .. } = self;
        self.services.clear();
        self.is_stopping = false;
        open.retain(|step| Some(*step) == maker || on_host.contains(step));
    }

    /// Returns the state from which the run is resumed: a completed run executes its failed steps again.
    #[must_use]
    pub fn to_resumed(&self) -> Self {
        let mut state = self.clone();
        if state.over.take().is_some() {
            state.ended.retain(|_, (end, _)| end.is_done());
        }
        state
    }

    /// Returns whether a step succeeded.
    pub fn is_done(&self, number: u32) -> bool {
        self.ended.get(&number).is_some_and(|(end, _)| end.is_done())
    }

    /// Completed steps that are not executed again: successful ones, and failed measurements. Without a live
    /// container, its content is lost: preparation, and measurements whose results were not collected.
    pub fn completed_steps(&self, plan: &Plan, container_lives: bool) -> Vec<u32> {
        let steps = plan.steps.iter();
        steps
            .filter(|step| self.is_complete(plan, step, container_lives))
            .map(|step| step.number)
            .collect()
    }

    fn is_complete(&self, plan: &Plan, step: &Step, container_lives: bool) -> bool {
        let done = self.is_done(step.number);
        let here = container_lives && self.ended_in_current_container(step.number);
        match &step.action {
            Action::Create => done && here,
            Action::StartService(_) => {
                let mut needing = plan.steps_needing_service(step.number);
                self.has_failed(step.number)
                    || done
                        && (self.services.contains_key(&step.number)
                            || needing.all(|step| self.is_complete(plan, step, container_lives)))
            }
            // A service that is started again must be stopped again.
            Action::StopService(ending) => {
                done && !self.services.contains_key(&ending.of)
                    && plan
                        .started_service(ending.of)
                        .is_none_or(|(start, _)| self.is_complete(plan, start, container_lives))
            }
            // Cheap, and valid only at the end.
            Action::Judge | Action::Remove => false,
            Action::Exec(exec) => match exec.purpose {
                CommandPurpose::Prepare => done && here,
                CommandPurpose::Measure { .. } => {
                    self.has_failed(step.number)
                        || done && (here || self.is_collected(plan, step.number))
                }
                CommandPurpose::Check { of, .. } => {
                    self.has_failed(step.number) || done && (here || self.is_collected(plan, of))
                }
            },
            // The results of a rerun check are collected again.
            Action::Collect { of, .. } => {
                let mut checks = plan.result_steps(*of).filter(|check| check.checks_results());
                done && self.is_collected(plan, *of)
                    && checks.all(|check| self.is_settled(check.number))
            }
            // The cache may have been cleared since, and the next container may be on another machine, whose
            // engine does not have the image; without a new container it is not needed.
            Action::Populate(_)
            | Action::FetchModel(_)
            | Action::Pull { .. }
            | Action::Build(_) => done && container_lives,
            Action::CopyOut { .. } | Action::Host(_) => done,
        }
    }

    fn has_failed(&self, number: u32) -> bool {
        let end = self.ended.get(&number).map(|(end, _)| end);
        matches!(
            end,
            Some(StepEnd::Failed {
                fault: StepFault::Command | StepFault::Timeout | StepFault::NoResult,
                ..
            })
        )
    }

    /// Returns whether a step ended in the current or latest container.
    pub fn ended_in_current_container(&self, number: u32) -> bool {
        self.ended_in.get(&number) == Some(&self.containers)
    }

    /// Returns whether all results of a measurement are in the run's directory. A check that reads collected results
    /// can be rerun, one that reads the container cannot.
    fn is_collected(&self, plan: &Plan, number: u32) -> bool {
        let mut collecting =
            plan.result_steps(number).filter(|step| step.collects_results()).peekable();
        self.is_done(number)
            && if collecting.peek().is_some() {
                collecting.all(|step| self.is_done(step.number))
            } else {
                plan.result_steps(number).all(|check| self.is_settled(check.number))
            }
    }

    /// Returns whether results of a complete or running measurement are only in the container.
    pub fn has_uncollected_results(&self, plan: &Plan) -> bool {
        plan.steps.iter().any(|step| match &step.action {
            Action::Exec(exec) => {
                matches!(exec.purpose, CommandPurpose::Measure { .. })
                    && self.open.contains(&step.number)
            }
            Action::Collect { of, .. } => self.is_done(*of) && !self.is_settled(step.number),
            _ => false,
        })
    }

    /// Returns whether a step has an end that a retry would not change.
    fn is_settled(&self, number: u32) -> bool {
        self.is_done(number) || self.has_failed(number)
    }
}
