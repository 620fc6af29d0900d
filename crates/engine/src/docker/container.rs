//! Docker as an [`Engine`]: the life of a container (create, start, inspect, stop, remove) is here, the
//! rest in modules of its own.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use async_trait::async_trait;
use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::models::{ContainerInspectResponse, ContainerStateStatusEnum};
use bollard::query_parameters::{
    CreateContainerOptions, ListContainersOptions, LogsOptions, RemoveContainerOptions,
    StopContainerOptions, WaitContainerOptions,
};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::sync::mpsc::{Sender, UnboundedSender};
use tokio::time::{Instant, sleep};
use tracing::instrument;

use super::fault::{engine_message, is_not_found_error, to_container_error, to_engine_error};
use super::{DockerEngine, abilities, archive, build, create, exec, image, pull};
use crate::api::{
    BindMount, BuildSpec, ContainerState, Engine, ExecOutput, ExecSpec, ExecStatus, ImageInfo,
    ImageProgress, RegistryAuth,
};
use crate::error::EngineError;
use retrial_container::{ContainerSpec, EngineCapabilities, EngineInfo, withdrawn_requests};

/// Copying an image's files into a fresh volume, or a GPU runtime's set-up, is slow.
const CREATE_TIMEOUT: Duration = Duration::from_mins(10);

/// The names of our containers: an image may have our labels, and then those of whoever uses it have them, too.
const OWN_NAMES: &str = "^/?retrial-";

/// Deleting the layer of a container that wrote much.
const REMOVE_TIMEOUT: Duration = Duration::from_mins(10);

/// The last bytes of a container's own log that are read.
const MAX_LOG_BYTES: usize = 1 << 20;

/// A benchmark may run for days.
const EXIT_TIMEOUT: Duration = Duration::from_hours(24 * 30);

/// The most of a command that is logged, characters.
const MAX_LOGGED_COMMAND: usize = 120;

/// The beginning of a command, for the log.
fn shorten_command(words: &[String]) -> String {
    let line = words.join(" ");
    match line.char_indices().nth(MAX_LOGGED_COMMAND) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl DockerEngine {
    async fn create(&self, spec: &ContainerSpec) -> Result<String, EngineError> {
        let options = CreateContainerOptions {
            name: Some(spec.name.clone()).filter(|name| !name.is_empty()),
            ..CreateContainerOptions::default()
        };
        let request = create::create_request(spec, &self.proxies);
        let patient = self.client.clone().with_timeout(CREATE_TIMEOUT);
        match patient.create_container(Some(options), request).await {
            Ok(made) => Ok(made.id),
            Err(error) if is_not_found_error(&error) => Err(EngineError::Refused {
                operation: format!("create {}", spec.name),
                status: 404,
                reason: format!("it does not have the image {}", spec.image),
                refusal: None,
                help: Some(
                    "the image was removed after it was pulled: run again, or `--pull missing`"
                        .into(),
                ),
            }),
            Err(error) => Err(to_engine_error(&format!("create {}", spec.name), error)),
        }
    }

    /// Returns the variables that withdraw what a container's image asks of a runtime for GPUs. The created container is
    /// examined, since a tag may have moved.
    async fn find_image_requests(
        &self,
        spec: &ContainerSpec,
        container: &str,
    ) -> Result<Vec<(String, String)>, EngineError> {
        let answer = self.client.inspect_container(container, None).await;
        let made = answer.map_err(|error| to_container_error("inspect", container, error))?;
        let environment = made.config.and_then(|config| config.env).unwrap_or_default();
        let runtime = made.host_config.and_then(|config| config.runtime);
        let has_gpu_request = spec.gpus.is_some();
        Ok(withdrawn_requests(&environment, &spec.env, runtime.as_deref(), has_gpu_request))
    }
}

#[async_trait]
impl Engine for DockerEngine {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    #[instrument(level = "debug", skip_all, fields(%reference), err(level = "debug"))]
    async fn find_image(&self, reference: &str) -> Result<Option<ImageInfo>, EngineError> {
        image::find_image(&self.client, reference).await
    }

    #[instrument(level = "debug", skip_all, err(level = "debug"))]
    async fn query_capabilities(&self) -> Result<EngineCapabilities, EngineError> {
        let answer = self.client.info().await;
        let info = answer.map_err(|error| to_engine_error("report its capabilities", error))?;
        Ok(abilities::parse_capabilities(info, &self.info))
    }

    #[instrument(level = "debug", skip_all, fields(%reference), err(level = "debug"))]
    async fn fetch_registry_digest(
        &self,
        reference: &str,
        auth: Option<RegistryAuth>,
    ) -> Result<String, EngineError> {
        pull::fetch_registry_digest(&self.client, reference, auth).await
    }

    #[instrument(level = "debug", skip_all, fields(%reference), err(level = "debug"))]
    async fn pull_image(
        &self,
        reference: &str,
        auth: Option<RegistryAuth>,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError> {
        pull::pull_image(&self.client, reference, auth, &progress, self.backoff).await
    }

    #[instrument(level = "debug", skip(self), err(level = "debug"))]
    async fn remove_image(&self, reference: &str) -> Result<bool, EngineError> {
        image::remove_image(&self.client, reference).await
    }

    #[instrument(level = "debug", skip_all, fields(tag = spec.tag), err(level = "debug"))]
    async fn build_image(
        &self,
        spec: &BuildSpec,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError> {
        build::build_image(&self.client, spec, &self.proxies, &progress).await
    }

    #[instrument(level = "debug", skip_all, fields(name = spec.name, image = %spec.image), err(level = "debug"))]
    async fn create_container(&self, spec: &ContainerSpec) -> Result<String, EngineError> {
        let mut own = spec.clone();
        loop {
            let id = self.create(&own).await?;
            let withdrawn = self.find_image_requests(&own, &id).await?;
            if withdrawn.is_empty() {
                return Ok(id);
            }
            self.remove_container(&id).await?;
            own.env.extend(withdrawn);
        }
    }

    #[instrument(level = "debug", skip_all, fields(%container), err(level = "debug"))]
    async fn start_container(&self, container: &str) -> Result<(), EngineError> {
        let patient = self.client.clone().with_timeout(CREATE_TIMEOUT);
        let started = patient.start_container(container, None).await;
        started.map_err(|error| to_container_error("start", container, error))
    }

    #[instrument(level = "debug", skip_all, fields(%container, command = shorten_command(&spec.command)), err(level = "debug"))]
    async fn exec_detached(&self, container: &str, spec: &ExecSpec) -> Result<String, EngineError> {
        exec::start_detached(&self.client, container, spec).await
    }

    #[instrument(level = "debug", skip_all, fields(%exec), err(level = "debug"))]
    async fn query_exec_status(&self, exec: &str) -> Result<ExecStatus, EngineError> {
        exec::query_exec_status(&self.client, exec, self.info.is_podman()).await
    }

    #[instrument(level = "debug", skip_all, fields(%container, command = shorten_command(&spec.command)), err(level = "debug"))]
    async fn exec_attached(
        &self,
        container: &str,
        spec: &ExecSpec,
    ) -> Result<ExecOutput, EngineError> {
        exec::run_attached(&self.client, container, spec).await
    }

    #[instrument(level = "debug", skip_all, fields(%container), err(level = "debug"))]
    async fn inspect_container(
        &self,
        container: &str,
    ) -> Result<Option<ContainerState>, EngineError> {
        match self.client.inspect_container(container, None).await {
            Ok(inspection) => Ok(Some(to_container_state(inspection))),
            Err(Error::JsonDataError { contents, .. }) => {
                parse_lenient_state(&contents).map(Some).ok_or_else(|| {
                    let operation = format!("inspect {container}");
                    EngineError::unexpected_answer(operation, "its answer was not understood")
                })
            }
            Err(error) if is_not_found_error(&error) => Ok(None),
            Err(error) => Err(to_engine_error(&format!("inspect {container}"), error)),
        }
    }

    #[instrument(level = "debug", skip_all, fields(%container), err(level = "debug"))]
    async fn list_bind_mounts(&self, container: &str) -> Result<Vec<BindMount>, EngineError> {
        let answer = self.client.inspect_container(container, None).await;
        let inspection = answer.map_err(|error| to_container_error("inspect", container, error))?;
        let mounts = inspection.mounts.unwrap_or_default().into_iter();
        let bind_points = mounts.filter(|mount| mount.typ.as_deref() == Some("bind"));
        let binds = bind_points.map(|mount| BindMount {
            source: mount.source.unwrap_or_default().into(),
            target: mount.destination.unwrap_or_default().into(),
        });
        Ok(binds.collect())
    }

    // A container that vanishes meanwhile is skipped.
    #[instrument(level = "debug", skip_all, fields(%label), err(level = "debug"))]
    async fn list_containers(&self, label: &str) -> Result<Vec<ContainerState>, EngineError> {
        let options = ListContainersOptions {
            all: true,
            filters: Some(HashMap::from([
                ("label".into(), vec![label.to_owned()]),
                ("name".into(), vec![OWN_NAMES.to_owned()]),
            ])),
            ..ListContainersOptions::default()
        };
        let containers = self
            .client
            .list_containers(Some(options))
            .await
            .map_err(|error| to_engine_error("list containers", error))?;
        let ids: Vec<String> =
            containers.into_iter().filter_map(|container| container.id).collect();
        let states = try_join_all(ids.iter().map(|id| self.inspect_container(id))).await?;
        let key = label.split('=').next().unwrap_or_default();
        let labelled = states.into_iter().flatten().filter(|one| one.labels.contains_key(key));
        Ok(labelled.collect())
    }

    #[instrument(level = "debug", skip_all, fields(%container), err(level = "debug"))]
    async fn wait_for_exit(&self, container: &str) -> Result<(), EngineError> {
        let waits = self.client.clone().with_timeout(EXIT_TIMEOUT);
        let mut waited = waits.wait_container(container, None::<WaitContainerOptions>);
        match waited.next().await {
            // An exit code that is not 0 is an error to bollard, and an exit to us.
            None | Some(Ok(_) | Err(Error::DockerContainerWaitError { .. })) => Ok(()),
            Some(Err(error)) if is_not_found_error(&error) => Ok(()),
            Some(Err(error)) => Err(to_engine_error(&format!("wait for {container}"), error)),
        }
    }

    #[instrument(
        level = "debug",
        skip_all,
        fields(%container, %lines),
        err(level = "debug")
    )]
    async fn read_container_log(
        &self,
        container: &str,
        lines: usize,
    ) -> Result<String, EngineError> {
        let options = LogsOptions {
            stdout: true,
            stderr: true,
            tail: lines.to_string(),
            ..LogsOptions::default()
        };
        let mut stream = self.client.logs(container, Some(options));
        let mut log = Vec::new();
        while let Some(chunk) = stream.next().await {
            let bytes = chunk
                .map_err(|error| to_container_error("read the log of", container, error))
                .map(LogOutput::into_bytes)?;
            log.extend_from_slice(&bytes);
            if log.len() > MAX_LOG_BYTES {
                log.drain(..log.len() - MAX_LOG_BYTES);
            }
        }
        Ok(String::from_utf8_lossy(&log).into_owned())
    }

    // A container that is not there is stopped.
    #[instrument(
        level = "debug",
        skip_all,
        fields(%container, %grace_s),
        err(level = "debug")
    )]
    async fn stop_container(&self, container: &str, grace_s: u32) -> Result<(), EngineError> {
        let options = StopContainerOptions {
            t: Some(i32::try_from(grace_s).unwrap_or(i32::MAX)),
            ..StopContainerOptions::default()
        };
        // The engine answers only when the container has stopped.
        let timeout = Duration::from_secs(u64::from(grace_s) + 30);
        let patient = self.client.clone().with_timeout(timeout);
        match patient.stop_container(container, Some(options)).await {
            Err(error) if !is_not_found_error(&error) => {
                Err(to_engine_error(&format!("stop {container}"), error))
            }
            _ => Ok(()),
        }
    }

    #[instrument(level = "debug", skip_all, fields(%container), err(level = "debug"))]
    async fn remove_container(&self, container: &str) -> Result<(), EngineError> {
        let deadline = Instant::now() + REMOVE_TIMEOUT;
        let patient = self.client.clone().with_timeout(REMOVE_TIMEOUT);
        let options = RemoveContainerOptions { v: true, force: true, link: false };
        let mut busy = 0;
        loop {
            let Err(error) = patient.remove_container(container, Some(options.clone())).await
            else {
                return Ok(());
            };
            if is_not_found_error(&error) {
                return Ok(());
            }
            // Another process (`docker rm`, another retrial) removes it: wait for it. A mount
            // that another process still holds is released shortly.
            let reason = engine_message(&error).unwrap_or_default();
            let again = reason.contains("already in progress") || {
                busy += 1;
                reason.contains("resource busy") && busy <= 5
            };
            if !again || Instant::now() > deadline {
                return Err(to_engine_error(&format!("remove {container}"), error));
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    #[instrument(
        level = "debug",
        skip_all,
        fields(%container, %path),
        err(level = "debug")
    )]
    async fn copy_from_container(
        &self,
        container: &str,
        path: &str,
        to: Sender<Bytes>,
    ) -> Result<bool, EngineError> {
        archive::send_path_archive(&self.client, container, path, to).await
    }
}

/// Reads an answer that bollard's types reject: Podman has states that Docker lacks
/// (`stopped`, between the process' end and the clean-up).
fn parse_lenient_state(answer: &str) -> Option<ContainerState> {
    let mut answer: Value = serde_json::from_str(answer).ok()?;
    let inner = answer.get_mut("State")?;
    let status = inner.get_mut("Status")?;
    *status = match status.as_str()? {
        "stopped" => "exited".into(),
        _ => "".into(),
    };
    Some(to_container_state(serde_json::from_value(answer).ok()?))
}

/// An empty label says that the image's own of that name does not count.
fn non_empty_labels(labels: HashMap<String, String>) -> BTreeMap<String, String> {
    labels.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn to_container_state(inspection: ContainerInspectResponse) -> ContainerState {
    let state = inspection.state.unwrap_or_default();
    let running = state.running.unwrap_or(false);
    // Before its first start a container already has the exit code 0.
    let ended = !running && state.status != Some(ContainerStateStatusEnum::CREATED);
    let config = inspection.config.unwrap_or_default();
    ContainerState {
        id: inspection.id.unwrap_or_default(),
        name: inspection.name.unwrap_or_default().replacen('/', "", 1),
        running,
        exit_code: state.exit_code.filter(|_| ended),
        oom_killed: state.oom_killed.unwrap_or(false),
        image: inspection.image.unwrap_or_default(),
        pid: state.pid.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0),
        labels: non_empty_labels(config.labels.unwrap_or_default()),
        env: config.env.unwrap_or_default(),
    }
}
