//! Classifies failed requests, with the user's remedies.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use xet::XetError;

use crate::error::{FetchError, strip_control_characters};
use crate::retry_after::requested_wait;
use crate::settings::HubSettings;

/// The object of a request to the hub.
#[derive(Debug, Clone, Copy)]
pub struct HubRequest<'a> {
    /// The repository that the request is about, `owner/name`.
    pub repository: &'a str,
    /// Branch, tag or commit.
    pub revision: &'a str,
    pub path: Option<&'a str>,
}

impl HubRequest<'_> {
    /// Returns its subject, for messages.
    pub fn subject(&self) -> String {
        match self.path {
            Some(path) => format!("{path} of {}", self.repository),
            None => format!("{} at {}", self.repository, self.revision),
        }
    }

    /// Returns the error of an answer that is of no use.
    pub fn malformed_answer(&self, reason: &str) -> FetchError {
        FetchError::Malformed { subject: self.subject(), reason: reason.to_owned() }
    }
}

/// The failure of a request that brought nothing, or not everything.
#[derive(Debug)]
pub enum RequestFailure {
    /// A later attempt may succeed.
    Transient {
        /// The fault, as a fragment.
        reason: String,
        /// The server answered, so it can be reached.
        answered: bool,
        /// The wait that the server requests.
        retry_after: Option<Duration>,
    },
    /// Every attempt would fail.
    Permanent(FetchError),
}

impl From<FetchError> for RequestFailure {
    fn from(error: FetchError) -> Self {
        Self::Permanent(error)
    }
}

impl RequestFailure {
    /// Returns the failure of an answer that is of no use this time.
    pub fn unusable_answer(reason: impl Into<String>) -> Self {
        Self::Transient { reason: reason.into(), answered: true, retry_after: None }
    }

    /// Returns the failure of a transfer from the Xet store.
    pub fn from_xet(error: &XetError) -> Self {
        let message = error.to_string();
        // Its addresses carry signatures, after the `?`.
        let text = message.split('?').next().unwrap_or_default();
        Self::unusable_answer(format!("the Xet store failed: {}", strip_control_characters(text)))
    }
}

/// Classifies an answer that is no success. `redirected`: it is not the hub's own, but that of the
/// store that the hub's signed link leads to, which expires.
pub fn classify_failure(
    settings: &HubSettings,
    request: &HubRequest<'_>,
    status: StatusCode,
    headers: &HeaderMap,
    body: &str,
    redirected: bool,
) -> RequestFailure {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let code = header("x-error-code").unwrap_or_default();
    let message =
        header("x-error-message").map_or_else(|| parse_error_message(body), str::to_owned);
    let message = strip_control_characters(&message);
    let transient = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        );
    if transient || redirected {
        let server = if redirected { "the hub's file store" } else { "the hub" };
        return RequestFailure::Transient {
            reason: format!("{server} returned {status}"),
            answered: true,
            retry_after: requested_wait(headers, jiff::Timestamp::now()),
        };
    }
    RequestFailure::Permanent(match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            refusal_error(settings, request, status, code, message)
        }
        StatusCode::NOT_FOUND => missing_error(settings, request, code),
        _ if message.is_empty() => request.malformed_answer(&format!("the hub returned {status}")),
        _ => request.malformed_answer(&format!("the hub returned {status}: {message}")),
    })
}

fn refusal_error(
    settings: &HubSettings,
    request: &HubRequest<'_>,
    status: StatusCode,
    code: &str,
    message: String,
) -> FetchError {
    let page = repository_page(settings, request.repository);
    let tokens = format!("{}/settings/tokens", endpoint_root(settings));
    let set_token = token_advice(settings);
    let gated = code == "GatedRepo";
    let unauthorized = status == StatusCode::UNAUTHORIZED;
    let reason = if message.is_empty() { "access is not allowed".to_owned() } else { message };
    let (reason, advice) = match &settings.token {
        None if gated => (
            "it is gated, and there is no token".to_owned(),
            format!("visit {page} and request access, then {set_token}"),
        ),
        Some(token) if gated => (
            format!("it is gated, and the account of the token of {} has no access", token.source),
            format!(
                "visit {page} and request access, or use another account's token; a fine-grained token also needs the permission to read gated repositories"
            ),
        ),
        // The hub refuses an unknown token for every request.
        Some(token) if unauthorized => (
            format!("it rejects the token of {}: {reason}", token.source),
            format!("create a new one at {tokens}, and {set_token}"),
        ),
        None if unauthorized => (
            "it is private or gated, or does not exist; without a token the hub does not say which"
                .to_owned(),
            format!("check the name at {page}; for a private or gated repository, {set_token}"),
        ),
        Some(token) => (
            reason,
            format!("check that the token of {} may read it: {tokens} and {page}", token.source),
        ),
        None => (reason, format!("there is no token: see {page}, and {set_token}")),
    };
    FetchError::Refused {
        status: status.as_u16(),
        repository: request.repository.to_owned(),
        reason,
        advice,
    }
}

fn missing_error(settings: &HubSettings, request: &HubRequest<'_>, code: &str) -> FetchError {
    let page = repository_page(settings, request.repository);
    let HubRequest { repository, revision, path } = *request;
    let (subject, advice) = match (code, path) {
        ("RevisionNotFound", _) => (
            format!("revision {revision:?} of {repository}"),
            format!("its branches and tags: {page}/tree/main"),
        ),
        ("EntryNotFound", Some(path)) => (
            format!("{path} in {repository} at {revision}"),
            "the hub listed the file before; try again, and check whether the repository is being changed".to_owned(),
        ),
        _ => {
            let private = match &settings.token {
                Some(token) => format!("private to other accounts than that of the token of {}", token.source),
                None => format!("private; in that case {}", token_advice(settings)),
            };
            (
                format!("repository {repository}"),
                format!("check the name at {page}; it may be deleted, or {private}"),
            )
        }
    };
    FetchError::Missing { subject, is_file: code == "EntryNotFound" && path.is_some(), advice }
}

/// Returns the address of the repository's page, for people.
pub fn repository_page(settings: &HubSettings, repository: &str) -> String {
    format!("{}/{repository}", endpoint_root(settings))
}

fn endpoint_root(settings: &HubSettings) -> &str {
    settings.endpoint.as_str().trim_end_matches('/')
}

fn token_advice(settings: &HubSettings) -> String {
    let path = settings.token_path.display();
    format!("set HF_TOKEN or put a token into {path} (hf auth login)")
}

/// The hub's message in a body, which is JSON with an `error`.
fn parse_error_message(body: &str) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let error = parsed.as_ref().and_then(|value| value["error"].as_str());
    error.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use super::*;
    use crate::settings::Token;

    fn message(token: bool, status: u16, code: &'static str, words: &'static str) -> String {
        let mut settings = HubSettings::new("https://hub.example", "/cache").unwrap();
        settings.token_path = "/home/me/token".into();
        settings.token = token.then(|| Token::new("hf_secret", "HF_TOKEN"));
        let request = HubRequest { repository: "owner/name", revision: "v2", path: None };
        let headers = [("x-error-code", code)]
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let body = serde_json::json!({ "error": words }).to_string();
        let status = StatusCode::from_u16(status).unwrap();
        match classify_failure(&settings, &request, status, &headers, &body, false) {
            RequestFailure::Permanent(error) => match error.help() {
                Some(help) => format!("{error}\n  {help}"),
                None => error.to_string(),
            },
            RequestFailure::Transient { reason, .. } => reason,
        }
    }

    #[test]
    fn refusals_name_the_next_step_without_the_token() {
        let texts = [
            message(false, 401, "RepoNotFound", ""),
            message(false, 401, "GatedRepo", ""),
            message(true, 401, "", "Invalid credentials in Authorization header"),
            message(true, 403, "GatedRepo", ""),
            message(true, 403, "", "Your token lacks a permission"),
            message(true, 404, "RepoNotFound", ""),
            message(false, 404, "RevisionNotFound", ""),
            message(false, 418, "", "\u{1b}[31mteapot"),
            message(false, 503, "", ""),
        ];
        assert!(texts.iter().all(|text| !text.contains("hf_secret")));
        insta::assert_snapshot!(texts.join("\n"));
    }
}
