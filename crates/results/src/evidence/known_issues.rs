//! Known issues of the `ROCm` that was read in the container that measured.

use super::environment::read_packages;
use super::run::RunFiles;
use crate::packages::PackageManager;
use retrial_host::record::HostRecord;
use retrial_recipe::model::GpuVendor;
use retrial_rocm::ReleaseTable;

/// Describes the issues that concern a run and that its environment does not avoid.
pub fn describe_known_issues(files: &RunFiles<'_>) -> Vec<String> {
    let Some(installed) = read_packages(files.directory) else {
        return Vec::new();
    };
    let Some(rocm) = &installed.rocm else {
        return Vec::new();
    };
    let host = files.directory.read_host_record().unwrap_or_default();
    let targets = used_targets(&host);
    let gpus = targets.len();
    let packages = installed.databases.iter().filter(|database| {
        matches!(database.manager, PackageManager::Python | PackageManager::Conda)
    });
    let packages = packages.flat_map(|database| database.packages.keys().map(String::as_str));
    let packages: Vec<&str> = packages.collect();
    let mut recipe = files.plan.rocm_use();
    let recorded = host.container.iter().flat_map(|container| container.variables.keys());
    recipe.variables.extend(recorded.map(String::as_str));
    let issues = ReleaseTable::built_in().known_issues(rocm.release(), &targets);
    let concerning = issues.filter(|issue| issue.concerns(&recipe, gpus, &packages));
    let described = concerning.map(|issue| {
        format!("ROCm {} in the image: {issue}; {} ({})", rocm.release(), issue.remedy, issue.link)
    });
    described.collect()
}

/// The targets of the AMD GPUs that the container had, one for each GPU.
fn used_targets(host: &HostRecord) -> Vec<&str> {
    let assigned = host.assigned_gpus.iter().flat_map(|assigned| &assigned.gpus);
    let assigned: Vec<u32> = assigned.map(|gpu| gpu.index).collect();
    let gpus = host.host.iter().flat_map(|host| &host.gpus);
    let used = (0..).zip(gpus).filter(|(index, gpu)| {
        gpu.vendor == GpuVendor::Amd && (assigned.is_empty() || assigned.contains(index))
    });
    used.filter_map(|(_, gpu)| gpu.gfx.as_deref()).collect()
}
