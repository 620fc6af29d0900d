//! Failures on other machines.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::mutex::lock;
use retrial_store::journal::StepEnd;

/// Failures on other machines, which end the steps here that depend on them. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct NodeFailures(Arc<Mutex<RecordedFailures>>);

#[derive(Debug, Default)]
struct RecordedFailures {
    /// Failures by the step, or the step that started the service.
    steps: BTreeMap<u32, StepEnd>,
    /// A machine that no longer responds: every step needs it.
    lost: Option<StepEnd>,
}

impl NodeFailures {
    /// The first failure of these steps and services.
    pub fn find_first(&self, mut steps: impl Iterator<Item = u32>) -> Option<StepEnd> {
        let recorded = lock(&self.0);
        let lost = recorded.lost.clone();
        lost.or_else(|| steps.find_map(|step| recorded.steps.get(&step).cloned()))
    }

    /// Adds a failure, unless the step has already failed elsewhere. Returns whether it was added.
    pub(super) fn add(&self, step: u32, end: StepEnd) -> bool {
        let steps = &mut lock(&self.0).steps;
        let is_first = !steps.contains_key(&step);
        steps.entry(step).or_insert(end);
        is_first
    }

    /// Records that a machine no longer responds.
    pub fn record_lost_machine(&self, end: StepEnd) {
        lock(&self.0).lost.get_or_insert(end);
    }

    /// Removes the failure of a step that starts again.
    pub fn remove(&self, step: u32) {
        lock(&self.0).steps.remove(&step);
    }
}
