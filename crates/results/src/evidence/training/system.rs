//! A system's description, `systems/SYSTEM.json`, and the `scaling.json` of a result.

use std::path::Path;

use serde_json::Value;

use super::find::TrainingResult;
use crate::evidence::folder::is_not_found;
use crate::evidence::tree::files::read_system_description;
use crate::verdict::RuleCheck;
use retrial_mlperf::Division;
use retrial_mlperf::submission;
use retrial_mlperf::submission_layout::SYSTEMS_FOLDER;
use retrial_store::open;

/// The largest factor's file that is read.
const MAX_FILE_BYTES: u64 = 1 << 16;
const SCALING_FILE: &str = "scaling.json";

/// The division of a system, and the checks of its description.
#[derive(Debug, Default)]
pub(super) struct TrainingSystem {
    pub division: Option<Division>,
    pub checks: Vec<RuleCheck>,
}

/// Reads the description of a result's system; `division` is the requested one.
pub(super) fn read_system(result: &TrainingResult, division: Option<Division>) -> TrainingSystem {
    let folder = Path::new(&result.submitter).join(SYSTEMS_FOLDER);
    let file = folder.join(format!("{}.json", result.system));
    let rule = file.display().to_string();
    let requested = division.filter(|division| division.is_of_training());
    let object = match read_system_description(&result.root, &file) {
        Ok(object) => object,
        Err(check) => {
            return TrainingSystem { division: requested, checks: vec![*check] };
        }
    };
    let mut checks = submission::check_training_system(&object, &result.submitter);
    let stated = object.get("division").and_then(Value::as_str).unwrap_or_default();
    let parsed = stated.parse().ok().filter(|it: &Division| it.is_of_training());
    if parsed.is_none() {
        let measured = format!("division \"{stated}\"");
        checks.push(RuleCheck::violation(rule, measured, "closed or open"));
    }
    TrainingSystem { division: requested.or(parsed), checks }
}

/// Returns the factor of a result's `scaling.json`, where there is one.
///
/// # Errors
/// The rule that it violates: where it cannot be read as one.
pub(super) fn read_scaling_factor(result: &TrainingResult) -> Result<Option<f64>, Box<RuleCheck>> {
    let failed = |reason: String| {
        Box::new(RuleCheck::violation(SCALING_FILE, reason, "{\"scaling_factor\": N}"))
    };
    let file = result.relative_path().join(SCALING_FILE);
    let text = match open::read_text_beneath(&result.root, &file, MAX_FILE_BYTES) {
        Ok(text) => text,
        Err(error) if is_not_found(&error) => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let object = submission::parse_object(&text).map_err(|error| failed(error.to_string()))?;
    let stated = object.get("scaling_factor").and_then(Value::as_f64);
    let factor = stated.ok_or_else(|| failed("no scaling_factor".to_owned()))?;
    Ok(Some(factor))
}
