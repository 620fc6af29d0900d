//! Checks that AMD lists operating system and frameworks for the `ROCm` release.

use itertools::join;

use super::gpus::checked_gpus;
use super::rocm::{find_release, framework_of_package, is_version_of, listed_kernels};
use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use retrial_recipe::model::GpuVendor;

/// The operating system: AMD lists, by release and GPU, those with whose kernels the driver is tested. The
/// release is the image's, or the host's if the image's is unknown.
pub fn check_operating_system(facts: &HostFacts<'_>) -> HostCheck {
    let kind = HostCheckKind::System;
    let host = facts.host;
    let Some(system) = &host.system else {
        return kind.undetermined("/etc/os-release cannot be read");
    };
    let actual = format!("{}, kernel {}", system.name, host.kernel);
    let rocm = facts.image.rocm.as_ref().or(host.rocm.as_ref());
    let Some(listed) = rocm.and_then(|rocm| find_release(rocm)) else {
        return kind.pass(actual);
    };
    let mut gpus = checked_gpus(facts).filter(|gpu| gpu.vendor == GpuVendor::Amd);
    if let Some(gpu) = gpus.find(|gpu| !listed.lists_system(system, gpu)) {
        return kind
            .warn(actual)
            .with_requirement(format!(
                "one that ROCm {} lists for {}: {}",
                listed.number,
                gpu.model,
                listed.format_systems(gpu)
            ))
            .with_fix("AMD does not test the driver there: expect faults, and use a listed system for figures that matter");
    }
    let Some(tested_kernels) = listed_kernels(system) else {
        return kind.pass(actual);
    };
    let is_listed = tested_kernels.iter().any(|kernel| is_version_of(&host.kernel, kernel));
    let state = if is_listed { HostCheckState::Ok } else { HostCheckState::Unknown };
    let kernels = tested_kernels.join(", ");
    kind.new_check(state, actual)
        .with_requirement(format!("kernel {kernels}, which AMD lists for it"))
}

/// Versions of frameworks: AMD's own images are sometimes ahead of the list, so another version is not a fault.
pub fn check_frameworks(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let rocm = facts.image.rocm.as_ref()?;
    let listed = find_release(rocm)?;
    let packages = facts.image.packages.iter();
    let found: Vec<_> =
        packages.filter(|(package, _)| framework_of_package(package).is_some()).collect();
    if found.is_empty() {
        return None;
    }
    let mut required_list = Vec::new();
    let mut state = HostCheckState::Ok;
    for (package, version) in &found {
        let (name, versions) = listed.listed_versions(package)?;
        if !versions.iter().any(|listed| is_version_of(version, listed)) {
            state = HostCheckState::Unknown;
        }
        required_list.push(format!("{name} {}", versions.join(", ")));
    }
    let found_entries = found.iter();
    let found_names = found_entries.map(|(package, version)| format!("{package} {version}"));
    let check = HostCheckKind::Frameworks.new_check(state, join(found_names, ", "));
    let required = required_list.join("; ");
    Some(check.with_requirement(format!("{required}, which ROCm {} lists", listed.number)))
}
