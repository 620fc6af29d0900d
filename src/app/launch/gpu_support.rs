//! Asks the engine how it can pass GPUs to containers. Plans are made without an engine, too: then
//! only its configuration files are known.

use std::path::Path;

use crate::app::options::GlobalOptions;
use crate::app::{open, runtime};
use retrial_container::EngineCapabilities;
use retrial_engine::api::Engine as _;
use retrial_host::assign::depends_on_engine;
use retrial_host::gpu_support::{CdiDevice, GpuSupport};
use retrial_host::model::HostView;
use retrial_recipe::model::Recipe;
use retrial_run::{GPU_LABEL, label_value};

/// Probes this host, and asks its engine if the plan of one of the recipes depends on that.
pub fn probe_host_for<'a>(
    global: &GlobalOptions,
    recipes: impl IntoIterator<Item = &'a Recipe>,
) -> HostView {
    let mut host = open::probe_host(global);
    query_if_needed(global, recipes, &mut host);
    host
}

/// Adds the engine's answer if the plan of one of the recipes depends on it.
pub fn query_if_needed<'a>(
    global: &GlobalOptions,
    recipes: impl IntoIterator<Item = &'a Recipe>,
    host: &mut HostView,
) {
    let is_needed = |recipe: &Recipe| {
        let gpus = recipe.requires.gpus.as_ref();
        let can_choose = gpus.is_some_and(|gpus| host.usable_gpus(gpus.vendor) > gpus.count);
        can_choose || depends_on_engine(&recipe.container, gpus)
    };
    if recipes.into_iter().any(is_needed) {
        query_engine(global, host);
    }
}

/// Adds the engine's answer: what it supports, and the GPUs that running containers of ours have. A simulated host
/// (`--root`) is not this engine's, unless it is named.
pub fn query_engine(global: &GlobalOptions, host: &mut HostView) {
    if global.root != Path::new("/") && global.engine.is_none() {
        return;
    }
    let answer = runtime::query_engine(global, async |engine| {
        let abilities = engine.query_capabilities().await.ok()?;
        let containers = engine.list_containers(GPU_LABEL).await.ok()?;
        Some((engine.info().api.clone(), abilities, containers))
    });
    if let Some((api, abilities, containers)) = answer {
        add_abilities(&mut host.gpu_support, api, &abilities);
        let running = containers.iter().filter(|container| container.running);
        host.claimed_gpus =
            running.map(|container| label_value(container, GPU_LABEL).to_owned()).collect();
    }
}

/// Adds the engine's own report, which overrides its configuration files.
pub fn add_abilities(support: &mut GpuSupport, api: String, abilities: &EngineCapabilities) {
    support.api = Some(api);
    support.runtimes.clone_from(&abilities.runtimes);
    support.cdi = abilities.cdi.or(support.cdi);
    for name in &abilities.cdi_devices {
        if support.cdi_devices.iter().all(|device| device.name != *name) {
            support.cdi_devices.push(CdiDevice { name: name.clone(), nodes: Vec::new() });
        }
    }
}
