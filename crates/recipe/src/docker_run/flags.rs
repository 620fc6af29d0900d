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

const fn value_flag(name: &'static str, treatment: FlagTreatment) -> DockerFlag {
    DockerFlag {
        name,
        short: None,
        takes_value: true,
        treatment,
    }
}

const fn switch_flag(name: &'static str, treatment: FlagTreatment) -> DockerFlag {
    DockerFlag {
        takes_value: false,
        ..value_flag(name, treatment)
    }
}

impl DockerFlag {
    const fn with_letter(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }
}

use FlagTreatment::{Dropped, Key, Refused};

const TERMINAL_REASON: &str = "steps run without a terminal";
const OUTPUT_REASON: &str = "Retrial follows the output itself";
const PORTS_REASON: &str = "nothing outside the container uses its ports: all steps run in it";
const LABELS_REASON: &str = "labels have no effect in the container; Retrial sets its own";
const FIRST_PROCESS_REASON: &str = "the container's first process is Retrial's";
const HEALTH_REASON: &str = "Retrial does not check the container's health";

/// Every flag of `docker run`.
pub const DOCKER_RUN_FLAGS: &[DockerFlag] = &[
    value_flag("add-host", Key),
    value_flag("annotation", Refused),
    value_flag("attach", Dropped(OUTPUT_REASON)).with_letter('a'),
    value_flag("blkio-weight", Refused),
    value_flag("blkio-weight-device", Refused),
    value_flag("cap-add", Key),
    value_flag("cap-drop", Key),
    value_flag("cgroup-parent", Refused),
    value_flag("cgroupns", Key),
    value_flag(
        "cidfile",
        Dropped("the run's journal has the container's id"),
    ),
    value_flag("cpu-count", Refused),
    value_flag("cpu-percent", Refused),
    value_flag("cpu-period", Refused),
    value_flag("cpu-quota", Refused),
    value_flag("cpu-rt-period", Refused),
    value_flag("cpu-rt-runtime", Refused),
    value_flag("cpu-shares", Refused).with_letter('c'),
    value_flag("cpus", Key),
    value_flag("cpuset-cpus", Key),
    value_flag("cpuset-mems", Key),
    switch_flag("detach", Dropped("the container is always detached")).with_letter('d'),
    value_flag("detach-keys", Dropped(TERMINAL_REASON)),
    value_flag("device", Key),
    value_flag("device-cgroup-rule", Refused),
    value_flag("device-read-bps", Refused),
    value_flag("device-read-iops", Refused),
    value_flag("device-write-bps", Refused),
    value_flag("device-write-iops", Refused),
    switch_flag(
        "disable-content-trust",
        Dropped("images are verified by digest"),
    ),
    value_flag("dns", Key),
    value_flag("dns-option", Refused),
    value_flag("dns-search", Refused),
    value_flag("domainname", Refused),
    value_flag("entrypoint", Key),
    value_flag("env", Key).with_letter('e'),
    value_flag("env-file", Key),
    value_flag("expose", Dropped("it documents ports, and opens none")),
    value_flag("gpus", Key),
    value_flag("group-add", Key),
    value_flag("health-cmd", Dropped(HEALTH_REASON)),
    value_flag("health-interval", Dropped(HEALTH_REASON)),
    value_flag("health-retries", Dropped(HEALTH_REASON)),
    value_flag("health-start-interval", Dropped(HEALTH_REASON)),
    value_flag("health-start-period", Dropped(HEALTH_REASON)),
    value_flag("health-timeout", Dropped(HEALTH_REASON)),
    value_flag("hostname", Key).with_letter('h'),
    switch_flag("init", Key),
    switch_flag("interactive", Dropped(TERMINAL_REASON)).with_letter('i'),
    value_flag("io-maxbandwidth", Refused),
    value_flag("io-maxiops", Refused),
    value_flag("ip", Refused),
    value_flag("ip6", Refused),
    value_flag("ipc", Key),
    value_flag("isolation", Refused),
    value_flag("kernel-memory", Refused),
    value_flag("label", Dropped(LABELS_REASON)).with_letter('l'),
    value_flag("label-file", Dropped(LABELS_REASON)),
    value_flag("link", Refused),
    value_flag("link-local-ip", Refused),
    value_flag("log-driver", Dropped(OUTPUT_REASON)),
    value_flag("log-opt", Dropped(OUTPUT_REASON)),
    value_flag("mac-address", Refused),
    value_flag("memory", Key).with_letter('m'),
    value_flag("memory-reservation", Refused),
    value_flag("memory-swap", Key),
    value_flag("memory-swappiness", Refused),
    value_flag("mount", Key),
    value_flag("name", Dropped("Retrial names its containers")),
    value_flag("network", Key),
    value_flag("network-alias", Refused),
    switch_flag("no-healthcheck", Dropped(HEALTH_REASON)),
    switch_flag("oom-kill-disable", Refused),
    value_flag("oom-score-adj", Refused),
    value_flag("pid", Key),
    value_flag("pids-limit", Key),
    value_flag("platform", Refused),
    switch_flag("privileged", Key),
    value_flag("publish", Dropped(PORTS_REASON)).with_letter('p'),
    switch_flag("publish-all", Dropped(PORTS_REASON)).with_letter('P'),
    value_flag(
        "pull",
        Dropped("`retrial run --pull` controls when an image is pulled"),
    ),
    switch_flag("quiet", Dropped(OUTPUT_REASON)).with_letter('q'),
    switch_flag("read-only", Key),
    value_flag("restart", Dropped("the run ends when its container ends")),
    switch_flag(
        "rm",
        Dropped("Retrial removes its container at the end (`--keep` keeps it)"),
    ),
    value_flag("runtime", Key),
    value_flag("security-opt", Key),
    value_flag("shm-size", Key),
    switch_flag("sig-proxy", Dropped(TERMINAL_REASON)),
    value_flag("stop-signal", Dropped(FIRST_PROCESS_REASON)),
    value_flag("stop-timeout", Dropped(FIRST_PROCESS_REASON)),
    value_flag("storage-opt", Refused),
    value_flag("sysctl", Key),
    value_flag("tmpfs", Key),
    switch_flag("tty", Dropped(TERMINAL_REASON)).with_letter('t'),
    value_flag("ulimit", Key),
    switch_flag("use-api-socket", Refused),
    value_flag("user", Key).with_letter('u'),
    value_flag("userns", Key),
    value_flag("uts", Key),
    value_flag("volume", Key).with_letter('v'),
    value_flag("volume-driver", Refused),
    value_flag("volumes-from", Refused),
    value_flag("workdir", Key).with_letter('w'),
];

/// Older names of flags, each with the present name.
const FLAG_ALIASES: &[(&str, &str)] = &[
    ("net", "network"),
    ("net-alias", "network-alias"),
    ("dns-opt", "dns-option"),
];

/// Finds a flag by its long name, present or older.
pub(super) fn find_long_flag(name: &str) -> Option<&'static DockerFlag> {
    let alias = FLAG_ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, name)| name);
    DOCKER_RUN_FLAGS.iter().find(|flag| flag.name == name)
}

/// Finds a flag by its letter.
pub(super) fn find_short_flag(letter: char) -> Option<&'static DockerFlag> {
    DOCKER_RUN_FLAGS
        .iter()
        .find(|flag| flag.short == Some(letter))
}
