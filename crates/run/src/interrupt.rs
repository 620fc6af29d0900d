//! Ends work soon after the run is stopped.

use std::future::Future;
use std::thread::Builder;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use retrial_store::journal::StepEnd;

/// The time that work may continue after the signal: most of it is nearly done.
const STOP_GRACE_PERIOD: Duration = Duration::from_secs(3);

/// Waits for work, until a while after the signal.
///
/// # Errors
/// If it was abandoned.
pub async fn run_unless_stopped<T>(
    stop: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, StepEnd> {
    let stopped = async {
        stop.cancelled().await;
        sleep(STOP_GRACE_PERIOD).await;
    };
    tokio::select! {
        biased;
        done = work => Ok(done),
        () = stopped => Err(StepEnd::Stopped),
    }
}

/// Does long work on a thread of its own, so that signals are handled meanwhile. Abandoned work ends with the
/// process, so it must leave nothing that a resumed run does not replace.
///
/// # Errors
/// If it was abandoned.
pub async fn run_on_thread<T: Send + 'static>(
    stop: &CancellationToken,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StepEnd> {
    let (done, result) = oneshot::channel();
    // Not on a runtime thread: the process would wait for its end. Without a thread, `done` is dropped and reported.
    let _ = Builder::new().spawn(move || done.send(work()));
    let result = run_unless_stopped(stop, result).await?;
    result.map_err(|_| StepEnd::host_failure("a thread of this process did not finish"))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn work_is_abandoned_after_a_grace_period() {
        let stop = CancellationToken::new();
        assert_eq!(run_on_thread(&stop, || 7).await, Ok(7));
        stop.cancel();
        assert_eq!(run_on_thread(&stop, || 8).await, Ok(8), "what is done counts");
        let since = Instant::now();
        let endless = || std::thread::sleep(Duration::from_mins(1));
        assert_eq!(run_on_thread(&stop, endless).await, Err(StepEnd::Stopped));
        assert!(since.elapsed() < Duration::from_secs(5));
    }
}
