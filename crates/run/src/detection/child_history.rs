//! The history of a command's child processes from successive snapshots: which are dead, and which of those
//! with GPUs of their own are missing. Pure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::finding::{DeadChild, FailureFinding, MissingChild};

/// A process: its id and start time, since ids are reused.
type ProcessKey = (u32, u64);

/// The snapshots so far.
#[derive(Debug, Default)]
pub struct ChildHistory {
    /// The GPUs of each process, by its id: a dead process no longer has an environment.
    devices: BTreeMap<u32, String>,
    /// When each dead child was first found dead.
    dead: BTreeMap<ProcessKey, Instant>,
    /// Processes whose environment names GPUs.
    gpu_processes: BTreeMap<ProcessKey, GpuProcess>,
}

#[derive(Debug)]
struct GpuProcess {
    parent: ProcessKey,
    name: String,
    devices: String,
    first_seen: Instant,
    missing_since: Option<Instant>,
}

impl ChildHistory {
    /// Adds a snapshot: the output of `control/children`.
    pub fn add_snapshot(&mut self, output: &str, now: Instant) -> ProcessSnapshot {
        let mut snapshot = ProcessSnapshot::default();
        let mut devices: BTreeMap<u32, String> = BTreeMap::new();
        for line in output.lines() {
            if let Some((pid, names)) = line.strip_prefix("devices ").and_then(parse_devices) {
                let all = devices.entry(pid).or_default();
                let space = if all.is_empty() { "" } else { " " };
                *all = format!("{all}{space}{names}");
            } else if let Some(child) = line.strip_prefix("dead ").and_then(parse_dead_child) {
                snapshot.dead.push(child);
            } else if let Some((process, parent, name)) =
                line.strip_prefix("alive ").and_then(parse_alive_child)
            {
                snapshot.alive.insert(process, (parent, name));
            }
        }
        self.devices.append(&mut devices);
        let before = std::mem::take(&mut self.dead);
        let since = |child: &DeadChild| *before.get(&child.process_key()).unwrap_or(&now);
        let dead = snapshot.dead.iter();
        self.dead = dead.map(|child| (child.process_key(), since(child))).collect();
        self.record_gpu_processes(&snapshot, now);
        snapshot
    }

    fn record_gpu_processes(&mut self, snapshot: &ProcessSnapshot, now: Instant) {
        for (process, (parent, name)) in &snapshot.alive {
            let mut alive = snapshot.alive.keys();
            let parent = alive.find(|(pid, _)| pid == parent);
            let Some((parent, devices)) = parent.zip(self.devices.get(&process.0)) else {
                continue;
            };
            let child = self.gpu_processes.entry(*process).or_insert_with(|| GpuProcess {
                parent: *parent,
                name: name.clone(),
                devices: devices.clone(),
                first_seen: now,
                missing_since: None,
            });
            // A forked process may change its environment when it executes a program.
            child.devices.clone_from(devices);
        }
        self.gpu_processes.retain(|_, child| snapshot.alive.contains_key(&child.parent));
        for (process, child) in &mut self.gpu_processes {
            if !snapshot.alive.contains_key(process) {
                child.missing_since.get_or_insert(now);
            }
        }
    }

    /// The first child that has been dead for longer than the limit.
    pub fn find_dead_child(
        &self,
        snapshot: &ProcessSnapshot,
        limit: Duration,
        now: Instant,
    ) -> Option<FailureFinding> {
        let since = |child: &&DeadChild| self.dead.get(&child.process_key());
        let overdue = |child: &&DeadChild| since(child).is_some_and(|since| now - *since >= limit);
        let child = snapshot.dead.iter().find(overdue)?;
        Some(self.dead_child_finding(child.clone()))
    }

    fn dead_child_finding(&self, mut child: DeadChild) -> FailureFinding {
        child.devices = self.devices.get(&child.pid).cloned();
        FailureFinding::DeadChild(child)
    }

    /// The first child with GPUs of its own that ran for longer than the limit, and has been missing for as
    /// long, while its parent and a child with other GPUs are running. A restarted child is not missing.
    pub fn find_missing_child(
        &self,
        snapshot: &ProcessSnapshot,
        limit: Duration,
        now: Instant,
    ) -> Option<FailureFinding> {
        let missing = |(process, child): &(&ProcessKey, &GpuProcess)| {
            let Some(since) = child.missing_since else {
                return false;
            };
            let is_alive = |(_, other): &(&ProcessKey, &GpuProcess)| {
                other.missing_since.is_none() && other.parent == child.parent
            };
            let mut alive = self.gpu_processes.iter().filter(is_alive);
            let again = alive
                .clone()
                .any(|(other, same)| same.devices == child.devices && other.1 > process.1);
            since - child.first_seen >= limit
                && now - since >= limit
                && !again
                && alive.any(|(_, other)| other.devices != child.devices)
        };
        let (process, child) = self.gpu_processes.iter().find(missing)?;
        if let Some(dead) = snapshot.dead.iter().find(|dead| dead.process_key() == *process) {
            return Some(self.dead_child_finding(dead.clone()));
        }
        Some(FailureFinding::MissingChild(MissingChild {
            pid: process.0,
            parent: child.parent.0,
            name: child.name.clone(),
            devices: child.devices.clone(),
        }))
    }
}

/// The child processes at one time.
#[derive(Debug, Default)]
pub struct ProcessSnapshot {
    dead: Vec<DeadChild>,
    /// The parent and the name of each.
    alive: BTreeMap<ProcessKey, (u32, String)>,
}

impl DeadChild {
    fn process_key(&self) -> ProcessKey {
        (self.pid, self.started)
    }
}

/// Parses `/proc/71/environ:HIP_VISIBLE_DEVICES=3`.
fn parse_devices(text: &str) -> Option<(u32, String)> {
    let (pid, devices) = text.strip_prefix("/proc/")?.split_once("/environ:")?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_=,.-".contains(letter);
    let plain: String = devices.chars().filter(|letter| is_plain(*letter)).collect();
    Some((pid.parse().ok()?, plain))
}

/// Parses `71 5123 4 9 python`: id, start time, parent, status, name.
fn parse_dead_child(text: &str) -> Option<DeadChild> {
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

/// Parses `71 5123 4 python`: id, start time, parent, name.
fn parse_alive_child(text: &str) -> Option<(ProcessKey, u32, String)> {
    let mut words = text.splitn(4, ' ');
    let (pid, started, parent) = (words.next()?, words.next()?, words.next()?);
    let name = retrial_readings::sanitize(words.next()?).into_owned();
    Some(((pid.parse().ok()?, started.parse().ok()?), parent.parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn an_unreaped_child_is_reported_with_its_gpu() {
        let mut history = ChildHistory::default();
        let start = Instant::now();
        let mut dead_for = |output, now| {
            let snapshot = history.add_snapshot(output, now);
            history.find_dead_child(&snapshot, LIMIT, now)
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
        let mut history = ChildHistory::default();
        let start = Instant::now();
        let mut dead_for = |output, now| {
            let snapshot = history.add_snapshot(output, now);
            history.find_dead_child(&snapshot, LIMIT, now)
        };
        let dead = "dead 71 5123 4 9 sh\n";
        assert_eq!(dead_for(dead, start), None);
        assert_eq!(dead_for("", start + LIMIT / 2), None);
        // The same id, another process.
        let other = "dead 71 9999 4 9 sh\n";
        assert_eq!(dead_for(other, start + LIMIT), None);
    }

    /// A parent and its children: id, start time and GPU.
    fn family(children: &[(u32, u64, &str)]) -> String {
        let child = |(pid, started, gpu): &(u32, u64, &str)| {
            format!(
                "alive {pid} {started} 4 python\ndevices /proc/{pid}/environ:HIP_VISIBLE_DEVICES={gpu}\n"
            )
        };
        let children: String = children.iter().map(child).collect();
        format!("alive 4 1 1 python\n{children}")
    }

    /// The last finding from these snapshots, taken one limit apart.
    fn missing(looks: &[String]) -> Option<String> {
        let mut history = ChildHistory::default();
        let start = Instant::now();
        let found = (0..).zip(looks).map(|(number, output)| {
            let now = start + LIMIT * number;
            let snapshot = history.add_snapshot(output, now);
            history.find_missing_child(&snapshot, LIMIT, now)
        });
        found.last().flatten().map(|found| found.to_string())
    }

    #[test]
    fn a_child_the_parent_ignores_is_reported_with_its_gpu() {
        // The first one uses no GPU: multiprocessing's resource tracker inherits the environment.
        let all = family(&[(70, 10, "0"), (71, 11, "0"), (72, 12, "1")]);
        let first = family(&[(70, 10, "0"), (72, 12, "1")]);
        let text = "its process 71 (python, HIP_VISIBLE_DEVICES=0) has ended, and its parent 4 and processes of other GPUs are still running";
        let found = missing(&[all.clone(), first.clone(), first.clone()]);
        assert_eq!(found.as_deref(), Some(text));
        assert_eq!(missing(&[all.clone(), first.clone()]), None, "not yet");
        // The exit status of an unreaped child is known.
        let dead = format!("{first}dead 71 11 4 35584 python\n");
        let found = missing(&[all.clone(), dead.clone(), dead]).unwrap();
        assert!(found.contains("HIP_VISIBLE_DEVICES=0) ended with exit code 139"), "{found}");
        // A child that was observed only once is not reported.
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
        let single = family(&[(72, 12, "0,1")]);
        assert_eq!(missing(&[shared, single.clone(), single]), None);
    }
}
