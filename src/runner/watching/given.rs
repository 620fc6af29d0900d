//! Which of the host's GPUs a run's container was given.

use serde::Deserialize;

use crate::plan::host::{Gpu, HostView};
use crate::plan::step::Plan;
use crate::store::RunDirectory;

/// What is read of `host.json`.
#[derive(Deserialize)]
struct Recorded {
    host: HostView,
}

/// The GPUs that the container can see, with their indices; none where the recipe asks for none.
pub fn given(run: &RunDirectory, plan: &Plan) -> Vec<(u32, Gpu)> {
    let Some(request) = &plan.requires.gpus else {
        return Vec::new();
    };
    let Ok(Recorded { host }) = run.read_json("host.json") else {
        return Vec::new();
    };
    let of_vendor = host
        .gpus
        .into_iter()
        .filter(|gpu| gpu.vendor == request.vendor);
    let chosen = |(index, gpu): &(u32, Gpu)| {
        let named = |name: &String| {
            *name == index.to_string()
                || *name == gpu.pci
                || gpu.uuid.as_ref().is_some_and(|uuid| uuid == name)
        };
        plan.gpus.is_empty() || plan.gpus.iter().any(named)
    };
    (0..).zip(of_vendor).filter(chosen).collect()
}
