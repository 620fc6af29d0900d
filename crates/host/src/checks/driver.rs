//! Compatibility of driver, `ROCm` release and GPU.

use itertools::Itertools as _;

use super::release::satisfies;
use super::rocm::{driver_series, find_release};
use super::system::{check_frameworks, check_operating_system};
use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use crate::amd::target_of_version;
use retrial_recipe::model::GpuVendor;

pub fn check_drivers(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let host = facts.host;
    let uses = |vendor| {
        let request = facts.gpu_request();
        host.has_gpu(vendor) && request.is_none_or(|request| request.vendor == vendor)
    };
    let mut checks = Vec::new();
    if uses(GpuVendor::Amd) {
        checks.push(check_amdgpu_driver(facts));
        checks.extend(check_rocm_release(facts));
        checks.push(check_operating_system(facts));
        checks.extend(check_image_target(facts));
        checks.extend(check_frameworks(facts));
    }
    if uses(GpuVendor::Nvidia) {
        let check = match &host.nvidia {
            Some(version) => HostCheckKind::Driver.pass(version),
            None => HostCheckKind::Driver.undetermined("its version cannot be read"),
        };
        checks.push(check.with_name("nvidia driver"));
    }
    checks
}

/// Ok or a warning; unknown without data.
fn advisory_state(supported: Option<bool>) -> HostCheckState {
    match supported {
        Some(true) => HostCheckState::Ok,
        Some(false) => HostCheckState::Warning,
        None => HostCheckState::Unknown,
    }
}

fn check_amdgpu_driver(facts: &HostFacts<'_>) -> HostCheck {
    let kind = HostCheckKind::Driver;
    let check = match &facts.host.amdgpu {
        None => kind.undetermined("the kernel's own, which states no version"),
        Some(module) => match (driver_series(module), &facts.image.rocm) {
            (None, _) => kind.undetermined(format!("{module}, of an unknown series")),
            (Some(series), None) => kind.pass(format!("{module} (series {series})")),
            (Some(series), Some(rocm)) => kind
                .new_check(
                    advisory_state(find_release(rocm).map(|release| release.lists_driver(series))),
                    format!("{module} (series {series})"),
                )
                .with_requirement(format!("one that ROCm {rocm} lists"))
                .with_fix(format!(
                    "ROCm {rocm} does not list it: install a driver from the same year (amdgpu-install), or use an image of the driver's release"
                )),
        },
    };
    check.with_name("amdgpu driver")
}

/// The release on the host: containers have their own, so a difference is not an error.
fn check_rocm_release(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let required = facts.requires?.rocm.as_ref()?;
    let check = match &facts.host.rocm {
        None => HostCheckKind::Rocm.undetermined("none at /opt/rocm; the image has its own"),
        Some(actual) => {
            HostCheckKind::Rocm.new_check(advisory_state(satisfies(actual, required)), actual)
        }
    };
    Some(
        check
            .with_requirement(required)
            .with_fix("install that release and its driver (amdgpu-install --rocmrelease)"),
    )
}

/// The GPUs that the image has code for.
fn check_image_target(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let rocm = facts.image.rocm.as_ref()?;
    let listed = find_release(rocm)?;
    let told = facts.target_override.and_then(target_of_version);
    let gpus = facts.host.gpus.iter();
    let unsupported = gpus
        .filter_map(|gpu| Some(told.as_deref().unwrap_or(gpu.gfx.as_deref()?)))
        .filter(|gfx| !listed.has_code_for(gfx));
    let missing = unsupported.sorted().dedup().join(", ");
    let kind = HostCheckKind::ImageTarget;
    let check = if missing.is_empty() {
        let whose = told.map_or_else(
            || "these GPUs".to_owned(),
            |target| format!("{target}, which HSA_OVERRIDE_GFX_VERSION sets"),
        );
        kind.pass(format!("ROCm {rocm} has code for {whose}"))
    } else {
        kind.fail(format!("ROCm {rocm} has no code for {missing}"))
    };
    Some(
        check
            .with_requirement("an image with code for them")
            .with_fix("choose a newer release: --set rocm=…"),
    )
}
