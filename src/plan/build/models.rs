//! Models: fetched before the container is made, or made in it.

use super::command::Command;
use super::error::PlanError;
use super::{Builder, expression};
use crate::plan::step::{Action, Purpose};
use crate::recipe::model::ModelSource;

impl Builder<'_> {
    pub(super) fn models(&mut self) -> Result<(), PlanError> {
        let scope = self.scope();
        for (name, model) in &self.recipe.models {
            if let ModelSource::Hub {
                repository,
                revision,
                allow,
                ignore,
            } = &model.source
            {
                let mount = model
                    .mount
                    .as_ref()
                    .map(|mount| expression(&format!("models.{name}.mount"), mount, &scope))
                    .transpose()?;
                let action = Action::FetchModel {
                    model: name.clone(),
                    repository: repository.clone(),
                    revision: revision.clone(),
                    allow: allow.clone(),
                    ignore: ignore.clone(),
                    mount,
                };
                self.step(&format!("fetch-{name}"), None, action);
            }
        }
        Ok(())
    }

    /// Models that a command of the recipe makes in the container.
    pub(super) fn models_in_the_container(&mut self) -> Result<(), PlanError> {
        for (name, model) in &self.recipe.models {
            if let ModelSource::Run(run) = &model.source {
                let run = expression(&format!("models.{name}.source.run"), run, &self.scope())?;
                let exec = self.exec(Purpose::Prepare, run, &Command::default(), &self.scope())?;
                self.step(&format!("model-{name}"), Some("main"), Action::Exec(exec));
            }
        }
        Ok(())
    }
}
