//! Docker (and engines with its API) by bollard.

mod abilities;
mod archive;
mod build;
mod build_context;
mod container;
mod context_hash;
mod create;
mod exec;
mod explain;
pub(super) mod fault;
mod ignore;
mod image;
mod interactive;
mod pull;
mod pull_failure;

use std::fmt;
use std::time::Duration;

use super::connect::connect_to_endpoint;
use super::endpoint::{self, EngineEnvironment};
use super::error::EngineError;
use super::proxies;
use retrial_container::EngineInfo;

pub use context_hash::hash_build_context;
pub use explain::EngineRefusal;
pub use pull_failure::PullFailure;

/// The first pause before a passing fault is tried again; each next one is twice as long.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);

/// An engine that speaks Docker's API.
#[derive(Clone)]
pub struct DockerEngine {
    client: bollard::Docker,
    info: EngineInfo,
    backoff: Duration,
    /// Environment that every container and build gets, as with Docker's command line.
    proxies: Vec<(String, String)>,
}

/// Omits the proxies: their addresses can hold passwords.
impl fmt::Debug for DockerEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DockerEngine").field(&self.info).finish()
    }
}

impl DockerEngine {
    /// Connects to the engine that `--engine` or the environment names.
    ///
    /// # Errors
    /// Nothing answers there, this user may not, the engine is too old, or Docker's own
    /// configuration is broken.
    pub async fn connect(engine: Option<&str>) -> Result<Self, EngineError> {
        Self::connect_with_environment(engine, &EngineEnvironment::from_environment()).await
    }

    /// As [`DockerEngine::connect`], with another environment than the process' own.
    ///
    /// # Errors
    /// As [`DockerEngine::connect`].
    pub async fn connect_with_environment(
        engine: Option<&str>,
        environment: &EngineEnvironment,
    ) -> Result<Self, EngineError> {
        let chosen_endpoint = endpoint::choose_endpoint(engine, environment)?;
        let proxies = proxies::read_proxies(&environment.configuration, &chosen_endpoint.url)?;
        let (client, info) = connect_to_endpoint(&chosen_endpoint).await?;
        Ok(Self { client, info, backoff: FIRST_RETRY_DELAY, proxies })
    }

    /// Returns the same engine with another first pause between attempts.
    #[must_use]
    pub fn with_retry_delay(mut self, backoff: Duration) -> Self {
        self.backoff = backoff;
        self
    }
}
