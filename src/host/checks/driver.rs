//! Driver, `ROCm` release, operating system, frameworks and GPU: do they go together?

use super::release::satisfies;
use super::rocm::{framework, is_of, kernels, release, series};
use super::{Check, CheckKind, CheckState, Facts};
use retrial_recipe::model::GpuVendor;

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let host = facts.host;
    let uses = |vendor| {
        host.gpus.iter().any(|gpu| gpu.vendor == vendor)
            && facts
                .request()
                .is_none_or(|request| request.vendor == vendor)
    };
    let mut checks = Vec::new();
    if uses(GpuVendor::Amd) {
        checks.push(amdgpu(facts));
        checks.extend(rocm(facts));
        checks.push(system(facts));
        checks.extend(target(facts));
        checks.extend(frameworks(facts));
    }
    if uses(GpuVendor::Nvidia) {
        let check = match &host.nvidia {
            Some(version) => CheckKind::Driver.ok(version),
            None => CheckKind::Driver.unknown("its version cannot be read"),
        };
        checks.push(check.named("nvidia driver"));
    }
    checks
}

/// Ok or a warning; unknown where nothing is known of it.
fn advisable(known: Option<bool>) -> CheckState {
    match known {
        Some(true) => CheckState::Ok,
        Some(false) => CheckState::Warning,
        None => CheckState::Unknown,
    }
}

fn amdgpu(facts: &Facts<'_>) -> Check {
    let kind = CheckKind::Driver;
    let check = match &facts.host.amdgpu {
        None => kind.unknown("the kernel's own, which states no version"),
        Some(module) => match (series(module), &facts.image.rocm) {
            (None, _) => kind.unknown(format!("{module}, of an unknown series")),
            (Some(series), None) => kind.ok(format!("{module} (series {series})")),
            (Some(series), Some(rocm)) => kind
                .check(
                    advisable(release(rocm).map(|release| release.lists_driver(series))),
                    format!("{module} (series {series})"),
                )
                .required(format!("one that ROCm {rocm} lists"))
                .fix(format!(
                    "ROCm {rocm} does not list it: install a driver of its year (amdgpu-install), or take an image of the driver's release"
                )),
        },
    };
    check.named("amdgpu driver")
}

/// The release on the host: containers bring their own, so another one is no error.
fn rocm(facts: &Facts<'_>) -> Option<Check> {
    let required = facts.requires?.rocm.as_ref()?;
    let check = match &facts.host.rocm {
        None => CheckKind::Rocm.unknown("none at /opt/rocm; the image has its own"),
        Some(actual) => CheckKind::Rocm.check(advisable(satisfies(actual, required)), actual),
    };
    Some(
        check
            .required(required)
            .fix("install that release and its driver (amdgpu-install --rocmrelease)"),
    )
}

/// The operating system: AMD lists, by release and GPU, those whose kernels the driver is tested with. The
/// release is the image's; that of the host, where the image tells none.
fn system(facts: &Facts<'_>) -> Check {
    let kind = CheckKind::System;
    let host = facts.host;
    let Some(system) = &host.system else {
        return kind.unknown("/etc/os-release cannot be read");
    };
    let actual = format!("{}, kernel {}", system.name, host.kernel);
    let rocm = facts.image.rocm.as_ref().or(host.rocm.as_ref());
    let Some(listed) = rocm.and_then(|rocm| release(rocm)) else {
        return kind.ok(actual);
    };
    let mut gpus = host.gpus.iter().filter(|gpu| gpu.vendor == GpuVendor::Amd);
    if let Some(gpu) = gpus.find(|gpu| !listed.lists_system(system, gpu)) {
        return kind
            .warning(actual)
            .required(format!(
                "one that ROCm {} lists for {}: {}",
                listed.number,
                gpu.model,
                listed.systems_in_words(gpu)
            ))
            .fix("AMD does not test the driver there: expect faults, and take a listed system for a figure that counts");
    }
    let Some(kernels) = kernels(system) else {
        return kind.ok(actual);
    };
    let is_listed = kernels.iter().any(|kernel| is_of(&host.kernel, kernel));
    let state = if is_listed {
        CheckState::Ok
    } else {
        CheckState::Unknown
    };
    let kernels = kernels.join(", ");
    kind.check(state, actual)
        .required(format!("kernel {kernels}, which AMD lists for it"))
}

/// Versions of frameworks: AMD's own images are ahead of the list now and then, so that another one is no
/// fault.
fn frameworks(facts: &Facts<'_>) -> Option<Check> {
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
    let mut state = CheckState::Ok;
    for (package, version) in &found {
        let (name, versions) = listed.versions(package)?;
        if !versions.iter().any(|listed| is_of(version, listed)) {
            state = CheckState::Unknown;
        }
        required.push(format!("{name} {}", versions.join(", ")));
    }
    let found = found
        .iter()
        .map(|(package, version)| format!("{package} {version}"));
    let found: Vec<String> = found.collect();
    let check = CheckKind::Frameworks.check(state, found.join(", "));
    let required = required.join("; ");
    Some(check.required(format!("{required}, which ROCm {} lists", listed.number)))
}

/// The GPUs that the image has code for.
fn target(facts: &Facts<'_>) -> Option<Check> {
    let rocm = facts.image.rocm.as_ref()?;
    let listed = release(rocm)?;
    let gpus = facts.host.gpus.iter();
    let mut missing: Vec<&str> = gpus
        .filter_map(|gpu| gpu.gfx.as_deref())
        .filter(|gfx| !listed.has_code_for(gfx))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    let kind = CheckKind::ImageTarget;
    let check = if missing.is_empty() {
        kind.ok(format!("ROCm {rocm} has code for these GPUs"))
    } else {
        kind.error(format!(
            "ROCm {rocm} has no code for {}",
            missing.join(", ")
        ))
    };
    Some(
        check
            .required("an image with code for them")
            .fix("choose a newer release: --set rocm=…"),
    )
}
