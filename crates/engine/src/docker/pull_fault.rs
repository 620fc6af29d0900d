//! What a failed pull means, from the engine's words: 20.10 answers most of them with status
//! 500, so the words are all there is. Pure.

use crate::error::EngineError;
use retrial_container::ImageRef;

use super::fault::is_no_space;

/// What became of a pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The registry or the way to it stumbled: again may help.
    Passing,
    /// The registry refuses more pulls for now: again may help, later.
    Limited,
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
    /// Anything else.
    Other,
}

/// Each: any of these words (lower case), then this fate. The first that fits counts.
const WORDS: &[(&[&str], Fate)] = &[
    (
        &[
            "no matching manifest",
            "does not match the specified platform",
            "does not provide the specified platform",
            "operating system",
        ],
        Fate::WrongPlatform,
    ),
    (&["toomanyrequests", "too many requests"], Fate::Limited),
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
        Fate::Passing,
    ),
    (
        &[
            "no basic auth credentials",
            "unauthorized",
            "authentication required",
            "incorrect username or password",
            "403 forbidden",
        ],
        Fate::Unauthorized,
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
        Fate::NotFound,
    ),
    (&["denied"], Fate::Unauthorized),
    (&["x509", "certificate"], Fate::Certificate),
    (
        &["server gave http response to https client"],
        Fate::PlainHttp,
    ),
    (&["no such host"], Fate::UnknownHost),
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
        Fate::Passing,
    ),
];

/// Reads the engine's words.
pub fn fate(message: &str) -> Fate {
    // Of a file on the engine's side it says nothing about the registry.
    let lower = message
        .trim()
        .to_lowercase()
        .replace("permission denied", "");
    if is_no_space(&lower) {
        return Fate::NoSpace;
    }
    if lower.ends_with("eof") {
        return Fate::Passing;
    }
    WORDS
        .iter()
        .find(|(words, _)| words.iter().any(|word| lower.contains(word)))
        .map_or(Fate::Other, |(_, fate)| *fate)
}

impl Fate {
    /// Whether to try again.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Passing | Self::Limited)
    }

    /// The error that the user reads.
    pub fn error(self, reference: &ImageRef, message: &str, tries: u32) -> EngineError {
        let because = message.trim().to_owned();
        let registry = reference.registry.clone();
        let full = reference.to_string();
        let hint = match self {
            Self::NotFound => {
                return EngineError::ImageNotFound {
                    reference: full,
                    registry,
                    because,
                };
            }
            Self::Unauthorized => {
                return EngineError::Unauthorized {
                    reference: full,
                    registry,
                    because,
                };
            }
            Self::WrongPlatform => {
                return EngineError::WrongPlatform {
                    reference: full,
                    because,
                };
            }
            Self::NoSpace => {
                return EngineError::NoSpace {
                    operation: format!("pull {full}"),
                    because,
                };
            }
            Self::Passing => format!(
                "can the engine reach it? (`curl -I https://{registry}/v2/`; a proxy is set where the engine starts, not in this shell)"
            ),
            Self::Limited => format!(
                "the registry limits pulls: wait a while, or `docker login {registry}` for a higher limit"
            ),
            Self::Certificate => format!(
                "the engine does not trust its certificate: put the authority's into /etc/docker/certs.d/{registry}/ca.crt"
            ),
            Self::PlainHttp => format!(
                "it speaks plain HTTP: allow it by \"insecure-registries\": [\"{registry}\"] in the engine's daemon.json"
            ),
            Self::UnknownHost => {
                format!("is `{registry}` spelt right? does this machine's DNS know it?")
            }
            Self::Other => format!("`docker pull {full}` shows the same from the command line"),
        };
        EngineError::Registry {
            reference: full,
            registry,
            tries,
            because,
            hint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_real_engines_are_understood() {
        let cases = [
            (
                "manifest for 127.0.0.1:5000/a:no not found: manifest unknown: manifest unknown",
                Fate::NotFound,
            ),
            (
                "pull access denied for nope, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
                Fate::NotFound,
            ),
            (
                "Get \"https://r/v2/a/manifests/1\": no basic auth credentials",
                Fate::Unauthorized,
            ),
            ("unauthorized: authentication required", Fate::Unauthorized),
            (
                "denied: requested access to the resource is denied",
                Fate::Unauthorized,
            ),
            (
                "no matching manifest for linux/amd64 in the manifest list entries",
                Fate::WrongPlatform,
            ),
            (
                "write /var/lib/docker/tmp/x: no space left on device",
                Fate::NoSpace,
            ),
            (
                "toomanyrequests: You have reached your pull rate limit.",
                Fate::Limited,
            ),
            (
                "received unexpected HTTP status: 503 Service Unavailable",
                Fate::Passing,
            ),
            (
                "Get \"https://r/v2/\": net/http: TLS handshake timeout",
                Fate::Passing,
            ),
            (
                "read tcp 1.2.3.4:5->6.7.8.9:443: read: connection reset by peer",
                Fate::Passing,
            ),
            ("Get \"http://r/v2/\": EOF", Fate::Passing),
            ("unexpected EOF", Fate::Passing),
            (
                "Get \"https://r/v2/\": tls: failed to verify certificate: x509: certificate signed by unknown authority",
                Fate::Certificate,
            ),
            (
                "Get \"https://r/v2/\": http: server gave HTTP response to HTTPS client",
                Fate::PlainHttp,
            ),
            (
                "Get \"https://r/v2/\": dial tcp: lookup r on 1.1.1.1:53: no such host",
                Fate::UnknownHost,
            ),
            (
                "Head \"https://ghcr.io/v2/a/b\": denied",
                Fate::Unauthorized,
            ),
            ("open /var/lib/docker/tmp: permission denied", Fate::Other),
            ("something new", Fate::Other),
        ];
        for (message, expected) in cases {
            assert_eq!(fate(message), expected, "{message}");
        }
    }
}
