//! Docker (and what speaks its API) by bollard.

mod abilities;
mod archive;
mod build;
mod build_context;
mod container;
mod create;
mod exec;
mod explain;
pub(super) mod fault;
mod ignore;
mod image;
mod interactive;
mod pull;
mod pull_failure;
mod security;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::mpsc::{Sender, UnboundedSender};

use super::api::{
    Abilities, BuildSpec, ContainerState, Engine, EngineInfo, ExecOutput, ExecSpec, ExecStatus,
    ImageInfo, ImageProgress, RegistryAuth,
};
use super::connect::connect;
use super::endpoint::{self, Endpoint, EngineEnvironment};
use super::error::EngineError;
use super::proxies;
use retrial_container::ContainerSpec;

pub use pull_failure::PullFailure;

/// The first pause before a passing fault is tried again; each next one is twice as long.
const BACKOFF: Duration = Duration::from_secs(1);

/// An engine that speaks Docker's API.
#[derive(Clone)]
pub struct Docker {
    client: bollard::Docker,
    info: EngineInfo,
    backoff: Duration,
    /// Environment that every container and build gets, as with Docker's command line.
    proxies: Vec<(String, String)>,
}

/// Without the proxies: their addresses can hold passwords.
impl fmt::Debug for Docker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Docker").field(&self.info).finish()
    }
}

impl Docker {
    /// Connects to the engine that `--engine` or the environment names.
    ///
    /// # Errors
    /// Nothing answers there, this user may not, the engine is too old, or Docker's own
    /// configuration is broken.
    pub async fn connect(engine: Option<&str>) -> Result<Self, EngineError> {
        Self::connect_in(engine, &EngineEnvironment::from_environment()).await
    }

    /// The same with another environment than the process' own.
    ///
    /// # Errors
    /// As [`Docker::connect`].
    pub async fn connect_in(
        engine: Option<&str>,
        environment: &EngineEnvironment,
    ) -> Result<Self, EngineError> {
        let endpoint = endpoint::choose(engine, environment)?;
        let proxies = proxies::read(&environment.configuration, &endpoint.url)?;
        let connected = Self::connect_to(&endpoint).await?;
        Ok(Self {
            proxies,
            ..connected
        })
    }

    /// Connects to an endpoint, without Docker's proxies.
    ///
    /// # Errors
    /// As [`Docker::connect`].
    pub async fn connect_to(endpoint: &Endpoint) -> Result<Self, EngineError> {
        let (client, info) = connect(endpoint).await?;
        Ok(Self {
            client,
            info,
            backoff: BACKOFF,
            proxies: Vec::new(),
        })
    }

    /// The same engine with another first pause between tries.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Duration) -> Self {
        self.backoff = backoff;
        self
    }
}

impl Docker {
    /// Runs a person's own process in a container, terminal to terminal; gives its exit code.
    ///
    /// # Errors
    /// The container is not running, or the engine refuses.
    pub async fn interactive(&self, container: &str, spec: &ExecSpec) -> Result<i64, EngineError> {
        interactive::interactive(&self.client, container, spec).await
    }
}

#[async_trait]
impl Engine for Docker {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    async fn image(&self, reference: &str) -> Result<Option<ImageInfo>, EngineError> {
        image::inspect(&self.client, reference).await
    }

    async fn abilities(&self) -> Result<Abilities, EngineError> {
        let info = self.client.info().await;
        let info = info.map_err(|error| fault::fault("ask what it can do", error))?;
        Ok(abilities::read(info, &self.info))
    }

    async fn registry_digest(
        &self,
        reference: &str,
        auth: Option<RegistryAuth>,
    ) -> Result<String, EngineError> {
        pull::registry_digest(&self.client, reference, auth).await
    }

    async fn pull(
        &self,
        reference: &str,
        auth: Option<RegistryAuth>,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError> {
        pull::pull(&self.client, reference, auth, &progress, self.backoff).await
    }

    async fn build(
        &self,
        spec: &BuildSpec,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError> {
        build::build(&self.client, spec, &self.proxies, &progress).await
    }

    async fn create(&self, spec: &ContainerSpec) -> Result<String, EngineError> {
        container::create(&self.client, spec, &self.proxies).await
    }

    async fn start(&self, container: &str) -> Result<(), EngineError> {
        container::start(&self.client, container).await
    }

    async fn exec_detached(&self, container: &str, spec: &ExecSpec) -> Result<String, EngineError> {
        exec::detached(&self.client, container, spec).await
    }

    async fn exec_status(&self, exec: &str) -> Result<ExecStatus, EngineError> {
        if self.info.product.starts_with("Podman") {
            return exec::status_with_podman(&self.client, exec).await;
        }
        exec::status(&self.client, exec).await
    }

    async fn exec(&self, container: &str, spec: &ExecSpec) -> Result<ExecOutput, EngineError> {
        exec::attached(&self.client, container, spec).await
    }

    async fn container(&self, container: &str) -> Result<Option<ContainerState>, EngineError> {
        container::inspect(&self.client, container).await
    }

    async fn containers(&self, label: &str) -> Result<Vec<ContainerState>, EngineError> {
        container::list(&self.client, label).await
    }

    async fn ended(&self, container: &str) -> Result<(), EngineError> {
        container::ended(&self.client, container).await
    }

    async fn container_log(&self, container: &str, lines: usize) -> Result<String, EngineError> {
        container::log(&self.client, container, lines).await
    }

    async fn stop(&self, container: &str, grace_s: u32) -> Result<(), EngineError> {
        container::stop(&self.client, container, grace_s).await
    }

    async fn remove(&self, container: &str) -> Result<(), EngineError> {
        container::remove(&self.client, container).await
    }

    async fn copy_out(
        &self,
        container: &str,
        path: &str,
        to: Sender<Bytes>,
    ) -> Result<bool, EngineError> {
        archive::copy_out(&self.client, container, path, to).await
    }
}
