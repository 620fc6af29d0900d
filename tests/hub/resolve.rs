//! `/{owner}/{name}/resolve/{revision}/{path}`: where a file is, what it is, or its bytes.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::http::{Method, StatusCode};

use super::access::{self, may_read};
use super::answer::{Answer, redirect, refusal, set, text};
use super::bytes;
use super::cdn;
use super::fault::Place;
use super::repository::File;
use super::route::ParsedRequest;
use super::state::State;

/// A file of a commit that the caller may read.
struct FoundFile {
    repository: String,
    commit: String,
    path: String,
    file: File,
    public: bool,
}

/// Serves `/{owner}/{name}/resolve/…`.
pub fn serve(state: &Arc<State>, request: &mut ParsedRequest) -> Answer {
    let segments = request.segments.clone();
    let [owner, name, word, revision, path @ ..] = segments.as_slice() else {
        return page_not_found();
    };
    if word != "resolve" || path.is_empty() || !reading(&request.method) {
        return page_not_found();
    }
    let repository = format!("{owner}/{name}");
    let path = path.join("/");
    if let Some(now) = state.lock().renamed.get(&repository) {
        let rest = request.raw.splitn(4, '/').nth(3).unwrap_or_default();
        return redirect(StatusCode::TEMPORARY_REDIRECT, &format!("/{now}/{rest}"));
    }
    match find(state, request, &repository, revision, &path) {
        Ok(entry) => give(state, request, &entry),
        Err(answer) => *answer,
    }
}

/// Serves `/api/resolve-cache/models/{owner}/{name}/{commit}/{path}`: where plain files of public
/// repositories are redirected to.
pub fn serve_cached(
    state: &Arc<State>,
    request: &mut ParsedRequest,
    segments: &[String],
) -> Answer {
    let [owner, name, commit, path @ ..] = segments else {
        return page_not_found();
    };
    let repository = format!("{owner}/{name}");
    match find(state, request, &repository, commit, &path.join("/")) {
        Ok(entry) => send(state, request, &entry),
        Err(answer) => *answer,
    }
}

fn reading(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

fn find(
    state: &Arc<State>,
    request: &mut ParsedRequest,
    repository: &str,
    revision: &str,
    path: &str,
) -> Result<FoundFile, Box<Answer>> {
    let place = if request.method == Method::HEAD { Place::Head } else { Place::Resolve };
    request.about(place, repository, Some(path));
    if let Some(fault) = state.fault(place, repository, Some(path))
        && let Some(answer) = request.refused(&fault)
    {
        return Err(Box::new(answer));
    }
    let inner = state.lock();
    let Some(stored) = inner.repositories.get(repository) else {
        return Err(Box::new(access::not_found(&request.caller)));
    };
    may_read(stored, &request.caller, &state.endpoint)?;
    let Some((commit, files)) = stored.resolve(revision) else {
        return Err(Box::new(no_revision(revision)));
    };
    let Some(file) = files.get(path) else {
        return Err(Box::new(no_entry(commit)));
    };
    Ok(FoundFile {
        repository: repository.to_owned(),
        commit: commit.clone(),
        path: path.to_owned(),
        file: file.clone(),
        public: matches!(stored.access, access::Access::Public),
    })
}

fn give(state: &Arc<State>, request: &mut ParsedRequest, entry: &FoundFile) -> Answer {
    if entry.file.lfs {
        let link = cdn::link(state, &entry.repository, &entry.commit, &entry.path);
        let mut answer = redirect(StatusCode::FOUND, &link);
        let headers = answer.headers_mut();
        set(headers, "x-repo-commit", &entry.commit);
        set(headers, "accept-ranges", "bytes");
        set(headers, "x-linked-size", &entry.file.content.length().to_string());
        set(headers, "x-linked-etag", &format!("\"{}\"", entry.file.etag()));
        if let Some(hash) = entry.file.xet_hash() {
            set(headers, "x-xet-hash", &hash);
        }
        return answer;
    }
    // Private and gated repositories, and empty files, are answered at once.
    if entry.public && entry.file.content.length() > 0 {
        let etag = entry.file.etag();
        let location = format!(
            "/api/resolve-cache/models/{}/{}/{}?etag=%22{etag}%22",
            entry.repository,
            entry.commit,
            encoded(&entry.path)
        );
        let mut answer = redirect(StatusCode::TEMPORARY_REDIRECT, &location);
        set(answer.headers_mut(), "x-repo-commit", &entry.commit);
        return answer;
    }
    send(state, request, entry)
}

fn send(state: &Arc<State>, request: &mut ParsedRequest, entry: &FoundFile) -> Answer {
    let get = request.method == Method::GET;
    let mut fault = None;
    if get {
        request.about(Place::Bytes, &entry.repository, Some(&entry.path));
        fault = state.fault(Place::Bytes, &entry.repository, Some(&entry.path));
        if let Some(answer) = fault.as_ref().and_then(|fault| request.refused(fault)) {
            return answer;
        }
    }
    let etag = format!("\"{}\"", entry.file.etag());
    let tag = request.headers.get("if-none-match");
    let mut answer = if tag.is_some_and(|tag| tag.as_bytes() == etag.as_bytes()) {
        text(StatusCode::NOT_MODIFIED, "text/plain", String::new())
    } else {
        let sent = Arc::clone(&request.sent);
        bytes::answer(state, &entry.file.content, &request.headers, fault, sent, get)
    };
    let headers = answer.headers_mut();
    set(headers, "content-type", "text/plain; charset=utf-8");
    set(headers, "etag", &etag);
    set(headers, "x-repo-commit", &entry.commit);
    let name = entry.path.rsplit('/').next().unwrap_or_default();
    let disposition = format!("inline; filename*=UTF-8''{}; filename=\"{name}\";", encoded(name));
    set(headers, "content-disposition", &disposition);
    answer
}

/// Encodes a path for a URL.
pub fn encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().fold(String::new(), |mut text, byte| {
        if plain(byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// 404 for a revision that is none.
pub fn no_revision(revision: &str) -> Answer {
    let message = format!("Invalid rev id: {revision}");
    refusal(StatusCode::NOT_FOUND, Some("RevisionNotFound"), &message)
}

/// 404 for a path that the commit lacks.
pub fn no_entry(commit: &str) -> Answer {
    let mut answer =
        text(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "Entry not found".to_owned());
    let headers = answer.headers_mut();
    set(headers, "x-error-code", "EntryNotFound");
    set(headers, "x-error-message", "Entry not found");
    set(headers, "x-repo-commit", commit);
    answer
}

fn page_not_found() -> Answer {
    refusal(StatusCode::NOT_FOUND, None, "Sorry, we can't find the page you are looking for.")
}
