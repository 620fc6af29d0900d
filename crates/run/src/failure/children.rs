//! Lists the child processes of a command, where it runs. The kernel keeps the exit status of a process until
//! its parent reaps it: a parent that waits for something else leaves a zombie. A parent that waits for its
//! children in order reaps it, and waits for the next.

use std::time::{Duration, Instant};

use super::finding::Finding;
use crate::target::StepCommand;
use retrial_plan::failure::FailureSigns;

/// The interval between probes.
const INTERVAL: Duration = Duration::from_secs(5);

/// The watch of one command's child processes.
pub struct Children {
    dead: Option<Duration>,
    missing: Option<Duration>,
    last_probe: Option<Instant>,
}

impl Children {
    /// Returns a watch with the limits of a command, if it has any.
    pub fn of(signs: &FailureSigns) -> Option<Self> {
        let (dead, missing) = (signs.dead_child, signs.missing_child);
        dead.or(missing)?;
        Some(Self {
            dead,
            missing,
            last_probe: None,
        })
    }

    /// Lists the processes where the command runs, at intervals. A child that is dead or missing for longer
    /// than the limit is a failure. Observations of a service before it is ready also count during a
    /// measurement.
    pub async fn probe(&mut self, command: &StepCommand<'_>) -> Option<Finding> {
        let limits = [self.dead, self.missing].into_iter().flatten();
        let interval = limits.fold(INTERVAL, Duration::min);
        if self
            .last_probe
            .is_some_and(|last_probe| last_probe.elapsed() < interval)
        {
            return None;
        }
        let output = command.script("children", &[]).await?;
        let now = Instant::now();
        self.last_probe = Some(now);
        let session = &command.session;
        let mut children = session.children();
        let history = children.entry(session.step.number).or_default();
        let snapshot = history.update(&session.redacted(&output), now);
        let dead = self
            .dead
            .and_then(|limit| history.dead_for(&snapshot, limit, now));
        dead.or_else(|| history.missing_for(&snapshot, self.missing?, now))
    }
}
