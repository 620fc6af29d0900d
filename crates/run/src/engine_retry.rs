//! Waits for an unavailable engine: a restart of the daemon does not end a run.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::step_session::StepSession;
use retrial_engine::error::EngineError;

/// The interval between attempts.
const PAUSE: Duration = Duration::from_millis(500);

impl StepSession<'_> {
    /// Runs an operation; while the engine is unavailable, waits and retries.
    pub async fn with_engine<T, R>(
        &self,
        mut operation: impl FnMut() -> R,
    ) -> Result<T, EngineError>
    where
        R: Future<Output = Result<T, EngineError>>,
    {
        let mut unavailable_since: Option<Instant> = None;
        loop {
            let error = match operation().await {
                Err(error) if error.is_unavailable() => error,
                other => return other,
            };
            let patience = self.options.patience;
            let since = *unavailable_since.get_or_insert_with(|| {
                let reason = error.to_string();
                let reason = reason.lines().next().unwrap_or_default();
                let seconds = patience.as_secs();
                let text = format!(
                    "lost the connection to the engine, waiting up to {seconds} s for it: {reason}"
                );
                let _ = self.warn(text);
                Instant::now()
            });
            let lost = self.engine_lost.load(Ordering::Relaxed);
            if lost || self.stop.is_cancelled() || since.elapsed() > patience {
                self.engine_lost.store(true, Ordering::Relaxed);
                return Err(error);
            }
            tokio::time::sleep(PAUSE.min(patience)).await;
        }
    }
}
