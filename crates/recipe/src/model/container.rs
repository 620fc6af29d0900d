//! How a recipe wants its container made.

use retrial_document::{ByteUnits, Field, FieldType as T, OrderedMap, object, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use retrial_container::{ExtraFlags, HOST_NAMESPACE, Ulimit};

use crate::expression::{RUN_SCOPE, Template};
use crate::formats::{self, split_mount};

object! {
    /// How the container is made, in the words of Docker and Compose.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct Container: "a container", last ExtraFlags::KEYS;
    fields {
        /// Flags that few recipes need, for example `cgroupns`.
        #[serde(default, skip_serializing_if = "ExtraFlags::is_empty")]
        extra: ExtraFlags = ExtraFlags::from_keys,
    }
    keys {
        /// Full access to the host's devices.
        privileged: bool [default = "false"],
        /// The IPC namespace: host, private, shareable, none.
        ipc: Option<String> = T::Text(formats::IPC),
        /// host, bridge, none, or a network's name.
        network: Option<String> = T::Text(formats::FILLED),
        /// The UTS namespace.
        uts: Option<String> = T::Words(HOST_NAMESPACE),
        /// The PID namespace.
        pid: Option<String> = T::Words(HOST_NAMESPACE),
        /// Device nodes: /dev/kfd, host:container:rwm, or by the Container Device Interface: amd.com/gpu=0.
        devices: Vec<String> = T::List(&T::Text(formats::DEVICE), 0),
        /// The method by which the container gets the GPUs of `requires`.
        #[serde(default)]
        gpu_access: GpuAccess [default = "auto"],
        /// Capabilities, with or without `CAP_`.
        cap_add: Vec<String> = T::List(&T::Text(formats::CAPABILITY), 0),
        /// Security options, for example seccomp=unconfined.
        security_opt: Vec<String> = T::List(&T::Text(formats::SECURITY_OPTION), 0),
        /// More groups, by name or number.
        group_add: Vec<String> = T::List(&T::Text(formats::FILLED), 0),
        /// Size of /dev/shm, bytes: 64G.
        shm_size: Option<u64> = T::Size(ByteUnits::Docker),
        /// Limits by name: {memlock: -1, nofile: {soft: 1024, hard: 2048}}.
        ulimits: OrderedMap<Ulimit> = T::Map(formats::ULIMIT, &Ulimit::TYPE),
        /// Environment variables of the container.
        env: OrderedMap<Template> = T::Map(formats::VARIABLE, &T::Scalar(RUN_SCOPE)),
        /// Directories of the host: `source:target[:ro]`. A source is absolute, ./ next to the recipe, or ~/ below the home directory.
        mounts: Vec<MountRequest>,
        /// Directories in which programs cache compiled code, by name: {vllm: /root/.cache}. Kept for later runs, as BuildKit's cache mounts are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cache_mounts: OrderedMap<Template> = T::Map(formats::NAME, &T::Template(RUN_SCOPE, formats::MOUNT_TARGET)),
        /// The working directory of all commands.
        workdir: Option<Template> = T::Template(RUN_SCOPE, formats::ABSOLUTE_PATH),
        /// The user of all commands.
        user: Option<String> = T::Text(formats::FILLED),
        /// Docker's own init as the first process.
        init: bool [default = "false"],
        /// Whether the image's entrypoint runs.
        entrypoint: Entrypoint [default = "bypass"],
        /// The shell of the steps, for example `[bash, -ilc]` for one that reads .bashrc. None: bash with pipefail, else sh.
        shell: Option<Vec<String>> = T::List(&T::Text(formats::FILLED), 1),
    }
}

words! {
    /// How GPUs come into a container.
    #[derive(Default, JsonSchema)]
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
    /// Whether the image's entrypoint runs.
    #[derive(Default, JsonSchema)]
    pub enum Entrypoint {
        /// It runs, and is given our first process as its command.
        Image = "image",
        /// Our first process runs in its place.
        #[default]
        Bypass = "bypass",
    }
}

object! {
    /// A directory of the host in the container. Its paths may hold expressions; in a plan it is a `Mount`.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct MountRequest: "a mount", or T::Template(RUN_SCOPE, formats::MOUNT) => MountRequest::parse;
    keys {
        /// On the host: absolute, ./ next to the recipe, or ~/ below the home directory.
        source: Template [required] = T::Template(RUN_SCOPE, formats::HOST_PATH),
        /// In the container.
        target: Template [required] = T::Template(RUN_SCOPE, formats::ABSOLUTE_PATH),
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
