//! Where a run was measured: what its `host.json`, its plan and its journal say of the machine, the
//! drivers, the engine and the image.

use serde_json::Value;

use crate::journal::{Event, State};
use crate::plan::Plan;
use crate::plan::host::{Gpu, HostView};
use crate::store::RunDirectory;
use crate::store::journal::Journal;

/// The facts that are known, by name, in the order in which they are told.
#[must_use]
pub fn of_run(directory: &RunDirectory) -> Vec<(String, String)> {
    let written: Value = directory.read_json("host.json").unwrap_or_default();
    let host: HostView = written
        .get("host")
        .and_then(|host| serde_json::from_value(host.clone()).ok())
        .unwrap_or_default();
    let text = |pointer: &str| {
        let found = written.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let engine = format!("{} {}", text("/engine/product"), text("/engine/version"));
    let mut facts = vec![
        ("host", host.hostname.clone()),
        ("processor", host.cpu.clone()),
        ("logical processors", some(u64::from(host.cpus))),
        ("GPUs", gpus(&host.gpus)),
        ("ROCm of the host", host.rocm.clone().unwrap_or_default()),
        ("amdgpu driver", host.amdgpu.clone().unwrap_or_default()),
        ("NVIDIA driver", host.nvidia.clone().unwrap_or_default()),
        ("kernel", host.kernel.clone()),
        ("engine", engine.trim().to_owned()),
    ];
    let plan: Option<Plan> = directory.read_json("plan.json").ok();
    if let Some(plan) = &plan {
        facts.push(("image", plan.image.clone()));
    }
    let state = State::of(&Journal::read::<Event>(&directory.journal()).unwrap_or_default());
    facts.push(("image digest", digest(&state)));
    let mut facts: Vec<(String, String)> = facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let commits = state.models.iter();
    facts.extend(commits.map(|(name, commit)| (format!("model {name}"), commit.clone())));
    if let Some(plan) = plan {
        let variant = plan.variant.into_iter();
        facts.extend(variant.map(|(axis, value)| (format!("variant {axis}"), value)));
        let params = plan.params.into_iter();
        facts.extend(params.map(|(name, value)| (format!("param {name}"), value.to_string())));
    }
    facts.push(("retrial".to_owned(), text("/tool")));
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// The image's own digest, wherever it was pulled from; its id where it was built.
pub(super) fn digest(state: &State) -> String {
    let mut digests = state.digests.iter();
    let digest = digests.find_map(|digest| Some(digest.split_once('@')?.1.to_owned()));
    digest.or_else(|| state.image.clone()).unwrap_or_default()
}

/// `8 x MI355X`
pub(super) fn gpus(gpus: &[Gpu]) -> String {
    let alike: Vec<String> = gpus
        .chunk_by(|one, other| one.model == other.model)
        .map(|gpus| format!("{} x {}", gpus.len(), gpus[0].model))
        .collect();
    alike.join(", ")
}

fn some(count: u64) -> String {
    if count == 0 {
        String::new()
    } else {
        count.to_string()
    }
}
