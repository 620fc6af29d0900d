//! The machine: GPUs with their limits, processors, kernel, engine, settings.

use std::borrow::Borrow;

use serde_json::Value;

use crate::host::checks::{Condition, Settings};
use crate::host::model::{Gpu, HostView};
use crate::results::verdict::comparison::{Fact, FactGroup};

/// The GPUs that were given to the container; all, where that is not known.
pub fn gpus(written: &Value) -> Vec<Fact> {
    let host = view(written);
    let conditions: Vec<Condition> = part(written, "conditions");
    let given: Vec<u64> = written
        .pointer("/assigned_gpus/gpus")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|gpu| gpu.get("index")?.as_u64())
        .collect();
    let is_given = |index: usize| given.is_empty() || given.contains(&(index as u64));
    let used: Vec<&Gpu> = host
        .gpus
        .iter()
        .enumerate()
        .filter(|(index, _)| is_given(*index))
        .map(|(_, gpu)| gpu)
        .collect();
    let states: Vec<&Condition> = conditions
        .iter()
        .enumerate()
        .filter(|(index, _)| is_given(*index))
        .map(|(_, condition)| condition)
        .collect();
    let of_gpus =
        |told: fn(&Gpu) -> Option<String>| distinct(used.iter().filter_map(|gpu| told(gpu)));
    let of_states = |told: fn(&Condition) -> Option<String>| {
        distinct(states.iter().filter_map(|state| told(state)))
    };
    let facts = [
        ("GPUs", models(&used)),
        ("architecture", of_gpus(|gpu| gpu.gfx.clone())),
        ("memory of a GPU", of_gpus(|gpu| gpu.vram.map(bytes))),
        (
            "partition",
            of_gpus(|gpu| {
                let partition = gpu.partition.as_ref()?;
                let memory = partition.memory.clone().unwrap_or_default();
                Some(format!("{} {memory}", partition.compute).trim().to_owned())
            }),
        ),
        (
            "power limit",
            of_states(|state| Some(format!("{} W", state.power_cap_w?))),
        ),
        (
            "clocks set by the driver",
            of_states(|state| state.performance_level.clone()),
        ),
        ("divided (MIG)", of_states(|state| state.divided.map(yes))),
        ("ROCm of the host", host.rocm.clone().unwrap_or_default()),
        ("amdgpu driver", host.amdgpu.clone().unwrap_or_default()),
        ("NVIDIA driver", host.nvidia.clone().unwrap_or_default()),
    ];
    in_group(FactGroup::Gpus, facts)
}

/// The machine and its engine.
pub fn machine(written: &Value) -> Vec<Fact> {
    let host = view(written);
    let text = |pointer: &str| {
        let found = written.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    };
    let engine = format!("{} {}", text("/engine/product"), text("/engine/version"));
    let facts = [
        ("host", host.hostname.clone()),
        ("processor", host.cpu.clone()),
        (
            "sockets",
            host.sockets
                .map(|count| count.to_string())
                .unwrap_or_default(),
        ),
        ("logical processors", some(u64::from(host.cpus))),
        (
            "memory",
            Some(host.memory)
                .filter(|memory| *memory > 0)
                .map(bytes)
                .unwrap_or_default(),
        ),
        ("kernel", host.kernel.clone()),
        ("engine", engine.trim().to_owned()),
        ("retrial", text("/tool")),
    ];
    in_group(FactGroup::Host, facts)
}

/// Settings that change what is measured.
pub fn settings(written: &Value) -> Vec<Fact> {
    let found: Settings = part(written, "settings");
    let facts = [
        ("clock governor", found.governor),
        (
            "deep idle state (C2)",
            found
                .deep_idle_disabled
                .map(|disabled| if disabled { "disabled" } else { "enabled" }.to_owned()),
        ),
        ("NMI watchdog", found.nmi_watchdog),
        ("NUMA balancing", found.numa_balancing),
        ("address randomization", found.randomize_va_space),
        ("huge pages", found.huge_pages),
        ("huge pages, defragmentation", found.huge_pages_defrag),
        ("threads of a core (SMT)", found.smt),
        ("kernel command line", found.command_line),
    ];
    in_group(
        FactGroup::Settings,
        facts.map(|(what, value)| (what, value.unwrap_or_default())),
    )
}

fn in_group<const COUNT: usize>(group: FactGroup, facts: [(&str, String); COUNT]) -> Vec<Fact> {
    let known = facts.into_iter().filter(|(_, value)| !value.is_empty());
    known
        .map(|(what, value)| Fact::new(group, what, value))
        .collect()
}

fn view(written: &Value) -> HostView {
    part(written, "host")
}

/// A part of the file; nothing where it is not what it should be.
fn part<T: serde::de::DeserializeOwned + Default>(written: &Value, name: &str) -> T {
    let found = written.get(name).cloned();
    found
        .and_then(|found| serde_json::from_value(found).ok())
        .unwrap_or_default()
}

/// `8 x MI355X`
pub fn models<One: Borrow<Gpu>>(gpus: &[One]) -> String {
    let alike: Vec<String> = gpus
        .chunk_by(|one, other| one.borrow().model == other.borrow().model)
        .map(|gpus| format!("{} x {}", gpus.len(), gpus[0].borrow().model))
        .collect();
    alike.join(", ")
}

fn distinct(values: impl Iterator<Item = String>) -> String {
    let mut found: Vec<String> = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found.join(", ")
}

fn bytes(bytes: u64) -> String {
    crate::format::size(bytes)
}

fn yes(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn some(count: u64) -> String {
    if count == 0 {
        String::new()
    } else {
        count.to_string()
    }
}
