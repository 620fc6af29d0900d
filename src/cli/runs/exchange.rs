//! `retrial runs pack` and `import`: runs between machines.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::app::evidence;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::runs::import::import_and_rejudge as import_one;
use crate::app::terminal;
use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_history::{RunState, RunSummary};
use retrial_readings::sanitize;
use retrial_results::verdict::ExitCode;
use retrial_store::RunDirectory;
use retrial_store::import::ImportReport;
use retrial_store::pack::{PackSummary, pack_runs as pack_all};

/// Packs these runs into an archive.
pub fn pack_selected_runs(
    global: &GlobalOptions,
    rows: &[RunSummary],
    to: Option<PathBuf>,
    sign: Option<&Path>,
) -> Result<ExitCode, Failure> {
    // Others can verify one run that was judged.
    let archive_path = to.unwrap_or_else(|| match (sign, rows) {
        (_, [row]) if sign.is_some() || row.outcome.is_some() => {
            PathBuf::from(format!("{}.tar.zst", row.id))
        }
        _ => PathBuf::from("runs.tar.gz"),
    });
    let to = archive_path.as_path();
    if to == Path::new("-") {
        return Err(Failure::usage("an archive is not written to standard output")
            .with_help("name a file: --to runs.tar.gz"));
    }
    if to.exists() {
        return Err(Failure::usage(format!("{} already exists", to.display()))
            .with_help("name another file: --to FILE    or remove that one"));
    }
    let is_running = |row: &&RunSummary| matches!(row.run_state, RunState::Running(_));
    if let Some(row) = rows.iter().find(is_running) {
        let id = &row.id;
        return Err(Failure::usage(format!("{id} is running"))
            .with_help(format!("wait for its end, or stop it: retrial stop {id}")));
    }
    if rows.is_empty() {
        return Err(Failure::usage("no run matches: nothing to pack"));
    }
    let runs: Vec<RunDirectory> = rows.iter().map(RunSummary::directory).collect();
    let (packed, size, seal) = write_archive(&runs, to, sign)?;
    for omitted in &packed.omitted {
        terminal::print_note(&sanitize(&format!("omitted: {omitted}")));
    }
    if global.output == OutputFormat::Json {
        let mut object = json!({
            "archive": to,
            "bytes": size,
            "runs": rows.iter().map(|row| &row.id).collect::<Vec<_>>(),
            "files": packed.files,
            "unpacked_bytes": packed.bytes,
            "omitted": packed.omitted,
        });
        if let Some((sha256, key)) = seal {
            object["sha256"] = sha256.into();
            object["signed_by"] = key.into();
        }
        terminal::print_json(&object);
        return Ok(ExitCode::Success);
    }
    let seal_text = seal.map(|(sha256, key)| {
        let signed = key.map_or("unsigned".to_owned(), |key| format!("signed by {key}"));
        format!(", {signed}\nsha256:{sha256}")
    });
    terminal::print_text(&format!(
        "{}: {}, {} in {}{}\n",
        to.display(),
        format::format_count(rows.len(), "run"),
        format::format_bytes(packed.bytes),
        format::format_bytes(size),
        seal_text.unwrap_or_default()
    ));
    Ok(ExitCode::Success)
}

/// The digest of an archive that others can verify, and the key that signed it.
type ArchiveSeal = (String, Option<String>);

/// Writes an archive, which others can verify if its name ends in `.zst`. Also returns its size.
fn write_archive(
    runs: &[RunDirectory],
    to: &Path,
    sign: Option<&Path>,
) -> Result<(PackSummary, u64, Option<ArchiveSeal>), Failure> {
    let is_bundle = to.extension().is_some_and(|ending| ending == "zst");
    match runs {
        [run] if is_bundle => {
            let bundle = evidence::pack_bundle(run, to, sign)?;
            let seal = (bundle.sha256, bundle.key);
            Ok((bundle.packed, bundle.size, Some(seal)))
        }
        runs if is_bundle => Err(Failure::usage(format!(
            "an archive that others can verify contains one run; these are {}",
            runs.len()
        ))
        .with_help("name one, or move them with --to runs.tar.gz")),
        _ if sign.is_some() => Err(Failure::usage(format!(
            "{}: a signed archive contains one run, and its name ends in .tar.zst",
            to.display()
        ))),
        runs => {
            let packed = pack_all(runs, to)?;
            let size = std::fs::metadata(to).map_or(0, |metadata| metadata.len());
            Ok((packed, size, None))
        }
    }
}

/// Imports the runs of archives and directories.
pub fn import_archives(global: &GlobalOptions, paths: &[PathBuf]) -> ExitCode {
    let mut all = ImportReport::default();
    for path in paths {
        match import_one(&global.home, path) {
            Ok(arrivals) => {
                all.runs.extend(arrivals.runs);
                all.omitted.extend(arrivals.omitted);
                all.refused.extend(arrivals.refused);
            }
            Err(error) if path.exists() => all.refused.push(ErrorText::of(&error)),
            Err(_) => all.refused.push(
                ErrorText::new(format!("no such file or directory: {}", path.display()))
                    .with_help("name an archive of `runs pack`, or the directory of a run"),
            ),
        }
    }
    // Names and hosts come from the archive, which is not trusted.
    for omitted in &all.omitted {
        terminal::print_note(&sanitize(&format!("omitted: {omitted}")));
    }
    for refused in &all.refused {
        terminal::note_error(&refused.clone().in_context("not imported: "));
    }
    for arrival in &all.runs {
        if let Some(rejudged) = &arrival.rejudged {
            terminal::print_note(&format!("warning: {}: {rejudged}", arrival.run));
        }
    }
    if global.output == OutputFormat::Json {
        terminal::print_json(&all);
    } else {
        terminal::print_lines(all.runs.iter().map(|arrival| {
            let word = if arrival.already { "already imported, from" } else { "imported from" };
            format!("{}  {word} {}", arrival.run, sanitize(&arrival.host))
        }));
    }
    ExitCode::Usage.success_if(all.refused.is_empty())
}
