//! Models: fetched before the container is created, or created in it.

use super::error::PlanError;
use super::{PlanBuilder, render_expression};
use crate::commit::{PlaceholderTexts, commit_placeholder};
use crate::model::{HUB_CACHE, ModelFetch, ModelMount, MountForm};
use crate::step::{Action, CommandPurpose, Step};
use retrial_recipe::model::{CommandOptions, Model, ModelSource};

impl PlanBuilder<'_> {
    pub(super) fn add_model_fetches(&mut self) -> Result<(), PlanError> {
        for (name, model) in &self.recipe.models {
            if let ModelSource::Hub { repository, revision, allow, ignore, locked } = &model.source
            {
                let fetch = ModelFetch {
                    model: name.clone(),
                    repository: repository.clone(),
                    revision: revision.clone(),
                    allow: allow.clone(),
                    ignore: ignore.clone(),
                    locked: locked.clone(),
                    mount: self.model_mount(name, model)?,
                };
                let action = Action::FetchModel(fetch);
                let step = format!("fetch-{name}");
                let number = self.add_step(&step, None, action);
                // Every model of the hub is a download.
                let download = model.download.clone().unwrap_or_default();
                self.add_download(number, step, Some(&download));
            }
        }
        Ok(())
    }

    /// Checks that each commit that a step names is determined by an earlier fetch.
    pub(super) fn check_commits_known(&self) -> Result<(), PlanError> {
        let steps = &self.plan.steps;
        let skipped = steps.iter().filter(|step| step.is_skipped());
        for fetch in skipped {
            let Action::FetchModel(ModelFetch { model, .. }) = &fetch.action else {
                continue;
            };
            let later = commit_placeholder(model);
            let names = |step: &&Step| {
                let mut action = step.action.clone();
                !step.is_skipped()
                    && action.rendered_texts().iter().any(|text| text.contains(&later))
            };
            if let Some(user) = steps.iter().find(names) {
                return Err(PlanError::CommitUnknown {
                    step: fetch.name.clone(),
                    user: user.name.clone(),
                    model: model.clone(),
                });
            }
        }
        Ok(())
    }

    fn model_mount(&self, name: &str, model: &Model) -> Result<ModelMount, PlanError> {
        let place = format!("models.{name}.mount");
        let mount_template = model.mount.as_ref();
        let stated =
            mount_template.map(|mount| render_expression(&place, mount, &self.expression_scope()));
        let form = match model {
            model if model.hub_cache => MountForm::HubCache,
            model if !model.writable.is_empty() => MountForm::Files,
            _ => MountForm::Directory,
        };
        Ok(ModelMount { target: stated.unwrap_or_else(|| Ok(HUB_CACHE.to_owned()))?, form })
    }

    /// The variables for programs that load by hub id, unless the recipe sets them.
    pub(super) fn hub_cache_variables(
        &self,
        env: &[(String, String)],
    ) -> Result<Vec<(String, String)>, PlanError> {
        let models = self.recipe.models.iter();
        let Some((name, model)) = models.clone().find(|(_, model)| model.hub_cache) else {
            return Ok(Vec::new());
        };
        let cache = self.model_mount(name, model)?.target;
        for (other, model) in models.filter(|(_, model)| model.hub_cache) {
            if self.model_mount(other, model)?.target != cache {
                return Err(PlanError::HubCaches { first: name.clone(), second: other.clone() });
            }
        }
        let mut variables =
            vec![("HF_HUB_CACHE".to_owned(), cache), ("HF_HUB_OFFLINE".to_owned(), "1".to_owned())];
        variables.retain(|(name, _)| env.iter().all(|(stated, _)| stated != name));
        Ok(variables)
    }

    /// Models that a command of the recipe creates in the container.
    pub(super) fn add_container_models(&mut self) -> Result<(), PlanError> {
        for (name, model) in &self.recipe.models {
            if let ModelSource::Run(run) = &model.source {
                let (place, scope) = (format!("models.{name}.source.run"), self.expression_scope());
                let options = CommandOptions::default();
                let exec =
                    self.exec_step(CommandPurpose::Prepare, &place, run, &options, &scope)?;
                let step = format!("model-{name}");
                let number = self.add_step(&step, Some("main"), Action::Exec(exec));
                self.add_download(number, step, model.download.as_ref());
            }
        }
        Ok(())
    }
}
