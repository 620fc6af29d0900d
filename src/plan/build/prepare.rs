//! Models, datasets and setup steps: without them nothing can be measured.

use super::command::Command;
use super::error::PlanError;
use super::{Builder, expression};
use crate::plan::step::{Action, Purpose};
use crate::recipe::model::{ModelSource, Place};

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

    pub(super) fn prepare(&mut self) -> Result<(), PlanError> {
        for (name, model) in &self.recipe.models {
            if let ModelSource::Run(run) = &model.source {
                let run = expression(&format!("models.{name}.source.run"), run, &self.scope())?;
                let exec = self.exec(Purpose::Prepare, run, &Command::default(), &self.scope())?;
                self.step(&format!("model-{name}"), Some("main"), Action::Exec(exec));
            }
        }
        let lists = [
            ("dataset", &self.recipe.datasets),
            ("setup", &self.recipe.setup),
        ];
        for (prefix, list) in lists {
            for (name, setup) in list {
                let scope = self.scope();
                let run = expression(&format!("{prefix} {name}"), &setup.run, &scope)?;
                let exec = self.exec(Purpose::Prepare, run, &Command::from(setup), &scope)?;
                let step = format!("{prefix}-{name}");
                match setup.on {
                    Place::Container => self.step(&step, Some("main"), Action::Exec(exec)),
                    Place::Host => self.step(&step, None, Action::Host(exec)),
                };
                if let Some(keep) = &setup.keep {
                    let path =
                        expression(&format!("{prefix} {name} keep.path"), &keep.path, &scope)?;
                    self.notes.push(format!("{step}: {path} is filled anew in each run; kept directories come with a later release"));
                }
            }
        }
        Ok(())
    }
}
