//! Waits for an engine that went away: a restart of the daemon is not the end of a run.

use std::future::Future;
use std::time::{Duration, Instant};

use super::session::Session;
use crate::engine::error::EngineError;
use crate::journal::What;
use crate::plan::step::Step;

/// How long an engine may be away when it is needed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Does an operation; while the engine is gone, waits and does it again.
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
        match operation().await {
            Err(error) if error.is_gone() => {
                let since = *gone_since.get_or_insert_with(Instant::now);
                if since.elapsed() < Duration::from_millis(1) {
                    let text = format!(
                        "the engine went away, waiting up to {} s for it: {error}",
                        PATIENCE.as_secs()
                    );
                    let _ = session.say(Some(step), What::Warning { text });
                }
                if since.elapsed() > PATIENCE || session.stop.is_cancelled() {
                    return Err(error);
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            other => return other,
        }
    }
}
