//! The CDN: signed links, good for a while, and no token beside them.

use std::sync::Arc;

use axum::http::{HeaderMap, Method, StatusCode};

use super::answer::{Answer, set, xml};
use super::bytes;
use super::content::{Content, hex};
use super::fault::{Fault, Place};
use super::repository::File;
use super::route::Asked;
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
pub fn serve(state: &Arc<State>, asked: &mut Asked) -> Answer {
    if asked.segments.first().is_some_and(|first| first == "xet") {
        return xet::serve(state, asked);
    }
    let Some((repository, commit, path)) = parts(&asked.segments) else {
        return denied();
    };
    asked.about(Place::Bytes, &repository, Some(&path));
    if asked.headers.contains_key("authorization") {
        return xml(
            StatusCode::BAD_REQUEST,
            "InvalidArgument",
            "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified",
        );
    }
    if asked.query.get("Signature") != Some(&signature(&repository, &commit, &path)) {
        return denied();
    }
    let found = file(state, &repository, &commit, &path);
    let Some(file) = found else {
        return denied();
    };
    let get = asked.method == Method::GET;
    let fault = if get {
        state.fault(Place::Bytes, &repository, Some(&path))
    } else {
        None
    };
    if let Some(answer) = fault.as_ref().and_then(|fault| asked.refused(fault)) {
        return answer;
    }
    send(state, &file, asked, fault, get)
}

fn send(state: &Arc<State>, file: &File, asked: &Asked, fault: Option<Fault>, get: bool) -> Answer {
    let sent = Arc::clone(&asked.sent);
    let mut answer = bytes::answer(state, &file.content, &asked.headers, fault, sent, get);
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

/// What it says to a link that is not signed, or no more.
pub fn denied() -> Answer {
    xml(StatusCode::FORBIDDEN, "AccessDenied", "Access Denied")
}
