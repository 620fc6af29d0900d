//! `retrial clean --cached`: lists cached directories with their sizes, or removes some.

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::{open, runtime, terminal};
use crate::results::verdict::ExitCode;
use crate::run::{CACHE_LABEL, RUN_LABEL};
use crate::store::cache::{CacheEntry, CacheUsage, list};
use crate::store::lock::LockAttempt;
use retrial_engine::api::Engine;

/// Without a key: lists the cached directories. With one: removes it, unless a container of ours has
/// it mounted and `all` is not given.
pub fn clean(
    global: &GlobalOptions,
    key: Option<&str>,
    all: bool,
    dry_run: bool,
) -> Result<ExitCode, Failure> {
    let cache = &global.cache;
    let kept = list(cache);
    let Some(key) = key else {
        let lines: Vec<(String, u64, String)> = kept.iter().map(row).collect();
        print(global, "directories", &lines, |label, size, about| {
            format!("{label}  {size}  {about}")
        });
        return Ok(ExitCode::Success);
    };
    let wanted: Vec<&CacheUsage> = kept
        .iter()
        .filter(|kept| kept.key == key || kept.label == key)
        .collect();
    if wanted.is_empty() {
        let path = cache.join("directories");
        return Err(Failure::usage(format!(
            "no cached directory {key} in {}\n  list them: retrial clean --cached",
            path.display()
        )));
    }
    let used = runtime::runtime()?.block_on(in_use(global))?;
    let mut removed = Vec::new();
    for kept in wanted {
        let label = &kept.label;
        let mounted = used.iter().find(|(labels, _)| labels.contains(label));
        if let Some((_, run)) = mounted.filter(|_| !all) {
            terminal::note(&format!(
                "{label}: left alone: run {run} has it mounted; retrial stop {run}, or --all"
            ));
            continue;
        }
        let name = label.rsplit('/').next().unwrap_or_default();
        let place = CacheEntry::new(cache, &kept.key, name);
        let _lock = match place.lock("retrial clean")? {
            LockAttempt::Acquired(lock) => lock,
            LockAttempt::HeldBy(holder) => {
                terminal::note(&format!("{label}: left alone: {holder} is at it"));
                continue;
            }
        };
        if !dry_run {
            kept.remove()?;
        }
        removed.push(row(kept));
    }
    let (key, word) = if dry_run {
        ("would_remove", "would remove")
    } else {
        ("removed", "removed")
    };
    print(global, key, &removed, |label, size, _| {
        format!("{word} {label}  {size}")
    });
    Ok(ExitCode::Success)
}

fn row(kept: &CacheUsage) -> (String, u64, String) {
    let about = match &kept.manifest {
        None => "incomplete".to_owned(),
        Some(manifest) => {
            let origin = &manifest.origin;
            let files = match manifest.files.len() {
                1 => "1 file".to_owned(),
                count => format!("{count} files"),
            };
            format!("{files}, by {}, {}", origin.run, origin.at)
        }
    };
    (kept.label.clone(), kept.bytes, about)
}

fn print(
    global: &GlobalOptions,
    key: &str,
    rows: &[(String, u64, String)],
    line: impl Fn(&str, &str, &str) -> String,
) {
    match global.output {
        Output::Json => {
            let rows: Vec<_> = rows
                .iter()
                .map(|(label, bytes, _)| serde_json::json!({ "directory": label, "bytes": bytes }))
                .collect();
            terminal::print(&format!("{}\n", serde_json::json!({ key: rows })));
        }
        _ if rows.is_empty() => terminal::print("no cached directories\n"),
        _ => terminal::print_lines(rows.iter().map(|(label, bytes, about)| {
            let size = crate::format::size(*bytes);
            line(label, &size, about)
        })),
    }
}

/// What running containers of ours have mounted, and of which run they are.
async fn in_use(global: &GlobalOptions) -> Result<Vec<(Vec<String>, String)>, Failure> {
    let engine = open::engine(global).await?;
    let containers = engine.containers(CACHE_LABEL).await?;
    let running = containers.into_iter().filter(|container| container.running);
    let label = |labels: &std::collections::BTreeMap<String, String>, name: &str| {
        labels.get(name).cloned().unwrap_or_default()
    };
    Ok(running
        .map(|container| {
            let kept = label(&container.labels, CACHE_LABEL);
            let kept = kept.split(',').map(str::to_owned).collect();
            (kept, label(&container.labels, RUN_LABEL))
        })
        .collect())
}
