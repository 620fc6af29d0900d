//! Compares the machines of a run before the first step: they must share the run's directory, have the GPUs
//! that the recipe counts together, and be alike.

use itertools::join;

use super::nonce::read_nonce;
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_recipe::model::GpuVendor;
use retrial_run::nodes::MachineFacts;
use retrial_store::{RunDirectory, StoreError};

/// The most by which clocks may differ, seconds: logs are matched with steps by time.
const MAX_CLOCK_DIFFERENCE_SECONDS: f64 = 1.0;

/// A machine, as the head knows it.
pub struct KnownMachine {
    /// The name that `--nodes` or Slurm gives it, or the host name.
    pub name: String,
    /// Version of Retrial, GPUs and driver, as it stated them.
    pub facts: MachineFacts,
    /// How far its clock is ahead of the head's, seconds.
    pub ahead: f64,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct MachineDifferences {
    /// Differences because of which the run cannot work.
    pub errors: Vec<String>,
    /// Differences that change what is measured: `--force` allows them.
    pub refusals: Vec<String>,
}

/// The facts of this machine, and the plan of a run if it has the run's directory.
///
/// # Errors
/// If the plan cannot be read.
pub fn examine_machine(
    host: &HostView,
    run: &RunDirectory,
) -> Result<(MachineFacts, Option<Plan>), StoreError> {
    let nonce = read_nonce(run);
    let plan_if_shared = nonce.as_ref().map(|_| run.read_json("plan.json"));
    let plan: Option<Plan> = plan_if_shared.transpose()?;
    Ok((machine_facts(host, plan.as_ref(), nonce), plan))
}

pub fn machine_facts(host: &HostView, plan: Option<&Plan>, nonce: Option<String>) -> MachineFacts {
    let requested = plan.and_then(|plan| plan.requires.gpus.as_ref());
    let vendor = requested.map(|gpus| gpus.vendor);
    let host_gpus = host.gpus.iter();
    let gpus = host_gpus.filter(|gpu| Some(gpu.vendor) == vendor && !gpu.masked);
    let mut models: Vec<String> = gpus.map(|gpu| gpu.model.clone()).collect();
    models.sort();
    models.dedup();
    let driver = match vendor {
        Some(GpuVendor::Nvidia) => host.nvidia.clone(),
        Some(GpuVendor::Amd) => host.amdgpu.clone(),
        None => None,
    };
    MachineFacts {
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        nonce,
        gpus: vendor.map_or(0, |vendor| host.usable_gpus(vendor)),
        models,
        driver,
        rocm: host
            .rocm
            .as_ref()
            .filter(|_| vendor == Some(GpuVendor::Amd))
            .map(ToString::to_string),
    }
}

/// Compares all machines, the head first, and their GPUs with the number that they should have together.
/// `nonce` is what those read that see the directory.
pub fn compare_machines(
    machines: &[KnownMachine],
    nonce: &str,
    all_gpus: Option<u32>,
    directory: &str,
) -> MachineDifferences {
    let mut differences = MachineDifferences::default();
    let Some((head, others)) = machines.split_first() else {
        return differences;
    };
    for KnownMachine { name, facts, .. } in machines {
        if facts.nonce.as_deref() != Some(nonce) {
            differences.errors.push(format!(
                "{name} does not see {directory}: keep runs on a file system that all machines share (--home DIR)"
            ));
        }
    }
    for KnownMachine { name, facts, ahead } in others {
        if facts.tool != head.facts.tool {
            differences.errors.push(format!(
                "{name} has retrial {}, {} has {}: install the same version",
                facts.tool, head.name, head.facts.tool
            ));
        }
        if ahead.abs() > MAX_CLOCK_DIFFERENCE_SECONDS {
            let direction = if *ahead > 0.0 { "ahead of" } else { "behind" };
            differences.errors.push(format!(
                "the clock of {name} is {:.1} s {direction} that of {}: synchronize them (chrony)",
                ahead.abs(),
                head.name
            ));
        }
    }
    if !differences.errors.is_empty() {
        // A machine that does not see the run cannot report the GPUs of its vendor.
        return differences;
    }
    for (at, (kind, first)) in hardware_facts(&head.facts).into_iter().enumerate() {
        for other in others {
            let (_, own) = &hardware_facts(&other.facts)[at];
            if *own != first {
                differences.refusals.push(format!(
                    "{kind} of {} and {} differ: {first}, {own}",
                    head.name, other.name
                ));
            }
        }
    }
    if let Some(required) = all_gpus {
        let actual: u32 = machines.iter().map(|one| one.facts.gpus).sum();
        if actual != required {
            let each = machines.iter().map(|one| format!("{} {}", one.name, one.facts.gpus));
            differences.refusals.push(format!(
                "{actual} GPUs on {} machines, required {required}: {}",
                machines.len(),
                join(each, ", ")
            ));
        }
    }
    differences
}

/// The hardware that must be alike on all machines.
fn hardware_facts(facts: &MachineFacts) -> [(&'static str, String); 3] {
    let or_none = |text: Option<String>| {
        text.filter(|text| !text.is_empty()).unwrap_or_else(|| "none".to_owned())
    };
    [
        ("GPUs", or_none(Some(facts.models.join(" and ")))),
        ("the driver", or_none(facts.driver.clone())),
        ("ROCm", or_none(facts.rocm.clone())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The head and two others: all alike, but for the GPUs of the last.
    fn machines(gpus_of_the_last: u32) -> Vec<KnownMachine> {
        let machine = |(name, gpus): (&str, u32)| KnownMachine {
            name: name.to_owned(),
            ahead: 0.0,
            facts: MachineFacts {
                tool: "1".to_owned(),
                nonce: Some("here".to_owned()),
                gpus,
                models: vec!["MI355X".to_owned()],
                driver: Some("6.16.6".to_owned()),
                rocm: None,
            },
        };
        let all = [("n1", 8), ("n2", 8), ("n3", gpus_of_the_last)];
        all.map(machine).into()
    }

    fn refusals(machines: &[KnownMachine]) -> Vec<String> {
        let differences = compare_machines(machines, "here", Some(23), "/runs/a");
        assert_eq!(differences.errors, [""; 0]);
        differences.refusals
    }

    fn errors(machines: &[KnownMachine]) -> Vec<String> {
        let differences = compare_machines(machines, "here", Some(23), "/runs/a");
        assert_eq!(differences.refusals, [""; 0]);
        differences.errors
    }

    #[test]
    fn gpus_are_summed_over_nodes() {
        assert_eq!(refusals(&machines(7)), [""; 0]);
        let sum = "22 GPUs on 3 machines, required 23: n1 8, n2 8, n3 6";
        assert_eq!(refusals(&machines(6)), [sum]);
        let sum = "24 GPUs on 3 machines, required 23: n1 8, n2 8, n3 8";
        assert_eq!(refusals(&machines(8)), [sum]);
    }

    #[test]
    fn drivers_must_match() {
        let mut machines = machines(7);
        machines[1].facts.driver = None;
        let differ = "the driver of n1 and n2 differ: 6.16.6, none";
        assert_eq!(refusals(&machines), [differ]);
    }

    #[test]
    fn a_missing_run_or_wrong_clock_skips_other_comparisons() {
        let mut machines = machines(6);
        machines[1].facts.nonce = None;
        machines[2].ahead = -5.04;
        let [run, clock] = &errors(&machines)[..] else { panic!("{:?}", errors(&machines)) };
        assert!(run.starts_with("n2 does not see /runs/a"));
        assert!(clock.starts_with("the clock of n3 is 5.0 s behind that of n1"));
        machines[1].facts.nonce = Some("here".to_owned());
        machines[2].ahead = 0.99;
        machines[2].facts.gpus = 7;
        assert_eq!(errors(&machines), [""; 0]);
    }
}
