//! Waits for an engine that went away: a restart of the daemon is not the end of a run.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::session::Session;
use crate::plan::step::Step;
use retrial_engine::error::EngineError;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Runs an operation; while the engine is gone, waits and runs it again.
pub async fn with_engine<T, F, R>(
    session: &Session,
    step: &Step,
    mut operation: F,
) -> Result<T, EngineError>
where
    F: FnMut() -> R,
    R: Future<Output = Result<T, EngineError>>,
{
    let mut gone_since: Option<Instant> = None;
    loop {
        let error = match operation().await {
            Err(error) if error.is_gone() => error,
            other => return other,
        };
        let patience = session.options.patience;
        let since = *gone_since.get_or_insert_with(|| {
            let text = format!(
                "lost the engine, waiting up to {} s for it: {}",
                patience.as_secs(),
                first_line(&error)
            );
            let _ = session.warn(step, text);
            Instant::now()
        });
        let lost = session.engine_lost.load(Ordering::Relaxed);
        if lost || session.stop.is_cancelled() || since.elapsed() > patience {
            session.engine_lost.store(true, Ordering::Relaxed);
            return Err(error);
        }
        tokio::time::sleep(PAUSE.min(patience)).await;
    }
}

fn first_line(error: &EngineError) -> String {
    error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}
