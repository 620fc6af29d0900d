//! What a refusal of the hub means, and what to do about it.

use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::error::{FetchError, printable};
use crate::settings::Settings;

/// What is asked of the hub.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// `owner/name`
    pub repository: &'a str,
    /// Branch, tag or commit.
    pub revision: &'a str,
    /// A file, where it is one.
    pub path: Option<&'a str>,
}

impl Ask<'_> {
    /// It in words.
    pub fn words(&self) -> String {
        match self.path {
            Some(path) => format!("{path} of {}", self.repository),
            None => format!("{} at {}", self.repository, self.revision),
        }
    }
}

/// An answer that is no success, or none at all.
#[derive(Debug)]
pub enum Trouble {
    /// It may pass.
    Passing {
        /// What happened.
        because: String,
        /// The hub answered: it is there.
        answered: bool,
        /// How long the hub asks to wait.
        wait: Option<std::time::Duration>,
    },
    /// It stays.
    Lasting(FetchError),
}

/// What an answer means that is no success. `behind`: it is not the hub's own, but that of the
/// store that the hub sent us to, whose links run out.
pub fn meaning(
    settings: &Settings,
    ask: &Ask<'_>,
    status: StatusCode,
    headers: &HeaderMap,
    body: &str,
    behind: bool,
) -> Trouble {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let code = header("x-error-code").unwrap_or_default();
    let words = header("x-error-message").map_or_else(|| of_body(body), str::to_owned);
    let passes = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        );
    if passes || behind {
        let who = if behind { "the store behind it" } else { "it" };
        return Trouble::Passing {
            because: format!("{who} answers {status}"),
            answered: true,
            wait: crate::wait::asked(headers, jiff::Timestamp::now()),
        };
    }
    Trouble::Lasting(match status {
        StatusCode::UNAUTHORIZED => unauthorized(settings, ask, code, &words),
        StatusCode::FORBIDDEN => forbidden(settings, ask, code, &words),
        StatusCode::NOT_FOUND => missing(settings, ask, code),
        _ => FetchError::Malformed {
            what: ask.words(),
            because: format!("it answers {status}{}", lead(&words)),
        },
    })
}

fn unauthorized(settings: &Settings, ask: &Ask<'_>, code: &str, words: &str) -> FetchError {
    let (page, where_to) = (page(settings, ask), where_to_put(settings));
    let (because, advice) = match &settings.token {
        // A token that is not known is refused whatever is asked for.
        Some(token) if code != "GatedRepo" => (
            format!("it does not accept the token of {}{}", token.from(), lead(words)),
            format!("make a new one at {}, and {where_to}", tokens(settings)),
        ),
        None if code == "GatedRepo" => (
            "it is gated, and there is no token".to_owned(),
            format!("visit {page} and ask for access there, then {where_to}"),
        ),
        _ => (
            "it is private or gated, or there is no such repository, and without a token the hub does not say which".to_owned(),
            format!("look at the name at {page}; for one that is private or gated, {where_to}"),
        ),
    };
    FetchError::Unauthorized {
        repository: ask.repository.to_owned(),
        because,
        advice,
    }
}

fn forbidden(settings: &Settings, ask: &Ask<'_>, code: &str, words: &str) -> FetchError {
    let page = page(settings, ask);
    let (because, advice) = match (&settings.token, code) {
        (Some(token), "GatedRepo") => (
            format!(
                "it is gated, and the account of the token of {} has no access",
                token.from()
            ),
            format!(
                "visit {page} and ask for access there, or use another account's token; a fine-grained token also needs the right to read gated repositories"
            ),
        ),
        (None, "GatedRepo") => (
            "it is gated, and there is no token".to_owned(),
            format!(
                "visit {page} and ask for access there, then {}",
                where_to_put(settings)
            ),
        ),
        (Some(token), _) => (
            or(words, "it is not allowed"),
            format!(
                "does the token of {} have the right to read it? see {} and {page}",
                token.from(),
                tokens(settings)
            ),
        ),
        (None, _) => (
            or(words, "it is not allowed"),
            format!(
                "there is no token: see {page}, and {}",
                where_to_put(settings)
            ),
        ),
    };
    FetchError::Forbidden {
        repository: ask.repository.to_owned(),
        because,
        advice,
    }
}

fn missing(settings: &Settings, ask: &Ask<'_>, code: &str) -> FetchError {
    let page = page(settings, ask);
    let Ask {
        repository,
        revision,
        path,
    } = *ask;
    let (what, advice) = match (code, path) {
        ("RevisionNotFound", _) => (
            format!("revision {revision:?} of {repository}"),
            format!("its branches and tags: {page}/tree/main"),
        ),
        ("EntryNotFound", Some(path)) => (
            format!("{path} in {repository} at {revision}"),
            "it listed the file before; try again, and look whether the repository is being changed".to_owned(),
        ),
        _ => {
            let token = match &settings.token {
                Some(token) => format!("or private to others than the account of the token of {}", token.from()),
                None => format!("or private; then {}", where_to_put(settings)),
            };
            (
                format!("repository {repository}"),
                format!("look at the name at {page}; it may be gone, {token}"),
            )
        }
    };
    FetchError::Missing { what, advice }
}

/// Where a person sees the repository.
pub fn page(settings: &Settings, ask: &Ask<'_>) -> String {
    format!("{}/{}", root(settings), ask.repository)
}

fn tokens(settings: &Settings) -> String {
    format!("{}/settings/tokens", root(settings))
}

fn root(settings: &Settings) -> &str {
    settings.endpoint.as_str().trim_end_matches('/')
}

fn where_to_put(settings: &Settings) -> String {
    format!(
        "set HF_TOKEN or put a token into {} (hf auth login)",
        settings.token_path.display()
    )
}

/// The hub's own words in a body, which is JSON with an `error`.
fn of_body(body: &str) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let error = parsed.as_ref().and_then(|value| value["error"].as_str());
    error.unwrap_or_default().to_owned()
}

fn lead(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(": {}", printable(words))
    }
}

fn or(words: &str, other: &str) -> String {
    if words.is_empty() {
        other.to_owned()
    } else {
        printable(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Token;

    fn told(token: bool, status: u16, code: &'static str, words: &'static str) -> String {
        let mut settings = Settings::new("https://hub.example", "/cache").unwrap();
        settings.token_path = "/home/me/token".into();
        settings.token = token.then(|| Token::new("hf_secret", "HF_TOKEN"));
        let ask = Ask {
            repository: "owner/name",
            revision: "v2",
            path: None,
        };
        let headers = [("x-error-code", code)]
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let body = serde_json::json!({ "error": words }).to_string();
        let status = StatusCode::from_u16(status).unwrap();
        match meaning(&settings, &ask, status, &headers, &body, false) {
            Trouble::Lasting(error) => error.to_string(),
            Trouble::Passing { because, .. } => because,
        }
    }

    #[test]
    fn what_a_user_reads() {
        let texts = [
            told(false, 401, "RepoNotFound", ""),
            told(false, 401, "GatedRepo", ""),
            told(true, 401, "", "Invalid credentials in Authorization header"),
            told(true, 403, "GatedRepo", ""),
            told(true, 403, "", "Your token lacks a permission"),
            told(true, 404, "RepoNotFound", ""),
            told(false, 404, "RevisionNotFound", ""),
            told(false, 418, "", "\u{1b}[31mteapot"),
            told(false, 503, "", ""),
        ];
        assert!(texts.iter().all(|text| !text.contains("hf_secret")));
        insta::assert_snapshot!(texts.join("\n"));
    }
}
