//! Privileges of a recipe that are equivalent to root on the host.

use serde::{Deserialize, Serialize};

use retrial_container::{is_accelerator_device, is_root_capability};
use retrial_recipe::model::{Place, Recipe};

/// One root-equivalent power, and what asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privilege {
    /// The word for `--allow`.
    pub name: String,
    /// What asks for it, and what it means.
    pub because: String,
}

impl Privilege {
    fn new(name: &str, because: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            because: because.into(),
        }
    }
}

/// The powers that can be allowed, for the command line's help.
pub const NAMES: [&str; 7] = [
    "privileged",
    "sys-admin",
    "dev-mem",
    "host-pid",
    "engine-socket",
    "mounts",
    "host",
];

/// What the recipe asks of a person's trust. `mounts` are the absolute sources after rendering.
#[must_use]
pub fn asked(recipe: &Recipe, mounts: &[String], recipe_directory: Option<&str>) -> Vec<Privilege> {
    let container = &recipe.container;
    let mut powers = Vec::new();
    if container.privileged {
        powers.push(Privilege::new(
            "privileged",
            "container.privileged: every device and kernel setting of the host",
        ));
    }
    if let Some(name) = container
        .cap_add
        .iter()
        .find(|name| is_root_capability(name))
    {
        powers.push(Privilege::new(
            "sys-admin",
            format!("container.cap_add {name}: enough to leave the container"),
        ));
    }
    if container
        .security_opt
        .iter()
        .any(|option| option == "systempaths=unconfined")
    {
        powers.push(Privilege::new(
            "sys-admin",
            "container.security_opt systempaths=unconfined: the kernel's settings in /proc and /sys",
        ));
    }
    if let Some(device) = container
        .devices
        .iter()
        .find(|device| !is_accelerator_device(device))
    {
        powers.push(Privilege::new(
            "dev-mem",
            format!(
                "container.devices {device}: no device of a GPU: it may be the host's memory or disks"
            ),
        ));
    }
    if container.pid.as_deref() == Some("host") {
        powers.push(Privilege::new(
            "host-pid",
            "container.pid host: the host's processes",
        ));
    }
    for source in mounts {
        if source.ends_with("docker.sock")
            || source.ends_with("podman.sock")
            || source.ends_with("containerd.sock")
        {
            powers.push(Privilege::new(
                "engine-socket",
                format!("mount {source}: the engine, and through it the host"),
            ));
        } else if !recipe_directory.is_some_and(|directory| below(source, directory)) {
            powers.push(Privilege::new(
                "mounts",
                format!("mount {source}: outside the recipe's directory"),
            ));
        }
    }
    let on_host = recipe
        .datasets
        .iter()
        .chain(&recipe.setup)
        .find(|(_, setup)| setup.on == Place::Host);
    if let Some((name, _)) = on_host {
        powers.push(Privilege::new(
            "host",
            format!("step {name}: `on: host` runs on this machine, not in the container"),
        ));
    }
    powers
}

fn below(path: &str, directory: &str) -> bool {
    !path.split('/').any(|part| part == "..")
        && path
            .strip_prefix(directory.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
