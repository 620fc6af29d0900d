//! Counts the causes of violated rules.

use std::collections::BTreeSet;

/// The causes of violations: the figures of a missing file have one cause, and so has a rule that several trials
/// violate.
#[derive(Debug, Default)]
pub(crate) struct ViolationCauses {
    /// The rules that were violated, and the reasons.
    known: BTreeSet<String>,
    pub count: usize,
}

impl ViolationCauses {
    /// Counts a violation, unless its rule or its reason was counted before.
    pub(super) fn add(&mut self, rule: &str, reason: &str) {
        let is_new_rule = self.known.insert(rule.to_owned());
        let is_new_reason = self.known.insert(reason.to_owned());
        self.count += usize::from(is_new_rule && is_new_reason);
    }
}
