//! Lists the child processes of a command, where it runs. The kernel keeps the exit status of a process until
//! its parent reaps it: a parent that waits for something else leaves a zombie. A parent that waits for its
//! children in order reaps it, and waits for the next.

use std::time::{Duration, Instant};

use super::finding::FailureFinding;
use crate::mutex::lock;
use crate::step::StepCommand;

const MAX_PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// The watch of one command's child processes.
#[derive(Default)]
pub struct ChildWatch {
    last_probe: Option<Instant>,
}

impl ChildWatch {
    /// Lists the processes where the command runs, at intervals. A child that is dead or missing for longer
    /// than the command's limit, if it has one, is a failure. Observations of a service before it is ready also
    /// count during a measurement.
    pub async fn probe_children(&mut self, command: &StepCommand<'_>) -> Option<FailureFinding> {
        let signs = &command.exec.failure;
        let limits = signs.dead_child.into_iter().chain(signs.missing_child);
        let interval = limits.min()?.min(MAX_PROBE_INTERVAL);
        if self.last_probe.is_some_and(|last_probe| last_probe.elapsed() < interval) {
            return None;
        }
        let output = command.run_script_once("children", &[]).await?;
        let now = Instant::now();
        self.last_probe = Some(now);
        let session = &command.session;
        let mut children = lock(&session.run_session.children);
        let history = children.entry(session.step.number).or_default();
        let snapshot = history.add_snapshot(&session.run_session.redact(&output), now);
        let dead =
            signs.dead_child.and_then(|limit| history.find_dead_child(&snapshot, limit, now));
        dead.or_else(|| history.find_missing_child(&snapshot, signs.missing_child?, now))
    }
}
