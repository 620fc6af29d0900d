//! What a plan fetches from elsewhere, as a person reads it.

use crate::format::size;
use crate::plan::download::{HubHere, PlannedDownload};
use crate::plan::step::{Action, Plan, Step};

/// The lines of a plan's downloads: what, how much, by whose leave, and to which disk.
pub fn lines(plan: &Plan, hub: &HubHere) -> Vec<String> {
    let width = plan.downloads.iter().map(|one| one.name.len()).max();
    let width = width.unwrap_or_default();
    // Scenarios often fetch the same: it is told once.
    let mut told: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for one in &plan.downloads {
        let step = plan.step(one.step);
        let about = step.map(|step| about(plan, one, step, hub));
        let about = about.unwrap_or_default();
        match told.last_mut() {
            Some((names, same)) if *same == about => names.push(&one.name),
            _ => told.push((vec![&one.name], about)),
        }
    }
    let mut lines = Vec::new();
    for (names, about) in told {
        for index in 0..names.len().max(about.len()) {
            let name = names.get(index).copied().unwrap_or_default();
            let about = about.get(index).map_or("", String::as_str);
            lines.push(format!("{name:<width$}  {about}").trim_end().to_owned());
        }
    }
    let known: Vec<u64> = plan
        .downloads
        .iter()
        .filter_map(|one| one.download.size)
        .collect();
    if known.len() > 1 {
        let least = if known.len() < plan.downloads.len() {
            "at least "
        } else {
            ""
        };
        let all = format!("{least}{}, and the image", size(known.into_iter().sum()));
        lines.push(format!("{:<width$}  {all}", "total"));
    }
    lines
}

fn about(plan: &Plan, one: &PlannedDownload, step: &Step, hub: &HubHere) -> Vec<String> {
    let known = &one.download;
    let (from, place) = match &step.action {
        Action::FetchModel(model) => {
            let from = format!("{} at {}, {}", model.repository, model.revision, hub.host);
            (Some(from), Some(hub.cache.as_str()))
        }
        Action::Populate(_) => (known.from.clone(), Some(plan.cache.as_str())),
        _ => (known.from.clone(), None),
    };
    let hosts = (!known.hosts.is_empty()).then(|| known.hosts.join(", "));
    let place = place.filter(|place| !place.is_empty());
    let size = known.size.map(|bytes| {
        let by = known.size_by.iter().map(|by| format!(" ({by})"));
        size(bytes) + &by.collect::<String>()
    });
    let is_model = matches!(step.action, Action::FetchModel(_));
    let size = size
        .or_else(|| is_model.then(|| "size unknown (`retrial doctor` queries the hub)".to_owned()));
    let facts = [
        size,
        known
            .licence
            .as_ref()
            .map(|licence| format!("licence: {licence}")),
        place.map(|place| format!("to {place}")),
        hosts.map(|hosts| format!("connects to {hosts}")),
        one.late.then(|| "only after a measurement".to_owned()),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let terms = known.terms.as_ref().map(|terms| {
        let token = match &hub.token {
            Some(source) => format!("a token is in {source}"),
            None => "no token was found: set HF_TOKEN, or run `hf auth login`".to_owned(),
        };
        format!("gated: accept its terms at {terms}; {token}")
    });
    let facts = Some(facts.join("; ")).filter(|facts| !facts.is_empty());
    let files = known.files.iter().map(|file| format!("expected: {file}"));
    let about = [from, facts, terms].into_iter().flatten();
    about.chain(files).collect()
}
