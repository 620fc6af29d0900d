//! `retrial lock`: locks the images and commits of a recipe, under all of its variants.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::arguments::LockArguments;
use crate::app::failure::Failure;
use crate::app::launch::find_recipe;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::{lock, lock_file, runtime, terminal};
use retrial_recipe::lock::RecipeLock;
use retrial_results::verdict::ExitCode;

/// Locks a recipe, or compares its lock with the registry and the hub.
pub fn lock_recipe(global: &GlobalOptions, arguments: &LockArguments) -> Result<ExitCode, Failure> {
    let entry = find_recipe(&arguments.recipe)?;
    let standard = lock_file::lock_path(global, &entry);
    let path = arguments.file.clone().unwrap_or(standard);
    let before = lock_file::read_lock(&path)?.map(|(lock, _)| lock);
    if arguments.check && before.is_none() {
        return Err(Failure::usage(format!(
            "{} is not locked: {} does not exist",
            arguments.recipe,
            path.display()
        ))
        .with_help(format!("lock it: retrial lock {}", arguments.recipe)));
    }
    let resolved = lock::resolve_lock(global, &entry, &arguments.images);
    let resolved = runtime::wait_with_notice("the registries and the hub", resolved);
    let now = runtime::start_runtime()?.block_on(resolved)?;
    match before {
        Some(before) if arguments.check => Ok(report_differences(global, &path, &before, &now)),
        before => {
            if entry.is_builtin() {
                global.home.create()?;
            }
            lock::write_lock(&path, &now)?;
            print_lock(global, arguments, &path, before.as_ref(), &now);
            Ok(ExitCode::Success)
        }
    }
}

fn print_lock(
    global: &GlobalOptions,
    arguments: &LockArguments,
    path: &Path,
    before: Option<&RecipeLock>,
    now: &RecipeLock,
) {
    let differences = before.map_or_else(Vec::new, |before| before.differences_from(now));
    if global.output == OutputFormat::Json {
        let (images, models) = (&now.images, model_commits(now));
        return terminal::print_pretty_json(
            &json!({ "path": path, "images": images, "models": models, "changed": differences }),
        );
    }
    let mut out = format!("{}\n", path.display());
    for (name, digest) in now.images.iter().chain(&model_commits(now)) {
        let _ = writeln!(out, "  {name}");
        let _ = writeln!(out, "    {digest}");
    }
    terminal::print_text(&out);
    if global.quiet {
        return;
    }
    for difference in differences {
        terminal::print_note(&format!("changed: {difference}"));
    }
    if let Some(file) = &arguments.file {
        let (recipe, file) = (&arguments.recipe, file.display());
        terminal::advise("", format!("use it: retrial run {recipe} --lock {file}"));
    }
}

fn model_commits(lock: &RecipeLock) -> BTreeMap<String, String> {
    let models = lock.models.iter();
    models.map(|(name, model)| (name.clone(), model.commit.clone())).collect()
}

fn report_differences(
    global: &GlobalOptions,
    path: &Path,
    before: &RecipeLock,
    now: &RecipeLock,
) -> ExitCode {
    let differences = before.differences_from(now);
    if global.output == OutputFormat::Json {
        terminal::print_pretty_json(&json!({ "path": path, "differences": differences }));
    } else if differences.is_empty() {
        terminal::print_text(&format!("{} is up to date\n", path.display()));
    } else {
        terminal::print_lines(differences.iter().cloned());
    }
    ExitCode::NotReproduced.success_if(differences.is_empty())
}
