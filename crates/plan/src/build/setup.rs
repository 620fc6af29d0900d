//! Datasets and setup steps. Host steps and cached directories come before the container is created, which
//! mounts the cached directories from its start.

use super::error::PlanError;
use super::{PlanBuilder, render_expression};
use crate::cached_directory::{CachedDirectory, PopulateInputs, PopulateStep};
use crate::recipe_files::{RECIPE_DIRECTORY, named_recipe_files};
use crate::step::{Action, CommandPurpose, ExecStep, StepCondition};
use retrial_host::assign::GpuFlags;
use retrial_recipe::model::{CacheRequest, Image, ModelSource, Placement, Setup, StepLocation};
use std::borrow::Cow;

impl<'a> PlanBuilder<'a> {
    /// Adds the copies of image files for steps on the host.
    pub(super) fn add_image_copies(&mut self) {
        for (index, copy) in self.recipe.copy_from_image.iter().enumerate() {
            let action = Action::CopyOut { path: copy.path.clone(), to: copy.to.clone() };
            self.add_step(&format!("copy-{}", index + 1), None, action);
        }
    }

    /// Adds the steps on the host that build images.
    pub(super) fn add_image_setup_steps(&mut self) -> Result<(), PlanError> {
        for (name, setup) in self.selected_setups() {
            if self.is_image_setup(&name) {
                self.add_host_step(&name, setup)?;
            }
        }
        Ok(())
    }

    fn is_image_setup(&self, step: &str) -> bool {
        let services = self.recipe.services.iter();
        let own =
            services.filter_map(|(_, service)| service.own_container.as_ref()?.image.as_ref());
        let mut images = std::iter::once(&self.recipe.image).chain(own);
        images.any(|image| match image {
            Image::Pull { built_by: Some(name), .. } => step.strip_prefix("setup-") == Some(name),
            _ => false,
        })
    }

    /// Adds a step on the host that caches nothing.
    fn add_host_step(&mut self, name: &str, setup: &Setup) -> Result<(), PlanError> {
        let command = self.setup_command(name, setup)?;
        let step = self.add_step(name, None, Action::Host(command));
        self.add_download(step, name.to_owned(), setup.download.as_ref());
        Ok(())
    }

    /// Adds the other steps on the host, and those that populate a cached directory.
    pub(super) fn add_host_and_cache_steps(&mut self) -> Result<(), PlanError> {
        let inputs = self.populate_inputs()?;
        for (name, setup) in self.selected_setups() {
            let Some(cache) = &setup.cache else {
                if setup.on.location() == StepLocation::Host && !self.is_image_setup(&name) {
                    self.add_host_step(&name, setup)?;
                }
                continue;
            };
            let command = self.setup_command(&name, setup)?;
            let populate_step = self.populate_step(&name, setup, cache, command, &inputs)?;
            let when = StepCondition::UnlessCached { key: populate_step.directory.key.clone() };
            let container = (setup.on.location() == StepLocation::Container).then_some("fill");
            let action = Action::Populate(populate_step);
            let step = self.add_step_on(Placement::All, &name, container, when, action);
            self.add_download(step, name, setup.download.as_ref());
        }
        Ok(())
    }

    /// Adds the other setup steps, in the run's container.
    pub(super) fn add_container_setup_steps(&mut self) -> Result<(), PlanError> {
        for (name, setup) in self.selected_setups() {
            if setup.on.location() == StepLocation::Container && setup.cache.is_none() {
                let action = Action::Exec(self.setup_command(&name, setup)?);
                let (on, when) = (setup.on.placement(), StepCondition::Always);
                let step = self.add_step_on(on, &name, Some("main"), when, action);
                self.add_download(step, name, setup.download.as_ref());
            }
        }
        Ok(())
    }

    fn selected_setups(&self) -> impl Iterator<Item = (String, &'a Setup)> + use<'a> {
        let recipe = self.recipe;
        let named = |prefix: &'static str| {
            move |(name, setup): &'a (String, Setup)| (format!("{prefix}-{name}"), setup)
        };
        let modes = self.selected_modes();
        let datasets = recipe.datasets.iter().map(named("dataset"));
        let all = datasets.chain(recipe.setup.iter().map(named("setup")));
        all.filter(move |(_, setup)| setup.mode.is_none_or(|mode| modes.contains(&mode)))
    }

    fn setup_command(&self, name: &str, setup: &Setup) -> Result<ExecStep, PlanError> {
        let scope = self.expression_scope();
        let (run, options) = (&setup.run, &setup.options);
        let mut command = self.exec_step(CommandPurpose::Prepare, name, run, options, &scope)?;
        if setup.on.location() == StepLocation::Host {
            // The container's shell is the image's.
            command.shell.clone_from(&setup.options.shell);
            let Some(files) = named_recipe_files(&command.run) else {
                return Err(PlanError::RecipeDirectory { step: name.to_owned() });
            };
            let directory = self.origin.directory.clone().filter(|_| !files.is_empty());
            let variable = directory.map(|directory| (RECIPE_DIRECTORY.to_owned(), directory));
            command.env.splice(0..0, variable);
        }
        Ok(command)
    }

    fn populate_step(
        &self,
        name: &str,
        setup: &Setup,
        cache: &CacheRequest,
        command: ExecStep,
        inputs: &PopulateInputs,
    ) -> Result<PopulateStep, PlanError> {
        let scope = self.expression_scope();
        let place = (
            render_expression(&format!("{name} cache.key"), &cache.key, &scope)?,
            render_expression(&format!("{name} cache.path"), &cache.path, &scope)?,
        );
        let how = (setup.on.location(), &command);
        let files = cache.files.clone();
        let mut inputs = Cow::Borrowed(inputs);
        if cache.any_image {
            inputs.to_mut().container.image.clear();
        }
        let directory = CachedDirectory {
            any_image: cache.any_image,
            ..CachedDirectory::new(place, files, setup.writable, how, &inputs)
        };
        let unusable = directory.key.starts_with('.')
            || directory.key.contains('/')
            || directory.key.is_empty();
        if unusable
            || !directory.path.starts_with('/')
            || directory.path.trim_matches('/').is_empty()
        {
            return Err(PlanError::Cached {
                step: name.to_owned(),
                key: directory.key,
                path: directory.path,
            });
        }
        Ok(PopulateStep { directory, location: setup.on.location(), command })
    }

    /// Everything besides the image and a step's own command that may decide the content of a cached directory.
    fn populate_inputs(&self) -> Result<PopulateInputs, PlanError> {
        let container = &self.recipe.container;
        // Which GPUs are free does not matter to data.
        let flags = GpuFlags { devices: container.devices.clone(), ..GpuFlags::default() };
        let mut container = self.container_spec(container, &self.plan.image, flags)?;
        let mounts = std::mem::take(&mut container.mounts);
        let (companions, mounts) = mounts
            .into_iter()
            .partition(|mount| mount.is_companion(self.origin.directory.as_deref()));
        container.mounts = mounts;
        // It is populated without them.
        container.cache_mounts.clear();
        let recipe_models = self.recipe.models.iter();
        let models = recipe_models.map(|(_, model)| match &model.source {
            ModelSource::Hub { repository, revision, .. } => format!("{repository}@{revision}"),
            ModelSource::Path(path) => render_expression("models", path, &self.expression_scope())
                .unwrap_or_else(|_| path.0.clone()),
            ModelSource::Run(run) => run.0.clone(),
        });
        Ok(PopulateInputs {
            built_in: self.origin.built_in,
            recipe_hash: self.origin.hash.clone(),
            models: models.collect(),
            container,
            companions,
        })
    }
}
