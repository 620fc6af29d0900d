//! Looks for child processes of a command that are dead. The kernel keeps how a process ended until its
//! parent collects it: a parent that waits for something else leaves it there.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::finding::{DeadChild, Finding};
use crate::plan::step::Step;
use crate::run::session::Session;
use crate::run::target::Target;

/// Between two looks.
const INTERVAL: Duration = Duration::from_secs(5);

/// The watch of one command's child processes.
pub struct Children {
    limit: Duration,
    asked: Option<Instant>,
    seen: Seen,
}

impl Children {
    /// Those that may be dead for so long.
    pub fn new(limit: Duration) -> Self {
        Self {
            limit,
            asked: None,
            seen: Seen::default(),
        }
    }

    /// Asks where the command runs, now and then. A child that is dead for longer than the limit is a failure.
    pub async fn probe(
        &mut self,
        session: &Session,
        step: &Step,
        target: &Target,
    ) -> Option<Finding> {
        let interval = INTERVAL.min(self.limit);
        if self.asked.is_some_and(|asked| asked.elapsed() < interval) {
            return None;
        }
        let output = target.script(session, step, "children", &[]).await?;
        let now = Instant::now();
        self.asked = Some(now);
        let child = self.seen.dead_for(&output, self.limit, now)?;
        Some(Finding::DeadChild(DeadChild {
            name: session.redacted(&child.name),
            ..child
        }))
    }
}

/// What the looks so far showed.
#[derive(Debug, Default)]
struct Seen {
    /// The GPUs of each process, by its id: a dead one has no environment any more.
    devices: BTreeMap<u32, String>,
    /// Since when each child is dead, by its id and beginning.
    dead: BTreeMap<(u32, u64), Instant>,
}

impl Seen {
    /// The first child that has been dead for longer than the limit.
    fn dead_for(&mut self, output: &str, limit: Duration, now: Instant) -> Option<DeadChild> {
        let mut dead = Vec::new();
        for line in output.lines() {
            if let Some((pid, devices)) = line.strip_prefix("devices ").and_then(devices_of) {
                self.devices.insert(pid, devices);
            } else if let Some(child) = line.strip_prefix("dead ").and_then(child_of) {
                dead.push(child);
            }
        }
        let before = std::mem::take(&mut self.dead);
        let key = |child: &DeadChild| (child.pid, child.began);
        let since = |child: &DeadChild| *before.get(&key(child)).unwrap_or(&now);
        self.dead = dead
            .iter()
            .map(|child| (key(child), since(child)))
            .collect();
        let mut overdue = dead.into_iter();
        let mut child = overdue.find(|child| now.duration_since(since(child)) >= limit)?;
        child.devices = self.devices.get(&child.pid).cloned();
        Some(child)
    }
}

/// Reads `/proc/71/environ:HIP_VISIBLE_DEVICES=3`.
fn devices_of(text: &str) -> Option<(u32, String)> {
    let (pid, devices) = text.strip_prefix("/proc/")?.split_once("/environ:")?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_=,.-".contains(letter);
    let plain: String = devices.chars().filter(|letter| is_plain(*letter)).collect();
    Some((pid.parse().ok()?, plain))
}

/// Reads `71 5123 4 9 python`: id, beginning, parent, status, name.
fn child_of(text: &str) -> Option<DeadChild> {
    let mut words = text.splitn(5, ' ');
    let (pid, began, parent) = (words.next()?, words.next()?, words.next()?);
    Some(DeadChild {
        pid: pid.parse().ok()?,
        began: began.parse().ok()?,
        parent: parent.parse().ok()?,
        status: words.next()?.parse().ok()?,
        name: retrial_readings::sanitize(words.next()?).into_owned(),
        devices: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn a_child_that_stays_dead_is_named_with_its_gpu() {
        let mut seen = Seen::default();
        let start = Instant::now();
        let alive = "devices /proc/71/environ:HIP_VISIBLE_DEVICES=3\n";
        assert_eq!(seen.dead_for(alive, LIMIT, start), None);
        let dead = "dead 71 5123 4 9 python 3\n";
        assert_eq!(seen.dead_for(dead, LIMIT, start), None);
        assert_eq!(seen.dead_for(dead, LIMIT, start + LIMIT / 2), None);
        let child = seen.dead_for(dead, LIMIT, start + LIMIT).unwrap();
        assert_eq!((child.pid, child.parent, child.status), (71, 4, 9));
        assert_eq!(child.name, "python 3");
        assert_eq!(child.devices.as_deref(), Some("HIP_VISIBLE_DEVICES=3"));
    }

    #[test]
    fn one_that_is_collected_in_time_is_forgotten() {
        let mut seen = Seen::default();
        let start = Instant::now();
        let dead = "dead 71 5123 4 9 sh\n";
        assert_eq!(seen.dead_for(dead, LIMIT, start), None);
        assert_eq!(seen.dead_for("", LIMIT, start + LIMIT / 2), None);
        // The same id, another process.
        let other = "dead 71 9999 4 9 sh\n";
        assert_eq!(seen.dead_for(other, LIMIT, start + LIMIT), None);
    }
}
