//! `retrial sites`: the clusters on which `run --site` starts runs.

use serde_json::{Value, json};

use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::site::find;
use crate::app::terminal;
use retrial_results::verdict::ExitCode;
use retrial_site::{self as site, Site};

/// Lists the site files.
pub fn sites(global: &GlobalOptions) -> ExitCode {
    let sites = find::list();
    let read = |path: &std::path::Path| site::read(&find::source(path).ok()?).ok();
    let sites: Vec<_> = sites
        .into_iter()
        .map(|(name, path)| (name, read(&path), path))
        .collect();
    if global.output == OutputFormat::Json {
        let objects = sites.iter().map(
            |(name, site, path)| json!({ "name": name, "path": path, "ok": site.is_some(), "site": site }),
        );
        terminal::print_pretty(&objects.collect::<Vec<Value>>());
        return ExitCode::Success;
    }
    if sites.is_empty() {
        terminal::note(&format!(
            "there are no sites yet; a site is a file {}/NAME.yaml",
            find::directory().display()
        ));
    }
    let width = sites.iter().map(|(name, ..)| name.chars().count()).max();
    let width = width.unwrap_or(0);
    terminal::print_lines(sites.iter().map(|(name, site, path)| {
        let text = match site {
            Some(site) => summary(site),
            None => format!("has errors: retrial check {}", path.display()),
        };
        format!("{name:<width$}  {text}")
    }));
    ExitCode::Success
}

/// `slurm, partition gpu, account bench, runs in /shared/ann: MI355X nodes`.
fn summary(site: &Site) -> String {
    let parts = [
        ("partition", &site.partition),
        ("account", &site.account),
        ("qos", &site.qos),
        ("reservation", &site.reservation),
        ("runs in", &site.home),
    ];
    let parts = parts
        .into_iter()
        .filter_map(|(name, value)| Some(format!(", {name} {}", value.as_ref()?)));
    let title = site
        .title
        .as_ref()
        .map(|title| format!(": {}", title.trim_end()));
    format!(
        "{}{}{}",
        site.scheduler,
        parts.collect::<String>(),
        title.unwrap_or_default()
    )
}
