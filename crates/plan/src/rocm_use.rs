//! What a plan uses of `ROCm`, by which known issues concern it.

use crate::exec::ExecStep;
use crate::step::{Action, Plan};
use retrial_rocm::RecipeUse;

impl Plan {
    pub fn rocm_use(&self) -> RecipeUse<'_> {
        let steps = self.steps.iter().filter_map(|step| match &step.action {
            Action::Exec(exec) | Action::Host(exec) => Some(exec),
            Action::StartService(service) => Some(&service.command),
            _ => None,
        });
        let steps: Vec<&ExecStep> = steps.collect();
        let step_variables = steps.iter().flat_map(|step| &step.env);
        let variables = self.container.env.iter().chain(step_variables);
        RecipeUse {
            variables: variables.map(|(name, _)| name.as_str()).collect(),
            commands: steps.iter().map(|step| step.run.as_str()).collect(),
        }
    }
}
