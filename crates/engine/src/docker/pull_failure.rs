//! Classifies failed pulls by the engine's message: 20.10 answers most failures with status 500, so the
//! message is all there is. Pure.

use retrial_container::ImageRef;

use super::explain::is_no_space;

/// The class of a failed pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullFailure {
    /// The registry or the way to it failed: another try may help.
    Transient,
    /// The registry refuses more pulls for now: a later try may help.
    RateLimited,
    /// No such repository, tag or digest.
    NotFound,
    /// Credentials are missing, wrong, or not enough.
    Unauthorized,
    /// Not for this machine's architecture.
    WrongPlatform,
    /// The engine's disk is full.
    NoSpace,
    /// The engine does not trust the registry's certificate.
    Certificate,
    /// The registry speaks plain HTTP and the engine does not allow it.
    PlainHttp,
    /// The registry's name is not known.
    UnknownHost,
    /// A failure that none of the patterns matches.
    Other,
}

/// Patterns of messages (lower case, one of a row must occur) and the class. The first row that matches counts.
const FAILURE_PATTERNS: &[(&[&str], PullFailure)] = &[
    (
        &[
            "no matching manifest",
            "does not match the specified platform",
            "does not provide the specified platform",
            "operating system",
        ],
        PullFailure::WrongPlatform,
    ),
    (&["toomanyrequests", "too many requests"], PullFailure::RateLimited),
    (
        &[
            "unexpected http status: 5",
            "unexpected status code 5",
            "500 internal server error",
            "502 bad gateway",
            "503 service unavailable",
            "504 gateway time",
            "service unavailable",
        ],
        PullFailure::Transient,
    ),
    (
        &[
            "no basic auth credentials",
            "unauthorized",
            "authentication required",
            "incorrect username or password",
            "403 forbidden",
        ],
        PullFailure::Unauthorized,
    ),
    (
        &[
            "manifest unknown",
            "name unknown",
            "not found",
            "does not exist",
            "repository name not known",
            "no such image",
        ],
        PullFailure::NotFound,
    ),
    (&["denied"], PullFailure::Unauthorized),
    (&["x509", "certificate"], PullFailure::Certificate),
    (&["server gave http response to https client"], PullFailure::PlainHttp),
    (&["no such host"], PullFailure::UnknownHost),
    (
        &[
            "connection reset",
            "connection refused",
            "broken pipe",
            "timeout",
            "timed out",
            "deadline exceeded",
            "unexpected eof",
            "server misbehaving",
            "temporary failure",
            "network is unreachable",
            "no route to host",
            "use of closed network connection",
            "http2:",
            // A layer that arrived damaged; the engine has thrown it away.
            "verification failed",
            "unexpected commit digest",
            "failed size validation",
        ],
        PullFailure::Transient,
    ),
];

/// Classifies a failed pull by the engine's message.
pub fn classify_pull_failure(message: &str) -> PullFailure {
    // About a file on the engine's side it does not concern the registry.
    let lower = message.trim().to_lowercase().replace("permission denied", "");
    if is_no_space(&lower) {
        return PullFailure::NoSpace;
    }
    if lower.ends_with("eof") {
        return PullFailure::Transient;
    }
    FAILURE_PATTERNS
        .iter()
        .find(|(words, _)| words.iter().any(|word| lower.contains(word)))
        .map_or(PullFailure::Other, |(_, failure)| *failure)
}

impl PullFailure {
    /// Returns whether another attempt may help.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Transient | Self::RateLimited)
    }

    /// Says what failed, with the engine's words where they add to it: for a missing image each of the engine's requests
    /// has others.
    pub(crate) fn describe(self, reference: &ImageRef, tries: u32, reason: &str) -> String {
        let registry = &reference.registry;
        match self {
            Self::NotFound => format!("there is no image {reference} in {registry}"),
            Self::Unauthorized => format!("{registry} does not let you pull {reference}: {reason}"),
            Self::WrongPlatform => {
                format!("{reference} is not built for this machine: {reason}")
            }
            _ if tries > 1 => {
                format!("pulling {reference} from {registry} failed {tries} times: {reason}")
            }
            _ => format!("pulling {reference} from {registry} failed: {reason}"),
        }
    }

    /// Says what to do about it.
    pub(crate) fn remedy(self, reference: &ImageRef) -> String {
        let registry = &reference.registry;
        match self {
            Self::NotFound => format!(
                "check the name and the tag; if the repository is private, `docker login {registry}` first"
            ),
            Self::Unauthorized => {
                format!("`docker login {registry}` with an account that has access, then try again")
            }
            Self::WrongPlatform => {
                "choose a tag for this machine's architecture, or another engine".to_owned()
            }
            Self::Transient => format!(
                "check that the engine can reach it (`curl -I https://{registry}/v2/`); a proxy is configured for the engine's service, not in this shell"
            ),
            Self::RateLimited => format!(
                "the registry limits pulls: wait a while, or `docker login {registry}` for a higher limit"
            ),
            Self::Certificate => format!(
                "the engine does not trust its certificate: put the CA's certificate into /etc/docker/certs.d/{registry}/ca.crt"
            ),
            Self::PlainHttp => format!(
                "it speaks plain HTTP: allow it with \"insecure-registries\": [\"{registry}\"] in the engine's daemon.json"
            ),
            Self::UnknownHost => {
                format!("check the spelling of `{registry}` and this machine's DNS")
            }
            Self::NoSpace | Self::Other => {
                format!("`docker pull {reference}` shows the same from the command line")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_real_engines_are_classified() {
        let cases = [
            (
                "manifest for 127.0.0.1:5000/a:no not found: manifest unknown: manifest unknown",
                PullFailure::NotFound,
            ),
            (
                "pull access denied for nope, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
                PullFailure::NotFound,
            ),
            (
                "Get \"https://r/v2/a/manifests/1\": no basic auth credentials",
                PullFailure::Unauthorized,
            ),
            ("unauthorized: authentication required", PullFailure::Unauthorized),
            ("denied: requested access to the resource is denied", PullFailure::Unauthorized),
            (
                "no matching manifest for linux/amd64 in the manifest list entries",
                PullFailure::WrongPlatform,
            ),
            ("write /var/lib/docker/tmp/x: no space left on device", PullFailure::NoSpace),
            ("toomanyrequests: You have reached your pull rate limit.", PullFailure::RateLimited),
            ("received unexpected HTTP status: 503 Service Unavailable", PullFailure::Transient),
            ("Get \"https://r/v2/\": net/http: TLS handshake timeout", PullFailure::Transient),
            (
                "read tcp 1.2.3.4:5->6.7.8.9:443: read: connection reset by peer",
                PullFailure::Transient,
            ),
            ("Get \"http://r/v2/\": EOF", PullFailure::Transient),
            ("unexpected EOF", PullFailure::Transient),
            (
                "Get \"https://r/v2/\": tls: failed to verify certificate: x509: certificate signed by unknown authority",
                PullFailure::Certificate,
            ),
            (
                "Get \"https://r/v2/\": http: server gave HTTP response to HTTPS client",
                PullFailure::PlainHttp,
            ),
            (
                "Get \"https://r/v2/\": dial tcp: lookup r on 1.1.1.1:53: no such host",
                PullFailure::UnknownHost,
            ),
            ("Head \"https://ghcr.io/v2/a/b\": denied", PullFailure::Unauthorized),
            ("open /var/lib/docker/tmp: permission denied", PullFailure::Other),
            ("something new", PullFailure::Other),
        ];
        for (message, expected) in cases {
            assert_eq!(classify_pull_failure(message), expected, "{message}");
        }
    }
}
