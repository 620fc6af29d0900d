//! Known issues of the image's `ROCm` on the GPUs, unless the recipe sets what avoids them. Nothing is set here: the
//! environment is the recipe's.

use itertools::Itertools as _;

use super::driver::checked_targets;
use super::gpus::checked_gpus;
use super::{HostCheck, HostCheckKind, HostFacts};
use retrial_recipe::model::GpuVendor;
use retrial_rocm::ReleaseTable;

pub fn check_known_issues(facts: &HostFacts<'_>, releases: &ReleaseTable) -> Vec<HostCheck> {
    let Some(image) = facts.image.rocm.as_ref().filter(|_| facts.requires.is_some()) else {
        return Vec::new();
    };
    let gpus = checked_gpus(facts).filter(|gpu| gpu.vendor == GpuVendor::Amd).count();
    let targets = checked_targets(facts);
    let targets = targets.iter().map(String::as_str).collect_vec();
    let packages = facts.image.packages.iter().map(|(name, _)| name.as_str()).collect_vec();
    let issues = releases.known_issues(&image.release, &targets);
    let concerning = issues.filter(|issue| issue.concerns(&facts.recipe_use, gpus, &packages));
    concerning
        .map(|issue| {
            let check = HostCheckKind::KnownIssue.warn(format!("{image}: {issue}"));
            check.with_fix(format!("{} ({})", issue.remedy, issue.link))
        })
        .collect()
}
