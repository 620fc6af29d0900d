//! Compatibility of driver, `ROCm` release and GPU.

use itertools::Itertools as _;

use super::gpus::checked_gpus;
use super::system::{check_frameworks, check_operating_system};
use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use crate::amd::target_of_version;
use retrial_recipe::model::GpuVendor;
use retrial_rocm::{GpuFamily, ReleaseTable};

pub fn check_drivers(facts: &HostFacts<'_>, releases: &ReleaseTable) -> Vec<HostCheck> {
    let mut checks = Vec::new();
    if uses(facts, GpuVendor::Amd) {
        checks.push(check_amdgpu_driver(facts, releases));
        checks.extend(check_rocm_release(facts));
        checks.push(check_operating_system(facts, releases));
        checks.extend(check_image_target(facts, releases));
        checks.extend(check_frameworks(facts, releases));
    }
    if uses(facts, GpuVendor::Nvidia) {
        let check = match &facts.host.nvidia {
            Some(version) => HostCheckKind::Driver.pass(version),
            None => HostCheckKind::Driver.undetermined("its version cannot be read"),
        };
        checks.push(check.with_name("nvidia driver"));
    }
    checks
}

/// Returns whether GPUs of a vendor are used: those that the recipe requires, else those of the host.
fn uses(facts: &HostFacts<'_>, vendor: GpuVendor) -> bool {
    let request = facts.gpu_request();
    facts.host.has_gpu(vendor) && request.is_none_or(|request| request.vendor == vendor)
}

/// Ok or a warning; unknown without data.
fn advisory_state(supported: Option<bool>) -> HostCheckState {
    match supported {
        Some(true) => HostCheckState::Ok,
        Some(false) => HostCheckState::Warning,
        None => HostCheckState::Unknown,
    }
}

fn check_amdgpu_driver(facts: &HostFacts<'_>, releases: &ReleaseTable) -> HostCheck {
    let kind = HostCheckKind::Driver;
    let check = match &facts.host.amdgpu {
        None => kind.undetermined("the kernel's own, which states no version"),
        Some(module) => match (releases.driver_series(module), &facts.image.rocm) {
            (None, _) => kind.undetermined(format!("{module}, of an unknown series")),
            (Some(series), None) => kind.pass(format!("{module} (series {series})")),
            (Some(series), Some(image)) => {
                let listed = releases.listed(&image.release);
                let lists_driver = listed.as_ref().ok().map(|listed| listed.lists_driver(series));
                let required = match &listed {
                    Ok(_) => format!("one that ROCm {} lists", image.release),
                    Err(unlisted) => format!("unknown: ROCm {} is {unlisted}", image.release),
                };
                kind.new_check(advisory_state(lists_driver), format!("{module} (series {series})"))
                    .with_requirement(required)
                    .with_fix(format!(
                        "ROCm {} does not list it: install a driver from the same year (amdgpu-install), or use an image of the driver's release",
                        image.release
                    ))
            }
        },
    };
    check.with_name("amdgpu driver")
}

/// The release on the host: containers have their own, so a difference is not an error.
pub fn check_rocm_release(facts: &HostFacts<'_>) -> Option<HostCheck> {
    if !uses(facts, GpuVendor::Amd) {
        return None;
    }
    let kind = HostCheckKind::Rocm;
    let Some(required) = facts.requires.and_then(|requires| requires.rocm.as_ref()) else {
        return facts.host.rocm.as_ref().map(|actual| kind.pass(actual.describe()));
    };
    let check = match &facts.host.rocm {
        None => kind.undetermined("none found on the host; the image has its own"),
        Some(actual) => {
            let satisfies = actual.release().satisfies(required);
            kind.new_check(advisory_state(satisfies), actual.describe())
        }
    };
    let fix = "install that release and a driver that it lists (up to 7.2 amdgpu-install installs both, since 7.14 only the driver: install the package amdrocm)";
    Some(check.with_requirement(required).with_fix(fix))
}

/// Returns whether the image has code for the GPUs; none without a recipe, which has an image.
fn check_image_target(facts: &HostFacts<'_>, releases: &ReleaseTable) -> Option<HostCheck> {
    facts.requires?;
    let kind = HostCheckKind::ImageTarget;
    let override_target = facts.target_override.and_then(target_of_version);
    let targets = checked_targets(facts);
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let check = check_targets(facts, releases, &targets).unwrap_or_else(|| {
        let release = facts.image.rocm.as_ref();
        let Some(image) = release else {
            return kind.undetermined(
                "its ROCm release is unknown: the name does not state it; pull it, or say `rocm:`",
            );
        };
        let listed = match releases.listed(&image.release) {
            Ok(listed) => listed,
            Err(unlisted) => return kind.undetermined(format!("{image}: {unlisted}")),
        };
        let unlisted = targets.iter().filter(|target| !listed.has_code_for(target)).join(", ");
        if !unlisted.is_empty() {
            return kind.undetermined(format!(
                "{image}: this build's table does not list {unlisted} for it"
            ));
        }
        let whose = match &override_target {
            Some(target) => format!("{target}, which HSA_OVERRIDE_GFX_VERSION sets"),
            None => "these GPUs".to_owned(),
        };
        let code_only = targets.iter().filter(|target| listed.is_code_only(target)).join(", ");
        let remark = match code_only.as_str() {
            "" => String::new(),
            targets => format!("; AMD does not list {targets} as supported"),
        };
        kind.pass(format!("{image} has code for {whose}{remark}"))
    });
    Some(check.with_requirement("an image with code for them").with_fix(
        "use an image of another release: --image REFERENCE, or --set rocm=… where the recipe has that axis",
    ))
}

/// The targets of the AMD GPUs, or the one that `HSA_OVERRIDE_GFX_VERSION` sets.
pub fn checked_targets(facts: &HostFacts<'_>) -> Vec<String> {
    let override_target = facts.target_override.and_then(target_of_version);
    let gpus = checked_gpus(facts).filter(|gpu| gpu.vendor == GpuVendor::Amd);
    let targets = gpus.filter_map(|gpu| override_target.clone().or_else(|| gpu.gfx.clone()));
    targets.sorted_unstable().dedup().collect()
}

/// The error of an image that is known to have no code for some targets.
fn check_targets(
    facts: &HostFacts<'_>,
    releases: &ReleaseTable,
    targets: &[&str],
) -> Option<HostCheck> {
    let by_family = facts.image.family.and_then(|family| {
        let is_other = |target: &&&str| {
            GpuFamily::of_target(target).is_some_and(|of_target| of_target != family)
        };
        let missing = targets.iter().filter(is_other).join(", ");
        let text = format!("an image for {} GPUs has no code for {missing}", family.name());
        Some(text).filter(|_| !missing.is_empty())
    });
    let by_release = || {
        let image = facts.image.rocm.as_ref()?;
        let listed = releases.listed(&image.release).ok()?;
        let is_missing =
            |target: &&&str| !listed.has_code_for(target) && releases.is_complete_for(target);
        let missing = targets.iter().filter(is_missing).join(", ");
        Some(format!("{image} has no code for {missing}")).filter(|_| !missing.is_empty())
    };
    by_family.or_else(by_release).map(|text| HostCheckKind::ImageTarget.fail(text))
}
