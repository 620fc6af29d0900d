//! `/api/…`: models, their trees and refs, and who one is.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::access::{self, Access, Caller, may_see};
use super::answer::{Answer, json_answer, redirect, refusal, set};
use super::fault::{Fault, Place};
use super::repository::{Files, Stored};
use super::resolve::{no_revision, serve_cached};
use super::route::ParsedRequest;
use super::state::State;
use super::tree;
use super::xet;

/// Serves `/api/…`.
pub fn serve(state: &Arc<State>, request: &mut ParsedRequest) -> Answer {
    let segments = request.segments.clone();
    match segments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["api", "whoami-v2"] => who(request),
        ["api", "resolve-cache", "models", ..] => serve_cached(state, request, &segments[3..]),
        ["api", "models", owner, name, rest @ ..] => {
            let repository = format!("{owner}/{name}");
            if let Some(now) = state.lock().renamed.get(&repository) {
                let rest = request.raw.splitn(6, '/').nth(5);
                let rest = rest.map_or_else(String::new, |rest| format!("/{rest}"));
                let location = format!("/api/models/{now}{rest}");
                return redirect(StatusCode::TEMPORARY_REDIRECT, &location);
            }
            model(state, request, &repository, rest)
        }
        _ => no_such_call(),
    }
}

fn no_such_call() -> Answer {
    refusal(StatusCode::NOT_FOUND, None, "Sorry, we can't find the page you are looking for.")
}

fn who(request: &ParsedRequest) -> Answer {
    match &request.caller {
        Caller::User(name) => json_answer(&json!({
            "type": "user",
            "id": "000000000000000000000000",
            "name": name,
            "fullname": name,
            "email": null,
            "canPay": false,
            "isPro": false,
            "orgs": [],
            "auth": {"type": "access_token", "accessToken": {"displayName": "test", "role": "read"}},
        })),
        _ => refusal(StatusCode::UNAUTHORIZED, None, "Invalid username or password."),
    }
}

fn model(
    state: &Arc<State>,
    request: &mut ParsedRequest,
    repository: &str,
    rest: &[&str],
) -> Answer {
    let place = match rest.first() {
        None | Some(&"revision") => Place::Info,
        Some(&("tree" | "paths-info")) => Place::Tree,
        _ => Place::Other,
    };
    request.about(place, repository, None);
    let fault = state.fault(place, repository, None);
    if let Some(answer) = fault.as_ref().and_then(|fault| request.refused(fault)) {
        return answer;
    }
    let inner = state.lock();
    let Some(stored) = inner.repositories.get(repository) else {
        return access::not_found(&request.caller);
    };
    if let Err(answer) = may_see(stored, &request.caller) {
        return *answer;
    }
    let revision = rest.get(1).copied().unwrap_or("main");
    if rest == ["refs"] {
        return refs(stored);
    }
    let Some((commit, files)) = stored.resolve(revision) else {
        return no_revision(revision);
    };
    match rest {
        [] | ["revision", _] => info(stored, commit, files, request.flag("blobs")),
        ["tree", _, path @ ..] => {
            let page = inner.page;
            let mut answer = tree::serve(state, request, commit, files, &path.join("/"), page);
            if let Some(Fault::NextPage(address)) = fault {
                set(answer.headers_mut(), "link", &format!("<{address}>; rel=\"next\""));
            }
            answer
        }
        ["xet-read-token", _] => match access::may_read(stored, &request.caller, &state.endpoint) {
            Ok(()) => xet::token(state),
            Err(answer) => *answer,
        },
        ["paths-info", _] if request.method == Method::POST => {
            tree::paths_info(request, commit, files)
        }
        _ => no_such_call(),
    }
}

fn info(stored: &Stored, commit: &str, files: &Files, blobs: bool) -> Answer {
    let siblings: Vec<Value> = files
        .iter()
        .map(|(path, file)| {
            let mut sibling = json!({ "rfilename": path });
            if blobs {
                sibling["size"] = json!(file.content.length());
                sibling["blobId"] = json!(file.git_id());
                if file.lfs {
                    sibling["lfs"] = json!({
                        "sha256": file.content.sha256(),
                        "size": file.content.length(),
                        "pointerSize": file.pointer().len(),
                    });
                }
            }
            sibling
        })
        .collect();
    let gated = match stored.access {
        Access::Gated(_) => json!("manual"),
        _ => json!(false),
    };
    json_answer(&json!({
        "_id": "000000000000000000000000",
        "id": stored.name,
        "modelId": stored.name,
        "author": stored.name.split('/').next(),
        "sha": commit,
        "lastModified": "2026-01-01T00:00:00.000Z",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "private": matches!(stored.access, Access::Private(_)),
        "gated": gated,
        "disabled": false,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": siblings,
    }))
}

fn refs(stored: &Stored) -> Answer {
    let list = |kind: &str, refs: &std::collections::BTreeMap<String, String>| -> Vec<Value> {
        refs.iter()
            .map(|(name, commit)| {
                json!({
                    "name": name,
                    "ref": format!("refs/{kind}/{name}"),
                    "targetCommit": commit,
                })
            })
            .collect()
    };
    json_answer(&json!({
        "branches": list("heads", &stored.branches),
        "tags": list("tags", &stored.tags),
        "converts": [],
        "pullRequests": [],
    }))
}
