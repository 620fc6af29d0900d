//! The container, and the image that it is made from.

use std::collections::BTreeMap;

use super::error::PlanError;
use super::{Builder, expression, join, render_map};
use crate::plan::choices::PullPolicy;
use crate::plan::container::{ContainerSpec, GpuDevices, Mount};
use crate::plan::first_process;
use crate::plan::step::{Action, Condition};
use crate::recipe::model::{Entrypoint, GpuVendor, Image, ModelSource, Recipe};

/// The name of a built image: one for each resolved recipe.
fn built_tag(recipe: &Recipe, hash: &str) -> String {
    let stem = recipe.submission.benchmark.to_lowercase();
    let stem: String = stem
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '-'
            }
        })
        .collect();
    let short = hash.get(..12).unwrap_or("unhashed");
    format!("retrial/{}:{short}", stem.trim_matches('-'))
}

/// A path of the host; what is relative lies beside the recipe.
fn absolute(directory: &str, path: String) -> String {
    if path.starts_with('/') {
        return path;
    }
    join(directory, &path)
}

impl Builder<'_> {
    pub(super) fn image(&mut self) -> (String, bool) {
        match &self.recipe.image {
            Image::Pull { reference, digest } => {
                let wanted = match digest {
                    Some(digest) if !reference.contains('@') => format!("{reference}@{digest}"),
                    _ => reference.clone(),
                };
                let policy = self.choices.pull;
                let when = if policy == PullPolicy::Missing {
                    Condition::UnlessPresent
                } else {
                    Condition::Always
                };
                self.step_when(
                    "pull",
                    None,
                    when,
                    Action::Pull {
                        reference: wanted.clone(),
                        policy,
                    },
                );
                let pinned = wanted.contains('@');
                (wanted, pinned)
            }
            Image::Build {
                context,
                dockerfile,
                args,
            } => {
                let directory = self.origin.directory.as_deref().unwrap_or(".");
                let context = join(directory, context);
                let tag = built_tag(self.recipe, &self.origin.hash);
                let action = Action::Build {
                    context,
                    dockerfile: dockerfile.clone(),
                    args: args.clone(),
                    tag: tag.clone(),
                };
                self.step("build", None, action);
                (tag, false)
            }
        }
    }

    pub(super) fn container(&mut self, image: &str) -> Result<ContainerSpec, PlanError> {
        let asked = &self.recipe.container;
        let scope = self.scope();
        let (entrypoint, command) = first_process::command(asked.entrypoint == Entrypoint::Bypass);
        let mut env = render_map("container.env", &asked.env, &scope)?;
        if !env.iter().any(|(name, _)| name == "PYTHONUNBUFFERED") {
            env.push(("PYTHONUNBUFFERED".to_owned(), "1".to_owned()));
        }
        env.extend(self.visible_gpus(&env));
        env.extend(self.hub_variables(&env)?);
        let directory = self.origin.directory.as_deref().unwrap_or(".");
        let mut mounts = Vec::new();
        for request in &asked.mounts {
            let source = expression("container.mounts", &request.source, &scope)?;
            let target = expression("container.mounts", &request.target, &scope)?;
            mounts.push(Mount {
                source: absolute(directory, source),
                target,
                read_only: request.read_only,
            });
        }
        for companion in &self.recipe.files {
            mounts.push(Mount {
                source: join(directory, &companion.source),
                target: companion.target.clone(),
                read_only: true,
            });
        }
        for (name, model) in &self.recipe.models {
            if let (ModelSource::Path(path), Some(mount)) = (&model.source, &model.mount) {
                let place = format!("models.{name}");
                let source = expression(&place, path, &scope)?;
                mounts.push(Mount {
                    source: absolute(directory, source),
                    target: expression(&place, mount, &scope)?,
                    read_only: model.writable.is_empty(),
                });
            }
        }
        let (devices, gpus) = self.devices()?;
        Ok(ContainerSpec {
            name: String::new(),
            image: image.to_owned(),
            entrypoint,
            command,
            privileged: asked.privileged,
            ipc: asked.ipc.clone(),
            network: asked.network.clone(),
            uts: asked.uts.clone(),
            pid: asked.pid.clone(),
            devices,
            gpus,
            cap_add: asked.cap_add.clone(),
            security_opt: asked.security_opt.clone(),
            group_add: asked.group_add.clone(),
            shm_size: asked.shm_size,
            ulimits: asked.ulimits.clone(),
            env,
            mounts,
            workdir: asked
                .workdir
                .as_ref()
                .map(|workdir| expression("container.workdir", workdir, &scope))
                .transpose()?,
            user: asked.user.clone(),
            init: asked.init,
            further: asked.further.clone(),
            labels: BTreeMap::new(),
            control: None,
        })
    }

    /// A privileged container has every device of the host, whichever are given to it: there the
    /// chosen GPUs are told to `ROCm`, by the indices of the topology, which is where ours come from.
    fn visible_gpus(&self, env: &[(String, String)]) -> Option<(String, String)> {
        let name = "ROCR_VISIBLE_DEVICES";
        let amd = self.recipe.requires.gpus.as_ref()?.vendor == GpuVendor::Amd;
        let stated = env.iter().any(|(stated, _)| stated == name);
        let narrows = amd && self.recipe.container.privileged && !stated;
        (narrows && !self.choices.gpus.is_empty())
            .then(|| (name.to_owned(), self.choices.gpus.join(",")))
    }

    /// The recipe's devices, narrowed to the GPUs that were chosen.
    fn devices(&self) -> Result<(Vec<String>, Option<GpuDevices>), PlanError> {
        let devices = self.recipe.container.devices.clone();
        let request = self.recipe.requires.gpus.as_ref();
        let chosen = &self.choices.gpus;
        let nvidia = request.is_some_and(|request| request.vendor == GpuVendor::Nvidia);
        if chosen.is_empty() {
            let listed = devices
                .iter()
                .any(|device| device.starts_with("/dev/nvidia"));
            return Ok((devices, (nvidia && !listed).then_some(GpuDevices::All)));
        }
        let error = |because: String| PlanError::Gpus {
            gpus: chosen.join(","),
            because,
        };
        if let Some(at) = (1..chosen.len()).find(|&at| chosen[..at].contains(&chosen[at])) {
            return Err(error(format!("{} stands there twice", chosen[at])));
        }
        let Some(request) = request else {
            return Err(error(
                "the recipe asks for no GPUs (requires.gpus)".to_owned(),
            ));
        };
        if nvidia {
            return Ok((devices, Some(GpuDevices::Ids(chosen.clone()))));
        }
        let of_vendor: Vec<_> = self
            .host
            .gpus
            .iter()
            .filter(|gpu| gpu.vendor == request.vendor)
            .collect();
        if !devices.iter().any(|device| device == "/dev/dri") {
            return Err(error(
                "the recipe names its GPUs' devices one by one, not /dev/dri: choose in the recipe"
                    .to_owned(),
            ));
        }
        let mut nodes = Vec::new();
        for index in chosen {
            let gpu = index
                .parse::<usize>()
                .ok()
                .and_then(|index| of_vendor.get(index));
            let Some(gpu) = gpu else {
                return Err(error(match index.parse::<usize>() {
                    Ok(_) => format!(
                        "this host has {} such GPUs, counted from 0",
                        of_vendor.len()
                    ),
                    Err(_) => format!("`{index}` is no number: write --gpus 0,1"),
                }));
            };
            nodes.extend(gpu.nodes.iter().cloned());
        }
        let mut narrowed: Vec<String> = Vec::new();
        for device in devices {
            if device == "/dev/dri" {
                narrowed.append(&mut nodes);
            } else {
                narrowed.push(device);
            }
        }
        Ok((narrowed, None))
    }
}
