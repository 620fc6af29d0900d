//! What successive looks at a command's child processes have shown: which are dead, and which of those with
//! GPUs of their own are missing. Pure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::finding::{DeadChild, Finding, MissingChild};

/// A process: its id, and when it began, since ids are used again.
type Process = (u32, u64);

/// The looks so far.
#[derive(Debug, Default)]
pub struct Seen {
    /// The GPUs of each process, by its id: a dead one has no environment any more.
    devices: BTreeMap<u32, String>,
    /// Since when each child is dead.
    dead: BTreeMap<Process, Instant>,
    /// Processes whose environment names GPUs.
    with_gpus: BTreeMap<Process, WithGpus>,
}

/// A process with GPUs.
#[derive(Debug)]
struct WithGpus {
    parent: Process,
    name: String,
    devices: String,
    first_seen: Instant,
    missing: Option<Instant>,
}

impl Seen {
    /// Adds what a look showed: the output of `control/children`.
    pub fn look(&mut self, output: &str, now: Instant) -> Look {
        let mut look = Look::default();
        let mut devices: BTreeMap<u32, String> = BTreeMap::new();
        for line in output.lines() {
            if let Some((pid, names)) = line.strip_prefix("devices ").and_then(devices_of) {
                let all = devices.entry(pid).or_default();
                let space = if all.is_empty() { "" } else { " " };
                *all = format!("{all}{space}{names}");
            } else if let Some(child) = line.strip_prefix("dead ").and_then(dead_of) {
                look.dead.push(child);
            } else if let Some((process, parent, name)) =
                line.strip_prefix("alive ").and_then(alive_of)
            {
                look.alive.insert(process, (parent, name));
            }
        }
        self.devices.append(&mut devices);
        let before = std::mem::take(&mut self.dead);
        let since = |child: &DeadChild| *before.get(&child.process()).unwrap_or(&now);
        let dead = look.dead.iter();
        self.dead = dead.map(|child| (child.process(), since(child))).collect();
        self.note_gpus(&look, now);
        look
    }

    fn note_gpus(&mut self, look: &Look, now: Instant) {
        for (process, (parent, name)) in &look.alive {
            let mut alive = look.alive.keys();
            let parent = alive.find(|(pid, _)| pid == parent);
            let Some((parent, devices)) = parent.zip(self.devices.get(&process.0)) else {
                continue;
            };
            let known = self.with_gpus.entry(*process).or_insert_with(|| WithGpus {
                parent: *parent,
                name: name.clone(),
                devices: devices.clone(),
                first_seen: now,
                missing: None,
            });
            // A process that was copied may change its environment when it runs a program.
            known.devices.clone_from(devices);
        }
        self.with_gpus
            .retain(|_, one| look.alive.contains_key(&one.parent));
        for (process, one) in &mut self.with_gpus {
            if !look.alive.contains_key(process) {
                one.missing.get_or_insert(now);
            }
        }
    }

    /// The first child that has been dead for longer than the limit.
    pub fn dead_for(&self, look: &Look, limit: Duration, now: Instant) -> Option<Finding> {
        let since = |child: &&DeadChild| self.dead.get(&child.process());
        let overdue = |child: &&DeadChild| since(child).is_some_and(|since| now - *since >= limit);
        let child = look.dead.iter().find(overdue)?;
        Some(self.named(child.clone()))
    }

    fn named(&self, mut child: DeadChild) -> Finding {
        child.devices = self.devices.get(&child.pid).cloned();
        Finding::DeadChild(child)
    }

    /// The first child with GPUs of its own that ran for longer than the limit, and has been missing for as
    /// long, while its parent and a child with other GPUs run. One that was started again is not missing.
    pub fn missing_for(&self, look: &Look, limit: Duration, now: Instant) -> Option<Finding> {
        let missing = |(process, one): &(&Process, &WithGpus)| {
            let Some(since) = one.missing else {
                return false;
            };
            let is_alive = |(_, other): &(&Process, &WithGpus)| {
                other.missing.is_none() && other.parent == one.parent
            };
            let mut alive = self.with_gpus.iter().filter(is_alive);
            let again = alive
                .clone()
                .any(|(other, like)| like.devices == one.devices && other.1 > process.1);
            since - one.first_seen >= limit
                && now - since >= limit
                && !again
                && alive.any(|(_, other)| other.devices != one.devices)
        };
        let (process, one) = self.with_gpus.iter().find(missing)?;
        if let Some(dead) = look.dead.iter().find(|dead| dead.process() == *process) {
            return Some(self.named(dead.clone()));
        }
        Some(Finding::MissingChild(MissingChild {
            pid: process.0,
            parent: one.parent.0,
            name: one.name.clone(),
            devices: one.devices.clone(),
        }))
    }
}

/// What one look showed.
#[derive(Debug, Default)]
pub struct Look {
    dead: Vec<DeadChild>,
    /// The parent and the name of each.
    alive: BTreeMap<Process, (u32, String)>,
}

impl DeadChild {
    fn process(&self) -> Process {
        (self.pid, self.started)
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
fn dead_of(text: &str) -> Option<DeadChild> {
    let mut words = text.splitn(5, ' ');
    let (pid, started, parent) = (words.next()?, words.next()?, words.next()?);
    Some(DeadChild {
        pid: pid.parse().ok()?,
        started: started.parse().ok()?,
        parent: parent.parse().ok()?,
        status: words.next()?.parse().ok()?,
        name: retrial_readings::sanitize(words.next()?).into_owned(),
        devices: None,
    })
}

/// Reads `71 5123 4 python`: id, beginning, parent, name.
fn alive_of(text: &str) -> Option<(Process, u32, String)> {
    let mut words = text.splitn(4, ' ');
    let (pid, started, parent) = (words.next()?, words.next()?, words.next()?);
    let name = retrial_readings::sanitize(words.next()?).into_owned();
    Some((
        (pid.parse().ok()?, started.parse().ok()?),
        parent.parse().ok()?,
        name,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn an_unreaped_child_is_reported_with_its_gpu() {
        let mut seen = Seen::default();
        let start = Instant::now();
        let mut dead_for = |output, now| {
            let look = seen.look(output, now);
            seen.dead_for(&look, LIMIT, now)
        };
        let alive = "devices /proc/71/environ:HIP_VISIBLE_DEVICES=3\n";
        assert_eq!(dead_for(alive, start), None);
        let dead = "dead 71 5123 4 9 python 3\n";
        assert_eq!(dead_for(dead, start), None);
        assert_eq!(dead_for(dead, start + LIMIT / 2), None);
        let child = dead_for(dead, start + LIMIT).unwrap();
        let text = "its process 71 (python 3, HIP_VISIBLE_DEVICES=3) was terminated by signal 9 (KILL), and its parent 4 has not noticed";
        assert_eq!(child.to_string(), text);
    }

    #[test]
    fn a_child_reaped_in_time_is_not_reported() {
        let mut seen = Seen::default();
        let start = Instant::now();
        let mut dead_for = |output, now| {
            let look = seen.look(output, now);
            seen.dead_for(&look, LIMIT, now)
        };
        let dead = "dead 71 5123 4 9 sh\n";
        assert_eq!(dead_for(dead, start), None);
        assert_eq!(dead_for("", start + LIMIT / 2), None);
        // The same id, another process.
        let other = "dead 71 9999 4 9 sh\n";
        assert_eq!(dead_for(other, start + LIMIT), None);
    }

    /// A parent, and its children: id and beginning, and the GPU.
    fn family(children: &[(u32, u64, &str)]) -> String {
        let child = |(pid, started, gpu): &(u32, u64, &str)| {
            format!(
                "alive {pid} {started} 4 python\ndevices /proc/{pid}/environ:HIP_VISIBLE_DEVICES={gpu}\n"
            )
        };
        let children: String = children.iter().map(child).collect();
        format!("alive 4 1 1 python\n{children}")
    }

    /// What is found when these are looked at, one after the other, with the limit between them.
    fn missing(looks: &[String]) -> Option<String> {
        let mut seen = Seen::default();
        let start = Instant::now();
        let found = (0..).zip(looks).map(|(number, output)| {
            let now = start + LIMIT * number;
            let look = seen.look(output, now);
            seen.missing_for(&look, LIMIT, now)
        });
        found.last().flatten().map(|found| found.to_string())
    }

    #[test]
    fn a_child_the_parent_ignores_is_reported_with_its_gpu() {
        // The first one is no GPU's process: multiprocessing's tracker of resources has its environment.
        let all = family(&[(70, 10, "0"), (71, 11, "0"), (72, 12, "1")]);
        let first = family(&[(70, 10, "0"), (72, 12, "1")]);
        let text = "its process 71 (python, HIP_VISIBLE_DEVICES=0) has ended, and its parent 4 and processes of other GPUs are still running";
        let found = missing(&[all.clone(), first.clone(), first.clone()]);
        assert_eq!(found.as_deref(), Some(text));
        assert_eq!(missing(&[all.clone(), first.clone()]), None, "not yet");
        // It is known how one ended that was not collected.
        let dead = format!("{first}dead 71 11 4 35584 python\n");
        let found = missing(&[all.clone(), dead.clone(), dead]).unwrap();
        assert!(
            found.contains("HIP_VISIBLE_DEVICES=0) ended with exit code 139"),
            "{found}"
        );
        // One that was seen once only may be anything.
        let short = [family(&[(72, 12, "1")]), all.clone(), first.clone()];
        assert_eq!(missing(&short), None);
    }

    #[test]
    fn restarted_or_jointly_ended_children_are_not_missing() {
        let all = family(&[(71, 11, "0"), (72, 12, "1")]);
        let again = family(&[(72, 12, "1"), (73, 13, "0")]);
        assert_eq!(missing(&[all.clone(), again.clone(), again]), None);
        let none = family(&[]);
        assert_eq!(missing(&[all.clone(), none.clone(), none]), None);
        assert_eq!(missing(&[all, String::new(), String::new()]), None);
        // Children that share their GPUs.
        let shared = family(&[(71, 11, "0,1"), (72, 12, "0,1")]);
        let one = family(&[(72, 12, "0,1")]);
        assert_eq!(missing(&[shared, one.clone(), one]), None);
    }
}
