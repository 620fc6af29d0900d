//! The CDN: signed links that expire, and no token with them.

use std::sync::Arc;

use axum::http::{HeaderMap, Method, StatusCode};

use super::answer::{Answer, set, xml};
use super::bytes;
use super::content::{Content, hex};
use super::fault::{Fault, Place};
use super::repository::File;
use super::route::ParsedRequest;
use super::state::State;
use super::xet;

/// The link that an LFS file's redirect leads to.
pub fn link(state: &State, repository: &str, commit: &str, path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    format!(
        "{}/{repository}/{commit}/{path}?response-content-disposition=inline%3B+filename%2A%3DUTF-8%27%27{name}&Expires=4102444800&Signature={}",
        state.cdn,
        signature(repository, commit, path),
    )
}

fn signature(repository: &str, commit: &str, path: &str) -> String {
    let text = format!("a secret of the hub's {repository} {commit} {path}");
    Content::from(text).sha256()[..40].to_owned()
}

/// Serves a signed link.
pub fn serve(state: &Arc<State>, request: &mut ParsedRequest) -> Answer {
    if request.segments.first().is_some_and(|first| first == "xet") {
        return xet::serve(state, request);
    }
    let Some((repository, commit, path)) = parts(&request.segments) else {
        return denied();
    };
    request.about(Place::Bytes, &repository, Some(&path));
    if request.headers.contains_key("authorization") {
        return xml(
            StatusCode::BAD_REQUEST,
            "InvalidArgument",
            "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified",
        );
    }
    if request.query.get("Signature") != Some(&signature(&repository, &commit, &path)) {
        return denied();
    }
    let file = file(state, &repository, &commit, &path);
    let Some(file) = file else {
        return denied();
    };
    let get = request.method == Method::GET;
    let fault = if get { state.fault(Place::Bytes, &repository, Some(&path)) } else { None };
    if let Some(answer) = fault.as_ref().and_then(|fault| request.refused(fault)) {
        return answer;
    }
    send(state, &file, request, fault, get)
}

fn send(
    state: &Arc<State>,
    file: &File,
    request: &ParsedRequest,
    fault: Option<Fault>,
    get: bool,
) -> Answer {
    let sent = Arc::clone(&request.sent);
    let mut answer = bytes::answer(state, &file.content, &request.headers, fault, sent, get);
    let headers: &mut HeaderMap = answer.headers_mut();
    set(headers, "content-type", "binary/octet-stream");
    // The CDN's own ETag has nothing to do with the file's SHA-256.
    let tag = hex(&file.content.sha256().as_bytes()[..16]);
    set(headers, "etag", &format!("\"{tag}\""));
    answer
}

fn file(state: &State, repository: &str, commit: &str, path: &str) -> Option<File> {
    let inner = state.lock();
    let files = inner.repositories.get(repository)?.commits.get(commit)?;
    files.get(path).cloned()
}

fn parts(segments: &[String]) -> Option<(String, String, String)> {
    let [owner, name, commit, path @ ..] = segments else {
        return None;
    };
    (!path.is_empty()).then(|| (format!("{owner}/{name}"), commit.clone(), path.join("/")))
}

/// The answer to a link that is unsigned or has expired.
pub fn denied() -> Answer {
    xml(StatusCode::FORBIDDEN, "AccessDenied", "Access Denied")
}
