//! How a recipe wants its container made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use retrial_container::{ExtraFlags, Ulimit};

use super::{Ordered, Template};
use crate::declare::{Field, Keys};
use crate::format::{Format as F, split_mount};
use crate::node::Node;
use crate::shape::{Choice, Reach, Shape as S, Units, choice};
use crate::{object, words};

object! {
    /// How the container is made, in the words of Docker and Compose.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct Container: "a container", last ExtraFlags::KEYS;
    fields {
        /// Rarer settings.
        #[serde(default, skip_serializing_if = "ExtraFlags::is_empty")]
        further: ExtraFlags = ExtraFlags::from_keys,
    }
    keys {
        /// Full access to the host's devices.
        privileged: bool [default = "false"],
        /// The IPC namespace: host, private, shareable, none.
        ipc: Option<String> = S::Text(F::Ipc),
        /// host, bridge, none, or a network's name.
        network: Option<String> = S::Text(F::Filled),
        /// The UTS namespace.
        uts: Option<String> = S::Choice(HOST_ONLY),
        /// The PID namespace.
        pid: Option<String> = S::Choice(HOST_ONLY),
        /// Device nodes: /dev/kfd, host:container:rwm, or by the Container Device Interface: amd.com/gpu=0.
        devices: Vec<String> = S::List(&S::Text(F::Device), 0),
        /// How the GPUs of `requires` come into the container.
        #[serde(default)]
        gpu_access: GpuAccess [default = "auto"],
        /// Capabilities, with or without `CAP_`.
        cap_add: Vec<String> = S::List(&S::Text(F::Capability), 0),
        /// Security options, for example seccomp=unconfined.
        security_opt: Vec<String> = S::List(&S::Text(F::SecurityOption), 0),
        /// More groups, by name or number.
        group_add: Vec<String> = S::List(&S::Text(F::Filled), 0),
        /// Size of /dev/shm, bytes: 64G.
        shm_size: Option<u64> = S::Size(Units::Docker),
        /// Limits by name: {memlock: -1, nofile: {soft: 1024, hard: 2048}}.
        ulimits: Vec<Ulimit> [read = ulimits] = S::Map(F::Ulimit, &Limits::SHAPE),
        /// Environment variables of the container.
        env: Ordered<Template> = S::Map(F::Variable, &S::Scalar(Reach::Run)),
        /// Directories of the host: `source:target[:ro]`. A source is absolute, or ./ next to the recipe.
        mounts: Vec<MountRequest>,
        /// The working directory of all commands.
        workdir: Option<Template> = S::Template(Reach::Run, F::Absolute),
        /// The user of all commands.
        user: Option<String> = S::Text(F::Filled),
        /// Docker's own init as the first process.
        init: bool [default = "false"],
        /// What happens to the image's entrypoint.
        entrypoint: Entrypoint [default = "bypass"],
        /// The shell of the steps, for example `[bash, -ilc]` for one that reads .bashrc. None: bash with pipefail, else sh.
        shell: Option<Vec<String>> = S::List(&S::Text(F::Filled), 1),
    }
}

object! {
    impl ExtraFlags: "a container";
    keys {
        /// Capabilities to drop.
        cap_drop: Vec<String> = S::List(&S::Text(F::Capability), 0),
        /// The container's host name.
        hostname: Option<String> = S::Text(F::Line),
        /// A runtime of the engine: nvidia, amd.
        runtime: Option<String> = S::Text(F::Line),
        /// The most memory, for example 64G.
        memory: Option<u64> = S::Size(Units::Docker),
        /// The most CPU time, in CPUs: 1.5.
        cpus: Option<String> = S::Number,
        /// Which CPUs: 0-63.
        cpuset_cpus: Option<String> = S::Text(F::Line),
        /// Which memory nodes: "0,1".
        cpuset_mems: Option<String> = S::Text(F::Line),
        /// The most processes; -1 is unlimited.
        pids_limit: Option<i64> = S::Integer(-1, i64::MAX),
        /// Kernel settings of the container: {net.core.somaxconn: 1024}.
        sysctls: Ordered<String> = S::Map(F::Filled, &S::Scalar(Reach::Recipe)),
        /// Directories in memory: /tmp, or /tmp:size=1g.
        tmpfs: Vec<String> = S::List(&S::Text(F::Absolute), 0),
        /// The image's files cannot be written.
        read_only: bool [default = "false"],
        /// Name servers.
        dns: Vec<String> = S::List(&S::Text(F::Line), 0),
        /// Names for /etc/hosts: name:address.
        add_host: Vec<String> = S::List(&S::Text(F::Line), 0),
        /// The cgroup namespace.
        cgroupns: Option<String> = S::Choice(CGROUPNS),
        /// The user namespace.
        userns: Option<String> = S::Choice(HOST_ONLY),
    }
}

const HOST_ONLY: &[Choice] = &[choice("host", "The host's own.")];

const CGROUPNS: &[Choice] = &[
    choice("host", "The host's own."),
    choice("private", "One of the container's own."),
];

words! {
    /// How GPUs come into a container.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum GpuAccess {
        /// As `devices` says; if it names no GPU device, as this host supports it.
        #[default]
        Auto = "auto",
        /// As the recipe's own keys say, and nothing else; `--gpus` cannot choose.
        AsWritten = "as-written",
        /// Device nodes: /dev/kfd and the render nodes of the chosen GPUs, or /dev/nvidia… with the driver's libraries.
        Devices = "devices",
        /// The Container Device Interface: amd.com/gpu=0, nvidia.com/gpu=0.
        Cdi = "cdi",
        /// The vendor's container toolkit: `--runtime=amd`, or `--gpus` for NVIDIA.
        Toolkit = "toolkit",
    }
}

words! {
    /// What happens to the image's entrypoint.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum Entrypoint {
        /// It runs, and is given our first process as its command.
        Image = "image",
        /// Our first process runs in its place.
        #[default]
        Bypass = "bypass",
    }
}

object! {
    /// A directory of the host in the container.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct MountRequest: "a mount", or S::Template(Reach::Run, F::Mount) => MountRequest::parse;
    keys {
        /// On the host: absolute, or ./ next to the recipe.
        source: Template [required] = S::Template(Reach::Run, F::HostPath),
        /// In the container.
        target: Template [required] = S::Template(Reach::Run, F::Absolute),
        /// Whether it is read-only.
        read_only: bool [default = "false"],
    }
}

impl MountRequest {
    fn parse(text: &str) -> Option<Self> {
        let (source, target, read_only) = split_mount(text)?;
        Some(Self {
            source: Template(source.to_owned()),
            target: Template(target.to_owned()),
            read_only,
        })
    }
}

object! {
    /// Both limits of a resource.
    pub struct Limits: "a resource limit", or S::Integer(-1, i64::MAX) => Limits::both;
    keys {
        /// The soft limit; -1 is unlimited.
        soft: i64 [required] = S::Integer(-1, i64::MAX),
        /// The hard limit; -1 is unlimited.
        hard: i64 [required] = S::Integer(-1, i64::MAX),
    }
}

impl Limits {
    fn both(text: &str) -> Option<Self> {
        let limit = text.parse().ok()?;
        Some(Self {
            soft: limit,
            hard: limit,
        })
    }
}

fn ulimits(node: &Node) -> Option<Vec<Ulimit>> {
    let limits = Ordered::<Limits>::read(node, &S::Map(F::Ulimit, &Limits::SHAPE))?;
    let ulimit = |(name, Limits { soft, hard })| Ulimit { name, soft, hard };
    Some(limits.into_iter().map(ulimit).collect())
}
