//! Compatibility of driver, `ROCm` release and GPU.

use itertools::Itertools as _;

use super::release::satisfies;
use super::rocm::{release, series};
use super::system::{frameworks, system};
use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use retrial_recipe::model::GpuVendor;

pub fn checks(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let host = facts.host;
    let uses = |vendor| {
        let request = facts.request();
        host.has_gpu(vendor) && request.is_none_or(|request| request.vendor == vendor)
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
            Some(version) => HostCheckKind::Driver.ok(version),
            None => HostCheckKind::Driver.unknown("its version cannot be read"),
        };
        checks.push(check.named("nvidia driver"));
    }
    checks
}

/// Ok or a warning; unknown without data.
fn advisable(supported: Option<bool>) -> HostCheckState {
    match supported {
        Some(true) => HostCheckState::Ok,
        Some(false) => HostCheckState::Warning,
        None => HostCheckState::Unknown,
    }
}

fn amdgpu(facts: &HostFacts<'_>) -> HostCheck {
    let kind = HostCheckKind::Driver;
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
                    "ROCm {rocm} does not list it: install a driver from the same year (amdgpu-install), or use an image of the driver's release"
                )),
        },
    };
    check.named("amdgpu driver")
}

/// The release on the host: containers have their own, so a difference is not an error.
fn rocm(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let required = facts.requires?.rocm.as_ref()?;
    let check = match &facts.host.rocm {
        None => HostCheckKind::Rocm.unknown("none at /opt/rocm; the image has its own"),
        Some(actual) => HostCheckKind::Rocm.check(advisable(satisfies(actual, required)), actual),
    };
    Some(
        check
            .required(required)
            .fix("install that release and its driver (amdgpu-install --rocmrelease)"),
    )
}

/// The GPUs that the image has code for.
fn target(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let rocm = facts.image.rocm.as_ref()?;
    let listed = release(rocm)?;
    let gpus = facts.host.gpus.iter();
    let missing = gpus
        .filter_map(|gpu| gpu.gfx.as_deref())
        .filter(|gfx| !listed.has_code_for(gfx));
    let missing = missing.sorted().dedup().join(", ");
    let kind = HostCheckKind::ImageTarget;
    let check = if missing.is_empty() {
        kind.ok(format!("ROCm {rocm} has code for these GPUs"))
    } else {
        kind.error(format!("ROCm {rocm} has no code for {missing}"))
    };
    Some(
        check
            .required("an image with code for them")
            .fix("choose a newer release: --set rocm=…"),
    )
}
