//! Explains an engine's refusals, with their remedies. Pure.

use regex::Regex;

/// The cause of an engine's refusal, if its message states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineRefusal {
    /// The image has no such user.
    UnknownUser,
    /// A process cannot enter its working directory.
    WorkingDirectory,
    /// The image has no `/bin/sh`.
    NoShell,
    /// The engine's machine does not have this source of a bind mount.
    MountSource(String),
}

/// Explains a refusal that people meet, with its fix; none where the engine's message must do.
pub fn explain_refusal(message: &str) -> Option<String> {
    if let Some(device) = find_missing_device(message) {
        return Some(format!("this host has no {device}: {}", device_advice(&device)));
    }
    let lower = message.to_lowercase();
    let rule = REFUSAL_HINTS
        .iter()
        .find(|(needles, _)| needles.iter().all(|needle| lower.contains(needle)));
    rule.map(|(_, hint)| (*hint).to_owned())
}

/// Returns the class of a refusal that calls for more than advice.
pub fn classify_refusal(message: &str) -> Option<EngineRefusal> {
    let lower = message.to_lowercase();
    let has = |needle: &str| lower.contains(needle);
    if let Some((_, path)) = message.split_once("bind source path does not exist: ") {
        return Some(EngineRefusal::MountSource(path.trim().to_owned()));
    }
    if has("unable to find user") || has("no matching entries") {
        Some(EngineRefusal::UnknownUser)
    } else if has("chdir to cwd") {
        Some(EngineRefusal::WorkingDirectory)
    } else if has("/bin/sh") && (has("no such file") || has("not found")) {
        Some(EngineRefusal::NoShell)
    } else {
        None
    }
}

/// Returns whether the lower-case message reports a full disk or exhausted quota.
pub fn is_no_space(lower: &str) -> bool {
    lower.contains("no space left on device") || lower.contains("disk quota exceeded")
}

/// Patterns of messages (lower case, all of a row must occur) and the advice. The first row that matches counts.
const REFUSAL_HINTS: &[(&[&str], &str)] = &[
    (
        &["could not select device driver", "gpu"],
        "the engine has no GPU driver: install the NVIDIA Container Toolkit and run `nvidia-ctk runtime configure`, or pass the devices one by one",
    ),
    (
        &["cdi", "unresolvable"],
        "the engine has no CDI description of this device: `nvidia-ctk cdi generate` or `amd-ctk cdi generate`, then restart the engine",
    ),
    (
        &["could not select device driver \"cdi\""],
        "the engine does not support CDI: Docker 28.2 does, 25.0 with `\"features\": {\"cdi\": true}` in daemon.json",
    ),
    (
        &["unable to find group"],
        "the image has no such group: give its number (`stat -c %g /dev/kfd`) in group_add",
    ),
    (&["unable to find user"], "the image has no such user: give its number, or remove `user`"),
    (
        &["docker-init", "not found"],
        "the engine's docker-init is not installed: install the package tini or docker-init, or remove `init`",
    ),
    (
        &["executable file not found"],
        "the image has no such program: use another `shell`, or an absolute path",
    ),
    (
        &["unable to apply caps"],
        "the engine itself does not have a requested capability (is it running in a container?)",
    ),
    (
        &["setting rlimit"],
        "the engine may not raise this limit: lower `ulimits`, or raise the engine's own (`systemctl edit docker`, LimitMEMLOCK=…)",
    ),
    (&["port is already allocated"], "another container or program is using that port"),
    (&["network", "not found"], "the engine has no such network: `docker network ls`"),
    (
        &["unknown or invalid runtime"],
        "the engine has no such runtime: `docker info` lists what it has",
    ),
    (&["unknown runtime"], "the engine has no such runtime: `docker info` lists what it has"),
    (
        &["is already in use"],
        "a container of that name exists: `retrial clean`, or `docker rm -f` it",
    ),
    (&["unknown capability"], "the engine's kernel has no such capability: check cap_add"),
    (&["address already in use"], "another program is using that address"),
    (
        &["the --mount option requires buildkit"],
        "this Dockerfile needs BuildKit: build it with `docker build` and give the image by its tag",
    ),
    (
        &["unknown flag: mount"],
        "this Dockerfile needs BuildKit: build it with `docker build` and give the image by its tag",
    ),
];

/// Returns the device node that the host does not have, from the engine's or runc's message.
fn find_missing_device(message: &str) -> Option<String> {
    let patterns = [
        r#"error gathering device information while adding custom device "([^"]+)": (?:no such file|not a device)"#,
        r"stat (/dev/[^:\s]+): no such file or directory",
    ];
    patterns.iter().find_map(|pattern| {
        let captures = Regex::new(pattern).ok()?.captures(message)?;
        Some(captures.get(1)?.as_str().to_owned())
    })
}

fn device_advice(device: &str) -> &'static str {
    if device == "/dev/kfd" {
        "the AMD GPU driver (amdgpu, with ROCm's KFD) is not loaded, or there is no AMD GPU; see `retrial doctor`"
    } else if device.starts_with("/dev/dri") {
        "no GPU driver is loaded; see `retrial doctor`"
    } else if device.starts_with("/dev/nvidia") {
        "the NVIDIA driver is not loaded (`nvidia-smi` creates its device nodes), or there is no such GPU"
    } else if device.starts_with("/dev/infiniband") {
        "no RDMA driver is loaded; omit the device on a single node"
    } else {
        "remove it from `devices`, or load its driver"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_device_is_explained() {
        let words = r#"error gathering device information while adding custom device "/dev/kfd": no such file or directory"#;
        let hint = explain_refusal(words).unwrap();
        assert!(hint.starts_with("this host has no /dev/kfd: the AMD GPU driver"));
    }

    #[test]
    fn refusals_are_classified() {
        let source = "invalid mount config for type \"bind\": bind source path does not exist: /runs/1/control";
        let shell =
            "OCI runtime create failed: exec: \"/bin/sh\": stat /bin/sh: no such file or directory";
        let user = "unable to find user nobody2: no matching entries in passwd file";
        let workdir = "OCI runtime exec failed: chdir to cwd (\"/nowhere\") set in config.json failed: no such file or directory";
        let of_source = EngineRefusal::MountSource("/runs/1/control".to_owned());
        assert_eq!(classify_refusal(source), Some(of_source));
        assert_eq!(classify_refusal(shell), Some(EngineRefusal::NoShell));
        assert_eq!(classify_refusal(user), Some(EngineRefusal::UnknownUser));
        assert_eq!(classify_refusal(workdir), Some(EngineRefusal::WorkingDirectory));
        assert_eq!(classify_refusal("something else"), None);
    }

    #[test]
    fn common_refusals_have_hints() {
        let words = [
            "could not select device driver \"\" with capabilities: [[gpu]]",
            "could not select device driver \"cdi\" with capabilities: []",
            "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=0",
            "Unable to find group render: no matching entries in group file",
            "OCI runtime create failed: exec: \"bash\": executable file not found in $PATH",
            "error setting rlimits for ready process: error setting rlimit type 7: operation not permitted",
            "network lab not found",
        ];
        for message in words {
            assert!(explain_refusal(message).is_some(), "{message}");
        }
        assert_eq!(explain_refusal("something else"), None);
    }
}
