//! Errors of models of the hub. Every message states the next step.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::Diagnostic;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// A fault of the hub or its cache.
#[derive(Debug, Error, Diagnostic)]
pub enum FetchError {
    /// `HF_ENDPOINT` is no http(s) URL that requests can be made to.
    #[error("HF_ENDPOINT={endpoint:?} is not the address of a hub: {reason}")]
    #[diagnostic(help("write it as https://huggingface.co, or leave it unset"))]
    Endpoint {
        /// The URL as the environment has it.
        endpoint: String,
        /// Why it is no address: the parser's message.
        reason: String,
    },
    /// The HTTP client cannot be set up.
    #[error("failed to set up requests to the hub: {0}")]
    #[diagnostic(help(
        "check the proxy variables and this machine's certificates (SSL_CERT_FILE)"
    ))]
    Client(String),
    /// A name that no repository or revision can have.
    #[error("invalid {kind} {name:?}: {reason}")]
    Name {
        /// Which of the two names is invalid: `repository` or `revision`.
        kind: &'static str,
        name: String,
        /// The format that it violates.
        reason: &'static str,
    },
    /// The hub wants a token (401), or the account has no access (403).
    #[error("the hub refuses {repository} ({status}): {reason}")]
    #[diagnostic(help("{advice}"))]
    Refused {
        /// The HTTP status: 401 or 403.
        status: u16,
        /// The repository as the recipe names it, `owner/name`.
        repository: String,
        /// The reason, from the hub's answer and the token in use.
        reason: String,
        /// The next step: request access, set a token, check the name.
        advice: String,
    },
    /// The hub does not have it.
    #[error("the hub has no {subject} (404)")]
    #[diagnostic(help("{advice}"))]
    Missing {
        /// The repository, the revision of one, or the file.
        subject: String,
        /// The repository is there, the file is not.
        is_file: bool,
        /// The next step: where its branches, files or access can be seen.
        advice: String,
    },
    /// The hub answers with transient errors for too long.
    #[error("the hub at {endpoint} does not serve {subject}: {reason}, {attempts} times in a row")]
    #[diagnostic(help("received bytes are kept: try again later with the same command"))]
    Unavailable {
        /// The URL that requests go to: `HF_ENDPOINT`, else the public hub's.
        endpoint: String,
        /// The request: a file, or a repository at a revision.
        subject: String,
        /// Why the last attempt failed: the server and its status.
        reason: String,
        /// Attempts in a row.
        attempts: u32,
    },
    /// The hub does not answer.
    #[error("the hub at {endpoint} cannot be reached for {subject}: {reason}")]
    #[diagnostic(help(
        "check the network, HF_ENDPOINT and the proxy variables; received bytes are kept; HF_HUB_OFFLINE=1 uses the cache as it is"
    ))]
    Unreachable {
        /// The URL that requests go to: `HF_ENDPOINT`, else the public hub's.
        endpoint: String,
        /// The request: a file, or a repository at a revision.
        subject: String,
        reason: String,
    },
    /// The hub requests a longer wait than is acceptable.
    #[error("the hub at {endpoint} asks to wait {} s before the next request for {subject} (429)", wait.as_secs())]
    #[diagnostic(help("try again then, or set HF_TOKEN: the limit is higher with a token"))]
    RateLimited {
        /// The URL that requests go to: `HF_ENDPOINT`, else the public hub's.
        endpoint: String,
        /// The request: a file, or a repository at a revision.
        subject: String,
        /// The wait that the hub requests, longer than the settings allow.
        wait: Duration,
    },
    /// The hub's answer makes no sense.
    #[error("the hub's response for {subject} is unusable: {reason}")]
    #[diagnostic(help("check that HF_ENDPOINT is a hub, and that no proxy answers in its place"))]
    Malformed {
        /// The request: a file, or a repository at a revision.
        subject: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// Received files never match their hash.
    #[error("{path} of {repository} does not match what the hub lists, {attempts} times: {reason}")]
    #[diagnostic(help("a proxy or the hub damages it; it was discarded"))]
    Corrupted {
        /// The repository as the recipe names it, `owner/name`.
        repository: String,
        /// The file's path in the repository.
        path: String,
        /// The difference from the file that the hub lists, of the last download.
        reason: String,
        /// The number of complete downloads that did not match.
        attempts: u32,
    },
    /// The patterns exclude every file.
    #[error("no file of {repository} at {commit} is selected: {patterns} exclude all {files}")]
    #[diagnostic(help("its files: {page}"))]
    NothingSelected {
        /// The repository as the recipe names it, `owner/name`.
        repository: String,
        /// The commit, 40 hexadecimal digits.
        commit: String,
        /// The number of files in the commit.
        files: usize,
        /// The `allow` and `ignore` patterns of the model, for display.
        patterns: String,
        /// The address of the commit's files on the hub.
        page: String,
    },
    /// Offline, and the cache does not know the revision.
    #[error("{repository} at {revision} is not in {cache}, and requests are disabled (HF_HUB_OFFLINE)", cache = cache.display())]
    #[diagnostic(help(
        "download it on a machine with a network (hf download {repository} --revision {revision}) and copy the cache, or unset HF_HUB_OFFLINE"
    ))]
    NotCached {
        /// The repository as the recipe names it, `owner/name`.
        repository: String,
        /// The requested branch, tag or commit.
        revision: String,
        /// The directory of the hub's cache.
        cache: PathBuf,
    },
    /// Offline, and the cache has only a part of it.
    #[error("{repository} at {commit} is incomplete in {cache}, and requests are disabled (HF_HUB_OFFLINE): {}", list_missing(files), cache = cache.display())]
    #[diagnostic(help("unset HF_HUB_OFFLINE to download the rest"))]
    Incomplete {
        /// The repository as the recipe names it, `owner/name`.
        repository: String,
        /// The commit, 40 hexadecimal digits.
        commit: String,
        /// The directory of the hub's cache.
        cache: PathBuf,
        /// Files that are missing or do not match their hash.
        files: Vec<String>,
    },
    /// Not enough free space, known before the first byte.
    #[error("{repository} needs {} more, and {} has {} free", format_bytes(*required), cache.display(), format_bytes(*free))]
    #[diagnostic(help("free some space, or use another cache: HF_HUB_CACHE=DIR (HF_HOME=DIR)"))]
    Space {
        /// The repository as the recipe names it, `owner/name`.
        repository: String,
        /// Bytes to download, and a reserve of one percent, at least 16 MiB.
        required: u64,
        /// Free space on the cache's disk, bytes.
        free: u64,
        /// The directory of the hub's cache.
        cache: PathBuf,
    },
    /// Reading or writing failed.
    #[error("failed to {operation} {path}: {source}", path = path.display())]
    Io {
        /// What failed, as a verb before the path: `read`, `write`, …
        operation: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
        /// The remedy, if the cause has one.
        #[help]
        help: Option<&'static str>,
    },
    /// The caller stopped it.
    #[error("the download was stopped; received bytes are kept")]
    Stopped,
}

impl FetchError {
    /// Wraps an I/O error, for `map_err`.
    pub fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let owned_path = path.to_owned();
        move |source| Self::Io { operation, path: owned_path, help: remedy(&source), source }
    }

    /// Returns whether the request itself is wrong, rather than the hub or this machine.
    pub fn is_invalid_request(&self) -> bool {
        matches!(self, Self::Name { .. } | Self::NothingSelected { .. })
    }
}

fn remedy(error: &io::Error) -> Option<&'static str> {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded => {
            Some("free some space, or use another cache: HF_HUB_CACHE=DIR; received bytes are kept")
        }
        PermissionDenied => Some("it belongs to another user; use another cache: HF_HUB_CACHE=DIR"),
        _ => None,
    }
}

/// `3 files are missing: a, b, c`, the first few of them.
fn list_missing(files: &[String]) -> String {
    const MAX_LISTED_FILES: usize = 5;
    let shown = files.iter().take(MAX_LISTED_FILES).cloned().collect::<Vec<_>>();
    let more = match files.len().saturating_sub(MAX_LISTED_FILES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let number = match files.len() {
        1 => "1 file is missing".to_owned(),
        number => format!("{number} files are missing"),
    };
    format!("{number}: {}{more}", shown.join(", "))
}

pub fn format_bytes(count: u64) -> String {
    humansize::format_size(count, humansize::BINARY)
}

/// Removes characters from a foreign text that control a terminal or reorder text.
pub fn strip_control_characters(text: &str) -> String {
    // ECMA-48 5.4: parameters, intermediates, one final byte.
    let plain = match regex_lite::Regex::new("\x1b\\[[ -?]*[@-~]?") {
        Ok(sequence) => sequence.replace_all(text, ""),
        Err(_) => text.into(),
    };
    let harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    plain.replace(harmful, "\u{fffd}")
}

/// Does some work, unless it is stopped.
pub async fn run_unless_stopped<T, E: From<FetchError>>(
    stop: &CancellationToken,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let done = stop.run_until_cancelled(work).await;
    done.unwrap_or_else(|| Err(FetchError::Stopped.into()))
}

/// Waits between two attempts, unless it is stopped.
pub async fn pause_unless_stopped(
    stop: &CancellationToken,
    pause: Duration,
) -> Result<(), FetchError> {
    let done = stop.run_until_cancelled(tokio::time::sleep(pause)).await;
    done.ok_or(FetchError::Stopped)
}

/// A failed connection, in one line: where it failed, and the root of its causes, which the operating system states.
pub fn format_connection_failure(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.last().map_or_else(|| error.to_string(), ToString::to_string)
}

/// An error and its causes, in one line.
pub fn format_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    for cause in std::iter::successors(error.source(), |error| error.source()) {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("error sending request")]
    struct Sending(#[source] io::Error);

    #[test]
    fn a_failed_connection_is_described_by_the_root_of_its_causes() {
        let refused = Sending(io::Error::other("connection refused"));
        assert_eq!(format_connection_failure(&refused), "connection refused");
        assert_eq!(format_chain(&refused), "error sending request: connection refused");
        let alone = io::Error::other("timed out");
        assert_eq!(format_connection_failure(&alone), "timed out");
    }
}
