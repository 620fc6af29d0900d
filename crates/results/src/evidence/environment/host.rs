//! The machine: GPUs with their limits, processors, kernel, engine, settings.

use std::borrow::Borrow;

use itertools::Itertools as _;

use crate::verdict::comparison::components::{AMDGPU_DRIVER, NVIDIA_DRIVER};
use crate::verdict::comparison::{Fact, FactGroup};
use retrial_document::measures::format::format_bytes;
use retrial_host::model::{Gpu, GpuCondition};
use retrial_host::record::HostRecord;

/// Returns facts of the GPUs that were assigned to the container; of all, where that is not known.
pub fn gpu_facts(record: &HostRecord) -> Vec<Fact> {
    let host = record.host.clone().unwrap_or_default();
    let assigned_gpus = record.assigned_gpus.iter().flat_map(|assigned| &assigned.gpus);
    let assigned: Vec<u32> = assigned_gpus.map(|gpu| gpu.index).collect();
    let used: Vec<Gpu> = select_positions(&assigned, host.gpus);
    let states: Vec<GpuCondition> = select_positions(&assigned, record.conditions.clone());
    let of_gpus = |value: fn(&Gpu) -> Option<String>| {
        let values = used.iter().filter_map(value);
        Some(values.unique().join(", "))
    };
    let of_states = |value: fn(&GpuCondition) -> Option<String>| {
        let values = states.iter().filter_map(value);
        Some(values.unique().join(", "))
    };
    let partition = |gpu: &Gpu| {
        let partition = gpu.partition.as_ref()?;
        let memory = partition.memory.as_deref().unwrap_or_default();
        Some(format!("{} {memory}", partition.compute).trim().to_owned())
    };
    let power_limit = |state: &GpuCondition| Some(format!("{} W", state.power_cap_w?));
    let facts = [
        ("GPUs", Some(describe_gpus(&used))),
        ("architecture", of_gpus(|gpu| gpu.gfx.clone())),
        ("memory of a GPU", of_gpus(|gpu| gpu.vram.map(format_bytes))),
        ("partition", of_gpus(partition)),
        ("power limit", of_states(power_limit)),
        ("clocks set by the driver", of_states(|state| state.performance_level.clone())),
        ("divided (MIG)", of_states(|state| state.divided.map(format_yes_no))),
        ("ROCm of the host", host.rocm.map(|rocm| rocm.to_string())),
    ];
    facts_of_group(FactGroup::Gpus, facts)
}

/// Returns facts of the host that belong to the stack: the drivers.
pub fn driver_facts(record: &HostRecord) -> Vec<Fact> {
    let host = record.host.clone().unwrap_or_default();
    let facts = [(AMDGPU_DRIVER, host.amdgpu), (NVIDIA_DRIVER, host.nvidia)];
    facts_of_group(FactGroup::Stack, facts)
}

/// Returns the elements at these positions; all, where no positions are known.
fn select_positions<T>(positions: &[u32], all: Vec<T>) -> Vec<T> {
    let is_one = |index: u32| positions.is_empty() || positions.contains(&index);
    let all = (0..).zip(all).filter(|(index, _)| is_one(*index));
    all.map(|(_, gpu)| gpu).collect()
}

/// Returns facts of the machine and its engine.
pub fn machine_facts(record: &HostRecord) -> Vec<Fact> {
    let host = record.host.clone().unwrap_or_default();
    let engine = record.engine.clone().unwrap_or_default();
    let engine = format!("{} {}", engine.product, engine.version);
    let positive = |count: u64| Some(count).filter(|count| *count > 0);
    let facts = [
        ("host", Some(host.hostname)),
        ("processor", Some(host.cpu)),
        ("sockets", host.sockets.map(|count| count.to_string())),
        ("logical processors", positive(host.cpus.into()).map(|count| count.to_string())),
        ("memory", positive(host.memory).map(format_bytes)),
        ("operating system", host.system.map(|system| system.name)),
        ("kernel", Some(host.kernel)),
        ("engine", Some(engine.trim().to_owned())),
        ("retrial", Some(record.tool.clone())),
    ];
    facts_of_group(FactGroup::Host, facts)
}

/// Settings that change what is measured.
pub fn setting_facts(record: &HostRecord) -> Vec<Fact> {
    let settings = record.settings.clone().unwrap_or_default();
    let is_deep_idle_disabled = settings.deep_idle_disabled;
    let deep_idle =
        is_deep_idle_disabled.map(|disabled| if disabled { "disabled" } else { "enabled" });
    let facts = [
        ("clock governor", settings.governor),
        ("deep idle state (C2)", deep_idle.map(str::to_owned)),
        ("NMI watchdog", settings.nmi_watchdog),
        ("NUMA balancing", settings.numa_balancing),
        ("address randomization", settings.randomize_va_space),
        ("huge pages", settings.huge_pages),
        ("huge pages, defragmentation", settings.huge_pages_defrag),
        ("threads of a core (SMT)", settings.smt),
        ("kernel command line", settings.command_line),
    ];
    facts_of_group(FactGroup::Settings, facts)
}

fn facts_of_group<const COUNT: usize>(
    group: FactGroup,
    facts: [(&str, Option<String>); COUNT],
) -> Vec<Fact> {
    let present = facts.into_iter().filter_map(|(name, value)| {
        let nonempty_value = value.filter(|value| !value.is_empty())?;
        Some(Fact::new(group, name, nonempty_value))
    });
    present.collect()
}

/// Describes GPUs by their number and model: `8 x MI355X`.
pub fn describe_gpus<One: Borrow<Gpu>>(gpus: &[One]) -> String {
    gpus.chunk_by(|first, second| first.borrow().model == second.borrow().model)
        .map(|gpus| format!("{} x {}", gpus.len(), gpus[0].borrow().model))
        .join(", ")
}

fn format_yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}
