//! Compares the machines of a run before the first step: they must share the run's directory, have the GPUs
//! that the recipe counts together, and be alike.

use jiff::Timestamp;

use crate::host::model::HostView;
use crate::plan::Plan;
use crate::run::nodes::Facts;
use retrial_recipe::model::GpuVendor;

/// The most by which clocks may differ, seconds: logs are matched with steps by time.
const CLOCKS: f64 = 1.0;

/// One machine, as the head knows it.
pub struct Known {
    /// Its name.
    pub name: String,
    /// What it is.
    pub facts: Facts,
    /// How far its clock is ahead of the head's, seconds.
    pub ahead: f64,
}

/// What differs between the machines.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Without these it cannot work.
    pub errors: Vec<String>,
    /// Without these the result is another one: they can be forced.
    pub refusals: Vec<String>,
}

/// The facts of a machine.
#[must_use]
pub fn facts(host: &HostView, plan: Option<&Plan>, nonce: Option<String>) -> Facts {
    let requested = plan.and_then(|plan| plan.requires.gpus.as_ref());
    let vendor = requested.map(|gpus| gpus.vendor);
    let gpus = host.gpus.iter();
    let gpus = gpus.filter(|gpu| Some(gpu.vendor) == vendor && !gpu.masked);
    let mut models: Vec<String> = gpus.map(|gpu| gpu.model.clone()).collect();
    models.sort();
    models.dedup();
    let driver = match vendor {
        Some(GpuVendor::Nvidia) => host.nvidia.clone(),
        Some(GpuVendor::Amd) => host.amdgpu.clone(),
        None => None,
    };
    Facts {
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        nonce,
        time: Timestamp::now(),
        gpus: vendor.map_or(0, |vendor| host.usable_gpus(vendor)),
        models,
        driver,
        rocm: host.rocm.clone().filter(|_| vendor == Some(GpuVendor::Amd)),
    }
}

/// Compares all machines; the head is the first.
#[must_use]
pub fn compare(machines: &[Known], plan: &Plan, directory: &str) -> Differences {
    let mut found = Differences::default();
    let Some((head, others)) = machines.split_first() else {
        return found;
    };
    for other in others {
        let Known { name, facts, ahead } = other;
        if facts.nonce != head.facts.nonce {
            found.errors.push(format!(
                "{name} does not see the run's directory {directory}: keep runs on a file system that all machines share (--home DIR)"
            ));
        }
        if facts.tool != head.facts.tool {
            found.errors.push(format!(
                "{name} has retrial {}, {} has {}: install one version",
                facts.tool, head.name, head.facts.tool
            ));
        }
        if ahead.abs() > CLOCKS {
            let direction = if *ahead > 0.0 { "ahead of" } else { "behind" };
            found.errors.push(format!(
                "the clock of {name} is {:.1} s {direction} that of {}: synchronize them (chrony)",
                ahead.abs(),
                head.name
            ));
        }
    }
    if !found.errors.is_empty() {
        // One that does not see the run knows nothing of its GPUs.
        return found;
    }
    for (what, of) in [
        ("GPUs", models as fn(&Facts) -> String),
        ("the driver", driver),
        ("ROCm", rocm),
    ] {
        let first = of(&head.facts);
        for other in others.iter().filter(|other| of(&other.facts) != first) {
            let differs = of(&other.facts);
            found.refusals.push(format!(
                "{what} of {} and {} differ: {first}, {differs}",
                head.name, other.name
            ));
        }
    }
    if let Some(wanted) = plan.all_gpus() {
        let actual: u32 = machines.iter().map(|one| one.facts.gpus).sum();
        if actual != wanted {
            let each: Vec<String> = machines
                .iter()
                .map(|one| format!("{} {}", one.name, one.facts.gpus))
                .collect();
            found.refusals.push(format!(
                "{actual} GPUs on {} machines, required {wanted}: {}",
                machines.len(),
                each.join(", ")
            ));
        }
    }
    found
}

fn models(facts: &Facts) -> String {
    or_none(&facts.models.join(" and "))
}

fn driver(facts: &Facts) -> String {
    or_none(facts.driver.as_deref().unwrap_or(""))
}

fn rocm(facts: &Facts) -> String {
    or_none(facts.rocm.as_deref().unwrap_or(""))
}

fn or_none(text: &str) -> String {
    if text.is_empty() { "none" } else { text }.to_owned()
}
