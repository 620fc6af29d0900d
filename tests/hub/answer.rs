//! Answers, and the headers that the hub puts on them.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

/// What goes back to the client.
pub type Answer = Response<Body>;

/// Sets a header from text.
pub fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
    headers.insert(HeaderName::from_static(name), value);
}

/// An answer with a text.
pub fn text(status: StatusCode, kind: &str, body: String) -> Answer {
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    set(answer.headers_mut(), "content-type", kind);
    answer
}

/// An answer with JSON.
pub fn json_answer(value: &Value) -> Answer {
    text(StatusCode::OK, "application/json; charset=utf-8", value.to_string())
}

/// A refusal as the hub words it: a code and a sentence in headers, the sentence in the body.
pub fn refusal(status: StatusCode, code: Option<&str>, message: &str) -> Answer {
    let body = json!({ "error": message }).to_string();
    let mut answer = text(status, "application/json; charset=utf-8", body);
    let headers = answer.headers_mut();
    if let Some(code) = code {
        set(headers, "x-error-code", code);
    }
    set(headers, "x-error-message", message);
    if status == StatusCode::UNAUTHORIZED {
        set(
            headers,
            "www-authenticate",
            "Bearer realm=\"Authentication required\", charset=\"UTF-8\"",
        );
    }
    answer
}

/// A redirect as Express words it.
pub fn redirect(status: StatusCode, location: &str) -> Answer {
    let reason = status.canonical_reason().unwrap_or_default();
    let mut answer =
        text(status, "text/plain; charset=utf-8", format!("{reason}. Redirecting to {location}"));
    set(answer.headers_mut(), "location", location);
    answer
}

/// A CDN's refusal, in S3's XML.
pub fn xml(status: StatusCode, code: &str, message: &str) -> Answer {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    );
    text(status, "application/xml", body)
}
