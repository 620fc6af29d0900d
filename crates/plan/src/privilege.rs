//! Privileges of a recipe that are equivalent to root on the host, and their removal (`--least-privilege`). The
//! removed ones are reported, since a script of the image may need them: AMD's scripts write kernel settings
//! and GPU clocks.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use retrial_container::{is_accelerator_device, is_root_capability};
use retrial_recipe::model::{Container, Recipe, StepLocation};

/// A root-equivalent privilege, and its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privilege {
    /// The word for `--allow`.
    pub name: String,
    /// Its source: `container.cap_add SYS_ADMIN`, `mount /etc`, `step x`.
    pub setting: String,
    /// The access that it gives the recipe.
    pub effect: String,
}

/// `container.pid host: the host's processes`
impl fmt::Display for Privilege {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.setting, self.effect)
    }
}

impl Privilege {
    fn new(name: &str, setting: impl Into<String>, effect: &str) -> Self {
        Self {
            name: name.to_owned(),
            setting: setting.into(),
            effect: effect.to_owned(),
        }
    }

    /// A mount of a path outside the recipe's directory.
    pub fn mount(source: &str, effect: &str) -> Self {
        Self::new("mounts", format!("mount {source}"), effect)
    }
}

/// The privileges that can be allowed, for the command line's help.
pub const NAMES: [&str; 7] = [
    "privileged",
    "sys-admin",
    "dev-mem",
    "host-pid",
    "engine-socket",
    "mounts",
    "host",
];

/// The security option that opens the kernel's settings.
const SYSTEM_PATHS: &str = "systempaths=unconfined";

/// The privileges that a recipe needs. `mounts` are the absolute sources after rendering.
pub fn needed(
    recipe: &Recipe,
    mounts: &[String],
    recipe_directory: Option<&str>,
) -> Vec<Privilege> {
    let mut privileges = of_container(&recipe.container, "container");
    for (name, service) in &recipe.services {
        if let Some(own) = &service.own_container {
            let place = format!("services.{name}.container");
            privileges.extend(of_container(&own.flags, &place));
        }
    }
    for source in mounts {
        let sockets = ["docker.sock", "podman.sock", "containerd.sock"];
        if sockets.iter().any(|socket| source.ends_with(socket)) {
            privileges.push(Privilege::new(
                "engine-socket",
                format!("mount {source}"),
                "the engine, and through it the host",
            ));
        } else if !recipe_directory.is_some_and(|directory| below(source, directory)) {
            privileges.push(Privilege::mount(source, "outside the recipe's directory"));
        }
    }
    let mut setups = recipe.datasets.iter().chain(&recipe.setup);
    if let Some((name, _)) = setups.find(|(_, setup)| setup.on == StepLocation::Host) {
        privileges.push(Privilege::new(
            "host",
            format!("step {name}"),
            "`on: host` runs on this machine, not in the container",
        ));
    }
    privileges
}

/// Removes the privileges of a recipe's containers that a GPU does not need; returns what is removed.
pub fn remove_all(recipe: &mut Recipe) -> Vec<Privilege> {
    let mut removed = remove(&mut recipe.container, "container");
    for (name, service) in &mut recipe.services {
        if let Some(own) = &mut service.own_container {
            let place = format!("services.{name}.container");
            removed.extend(remove(&mut own.flags, &place));
        }
    }
    removed
}

fn remove(container: &mut Container, place: &str) -> Vec<Privilege> {
    let removed = of_container(container, place);
    container.privileged = false;
    container.cap_add.retain(|name| !is_root_capability(name));
    container
        .security_opt
        .retain(|option| option != SYSTEM_PATHS);
    container
        .devices
        .retain(|device| is_accelerator_device(device));
    container.pid.take_if(|pid| pid == "host");
    removed
}

/// `place` is the container's key in the recipe.
fn of_container(container: &Container, place: &str) -> Vec<Privilege> {
    let mut privileges = Vec::new();
    let mut add = |name: &str, setting: &str, effect: &str| {
        privileges.push(Privilege::new(name, format!("{place}.{setting}"), effect));
    };
    if container.privileged {
        let effect = "every device of the host, and settings of its kernel and of the GPUs' clocks";
        add("privileged", "privileged", effect);
    }
    for name in &container.cap_add {
        if is_root_capability(name) {
            let effect = "enough to escape the container";
            add("sys-admin", &format!("cap_add {name}"), effect);
        }
    }
    let mut options = container.security_opt.iter();
    if options.any(|option| option == SYSTEM_PATHS) {
        let effect = "the kernel's settings in /proc and /sys";
        add("sys-admin", &format!("security_opt {SYSTEM_PATHS}"), effect);
    }
    for device in &container.devices {
        if !is_accelerator_device(device) {
            let effect = "not a GPU's device: it may be the host's memory or disks";
            add("dev-mem", &format!("devices {device}"), effect);
        }
    }
    if container.pid.as_deref() == Some("host") {
        add("host-pid", "pid host", "the host's processes");
    }
    privileges
}

fn below(path: &str, directory: &str) -> bool {
    !path.split('/').any(|part| part == "..") && Path::new(path).starts_with(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_equivalent_privileges_are_removed_and_reported() {
        let text = "schema: 1\ntitle: t\nsubmission: { suite: own, benchmark: b, sources: [x] }\nimage: debian\ncontainer:\n  privileged: true\n  pid: host\n  devices: [/dev/kfd, /dev/dri, /dev/mem]\n  cap_add: [CAP_SYS_ADMIN, SYS_PTRACE]\n  security_opt: [seccomp=unconfined]\nscenarios: { s: { performance: { run: \"true\", figures: { speed: { pattern: \"([0-9]+)\" } } } } }\n";
        let source = retrial_recipe::Source::new("r.yaml", text);
        let resolved =
            retrial_recipe::resolve("r", &source, &retrial_recipe::NoTemplates, &[]).unwrap();
        let mut container = resolved.recipe.container;
        let removed = remove(&mut container, "container");
        assert!(!container.privileged && container.pid.is_none());
        assert_eq!(container.devices, ["/dev/kfd", "/dev/dri"]);
        assert_eq!(container.cap_add, ["SYS_PTRACE"]);
        assert_eq!(container.security_opt, ["seccomp=unconfined"]);
        assert_eq!(removed.len(), 4, "{removed:?}");
        assert_eq!(remove(&mut container, "container"), []);
    }

    #[test]
    fn service_container_privileges_are_listed_and_removed() {
        let text = "schema: 1\ntitle: t\nsubmission: { suite: own, benchmark: b, sources: [x] }\nimage: debian\nservices: { server: { run: serve, ready: { port: 80 }, container: { privileged: true } } }\nscenarios: { s: { performance: { needs: [server], run: \"true\", figures: { speed: { pattern: \"([0-9]+)\" } } } } }\n";
        let source = retrial_recipe::Source::new("r.yaml", text);
        let resolved =
            retrial_recipe::resolve("r", &source, &retrial_recipe::NoTemplates, &[]).unwrap();
        let mut recipe = resolved.recipe;
        let needed = needed(&recipe, &[], None);
        assert_eq!(needed[0].setting, "services.server.container.privileged");
        assert_eq!(remove_all(&mut recipe), needed);
        assert_eq!(super::needed(&recipe, &[], None), []);
    }
}
