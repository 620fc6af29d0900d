//! Flags of `docker run` (Docker 29), and their treatment in a recipe. Those of other programs are tables of the same
//! kind ([`super::tables`]).

use retrial_recipe::model::GpuVendor;

/// How the import of a command line treats a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagTreatment {
    /// A key of the recipe expresses it.
    Key,
    /// The flag has no effect on the benchmark, or Retrial does the same: dropped, and noted.
    Dropped,
    /// What it does depends on the guide's machine: asked for, with these words.
    Asked(&'static str),
    /// The flag may have an effect, and no key expresses it: an error.
    Refused,
    /// A flag of another program, which is translated to flags of `docker run`.
    Translated(Meaning),
}

/// The translation of another program's flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A flag of `docker run` with the same value.
    Flag(&'static str),
    Mounts,
    /// A list of variables, with values or without.
    Variables,
    /// srun's `--export`: `ALL`, names, and variables with their values.
    Export,
    Image,
    /// The number of GPUs of a machine: `8`, `gpu:8`.
    Gpus,
    /// The number of GPUs of each process.
    GpusPerTask,
    AllGpus(GpuVendor),
    /// The number of machines.
    Nodes,
    /// The number of processes.
    Tasks,
}

/// Whether a flag has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagArity {
    /// It has none, or a boolean after `=`.
    Switch,
    /// It has one, after `=` or as the next word.
    Value,
    /// It may have one, after `=` only.
    OptionalValue,
}

/// A flag of a program that starts containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineFlag {
    /// The program: `docker run`.
    pub program: &'static str,
    /// The long name, without dashes: `volume`.
    pub name: &'static str,
    /// The short name, one letter: `v`.
    pub short: Option<char>,
    /// Whether it has a value.
    pub arity: FlagArity,
    /// How the import treats the flag.
    pub treatment: FlagTreatment,
}

impl LineFlag {
    /// Returns whether the flag always has a value.
    pub fn takes_value(&self) -> bool {
        self.arity == FlagArity::Value
    }
}

/// Flags with one treatment, by names that blanks separate, each with its letter: `volume/v`.
#[derive(Debug, Clone, Copy)]
pub struct FlagGroup {
    pub treatment: FlagTreatment,
    pub values: &'static str,
    pub optional_values: &'static str,
    pub switches: &'static str,
}

impl FlagGroup {
    pub const fn of_values(treatment: FlagTreatment, values: &'static str) -> Self {
        Self { treatment, values, optional_values: "", switches: "" }
    }

    pub const fn of_switches(treatment: FlagTreatment, switches: &'static str) -> Self {
        Self { switches, ..Self::of_values(treatment, "") }
    }

    /// Returns the group with switches, and with flags that may have a value.
    pub const fn with(self, switches: &'static str, optional_values: &'static str) -> Self {
        Self { optional_values, switches, ..self }
    }

    fn flags(&self, program: &'static str) -> impl Iterator<Item = LineFlag> {
        let Self { treatment, values, optional_values, switches } = *self;
        let names = [
            (FlagArity::Value, values),
            (FlagArity::OptionalValue, optional_values),
            (FlagArity::Switch, switches),
        ];
        names.into_iter().flat_map(move |(arity, names)| {
            names.split_whitespace().map(move |name| {
                let (name, letter) = name.split_once('/').unwrap_or((name, ""));
                LineFlag { program, name, short: letter.chars().next(), arity, treatment }
            })
        })
    }
}

/// A program whose command line has flags, an image, and a command.
pub struct Program {
    pub name: &'static str,
    pub groups: &'static [&'static [FlagGroup]],
    /// Older names of flags, each with the present name.
    pub aliases: &'static [(&'static str, &'static str)],
}

impl Program {
    pub fn flags(&self) -> impl Iterator<Item = LineFlag> + Clone {
        let groups = self.groups.iter().copied().flatten();
        groups.flat_map(|group| group.flags(self.name).collect::<Vec<_>>())
    }

    /// Finds a flag by its long name, present or older.
    pub fn find_long(&self, name: &str) -> Option<LineFlag> {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == name);
        let name = alias.map_or(name, |(_, name)| name);
        self.flags().find(|flag| flag.name == name)
    }

    pub fn find_short(&self, letter: char) -> Option<LineFlag> {
        self.flags().find(|flag| flag.short == Some(letter))
    }
}

use FlagTreatment::{Dropped, Key, Refused};

/// The flags of `docker run`.
pub const DOCKER_GROUPS: &[FlagGroup] = &[
    FlagGroup::of_values(
        Key,
        "add-host cap-add cap-drop cgroupns cpus cpuset-cpus cpuset-mems device dns entrypoint env/e env-file gpus \
         group-add hostname/h ipc link memory/m memory-swap mount network pid pids-limit platform runtime security-opt \
         shm-size sysctl tmpfs ulimit user/u userns uts volume/v workdir/w",
    )
    .with("init privileged read-only", ""),
    FlagGroup::of_values(
        Refused,
        "annotation blkio-weight blkio-weight-device cgroup-parent cpu-count cpu-percent cpu-period cpu-quota \
         cpu-rt-period cpu-rt-runtime cpu-shares/c device-cgroup-rule device-read-bps device-read-iops device-write-bps \
         device-write-iops dns-option dns-search domainname io-maxbandwidth io-maxiops ip ip6 isolation kernel-memory \
         link-local-ip mac-address memory-reservation memory-swappiness network-alias oom-score-adj storage-opt \
         volume-driver volumes-from",
    )
    .with("oom-kill-disable use-api-socket", ""),
    // Terminal and output, ports, labels, the first process, health: Retrial follows, names and removes its containers,
    // and nothing outside of one uses its ports.
    FlagGroup::of_values(
        Dropped,
        "attach/a cidfile detach-keys expose health-cmd health-interval health-retries health-start-interval \
         health-start-period health-timeout label/l label-file log-driver log-opt name publish/p pull restart \
         stop-signal stop-timeout",
    )
    .with(
        "detach/d disable-content-trust interactive/i no-healthcheck publish-all/P quiet/q rm sig-proxy tty/t",
        "",
    ),
];

const DOCKER_ALIASES: &[(&str, &str)] =
    &[("net", "network"), ("net-alias", "network-alias"), ("dns-opt", "dns-option")];

pub static DOCKER: Program =
    Program { name: "docker run", groups: &[DOCKER_GROUPS], aliases: DOCKER_ALIASES };

/// The flags of `docker exec`.
pub static DOCKER_EXEC: Program = Program {
    name: "docker exec",
    groups: &[&[
        FlagGroup::of_values(Key, "env/e env-file workdir/w user/u"),
        FlagGroup::of_values(Dropped, "detach-keys")
            .with("detach/d interactive/i latest/l tty/t", ""),
        FlagGroup::of_values(Refused, "preserve-fds").with("privileged", ""),
    ]],
    aliases: &[],
};

/// Docker's own flags, between `docker` and its command.
pub static DOCKER_CLIENT: Program = Program {
    name: "docker",
    groups: &[&[FlagGroup::of_values(
        Dropped,
        "config context/c host/H log-level/l tlscacert tlscert tlskey",
    )
    .with("debug/D tls tlsverify", "")]],
    aliases: &[],
};

/// Podman's `run`: Docker's flags, and its own.
pub static PODMAN: Program = Program {
    name: "podman run",
    groups: &[
        DOCKER_GROUPS,
        &[
            // How images are pulled and kept, and how Podman manages its containers.
            FlagGroup::of_values(
                Dropped,
                "authfile cert-dir cgroups conmon-pidfile creds decryption-key hooks-dir image-volume init-path pidfile \
                 pod-id-file retry retry-delay sdnotify signature-policy timeout",
            )
            .with("no-hosts no-hostname replace rmi", "http-proxy passwd systemd tls-verify"),
            FlagGroup::of_values(
                Refused,
                "arch cgroup-conf chrootdirs gidmap group-entry hostuser os passwd-entry personality pod preserve-fd \
                 preserve-fds rdt-class requires seccomp-policy secret shm-size-systemd subgidname subuidname timezone \
                 tz uidmap umask unsetenv variant",
            )
            .with("env-host env-merge read-only-tmpfs rootfs unsetenv-all", ""),
        ],
    ],
    aliases: DOCKER_ALIASES,
};

/// Every flag of `docker run`.
pub fn docker_run_flags() -> impl Iterator<Item = LineFlag> + Clone {
    DOCKER.flags()
}
