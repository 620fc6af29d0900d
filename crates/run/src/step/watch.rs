//! Waits until the container's side changes a directory. Polling every few milliseconds to detect the end of a
//! short step would disturb it: a step's output through a pipe was a tenth slower while a third process woke
//! every other millisecond (measured on two cores).

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, sleep, timeout};

/// The shortest time between two returns.
const MIN_RETURN_INTERVAL: Duration = Duration::from_millis(1);

/// Reports changes of a directory. If the kernel does not (no watches left, a file system that does not report
/// changes by other machines), it returns after a timeout.
pub struct DirectoryWatch {
    events: Option<AsyncFd<OwnedFd>>,
    created_at: Instant,
    latest: Instant,
}

impl DirectoryWatch {
    /// Reports files that are renamed to a name in the directory.
    pub fn for_renames(directory: &Path) -> Self {
        Self::for_events(directory, WatchFlags::MOVED_TO)
    }

    /// Reports files of the directory that were written.
    pub fn for_writes(directory: &Path) -> Self {
        Self::for_events(directory, WatchFlags::CLOSE_WRITE)
    }

    fn for_events(directory: &Path, mask: WatchFlags) -> Self {
        let events = || {
            let flags = CreateFlags::NONBLOCK | CreateFlags::CLOEXEC;
            let descriptor = inotify::init(flags).ok()?;
            let full_mask = mask | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            inotify::add_watch(&descriptor, directory, full_mask).ok()?;
            #[expect(deprecated, reason = "an owned descriptor; the new name is unsafe to call")]
            AsyncFd::new(descriptor).ok()
        };
        let now = Instant::now();
        Self { events: events(), created_at: now, latest: now }
    }

    /// Waits until something has happened since the last call, `longest` at most.
    pub async fn wait_for_change(&mut self, longest: Duration) {
        match &self.events {
            Some(events) => {
                sleep(MIN_RETURN_INTERVAL.saturating_sub(self.latest.elapsed())).await;
                // The end of the wait is no error.
                let _ = timeout(longest, drain_events(events)).await;
            }
            None => {
                sleep((self.created_at.elapsed() / 32).clamp(MIN_RETURN_INTERVAL, longest)).await;
            }
        }
        self.latest = Instant::now();
    }
}

/// The kernel waits before it closes such a descriptor, 10 to 20 ms: not on the way to the next step.
impl Drop for DirectoryWatch {
    fn drop(&mut self) {
        if let Some(events) = self.events.take() {
            let descriptor = events.into_inner();
            tokio::task::spawn_blocking(move || drop(descriptor));
        }
    }
}

/// Waits for inotify events, and discards them.
async fn drain_events(descriptor: &AsyncFd<OwnedFd>) {
    let mut events = [0; 4096];
    while let Ok(mut ready) = descriptor.readable().await {
        let read = |from: &AsyncFd<OwnedFd>| Ok(rustix::io::read(from.get_ref(), &mut events)?);
        if let Ok(result) = ready.try_io(read) {
            if result.is_err() {
                std::future::pending::<()>().await;
            }
            return;
        }
    }
    std::future::pending::<()>().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_rename_is_reported_immediately_and_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let mut watch = DirectoryWatch::for_renames(&path);
        std::fs::write(path.join("exit.tmp"), "0").unwrap();
        let begun = Instant::now();
        let rename = async {
            sleep(Duration::from_millis(20)).await;
            std::fs::rename(path.join("exit.tmp"), path.join("exit")).unwrap();
        };
        tokio::join!(watch.wait_for_change(LONG), rename);
        assert!(begun.elapsed() >= Duration::from_millis(20));
        assert!(begun.elapsed() < LONG);
        let again = Instant::now();
        watch.wait_for_change(Duration::from_millis(30)).await;
        assert!(again.elapsed() >= Duration::from_millis(30));
    }

    #[tokio::test]
    async fn without_inotify_it_returns_after_a_timeout() {
        let mut watch = DirectoryWatch::for_writes(Path::new("/nowhere/at/all"));
        assert!(watch.events.is_none());
        let begun = Instant::now();
        watch.wait_for_change(LONG).await;
        assert!(begun.elapsed() < LONG);
    }
}
