//! What the client of a server states of its load: its numbers checked against each other.

use std::path::{Path, PathBuf};

use super::figures::TextFile;
use retrial_mlperf::check::RuleCheck;
use retrial_recipe::model::{LoadClient, SweepPoint};
use retrial_serving::{LoadCheck, LoadOutcome, LoadPoint};
use retrial_store::open;

/// The largest output of a client that is read: with every token of each request.
const MAX_OUTPUT_BYTES: u64 = 512 << 20;

/// Checks the loads that the client's outputs in a folder state: of a point of a sweep over concurrencies the one with its
/// concurrency. Where there is no output, its figures are missing.
pub(super) fn check_loads(
    client: &LoadClient,
    point: Option<&SweepPoint>,
    folder: &Path,
) -> Vec<RuleCheck> {
    let subject = format!("output of {}", client.program.word());
    let asked = match client.output_tokens.as_ref().map(|tokens| tokens.0.trim().parse::<f64>()) {
        Some(Ok(tokens)) => Some(tokens),
        Some(Err(error)) => {
            let measured = format!("client.output_tokens: {error}");
            return vec![RuleCheck::violation(subject, measured, "a number of tokens")];
        }
        None => None,
    };
    let output =
        TextFile { directory: folder.to_owned(), file: client.program.output_file().into() };
    let files = output.matching_files().unwrap_or_default().into_iter();
    let files = files.filter(|text| text.directory.join(&text.file).is_file());
    let (mut loads, mut checks) = (Vec::new(), Vec::new());
    for TextFile { directory, file } in files {
        match read_file(client, &directory, &file) {
            Ok(read) => loads.extend(read.into_iter().map(|load| (file.clone(), load))),
            Err(reason) => {
                let measured = format!("{}: {reason}", file.display());
                let required = format!("what {} writes", client.program.word());
                checks.push(RuleCheck::violation(&subject, measured, required));
            }
        }
    }
    let concurrency = point.and_then(SweepPoint::concurrency);
    let is_at_point = |load: &LoadPoint| {
        concurrency.is_none_or(|asked| {
            load.concurrency.is_none_or(|found| found.total_cmp(&asked).is_eq())
        })
    };
    let (at_point, others): (Vec<_>, Vec<_>) =
        loads.into_iter().partition(|(_, load)| is_at_point(load));
    let of_file = |file: &PathBuf| at_point.iter().filter(|(other, _)| other == file).count();
    let repeated = at_point.iter().find(|(file, _)| of_file(file) > 1);
    if let Some((file, _)) = repeated {
        let measured = format!("{} loads in {}", of_file(file), file.display());
        checks.push(RuleCheck::violation(&subject, measured, "one load, whose figures are read"));
        return checks;
    }
    if let (true, Some(asked), Some((file, load))) =
        (at_point.is_empty(), concurrency, others.first())
    {
        let found = load.concurrency.unwrap_or_default();
        let measured = format!("concurrency {found} ({})", file.display());
        checks.push(RuleCheck::violation(&subject, measured, format!("{asked}, the point's")));
    }
    for (file, load) in &at_point {
        let concurrency = load.concurrency;
        let of_load = load.check(asked).into_iter();
        checks.extend(of_load.map(|check| to_rule_check(check, concurrency, file)));
    }
    checks
}

fn read_file(client: &LoadClient, directory: &Path, file: &Path) -> Result<Vec<LoadPoint>, String> {
    let text = open::read_text_beneath(directory, file, MAX_OUTPUT_BYTES);
    let text = text.map_err(|error| error.to_string())?;
    client.program.read_loads(&text).map_err(|error| error.to_string())
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
