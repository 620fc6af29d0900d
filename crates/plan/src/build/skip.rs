//! Steps that `--skip` and `--from` skip.

use super::PlanBuilder;
use super::error::PlanError;
use crate::options::KeepContainer;
use crate::step::{Action, Step, StepCondition};
use retrial_document::did_you_mean;

impl PlanBuilder<'_> {
    /// Marks the steps that `--skip` and `--from` skip.
    pub(super) fn mark_skipped_steps(&mut self) -> Result<(), PlanError> {
        for name in &self.options.skip {
            let index = self.find_step_index("--skip", name)?;
            let option = format!("--skip {}", self.plan.steps[index].name);
            self.plan.steps[index].when = StepCondition::Skipped { option };
        }
        if let Some(name) = &self.options.from {
            let first = self.find_step_index("--from", name)?;
            let option = format!("--from {}", self.plan.steps[first].name);
            let services: Vec<u32> = self.plan.steps[first..]
                .iter()
                .filter_map(Step::recipe_command)
                .flat_map(|command| command.needs.iter().copied())
                .collect();
            for step in &mut self.plan.steps[..first] {
                let needed = services.contains(&step.number)
                    || matches!(
                        step.action,
                        Action::Create
                            | Action::Pull { .. }
                            | Action::Build(_)
                            // It costs nothing if it is cached.
                            | Action::Populate(_)
                    );
                if !needed {
                    let option = option.clone();
                    step.when = StepCondition::Skipped { option };
                }
            }
        }
        if self.options.keep == KeepContainer::Always {
            let notes = &mut self.plan.notes;
            notes.push("the container remains at the end; `retrial clean` removes it".to_owned());
        }
        Ok(())
    }

    /// Finds a step by name or number.
    fn find_step_index(&self, option: &'static str, name: &str) -> Result<usize, PlanError> {
        let steps = &self.plan.steps;
        let is_it = |step: &Step| step.name == name || step.number.to_string() == name;
        let found = steps.iter().position(is_it);
        found.ok_or_else(|| {
            let names = steps.iter().map(|step| step.name.as_str());
            let suggestion = did_you_mean(name, names, "its steps");
            PlanError::NoSuchStep { option, name: name.to_owned(), suggestion }
        })
    }
}
