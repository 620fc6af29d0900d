//! A request taken apart, the fault that was ordered for it, and the log.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::body::{Body, to_bytes};
use axum::extract::Request as Incoming;
use axum::http::{HeaderMap, Method, StatusCode};
use bytes::Bytes;
use futures_util::stream;
use reqwest::Url;

use super::access::Caller;
use super::answer::{Answer, redirect, refusal, set, text};
use super::fault::{Fault, Place};
use super::log::Request;
use super::state::State;
use super::{api, cdn, order, resolve};

/// The most that a request's body may hold.
const MOST: usize = 1 << 20;

/// A request, parsed.
#[derive(Debug)]
pub struct ParsedRequest {
    pub method: Method,
    /// The path as it was sent, with its query.
    pub raw: String,
    /// The path's parts, each decoded: `refs%2Fpr%2F1` is one.
    pub segments: Vec<String>,
    pub query: HashMap<String, String>,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub caller: Caller,
    pub sent: Arc<AtomicU64>,
    place: Place,
    repository: String,
    file: Option<String>,
}

impl ParsedRequest {
    async fn new(state: &State, incoming: Incoming) -> Self {
        let (head, body) = incoming.into_parts();
        let raw = head.uri.path_and_query().map_or("/", |both| both.as_str());
        let url = Url::parse(&format!("http://hub{raw}")).unwrap();
        let segments = url.path().split('/').skip(1).map(decoded).collect();
        let query = url.query_pairs().into_owned().collect();
        Self {
            method: head.method,
            raw: raw.to_owned(),
            segments,
            query,
            caller: state.caller(&head.headers),
            headers: head.headers,
            body: to_bytes(body, MOST).await.unwrap_or_default(),
            sent: Arc::default(),
            place: Place::Other,
            repository: String::new(),
            file: None,
        }
    }

    /// What the request is about, for the log.
    pub fn about(&mut self, place: Place, repository: &str, file: Option<&str>) {
        self.place = place;
        repository.clone_into(&mut self.repository);
        self.file = file.map(str::to_owned);
    }

    /// A query's flag, in Python's words and in everybody else's.
    pub fn flag(&self, name: &str) -> bool {
        let value = self.query.get(name).map(|value| value.to_lowercase());
        matches!(value.as_deref(), Some("true" | "1"))
    }

    /// The whole answer of a fault that replaces the regular answer.
    pub fn refused(&self, fault: &Fault) -> Option<Answer> {
        let hurry = "We had to rate limit your IP. To continue using our service, create a HF account or login to your existing account.";
        Some(match fault {
            Fault::Busy(wait) => {
                let mut answer = refusal(StatusCode::TOO_MANY_REQUESTS, None, hurry);
                let headers = answer.headers_mut();
                let kind = bucket(&self.segments);
                set(headers, "retry-after", &wait.to_string());
                set(headers, "ratelimit", &format!("\"{kind}\";r=0;t={wait}"));
                answer
            }
            Fault::Unavailable(wait) => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                let mut answer = text(status, "text/html", "<h1>503</h1>".to_owned());
                set(answer.headers_mut(), "retry-after", &wait.to_string());
                answer
            }
            Fault::Status(status) => {
                let status = StatusCode::from_u16(*status).unwrap();
                text(status, "text/plain", format!("{status}\n"))
            }
            Fault::Page => text(
                StatusCode::OK,
                "text/html",
                "<html><title>Sign in to the network</title></html>".to_owned(),
            ),
            Fault::Expired => cdn::denied(),
            Fault::Silence => {
                // A body that fails before its first byte: the connection is dropped unanswered
                // where nothing was flushed, and after the head at the latest.
                let broken = stream::once(async { Err::<Bytes, _>(std::io::Error::other("cut")) });
                Answer::new(Body::from_stream(broken))
            }
            Fault::Redirect(location) => redirect(StatusCode::TEMPORARY_REDIRECT, location),
            _ => return None,
        })
    }
}

fn decoded(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = segment
            .get(at + 1..at + 3)
            .filter(|_| bytes[at] == b'%')
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        out.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Which of the hub's limits a path counts against.
fn bucket(segments: &[String]) -> &'static str {
    let resolves = |part: &String| part == "resolve" || part == "resolve-cache";
    if segments.iter().any(resolves) {
        "resolvers"
    } else if segments.first().is_some_and(|first| first == "api") {
        "api"
    } else {
        "pages"
    }
}

/// Answers a request to the hub.
pub async fn hub(state: Arc<State>, incoming: Incoming) -> Answer {
    let mut request = ParsedRequest::new(&state, incoming).await;
    if request.segments.first().is_some_and(|first| first == "-") {
        return order::serve(&state, &request);
    }
    let mut answer = if request.segments.first().is_some_and(|first| first == "api") {
        api::serve(&state, &mut request)
    } else {
        resolve::serve(&state, &mut request)
    };
    let kind = bucket(&request.segments);
    let headers = answer.headers_mut();
    set(headers, "x-request-id", "Root=1-00000000-000000000000000000000000");
    let policy = format!("\"fixed window\";\"{kind}\";q=3000;w=300");
    set(headers, "ratelimit-policy", &policy);
    if !headers.contains_key("ratelimit") {
        set(headers, "ratelimit", &format!("\"{kind}\";r=2998;t=172"));
    }
    log(&state, request, &answer);
    answer
}

/// Answers a request to the CDN.
pub async fn cdn(state: Arc<State>, incoming: Incoming) -> Answer {
    let mut request = ParsedRequest::new(&state, incoming).await;
    let answer = cdn::serve(&state, &mut request);
    log(&state, request, &answer);
    answer
}

fn log(state: &State, request: ParsedRequest, answer: &Answer) {
    let header = |name: &str| {
        let value = request.headers.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    let entry = Request {
        range: header("range"),
        user_agent: header("user-agent").unwrap_or_default(),
        authorized: request.headers.contains_key("authorization"),
        method: request.method.to_string(),
        path: request.raw,
        repository: request.repository,
        file: request.file,
        place: request.place,
        status: answer.status().as_u16(),
        sent: request.sent,
    };
    state.lock().requests.push(entry);
}
