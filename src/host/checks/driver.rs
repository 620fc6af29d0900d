//! Driver, `ROCm` release and GPU: do they go together?

use super::compatibility::{lists_driver, lists_target, series};
use super::{Check, CheckKind, CheckState, Facts};
use crate::host::checks::requirements::release_satisfies;
use retrial_recipe::model::GpuVendor;

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let host = facts.host;
    let has = |vendor| host.gpus.iter().any(|gpu| gpu.vendor == vendor);
    let asks = |vendor| facts.asked().is_none_or(|asked| asked.vendor == vendor);
    let mut checks = Vec::new();
    if has(GpuVendor::Amd) && asks(GpuVendor::Amd) {
        checks.push(amdgpu(facts));
        checks.extend(rocm(facts));
        checks.extend(target(facts));
    }
    if has(GpuVendor::Nvidia) && asks(GpuVendor::Nvidia) {
        let found = host.nvidia.clone();
        let state = if found.is_some() {
            CheckState::Ok
        } else {
            CheckState::Unknown
        };
        let found = found.unwrap_or_else(|| "its version cannot be read".to_owned());
        checks.push(Check::new(CheckKind::Driver, "nvidia driver", state, found));
    }
    checks
}

fn amdgpu(facts: &Facts<'_>) -> Check {
    let name = "amdgpu driver";
    let Some(module) = &facts.host.amdgpu else {
        return Check::new(
            CheckKind::Driver,
            name,
            CheckState::Unknown,
            "the kernel's own, which states no version",
        );
    };
    let Some(series) = series(module) else {
        return Check::new(
            CheckKind::Driver,
            name,
            CheckState::Unknown,
            format!("{module}, of which no series is known here"),
        );
    };
    let found = format!("{module} (series {series})");
    let Some(rocm) = &facts.image_rocm else {
        return Check::new(CheckKind::Driver, name, CheckState::Ok, found);
    };
    let state = match lists_driver(rocm, series) {
        Some(true) => CheckState::Ok,
        Some(false) => CheckState::Warning,
        None => CheckState::Unknown,
    };
    Check::new(CheckKind::Driver, name, state, found)
        .required(format!("one that ROCm {rocm} lists"))
        .fix(format!(
            "ROCm {rocm} does not list it: install a driver of its year (amdgpu-install), or take an image of the driver's release"
        ))
}

/// The release on the host: containers bring their own, so another one is no error.
fn rocm(facts: &Facts<'_>) -> Option<Check> {
    let wanted = facts.requires?.rocm.as_ref()?;
    let check = match &facts.host.rocm {
        None => Check::new(
            CheckKind::Rocm,
            "rocm on the host",
            CheckState::Unknown,
            "none at /opt/rocm; the image has its own",
        ),
        Some(found) => {
            let state = match release_satisfies(found, wanted) {
                Some(true) => CheckState::Ok,
                Some(false) => CheckState::Warning,
                None => CheckState::Unknown,
            };
            Check::new(CheckKind::Rocm, "rocm on the host", state, found)
        }
    };
    Some(
        check
            .required(wanted)
            .fix("install that release and its driver (amdgpu-install --rocmrelease)"),
    )
}

fn target(facts: &Facts<'_>) -> Option<Check> {
    let rocm = facts.image_rocm.as_ref()?;
    let mut lacking: Vec<&str> = facts
        .host
        .gpus
        .iter()
        .filter_map(|gpu| gpu.gfx.as_deref())
        .filter(|gfx| lists_target(rocm, gfx) == Some(false))
        .collect();
    lacking.sort_unstable();
    lacking.dedup();
    let state = if lacking.is_empty() {
        CheckState::Ok
    } else {
        CheckState::Error
    };
    let found = if lacking.is_empty() {
        format!("ROCm {rocm} has code for these GPUs")
    } else {
        format!("ROCm {rocm} has no code for {}", lacking.join(", "))
    };
    lists_target(rocm, "gfx942")?;
    Some(
        Check::new(CheckKind::ImageTarget, "image for these GPUs", state, found)
            .required("an image with code for them")
            .fix("choose a newer release: --set rocm=…"),
    )
}
