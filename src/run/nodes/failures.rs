//! What failed on other machines.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::journal::StepEnd;

/// Failures on other machines, which end what needs them here. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Failures(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// By the step, or the step that started the service.
    steps: BTreeMap<u32, StepEnd>,
    /// A machine that no longer answers: every step needs it.
    lost: Option<StepEnd>,
}

impl Failures {
    /// The first failure of these steps and services.
    pub fn of(&self, mut steps: impl Iterator<Item = u32>) -> Option<StepEnd> {
        let known = self.known();
        let lost = known.lost.clone();
        lost.or_else(|| steps.find_map(|step| known.steps.get(&step).cloned()))
    }

    /// Adds one, unless the step has failed elsewhere before. Returns whether it was added.
    pub(super) fn add(&self, step: u32, end: StepEnd) -> bool {
        match self.known().steps.entry(step) {
            Entry::Vacant(place) => {
                place.insert(end);
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// Says that a machine no longer answers.
    pub fn lose(&self, end: StepEnd) {
        self.known().lost.get_or_insert(end);
    }

    /// Forgets that of a step that begins again.
    pub fn forget(&self, step: u32) {
        self.known().steps.remove(&step);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
