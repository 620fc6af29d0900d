//! The hub, the account and the cache: the Python client's environment variables, with its meanings.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;

use crate::error::FetchError;

/// The hub's CDN refuses more than 50 GB in one plain answer (`MAX_HTTP_DOWNLOAD_SIZE` of the
/// Python client, which refuses larger files without Xet); by ranges it serves everything.
const MAX_RANGE_BYTES: u64 = 40_000_000_000;

/// The hub's address, the account, and the cache of files.
#[derive(Debug, Clone)]
pub struct HubSettings {
    /// The hub's address, `https://huggingface.co` by default.
    pub endpoint: Url,
    /// The account's token; none for anonymous requests.
    pub token: Option<Token>,
    /// The file that a token would be read from, for advice.
    pub token_path: PathBuf,
    /// The cache, which has the `models--owner--name` directories.
    pub cache: PathBuf,
    /// Whether requests are disabled (`HF_HUB_OFFLINE`): only the cache is used.
    pub offline: bool,
    /// Reads files that are in the hub's Xet store from there.
    pub xet: bool,
    /// The most bytes in one plain request.
    pub max_range: u64,
    /// The wait after the first attempt that brings no byte; it doubles.
    pub retry_delay: Duration,
    /// A connection that is silent for so long is cut.
    pub read_timeout: Duration,
}

/// A token and its source. Its value is never shown.
#[derive(Clone)]
pub struct Token {
    /// The value, for a request's header.
    pub(crate) value: String,
    /// The variable or file that it was read from.
    pub source: String,
}

impl Token {
    /// Returns a token; `source` names its variable or file.
    pub fn new(value: impl Into<String>, source: impl Into<String>) -> Self {
        Self { value: value.into(), source: source.into() }
    }

    /// Returns its value, to search for it in what must not have it.
    pub fn secret_value(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Token(from {})", self.source)
    }
}

impl HubSettings {
    /// Returns the settings of a hub at `endpoint` and a cache, without a token.
    ///
    /// # Errors
    /// If the endpoint is no URL.
    pub fn new(endpoint: &str, cache: impl Into<PathBuf>) -> Result<Self, FetchError> {
        let cache_path = cache.into();
        Ok(Self {
            endpoint: parse_endpoint(endpoint)?,
            token: None,
            token_path: PathBuf::new(),
            // Its files are mounted into containers, which know no working directory.
            cache: std::path::absolute(&cache_path).unwrap_or(cache_path),
            offline: false,
            xet: true,
            max_range: MAX_RANGE_BYTES,
            retry_delay: Duration::from_secs(1),
            read_timeout: Duration::from_secs(30),
        })
    }

    /// Reads this process's environment.
    ///
    /// # Errors
    /// If the endpoint is no URL.
    pub fn from_environment() -> Result<Self, FetchError> {
        Self::from_lookup(&|name| std::env::var(name).ok())
    }

    fn from_lookup(look: &dyn Fn(&str) -> Option<String>) -> Result<Self, FetchError> {
        let path = |name: &str| look(name).map(|text| expand_path(&text, look));
        let home = path("HF_HOME").unwrap_or_else(|| {
            path("XDG_CACHE_HOME")
                .unwrap_or_else(|| expand_path("~/.cache", look))
                .join("huggingface")
        });
        let cache = path("HF_HUB_CACHE")
            .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
            .unwrap_or_else(|| home.join("hub"));
        let token_path = path("HF_TOKEN_PATH").unwrap_or_else(|| home.join("token"));
        let endpoint = look("HF_ENDPOINT").filter(|text| !text.trim().is_empty());
        let mut settings =
            Self::new(endpoint.as_deref().unwrap_or("https://huggingface.co"), cache)?;
        let is_set = |name: &str| look(name).is_some_and(|text| is_true(&text));
        if !is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            settings.token = find_token(look, &token_path);
        }
        settings.xet = !is_set("HF_HUB_DISABLE_XET");
        settings.token_path = token_path;
        settings.offline = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"]
            .iter()
            .find_map(|name| look(name).filter(|text| !text.is_empty()))
            .is_some_and(|text| is_true(&text));
        if let Some(seconds) = look("HF_HUB_DOWNLOAD_TIMEOUT").and_then(|text| text.parse().ok()) {
            settings.read_timeout = Duration::from_secs(seconds);
        }
        Ok(settings)
    }
}

fn parse_endpoint(text: &str) -> Result<Url, FetchError> {
    let invalid = |reason: String| FetchError::Endpoint { endpoint: text.to_owned(), reason };
    let url = Url::parse(text.trim().trim_end_matches('/'))
        .map_err(|error| invalid(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("it starts with neither http:// nor https://".to_owned()));
    }
    Ok(url)
}

/// The token of the environment, else of the file that `hf auth login` writes.
fn find_token(look: &dyn Fn(&str) -> Option<String>, path: &Path) -> Option<Token> {
    let clean = |text: String| {
        let cleaned = text.replace(['\r', '\n'], "").trim().to_owned();
        (!cleaned.is_empty()).then_some(cleaned)
    };
    for name in ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"] {
        if let Some(value) = look(name).and_then(clean) {
            return Some(Token::new(value, name));
        }
    }
    let value = std::fs::read_to_string(path).ok().and_then(clean)?;
    Some(Token::new(value, path.display().to_string()))
}

fn is_true(text: &str) -> bool {
    matches!(text.to_ascii_uppercase().as_str(), "1" | "ON" | "YES" | "TRUE")
}

/// Expands `~`, `$NAME` and `${NAME}`; as in the Python client, an unknown name stays.
fn expand_path(text: &str, look: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    let expanded =
        shellexpand::full_with_context_no_errors(text, || look("HOME"), |name| look(name));
    PathBuf::from(expanded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> HubSettings {
        let variables: Vec<(String, String)> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        HubSettings::from_lookup(&|name| {
            let variable = variables.iter().find(|(key, _)| key == name);
            variable.map(|(_, value)| value.clone())
        })
        .unwrap()
    }

    #[test]
    fn the_cache_directory_follows_the_python_clients_variables() {
        let cache = |variables: &[(&str, &str)]| settings(variables).cache.display().to_string();
        let home = ("HOME", "/home/me");
        assert_eq!(cache(&[home]), "/home/me/.cache/huggingface/hub");
        assert_eq!(cache(&[home, ("XDG_CACHE_HOME", "/c")]), "/c/huggingface/hub");
        assert_eq!(cache(&[home, ("HF_HOME", "~/hf")]), "/home/me/hf/hub");
        assert_eq!(
            cache(&[("HF_HOME", "/hf"), ("HF_HUB_CACHE", "$D/${E}/$N"), ("D", "/d"), ("E", "e")]),
            "/d/e/$N"
        );
        assert_eq!(cache(&[("HUGGINGFACE_HUB_CACHE", "/old")]), "/old");
    }

    #[test]
    fn the_endpoint_must_be_an_http_address() {
        let endpoint = |text: &str| settings(&[("HF_ENDPOINT", text)]).endpoint.to_string();
        assert_eq!(endpoint("http://127.0.0.1:9000/"), "http://127.0.0.1:9000/");
        assert_eq!(endpoint("https://mirror/hub/"), "https://mirror/hub");
        assert_eq!(endpoint(""), "https://huggingface.co/");
        assert!(HubSettings::new("huggingface.co", "/c").is_err());
        assert!(HubSettings::new("ftp://huggingface.co", "/c").is_err());
    }

    #[test]
    fn the_token_is_read_from_environment_then_file_and_redacted() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        std::fs::write(&file, "hf_file\n").unwrap();
        let home = directory.path().display().to_string();
        let of_file = settings(&[("HF_HOME", &home)]).token.unwrap();
        assert_eq!(of_file.value, "hf_file");
        assert_eq!(of_file.source, file.display().to_string());
        let of_variable = settings(&[("HF_HOME", &home), ("HF_TOKEN", " hf_variable ")]);
        assert!(!format!("{of_variable:?}").contains("hf_variable"));
        assert_eq!(of_variable.token.unwrap().value, "hf_variable");
        let elsewhere = settings(&[("HF_TOKEN_PATH", &file.display().to_string())]);
        assert_eq!(elsewhere.token.unwrap().value, "hf_file");
        let none = settings(&[("HF_TOKEN", "hf_x"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]);
        assert!(none.token.is_none());
    }

    #[test]
    fn xet_is_used_unless_it_is_disabled() {
        assert!(settings(&[]).xet);
        assert!(!settings(&[("HF_HUB_DISABLE_XET", "1")]).xet);
    }

    #[test]
    fn either_variable_switches_requests_off() {
        assert!(settings(&[("HF_HUB_OFFLINE", "yes")]).offline);
        assert!(settings(&[("TRANSFORMERS_OFFLINE", "1")]).offline);
        assert!(!settings(&[("HF_HUB_OFFLINE", "0")]).offline);
        assert!(!settings(&[]).offline);
    }
}
