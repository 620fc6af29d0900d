//! `systems/SYSTEM.json`: what the run knows of its machine, what the submitter says, and nothing else.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::model::{ExportRequest, Missing, RunRead};
use crate::host::model::{Gpu, HostView};
use retrial_mlperf::submission::fields::{Must, NETWORK, POWER, SYSTEM};
use retrial_recipe::model::GpuVendor;

/// A system's description: the file's text, and the fields that it cannot fill.
pub(super) fn describe(
    runs: &[RunRead],
    names: &[(&str, String)],
    asked: &ExportRequest,
    place: &str,
) -> (String, Vec<Missing>) {
    let mut known = runs.first().map(of_host).unwrap_or_default();
    known.insert("other_software_stack", software(runs));
    for (field, value) in names {
        known.insert(field, value.clone());
    }
    let mut object = Map::new();
    let mut missing = Vec::new();
    for (field, must) in SYSTEM {
        // Whose folder it is in is decided elsewhere, and must be the same.
        let is_name = names.iter().any(|(name, _)| *name == field);
        let said = asked.info.system.get(field).filter(|_| !is_name);
        let value = said
            .or_else(|| known.get(field))
            .filter(|it| !it.is_empty());
        if value.is_none() && must == Must::Say {
            missing.push(Missing {
                place: place.to_owned(),
                what: field.to_owned(),
                advice: "no run knows it, say it in --system-info".to_owned(),
            });
        }
        object.insert(
            field.to_owned(),
            Value::from(value.cloned().unwrap_or_default()),
        );
    }
    for field in POWER.into_iter().chain(NETWORK) {
        if let Some(said) = asked.info.system.get(field) {
            object.insert(field.to_owned(), Value::from(said.clone()));
        }
    }
    (super::result::json(&Value::Object(object)), missing)
}

/// A name for a system that nobody named: `8xMI355X_EPYC_9575F`.
pub(super) fn name(run: &RunRead) -> String {
    let gpus = gpus(run);
    let processor = run.host.cpu.split('@').next().unwrap_or_default();
    let processor: Vec<&str> = processor
        .split_whitespace()
        .filter(|word| {
            let noise = ["AMD", "Processor", "CPU", "Intel(R)", "Core(TM)"];
            !noise.contains(word) && !word.ends_with("-Core")
        })
        .collect();
    let processor = processor.join("_").replace("(R)", "").replace("(TM)", "");
    let processor = match run.host.sockets {
        Some(sockets) if !processor.is_empty() => format!("{sockets}x{processor}"),
        _ => processor,
    };
    match gpus.first() {
        Some(gpu) => format!("{}x{}_{processor}", gpus.len(), gpu.model),
        None if processor.is_empty() => "system".to_owned(),
        None => processor,
    }
}

/// In what two runs' machines differ.
pub(super) fn difference(one: &RunRead, other: &RunRead) -> Option<String> {
    let facts = |run: &RunRead| {
        let models: Vec<String> = gpus(run).iter().map(|gpu| gpu.model.clone()).collect();
        [
            ("processor", run.host.cpu.clone()),
            ("memory", bytes(run.host.memory)),
            ("accelerators", models.join(", ")),
        ]
    };
    facts(one)
        .into_iter()
        .zip(facts(other))
        .find(|(ours, theirs)| ours != theirs)
        .map(|((what, ours), (_, theirs))| format!("{what}: {ours}, {theirs}"))
}

fn of_host(run: &RunRead) -> BTreeMap<&'static str, String> {
    let HostView {
        cpu,
        memory,
        kernel,
        ..
    } = &run.host;
    let mut known = BTreeMap::from([
        ("number_of_nodes", "1".to_owned()),
        ("host_processor_model_name", cpu.clone()),
        ("host_memory_capacity", bytes(*memory)),
    ]);
    for (field, count) in [
        ("host_processors_per_node", run.host.sockets),
        ("host_processor_core_count", run.host.cores_per_socket),
    ] {
        known.extend(count.map(|count| (field, count.to_string())));
    }
    if !kernel.is_empty() {
        known.insert("operating_system", format!("Linux {kernel}"));
    }
    let gpus = gpus(run);
    known.insert("accelerators_per_node", gpus.len().to_string());
    if let Some(gpu) = gpus.first() {
        let vendor = match gpu.vendor {
            GpuVendor::Amd => "AMD",
            GpuVendor::Nvidia => "NVIDIA",
        };
        known.insert("accelerator_model_name", format!("{vendor} {}", gpu.model));
        let vram = gpu.vram.map(bytes).unwrap_or_default();
        known.insert("accelerator_memory_capacity", vram);
    } else {
        for field in [
            "accelerator_model_name",
            "accelerator_memory_capacity",
            "accelerator_memory_configuration",
            "accelerator_host_interconnect",
            "accelerator_interconnect",
        ] {
            known.insert(field, "N/A".to_owned());
        }
    }
    known
}

/// The GPUs that the run was given: none where its recipe asks for none.
fn gpus(run: &RunRead) -> Vec<&Gpu> {
    let Some(request) = &run.plan.requires.gpus else {
        return Vec::new();
    };
    let of_vendor = run
        .host
        .gpus
        .iter()
        .filter(|gpu| gpu.vendor == request.vendor);
    of_vendor
        .enumerate()
        .filter(|(index, _)| run.plan.gpus.is_empty() || run.plan.gpus.contains(&index.to_string()))
        .map(|(_, gpu)| gpu)
        .collect()
}

/// The images, the engine and the drivers.
fn software(runs: &[RunRead]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for run in runs {
        let image = match run.digests.first() {
            Some(digest) => format!("container {} ({digest})", run.plan.image),
            None => format!("container {}", run.plan.image),
        };
        let host = &run.host;
        let driver = |name: &str, version: &Option<String>| {
            version.as_ref().map(|version| format!("{name} {version}"))
        };
        let drivers = [
            driver("ROCm", &host.rocm),
            driver("amdgpu", &host.amdgpu),
            driver("NVIDIA driver", &host.nvidia),
        ];
        let used = drivers
            .into_iter()
            .flatten()
            .filter(|_| !gpus(run).is_empty());
        let all = [image].into_iter().chain(used).chain(run.engine.clone());
        for part in all {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    parts.join(", ")
}

fn bytes(count: u64) -> String {
    if count == 0 {
        return String::new();
    }
    crate::format::size(count)
}
