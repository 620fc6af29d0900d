//! Waiting for a state, with a limit: a fixed pause is too short on a busy machine and too long on an idle one.

use std::time::{Duration, Instant};

/// The longest that any state may take on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_mins(2);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Waits until a condition is met; panics with its description if it is not met in time.
#[track_caller]
pub fn wait_until(condition: &str, mut is_met: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_met() {
        assert!(since.elapsed() < WAIT_TIMEOUT, "not in time: {condition}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Like [`wait_until`], for a condition that is asked of an engine or of tasks of this program.
pub async fn wait_until_async(condition: &str, mut is_met: impl AsyncFnMut() -> bool) {
    let since = Instant::now();
    while !is_met().await {
        assert!(since.elapsed() < WAIT_TIMEOUT, "not in time: {condition}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
