//! What the client of a server states of its load: its numbers checked against each other.

use std::path::Path;

use super::figures::TextFile;
use retrial_mlperf::check::RuleCheck;
use retrial_recipe::model::LoadClient;
use retrial_serving::{LoadCheck, LoadOutcome};
use retrial_store::open;

/// The largest output of a client that is read: with every token of each request.
const MAX_OUTPUT_BYTES: u64 = 512 << 20;

/// Checks each load that the client's outputs in a folder state. Where there is no output, its figures are missing.
pub(super) fn check_loads(client: &LoadClient, folder: &Path) -> Vec<RuleCheck> {
    let output =
        TextFile { directory: folder.to_owned(), file: client.program.output_file().into() };
    let files = output.matching_files().unwrap_or_default().into_iter();
    let files = files.filter(|text| text.directory.join(&text.file).is_file());
    files.flat_map(|text| check_file(client, &text.directory, &text.file)).collect()
}

fn check_file(client: &LoadClient, directory: &Path, file: &Path) -> Vec<RuleCheck> {
    let subject = format!("output of {}", client.program.word());
    let required = format!("what {} writes", client.program.word());
    let unreadable = |reason: String| {
        let measured = format!("{}: {reason}", file.display());
        vec![RuleCheck::violation(subject.clone(), measured, required.clone())]
    };
    let asked = match client.output_tokens.as_ref().map(|tokens| tokens.0.trim().parse::<f64>()) {
        Some(Ok(tokens)) => Some(tokens),
        Some(Err(error)) => return unreadable(format!("client.output_tokens: {error}")),
        None => None,
    };
    let text = match open::read_text_beneath(directory, file, MAX_OUTPUT_BYTES) {
        Ok(text) => text,
        Err(error) => return unreadable(error.to_string()),
    };
    let loads = match client.program.read_loads(&text) {
        Ok(loads) => loads,
        Err(error) => return unreadable(error.to_string()),
    };
    if loads.len() > 1 {
        let measured = format!("{} loads in {}", loads.len(), file.display());
        return vec![RuleCheck::violation(subject, measured, "one load, whose figures are read")];
    }
    let checks = loads.iter().flat_map(|load| {
        let checks = load.check(asked).into_iter();
        checks.map(move |check| to_rule_check(check, load.concurrency, file))
    });
    checks.collect()
}

fn to_rule_check(check: LoadCheck, concurrency: Option<f64>, file: &Path) -> RuleCheck {
    let LoadCheck { rule, stated, required, outcome } = check;
    let load = concurrency.map_or_else(String::new, |requests| format!(", concurrency {requests}"));
    let measured = format!("{stated} ({}{load})", file.display());
    match outcome {
        LoadOutcome::Kept => RuleCheck::new(rule.word(), measured, required, true),
        LoadOutcome::Warned => RuleCheck::warning(rule.word(), measured, required),
        LoadOutcome::Violated => RuleCheck::violation(rule.word(), measured, required),
    }
}
