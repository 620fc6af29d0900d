//! The flags of `docker run` (Docker 29), and their treatment in a recipe.

/// How the import of `docker run` treats a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagTreatment {
    /// A key of the recipe expresses it.
    Key,
    /// The flag has no effect on the benchmark, or Retrial does the same: dropped, with this reason as a note.
    Dropped(&'static str),
    /// The flag may have an effect, and no key expresses it: an error.
    Refused,
}

/// A flag of `docker run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DockerFlag {
    /// The long name, without dashes: `volume`.
    pub name: &'static str,
    /// The short name, one letter: `v`.
    pub short: Option<char>,
    /// The flag takes a value; otherwise it is a switch.
    pub takes_value: bool,
    /// How the import treats the flag.
    pub treatment: FlagTreatment,
}

const fn value(name: &'static str, treatment: FlagTreatment) -> DockerFlag {
    DockerFlag {
        name,
        short: None,
        takes_value: true,
        treatment,
    }
}

const fn switch(name: &'static str, treatment: FlagTreatment) -> DockerFlag {
    DockerFlag {
        takes_value: false,
        ..value(name, treatment)
    }
}

impl DockerFlag {
    const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }
}

use FlagTreatment::{Dropped, Key, Refused};

const TERMINAL: &str = "steps run without a terminal";
const OUTPUT: &str = "Retrial follows the output itself";
const PORTS: &str = "nothing outside the container uses its ports: all steps run in it";
const LABELS: &str = "labels have no effect in the container; Retrial sets its own";
const FIRST_PROCESS: &str = "the container's first process is Retrial's";
const HEALTH: &str = "Retrial does not check the container's health";

/// Every flag of `docker run`.
pub const FLAGS: &[DockerFlag] = &[
    value("add-host", Key),
    value("annotation", Refused),
    value("attach", Dropped(OUTPUT)).short('a'),
    value("blkio-weight", Refused),
    value("blkio-weight-device", Refused),
    value("cap-add", Key),
    value("cap-drop", Key),
    value("cgroup-parent", Refused),
    value("cgroupns", Key),
    value(
        "cidfile",
        Dropped("the run's journal has the container's id"),
    ),
    value("cpu-count", Refused),
    value("cpu-percent", Refused),
    value("cpu-period", Refused),
    value("cpu-quota", Refused),
    value("cpu-rt-period", Refused),
    value("cpu-rt-runtime", Refused),
    value("cpu-shares", Refused).short('c'),
    value("cpus", Key),
    value("cpuset-cpus", Key),
    value("cpuset-mems", Key),
    switch("detach", Dropped("the container is always detached")).short('d'),
    value("detach-keys", Dropped(TERMINAL)),
    value("device", Key),
    value("device-cgroup-rule", Refused),
    value("device-read-bps", Refused),
    value("device-read-iops", Refused),
    value("device-write-bps", Refused),
    value("device-write-iops", Refused),
    switch(
        "disable-content-trust",
        Dropped("images are verified by digest"),
    ),
    value("dns", Key),
    value("dns-option", Refused),
    value("dns-search", Refused),
    value("domainname", Refused),
    value("entrypoint", Key),
    value("env", Key).short('e'),
    value("env-file", Key),
    value("expose", Dropped("it documents ports, and opens none")),
    value("gpus", Key),
    value("group-add", Key),
    value("health-cmd", Dropped(HEALTH)),
    value("health-interval", Dropped(HEALTH)),
    value("health-retries", Dropped(HEALTH)),
    value("health-start-interval", Dropped(HEALTH)),
    value("health-start-period", Dropped(HEALTH)),
    value("health-timeout", Dropped(HEALTH)),
    value("hostname", Key).short('h'),
    switch("init", Key),
    switch("interactive", Dropped(TERMINAL)).short('i'),
    value("io-maxbandwidth", Refused),
    value("io-maxiops", Refused),
    value("ip", Refused),
    value("ip6", Refused),
    value("ipc", Key),
    value("isolation", Refused),
    value("kernel-memory", Refused),
    value("label", Dropped(LABELS)).short('l'),
    value("label-file", Dropped(LABELS)),
    value("link", Refused),
    value("link-local-ip", Refused),
    value("log-driver", Dropped(OUTPUT)),
    value("log-opt", Dropped(OUTPUT)),
    value("mac-address", Refused),
    value("memory", Key).short('m'),
    value("memory-reservation", Refused),
    value("memory-swap", Refused),
    value("memory-swappiness", Refused),
    value("mount", Key),
    value("name", Dropped("Retrial names its containers")),
    value("network", Key),
    value("network-alias", Refused),
    switch("no-healthcheck", Dropped(HEALTH)),
    switch("oom-kill-disable", Refused),
    value("oom-score-adj", Refused),
    value("pid", Key),
    value("pids-limit", Key),
    value("platform", Refused),
    switch("privileged", Key),
    value("publish", Dropped(PORTS)).short('p'),
    switch("publish-all", Dropped(PORTS)).short('P'),
    value(
        "pull",
        Dropped("`retrial run --pull` controls when an image is pulled"),
    ),
    switch("quiet", Dropped(OUTPUT)).short('q'),
    switch("read-only", Key),
    value("restart", Dropped("the run ends when its container ends")),
    switch(
        "rm",
        Dropped("Retrial removes its container at the end (`--keep` keeps it)"),
    ),
    value("runtime", Key),
    value("security-opt", Key),
    value("shm-size", Key),
    switch("sig-proxy", Dropped(TERMINAL)),
    value("stop-signal", Dropped(FIRST_PROCESS)),
    value("stop-timeout", Dropped(FIRST_PROCESS)),
    value("storage-opt", Refused),
    value("sysctl", Key),
    value("tmpfs", Key),
    switch("tty", Dropped(TERMINAL)).short('t'),
    value("ulimit", Key),
    switch("use-api-socket", Refused),
    value("user", Key).short('u'),
    value("userns", Key),
    value("uts", Key),
    value("volume", Key).short('v'),
    value("volume-driver", Refused),
    value("volumes-from", Refused),
    value("workdir", Key).short('w'),
];

/// Older names of flags, each with the present name.
const ALIASES: &[(&str, &str)] = &[
    ("net", "network"),
    ("net-alias", "network-alias"),
    ("dns-opt", "dns-option"),
];

/// Finds a flag by its long name, present or older.
pub(super) fn long(name: &str) -> Option<&'static DockerFlag> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, name)| name);
    FLAGS.iter().find(|flag| flag.name == name)
}

/// Finds a flag by its letter.
pub(super) fn short(letter: char) -> Option<&'static DockerFlag> {
    FLAGS.iter().find(|flag| flag.short == Some(letter))
}
