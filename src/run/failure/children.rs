//! Asks for the child processes of a command, where it runs. The kernel keeps how a process ended until its
//! parent collects it: a parent that waits for something else leaves it there. A parent that waits for its
//! children, one after the other, collects it, and waits for the next.

use std::time::{Duration, Instant};

use super::finding::Finding;
use crate::plan::failure::FailureSigns;
use crate::run::target::StepCommand;

/// Between two looks.
const INTERVAL: Duration = Duration::from_secs(5);

/// The watch of one command's child processes.
pub struct Children {
    dead: Option<Duration>,
    missing: Option<Duration>,
    asked: Option<Instant>,
}

impl Children {
    /// With the limits of a command, if it has any.
    pub fn of(signs: &FailureSigns) -> Option<Self> {
        let (dead, missing) = (signs.dead_child, signs.missing_child);
        dead.or(missing)?;
        Some(Self {
            dead,
            missing,
            asked: None,
        })
    }

    /// Asks where the command runs, now and then. A child that is dead or missing for longer than the limit
    /// is a failure. What is seen of a service before it is ready counts while something is measured.
    pub async fn probe(&mut self, command: &StepCommand<'_>) -> Option<Finding> {
        let limits = [self.dead, self.missing].into_iter().flatten();
        let interval = limits.fold(INTERVAL, Duration::min);
        if self.asked.is_some_and(|asked| asked.elapsed() < interval) {
            return None;
        }
        let output = command.script("children", &[]).await?;
        let now = Instant::now();
        self.asked = Some(now);
        let session = &command.session;
        let mut children = session.children();
        let seen = children.entry(session.step.number).or_default();
        let look = seen.look(&session.redacted(&output), now);
        let dead = self.dead.and_then(|limit| seen.dead_for(&look, limit, now));
        dead.or_else(|| seen.missing_for(&look, self.missing?, now))
    }
}
