//! The context of a whole run: its rules, qualifiers and warnings.

use itertools::join;

use super::environment::describe_other_packages;
use super::execution::{describe_incidents, execution_qualifiers};
use super::known_issues::describe_known_issues;
use super::plan_source::{describe_foreign_plan, plan_differences};
use super::run::RunFiles;
use crate::verdict::{Qualifier, QualifierKind, RunContext, settings_qualifiers};
use retrial_container::ImageRef;
use retrial_store::import::ImportOrigin;

/// Returns the context of the whole run.
pub fn gather_context(files: &RunFiles<'_>) -> RunContext {
    let plan = files.plan;
    let mut qualifiers: Vec<Qualifier> = settings_qualifiers(plan, |setting| match setting {
        "image" => launched_digest(files).or(files.state.image.as_ref()).cloned(),
        other => files.state.service_images.get(other.strip_prefix("image.")?).cloned(),
    });
    let image_differences = files.state.image_differences.values().flatten();
    let images = image_differences.map(ToString::to_string);
    let differences = join(plan.node_differences.iter().cloned().chain(images), "; ");
    if !differences.is_empty() {
        qualifiers.push(Qualifier::new(QualifierKind::Modified, differences));
    }
    if let Some(root) = &plan.simulated_host {
        let reason =
            format!("--root {root}: the GPUs and settings of that directory, not of this machine");
        qualifiers.push(Qualifier::new(QualifierKind::SimulatedHost, reason));
    }
    for check in plan.unmet.iter().filter(|check| check.is_other_hardware()) {
        let reason = format!("{} in place of {}", check.actual, check.required);
        qualifiers.push(Qualifier::new(QualifierKind::OtherHardware, reason));
    }
    let unpinned =
        plan.pulled_images().filter(|reference| !plan.pinned && !reference.contains('@'));
    let (own, others): (Vec<&String>, Vec<&String>) =
        unpinned.partition(|reference| **reference == plan.image);
    if !own.is_empty() {
        let ran = launched_digest(files).map_or(String::new(), |digest| format!("; ran {digest}"));
        let reason = format!("{} may move{ran}", plan.image);
        qualifiers.push(Qualifier::new(QualifierKind::UnpinnedImage, reason));
    }
    for reference in others {
        let reason = format!("{reference} may move");
        qualifiers.push(Qualifier::new(QualifierKind::UnpinnedImage, reason));
    }
    let mut execution = RunContext::from(plan).execution;
    execution.extend(execution_qualifiers(files));
    RunContext {
        qualifiers,
        execution,
        warnings: gather_warnings(files),
        unreadable: files
            .state
            .unreadable
            .iter()
            .map(|line| format!("journal.jsonl {line}"))
            .collect(),
        same_sku: plan.same_sku && plan.gpus.is_empty(),
        ..RunContext::from(plan)
    }
}

/// Returns the digest of the image that was launched, as the registry that the plan names has it, if it has one.
fn launched_digest<'a>(files: &'a RunFiles<'_>) -> Option<&'a String> {
    let digests = &files.state.digests;
    let mut named = digests.iter();
    named.find(|digest| is_same_repository(digest, &files.plan.image)).or(digests.first())
}

/// Returns warnings of what may have changed the figure without being another measurement.
fn gather_warnings(files: &RunFiles<'_>) -> Vec<String> {
    let plan = files.plan;
    let mut warnings = plan.warnings.clone();
    if let Some(mark) = ImportOrigin::read(files.directory) {
        warnings.push(format!(
            "imported from {}: its files are as they were in {}",
            mark.host, mark.source
        ));
    }
    warnings.extend(describe_imported_plan(files));
    let mounts = files.state.cache_mounts.iter();
    let reused = mounts.filter(|mounted| mounted.reused_from.is_some());
    for sentence in reused.map(ToString::to_string) {
        if !warnings.contains(&sentence) {
            warnings.push(sentence);
        }
    }
    warnings.extend(describe_other_packages(files.directory, &plan.packages));
    warnings.extend(describe_known_issues(files));
    warnings.extend(describe_incidents(files));
    warnings
}

/// Says of an imported run that its plan does not follow from its recipe. Of a run of this home, whose recipe an earlier
/// version may have planned in another way, only what it is judged by was compared, when it was read.
fn describe_imported_plan(files: &RunFiles<'_>) -> Option<String> {
    ImportOrigin::read(files.directory)?;
    match plan_differences(files.directory, files.plan) {
        Ok(differences) => differences.first().map(describe_foreign_plan),
        Err(error) => Some(format!("its plan cannot be derived again: {error}")),
    }
}

/// Returns whether a digest (`debian@sha256:…`) and an image are of one repository: an engine that pulled the
/// same image from two registries lists both digests.
fn is_same_repository(digest: &str, image: &str) -> bool {
    let name = |reference| ImageRef::parse(reference).ok().map(|image| image.name());
    name(digest).is_some_and(|repository| name(image) == Some(repository))
}
