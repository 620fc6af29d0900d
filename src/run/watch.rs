//! Waits until the container's side does something in a directory. Looking again every few
//! milliseconds is no way to see a short step's end at once: what a step prints through a pipe
//! came out a tenth slower while a third process woke every other millisecond (tried, two cores).

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, sleep, timeout};

/// However fast things happen, so much time lies between two looks.
const LEAST: Duration = Duration::from_millis(1);

/// Tells when something happens in a directory. Where the kernel does not say (no watches left, a
/// file system that tells nothing of another side's work), time alone does.
pub struct Watch {
    told: Option<AsyncFd<OwnedFd>>,
    begun: Instant,
    latest: Instant,
}

impl Watch {
    /// Something is renamed to a name in the directory.
    pub fn renames(directory: &Path) -> Self {
        Self::on(directory, WatchFlags::MOVED_TO)
    }

    /// A file of the directory has been written.
    pub fn writes(directory: &Path) -> Self {
        Self::on(directory, WatchFlags::CLOSE_WRITE)
    }

    fn on(directory: &Path, what: WatchFlags) -> Self {
        let told = || {
            let flags = CreateFlags::NONBLOCK | CreateFlags::CLOEXEC;
            let descriptor = inotify::init(flags).ok()?;
            let what = what | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            inotify::add_watch(&descriptor, directory, what).ok()?;
            #[expect(
                deprecated,
                reason = "an owned descriptor; the new name is unsafe to call"
            )]
            AsyncFd::new(descriptor).ok()
        };
        let now = Instant::now();
        Self {
            told: told(),
            begun: now,
            latest: now,
        }
    }

    /// Waits until something has happened since the last call, `longest` at most.
    pub async fn change(&mut self, longest: Duration) {
        match &self.told {
            Some(told) => {
                sleep(LEAST.saturating_sub(self.latest.elapsed())).await;
                let _ = timeout(longest, drain(told)).await;
            }
            None => sleep((self.begun.elapsed() / 32).clamp(LEAST, longest)).await,
        }
        self.latest = Instant::now();
    }
}

/// Waits until the kernel tells something, and forgets what it told.
async fn drain(told: &AsyncFd<OwnedFd>) {
    let mut events = [0; 4096];
    while let Ok(mut ready) = told.readable().await {
        let read = |told: &AsyncFd<OwnedFd>| Ok(rustix::io::read(told.get_ref(), &mut events)?);
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
    async fn a_rename_is_told_at_once_and_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let mut watch = Watch::renames(&path);
        std::fs::write(path.join("exit.tmp"), "0").unwrap();
        let begun = Instant::now();
        let rename = async {
            sleep(Duration::from_millis(20)).await;
            std::fs::rename(path.join("exit.tmp"), path.join("exit")).unwrap();
        };
        tokio::join!(watch.change(LONG), rename);
        assert!(begun.elapsed() >= Duration::from_millis(20));
        assert!(begun.elapsed() < LONG);
        let again = Instant::now();
        watch.change(Duration::from_millis(30)).await;
        assert!(again.elapsed() >= Duration::from_millis(30));
    }

    #[tokio::test]
    async fn without_the_kernels_word_time_goes_on() {
        let mut watch = Watch::writes(Path::new("/nowhere/at/all"));
        assert!(watch.told.is_none());
        let begun = Instant::now();
        watch.change(LONG).await;
        assert!(begun.elapsed() < LONG);
    }
}
