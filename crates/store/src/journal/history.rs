//! The history of a run, which its state does not have: steps that were executed more than once, containers and images
//! that were replaced, and what happened that failed no step. A verdict repeats it.

use std::collections::BTreeMap;

use super::event::{Event, EventKind};
use super::step_end::StepEnd;

/// Events of a run that its state does not show.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The number of processes that started or resumed it.
    pub processes: u32,
    /// Earlier executions of steps that started again, by number: how each ended; none if it was interrupted.
    pub earlier: BTreeMap<u32, Vec<Option<StepEnd>>>,
    /// The process, from 1, in which each step ended last.
    pub ended_by: BTreeMap<u32, u32>,
    /// The process that created the container in which each step ended last.
    pub container_by: BTreeMap<u32, u32>,
    /// The ids of the images that it was launched from, in order; more than one if it was resumed with another.
    pub images: Vec<String>,
    /// Files that were not collected, and why, by the collecting step.
    pub omitted: BTreeMap<u32, Vec<String>>,
    /// Processes that a step left running, and which were killed.
    pub leftovers: BTreeMap<u32, Vec<String>>,
    /// Incidents in a step, or in none, that failed nothing.
    pub incidents: Vec<(Option<u32>, String)>,
    /// Steps that started and have not ended.
    open_steps: Vec<u32>,
    /// The latest end of each step.
    ends: BTreeMap<u32, StepEnd>,
    /// The process that created the current container.
    container: u32,
}

impl History {
    pub(super) fn apply_event(&mut self, event: &Event) {
        let Some(step) = event.step else {
            return self.apply_run_event(&event.what);
        };
        match &event.what {
            EventKind::StepStarted { .. } => self.start_step(step),
            EventKind::StepEnded { end, .. } => {
                self.open_steps.retain(|open| *open != step);
                self.ended_by.insert(step, self.processes);
                self.container_by.insert(step, self.container);
                self.ends.insert(step, end.clone());
            }
            EventKind::ContainerCreated { service: false, .. } => self.container = self.processes,
            // The image of a service's own container is recorded in its container.
            EventKind::Image { id, .. }
                if event.container.is_none() && self.images.last() != Some(id) =>
            {
                self.images.push(id.clone());
            }
            EventKind::Collected { omitted, .. } if !omitted.is_empty() => {
                self.omitted.insert(step, omitted.clone());
            }
            EventKind::LeftoverProcesses { processes } => {
                self.leftovers.insert(step, processes.clone());
            }
            EventKind::Incident { text } => self.incidents.push((Some(step), text.clone())),
            _ => {}
        }
    }

    fn apply_run_event(&mut self, what: &EventKind) {
        match what {
            EventKind::RunStarted { .. } => self.processes += 1,
            EventKind::Incident { text } => self.incidents.push((None, text.clone())),
            _ => {}
        }
    }

    fn start_step(&mut self, step: u32) {
        let end = self.ends.remove(&step);
        let was_interrupted = self.open_steps.contains(&step);
        let was_executed = end.as_ref().is_some_and(|end| !matches!(end, StepEnd::Skipped { .. }));
        if was_interrupted || was_executed {
            self.earlier.entry(step).or_default().push(end);
        }
        self.omitted.remove(&step);
        self.leftovers.remove(&step);
        if !was_interrupted {
            self.open_steps.push(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::StepFault;
    use crate::process::ProcessIdentity;
    use jiff::Timestamp;

    fn event(step: u32, what: EventKind) -> Event {
        Event {
            time: Timestamp::UNIX_EPOCH,
            since_boot: None,
            node: "local".to_owned(),
            container: None,
            step: (step > 0).then_some(step),
            name: None,
            what,
        }
    }

    fn history(events: &[Event]) -> History {
        let mut history = History::default();
        for event in events {
            history.apply_event(event);
        }
        history
    }

    fn process() -> Event {
        let what = EventKind::RunStarted {
            run: "r".to_owned(),
            steps: 3,
            process: ProcessIdentity::default(),
            completed_steps: Vec::new(),
            tool: String::new(),
            since: None,
        };
        event(0, what)
    }

    fn start(step: u32) -> Event {
        let summary = String::new();
        let timeout_s = None;
        event(step, EventKind::StepStarted { summary, timeout_s })
    }

    fn end(step: u32, end: StepEnd) -> Event {
        event(step, EventKind::StepEnded { end, seconds: 1.0 })
    }

    fn container(step: u32) -> Event {
        let what = EventKind::ContainerCreated {
            id: "c".to_owned(),
            name: "c".to_owned(),
            service: false,
        };
        event(step, what)
    }

    const DONE: StepEnd = StepEnd::Done { exit_code: Some(0) };

    #[test]
    fn a_step_that_started_again_keeps_how_it_ended_before() {
        let failed = StepEnd::failure(StepFault::Command, "it crashed", "");
        let found = history(&[
            process(),
            start(3),
            end(3, failed.clone()),
            process(),
            start(3),
            process(),
            start(3),
            end(3, DONE),
        ]);
        assert_eq!(found.earlier[&3], [Some(failed), None]);
        assert_eq!((found.processes, found.ended_by[&3]), (3, 3));
    }

    #[test]
    fn a_reattached_step_is_executed_once() {
        let reattached =
            EventKind::StepReattached { summary: String::new(), started: None, timeout_s: None };
        let events =
            [process(), container(1), start(3), process(), event(3, reattached), end(3, DONE)];
        let found = history(&events);
        assert!(found.earlier.is_empty());
        assert_eq!((found.ended_by[&3], found.container_by[&3]), (2, 1));
    }

    #[test]
    fn a_step_that_was_skipped_before_is_executed_once() {
        use crate::journal::{AbortReason, SkipReason};
        let reason = SkipReason::Aborted { reason: AbortReason::Stopped };
        let skipped = end(3, StepEnd::Skipped { reason });
        let found = history(&[process(), skipped, process(), start(3), end(3, DONE)]);
        assert!(found.earlier.is_empty());
    }

    #[test]
    fn files_of_an_earlier_execution_do_not_count() {
        let omitting = |omitted: &[&str]| {
            let what = EventKind::Collected {
                from: "/results".to_owned(),
                to: "results".to_owned(),
                files: 1,
                bytes: 1,
                older: Vec::new(),
                omitted: omitted.iter().map(|text| (*text).to_owned()).collect(),
            };
            event(4, what)
        };
        let mut events = vec![process(), start(4), omitting(&["a: a link"]), end(4, DONE)];
        assert_eq!(history(&events).omitted[&4], ["a: a link"]);
        events.extend([process(), start(4), omitting(&[]), end(4, DONE)]);
        assert!(history(&events).omitted.is_empty());
    }
}
