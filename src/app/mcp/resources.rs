//! Run directories as resources: `retrial://runs/ID`, which lists its files, and `retrial://runs/ID/FILE`.

use std::ffi::OsStr;
use std::path::{Component, Path};

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents};
use serde_json::json;

use retrial_store::dir_handle::DirHandle;
use retrial_store::error::RecordKind;
use retrial_store::open::read_text_beneath;
use retrial_store::pack::EXCLUDED_ENTRIES;
use retrial_store::walk::{DirectoryEntry, walk_entries};
use retrial_store::{Home, StoreError};

const RUNS: &str = "retrial://runs/";
/// The template of the address of a file.
pub const FILE_TEMPLATE: &str = "retrial://runs/{run}/{+file}";
/// The number of runs that are listed at once.
const PAGE_LENGTH: usize = 50;
/// The size of a file that is returned, bytes.
const MAX_FILE_SIZE: u64 = 1 << 20;
/// Characters of a path that an address does not have.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#').add(b'"');

/// Returns a page of runs, the newest first. A cursor is the number of runs before it.
pub fn list_runs(home: &Home, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let invalid = |_| ErrorData::invalid_params("no such page", None);
    let first: usize = cursor.map_or(Ok(0), |cursor| cursor.parse().map_err(invalid))?;
    let mut runs = home.newest_first(RecordKind::Run).skip(first);
    let page = runs
        .by_ref()
        .take(PAGE_LENGTH)
        .map(|(_, id)| Resource::new(address(&id), id).with_mime_type("application/json"));
    let mut result = ListResourcesResult::with_all_items(page.collect());
    result.next_cursor = runs.next().map(|_| (first + PAGE_LENGTH).to_string());
    Ok(result)
}

/// Returns the list of a run's files, or a file.
pub fn read_resource(home: &Home, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let failed = |reason: String| ErrorData::resource_not_found(format!("{uri}: {reason}"), None);
    let path = uri.strip_prefix(RUNS).and_then(|path| percent_decode_str(path).decode_utf8().ok());
    let path = path.ok_or_else(|| failed(format!("expected {FILE_TEMPLATE}")))?;
    let (run, file) = path.split_once('/').unwrap_or((&path, ""));
    if Path::new(run).file_name() != Some(OsStr::new(run)) {
        return Err(failed("no such run".to_owned()));
    }
    let runs = home.runs_directory();
    let content = match Path::new(file).components().find(|part| *part != Component::CurDir) {
        None => list_files(&runs, run).map(|files| (files, "application/json")),
        Some(first) if EXCLUDED_ENTRIES.iter().any(|name| first.as_os_str() == *name) => {
            return Err(failed("it is no evidence".to_owned()));
        }
        Some(_) => read_text_beneath(&runs, Path::new(&*path), MAX_FILE_SIZE)
            .map(|text| (text, "text/plain")),
    };
    let (text, media_type) = content.map_err(|error| failed(error.reason_without_path()))?;
    let contents = ResourceContents::text(text, uri).with_mime_type(media_type);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Returns the files of a run as JSON, less those that are not packed either.
fn list_files(runs: &Path, run: &str) -> Result<String, StoreError> {
    let mut files = Vec::new();
    // A link of this name is no run.
    drop(DirHandle::open(runs)?.open_directory(run)?);
    walk_entries::<StoreError>(&runs.join(run), &EXCLUDED_ENTRIES, &mut |path, entry| {
        if let DirectoryEntry::File(file) = entry {
            let bytes = file.metadata().map_or(0, |metadata| metadata.len());
            let path = format!("{run}/{}", path.display());
            files.push(json!({ "uri": address(&path), "bytes": bytes }));
        }
        Ok(())
    })?;
    Ok(json!({ "files": files }).to_string())
}

/// The address of a path below the runs.
fn address(path: &str) -> String {
    format!("{RUNS}{}", utf8_percent_encode(path, ESCAPED))
}
