//! Formats of Docker's values: images, devices, capabilities, security options, limits.

use retrial_document::formats::{
    check_no_parent, check_one_of, is_hexadecimal, is_word, mismatch_unless, mismatch_with_help,
};
use retrial_document::{FormatMismatch, StringFormat, find_nearest, suggest_name};

use crate::{ImageRef, is_cdi_device};

/// An image reference: `ghcr.io/owner/name:tag`.
pub const IMAGE: StringFormat = StringFormat::new(check_image);

/// `sha256:` and 64 hexadecimal digits.
pub const DIGEST: StringFormat =
    StringFormat::new(check_digest).with_pattern("^sha256:[0-9a-fA-F]{64}$");

/// A device node, or a device of the Container Device Interface.
pub const DEVICE: StringFormat = StringFormat::new(check_device).with_pattern("^/");

/// A Linux capability, with or without `CAP_`.
pub const CAPABILITY: StringFormat = StringFormat::new(check_capability).with_pattern("^[A-Z_]+$");

/// A security option: `seccomp=unconfined`, `no-new-privileges`.
pub const SECURITY_OPTION: StringFormat = StringFormat::new(check_security_option);

/// A resource limit's name.
pub const ULIMIT: StringFormat =
    StringFormat::new(|text| check_one_of(text, ULIMITS, "not a resource limit"));

/// An IPC namespace: `host`, `private`, `container:NAME`.
pub const IPC: StringFormat = StringFormat::new(check_ipc_mode);

/// What the names of variables begin with that a recipe does not set.
pub const RESERVED_PREFIX: &str = "RETRIAL_";

/// The name of an environment variable.
pub const VARIABLE: StringFormat =
    StringFormat::new(check_variable_name).with_pattern("^[A-Za-z_][A-Za-z0-9_]*$");

/// An absolute path in a container or image.
pub const ABSOLUTE_PATH: StringFormat = StringFormat::new(check_absolute_path)
    .with_start_check(check_absolute_start)
    .with_pattern("^/");

/// A path in a container at which a directory is mounted that is none of the system's.
pub const MOUNT_TARGET: StringFormat =
    StringFormat::new(check_mount_target).with_start_check(check_absolute_start).with_pattern("^/");

fn check_digest(text: &str) -> Option<FormatMismatch> {
    let hex = text.strip_prefix("sha256:").unwrap_or("");
    mismatch_unless(
        is_hexadecimal(hex, 64),
        "this is not a digest",
        "a digest is sha256: and 64 hexadecimal digits, as `docker pull` prints it",
    )
}

fn check_ipc_mode(text: &str) -> Option<FormatMismatch> {
    if text.starts_with("container:") {
        return None;
    }
    let values = ["host", "private", "shareable", "none"];
    check_one_of(text, &values, "not an IPC namespace")
}

fn check_variable_name(text: &str) -> Option<FormatMismatch> {
    if text.starts_with(RESERVED_PREFIX) {
        return mismatch_with_help(
            format!("`{text}` is one of Retrial's own variables"),
            "choose another name: those that begin with `RETRIAL_` control Retrial and its steps",
        );
    }
    mismatch_unless(
        is_word(text, "_") && !text.starts_with(|first: char| first.is_ascii_digit()),
        format!("`{text}` is not a valid variable name"),
        "letters, digits and `_`, not beginning with a digit",
    )
}

fn relative_path_mismatch() -> Option<FormatMismatch> {
    mismatch_with_help("a path in the container must be absolute", "begin it with `/`")
}

fn check_absolute_start(start: &str) -> Option<FormatMismatch> {
    if start.is_empty() || start.starts_with('/') {
        return None;
    }
    relative_path_mismatch()
}

/// Returns the names that a path consists of: `/./a//b` has `a` and `b`.
fn path_names(text: &str) -> impl Iterator<Item = &str> {
    text.split('/').filter(|name| !name.is_empty() && *name != ".")
}

fn check_mount_target(text: &str) -> Option<FormatMismatch> {
    let mut names = path_names(text);
    let is_of_system = match names.next() {
        None | Some("proc" | "sys") => true,
        Some("dev") => names.next().is_none(),
        Some(_) => false,
    };
    if is_of_system {
        return mismatch_with_help(
            format!("`{text}` is the system's own in every container"),
            "choose another path: without it no command can run",
        );
    }
    check_absolute_path(text)
}

fn check_absolute_path(text: &str) -> Option<FormatMismatch> {
    if !text.starts_with('/') {
        return relative_path_mismatch();
    }
    if path_names(text).next().is_some_and(|name| name.starts_with(".retrial")) {
        return mismatch_with_help(
            "`/.retrial` in the container is Retrial's own",
            "choose another path: the run's control directory is mounted there",
        );
    }
    check_no_parent(text)
}

fn check_image(text: &str) -> Option<FormatMismatch> {
    let error = ImageRef::parse(text).err()?;
    mismatch_with_help(error.to_string(), "an image is [registry/]name[:tag][@sha256:…]")
}

fn check_device(text: &str) -> Option<FormatMismatch> {
    let mut parts = text.split(':');
    let host = parts.next().unwrap_or("");
    let target = parts.next();
    let rights = parts.next();
    let help = "a device is /dev/kfd, host:container:rwm, or amd.com/gpu=0";
    let is_rights = |text: &str| {
        !text.is_empty() && text.len() <= 3 && text.chars().all(|letter| "rwm".contains(letter))
    };
    if is_cdi_device(text) {
        return None;
    }
    if !host.starts_with('/') || parts.next().is_some() {
        return mismatch_with_help("this is not a device", help);
    }
    let good = match (target, rights) {
        (None, _) => true,
        (Some(target), None) => target.starts_with('/') || is_rights(target),
        (Some(target), Some(rights)) => target.starts_with('/') && is_rights(rights),
    };
    if good { check_no_parent(host) } else { mismatch_with_help("this is not a device", help) }
}

/// Checks a capability, with or without `CAP_`: vendors' guides write both, and a plan shows what they write.
fn check_capability(text: &str) -> Option<FormatMismatch> {
    let bare = text.strip_prefix("CAP_").unwrap_or(text);
    check_one_of(bare, CAPABILITIES, "not a capability")
}

fn check_security_option(text: &str) -> Option<FormatMismatch> {
    let options =
        ["seccomp", "apparmor", "label", "no-new-privileges", "systempaths", "writable-cgroups"];
    // Docker's older spelling has a colon: `seccomp:unconfined`.
    let key = text.split(['=', ':']).next().unwrap_or("");
    let value = text.split_once(['=', ':']).map(|(_, value)| value);
    if key == "seccomp" && !matches!(value, Some("unconfined" | "builtin")) {
        return mismatch_with_help(
            format!("`{text}`: a profile is a file of one machine, which a recipe does not bring"),
            "write seccomp=unconfined or seccomp=builtin; without it the engine's own profile counts",
        );
    }
    if options.contains(&key) && (text.contains(['=', ':']) || key == "no-new-privileges") {
        return None;
    }
    mismatch_with_help(format!("`{text}` is not a security option"), find_nearest(key, options).map_or_else(
        || "for example seccomp=unconfined, apparmor=unconfined, label=disable, no-new-privileges".to_owned(),
        |near| suggest_name(format_args!("{near}=…")),
    ))
}

/// <https://man7.org/linux/man-pages/man7/capabilities.7.html>, and Docker's `ALL`.
const CAPABILITIES: &[&str] = &[
    "ALL",
    "AUDIT_CONTROL",
    "AUDIT_READ",
    "AUDIT_WRITE",
    "BLOCK_SUSPEND",
    "BPF",
    "CHECKPOINT_RESTORE",
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "IPC_LOCK",
    "IPC_OWNER",
    "KILL",
    "LEASE",
    "LINUX_IMMUTABLE",
    "MAC_ADMIN",
    "MAC_OVERRIDE",
    "MKNOD",
    "NET_ADMIN",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_RAW",
    "PERFMON",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYSLOG",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_CHROOT",
    "SYS_MODULE",
    "SYS_NICE",
    "SYS_PACCT",
    "SYS_PTRACE",
    "SYS_RAWIO",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "WAKE_ALARM",
];

/// The names that Docker's `--ulimit` knows (go-units).
const ULIMITS: &[&str] = &[
    "core",
    "cpu",
    "data",
    "fsize",
    "locks",
    "memlock",
    "msgqueue",
    "nice",
    "nofile",
    "nproc",
    "rss",
    "rtprio",
    "rttime",
    "sigpending",
    "stack",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_in_a_file_is_no_security_option() {
        for option in ["seccomp=unconfined", "seccomp:builtin", "apparmor=own", "no-new-privileges"]
        {
            assert!(SECURITY_OPTION.mismatch(option).is_none(), "{option}");
        }
        for option in ["seccomp=/etc/own.json", "seccomp=./own.json", "seccomp", "other=x"] {
            assert!(SECURITY_OPTION.mismatch(option).is_some(), "{option}");
        }
    }
}
