//! The command line of a plan, for advice and reports.

use itertools::Itertools as _;

use super::step::Plan;
use retrial_recipe::ParamSetting;
use retrial_recipe::quote::shell_quote;

impl Plan {
    /// The command line that runs the recipe again with the same settings and GPUs. `program` is its first
    /// part.
    pub fn run_command(&self, program: &str) -> String {
        let mut words = vec![format!("{program} run {}", shell_quote(&self.recipe))];
        words.extend(self.setting_flags());
        if !self.gpus.is_empty() {
            words.push(format!("--gpus {}", self.gpus.join(",")));
        }
        if let Some(lock) = &self.lock {
            words.push(format!("--lock {}", shell_quote(&lock.path)));
        }
        if !self.removed_privileges.is_empty() {
            words.push("--least-privilege".to_owned());
        }
        if self.require_accuracy {
            words.push("--require-accuracy".to_owned());
        }
        let measurements = self.measurements.iter();
        let mut warmups = measurements.map(|measurement| measurement.warmup);
        if let Ok(warmup @ 1..) = warmups.all_equal_value() {
            words.push(format!("--warmup {warmup}"));
        }
        words.join(" ")
    }

    /// The command line that shows the steps of the plan.
    pub fn plan_command(&self, program: &str) -> String {
        let words = vec![format!("{program} plan {}", shell_quote(&self.recipe))];
        words.into_iter().chain(self.setting_flags()).join(" ")
    }

    /// The command line that judges results of the plan in a directory, from any working directory.
    pub fn judge_command(&self, results: &str) -> String {
        let recipe = shell_quote(&self.absolute_recipe());
        let mut words = vec![format!("retrial judge {} --recipe {recipe}", shell_quote(results))];
        words.extend(self.setting_flags());
        if self.require_accuracy {
            words.push("--require-accuracy".to_owned());
        }
        words.join(" ")
    }

    /// The settings of the command line: each variant, each changed param and each one without a default, and images.
    pub fn settings(&self) -> impl Iterator<Item = ParamSetting> {
        let set_names = self.modified.iter().chain(&self.given_params);
        let set_params =
            set_names.filter_map(|name| Some((name, self.params.get(name)?.to_string())));
        let variants = self.variant.iter();
        let chosen = variants.map(|(axis, value)| (axis, value.clone()));
        chosen.chain(set_params).map(|(name, value)| ParamSetting::new(name, value))
    }

    /// The options of the command line for [`Self::settings`].
    pub(super) fn setting_flags(&self) -> Vec<String> {
        let options = self.settings().map(|setting| setting.to_option());
        options.map(|(option, value)| format!("{option} {}", shell_quote(&value))).collect()
    }

    /// The recipe's name, valid in any directory of this machine.
    fn absolute_recipe(&self) -> String {
        let is_relative = self.recipe.starts_with('.');
        let Some(directory) = self.directory.as_ref().filter(|_| is_relative) else {
            return self.recipe.clone();
        };
        let name = self.recipe.rsplit('/').next().unwrap_or_default();
        let is_file = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
        if is_file { format!("{directory}/{name}") } else { directory.clone() }
    }
}
