//! Known issues of the ROCm that an image's name states, as notes of a plan. `doctor` and `run` read the image itself.

use super::preflight::target_override;
use retrial_host::checks::{HostFacts, ImageContent, check_known_issues, rocm_of_image};
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_rocm::ReleaseTable;

pub fn describe_known_issues(plan: &Plan, host: &HostView, releases: &ReleaseTable) -> Vec<String> {
    let variant = plan.variant.get("rocm").map(String::as_str);
    let rocm = rocm_of_image(&plan.image, &[], variant, releases);
    let facts = HostFacts {
        requires: Some(&plan.requires),
        image: ImageContent { rocm, ..ImageContent::default() },
        target_override: target_override(plan),
        recipe_use: plan.rocm_use(),
        assigned: plan.assigned_gpus.as_ref(),
        has_chosen_gpus: !plan.gpus.is_empty(),
        ..HostFacts::from_host(host)
    };
    let issues = check_known_issues(&facts, releases).into_iter();
    issues.map(|check| format!("{check}; {}", check.fix)).collect()
}
