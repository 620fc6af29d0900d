//! What holds for a whole run: its rules, and what stands beside its verdict.

use super::run::RunFiles;
use crate::plan::step::{Action, Plan};
use crate::results::verdict::{Context, Qualifier, QualifierKind};
use retrial_recipe::model::Mode;

/// What holds for the whole run.
#[must_use]
pub fn context(files: &RunFiles<'_>) -> Context {
    let plan = files.plan;
    let mut qualifiers = Vec::new();
    if !plan.modified.is_empty() {
        let set: Vec<String> = plan
            .modified
            .iter()
            .map(|name| {
                format!(
                    "--set {name}={}",
                    plan.params
                        .get(name)
                        .map(ToString::to_string)
                        .unwrap_or_default()
                )
            })
            .collect();
        qualifiers.push(Qualifier::new(QualifierKind::Modified, set.join(" ")));
    }
    for lack in plan.unmet.iter().filter(|lack| lack.other_hardware()) {
        let because = format!("{} in place of {}", lack.found, lack.wanted);
        qualifiers.push(Qualifier::new(QualifierKind::OtherHardware, because));
    }
    if plan.judge.reimplemented {
        qualifiers.push(Qualifier::new(
            QualifierKind::Reimplemented,
            "the workload's own script was never published",
        ));
    }
    let pulled = plan
        .steps
        .iter()
        .any(|step| matches!(step.action, Action::Pull { .. }));
    if pulled && !plan.pinned {
        let ran = files
            .state
            .digests
            .iter()
            .find(|digest| of_repository(digest, &plan.image))
            .or(files.state.digests.first())
            .map_or(String::new(), |digest| format!("; ran {digest}"));
        qualifiers.push(Qualifier::new(
            QualifierKind::UnpinnedImage,
            format!("{} may move{ran}", plan.image),
        ));
    }
    let performance = plan
        .measurements
        .iter()
        .filter(|measured| measured.mode == Mode::Performance);
    let accuracy = plan
        .measurements
        .iter()
        .filter(|measured| measured.mode == Mode::Accuracy);
    Context {
        submission: plan.submission.clone(),
        rules: plan.judge.clone(),
        variant: plan.variant.clone(),
        qualifiers,
        warnings: warnings(plan),
        same_sku: plan.same_sku && plan.gpus.is_empty(),
        require_accuracy: false,
        accuracy_scenarios: accuracy.map(|measured| measured.scenario.clone()).collect(),
        published_figures: performance.map(|measured| measured.expect.len()).sum(),
    }
}

/// What may have changed the figure without being another measurement.
fn warnings(plan: &Plan) -> Vec<String> {
    let mut warnings = plan.warnings.clone();
    if !plan.removed_privileges.is_empty() {
        let what: Vec<&str> = plan
            .removed_privileges
            .iter()
            .filter_map(|line| line.split(':').next())
            .collect();
        warnings.push(format!(
            "--least-privilege took away: {}; a script that sets clocks or settings of the kernel could not",
            what.join(", ")
        ));
    }
    warnings
}

/// Whether a digest (`debian@sha256:…`) is of the repository that an image's name says: an engine
/// that pulled the same image from two registries lists both.
fn of_repository(digest: &str, image: &str) -> bool {
    let Some((repository, _)) = digest.split_once('@') else {
        return false;
    };
    let plain = |name: &str| {
        let name = name.trim_start_matches("docker.io/");
        name.trim_start_matches("library/").to_owned()
    };
    let rest = plain(image)
        .strip_prefix(&plain(repository))
        .map(str::to_owned);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '@']))
}
