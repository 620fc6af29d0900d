//! A system's description, `systems/SYSTEM.json`.

use std::path::Path;

use serde_json::{Map, Value};

use super::files::{DescriptionError, read_object, read_system_description};
use super::submission::SubmittedBenchmark;
use crate::verdict::RuleCheck;
use retrial_mlperf::rounds::SystemType;
use retrial_mlperf::submission;
use retrial_mlperf::submission_layout::SYSTEMS_FOLDER;

/// The type of a system, and the checks of its description.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InferenceSystem {
    /// The type of the system: datacenter, edge or both.
    pub kind: Option<SystemType>,
    /// Violations of its description.
    pub checks: Vec<RuleCheck>,
}

/// Returns the description of a system of the submitter whose folder this is.
///
/// # Errors
/// It is missing, or is no JSON object.
pub fn read_description(
    submitter: &Path,
    system: &str,
) -> Result<Map<String, Value>, DescriptionError> {
    let file = Path::new(SYSTEMS_FOLDER).join(format!("{system}.json"));
    read_object(submitter, &file)
}

/// Reads the description of a benchmark's system.
pub(crate) fn read_system(benchmark: &SubmittedBenchmark) -> InferenceSystem {
    let submitter = &benchmark.submitter;
    let file = submitter.system_file(&benchmark.system);
    let rule = file.display().to_string();
    let object = match read_system_description(&submitter.root, &file) {
        Ok(object) => object,
        Err(check) => {
            return InferenceSystem { checks: vec![*check], ..InferenceSystem::default() };
        }
    };
    let mut system = InferenceSystem::default();
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    match SystemType::from_description(text("system_type")) {
        Ok(kind) => system.kind = Some(kind),
        Err(error) => {
            let required = "system_type datacenter, edge or both";
            system.checks.push(RuleCheck::violation(&rule, error.to_string(), required));
        }
    }
    let checks = submission::check_system(&object, submitter.division, &submitter.name);
    system.checks.extend(checks);
    let named = submission::accelerators::check_accelerator_count(&benchmark.system, &object);
    system.checks.extend(named);
    system.checks.extend(submission::accelerators::check_counts(&object));
    system
}
