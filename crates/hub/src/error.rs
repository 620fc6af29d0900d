//! What can go wrong with models of the hub. Every sentence says what to do next.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

/// A fault with the hub or its cache.
#[derive(Debug, Error)]
pub enum FetchError {
    /// `HF_ENDPOINT` is none.
    #[error(
        "HF_ENDPOINT={endpoint:?} is not the address of a hub: {because}\n  write it as https://huggingface.co, or leave it unset"
    )]
    Endpoint {
        /// What was set.
        endpoint: String,
        /// Why.
        because: String,
    },
    /// The transport cannot be set up.
    #[error(
        "failed to prepare for requests to the hub: {0}\n  look at the proxy variables and at this machine's certificates (SSL_CERT_FILE)"
    )]
    Client(String),
    /// A name that no repository or revision can have.
    #[error("{what} {name:?} cannot be one of the hub: {because}")]
    Name {
        /// `repository` or `revision`.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// Why.
        because: &'static str,
    },
    /// The hub wants a token, or another one.
    #[error("the hub refuses {repository} (401): {because}\n  {advice}")]
    Unauthorized {
        /// Which repository.
        repository: String,
        /// Why.
        because: String,
        /// What to do.
        advice: String,
    },
    /// The account may not read it.
    #[error("the hub refuses {repository} (403): {because}\n  {advice}")]
    Forbidden {
        /// Which repository.
        repository: String,
        /// Why.
        because: String,
        /// What to do.
        advice: String,
    },
    /// It is not there.
    #[error("the hub has no {what} (404)\n  {advice}")]
    Missing {
        /// Which repository, revision or file.
        what: String,
        /// What to do.
        advice: String,
    },
    /// The hub answers with an error that passes, for too long.
    #[error(
        "the hub at {endpoint} does not give {what}: {because}, {tries} times in a row\n  what has arrived is kept: try again later with the same command"
    )]
    Unavailable {
        /// Which hub.
        endpoint: String,
        /// What was asked for.
        what: String,
        /// The last answer.
        because: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The hub does not answer.
    #[error(
        "the hub at {endpoint} cannot be reached for {what}: {because}\n  look at the network, at HF_ENDPOINT and at the proxy variables; what has arrived is kept\n  with HF_HUB_OFFLINE=1 what the cache has is used as it is"
    )]
    Unreachable {
        /// Which hub.
        endpoint: String,
        /// What was asked for.
        what: String,
        /// Why.
        because: String,
    },
    /// It asks to wait for longer than anybody would.
    #[error("the hub at {endpoint} asks to wait for {} s before {what} is asked for again (429)\n  try again then, or set HF_TOKEN: requests with a token may be more", wait.as_secs())]
    RateLimited {
        /// Which hub.
        endpoint: String,
        /// What was asked for.
        what: String,
        /// For how long.
        wait: Duration,
    },
    /// The hub's answer makes no sense.
    #[error(
        "the hub's answer for {what} cannot be used: {because}\n  is HF_ENDPOINT really a hub, and is there a proxy that answers in its place?"
    )]
    Malformed {
        /// What was asked for.
        what: String,
        /// Why.
        because: String,
    },
    /// What arrives is never what the hub lists.
    #[error(
        "{path} of {repository} does not match what the hub lists, {times} times: {because}\n  a proxy or the hub damages it; nothing of it was kept"
    )]
    Corrupted {
        /// Which repository.
        repository: String,
        /// Which file.
        path: String,
        /// What differs.
        because: String,
        /// How often it was fetched.
        times: u32,
    },
    /// The patterns leave nothing.
    #[error(
        "no file of {repository} at {commit} is wanted: {files} there, and {patterns} leave none\n  look at the names: {page}"
    )]
    NothingWanted {
        /// Which repository.
        repository: String,
        /// Which commit.
        commit: String,
        /// How many there are.
        files: usize,
        /// What is allowed and ignored.
        patterns: String,
        /// Where to look.
        page: String,
    },
    /// Offline, and the cache does not know the revision.
    #[error("{repository} at {revision} is not in {cache}, and the hub may not be asked (HF_HUB_OFFLINE)\n  fetch it where there is a network (hf download {repository} --revision {revision}) and copy the cache, or unset HF_HUB_OFFLINE", cache = cache.display())]
    NotCached {
        /// Which repository.
        repository: String,
        /// Which revision.
        revision: String,
        /// Where it was looked for.
        cache: PathBuf,
    },
    /// Offline, and files lack.
    #[error("{repository} at {commit} is not whole in {cache}, and the hub may not be asked (HF_HUB_OFFLINE): {}\n  unset HF_HUB_OFFLINE to fetch what lacks", lacking(files), cache = cache.display())]
    Incomplete {
        /// Which repository.
        repository: String,
        /// Which commit.
        commit: String,
        /// Where it was looked for.
        cache: PathBuf,
        /// What lacks, or does not match.
        files: Vec<String>,
    },
    /// Not enough room, known before the first byte.
    #[error("{repository} needs {} more, and {} has {}\n  make room there, or keep the cache elsewhere: HF_HUB_CACHE=DIR (HF_HOME=DIR)", bytes(*needed), cache.display(), bytes(*free))]
    Room {
        /// Which repository.
        repository: String,
        /// Bytes that lack, and some to spare.
        needed: u64,
        /// Bytes that are free.
        free: u64,
        /// Where.
        cache: PathBuf,
    },
    /// Reading or writing failed.
    #[error("failed to {doing} {path}: {source}{advice}", path = path.display(), advice = advice(source))]
    Io {
        /// `read`, `write`, …
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It was told to stop.
    #[error("the fetch was stopped; what has arrived is kept")]
    Stopped,
}

impl FetchError {
    /// For `map_err`.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }

    /// Whether the recipe asks for what is not there.
    #[must_use]
    pub fn is_request(&self) -> bool {
        matches!(self, Self::Name { .. } | Self::NothingWanted { .. })
    }
}

fn advice(error: &io::Error) -> &'static str {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    if matches!(error.kind(), StorageFull | QuotaExceeded) {
        "\n  make room, or keep the cache elsewhere: HF_HUB_CACHE=DIR; what has arrived is kept"
    } else if error.kind() == io::ErrorKind::PermissionDenied {
        "\n  it belongs to somebody else; keep the cache elsewhere: HF_HUB_CACHE=DIR"
    } else {
        ""
    }
}

/// `3 files lack: a, b, c`, the first few of them.
fn lacking(files: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = files.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    let more = match files.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let number = match files.len() {
        1 => "1 file lacks".to_owned(),
        number => format!("{number} files lack"),
    };
    format!("{number}: {}{more}", shown.join(", "))
}

/// Bytes as people read them; the reports' own words are out of this room's reach.
pub fn bytes(count: u64) -> String {
    humansize::format_size(count, humansize::BINARY)
}

/// A text of others without escape sequences and characters that control a terminal or reorder text.
pub fn printable(text: &str) -> String {
    // ECMA-48 5.4: parameters, intermediates, one final byte.
    let plain = match regex_lite::Regex::new("\\x1b\\[[ -?]*[@-~]?") {
        Ok(sequence) => sequence.replace_all(text, ""),
        Err(_) => text.into(),
    };
    let harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    plain.replace(harmful, "\u{fffd}")
}

/// An error with everything that caused it, in one line.
pub fn root_cause(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
