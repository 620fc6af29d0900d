//! The options of `docker run` that configure a container, in their order and spelling.

use std::fmt;

use crate::{ContainerSpec, ExtraFlags, GpuDevices};

/// An option of `docker run`: `--ipc=host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOption {
    /// The flag without its dashes: `cap-add`.
    pub flag: &'static str,
    /// The option's value, if it has one.
    pub value: OptionValue,
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// A switch, without a value.
    Switch,
    /// A size, bytes: Docker also accepts it without a unit.
    Bytes(u64),
    /// Anything else, as Docker writes it.
    Text(String),
}

impl fmt::Display for RunOption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = self.flag;
        match &self.value {
            OptionValue::Switch => write!(formatter, "--{flag}"),
            OptionValue::Bytes(bytes) => write!(formatter, "--{flag}={bytes}"),
            OptionValue::Text(text) => write!(formatter, "--{flag}={text}"),
        }
    }
}

#[derive(Default)]
struct RunOptionList(Vec<RunOption>);

impl RunOptionList {
    fn add(&mut self, flag: &'static str, value: OptionValue) {
        self.0.push(RunOption { flag, value });
    }

    fn switch(&mut self, flag: &'static str, is_set: bool) {
        if is_set {
            self.add(flag, OptionValue::Switch);
        }
    }

    fn bytes(&mut self, flag: &'static str, bytes: Option<u64>) {
        if let Some(bytes) = bytes {
            self.add(flag, OptionValue::Bytes(bytes));
        }
    }

    /// Adds one option for each value: none, one or several.
    fn texts(&mut self, flag: &'static str, values: impl IntoIterator<Item = impl ToString>) {
        for value in values {
            self.add(flag, OptionValue::Text(value.to_string()));
        }
    }

    fn pairs(&mut self, flag: &'static str, pairs: &[(String, String)]) {
        self.texts(
            flag,
            pairs.iter().map(|(name, value)| format!("{name}={value}")),
        );
    }

    fn extra(&mut self, extra: &ExtraFlags) {
        self.texts("cap-drop", &extra.cap_drop);
        self.texts("hostname", &extra.hostname);
        self.texts("runtime", &extra.runtime);
        self.bytes("memory", extra.memory);
        self.texts("cpus", &extra.cpus);
        self.texts("cpuset-cpus", &extra.cpuset_cpus);
        self.texts("cpuset-mems", &extra.cpuset_mems);
        self.texts("pids-limit", extra.pids_limit);
        self.texts("cgroupns", &extra.cgroupns);
        self.texts("userns", &extra.userns);
        self.switch("read-only", extra.read_only);
        self.pairs("sysctl", &extra.sysctls);
        self.texts("tmpfs", &extra.tmpfs);
        self.texts("dns", &extra.dns);
        self.texts("add-host", &extra.add_host);
    }
}

impl ContainerSpec {
    /// The options of `docker run` for this container, except those of a single run: its name,
    /// its labels and the mount of its control directory.
    pub fn options(&self) -> Vec<RunOption> {
        let mut options = RunOptionList::default();
        options.texts("ipc", &self.ipc);
        options.texts("network", &self.network);
        options.texts("uts", &self.uts);
        options.texts("pid", &self.pid);
        options.switch("privileged", self.privileged);
        options.texts("cap-add", &self.cap_add);
        options.texts("device", &self.devices);
        options.texts("gpus", &self.gpus);
        options.texts("security-opt", &self.security_opt);
        options.texts("group-add", &self.group_add);
        options.bytes("shm-size", self.shm_size);
        options.texts("ulimit", &self.ulimits);
        options.pairs("env", &self.env);
        options.texts("volume", &self.mounts);
        options.texts("workdir", &self.workdir);
        options.texts("user", &self.user);
        options.switch("init", self.init);
        options.extra(&self.extra);
        // The option has one word; the others are the first of the command.
        options.texts("entrypoint", self.entrypoint.iter().flatten().take(1));
        options.0
    }
}

impl fmt::Display for GpuDevices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => formatter.write_str("all"),
            Self::Ids(ids) => write!(formatter, "\"device={}\"", ids.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mount, Ulimit};

    #[test]
    fn options_use_docker_syntax() {
        let text = |text: &str| text.to_owned();
        let spec = ContainerSpec {
            privileged: true,
            ipc: Some(text("host")),
            devices: vec![text("/dev/kfd"), text("/dev/dri")],
            gpus: Some(GpuDevices::Ids(vec![text("0"), text("1")])),
            shm_size: Some(1 << 30),
            ulimits: vec![Ulimit {
                name: text("memlock"),
                soft: -1,
                hard: -1,
            }],
            env: vec![(text("A"), text("b c"))],
            mounts: vec![Mount {
                source: text("/data"),
                target: text("/in"),
                read_only: true,
            }],
            entrypoint: Some(vec![text("/bin/sh"), text("-c")]),
            extra: ExtraFlags {
                read_only: true,
                pids_limit: Some(-1),
                sysctls: vec![(text("net.x"), text("1"))],
                ..ExtraFlags::default()
            },
            ..ContainerSpec::default()
        };
        let options: Vec<String> = spec.options().iter().map(ToString::to_string).collect();
        assert_eq!(
            options,
            [
                "--ipc=host",
                "--privileged",
                "--device=/dev/kfd",
                "--device=/dev/dri",
                "--gpus=\"device=0,1\"",
                "--shm-size=1073741824",
                "--ulimit=memlock=-1:-1",
                "--env=A=b c",
                "--volume=/data:/in:ro",
                "--pids-limit=-1",
                "--read-only",
                "--sysctl=net.x=1",
                "--entrypoint=/bin/sh",
            ]
        );
        assert_eq!(ContainerSpec::default().options(), []);
    }
}
