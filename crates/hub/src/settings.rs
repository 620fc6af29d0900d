//! What the environment says of the hub: the Python client's variables, with its meanings.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;

use crate::error::FetchError;

/// Files that are fetched at the same time, as the Python client does it.
const PARALLEL: usize = 8;
/// The hub's CDN gives no more than 50 GB at once by plain requests (`MAX_HTTP_DOWNLOAD_SIZE` of
/// the Python client, which refuses larger files without Xet); by ranges it gives everything.
const AT_ONCE: u64 = 40_000_000_000;

/// How to reach the hub, as whom, and where its files are kept.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the hub is.
    pub endpoint: Url,
    /// As whom to ask.
    pub token: Option<Token>,
    /// Where a token would be read from, for advice.
    pub token_path: PathBuf,
    /// The cache: `models--owner--name` lie in it.
    pub cache: PathBuf,
    /// Nothing may be asked of the hub.
    pub offline: bool,
    /// Files at the same time.
    pub parallel: usize,
    /// Bytes that are asked for at once.
    pub at_once: u64,
    /// How often and how long to try.
    pub patience: Patience,
}

/// How often and how long to try.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Tries in a row that bring no byte.
    pub tries: u32,
    /// The pause after the first of them; it doubles.
    pub pause: Duration,
    /// A connection that is silent for so long is cut.
    pub silence: Duration,
    /// The longest wait that the hub may ask for.
    pub longest_wait: Duration,
    /// How often a file that does not match is fetched in all.
    pub fetches: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            tries: 6,
            pause: Duration::from_secs(1),
            silence: Duration::from_secs(30),
            longest_wait: Duration::from_mins(15),
            fetches: 3,
        }
    }
}

/// A token, and where it came from. Its value is never shown.
#[derive(Clone)]
pub struct Token {
    value: String,
    from: String,
}

impl Token {
    /// A token; `from` names its variable or file.
    pub fn new(value: impl Into<String>, from: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            from: from.into(),
        }
    }

    /// The value, for a request's header.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    /// Where it came from.
    #[must_use]
    pub fn from(&self) -> &str {
        &self.from
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Token(from {})", self.from)
    }
}

impl Settings {
    /// A hub at `endpoint` and a cache, without a token.
    ///
    /// # Errors
    /// Where the endpoint is no URL.
    pub fn new(endpoint: &str, cache: impl Into<PathBuf>) -> Result<Self, FetchError> {
        let cache = cache.into();
        Ok(Self {
            endpoint: url(endpoint)?,
            token: None,
            token_path: PathBuf::new(),
            // What lies in it is mounted into containers, which knows no working directory.
            cache: std::path::absolute(&cache).unwrap_or(cache),
            offline: false,
            parallel: PARALLEL,
            at_once: AT_ONCE,
            patience: Patience::default(),
        })
    }

    /// What this process's environment says.
    ///
    /// # Errors
    /// Where the endpoint is no URL.
    pub fn from_environment() -> Result<Self, FetchError> {
        Self::of(&|name| std::env::var(name).ok())
    }

    /// What an environment says.
    fn of(look: &dyn Fn(&str) -> Option<String>) -> Result<Self, FetchError> {
        let path = |name: &str| look(name).map(|text| expand(&text, look));
        let home = path("HF_HOME").unwrap_or_else(|| {
            path("XDG_CACHE_HOME")
                .unwrap_or_else(|| expand("~/.cache", look))
                .join("huggingface")
        });
        let cache = path("HF_HUB_CACHE")
            .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
            .unwrap_or_else(|| home.join("hub"));
        let token_path = path("HF_TOKEN_PATH").unwrap_or_else(|| home.join("token"));
        let endpoint = look("HF_ENDPOINT").filter(|text| !text.trim().is_empty());
        let mut settings = Self::new(
            endpoint.as_deref().unwrap_or("https://huggingface.co"),
            cache,
        )?;
        if !look("HF_HUB_DISABLE_IMPLICIT_TOKEN").is_some_and(|text| is_true(&text)) {
            settings.token = token(look, &token_path);
        }
        settings.token_path = token_path;
        settings.offline = ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"]
            .iter()
            .find_map(|name| look(name).filter(|text| !text.is_empty()))
            .is_some_and(|text| is_true(&text));
        if let Some(seconds) = look("HF_HUB_DOWNLOAD_TIMEOUT").and_then(|text| text.parse().ok()) {
            settings.patience.silence = Duration::from_secs(seconds);
        }
        Ok(settings)
    }
}

fn url(text: &str) -> Result<Url, FetchError> {
    let wrong = |because: String| FetchError::Endpoint {
        endpoint: text.to_owned(),
        because,
    };
    let url =
        Url::parse(text.trim().trim_end_matches('/')).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong(
            "it begins with neither http:// nor https://".to_owned(),
        ));
    }
    Ok(url)
}

/// The token of the environment, else of the file that `hf auth login` writes.
fn token(look: &dyn Fn(&str) -> Option<String>, path: &Path) -> Option<Token> {
    let clean = |text: String| {
        let text = text.replace(['\r', '\n'], "").trim().to_owned();
        (!text.is_empty()).then_some(text)
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
    matches!(
        text.to_ascii_uppercase().as_str(),
        "1" | "ON" | "YES" | "TRUE"
    )
}

/// `~`, `$NAME` and `${NAME}`, as the Python client expands them: an unknown name stays.
fn expand(text: &str, look: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    let text = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", look("HOME").unwrap_or_else(|| "~".to_owned()))
        }
        _ => text.to_owned(),
    };
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let (name, left) = match after
            .strip_prefix('{')
            .and_then(|text| text.split_once('}'))
        {
            Some((name, left)) => (name, left),
            None => after.split_at(after.find(|c| !is_name(c)).unwrap_or(after.len())),
        };
        match look(name) {
            Some(value) if !name.is_empty() => out.push_str(&value),
            _ => {
                out.push('$');
                out.push_str(&after[..after.len() - left.len()]);
            }
        }
        rest = left;
    }
    out.push_str(rest);
    PathBuf::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        let variables: Vec<(String, String)> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Settings::of(&|name| {
            let found = variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        })
        .unwrap()
    }

    #[test]
    fn where_the_cache_is() {
        let cache = |variables: &[(&str, &str)]| settings(variables).cache.display().to_string();
        let home = ("HOME", "/home/me");
        assert_eq!(cache(&[home]), "/home/me/.cache/huggingface/hub");
        assert_eq!(
            cache(&[home, ("XDG_CACHE_HOME", "/c")]),
            "/c/huggingface/hub"
        );
        assert_eq!(cache(&[home, ("HF_HOME", "~/hf")]), "/home/me/hf/hub");
        assert_eq!(
            cache(&[
                ("HF_HOME", "/hf"),
                ("HF_HUB_CACHE", "$D/${E}/$N"),
                ("D", "/d"),
                ("E", "e")
            ]),
            "/d/e/$N"
        );
        assert_eq!(cache(&[("HUGGINGFACE_HUB_CACHE", "/old")]), "/old");
    }

    #[test]
    fn the_endpoint() {
        let endpoint = |text: &str| settings(&[("HF_ENDPOINT", text)]).endpoint.to_string();
        assert_eq!(endpoint("http://127.0.0.1:9000/"), "http://127.0.0.1:9000/");
        assert_eq!(endpoint("https://mirror/hub/"), "https://mirror/hub");
        assert_eq!(endpoint(""), "https://huggingface.co/");
        assert!(Settings::new("huggingface.co", "/c").is_err());
        assert!(Settings::new("ftp://huggingface.co", "/c").is_err());
    }

    #[test]
    fn a_token_comes_from_the_environment_then_from_the_file_and_is_never_shown() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        std::fs::write(&file, "hf_file\n").unwrap();
        let home = directory.path().display().to_string();
        let of_file = settings(&[("HF_HOME", &home)]).token.unwrap();
        assert_eq!(of_file.value(), "hf_file");
        assert_eq!(of_file.from(), file.display().to_string());
        let of_variable = settings(&[("HF_HOME", &home), ("HF_TOKEN", " hf_variable ")]);
        assert!(!format!("{of_variable:?}").contains("hf_variable"));
        assert_eq!(of_variable.token.unwrap().value(), "hf_variable");
        let elsewhere = settings(&[("HF_TOKEN_PATH", &file.display().to_string())]);
        assert_eq!(elsewhere.token.unwrap().value(), "hf_file");
        let none = settings(&[("HF_TOKEN", "hf_x"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]);
        assert!(none.token.is_none());
    }

    #[test]
    fn offline() {
        assert!(settings(&[("HF_HUB_OFFLINE", "yes")]).offline);
        assert!(settings(&[("TRANSFORMERS_OFFLINE", "1")]).offline);
        assert!(!settings(&[("HF_HUB_OFFLINE", "0")]).offline);
        assert!(!settings(&[]).offline);
    }
}
