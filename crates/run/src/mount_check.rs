//! Checks that the container sees our files: its first process copies a nonce. Distinguishes the causes of
//! failure.

use std::time::{Duration, Instant};

use super::control::Control;
use super::follow::with_exit_code;
use super::session::Session;
use super::watch::Watch;
use retrial_container::first_process::CONTROL;
use retrial_engine::api::ExecSpec;

/// How long the first process may take to copy the nonce.
const PATIENCE: Duration = Duration::from_secs(20);

/// The result of the check.
pub enum MountCheck {
    /// It sees our files.
    Shared,
    /// It does not see our files.
    NotShared,
    /// It sees our files, but its first process is not ours; the end of its log.
    EntrypointOverridden(String),
    /// Its first process ended.
    Exited(String),
    /// The run is being stopped.
    Stopped,
}

/// Waits until the first process has copied the nonce.
pub async fn verify_control_mount(
    session: &Session,
    control: &Control,
    id: &str,
    nonce: &str,
) -> MountCheck {
    let since = Instant::now();
    let mut last_checked = since;
    let mut watch = Watch::writes(control.path());
    loop {
        if control.is_nonce_copied(nonce) {
            return MountCheck::Shared;
        }
        if session.stop.is_cancelled() {
            return MountCheck::Stopped;
        }
        if last_checked.elapsed() > Duration::from_millis(300) {
            last_checked = Instant::now();
            if let Ok(Some(state)) = session.engine.container(id).await
                && !state.running
                && !control.is_nonce_copied(nonce)
            {
                let code = with_exit_code(&state);
                let log = log(session, id).await;
                return MountCheck::Exited(format!(
                    "the container's first process ended at once{code}{log}"
                ));
            }
            if sees_nonce(session, id, nonce).await == Some(false)
                && !control.is_nonce_copied(nonce)
            {
                return MountCheck::NotShared;
            }
        }
        if since.elapsed() > PATIENCE {
            return match sees_nonce(session, id, nonce).await {
                Some(true) => MountCheck::EntrypointOverridden(log(session, id).await),
                _ => MountCheck::NotShared,
            };
        }
        watch.change(Duration::from_millis(100)).await;
    }
}

/// Whether a process in the container can read the nonce; none if unknown.
async fn sees_nonce(session: &Session, id: &str, nonce: &str) -> Option<bool> {
    let line = format!("read -r nonce <{CONTROL}/nonce; echo \"nonce $nonce\"");
    let spec = ExecSpec::as_root(["/bin/sh", "-c", &line]);
    let output = session.engine.exec(id, &spec).await.ok()?;
    let line = output
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("nonce "))?;
    Some(line.trim() == nonce)
}

async fn log(session: &Session, id: &str) -> String {
    let log = session.engine.container_log(id, 10).await;
    let log = log.unwrap_or_default();
    let lines = log.lines();
    let lines = lines.map(|line| format!("\n  | {}", retrial_readings::sanitize(line)));
    lines.collect()
}
