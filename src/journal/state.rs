//! Where a run stands, read from its journal.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::event::{Event, StepEnd, What};
use crate::plan::step::{Action, Plan, Purpose};

/// Where a run stands.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// When each step began last.
    pub began: BTreeMap<u32, Timestamp>,
    /// How each step ended; a step that began again is not in it.
    pub ended: BTreeMap<u32, (StepEnd, Timestamp)>,
    /// The container that was made and not removed: id.
    pub container: Option<String>,
    /// Registry digests of the image.
    pub digests: Vec<String>,
    /// The image's id.
    pub image: Option<String>,
    /// How the run ended, if it did: exit code and reason.
    pub over: Option<(u8, Option<String>)>,
    /// Warnings so far.
    pub warnings: Vec<String>,
}

impl State {
    /// Reads the journal's entries.
    #[must_use]
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
            (What::RunBegan { .. }, _) => self.over = None,
            (What::StepBegan { .. }, Some(step)) => {
                self.began.insert(step, event.time);
                self.ended.remove(&step);
            }
            (What::StepEnded { end, .. }, Some(step)) => {
                self.ended.insert(step, (end.clone(), event.time));
            }
            (What::Image { id, digests, .. }, _) => {
                self.image = Some(id.clone());
                self.digests.clone_from(digests);
            }
            (What::ContainerCreated { id, .. }, _) => self.container = Some(id.clone()),
            (What::ContainerRemoved { .. }, _) => self.container = None,
            (What::Warning { text }, _) => self.warnings.push(text.clone()),
            (What::RunEnded { exit_code, because }, _) => {
                self.over = Some((*exit_code, because.clone()));
            }
            _ => {}
        }
    }

    /// Steps whose work stands and is not done again. Without a living container, what only
    /// lived in it is lost: its preparation, and measurements whose results were not fetched.
    #[must_use]
    pub fn standing(&self, plan: &Plan, container_lives: bool) -> Vec<u32> {
        let done = |number: u32| {
            self.ended
                .get(&number)
                .is_some_and(|(end, _)| end.is_done())
        };
        let collected = |number: u32| {
            plan.steps.iter().all(|step| match &step.action {
                Action::Collect { of, .. } if *of == number => done(step.number),
                Action::Exec(exec) => {
                    !matches!(exec.purpose, Purpose::Check { of, .. } if of == number)
                        || done(step.number)
                }
                _ => true,
            })
        };
        plan.steps
            .iter()
            .filter(|step| done(step.number))
            .filter(|step| match &step.action {
                _ if container_lives => true,
                Action::Create | Action::Remove => false,
                Action::Exec(exec) => match exec.purpose {
                    Purpose::Prepare => false,
                    Purpose::Measure { .. } => collected(step.number),
                    Purpose::Check { of, .. } => done(of) && collected(of),
                },
                Action::Collect { of, .. } => done(*of) && collected(*of),
                _ => true,
            })
            .map(|step| step.number)
            .collect()
    }
}
