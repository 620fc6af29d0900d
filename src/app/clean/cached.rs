//! `retrial clean --cached`: lists cached directories with their sizes, or removes some.

use serde_json::json;

use super::containers::CleanScope;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::{open, runtime, terminal};
use retrial_document::measures::format;
use retrial_engine::api::Engine;
use retrial_results::verdict::ExitCode;
use retrial_run::{CACHE_LABEL, RUN_LABEL};
use retrial_store::cache::{self, CacheEntry, CacheOrigin, CacheUsage};
use retrial_store::lock::LockAttempt;

pub fn list_cached(global: &GlobalOptions) -> ExitCode {
    print_entries(
        global,
        "directories",
        &cache::list_cached_directories(&global.cache),
        describe_entry,
    );
    ExitCode::Success
}

/// Removes a cached directory. One that a Retrial container has mounted is removed with `all` only.
pub fn remove_cached(
    global: &GlobalOptions,
    key: &str,
    extent: CleanScope,
) -> Result<ExitCode, Failure> {
    let cache = &global.cache;
    let mut directories = cache::list_cached_directories(cache);
    directories.retain(|one| one.key == key || one.label == key);
    if directories.is_empty() {
        let path = cache.join("directories");
        return Err(Failure::usage(format!("no cached directory {key} in {}", path.display()))
            .with_help("list them: retrial clean --cached"));
    }
    let used = runtime::start_runtime()?.block_on(mounted_directories(global))?;
    let mut removed = Vec::new();
    for directory in directories {
        let label = &directory.label;
        let location = directory.location();
        let mounted = used.iter().find(|(mounted, _)| mounted.contains(&location));
        if let Some((_, run)) = mounted.filter(|_| !extent.all) {
            terminal::advise(
                format!("{label}: skipped: run {run} has it mounted"),
                format!("stop it first: retrial stop {run}    remove it anyway: --all"),
            );
            continue;
        }
        let name = label.rsplit('/').next().unwrap_or_default();
        let cache_entry = CacheEntry::with_name(cache, &directory.key, name, "");
        let _lock = match cache_entry.try_lock("retrial clean")? {
            LockAttempt::Acquired(lock) => lock,
            LockAttempt::HeldBy(holder) => {
                terminal::print_note(&format!("{label}: skipped: {holder} is using it"));
                continue;
            }
        };
        if !extent.dry_run {
            directory.remove()?;
        }
        removed.push(directory);
    }
    let (key, word) =
        if extent.dry_run { ("would_remove", "would remove") } else { ("removed", "removed") };
    print_entries(global, key, &removed, |directory| {
        let size = format::format_bytes(directory.bytes);
        format!("{word} {}  {size}", directory.label)
    });
    Ok(ExitCode::Success)
}

fn describe_entry(directory: &CacheUsage) -> String {
    let about = match &directory.manifest {
        None => "incomplete".to_owned(),
        Some(manifest) if manifest.written_by_runs => {
            let CacheOrigin { run, at, .. } = &manifest.origin;
            format!("cache mount, last used by {run}, {at}")
        }
        Some(manifest) => {
            let files = format::format_count(manifest.files.len(), "file");
            format!("{files}, by {}, {}", manifest.origin.run, manifest.origin.at)
        }
    };
    let size = format::format_bytes(directory.bytes);
    format!("{}  {size}  {about}", directory.label)
}

fn print_entries(
    global: &GlobalOptions,
    key: &str,
    directories: &[CacheUsage],
    line: impl Fn(&CacheUsage) -> String,
) {
    if global.output == OutputFormat::Json {
        let entries = directories.iter();
        let directories: Vec<_> =
            entries.map(|one| json!({ "directory": one.label, "bytes": one.bytes })).collect();
        return terminal::print_json(&json!({ key: directories }));
    }
    if directories.is_empty() {
        return terminal::print_text("no cached directories\n");
    }
    terminal::print_lines(directories.iter().map(line));
}

/// The directories that running Retrial containers have mounted, each with its run.
async fn mounted_directories(
    global: &GlobalOptions,
) -> Result<Vec<(Vec<String>, String)>, Failure> {
    let engine = open::connect_engine(global).await?;
    let containers = engine.list_containers(CACHE_LABEL).await?;
    let running = containers.into_iter().filter(|container| container.running);
    let mounted = running.map(|mut container| {
        let mut label = |name| container.labels.remove(name).unwrap_or_default();
        let directories_label = label(CACHE_LABEL);
        let directories = directories_label.lines().map(str::to_owned).collect();
        (directories, label(RUN_LABEL))
    });
    Ok(mounted.collect())
}
