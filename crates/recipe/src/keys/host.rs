//! What is asked of the host, and how the container is made.

use super::shared::{ENV, SHELL};
use crate::format::Format as F;
use crate::shape::{Choice, Object, Reach, Shape as S, Units, choice, key};

pub(super) static REQUIRES: Object = Object {
    what: "a request to the host",
    one_of: &[],
    keys: &[
        key("gpus", S::Object(&GPUS), "GPUs."),
        key(
            "rocm",
            S::Text(F::VersionRange),
            "ROCm releases, for example \">=7.1.0\".",
        ),
        key(
            "disk",
            S::Size(Units::Precise),
            "Free disk, for example 500 GiB.",
        ),
        key(
            "memory",
            S::Size(Units::Precise),
            "Memory, for example 1 TiB.",
        ),
        key(
            "ports",
            S::List(&S::Integer(1, 65535), 0),
            "Ports of the host that the container listens on, with network: host.",
        ),
    ],
};

pub(super) static GPUS: Object = Object {
    what: "a request for GPUs",
    one_of: &[],
    keys: &[
        key("vendor", S::Choice(VENDORS), "Who made them.").required(),
        key(
            "models",
            S::List(&S::Text(F::Line), 0),
            "Models that the figure was published on, for example [MI355X].",
        ),
        key("count", S::Integer(1, 4096), "How many.").required(),
        key(
            "partition",
            S::Choice(PARTITIONS),
            "AMD's compute partition mode.",
        ),
    ],
};

pub(super) const VENDORS: &[Choice] = &[
    choice("amd", "AMD Instinct and Radeon."),
    choice("nvidia", "NVIDIA."),
];

pub(super) const PARTITIONS: &[Choice] = &[
    choice("SPX", "The whole GPU is one device."),
    choice("DPX", "Two devices a GPU."),
    choice("TPX", "Three devices a GPU."),
    choice("QPX", "Four devices a GPU."),
    choice("CPX", "One device a compute die."),
];

pub(super) static CONTAINER: Object = Object {
    what: "a container",
    one_of: &[],
    keys: &[
        key("privileged", S::Bool, "Full access to the host's devices.").default("false"),
        key(
            "ipc",
            S::Text(F::Ipc),
            "The IPC namespace: host, private, shareable, none.",
        ),
        key(
            "network",
            S::Text(F::Filled),
            "host, bridge, none, or a network's name.",
        ),
        key("uts", S::Choice(HOST_ONLY), "The UTS namespace."),
        key("pid", S::Choice(HOST_ONLY), "The PID namespace."),
        key(
            "devices",
            S::List(&S::Text(F::Device), 0),
            "Device nodes: /dev/kfd, host:container:rwm, or by the Container Device Interface: amd.com/gpu=0.",
        ),
        key(
            "gpu_access",
            S::Choice(GPU_ACCESS),
            "How the GPUs of `requires` come into the container.",
        )
        .default("auto"),
        key(
            "cap_add",
            S::List(&S::Text(F::Capability), 0),
            "Capabilities, with or without CAP_.",
        ),
        key(
            "security_opt",
            S::List(&S::Text(F::SecurityOption), 0),
            "Security options, for example seccomp=unconfined.",
        ),
        key(
            "group_add",
            S::List(&S::Text(F::Filled), 0),
            "More groups, by name or number.",
        ),
        key(
            "shm_size",
            S::Size(Units::Docker),
            "Size of /dev/shm, for example 64G.",
        ),
        key(
            "ulimits",
            S::Map(
                F::Ulimit,
                &S::Either(&[S::Integer(-1, i64::MAX), S::Object(&ULIMIT)]),
            ),
            "Limits by name: {memlock: -1, nofile: {soft: 1024, hard: 2048}}.",
        ),
        key("env", ENV, "Environment variables of the container."),
        key(
            "mounts",
            S::List(
                &S::Either(&[S::Template(Reach::Run, F::Mount), S::Object(&MOUNT)]),
                0,
            ),
            "Directories of the host: source:target[:ro]. A source is absolute, or ./ beside the recipe.",
        ),
        key(
            "workdir",
            S::Template(Reach::Run, F::Absolute),
            "The working directory of all commands.",
        ),
        key("user", S::Text(F::Filled), "The user of all commands."),
        key("init", S::Bool, "Docker's own init as the first process.").default("false"),
        key(
            "entrypoint",
            S::Choice(ENTRYPOINTS),
            "What happens to the image's entrypoint.",
        )
        .default("bypass"),
        SHELL,
        key(
            "cap_drop",
            S::List(&S::Text(F::Capability), 0),
            "Capabilities to take away.",
        ),
        key("hostname", S::Text(F::Line), "The container's host name."),
        key(
            "runtime",
            S::Text(F::Line),
            "A runtime of the engine: nvidia, amd.",
        ),
        key(
            "memory",
            S::Size(Units::Docker),
            "The most memory, for example 64G.",
        ),
        key("cpus", S::Number, "The most CPU time, in CPUs: 1.5."),
        key("cpuset_cpus", S::Text(F::Line), "Which CPUs: 0-63."),
        key(
            "cpuset_mems",
            S::Text(F::Line),
            "Which memory nodes: \"0,1\".",
        ),
        key(
            "pids_limit",
            S::Integer(-1, i64::MAX),
            "The most processes; -1 is unlimited.",
        ),
        key(
            "sysctls",
            S::Map(F::Filled, &S::Scalar(Reach::Recipe)),
            "Kernel settings of the container: {net.core.somaxconn: 1024}.",
        ),
        key(
            "tmpfs",
            S::List(&S::Text(F::Absolute), 0),
            "Directories in memory: /tmp, or /tmp:size=1g.",
        ),
        key("read_only", S::Bool, "The image's files cannot be written.").default("false"),
        key("dns", S::List(&S::Text(F::Line), 0), "Name servers."),
        key(
            "add_host",
            S::List(&S::Text(F::Line), 0),
            "Names for /etc/hosts: name:address.",
        ),
        key("cgroupns", S::Choice(CGROUPNS), "The cgroup namespace."),
        key("userns", S::Choice(HOST_ONLY), "The user namespace."),
    ],
};

pub(super) const GPU_ACCESS: &[Choice] = &[
    choice(
        "auto",
        "As `devices` says; where that names none of a GPU, as this host can.",
    ),
    choice(
        "as-written",
        "As the recipe's own keys say, and nothing else; --gpus cannot choose.",
    ),
    choice(
        "devices",
        "Device nodes: /dev/kfd and the render nodes of the chosen GPUs, or /dev/nvidia… with the driver's libraries.",
    ),
    choice(
        "cdi",
        "The Container Device Interface: amd.com/gpu=0, nvidia.com/gpu=0.",
    ),
    choice(
        "toolkit",
        "The vendor's container toolkit: --runtime=amd, or --gpus for NVIDIA.",
    ),
];

pub(super) const HOST_ONLY: &[Choice] = &[choice("host", "The host's own.")];

pub(super) const CGROUPNS: &[Choice] = &[
    choice("host", "The host's own."),
    choice("private", "One of the container's own."),
];

pub(super) const ENTRYPOINTS: &[Choice] = &[
    choice(
        "image",
        "It runs, and is given our first process as its command.",
    ),
    choice("bypass", "Our first process runs in its place."),
];

pub(super) static ULIMIT: Object = Object {
    what: "a resource limit",
    one_of: &[],
    keys: &[
        key(
            "soft",
            S::Integer(-1, i64::MAX),
            "The soft limit; -1 is unlimited.",
        )
        .required(),
        key(
            "hard",
            S::Integer(-1, i64::MAX),
            "The hard limit; -1 is unlimited.",
        )
        .required(),
    ],
};

pub(super) static MOUNT: Object = Object {
    what: "a mount",
    one_of: &[],
    keys: &[
        key(
            "source",
            S::Template(Reach::Run, F::HostPath),
            "On the host: absolute, or ./ beside the recipe.",
        )
        .required(),
        key(
            "target",
            S::Template(Reach::Run, F::Absolute),
            "In the container.",
        )
        .required(),
        key("read_only", S::Bool, "Whether it is read-only.").default("false"),
    ],
};
