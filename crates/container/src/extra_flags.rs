//! Rarer flags of `docker run`: a recipe, its plan and the engine's request say them alike.

use retrial_document::formats::{FILLED, LINE};
use retrial_document::{FieldType, Ordered, Scope, Units, Word, object, word};
use serde::{Deserialize, Serialize};

use crate::formats::{ABSOLUTE_PATH, CAPABILITY};

object! {
    /// Rarer flags of `docker run`, taken over as they are written.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct ExtraFlags: "a container";
    keys {
        /// Capabilities to drop.
        cap_drop: Vec<String> = FieldType::List(&FieldType::Text(CAPABILITY), 0),
        /// The container's host name.
        hostname: Option<String> = FieldType::Text(LINE),
        /// A runtime of the engine: nvidia, amd.
        runtime: Option<String> = FieldType::Text(LINE),
        /// The most memory, bytes: 64G.
        memory: Option<u64> = FieldType::Size(Units::Docker),
        /// The most CPU time, in CPUs: 1.5.
        cpus: Option<String> = FieldType::Number,
        /// Which CPUs: 0-63.
        cpuset_cpus: Option<String> = FieldType::Text(LINE),
        /// Which memory nodes: "0,1".
        cpuset_mems: Option<String> = FieldType::Text(LINE),
        /// The most processes; -1 is unlimited.
        pids_limit: Option<i64> = FieldType::Integer(-1, i64::MAX),
        /// Kernel settings of the container: {net.core.somaxconn: 1024}.
        sysctls: Ordered<String> = FieldType::Map(FILLED, &FieldType::Scalar(Scope::DOCUMENT)),
        /// Directories in memory: /tmp, or /tmp:size=1g.
        tmpfs: Vec<String> = FieldType::List(&FieldType::Text(ABSOLUTE_PATH), 0),
        /// The image's files cannot be written.
        read_only: bool [default = "false"],
        /// Name servers.
        dns: Vec<String> = FieldType::List(&FieldType::Text(LINE), 0),
        /// Names for /etc/hosts: name:address.
        add_host: Vec<String> = FieldType::List(&FieldType::Text(LINE), 0),
        /// The cgroup namespace.
        cgroupns: Option<String> = FieldType::Words(CGROUP_NAMESPACES),
        /// The user namespace.
        userns: Option<String> = FieldType::Words(HOST_NAMESPACE),
    }
}

/// The one namespace of the host that may be named.
pub const HOST_NAMESPACE: &[Word] = &[word("host", "The host's own.")];

const CGROUP_NAMESPACES: &[Word] = &[
    word("host", "The host's own."),
    word("private", "One of the container's own."),
];

impl ExtraFlags {
    /// Whether nothing is asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns flag and value of each, in a fixed order; `true` for a switch.
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
