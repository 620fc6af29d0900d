//! The command line of a plan, for advice and reports.

use super::step::Plan;
use retrial_recipe::quote::quote;

impl Plan {
    /// The command line that runs the recipe again with the same settings and GPUs. `program` is how it
    /// begins.
    #[must_use]
    pub fn command(&self, program: &str) -> String {
        let changed = self.modified.iter();
        let changed = changed.filter_map(|name| Some((name, self.params.get(name)?.to_string())));
        let chosen = self
            .variant
            .iter()
            .map(|(axis, value)| (axis, value.clone()));
        let mut words = vec![format!("{program} run {}", quote(&self.recipe))];
        words.extend(
            chosen
                .chain(changed)
                .map(|(name, value)| format!("--set {}", quote(&format!("{name}={value}")))),
        );
        if !self.gpus.is_empty() {
            words.push(format!("--gpus {}", self.gpus.join(",")));
        }
        if let Some(lock) = &self.lock {
            words.push(format!("--lock {}", quote(&lock.path)));
        }
        if !self.removed_privileges.is_empty() {
            words.push("--least-privilege".to_owned());
        }
        if self.require_accuracy {
            words.push("--require-accuracy".to_owned());
        }
        let mut warmups = self.measurements.iter().map(|one| one.warmup);
        let warmup = warmups
            .next()
            .filter(|first| warmups.all(|other| other == *first));
        if let Some(warmup @ 1..) = warmup {
            words.push(format!("--warmup {warmup}"));
        }
        words.join(" ")
    }
}
