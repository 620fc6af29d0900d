//! Runs work that reports its progress over a channel.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::sleep;

/// The longest time that people wait without a word.
pub const MAX_SILENCE: Duration = Duration::from_secs(5);

/// Runs the work and passes its reports on in order, to the last one; none where for a while there was none.
pub async fn run_with_progress<P, T>(
    start_work: impl AsyncFnOnce(UnboundedSender<P>) -> T,
    mut report: impl FnMut(Option<P>),
) -> T {
    let (sender, mut receiver) = unbounded_channel();
    let work = start_work(sender);
    tokio::pin!(work);
    let mut is_silent = false;
    let result = loop {
        tokio::select! {
            biased;
            Some(progress) = receiver.recv() => {
                is_silent = false;
                report(Some(progress));
            }
            result = &mut work => break result,
            () = sleep(MAX_SILENCE), if !is_silent => {
                is_silent = true;
                report(None);
            }
        }
    };
    while let Ok(progress) = receiver.try_recv() {
        report(Some(progress));
    }
    result
}
