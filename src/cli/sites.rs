//! `retrial sites`: the clusters on which `run --site` starts runs.

use serde_json::{Value, json};

use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::site::site_files::read_source;
use crate::app::terminal;
use retrial_cluster::site::{self, Site};
use retrial_cluster::site_files::{self, sites_directory};
use retrial_results::verdict::ExitCode;

pub fn list_sites(global: &GlobalOptions) -> ExitCode {
    let site_files = site_files::list_sites();
    let read = |path: &std::path::Path| site::read_site(&read_source(path).ok()?).ok();
    let sites: Vec<_> =
        site_files.into_iter().map(|(name, path)| (name, read(&path), path)).collect();
    if global.output == OutputFormat::Json {
        let objects = sites.iter().map(
            |(name, site, path)| json!({ "name": name, "path": path, "ok": site.is_some(), "site": site }),
        );
        terminal::print_pretty_json(&objects.collect::<Vec<Value>>());
        return ExitCode::Success;
    }
    if sites.is_empty() {
        terminal::print_note(&format!(
            "there are no sites yet; a site is a file {}/NAME.yaml",
            sites_directory().display()
        ));
    }
    let max_width = sites.iter().map(|(name, ..)| name.chars().count()).max();
    let width = max_width.unwrap_or(0);
    terminal::print_lines(sites.iter().map(|(name, site, path)| {
        let text = match site {
            Some(site) => summarize_site(site),
            None => format!("has errors: retrial check {}", path.display()),
        };
        format!("{name:<width$}  {text}")
    }));
    ExitCode::Success
}

/// `slurm, partition gpu, account bench, runs in /shared/ann: MI355X nodes`.
fn summarize_site(site: &Site) -> String {
    let properties = [
        ("partition", &site.partition),
        ("account", &site.account),
        ("qos", &site.qos),
        ("reservation", &site.reservation),
        ("runs in", &site.home),
    ];
    let parts = properties
        .into_iter()
        .filter_map(|(name, value)| Some(format!(", {name} {}", value.as_ref()?)));
    let title = site.title.as_ref().map(|title| format!(": {}", title.trim_end()));
    format!("{}{}{}", site.scheduler, parts.collect::<String>(), title.unwrap_or_default())
}
