//! Rarer flags of `docker run`: a recipe, its plan and the engine's request say them alike.

use serde::{Deserialize, Serialize};

/// Taken over as they are written, sizes in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExtraFlags {
    /// `--cap-drop`
    pub cap_drop: Vec<String>,
    /// `--hostname`
    pub hostname: Option<String>,
    /// `--runtime`: one that the engine has, for example `nvidia` or `amd`.
    pub runtime: Option<String>,
    /// `--memory`, bytes.
    pub memory: Option<u64>,
    /// `--cpus`, a decimal number.
    pub cpus: Option<String>,
    /// `--cpuset-cpus`
    pub cpuset_cpus: Option<String>,
    /// `--cpuset-mems`
    pub cpuset_mems: Option<String>,
    /// `--pids-limit`; -1 is unlimited.
    pub pids_limit: Option<i64>,
    /// `--sysctl`: name, value.
    pub sysctls: Vec<(String, String)>,
    /// `--tmpfs`: `path[:options]`.
    pub tmpfs: Vec<String>,
    /// `--read-only`
    pub read_only: bool,
    /// `--dns`
    pub dns: Vec<String>,
    /// `--add-host`: `name:address`.
    pub add_host: Vec<String>,
    /// `--cgroupns`
    pub cgroupns: Option<String>,
    /// `--userns`
    pub userns: Option<String>,
}

impl ExtraFlags {
    /// Whether nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Flag and value of each, in a fixed order; `true` for a switch.
    #[must_use]
    pub fn flags(&self) -> Vec<(&'static str, String)> {
        let mut flags = Vec::new();
        let many = |flags: &mut Vec<_>, flag, values: &[String]| {
            flags.extend(values.iter().map(|value| (flag, value.clone())));
        };
        many(&mut flags, "cap-drop", &self.cap_drop);
        let one = [
            ("hostname", self.hostname.clone()),
            ("runtime", self.runtime.clone()),
            ("memory", self.memory.map(|bytes| bytes.to_string())),
            ("cpus", self.cpus.clone()),
            ("cpuset-cpus", self.cpuset_cpus.clone()),
            ("cpuset-mems", self.cpuset_mems.clone()),
            ("pids-limit", self.pids_limit.map(|limit| limit.to_string())),
            ("cgroupns", self.cgroupns.clone()),
            ("userns", self.userns.clone()),
            ("read-only", self.read_only.then(|| "true".to_owned())),
        ];
        flags.extend(
            one.into_iter()
                .filter_map(|(flag, value)| Some((flag, value?))),
        );
        for (name, value) in &self.sysctls {
            flags.push(("sysctl", format!("{name}={value}")));
        }
        many(&mut flags, "tmpfs", &self.tmpfs);
        many(&mut flags, "dns", &self.dns);
        many(&mut flags, "add-host", &self.add_host);
        flags
    }
}
