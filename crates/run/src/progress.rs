//! Runs work that reports its progress over a channel.

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Runs the work and passes its reports on in order, to the last one.
pub async fn run_with_progress<P, T>(
    start_work: impl AsyncFnOnce(UnboundedSender<P>) -> T,
    mut report: impl FnMut(P),
) -> T {
    let (sender, mut receiver) = unbounded_channel();
    let work = start_work(sender);
    tokio::pin!(work);
    let result = loop {
        tokio::select! {
            biased;
            Some(progress) = receiver.recv() => report(progress),
            result = &mut work => break result,
        }
    };
    while let Ok(progress) = receiver.try_recv() {
        report(progress);
    }
    result
}
