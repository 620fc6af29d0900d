//! Checks that the container sees our files: its first process copies a nonce. Distinguishes the causes of
//! failure.

use std::time::{Duration, Instant};

use crate::access::RunSession;
use crate::control::ControlDirectory;
use crate::error::Halt;
use crate::step::{DirectoryWatch, format_exit_code};
use retrial_container::first_process::CONTROL_MOUNT;
use retrial_engine::api::ExecSpec;
use retrial_store::journal::{StepEnd, StepFault};

/// The longest time that the first process may take to copy the nonce.
const NONCE_TIMEOUT: Duration = Duration::from_secs(20);

/// Waits until the first process has copied the nonce.
///
/// # Errors
/// If the container does not see our files, its first process is not ours or has ended, or the run is stopped.
pub async fn verify_control_mount(
    session: &RunSession,
    control: &ControlDirectory,
    id: &str,
    nonce: &str,
) -> Result<(), Halt> {
    let since = Instant::now();
    let mut last_checked = since;
    let mut watch = DirectoryWatch::for_writes(control.path());
    loop {
        if control.is_nonce_copied(nonce) {
            return Ok(());
        }
        if session.stop.is_cancelled() {
            return Err(StepEnd::Stopped.into());
        }
        if last_checked.elapsed() > Duration::from_millis(300) {
            last_checked = Instant::now();
            let state = session.with_engine(|engine| engine.inspect_container(id)).await?;
            if let Some(state) = state
                && !state.running
                && !control.is_nonce_copied(nonce)
            {
                let code = format_exit_code(&state);
                let log = format_container_log(session, id).await;
                let end = StepEnd::failure(
                    StepFault::Host,
                    format!("the container's first process ended at once{code}"),
                    "with `entrypoint: image`, the image's entrypoint must execute its arguments",
                );
                return Err(end.with_last_lines(|| log).into());
            }
            if can_read_nonce(session, id, nonce).await == Some(false)
                && !control.is_nonce_copied(nonce)
            {
                return Err(not_shared_error(session));
            }
        }
        if since.elapsed() > NONCE_TIMEOUT {
            let is_seen = can_read_nonce(session, id, nonce).await == Some(true);
            if control.is_nonce_copied(nonce) {
                return Ok(());
            }
            if !is_seen {
                return Err(not_shared_error(session));
            }
            let log = format_container_log(session, id).await;
            let end = StepEnd::failure(
                StepFault::Host,
                "the image's entrypoint does not execute its arguments",
                "remove `entrypoint: image` from the recipe: the entrypoint is then bypassed",
            );
            return Err(end.with_last_lines(|| log).into());
        }
        watch.wait_for_change(Duration::from_millis(100)).await;
    }
}

/// The end of a step whose container does not see our files.
pub fn not_shared_error(session: &RunSession) -> Halt {
    let endpoint = &session.engine.info().endpoint;
    let path = session.control.path().display();
    Halt::failure(
        StepFault::Host,
        format!(
            "the engine at {endpoint} does not share this machine's files: its containers do not see {path}"
        ),
        "run retrial on the engine's own machine; remote engines are not supported",
    )
}

/// Returns whether a process in the container can read the nonce; none if unknown.
async fn can_read_nonce(session: &RunSession, id: &str, nonce: &str) -> Option<bool> {
    let line = format!("read -r nonce <{CONTROL_MOUNT}/nonce; echo \"nonce $nonce\"");
    let spec = ExecSpec::as_root(["/bin/sh", "-c", &line]);
    let query = session.with_engine(|engine| engine.exec_attached(id, &spec));
    let output = query.await.ok()?;
    let line = output.stdout.lines().find_map(|line| line.strip_prefix("nonce "))?;
    Some(line.trim() == nonce)
}

async fn format_container_log(session: &RunSession, id: &str) -> Vec<String> {
    let query = session.with_engine(|engine| engine.read_container_log(id, 10));
    let answer = query.await;
    let log = answer.unwrap_or_default();
    let quoted_lines = log.lines();
    quoted_lines.map(|line| retrial_readings::sanitize(line).to_string()).collect()
}
