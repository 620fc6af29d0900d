//! Builds by the engine's own builder: the context is sent as a stream, and the log is received.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::time::Duration;

use bollard::Docker as Client;
use bollard::auth::DockerCredentials;
use bollard::errors::Error;
use bollard::models::BuildInfo;
use bollard::query_parameters::BuildImageOptions;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::task::{JoinHandle, spawn_blocking};

use super::build_context::BuildContext;
use super::explain::{explain_refusal, is_no_space};
use super::fault::{engine_message, to_engine_error, without_stray_line_break};
use super::image;
use super::pull::{layer_progress, to_docker_credentials};
use super::pull_failure::{PullFailure, classify_pull_failure};
use crate::api::{BuildSpec, ImageInfo, ImageProgress};
use crate::credentials;
use crate::error::EngineError;
use crate::proxies;
use retrial_container::ImageRef;

/// The engine answers only when it has read the whole context.
const UPLOAD_TIMEOUT: Duration = Duration::from_hours(1);

/// Lines of the log that a failure shows.
const MAX_LOG_TAIL_LINES: usize = 20;

/// Builds an image and returns its information.
pub async fn build_image(
    client: &Client,
    spec: &BuildSpec,
    proxies: &[(String, String)],
    progress: &UnboundedSender<ImageProgress>,
) -> Result<ImageInfo, EngineError> {
    let (root, dockerfile) = (spec.context.clone(), spec.dockerfile.clone());
    let survey_task = spawn_blocking(move || BuildContext::survey(&root, &dockerfile));
    let context = survey_task.await.map_err(|error| context_error(spec, &error))??;
    let set: Vec<&str> = spec.args.keys().map(String::as_str).collect();
    let added = proxies::missing_variables(proxies, &set);
    let arguments = spec.args.clone().into_iter().chain(added);
    let options = BuildImageOptions {
        dockerfile: spec.dockerfile.clone(),
        t: Some(spec.tag.clone()),
        buildargs: Some(arguments.collect()),
        labels: Some(spec.labels.clone().into_iter().collect()),
        rm: true,
        forcerm: true,
        ..BuildImageOptions::default()
    };
    let logins = base_image_logins(&context.dockerfile).await;
    let (sender, mut pieces) = mpsc::channel::<io::Result<Bytes>>(4);
    let upload: JoinHandle<io::Result<()>> = spawn_blocking(move || {
        let outcome = context.send_archive(&sender);
        if let Err(error) = &outcome {
            // Breaks the request off, so that the engine does not build half a context.
            let _ = sender.blocking_send(Err(io::Error::other(error.to_string())));
        }
        outcome
    });
    let body = bollard::body_try_stream(stream::poll_fn(move |task| pieces.poll_recv(task)));
    let patient = client.clone().with_timeout(UPLOAD_TIMEOUT);
    let mut messages =
        without_stray_line_break(patient.build_image(options, Some(logins), Some(body)));
    let mut log = BuildLog::default();
    while let Some(message) = messages.next().await {
        match message {
            Ok(message) => log.record_message(message, progress),
            Err(error) => {
                drop(messages);
                return Err(build_error(spec, error, log, upload).await);
            }
        }
    }
    let built = log.id.clone().unwrap_or_else(|| spec.tag.clone());
    let built_image = image::find_image(client, &built).await?;
    built_image
        .ok_or_else(|| instruction_error(spec, log, "the engine built it but does not list it"))
}

/// The builder's output so far.
#[derive(Default)]
struct BuildLog {
    /// A line whose end has not come yet.
    unfinished_line: String,
    tail: VecDeque<String>,
    step: String,
    id: Option<String>,
}

impl BuildLog {
    fn record_message(&mut self, message: BuildInfo, progress: &UnboundedSender<ImageProgress>) {
        if let Some(id) = message.aux.and_then(|aux| aux.id) {
            self.id = Some(id);
        }
        if let Some(step) = layer_progress(message.id, message.status, message.progress_detail) {
            // Without a listener the build continues.
            let _ = progress.send(step);
        }
        let Some(text) = message.stream else { return };
        self.unfinished_line.push_str(&text);
        while let Some(end) = self.unfinished_line.find('\n') {
            let line: String = self.unfinished_line.drain(..=end).collect();
            let line = line.trim_end();
            if line.is_empty() {
                continue;
            }
            // Docker writes `Step 1/2 : FROM x`, Podman `STEP 1/2: FROM x`.
            if line.starts_with("Step ") || line.starts_with("STEP ") {
                line.clone_into(&mut self.step);
            }
            if self.tail.len() == MAX_LOG_TAIL_LINES {
                self.tail.pop_front();
            }
            self.tail.push_back(line.to_owned());
            // Without a listener the build continues.
            let _ = progress.send(ImageProgress::Line(line.to_owned()));
        }
    }
}

fn context_error(spec: &BuildSpec, reason: &dyn ToString) -> EngineError {
    EngineError::BuildContext {
        context: spec.context.clone(),
        reason: reason.to_string(),
        help: None,
    }
}

async fn build_error(
    spec: &BuildSpec,
    error: Error,
    log: BuildLog,
    upload: JoinHandle<io::Result<()>>,
) -> EngineError {
    let Some(message) = engine_message(&error) else {
        // A broken pipe is the engine's doing; any other fault of the upload is the cause.
        return match upload.await {
            Ok(Err(cause)) if cause.kind() != io::ErrorKind::BrokenPipe => {
                context_error(spec, &cause)
            }
            _ => to_engine_error(&format!("build {}", spec.tag), error),
        };
    };
    let reason = message.trim().to_owned();
    if is_no_space(&reason.to_lowercase()) {
        return EngineError::NoSpace { operation: format!("build {}", spec.tag), reason };
    }
    instruction_error(spec, log, &reason)
}

fn instruction_error(spec: &BuildSpec, log: BuildLog, message: &str) -> EngineError {
    let hint = build_hint(message, &log.step);
    let place = if log.step.is_empty() { spec.dockerfile.clone() } else { log.step };
    EngineError::Build {
        tag: spec.tag.clone(),
        reason: format!("`{place}`: {message}"),
        last_lines: log.tail.into(),
        help: Some(hint),
    }
}

fn build_hint(reason: &str, step: &str) -> String {
    if let Some(failure) = explain_refusal(reason) {
        return failure;
    }
    let pulls = step.contains(": FROM ");
    let text = match classify_pull_failure(reason) {
        PullFailure::NotFound if pulls => "check the image after FROM, and its tag",
        PullFailure::Unauthorized if pulls => {
            "`docker login` to the registry of the image after FROM"
        }
        PullFailure::Transient | PullFailure::RateLimited if pulls => {
            "the registry or the network failed: retrying may help"
        }
        _ => "to see more: `docker build` in that directory",
    };
    text.to_owned()
}

/// Credentials for the images after FROM. What cannot be found out here is left to the engine,
/// whose error names the image that it could not pull.
async fn base_image_logins(dockerfile: &str) -> HashMap<String, DockerCredentials> {
    let mut logins = HashMap::new();
    for image in base_images(dockerfile) {
        let Ok(reference) = ImageRef::parse(image) else {
            continue;
        };
        if let Ok(Some(auth)) = credentials::find_image_credentials(image).await {
            let key = reference.credentials_key().to_owned();
            logins.insert(key, to_docker_credentials(&reference, auth));
        }
    }
    logins
}

/// The images after FROM: neither the stages of this file nor `scratch`.
fn base_images(dockerfile: &str) -> Vec<&str> {
    let mut stages = vec!["scratch"];
    let mut images = Vec::new();
    for line in dockerfile.lines() {
        let mut words = line.split_whitespace();
        if !words.next().is_some_and(|word| word.eq_ignore_ascii_case("from")) {
            continue;
        }
        let arguments: Vec<&str> = words.filter(|word| !word.starts_with("--")).collect();
        images.extend(arguments.first().filter(|image| !stages.contains(image)));
        stages.extend(arguments.get(2));
    }
    images.dedup();
    images
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_images_exclude_stages_and_scratch() {
        let text = "FROM --platform=linux/amd64 a.example/x:1 AS one\nRUN true\nfrom one\nFROM scratch\nFROM debian\n";
        assert_eq!(base_images(text), ["a.example/x:1", "debian"]);
    }

    #[test]
    fn the_log_is_split_into_lines() {
        let (to, mut from) = mpsc::unbounded_channel();
        let mut log = BuildLog::default();
        for text in ["Step 1/2 : FROM x\n", "half", " a line\nnext\n", "open"] {
            let message = BuildInfo { stream: Some(text.into()), ..BuildInfo::default() };
            log.record_message(message, &to);
        }
        drop(to);
        let mut lines = Vec::new();
        while let Some(ImageProgress::Line(line)) = from.blocking_recv() {
            lines.push(line);
        }
        assert_eq!(lines, ["Step 1/2 : FROM x", "half a line", "next"]);
        assert_eq!(log.step, "Step 1/2 : FROM x");
    }
}
