//! Checks that AMD lists operating system and frameworks for the `ROCm` release.

use itertools::join;

use super::gpus::checked_gpus;
use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use retrial_recipe::model::GpuVendor;
use retrial_rocm::{ReleaseTable, framework_of_package, is_version_of};

/// The operating system: AMD lists, by release and GPU, those with whose kernels the driver is tested. The
/// release is the image's, or the host's if the image's is unknown.
pub fn check_operating_system(facts: &HostFacts<'_>, releases: &ReleaseTable) -> HostCheck {
    let kind = HostCheckKind::System;
    let host = facts.host;
    let Some(system) = &host.system else {
        return kind.undetermined("/etc/os-release cannot be read");
    };
    let actual = format!("{}, kernel {}", system.name, host.kernel);
    let of_host = || host.rocm.as_ref().map(|rocm| rocm.release().clone());
    let of_image = facts.image.rocm.as_ref().map(|image| image.release.clone());
    let Some(release) = of_image.or_else(of_host) else {
        return kind.pass(actual);
    };
    let listed = match releases.listed(&release) {
        Ok(listed) => listed,
        Err(unlisted) => {
            let required = format!("unknown: ROCm {release} is {unlisted}");
            return kind.undetermined(actual).with_requirement(required);
        }
    };
    for gpu in checked_gpus(facts).filter(|gpu| gpu.vendor == GpuVendor::Amd) {
        let systems = listed.systems_of(&gpu.model, gpu.gfx.as_deref());
        if systems.is_empty() {
            let required = format!("unknown: the systems of ROCm {} are not known", listed.number);
            return kind.undetermined(actual).with_requirement(required);
        }
        if !systems.iter().any(|listed| system.matches(listed)) {
            return kind
                .warn(actual)
                .with_requirement(format!(
                    "one that ROCm {} lists for {}: {}",
                    listed.number,
                    gpu.model,
                    format_systems(systems)
                ))
                .with_fix("AMD does not test the driver there: expect faults, and use a listed system for figures that matter");
        }
    }
    let kernels = listed.kernels.iter().chain(releases.kernels());
    let Some((_, kernels)) = kernels.into_iter().find(|(listed, _)| system.matches(listed)) else {
        return kind.pass(actual);
    };
    let is_listed = kernels.iter().any(|kernel| is_version_of(&host.kernel, kernel));
    let state = if is_listed { HostCheckState::Ok } else { HostCheckState::Unknown };
    kind.new_check(state, actual)
        .with_requirement(format!("kernel {}, which AMD lists for it", kernels.join(", ")))
}

/// `Ubuntu 24.04, 22.04; RHEL 9.6, 9.4`
fn format_systems(systems: &[String]) -> String {
    let mut words: Vec<(&str, Vec<&str>)> = Vec::new();
    for (id, version) in systems.iter().filter_map(|system| system.split_once(' ')) {
        match words.iter_mut().find(|(listed, _)| *listed == id) {
            Some((_, versions)) => versions.push(version),
            None => words.push((id, vec![version])),
        }
    }
    let entries = words.iter();
    join(
        entries.map(|(id, versions)| format!("{} {}", distribution_name(id), join(versions, ", "))),
        "; ",
    )
}

fn distribution_name(id: &str) -> &str {
    match id {
        "ubuntu" => "Ubuntu",
        "rhel" => "RHEL",
        "sles" => "SLES",
        "rocky" => "Rocky Linux",
        "ol" => "Oracle Linux",
        "debian" => "Debian",
        "azurelinux" => "Azure Linux",
        "centos" => "CentOS",
        other => other,
    }
}

/// Versions of frameworks: AMD's own images are sometimes ahead of the list, so another version is not a fault.
pub fn check_frameworks(facts: &HostFacts<'_>, releases: &ReleaseTable) -> Option<HostCheck> {
    let release = &facts.image.rocm.as_ref()?.release;
    let packages = facts.image.packages.iter();
    let found: Vec<_> =
        packages.filter(|(package, _)| framework_of_package(package).is_some()).collect();
    if found.is_empty() {
        return None;
    }
    let found_names = found.iter().map(|(package, version)| format!("{package} {version}"));
    let actual = join(found_names, ", ");
    let listed = match releases.listed(release) {
        Ok(listed) => listed,
        Err(unlisted) => {
            let required = format!("unknown: ROCm {release} is {unlisted}");
            let check = HostCheckKind::Frameworks.undetermined(actual);
            return Some(check.with_requirement(required));
        }
    };
    let mut required_list = Vec::new();
    let mut state = HostCheckState::Ok;
    for (package, version) in &found {
        let (name, versions) = listed.framework_versions(package)?;
        if !versions.iter().any(|listed| is_version_of(version, listed)) {
            state = HostCheckState::Unknown;
        }
        let versions = if versions.is_empty() { "unknown".to_owned() } else { versions.join(", ") };
        required_list.push(format!("{name} {versions}"));
    }
    let check = HostCheckKind::Frameworks.new_check(state, actual);
    let required = required_list.join("; ");
    Some(check.with_requirement(format!("{required}, which ROCm {} lists", listed.number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operating_systems_are_listed_together() {
        let listed = ["ubuntu 24.04", "ubuntu 22.04", "rhel 9.6", "rhel 9.4"].map(str::to_owned);
        assert_eq!(format_systems(&listed), "Ubuntu 24.04, 22.04; RHEL 9.6, 9.4");
    }
}
