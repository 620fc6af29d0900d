//! Errors of an engine, with their remedies.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

use super::docker::{EngineRefusal, PullFailure};
use retrial_container::ImageRef;

/// An engine's fault, in the user's names. [`EngineError::is_unavailable`] distinguishes an engine
/// that is unavailable (wait for it) from one that refused (do not repeat the request).
#[derive(Debug, Error, Diagnostic)]
pub enum EngineError {
    /// No engine accepts a connection at the endpoint.
    #[error("no container engine answers at {endpoint} ({chosen_by}): {reason}")]
    #[diagnostic(help(
        "check that it runs (`systemctl status docker`) and that you may use its socket (group `docker`); to use another engine: --engine URL, DOCKER_HOST, or `docker context use`"
    ))]
    Unreachable {
        /// The endpoint's URL: `unix:///var/run/docker.sock`.
        endpoint: String,
        /// How it was chosen: `--engine`, `DOCKER_HOST`, `context NAME`, …
        chosen_by: String,
        /// Why the connection failed, as a fragment: `connection refused`.
        reason: String,
    },
    /// The socket exists, and this user may not open it.
    #[error(
        "you may not use the container engine's socket {endpoint} ({chosen_by}): permission denied"
    )]
    #[diagnostic(help(
        "it belongs to the group `{group}`: `sudo usermod -aG {group} $USER`, then log in again; or run a rootless engine"
    ))]
    Forbidden {
        /// The endpoint's URL, a socket.
        endpoint: String,
        /// How it was chosen: `--engine`, `DOCKER_HOST`, `context NAME`, …
        chosen_by: String,
        /// The group that may use the socket.
        group: String,
    },
    /// The engine is older than the required API version.
    #[error("{engine}; at least {needed} is required (Docker 19.03, Podman 3.0)")]
    #[diagnostic(help("update the engine, or choose another one with --engine URL"))]
    TooOld {
        /// The engine and its API version.
        engine: String,
        /// The required API version.
        needed: String,
    },
    /// An endpoint that cannot be used.
    #[error("the engine's endpoint {endpoint} ({chosen_by}) cannot be used: {reason}")]
    Endpoint {
        /// The endpoint's URL as it was written.
        endpoint: String,
        /// How it was chosen: `--engine`, `DOCKER_HOST`, `context NAME`, …
        chosen_by: String,
        /// Why, as a fragment without a full stop.
        reason: String,
        /// What to do, if more than the cause says.
        #[help]
        help: Option<&'static str>,
    },
    /// Docker's own configuration is not valid.
    #[error("{}: {reason}", path.display())]
    Configuration {
        /// The file in Docker's configuration directory.
        path: PathBuf,
        /// Why, as a fragment without a full stop.
        reason: String,
        /// What to do, if more than the cause says.
        #[help]
        help: Option<&'static str>,
    },
    /// A reference that names no image.
    #[error("{0}")]
    #[diagnostic(help("it looks like `registry.example.org/team/image:tag` or `image@sha256:…`"))]
    Reference(#[from] retrial_container::InvalidImageRef),
    /// An image could not be pulled.
    #[error("{}", failure.describe(reference, *tries, reason))]
    #[diagnostic(help("{}", failure.remedy(reference)))]
    Pull {
        /// The reference of the image to pull.
        reference: Box<ImageRef>,
        /// The class of the failure, which decides on retries and advice.
        failure: PullFailure,
        tries: u32,
        /// The engine's message on the last attempt.
        reason: String,
    },
    /// Credentials are configured and cannot be read.
    #[error("the credentials for {registry} could not be read: {reason}")]
    #[diagnostic(help("`docker login {registry}` again, or fix Docker's config.json"))]
    Credentials {
        /// The registry's host: `ghcr.io`.
        registry: String,
        /// Why the configured credentials could not be read.
        reason: String,
    },
    /// The tags of a repository could not be listed.
    #[error("the tags of {repository} could not be listed: {reason}")]
    Tags {
        /// Registry and repository, as people write them: `rocm/pytorch`.
        repository: String,
        /// Why, as a fragment without a full stop.
        reason: String,
        /// What to do, if more than the cause says.
        #[help]
        help: Option<&'static str>,
    },
    /// The engine's disk is full.
    #[error("the engine's disk is full: {operation}: {reason}")]
    #[diagnostic(help(
        "`docker system df` shows what takes the space; `retrial clean` and `docker image prune` free some"
    ))]
    NoSpace {
        /// What needed the space: `pull IMAGE`, `build TAG`, `create CONTAINER`.
        operation: String,
        /// The message of the engine's answer, without its status.
        reason: String,
    },
    /// The build's context cannot be sent.
    #[error("build context {}: {reason}", context.display())]
    BuildContext {
        /// The directory that the build sends to the engine.
        context: PathBuf,
        /// Why, as a fragment without a full stop.
        reason: String,
        /// What to do, if more than the cause says.
        #[help]
        help: Option<&'static str>,
    },
    /// An instruction of the Dockerfile failed.
    #[error("building {tag} failed: {reason}")]
    Build {
        /// The image that was to be built.
        tag: String,
        /// The instruction (`Step 2/4 : RUN make`) and the engine's message.
        reason: String,
        /// The last lines of the log.
        last_lines: Vec<String>,
        /// The fix for a failure that is known, else how to see more.
        #[help]
        help: Option<String>,
    },
    /// The engine refused a request, or its answer was not understood.
    #[error("the engine refused to {operation}: {reason}")]
    Refused {
        /// The operation, for example `start retrial-7`.
        operation: String,
        /// HTTP status, 0 where there was none.
        status: u16,
        /// The message of the engine's answer, without its status.
        reason: String,
        /// The class of the refusal, if known.
        refusal: Option<EngineRefusal>,
        /// The explanation and the remedy, if known.
        #[help]
        help: Option<String>,
    },
    /// The container does not exist, or no longer.
    #[error("{operation}: the engine has no container {container}")]
    #[diagnostic(help("it was removed by someone else"))]
    NoContainer {
        /// The operation that failed, without the container: `start`, `copy out of`.
        operation: String,
        /// The container's name or id, as it was requested.
        container: String,
    },
    /// The connection was lost, or the engine shut down, in the middle of an operation.
    #[error("lost the connection to the engine: {operation}: {reason}")]
    #[diagnostic(help(
        "is it being restarted? (`systemctl status docker`); continue a run with `retrial resume`"
    ))]
    Disconnected {
        /// The operation during which the connection was lost: `pull IMAGE`.
        operation: String,
        /// The last cause in the chain of errors, or the engine's message as it shut down.
        reason: String,
    },
    /// A file of this machine could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file that could not be read or written.
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl EngineError {
    /// A refusal without a status: the engine's answer makes no sense.
    pub(crate) fn unexpected_answer(
        operation: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self::Refused {
            operation: operation.into(),
            status: 0,
            reason: reason.into(),
            refusal: None,
            help: None,
        }
    }

    /// Returns whether the engine is unavailable, so that waiting for it makes sense.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Disconnected { .. } | Self::Unreachable { .. })
    }

    /// Returns whether the registry answered that it does not have the image, so that a retry would fail, too.
    pub fn is_missing_image(&self) -> bool {
        matches!(self, Self::Pull { failure: PullFailure::NotFound, .. })
    }

    /// Returns the cause of a refusal, if the engine's message states it.
    pub fn refusal(&self) -> Option<&EngineRefusal> {
        match self {
            Self::Refused { refusal, .. } => refusal.as_ref(),
            _ => None,
        }
    }
}

/// Returns an error and its remedy in one line, for assertions.
#[cfg(test)]
pub(crate) fn with_remedy(error: &EngineError) -> String {
    let help = error.help().map(|help| help.to_string());
    format!("{error}; {}", help.unwrap_or_default())
}
