//! Names of recipes, runs and sites.

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter as _};

use super::{candidate, typed_words};
use crate::app::catalog;
use retrial_cluster::site_files::list_sites;
use retrial_history::{RunFilter, entry};
use retrial_plan::Plan;
use retrial_recipe::summarize;
use retrial_store::Home;

/// Built-in recipes by their shortest name, or by the whole one if its beginning is typed; and YAML files.
pub fn recipes(typed: &str) -> Vec<CompletionCandidate> {
    let is_yaml = |path: &std::path::Path| {
        let extension = path.extension();
        path.is_dir() || extension.is_some_and(|extension| extension == "yaml")
    };
    let files = PathCompleter::any().filter(is_yaml).complete(typed.as_ref());
    if catalog::is_path(typed) {
        return files;
    }
    let names = catalog::recipe_names();
    let built_in = catalog::builtin_recipes().into_iter().map(|found| {
        let is_whole = typed.contains('/') && found.name.starts_with(typed);
        let name =
            if is_whole { found.name.clone() } else { catalog::shorten_name(&found.name, &names) };
        let summary = summarize(&found.source, &found).ok();
        candidate(name, summary.map(|(summary, _)| summary.title).unwrap_or_default())
    });
    built_in.chain(files).collect()
}

/// The home that the command line names, or the environment.
fn typed_home() -> Home {
    let words = typed_words();
    let option = words.iter().position(|word| word == "--home");
    let named = option.and_then(|at| words.get(at + 1)).map(std::path::PathBuf::from);
    let from_environment = || std::env::var_os("RETRIAL_HOME").map(std::path::PathBuf::from);
    let root = named.or_else(from_environment);
    root.map_or_else(Home::default_home, Home::from_root)
}

/// Runs and batches of the home, and `last`.
pub fn runs(_: &str) -> Vec<CompletionCandidate> {
    let home = typed_home();
    let runs = entry::open_index(&home).runs(&RunFilter::default());
    let runs = runs.into_iter().map(|run| {
        let help = format!("{}, {}", run.recipe, run.describe_state());
        candidate(run.id, help)
    });
    let batches = home.batch_ids().into_iter().map(|id| candidate(id, "batch"));
    let last = candidate("last", "the last one");
    std::iter::once(last).chain(runs).chain(batches).collect()
}

/// The steps of the run on the command line.
pub fn steps_of_run(_: &str) -> Vec<CompletionCandidate> {
    let home = typed_home();
    let words = typed_words().into_iter().skip(2);
    let mut runs = words.filter_map(|word| home.find_run(&word).ok());
    let plan: Option<Plan> = runs.find_map(|run| run.read_json("plan.json").ok());
    plan.map(|plan| super::recipe::list_steps(&plan)).unwrap_or_default()
}

/// The sites of this user.
pub fn sites(_: &str) -> Vec<CompletionCandidate> {
    let sites = list_sites().into_iter();
    sites.map(|(name, path)| candidate(name, path.display().to_string())).collect()
}
