//! A container's processor time and memory, from its control group. The engine's statistics would cost it a
//! process list for each sample; these are two files.

use std::path::Path;

use crate::root::HostRoot;
use retrial_readings::number::to_f64;
use retrial_telemetry::ContainerReading;

/// The paths of a container's counters.
pub struct ContainerSensor {
    root: HostRoot,
    files: CgroupFiles,
}

enum CgroupFiles {
    /// Cgroup v2: one folder.
    Unified(String),
    /// Cgroup v1: a folder for each controller.
    Split { cpu: String, memory: String },
}

impl ContainerSensor {
    /// Finds them by the container's first process. None if they cannot be read, or if the process is not the
    /// container's (an engine on another machine or in its own namespace has other pids): its group contains
    /// the container's id.
    pub fn open(root: &Path, container: &str, pid: u32) -> Option<Self> {
        let root = HostRoot::new(root);
        let groups = root.read_text(&format!("proc/{pid}/cgroup"))?;
        let path_of = |controller: &str| {
            groups.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                let (controllers, path) = (parts.next()?, parts.next()?);
                let is_named = controllers.split(',').any(|name| name == controller);
                (is_named && path.contains(container) && !path.contains(".."))
                    .then(|| path.to_owned())
            })
        };
        let files = match (path_of("cpuacct"), path_of("memory"), path_of("")) {
            (Some(cpu), Some(memory), _) => CgroupFiles::Split {
                cpu: format!("sys/fs/cgroup/cpuacct{cpu}"),
                memory: format!("sys/fs/cgroup/memory{memory}"),
            },
            (_, _, Some(path)) => CgroupFiles::Unified(format!("sys/fs/cgroup{path}")),
            _ => return None,
        };
        let mut sensor = Self { root, files };
        let sample = sensor.read_sample();
        (sample.cpu_s.is_some() || sample.memory.is_some()).then_some(sensor)
    }

    /// Reads the current counters.
    pub fn read_sample(&mut self) -> ContainerReading {
        let number = |path: &str| self.root.read_number(path);
        let field = |path: &str, name: &str| {
            let text = self.root.read_text(path)?;
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
        };
        let (cpu_s, memory, cache) = match &self.files {
            CgroupFiles::Unified(path) => (
                field(&format!("{path}/cpu.stat"), "usage_usec ").map(|us| to_f64(us) / 1e6),
                number(&format!("{path}/memory.current")),
                field(&format!("{path}/memory.stat"), "inactive_file "),
            ),
            CgroupFiles::Split { cpu, memory } => (
                number(&format!("{cpu}/cpuacct.usage")).map(|ns| to_f64(ns) / 1e9),
                number(&format!("{memory}/memory.usage_in_bytes")),
                field(&format!("{memory}/memory.stat"), "total_inactive_file "),
            ),
        };
        ContainerReading {
            cpu_s,
            // As in `docker stats`: droppable cache is not counted.
            memory: memory.map(|bytes| bytes.saturating_sub(cache.unwrap_or(0))),
        }
    }
}
