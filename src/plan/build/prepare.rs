//! Datasets and setup steps: without them nothing can be measured.

use super::command::Command;
use super::error::PlanError;
use super::{Builder, expression};
use crate::plan::step::{Action, Purpose};
use crate::recipe::model::Place;

impl Builder<'_> {
    pub(super) fn prepare(&mut self) -> Result<(), PlanError> {
        self.models_in_the_container()?;
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
