//! The downloads of a plan, as text.

use crate::download::{LocalHubSettings, PlannedDownload};
use crate::step::{Action, Plan, Step};
use retrial_document::measures::format::format_bytes;

/// The lines of a plan's downloads: name, size, terms and disk.
pub fn download_lines(plan: &Plan, hub: &LocalHubSettings) -> Vec<String> {
    let names = plan.downloads.iter().map(|planned| planned.name.len());
    let width = names.max().unwrap_or_default();
    // Scenarios often share a download: it is listed once.
    let mut groups: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for planned in &plan.downloads {
        let step = plan.step(planned.step);
        let description = step.map(|step| describe_download(plan, planned, step, hub));
        let about = description.unwrap_or_default();
        match groups.last_mut() {
            Some((names, same)) if *same == about => names.push(&planned.name),
            _ => groups.push((vec![&planned.name], about)),
        }
    }
    let mut lines = Vec::new();
    for (names, about) in groups {
        for index in 0..names.len().max(about.len()) {
            let name = names.get(index).copied().unwrap_or_default();
            let detail = about.get(index).map_or("", String::as_str);
            lines.push(format!("{name:<width$}  {detail}").trim_end().to_owned());
        }
    }
    if plan.downloads.len() > 1 {
        let total = describe_total(plan).map(|all| format!("{:<width$}  {all}", "total"));
        lines.extend(total);
    }
    lines
}

/// Describes the size of all downloads, as far as it is known: `at least 41 GiB, and the image`.
pub fn describe_total(plan: &Plan) -> Option<String> {
    let downloads = plan.downloads.iter();
    let sizes: Vec<u64> = downloads.filter_map(|planned| planned.download.size).collect();
    let least = if sizes.len() < plan.downloads.len() { "at least " } else { "" };
    let is_known = !sizes.is_empty();
    let all = format_bytes(sizes.into_iter().sum());
    is_known.then(|| format!("{least}{all}, and the image"))
}

fn describe_download(
    plan: &Plan,
    planned: &PlannedDownload,
    step: &Step,
    hub: &LocalHubSettings,
) -> Vec<String> {
    let download = &planned.download;
    let (from, place) = match &step.action {
        Action::FetchModel(model) => {
            let from = format!("{} at {}, {}", model.repository, model.revision, hub.host);
            (Some(from), Some(hub.cache.as_str()))
        }
        Action::Populate(_) => (download.from.clone(), Some(plan.cache.as_str())),
        _ => (download.from.clone(), None),
    };
    let hosts = (!download.hosts.is_empty()).then(|| download.hosts.join(", "));
    let target_place = place.filter(|place| !place.is_empty());
    let size = match (download.size, &step.action) {
        (Some(bytes), _) => {
            let by = download.size_by.iter().map(|by| format!(" ({by})"));
            Some(format_bytes(bytes) + &by.collect::<String>())
        }
        (None, Action::FetchModel(_)) => {
            Some("size unknown (`retrial doctor` queries the hub)".to_owned())
        }
        (None, _) => None,
    };
    let licence = download.licence.as_ref();
    let optional_facts = [
        size,
        licence.map(|licence| format!("licence: {licence}")),
        target_place.map(|place| format!("to {place}")),
        hosts.map(|hosts| format!("connects to {hosts}")),
        planned.late.then(|| "only after a measurement".to_owned()),
    ];
    let facts: Vec<String> = optional_facts.into_iter().flatten().collect();
    let terms = download.terms.as_ref().map(|terms| {
        let token = match &hub.token {
            Some(source) => format!("a token is in {source}"),
            None => "no token was found: set HF_TOKEN, or run `hf auth login`".to_owned(),
        };
        format!("gated: accept its terms at {terms}; {token}")
    });
    let facts = Some(facts.join("; ")).filter(|facts| !facts.is_empty());
    let files = download.files.iter().map(|file| format!("expected: {file}"));
    let about = [from, facts, terms].into_iter().flatten();
    about.chain(files).collect()
}
