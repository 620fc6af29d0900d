//! Checks whether this host is ready. Pure: turns the facts of the host, and optionally a recipe, into one list
//! of checks.
//!
//! `doctor` prints all of them. A plan stores the unmet requirements of its recipe ([`unmet_requirements`]), and a run stops
//! on fatal ones ([`HostCheck::prevents_start`]).

mod check;
mod driver;
mod facts;
mod gpus;
mod image;
mod known_issues;
mod machine;
mod scenario_memory;
mod services;
mod settings;
mod system;

use crate::assign::AssignedGpus;
use crate::model::HostView;
use retrial_recipe::model::HostRequirements;
use retrial_rocm::ReleaseTable;

pub use check::{HostCheck, HostCheckKind, HostCheckState};
pub use facts::{
    DiskSpace, EngineStatus, HostFacts, HostStatus, HostStatuses, ModelAccess, ModelSize,
    ModelStatus, ScenarioMemory,
};
pub use image::{ImageContent, ImageRelease, ImageReleaseSource, rocm_of_image};
pub use known_issues::check_known_issues;

/// All checks, in the order in which a person would fix them.
pub fn check_host(facts: &HostFacts<'_>, releases: &ReleaseTable) -> Vec<HostCheck> {
    let mut checks: Vec<HostCheck> = services::check_engine(&facts.engine).into_iter().collect();
    checks.extend(gpus::check_gpus(facts));
    checks.extend(scenario_memory::check_scenario_memory(facts));
    checks.extend(driver::check_drivers(facts, releases));
    checks.extend(known_issues::check_known_issues(facts, releases));
    checks.extend(machine::check_machine(facts));
    checks.extend(services::check_services(facts));
    checks.extend(facts.unset_secrets.iter().map(|name| HostCheck::unset_secret(name)));
    checks.extend(settings::check_settings(facts));
    checks
}

/// What the selected scenarios of a recipe require of a host.
#[derive(Debug, Clone)]
pub struct Requirements<'a> {
    pub host: &'a HostRequirements,
    pub scenario_memory: Vec<ScenarioMemory>,
}

/// The requirements of a recipe that the host does not meet, as far as a plan can know them: from the host and
/// the assigned GPUs, without querying an engine or the hub. How much disk it takes depends on what these have already:
/// [`check_host`].
pub fn unmet_requirements(
    requires: Requirements<'_>,
    host: &HostView,
    assigned: Option<&AssignedGpus>,
    chosen: bool,
) -> Vec<HostCheck> {
    let facts = HostFacts {
        requires: Some(requires.host),
        scenario_memory: requires.scenario_memory,
        assigned,
        has_chosen_gpus: chosen,
        ..HostFacts::from_host(host)
    };
    let mut checks = gpus::check_gpus(&facts);
    checks.extend(scenario_memory::check_scenario_memory(&facts));
    checks.extend(driver::check_rocm_release(&facts));
    checks.extend(machine::check_machine(&facts));
    checks.retain(|check| check.kind.is_requirement() && check.is_unmet());
    checks
}

#[cfg(test)]
mod tests;
