//! Checks that the GPUs have the memory that each scenario of a recipe needs.

use itertools::join;

use super::gpus::{CheckedGpu, find_checked_gpus};
use super::{HostCheck, HostCheckKind, HostFacts, ScenarioMemory};
use crate::gpu_memory::model_memory;
use retrial_document::measures::format::format_bytes;

/// The memory of the smallest GPU, and its description.
struct SmallestGpu {
    bytes: u64,
    text: String,
}

/// A check of each scenario that does not fit; if all fit, one of the largest.
pub fn check_scenario_memory(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let needs = &facts.scenario_memory;
    let Some(largest) = needs.iter().max_by_key(|need| need.bytes) else {
        return Vec::new();
    };
    let gpus = find_checked_gpus(facts);
    let found = smallest_of_host(&gpus);
    let Some(smallest) = found.or_else(|| largest_of_request(facts, &gpus)) else {
        let check = HostCheckKind::ScenarioMemory.undetermined("the driver does not report it");
        return vec![name_scenario(check, largest)];
    };
    let (short, fitting): (Vec<_>, Vec<_>) =
        needs.iter().partition(|need| need.bytes > smallest.bytes);
    if short.is_empty() {
        let check = HostCheckKind::ScenarioMemory.pass(smallest.text);
        return vec![name_scenario(check, largest)];
    }
    let fitting = join(fitting.iter().map(|need| &need.scenario), ",");
    let fix = if fitting.is_empty() {
        "use GPUs with more memory".to_owned()
    } else {
        format!("use GPUs with more memory, or run only what fits: --scenario {fitting}")
    };
    let failures = short.into_iter().map(|need| {
        let check = HostCheckKind::ScenarioMemory.fail(&smallest.text);
        name_scenario(check, need).with_fix(&fix)
    });
    failures.collect()
}

fn name_scenario(check: HostCheck, need: &ScenarioMemory) -> HostCheck {
    let required = format!("{} on each GPU", format_bytes(need.bytes));
    check.with_name(format!("gpu memory for {}", need.scenario)).with_requirement(required)
}

/// Of the host's GPUs, as their driver reports it, or as their model has it.
fn smallest_of_host(gpus: &[CheckedGpu<'_>]) -> Option<SmallestGpu> {
    let sizes = gpus.iter().filter_map(|checked| {
        let gpu = checked.gpu;
        let reported = || checked.condition?.vram_total;
        let bytes = gpu.vram.or_else(reported);
        Some((bytes.or_else(|| model_memory(&gpu.model))?, gpu))
    });
    let (bytes, gpu) = sizes.min_by_key(|(bytes, _)| *bytes)?;
    let text = format!("{} ({})", format_bytes(bytes), gpu.model);
    Some(SmallestGpu { bytes, text })
}

/// Without a GPU here, of the models that the recipe names.
fn largest_of_request(facts: &HostFacts<'_>, gpus: &[CheckedGpu<'_>]) -> Option<SmallestGpu> {
    let request = facts.gpu_request().filter(|_| gpus.is_empty())?;
    let models = request.models.iter();
    let sizes = models.filter_map(|model| Some((model_memory(model)?, model)));
    let (bytes, model) = sizes.max_by_key(|(bytes, _)| *bytes)?;
    let text = format!("{} ({model})", format_bytes(bytes));
    Some(SmallestGpu { bytes, text })
}
