//! Docker's words: images, devices, capabilities, security options, limits.

use super::paths::climbs;
use super::{Format, Wrong, listed, wrong};
use crate::suggest::nearest;

pub(super) fn image(text: &str) -> Option<Wrong> {
    let help = "an image is [registry/]name[:tag][@sha256:…]";
    let (named, digest) = match text.split_once('@') {
        Some((named, digest)) => (named, Some(digest)),
        None => (text, None),
    };
    if digest.is_some_and(|digest| Format::Digest.problem(digest, false).is_some()) {
        return wrong(
            "the digest of this image is not one",
            "a digest is sha256: and 64 hexadecimal digits",
        );
    }
    let (name, tag) = split_tag(named);
    let tag_fits = tag.is_none_or(|tag| {
        (1..=128).contains(&tag.len())
            && !tag.starts_with(['.', '-'])
            && tag
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
    });
    if !tag_fits {
        return wrong(format!("`{}` is no tag", tag.unwrap_or("")), help);
    }
    let (registry, path) = match name.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => {
            (Some(first), rest)
        }
        _ => (None, name),
    };
    if path.chars().any(|letter| letter.is_ascii_uppercase()) {
        return wrong("an image's name has no capitals", help);
    }
    let part_fits = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric())
            && part.ends_with(|last: char| last.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
    };
    let registry_fits = registry.is_none_or(|registry| {
        let letter_fits =
            |letter: char| letter.is_ascii_alphanumeric() || ".-:[]_".contains(letter);
        !registry.is_empty() && registry.chars().all(letter_fits)
    });
    if path.split('/').all(part_fits) && registry_fits {
        return None;
    }
    wrong("this is no image reference", help)
}

/// Name and tag of a reference without digest. A colon before the last `/` is a registry's port.
pub fn split_tag(reference: &str) -> (&str, Option<&str>) {
    match reference.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (reference, None),
    }
}

pub(super) fn device(text: &str) -> Option<Wrong> {
    let mut parts = text.split(':');
    let host = parts.next().unwrap_or("");
    let target = parts.next();
    let rights = parts.next();
    let help = "a device is /dev/kfd, host:container:rwm, or amd.com/gpu=0";
    let is_rights = |text: &str| {
        !text.is_empty() && text.len() <= 3 && text.chars().all(|letter| "rwm".contains(letter))
    };
    if is_cdi_name(text) {
        return None;
    }
    if !host.starts_with('/') || parts.next().is_some() {
        return wrong("this is no device", help);
    }
    let good = match (target, rights) {
        (None, _) => true,
        (Some(target), None) => target.starts_with('/') || is_rights(target),
        (Some(target), Some(rights)) => target.starts_with('/') && is_rights(rights),
    };
    if good {
        climbs(host)
    } else {
        wrong("this is no device", help)
    }
}

/// `vendor.com/class=name`: a device of the Container Device Interface.
fn is_cdi_name(text: &str) -> bool {
    !text.starts_with('/')
        && text.split_once('=').is_some_and(|(kind, name)| {
            kind.split_once('/')
                .is_some_and(|(vendor, class)| !vendor.is_empty() && !class.is_empty())
                && !name.is_empty()
        })
}

/// With or without `CAP_`: vendors' guides write both, and a plan shows what they write.
pub(super) fn capability(text: &str) -> Option<Wrong> {
    let bare = text.strip_prefix("CAP_").unwrap_or(text);
    listed(bare, CAPABILITIES, "no capability")
}

pub(super) fn security_option(text: &str) -> Option<Wrong> {
    let known = [
        "seccomp",
        "apparmor",
        "label",
        "no-new-privileges",
        "systempaths",
        "writable-cgroups",
    ];
    // Docker's older spelling has a colon: `seccomp:unconfined`.
    let key = text.split(['=', ':']).next().unwrap_or("");
    if known.contains(&key) && (text.contains(['=', ':']) || key == "no-new-privileges") {
        return None;
    }
    wrong(format!("`{text}` is no security option"), nearest(key, known).map_or_else(
        || "for example seccomp=unconfined, apparmor=unconfined, label=disable, no-new-privileges".to_owned(),
        |near| format!("did you mean `{near}=…`?"),
    ))
}

/// <https://man7.org/linux/man-pages/man7/capabilities.7.html>, and Docker's `ALL`.
pub(super) const CAPABILITIES: &[&str] = &[
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
pub(super) const ULIMITS: &[&str] = &[
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
