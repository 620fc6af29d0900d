//! Privileges of a recipe that are equivalent to root on the host, and their removal (`--least-privilege`). The
//! removed ones are reported, since a script of the image may need them: AMD's scripts write kernel settings
//! and GPU clocks.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use retrial_document::escape_harmful;

use super::access::{AccessKind, HostAccess, HostPath, Namespace, container_accesses};
use retrial_container::{
    ContainerSpec, is_accelerator_device, is_confined_capability, is_root_capability,
    is_usual_security_option, requests_more_than_gpus,
};
use retrial_recipe::expression::{ExpressionScope, Template, render_template};
use retrial_recipe::model::{Container, Recipe};

/// A root-equivalent privilege, and its source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Privilege {
    /// The word for `--allow`.
    pub name: String,
    /// The setting that needs it: `container.cap_add SYS_ADMIN`, `mount /etc`, `step x`.
    pub setting: String,
    /// The access to the machine that the recipe gets by it.
    pub effect: String,
    /// An answer at the terminal is not remembered: something else than the recipe and its files decides what it does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each_time: bool,
}

/// `container.pid host: the host's processes`, in one line, whatever names are in it.
impl fmt::Display for Privilege {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", escape_harmful(&self.setting), escape_harmful(&self.effect))
    }
}

impl Privilege {
    fn new(name: &str, setting: impl Into<String>, effect: &str) -> Self {
        Self {
            name: name.to_owned(),
            setting: setting.into(),
            effect: effect.to_owned(),
            each_time: false,
        }
    }

    /// Whether it is a secret, and no access to the machine.
    pub fn is_secret(&self) -> bool {
        self.name == SECRETS_PRIVILEGE
    }
}

const SECRETS_PRIVILEGE: &str = "secrets";

/// The privilege of a command on the host.
pub const HOST_PRIVILEGE: &str = "host";

/// The privilege of sharing a namespace of the host or of another container.
pub const NAMESPACES_PRIVILEGE: &str = "namespaces";

/// The privileges that can be allowed, for the command line's help.
pub const PRIVILEGE_NAMES: [&str; 11] = [
    "privileged",
    "sys-admin",
    "capabilities",
    "security-options",
    "dev-mem",
    "host-pid",
    NAMESPACES_PRIVILEGE,
    "engine-socket",
    "mounts",
    HOST_PRIVILEGE,
    SECRETS_PRIVILEGE,
];

/// The security option that opens the kernel's settings.
const UNCONFINED_SYSTEM_PATHS: &str = "systempaths=unconfined";

/// The runtimes that need no approval: the engine's own, and those of GPUs' vendors.
const USUAL_RUNTIMES: [&str; 5] = ["runc", "crun", "io.containerd.runc.v2", "nvidia", "amd"];

/// The place of a path, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathPlace {
    /// In the recipe's directory: a file or directory that the recipe names.
    Companion,
    /// The recipe's directory itself.
    RecipeDirectory,
    /// In the recipe's directory, and named as a path of the host.
    InPlace,
    /// Anywhere else.
    Host,
}

/// The privilege that an access needs, if it needs one. `place` tells where a path is, `is_writable` whether a container
/// can write to one that is mounted.
pub(super) fn privilege_for_access(
    access: &HostAccess,
    place: impl Fn(&str) -> PathPlace,
    is_writable: impl Fn(&str) -> bool,
) -> Option<Privilege> {
    let recipient = &access.recipient;
    match &access.kind {
        AccessKind::Mount(source) => {
            let place = place(&source.path);
            let mut privilege = source_privilege(source, "mount", place)?;
            // Of a companion a copy is mounted.
            if is_given_itself(source, place) && is_writable(&source.path) {
                privilege.effect.push_str(", writable");
            } else if !source.mounted_below.is_empty() {
                let below = source.mounted_below.join(", ");
                let text = format!(", writable in file systems below it: {below}");
                privilege.effect.push_str(&text);
            }
            Some(privilege)
        }
        AccessKind::BuildContext(source) => {
            source_privilege(source, "build context", place(&source.path))
        }
        AccessKind::RecipeFile(source) => source_privilege(source, "file", place(&source.path)),
        AccessKind::HostCommand { of_recipe } => Some(Privilege {
            each_time: !of_recipe,
            ..Privilege::new(
                HOST_PRIVILEGE,
                recipient.as_str(),
                "`on: host` runs on this machine, not in the container",
            )
        }),
        AccessKind::Secret { name, named_by_user: false } => Some(Privilege::new(
            SECRETS_PRIVILEGE,
            format!("secret {name}"),
            "its value, for commands that name it",
        )),
        // These are the driver's own, and the user's own request.
        AccessKind::DriverFile { .. } | AccessKind::Secret { .. } => None,
        AccessKind::Privileged
        | AccessKind::Capability { .. }
        | AccessKind::SecurityOption { .. }
        | AccessKind::Namespace { .. }
        | AccessKind::Runtime { .. }
        | AccessKind::RuntimeRequest { .. }
        | AccessKind::Device { .. } => flag_privilege(access),
    }
}

fn source_privilege(source: &HostPath, what: &str, place: PathPlace) -> Option<Privilege> {
    let setting = format!("{what} {}", source.path);
    let sockets = ["docker.sock", "podman.sock", "containerd.sock"];
    let mut paths = [Some(&source.path), source.leads_to.as_ref()].into_iter().flatten();
    // Also where it does not exist yet, or not here.
    let is_named_so = paths.any(|path| sockets.iter().any(|socket| path.ends_with(socket)));
    let socket = match (is_named_so && what == "mount", source.is_socket) {
        (true, _) => Some("the engine, and through it the host"),
        (false, true) => Some("a socket of the host: its engine's, or another program's"),
        (false, false) => None,
    };
    let leads_to = source.leads_to.as_ref().map(|path| format!("leads to {path}"));
    let (effect, leads_to) = match (place, &source.leads_to, &source.reason) {
        (PathPlace::Companion, None, None) if socket.is_none() => return None,
        (PathPlace::Companion, None, _) => (None, None),
        (PathPlace::Companion, Some(path), _) => {
            (Some(format!("a link to {path}, outside the recipe's directory")), None)
        }
        (PathPlace::RecipeDirectory, ..) => {
            (Some("the recipe's directory itself".to_owned()), leads_to)
        }
        (PathPlace::InPlace, ..) => {
            (Some("next to the recipe, and not a copy".to_owned()), leads_to)
        }
        (PathPlace::Host, ..) => (Some("outside the recipe's directory".to_owned()), leads_to),
    };
    // /proc/1/root is the host's root, whatever the mount says.
    let is_of_processes = Path::new(source.resolved()).starts_with("/proc");
    let processes =
        is_of_processes.then(|| "the host's processes, and with SYS_PTRACE their files".to_owned());
    let effects = socket.map(str::to_owned).into_iter().chain(effect);
    let effects = effects.chain(leads_to).chain(processes).chain(source.reason.clone());
    let effects: Vec<String> = effects.collect();
    // Others decide what it leads to by the time of the next run.
    let each_time = is_given_itself(source, place) && source.reason.is_some();
    let name = if socket.is_some() { "engine-socket" } else { "mounts" };
    Some(Privilege { each_time, ..Privilege::new(name, setting, &effects.join(", ")) })
}

/// Whether the path itself is given, and no copy of it.
fn is_given_itself(source: &HostPath, place: PathPlace) -> bool {
    place != PathPlace::Companion || source.leads_to.is_some()
}

fn flag_privilege(access: &HostAccess) -> Option<Privilege> {
    let place = &access.recipient;
    let (name, setting, effect) = match &access.kind {
        AccessKind::Privileged => (
            "privileged",
            "privileged".to_owned(),
            "every device of the host, and settings of its kernel and of the GPUs' clocks",
        ),
        AccessKind::Capability { name } if is_root_capability(name) => {
            ("sys-admin", format!("cap_add {name}"), "enough to escape the container")
        }
        AccessKind::Capability { name } if !is_confined_capability(name) => {
            ("capabilities", format!("cap_add {name}"), capability_effect(name))
        }
        AccessKind::SecurityOption { option } if option == UNCONFINED_SYSTEM_PATHS => (
            "sys-admin",
            format!("security_opt {option}"),
            "the kernel's settings in /proc and /sys",
        ),
        AccessKind::SecurityOption { option } if !is_usual_security_option(option) => (
            "security-options",
            format!("security_opt {option}"),
            "a profile or a setting of the host that the recipe chooses",
        ),
        AccessKind::Runtime { runtime } if !USUAL_RUNTIMES.contains(&runtime.as_str()) => (
            "security-options",
            format!("runtime {runtime}"),
            "a runtime of the engine that the recipe chooses: it may not confine the container",
        ),
        AccessKind::RuntimeRequest { setting } => (
            "dev-mem",
            setting.clone(),
            "a runtime for GPUs gives devices for it that are not only GPUs",
        ),
        AccessKind::Device { device } if !is_accelerator_device(device) => (
            "dev-mem",
            format!("devices {device}"),
            "not a GPU's own device: it may be the host's memory or disks, or partition GPUs",
        ),
        AccessKind::Namespace { namespace, value } => {
            let (name, effect) = namespace_privilege(*namespace, value)?;
            (name, format!("{namespace} {value}"), effect)
        }
        _ => return None,
    };
    Some(Privilege::new(name, format!("{place}.{setting}"), effect))
}

fn capability_effect(name: &str) -> &'static str {
    match name.trim_start_matches("CAP_") {
        "SYS_TIME" => "sets the host's clock",
        "SYS_BOOT" => "restarts the host, or loads another kernel",
        "SYSLOG" => "reads and clears the kernel's log",
        "NET_ADMIN" => "settings of the network: the host's, with `network: host`",
        _ => "more than Docker gives a container",
    }
}

/// The name and the effect of sharing a namespace, if that needs approval.
fn namespace_privilege(namespace: Namespace, value: &str) -> Option<(&'static str, &'static str)> {
    match (namespace, value) {
        (Namespace::Pid, "host") => Some(("host-pid", "the host's processes")),
        (Namespace::Network, "host" | "bridge" | "default" | "none")
        | (Namespace::Ipc, "host" | "private" | "shareable" | "none")
        | (Namespace::Uts, "host")
        | (Namespace::Cgroup, "private") => None,
        (Namespace::Cgroup, _) => Some((NAMESPACES_PRIVILEGE, "the control groups of the host")),
        (Namespace::User, _) => Some((NAMESPACES_PRIVILEGE, "its root is the host's")),
        (Namespace::Network, _) => Some((NAMESPACES_PRIVILEGE, "the network of other containers")),
        _ => Some((NAMESPACES_PRIVILEGE, "another container's memory or processes")),
    }
}

/// Removes the privileges of a recipe's containers that a GPU does not need; returns what is removed.
pub fn remove_recipe_privileges(recipe: &mut Recipe) -> Vec<Privilege> {
    let scope = recipe.expression_scope();
    let mut removed = remove_container_privileges(&mut recipe.container, "container", &scope);
    for (name, service) in &mut recipe.services {
        if let Some(own) = &mut service.own_container {
            let place = format!("services.{name}.container");
            removed.extend(remove_container_privileges(&mut own.flags, &place, &scope));
        }
    }
    removed
}

/// `place` is the container's key in the recipe.
fn remove_container_privileges(
    container: &mut Container,
    place: &str,
    scope: &ExpressionScope,
) -> Vec<Privilege> {
    let render = |value: &Template| render_template(value, scope).unwrap_or(value.0.clone());
    let flags = ContainerSpec {
        privileged: container.privileged,
        ipc: container.ipc.clone(),
        network: container.network.clone(),
        uts: container.uts.clone(),
        pid: container.pid.clone(),
        devices: container.devices.clone(),
        cap_add: container.cap_add.clone(),
        security_opt: container.security_opt.clone(),
        env: container.env.iter().map(|(name, value)| (name.clone(), render(value))).collect(),
        extra: container.extra.clone(),
        ..ContainerSpec::default()
    };
    let accesses = container_accesses(&flags, place);
    let removed = accesses.iter().filter_map(flag_privilege).collect();
    container.privileged = false;
    container.cap_add.retain(|name| is_confined_capability(name));
    container.security_opt.retain(|option| is_usual_security_option(option));
    container.devices.retain(|device| is_accelerator_device(device));
    container.env.retain(|(name, value)| !requests_more_than_gpus(name, &render(value)));
    for (namespace, value) in [
        (Namespace::Pid, &mut container.pid),
        (Namespace::Ipc, &mut container.ipc),
        (Namespace::Network, &mut container.network),
        (Namespace::User, &mut container.extra.userns),
        (Namespace::Cgroup, &mut container.extra.cgroupns),
    ] {
        value.take_if(|value| namespace_privilege(namespace, value).is_some());
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{RecipeOrigin, build_plan};
    use crate::options::PlanOptions;
    use retrial_host::model::HostView;

    #[test]
    fn root_equivalent_privileges_are_removed_and_reported() {
        let text = "schema: 1\ntitle: t\nsubmission: { suite: own, benchmark: b, sources: [x] }\nimage: debian\ncontainer:\n  privileged: true\n  pid: host\n  devices: [/dev/kfd, /dev/dri, /dev/mem]\n  cap_add: [CAP_SYS_ADMIN, SYS_PTRACE]\n  security_opt: [seccomp=unconfined]\n  env: { NVIDIA_GDS: enabled, NVIDIA_VISIBLE_DEVICES: \"${{ 1 + 1 }}\" }\nscenarios: { s: { performance: { run: \"true\", figures: { speed: { pattern: \"([0-9]+)\" } } } } }\n";
        let source = retrial_recipe::Source::new("r.yaml", text);
        let resolved =
            retrial_recipe::resolve_recipe("r", &source, &retrial_recipe::NoTemplates, &[])
                .unwrap();
        let scope = resolved.recipe.expression_scope();
        let mut container = resolved.recipe.container;
        let removed = remove_container_privileges(&mut container, "container", &scope);
        assert!(!container.privileged && container.pid.is_none());
        assert_eq!(container.devices, ["/dev/kfd", "/dev/dri"]);
        assert_eq!(container.cap_add, ["SYS_PTRACE"]);
        assert_eq!(container.security_opt, ["seccomp=unconfined"]);
        assert_eq!(container.env.len(), 1);
        assert_eq!(removed.len(), 5, "{removed:?}");
        assert_eq!(remove_container_privileges(&mut container, "container", &scope), []);
    }

    #[test]
    fn service_container_privileges_are_listed_and_removed() {
        let text = "schema: 1\ntitle: t\nsubmission: { suite: own, benchmark: b, sources: [x] }\nimage: debian\nservices: { server: { run: serve, ready: { port: 80 }, container: { privileged: true } } }\nscenarios: { s: { performance: { needs: [server], run: \"true\", figures: { speed: { pattern: \"([0-9]+)\" } } } } }\n";
        let source = retrial_recipe::Source::new("r.yaml", text);
        let resolved =
            retrial_recipe::resolve_recipe("r", &source, &retrial_recipe::NoTemplates, &[])
                .unwrap();
        let mut recipe = resolved.recipe;
        let needed = |recipe: &Recipe| {
            let (origin, options) = (RecipeOrigin::default(), PlanOptions::default());
            let plan = build_plan(recipe, &origin, &options, &HostView::default());
            plan.unwrap().privileges
        };
        let before = needed(&recipe);
        assert_eq!(before[0].setting, "services.server.container.privileged");
        assert_eq!(remove_recipe_privileges(&mut recipe), before);
        assert_eq!(needed(&recipe), []);
    }
}
