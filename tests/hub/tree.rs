//! `/tree/{revision}/{path}` and `/paths-info/{revision}`: the files of a commit, page by page.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::{Answer, json_answer, set};
use super::content::sha1_of;
use super::repository::{File, Files};
use super::resolve::{encoded, no_entry};
use super::route::ParsedRequest;
use super::state::State;

/// Lists a folder, with `recursive` everything below it.
pub fn serve(
    state: &State,
    request: &ParsedRequest,
    commit: &str,
    files: &Files,
    path: &str,
    page: Option<usize>,
) -> Answer {
    let (recursive, expand) = (request.flag("recursive"), request.flag("expand"));
    let entries = below(files, path, recursive);
    if entries.is_empty() && !path.is_empty() {
        return no_entry(commit);
    }
    let most = page.unwrap_or(if expand { 50 } else { 1000 });
    let limit = request.query.get("limit").and_then(|limit| limit.parse().ok());
    let most = limit.unwrap_or(most).min(most).max(1);
    let from: usize =
        request.query.get("cursor").and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let more = entries.len() > from.saturating_add(most);
    let shown: Vec<Value> = entries
        .into_iter()
        .skip(from)
        .take(most)
        .map(|(path, file)| entry(commit, &path, file, expand))
        .collect();
    let mut answer = json_answer(&Value::Array(shown));
    if more {
        let folder = if path.is_empty() { String::new() } else { format!("/{}", encoded(path)) };
        let base = request.raw.split("/tree/").next().unwrap_or_default();
        let next = format!(
            "<{}{base}/tree/{commit}{folder}?expand={expand}&recursive={recursive}&limit={most}&cursor={}>; rel=\"next\"",
            state.endpoint,
            from + most
        );
        set(answer.headers_mut(), "link", &next);
    }
    answer
}

/// The entries below a folder: files, and none for folders.
fn below<'a>(files: &'a Files, path: &str, recursive: bool) -> BTreeMap<String, Option<&'a File>> {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut entries = BTreeMap::new();
    for (name, file) in files {
        let Some(rest) = name.strip_prefix(&prefix) else {
            continue;
        };
        let folders = rest.match_indices('/').map(|(at, _)| &rest[..at]);
        let most = if recursive { usize::MAX } else { 1 };
        for folder in folders.take(most) {
            entries.insert(format!("{prefix}{folder}"), None);
        }
        if recursive || !rest.contains('/') {
            entries.insert(name.clone(), Some(file));
        }
    }
    entries
}

fn entry(commit: &str, path: &str, file: Option<&File>, expand: bool) -> Value {
    let mut entry = match file {
        Some(file) => json!({
            "type": "file",
            "oid": file.git_id(),
            "size": file.content.length(),
            "path": path,
        }),
        None => json!({ "type": "directory", "oid": sha1_of(path), "size": 0, "path": path }),
    };
    if let Some(file) = file.filter(|file| file.lfs) {
        entry["lfs"] = json!({
            "oid": file.content.sha256(),
            "size": file.content.length(),
            "pointerSize": file.pointer().len(),
        });
        if let Some(hash) = file.xet_hash() {
            entry["xetHash"] = json!(hash);
        }
    }
    if expand {
        entry["lastCommit"] =
            json!({ "id": commit, "title": "Upload", "date": "2026-01-01T00:00:00.000Z" });
        if file.is_some() {
            entry["securityFileStatus"] = json!({
                "status": "safe", "avScan": null, "pickleImportScan": null,
            });
        }
    }
    entry
}

/// The named paths that exist; others are omitted, as by the real hub.
pub fn paths_info(request: &ParsedRequest, commit: &str, files: &Files) -> Answer {
    let (paths, expand) = requested_paths(request);
    let all = below(files, "", true);
    let entries = paths
        .iter()
        .filter_map(|path| Some(entry(commit, path, *all.get(path)?, expand)))
        .collect();
    json_answer(&Value::Array(entries))
}

/// The paths of the body: a form, as Python sends it, or JSON.
fn requested_paths(request: &ParsedRequest) -> (Vec<String>, bool) {
    if let Ok(body) = serde_json::from_slice::<Value>(&request.body) {
        let paths = body["paths"].as_array().cloned().unwrap_or_default();
        let paths = paths.iter().filter_map(Value::as_str).map(str::to_owned);
        return (paths.collect(), body["expand"].as_bool().unwrap_or(false));
    }
    let body = String::from_utf8_lossy(&request.body);
    let url = reqwest::Url::parse(&format!("http://hub/?{body}")).unwrap();
    let mut paths = Vec::new();
    let mut expand = false;
    for (key, value) in url.query_pairs() {
        match &*key {
            "paths" => paths.push(value.into_owned()),
            "expand" => expand = value.eq_ignore_ascii_case("true"),
            _ => {}
        }
    }
    (paths, expand)
}
