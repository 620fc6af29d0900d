//! The Xet store next to the CDN: which chunks a file is made of, and their bytes.
//!
//! Each file is one xorb (a container of chunks) of its own, whose chunks are stored uncompressed
//! after a header of eight bytes. It speaks version 2 of the reconstruction API, as
//! `xet-client`'s `cas_types` and `remote_client` read it.

use std::ops::Range;
use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::json;

use super::answer::{Answer, json_answer, text};
use super::bytes;
use super::content::Content;
use super::fault::Place;
use super::repository::File;
use super::route::ParsedRequest;
use super::state::State;

/// Bytes of a file in one chunk; the last one may be shorter.
const CHUNK: u64 = 64 << 10;
const HEADER: u64 = 8;
/// The token that the hub gives for the store.
const TOKEN: &str = "xet-token";

/// `/api/models/{id}/xet-read-token/{revision}`: where the store is, and a token for it.
pub fn token(state: &State) -> Answer {
    json_answer(&json!({
        "accessToken": TOKEN,
        "exp": 4_102_444_800_u64,
        "casUrl": format!("{}/xet", state.cdn),
    }))
}

/// Serves `/xet/…` of the CDN's host.
pub fn serve(state: &Arc<State>, request: &mut ParsedRequest) -> Answer {
    let segments = request.segments.clone();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (hash, is_list) = match segments.as_slice() {
        ["xet", "v2", "reconstructions", hash] => (*hash, true),
        ["xet", "xorbs", hash] => (*hash, false),
        _ => {
            request.about(Place::Xet, "", None);
            return refused(StatusCode::NOT_FOUND);
        }
    };
    let Some((repository, path, file)) = find(state, hash) else {
        return refused(StatusCode::NOT_FOUND);
    };
    request.about(Place::Xet, &repository, Some(&path));
    let fault = state.fault(Place::Xet, &repository, Some(&path));
    if let Some(answer) = fault.as_ref().and_then(|fault| request.refused(fault)) {
        return answer;
    }
    if !is_list {
        let sent = Arc::clone(&request.sent);
        let xorb = xorb(&file.content);
        return bytes::answer(state, &xorb, &request.headers, fault, sent, true);
    }
    let token = request.headers.get("authorization");
    if token.is_none_or(|token| token.as_bytes() != format!("Bearer {TOKEN}").as_bytes()) {
        return refused(StatusCode::UNAUTHORIZED);
    }
    match range(request, file.content.length()) {
        Some(range) => reconstruction(state, hash, &file.content, &range),
        None => refused(StatusCode::RANGE_NOT_SATISFIABLE),
    }
}

fn refused(status: StatusCode) -> Answer {
    text(status, "text/plain", String::new())
}

fn find(state: &State, hash: &str) -> Option<(String, String, File)> {
    let inner = state.lock();
    for (repository, stored) in &inner.repositories {
        for (path, file) in stored.commits.values().flatten() {
            if file.xet_hash().as_deref() == Some(hash) {
                return Some((repository.clone(), path.clone(), file.clone()));
            }
        }
    }
    None
}

/// The bytes of the file that are requested.
fn range(request: &ParsedRequest, length: u64) -> Option<Range<u64>> {
    let header = request.headers.get("range");
    let Some(text) = header.and_then(|value| value.to_str().ok()) else {
        return Some(0..length);
    };
    let (from, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    let (from, last): (u64, u64) = (from.parse().ok()?, last.parse().ok()?);
    let range = from..last.saturating_add(1).min(length);
    (!range.is_empty()).then_some(range)
}

/// The chunks that hold a range of the file.
fn reconstruction(state: &State, hash: &str, content: &Content, range: &Range<u64>) -> Answer {
    let (first, end) = (range.start / CHUNK, range.end.div_ceil(CHUNK));
    let last = (end * CHUNK).min(content.length());
    let chunks = json!({ "start": first, "end": end });
    json_answer(&json!({
        "offset_into_first_range": range.start - first * CHUNK,
        "terms": [{
            "hash": hash,
            "unpacked_length": last - first * CHUNK,
            "range": chunks,
        }],
        "xorbs": { hash: [{
            "url": format!("{}/xet/xorbs/{hash}?Signature=abc", state.cdn),
            "ranges": [{
                "chunks": chunks,
                "bytes": { "start": first * (CHUNK + HEADER), "end": last + end * HEADER - 1 },
            }],
        }] },
    }))
}

/// The file's chunks as the store keeps them.
fn xorb(content: &Content) -> Content {
    let mut out = Vec::new();
    for chunk in content.to_vec().chunks(usize::try_from(CHUNK).unwrap()) {
        let length = u32::try_from(chunk.len()).unwrap().to_le_bytes();
        // The format's version, and no compression.
        out.push(0);
        out.extend_from_slice(&length[..3]);
        out.push(0);
        out.extend_from_slice(&length[..3]);
        out.extend_from_slice(chunk);
    }
    Content::from(out)
}
