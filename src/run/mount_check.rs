//! Does the container see our files? Its first process copies a nonce; what else could be wrong
//! where it does not is told apart.

use std::time::{Duration, Instant};

use super::session::Session;
use super::watch::Watch;
use retrial_container::first_process::CONTROL;
use retrial_engine::api::ExecSpec;

/// How long the first process may take to show that it sees our files.
const SIGHT: Duration = Duration::from_secs(20);

/// What a new container shows.
pub enum MountCheck {
    /// It sees our files.
    Shared,
    /// It does not.
    NotShared,
    /// It sees them, but its first process is not ours; the end of its log.
    EntrypointOverridden(String),
    /// Its first process ended.
    Exited(String),
    /// The run is to stop.
    Stopped,
}

/// Waits until the first process shows that it sees the nonce.
pub async fn verify_control_mount(session: &Session, id: &str, nonce: &str) -> MountCheck {
    let since = Instant::now();
    let mut looked = Instant::now();
    let mut watch = Watch::writes(session.control.path());
    loop {
        if session.control.seen(nonce) {
            return MountCheck::Shared;
        }
        if session.stop.is_cancelled() {
            return MountCheck::Stopped;
        }
        if looked.elapsed() > Duration::from_millis(300) {
            looked = Instant::now();
            if let Ok(Some(state)) = session.engine.container(id).await
                && !state.running
                && !session.control.seen(nonce)
            {
                let code = state
                    .exit_code
                    .map_or_else(String::new, |code| format!(" with exit code {code}"));
                let log = log(session, id).await;
                return MountCheck::Exited(format!(
                    "the container's first process ended at once{code}{log}"
                ));
            }
            if sees(session, id, nonce).await == Some(false) && !session.control.seen(nonce) {
                return MountCheck::NotShared;
            }
        }
        if since.elapsed() > SIGHT {
            return match sees(session, id, nonce).await {
                Some(true) => MountCheck::EntrypointOverridden(log(session, id).await),
                _ => MountCheck::NotShared,
            };
        }
        watch.change(Duration::from_millis(100)).await;
    }
}

/// Whether a process in the container sees the nonce; none where it cannot be told.
async fn sees(session: &Session, id: &str, nonce: &str) -> Option<bool> {
    let line = format!("read -r nonce <{CONTROL}/nonce; echo \"nonce $nonce\"");
    let spec = ExecSpec {
        command: vec!["/bin/sh".to_owned(), "-c".to_owned(), line],
        user: Some("0".to_owned()),
        ..Default::default()
    };
    let output = session.engine.exec(id, &spec).await.ok()?;
    let said = output
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("nonce "))?;
    Some(said.trim() == nonce)
}

async fn log(session: &Session, id: &str) -> String {
    let log = session
        .engine
        .container_log(id, 10)
        .await
        .unwrap_or_default();
    let log: Vec<String> = log
        .lines()
        .map(|line| format!("\n  | {}", retrial_readings::sanitize(line)))
        .collect();
    log.concat()
}
