//! Checks that AMD lists operating system and frameworks for the `ROCm` release.

use itertools::join;

use super::gpus::checked_gpus;
use super::rocm::{framework, is_of, kernels, release};
use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use retrial_recipe::model::GpuVendor;

/// The operating system: AMD lists, by release and GPU, those with whose kernels the driver is tested. The
/// release is the image's, or the host's if the image's is unknown.
pub fn system(facts: &HostFacts<'_>) -> HostCheck {
    let kind = HostCheckKind::System;
    let host = facts.host;
    let Some(system) = &host.system else {
        return kind.unknown("/etc/os-release cannot be read");
    };
    let actual = format!("{}, kernel {}", system.name, host.kernel);
    let rocm = facts.image.rocm.as_ref().or(host.rocm.as_ref());
    let Some(listed) = rocm.and_then(|rocm| release(rocm)) else {
        return kind.ok(actual);
    };
    let mut gpus = checked_gpus(facts).filter(|gpu| gpu.vendor == GpuVendor::Amd);
    if let Some(gpu) = gpus.find(|gpu| !listed.lists_system(system, gpu)) {
        return kind
            .warning(actual)
            .required(format!(
                "one that ROCm {} lists for {}: {}",
                listed.number,
                gpu.model,
                listed.systems_in_words(gpu)
            ))
            .fix("AMD does not test the driver there: expect faults, and use a listed system for figures that matter");
    }
    let Some(kernels) = kernels(system) else {
        return kind.ok(actual);
    };
    let is_listed = kernels.iter().any(|kernel| is_of(&host.kernel, kernel));
    let state = if is_listed {
        HostCheckState::Ok
    } else {
        HostCheckState::Unknown
    };
    let kernels = kernels.join(", ");
    kind.check(state, actual)
        .required(format!("kernel {kernels}, which AMD lists for it"))
}

/// Versions of frameworks: AMD's own images are sometimes ahead of the list, so another version is not a fault.
pub fn frameworks(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let rocm = facts.image.rocm.as_ref()?;
    let listed = release(rocm)?;
    let found = facts.image.packages.iter();
    let found: Vec<_> = found
        .filter(|(package, _)| framework(package).is_some())
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut required = Vec::new();
    let mut state = HostCheckState::Ok;
    for (package, version) in &found {
        let (name, versions) = listed.versions(package)?;
        if !versions.iter().any(|listed| is_of(version, listed)) {
            state = HostCheckState::Unknown;
        }
        required.push(format!("{name} {}", versions.join(", ")));
    }
    let found = found.iter();
    let found = found.map(|(package, version)| format!("{package} {version}"));
    let check = HostCheckKind::Frameworks.check(state, join(found, ", "));
    let required = required.join("; ");
    Some(check.required(format!("{required}, which ROCm {} lists", listed.number)))
}
