//! The options of `docker run` that configure a container, in their order and spelling.

use std::fmt;

use crate::{ContainerSpec, ExtraFlags, GpuDevices};

/// An option of `docker run`: `--ipc=host`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOption {
    /// The flag without its dashes: `cap-add`.
    pub flag: &'static str,
    pub value: OptionValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// A switch, without a value.
    Switch,
    /// A size, bytes.
    Bytes(u64),
    /// Anything else, as Docker writes it.
    Text(String),
}

impl fmt::Display for RunOption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = self.flag;
        match &self.value {
            OptionValue::Switch => write!(formatter, "--{flag}"),
            OptionValue::Bytes(bytes) => write!(formatter, "--{flag}={}", docker_size(*bytes)),
            OptionValue::Text(text) => write!(formatter, "--{flag}={text}"),
        }
    }
}

/// A size as guides write it, in the largest unit that states it exactly: `128G`.
fn docker_size(bytes: u64) -> String {
    let units = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];
    let exact = units.into_iter().find(|(_, size)| bytes > 0 && bytes.is_multiple_of(*size));
    exact.map_or_else(|| bytes.to_string(), |(unit, size)| format!("{}{unit}", bytes / size))
}

#[derive(Default)]
struct RunOptionList(Vec<RunOption>);

impl RunOptionList {
    fn push_option(&mut self, flag: &'static str, value: OptionValue) {
        self.0.push(RunOption { flag, value });
    }

    fn push_switch(&mut self, flag: &'static str, is_set: bool) {
        if is_set {
            self.push_option(flag, OptionValue::Switch);
        }
    }

    fn push_bytes(&mut self, flag: &'static str, bytes: Option<u64>) {
        if let Some(bytes) = bytes {
            self.push_option(flag, OptionValue::Bytes(bytes));
        }
    }

    /// Adds one option for each value: none, one or several.
    fn push_each_text(
        &mut self,
        flag: &'static str,
        values: impl IntoIterator<Item = impl ToString>,
    ) {
        for value in values {
            self.push_option(flag, OptionValue::Text(value.to_string()));
        }
    }

    fn push_pairs(&mut self, flag: &'static str, pairs: &[(String, impl fmt::Display)]) {
        self.push_each_text(flag, pairs.iter().map(|(name, value)| format!("{name}={value}")));
    }

    fn push_extra_flags(&mut self, extra: &ExtraFlags) {
        // Every flag by name: a new one does not compile until it is an option.
        let ExtraFlags {
            cap_drop,
            hostname,
            runtime,
            memory,
            cpus,
            cpuset_cpus,
            cpuset_mems,
            pids_limit,
            sysctls,
            tmpfs,
            read_only,
            dns,
            add_host,
            cgroupns,
            userns,
        } = extra;
        self.push_each_text("cap-drop", cap_drop);
        self.push_each_text("hostname", hostname);
        self.push_each_text("runtime", runtime);
        self.push_bytes("memory", *memory);
        self.push_each_text("cpus", cpus);
        self.push_each_text("cpuset-cpus", cpuset_cpus);
        self.push_each_text("cpuset-mems", cpuset_mems);
        self.push_each_text("pids-limit", *pids_limit);
        self.push_each_text("cgroupns", cgroupns);
        self.push_each_text("userns", userns);
        self.push_switch("read-only", *read_only);
        self.push_pairs("sysctl", sysctls);
        self.push_each_text("tmpfs", tmpfs);
        self.push_each_text("dns", dns);
        self.push_each_text("add-host", add_host);
    }
}

impl ContainerSpec {
    /// The options of `docker run` for this container, except those of a single run: its name,
    /// its labels and the mount of its control directory.
    pub fn run_options(&self) -> Vec<RunOption> {
        // Every setting by name: a new one does not compile until it is an option, or is named here as none.
        let Self {
            // The words after the options.
            image: _,
            command: _,
            // Of a single run.
            name: _,
            labels: _,
            control: _,
            // Their sources are known when the container is created.
            cache_mounts: _,
            entrypoint,
            privileged,
            ipc,
            network,
            uts,
            pid,
            devices,
            gpus,
            cap_add,
            security_opt,
            group_add,
            shm_size,
            ulimits,
            env,
            mounts,
            workdir,
            user,
            init,
            extra,
        } = self;
        let mut options = RunOptionList::default();
        options.push_each_text("ipc", ipc);
        options.push_each_text("network", network);
        options.push_each_text("uts", uts);
        options.push_each_text("pid", pid);
        options.push_switch("privileged", *privileged);
        options.push_each_text("cap-add", cap_add);
        options.push_each_text("device", devices);
        options.push_each_text("gpus", gpus);
        options.push_each_text("security-opt", security_opt);
        options.push_each_text("group-add", group_add);
        options.push_bytes("shm-size", *shm_size);
        options.push_pairs("ulimit", ulimits);
        options.push_pairs("env", env);
        options.push_each_text("volume", mounts);
        options.push_each_text("workdir", workdir);
        options.push_each_text("user", user);
        options.push_switch("init", *init);
        options.push_extra_flags(extra);
        // The option has one word; the others are the first of the command.
        options.push_each_text("entrypoint", entrypoint.iter().flatten().take(1));
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
            ulimits: vec![(text("memlock"), Ulimit { soft: -1, hard: -1 })],
            env: vec![(text("A"), text("b c"))],
            mounts: vec![Mount { source: text("/data"), target: text("/in"), read_only: true }],
            entrypoint: Some(vec![text("/bin/sh"), text("-c")]),
            extra: ExtraFlags {
                read_only: true,
                pids_limit: Some(-1),
                sysctls: vec![(text("net.x"), text("1"))],
                ..ExtraFlags::default()
            },
            ..ContainerSpec::default()
        };
        let options: Vec<String> = spec.run_options().iter().map(ToString::to_string).collect();
        assert_eq!(
            options,
            [
                "--ipc=host",
                "--privileged",
                "--device=/dev/kfd",
                "--device=/dev/dri",
                "--gpus=\"device=0,1\"",
                "--shm-size=1G",
                "--ulimit=memlock=-1:-1",
                "--env=A=b c",
                "--volume=/data:/in:ro",
                "--pids-limit=-1",
                "--read-only",
                "--sysctl=net.x=1",
                "--entrypoint=/bin/sh",
            ]
        );
        assert_eq!(ContainerSpec::default().run_options(), []);
    }
}
