//! `systems/SYSTEM.json`, from the run's record of its machine and the submitter's own statements.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use serde_json::{Map, Value};

use super::builder::{ExportBuilder, to_indented_json};
use super::model::SourceRun;
use retrial_document::measures::format;
use retrial_host::model::Gpu;
use retrial_mlperf::submission::fields::{
    FieldRequirement, NETWORK_FIELDS, POWER_FIELDS, SYSTEM_FIELDS,
};

impl ExportBuilder<'_> {
    /// Describes the system, and notes the fields without a value.
    pub fn add_system_file(&mut self) {
        let path = self.tree.paths().system_file(&self.tree.system);
        // These name folders of the tree, and cannot be stated otherwise.
        let names = [
            ("division", self.tree.division.to_string()),
            ("submitter", self.tree.submitter.clone()),
        ];
        let mut values: BTreeMap<&str, String> =
            self.runs.first().map(host_fields).unwrap_or_default();
        values.insert("other_software_stack", list_software(self.runs));
        for (field, value) in &self.request.info.system {
            values.insert(field, value.clone());
        }
        values.extend(names);
        let mut object = Map::new();
        for (field, must) in SYSTEM_FIELDS {
            let value = values.get(field).cloned().unwrap_or_default();
            if value.is_empty() && must == FieldRequirement::BeFilled {
                self.add_missing(&path, field, "no run records it; state it in --system-info");
            }
            object.insert(field.to_owned(), Value::from(value));
        }
        for field in POWER_FIELDS.into_iter().chain(NETWORK_FIELDS) {
            let stated = values.get(field).map(|value| Value::from(value.as_str()));
            object.extend(stated.map(|value| (field.to_owned(), value)));
        }
        self.add_text(path, to_indented_json(object));
    }
}

/// The default name of a system: `8xMI355X_EPYC_9575F`.
pub(super) fn default_system_name(run: &SourceRun) -> String {
    let gpus = used_gpus(run);
    let cpu_name = run.host.cpu.split('@').next().unwrap_or_default();
    let noise = ["AMD", "Processor", "CPU", "Intel(R)", "Core(TM)"];
    let is_name = |word: &&str| !noise.contains(word) && !word.ends_with("-Core");
    let joined_name = cpu_name.split_whitespace().filter(is_name).join("_");
    let processor = joined_name.replace("(R)", "").replace("(TM)", "");
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

/// Returns a difference between the machines of two runs.
pub(super) fn describe_difference(run: &SourceRun, other: &SourceRun) -> Option<String> {
    let facts = |run: &SourceRun| {
        let models = used_gpus(run).iter().map(|gpu| &gpu.model).join(", ");
        [
            ("processor", run.host.cpu.clone()),
            ("memory", format_capacity(run.host.memory)),
            ("accelerators", models),
        ]
    };
    facts(run)
        .into_iter()
        .zip(facts(other))
        .find(|(ours, theirs)| ours != theirs)
        .map(|((fact, ours), (_, theirs))| format!("{fact}: {ours}, {theirs}"))
}

fn host_fields(run: &SourceRun) -> BTreeMap<&'static str, String> {
    let host = &run.host;
    let mut fields = BTreeMap::from([
        ("number_of_nodes", "1".to_owned()),
        ("host_processor_model_name", host.cpu.clone()),
        ("host_memory_capacity", format_capacity(host.memory)),
    ]);
    for (field, count) in [
        ("host_processors_per_node", host.sockets),
        ("host_processor_core_count", host.cores_per_socket),
    ] {
        fields.extend(count.map(|count| (field, count.to_string())));
    }
    if !host.kernel.is_empty() {
        let distribution = host.system.as_ref();
        let system = distribution.map_or("Linux", |system| &system.name);
        fields.insert("operating_system", format!("{system} {}", host.kernel));
    }
    let gpus = used_gpus(run);
    fields.insert("accelerators_per_node", gpus.len().to_string());
    if let Some(gpu) = gpus.first() {
        let vendor = gpu.vendor.name();
        fields.insert("accelerator_model_name", format!("{vendor} {}", gpu.model));
        let vram = gpu.vram.map(format_capacity).unwrap_or_default();
        fields.insert("accelerator_memory_capacity", vram);
    } else {
        for field in [
            "accelerator_model_name",
            "accelerator_memory_capacity",
            "accelerator_memory_configuration",
            "accelerator_host_interconnect",
            "accelerator_interconnect",
        ] {
            fields.insert(field, "N/A".to_owned());
        }
    }
    fields
}

/// The GPUs of the run; none if its recipe requires none.
fn used_gpus(run: &SourceRun) -> Vec<&Gpu> {
    let Some(request) = &run.plan.requires.gpus else {
        return Vec::new();
    };
    let of_vendor = run.host.gpus.iter().filter(|gpu| gpu.vendor == request.vendor);
    of_vendor
        .enumerate()
        .filter(|(index, _)| run.plan.gpus.is_empty() || run.plan.gpus.contains(&index.to_string()))
        .map(|(_, gpu)| gpu)
        .collect()
}

/// The images, the engine and the drivers.
fn list_software(runs: &[SourceRun]) -> String {
    let of_run = |run: &SourceRun| {
        let image = match run.digests.first() {
            Some(digest) => format!("container {} ({digest})", run.plan.image),
            None => format!("container {}", run.plan.image),
        };
        let host = &run.host;
        let driver = |name: &str, version: &Option<String>| {
            version.as_ref().map(|version| format!("{name} {version}"))
        };
        let drivers = [
            driver("ROCm", &host.rocm.as_ref().map(ToString::to_string)),
            driver("amdgpu", &host.amdgpu),
            driver("NVIDIA driver", &host.nvidia),
        ];
        let used = drivers.into_iter().flatten().filter(|_| !used_gpus(run).is_empty());
        let all = [image].into_iter().chain(used).chain(run.engine.clone());
        all.collect::<Vec<String>>()
    };
    runs.iter().flat_map(of_run).unique().join(", ")
}

fn format_capacity(count: u64) -> String {
    if count == 0 {
        return String::new();
    }
    format::format_bytes(count)
}
