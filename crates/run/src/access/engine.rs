//! A session's access to its engine, which may be restarted at any time: containers live on meanwhile. The caller of
//! the engine decides whether to wait for it ([`EngineAccess::call_with_retries`]) or to fail at once
//! ([`EngineAccess::call_once`]); there is no third way.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::mutex::lock;
use retrial_container::EngineInfo;
use retrial_engine::EngineError;
use retrial_engine::api::Engine;

const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// The timeout of a request that is not repeated: an engine that starts accepts connections before it
/// responds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for the engine once the run is to stop: its containers should be removed.
const STOPPED_RUN_TIMEOUT: Duration = Duration::from_secs(10);

/// The engine of a session, and how long it is waited for.
pub struct EngineAccess {
    engine: Arc<dyn Engine>,
    /// The longest time for which the engine may be unavailable when it is needed.
    unavailability_limit: Duration,
    stop: CancellationToken,
    /// The engine was unavailable for too long: nobody waits for it again.
    is_lost: AtomicBool,
    waits: Mutex<WaitTime>,
}

/// The time that was spent on waiting.
#[derive(Default)]
struct WaitTime {
    /// The number of operations that wait now.
    waiting: u32,
    /// When the first of them began to wait.
    waiting_since: Option<Instant>,
    /// Earlier waits, one after the other.
    ended_waits: Duration,
}

impl EngineAccess {
    /// Returns the access of a session that waits so long for its engine, and less once it is to stop.
    pub fn new(
        engine: Arc<dyn Engine>,
        unavailability_limit: Duration,
        stop: CancellationToken,
    ) -> Self {
        Self {
            engine,
            unavailability_limit,
            stop,
            is_lost: AtomicBool::new(false),
            waits: Mutex::default(),
        }
    }

    pub fn info(&self) -> &EngineInfo {
        self.engine.info()
    }

    /// Performs an operation, again and again while the engine is unavailable: it must do no harm if it was
    /// performed already. The first that waits reports why.
    ///
    /// # Errors
    /// If the engine refuses, or is unavailable for too long.
    pub async fn call_with_retries<'e, T, R>(
        &'e self,
        mut operation: impl FnMut(&'e dyn Engine) -> R,
        report: impl FnOnce(String),
    ) -> Result<T, EngineError>
    where
        R: Future<Output = Result<T, EngineError>>,
    {
        let mut report = Some(report);
        let mut first_wait = None;
        loop {
            let begun = Instant::now();
            let error = match operation(self.engine.as_ref()).await {
                Err(error) if error.is_unavailable() => error,
                other => return other,
            };
            let wait = first_wait.get_or_insert_with(|| WaitGuard::begin(self, begun));
            if self.is_lost() || wait.failed_at.elapsed() > self.max_wait() {
                self.is_lost.store(true, Ordering::Relaxed);
                return Err(error);
            }
            if let Some(report) = report.take().filter(|_| wait.is_first) {
                report(self.describe_wait(&error));
            }
            tokio::time::sleep(RETRY_INTERVAL.min(self.unavailability_limit)).await;
        }
    }

    /// Performs an operation once, and not for long: one that is repeated anyway, and without which the files
    /// show enough.
    ///
    /// # Errors
    /// If the engine refuses, or is unavailable.
    pub async fn call_once<'e, T, R>(
        &'e self,
        operation: impl FnOnce(&'e dyn Engine) -> R,
    ) -> Result<T, EngineError>
    where
        R: Future<Output = Result<T, EngineError>>,
    {
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, operation(self.engine.as_ref()));
        answer.await.unwrap_or_else(|_| {
            Err(EngineError::Disconnected {
                operation: "answer a question".to_owned(),
                reason: format!("it did not within {ANSWER_TIMEOUT:?}"),
            })
        })
    }

    /// Returns the time that operations have waited since [`Self::reset_waited_time`].
    pub fn waited_time(&self) -> Duration {
        let waits = lock(&self.waits);
        waits.ended_waits + waits.waiting_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Resets the time that operations have waited.
    pub fn reset_waited_time(&self) {
        lock(&self.waits).ended_waits = Duration::ZERO;
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    fn max_wait(&self) -> Duration {
        if self.stop.is_cancelled() {
            self.unavailability_limit.min(STOPPED_RUN_TIMEOUT)
        } else {
            self.unavailability_limit
        }
    }

    fn describe_wait(&self, error: &EngineError) -> String {
        let seconds = self.max_wait().as_secs();
        format!("lost the connection to the engine, waiting up to {seconds} s for it: {error}")
    }
}

/// An operation that waits, as long as this lives.
struct WaitGuard<'a> {
    access: &'a EngineAccess,
    /// When the operation failed for the first time: it may have run for long before.
    failed_at: Instant,
    /// No other operation waits.
    is_first: bool,
}

impl<'a> WaitGuard<'a> {
    fn begin(access: &'a EngineAccess, begun: Instant) -> Self {
        let mut waits = lock(&access.waits);
        waits.waiting += 1;
        waits.waiting_since.get_or_insert(begun);
        let is_first = waits.waiting == 1;
        Self { access, failed_at: Instant::now(), is_first }
    }
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        let mut waits = lock(&self.access.waits);
        waits.waiting -= 1;
        if waits.waiting == 0
            && let Some(since) = waits.waiting_since.take()
        {
            waits.ended_waits += since.elapsed();
        }
    }
}
