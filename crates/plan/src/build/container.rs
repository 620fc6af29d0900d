//! The container and its image.

use std::collections::BTreeMap;

use super::error::PlanError;
use super::{PlanBuilder, RecipeOrigin, render_expression, render_map, resolve_host_path};
use crate::cached_directory::hash_identity;
use crate::options::PullPolicy;
use crate::step::{Action, BuildStep, StepCondition};
use retrial_container::{ContainerSpec, ExtraFlags, Mount, first_process};
use retrial_host::assign::{AssignRequest, AssignedGpus, GpuFlags, assign_host_gpus};
use retrial_recipe::expression::ExpressionScope;
use retrial_recipe::model::{Container, Entrypoint, Image, ModelSource, Placement, Recipe};

/// The name of a built image: one for each resolved recipe and content of its build.
fn built_image_tag(recipe: &Recipe, origin: &RecipeOrigin) -> String {
    let benchmark = recipe.submission.benchmark.to_lowercase();
    let stem = benchmark.replace(|character: char| !character.is_ascii_alphanumeric(), "-");
    let hash = match &origin.build_content {
        Some(content) => &hash_identity(&(&origin.hash, content)),
        None => &origin.hash,
    };
    let short = hash.get(..12).unwrap_or("unhashed");
    format!("retrial/{}:{short}", stem.trim_matches('-'))
}

impl PlanBuilder<'_> {
    /// Adds the pull or the build of the recipe's own image.
    pub(super) fn add_image_step(&mut self) {
        match &self.recipe.image {
            image @ Image::Pull { digest, .. } => {
                self.plan.image = self.add_pull_step("pull", None, image);
                self.plan.pinned = digest.is_some();
            }
            Image::Build(build) => {
                self.plan.image = built_image_tag(self.recipe, self.origin);
                let build = BuildStep {
                    context: resolve_host_path(self.origin, &build.context),
                    dockerfile: build.dockerfile.clone(),
                    args: build.arguments(),
                    tag: self.plan.image.clone(),
                    content: self.origin.build_content.clone(),
                };
                self.add_step("build", None, Action::Build(build));
            }
        }
    }

    /// Adds the pull of an image: the recipe's, or that of a service. Returns its reference.
    pub(super) fn add_pull_step(
        &mut self,
        name: &str,
        container: Option<&str>,
        image: &Image,
    ) -> String {
        let reference = image.reference().unwrap_or_default();
        let policy = match image {
            Image::Pull { built_by: Some(_), .. } => PullPolicy::Never,
            _ => self.options.pull,
        };
        let when = if policy == PullPolicy::Missing {
            StepCondition::UnlessPresent
        } else {
            StepCondition::Always
        };
        let action = Action::Pull { reference: reference.clone(), policy };
        self.add_step_on(Placement::All, name, container, when, action);
        reference
    }

    /// Sets the container of the plan and its GPUs.
    pub(super) fn set_container(&mut self) -> Result<(), PlanError> {
        let spec_and_gpus = self.container_with_gpus(&self.recipe.container, &self.plan.image)?;
        (self.plan.container, self.plan.assigned_gpus) = spec_and_gpus;
        Ok(())
    }

    /// Returns a container with all settings of the recipe, and the GPUs assigned to it.
    pub(super) fn container_with_gpus(
        &self,
        container: &Container,
        image: &str,
    ) -> Result<(ContainerSpec, Option<AssignedGpus>), PlanError> {
        let (flags, assigned) = self.gpu_flags(container)?;
        Ok((self.container_spec(container, image, flags)?, assigned))
    }

    /// Returns a container with all settings of the recipe, and these GPUs.
    pub(super) fn container_spec(
        &self,
        container: &Container,
        image: &str,
        flags: GpuFlags,
    ) -> Result<ContainerSpec, PlanError> {
        let scope = self.expression_scope();
        let mut mounts = self.container_mounts(container, &scope)?;
        mounts.extend(flags.mounts);
        // Every key by name: a new one does not compile until the container has it.
        let Container {
            extra,
            privileged,
            ipc,
            network,
            uts,
            pid,
            // Replaced by those of the GPUs' flags, which hold them.
            devices: _,
            gpu_access: _,
            cap_add,
            security_opt,
            group_add,
            shm_size,
            ulimits,
            env,
            mounts: _,
            cache_mounts,
            workdir,
            user,
            init,
            entrypoint,
            // The steps', not the container's.
            shell: _,
        } = container.clone();
        let (entrypoint, command) =
            first_process::keep_alive_command(entrypoint == Entrypoint::Bypass);
        let mut env = render_map("container.env", &env, &scope)?;
        if !env.iter().any(|(name, _)| name == "PYTHONUNBUFFERED") {
            env.push(("PYTHONUNBUFFERED".to_owned(), "1".to_owned()));
        }
        env.extend(flags.env);
        env.extend(self.hub_cache_variables(&env)?);
        let workdir =
            workdir.map(|workdir| render_expression("container.workdir", &workdir, &scope));
        Ok(ContainerSpec {
            // The run's: known when the container is created.
            name: String::new(),
            control: None,
            labels: BTreeMap::new(),
            image: image.to_owned(),
            entrypoint,
            command,
            privileged,
            ipc,
            network,
            uts,
            pid,
            devices: flags.devices,
            gpus: flags.gpus,
            cap_add,
            security_opt,
            group_add: group_add.into_iter().chain(flags.groups).collect(),
            shm_size,
            ulimits,
            env,
            mounts,
            cache_mounts: render_map("container.cache_mounts", &cache_mounts, &scope)?,
            workdir: workdir.transpose()?,
            user,
            init,
            extra: ExtraFlags { runtime: flags.runtime.or(extra.runtime), ..extra },
        })
    }

    /// Returns the recipe's mounts: those of its container, its files, and models of this machine.
    fn container_mounts(
        &self,
        container: &Container,
        scope: &ExpressionScope,
    ) -> Result<Vec<Mount>, PlanError> {
        let mut mounts = Vec::new();
        for request in &container.mounts {
            let source = render_expression("container.mounts", &request.source, scope)?;
            let target = render_expression("container.mounts", &request.target, scope)?;
            mounts.push(Mount {
                source: resolve_host_path(self.origin, &source),
                target,
                read_only: request.read_only,
            });
        }
        for companion in &self.recipe.files {
            mounts.push(Mount {
                source: resolve_host_path(self.origin, &companion.source),
                target: companion.target.clone(),
                read_only: true,
            });
        }
        for (name, model) in &self.recipe.models {
            if let (ModelSource::Path(path), Some(mount)) = (&model.source, &model.mount) {
                let place = format!("models.{name}");
                let source = render_expression(&place, path, scope)?;
                mounts.push(Mount {
                    source: resolve_host_path(self.origin, &source),
                    target: render_expression(&place, mount, scope)?,
                    read_only: model.writable.is_empty(),
                });
            }
        }
        Ok(mounts)
    }

    /// Returns the GPU flags of a container, and the assigned GPUs.
    fn gpu_flags(
        &self,
        container: &Container,
    ) -> Result<(GpuFlags, Option<AssignedGpus>), PlanError> {
        let chosen = &self.options.gpus;
        let Some(request) = &self.recipe.requires.gpus else {
            if !chosen.is_empty() {
                let gpus = chosen.join(",");
                return Err(PlanError::NoGpusRequired { gpus });
            }
            let flags = GpuFlags { devices: container.devices.clone(), ..GpuFlags::default() };
            return Ok((flags, None));
        };
        let request =
            AssignRequest { container, gpus: request, gpu_selectors: chosen, host: self.host };
        let (flags, assigned) = assign_host_gpus(&request).map_err(|source| {
            let gpus = chosen.join(",");
            PlanError::Gpus { gpus, source }
        })?;
        Ok((flags, Some(assigned)))
    }
}
