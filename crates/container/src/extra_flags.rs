//! Rarer flags of `docker run`, which recipes, plans and the engine's request share.

use retrial_document::formats::{FILLED, LINE};
use retrial_document::{ByteUnits, FieldType, OrderedMap, Scope, Word, declare_word, object};
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
        /// A runtime of the engine: nvidia, amd. It reads `NVIDIA_VISIBLE_DEVICES` of the recipe, not of the image.
        runtime: Option<String> = FieldType::Text(LINE),
        /// The most memory, bytes: 64G.
        memory: Option<u64> = FieldType::Size(ByteUnits::Docker),
        /// The most CPU time, in CPUs: 1.5.
        cpus: Option<String> = FieldType::Number,
        /// Which CPUs: 0-63.
        cpuset_cpus: Option<String> = FieldType::Text(LINE),
        /// Which memory nodes: "0,1".
        cpuset_mems: Option<String> = FieldType::Text(LINE),
        /// The most processes; -1 is unlimited.
        pids_limit: Option<i64> = FieldType::Integer(-1, i64::MAX),
        /// Kernel settings of the container: {net.core.somaxconn: 1024}.
        sysctls: OrderedMap<String> = FieldType::Map(FILLED, &FieldType::Scalar(Scope::DOCUMENT)),
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
pub const HOST_NAMESPACE: &[Word] = &[declare_word("host", "The host's own.")];

const CGROUP_NAMESPACES: &[Word] = &[
    declare_word("host", "The host's own."),
    declare_word("private", "One of the container's own."),
];

impl ExtraFlags {
    /// Returns whether none is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
