//! What a text must look like at its place.

use super::suggest::nearest;

/// A kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Anything.
    Any,
    /// Not empty.
    Filled,
    /// One line, not empty.
    Line,
    /// A name of the user's choice: letters, digits, `_`, `-`, `.`.
    Name,
    /// A name of an environment variable.
    Variable,
    /// An absolute path in the container or image.
    Absolute,
    /// A path of the host: absolute, or `./` beside the recipe.
    HostPath,
    /// A path below the recipe's (or another) directory.
    Inner,
    /// A path below results, absolute, or a glob.
    ResultFile,
    /// `source:target[:ro]`
    Mount,
    /// An image's reference.
    Image,
    /// `sha256:` and 64 hexadecimal digits.
    Digest,
    /// 64 hexadecimal digits.
    Sha256,
    /// `owner/name`
    Hub,
    /// A range of versions.
    VersionRange,
    /// A device node.
    Device,
    /// A Linux capability without `CAP_`.
    Capability,
    /// A security option.
    SecurityOption,
    /// A resource limit's name.
    Ulimit,
    /// An IPC namespace.
    Ipc,
    /// The name of a kept directory.
    KeepKey,
    /// A regular expression with a group.
    Pattern,
}

/// What is wrong with a text, and what to do about it.
pub(crate) type Wrong = (String, Option<String>);

#[expect(clippy::unnecessary_wraps, reason = "every caller returns it as it is")]
fn wrong(message: impl Into<String>, help: impl Into<String>) -> Option<Wrong> {
    Some((message.into(), Some(help.into())))
}

impl Format {
    /// What is wrong with `text`. Where expressions stand in it, `open` is true and only what
    /// comes before the first of them is given.
    pub fn problem(self, text: &str, open: bool) -> Option<Wrong> {
        if open {
            return self.problem_of_start(text);
        }
        match self {
            Self::Any => None,
            Self::Filled if !text.trim().is_empty() => None,
            Self::Line if !text.trim().is_empty() && !text.trim_end().contains('\n') => None,
            Self::Line if !text.trim().is_empty() => wrong(
                "this must be one line",
                "put longer text under `description`",
            ),
            Self::Filled | Self::Line => wrong("this is empty", "write it, or leave the key out"),
            Self::Name => name(text),
            Self::Variable => variable(text),
            Self::Absolute => absolute(text),
            Self::HostPath => host_path(text),
            Self::ResultFile if text.starts_with('/') => absolute(text),
            Self::Inner | Self::ResultFile => inner(text),
            Self::Mount => mount(text),
            Self::Image => image(text),
            Self::Digest => match text.strip_prefix("sha256:") {
                Some(hash) if is_sha256(hash) => None,
                _ => wrong(
                    "this is not a digest",
                    "a digest is sha256: and 64 hexadecimal digits, as `docker pull` prints it",
                ),
            },
            Self::Sha256 if is_sha256(text) => None,
            Self::Sha256 => wrong(
                "this is not a SHA-256",
                "64 hexadecimal digits, as `sha256sum FILE` prints them",
            ),
            Self::Hub => hub(text),
            Self::VersionRange => version_range(text),
            Self::Device => device(text),
            Self::Capability => capability(text),
            Self::SecurityOption => security_option(text),
            Self::Ulimit => listed(text, ULIMITS, "no resource limit"),
            Self::Ipc if text.starts_with("container:") => None,
            Self::Ipc => listed(
                text,
                &["host", "private", "shareable", "none"],
                "no IPC namespace",
            ),
            Self::KeepKey => keep_key(text),
            Self::Pattern => pattern(text),
        }
    }

    /// With expressions in it, the beginning is all that can be judged.
    fn problem_of_start(self, start: &str) -> Option<Wrong> {
        match self {
            Self::Absolute if !start.is_empty() && !start.starts_with('/') => relative(),
            Self::HostPath
                if !start.is_empty() && !start.starts_with('/') && !start.starts_with("./") =>
            {
                host_path(start)
            }
            _ => None,
        }
    }
}

fn name(text: &str) -> Option<Wrong> {
    let good = text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
        && text.len() <= 100;
    if good {
        return None;
    }
    wrong(
        format!("`{text}` is no name"),
        "names have letters, digits, `_`, `-` and `.`, and begin with a letter or digit",
    )
}

fn variable(text: &str) -> Option<Wrong> {
    let good = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if good {
        return None;
    }
    wrong(
        format!("`{text}` is no name of a variable"),
        "letters, digits and `_`, not beginning with a digit",
    )
}

fn relative() -> Option<Wrong> {
    wrong(
        "a path in the container must be absolute",
        "begin it with `/`",
    )
}

fn absolute(text: &str) -> Option<Wrong> {
    if !text.starts_with('/') {
        return relative();
    }
    climbs(text)
}

fn climbs(text: &str) -> Option<Wrong> {
    if text.split('/').any(|part| part == "..") {
        return wrong(
            "`..` in a path",
            "write the path as it is meant, without `..`",
        );
    }
    None
}

fn host_path(text: &str) -> Option<Wrong> {
    if text.starts_with('/') || text.starts_with("./") {
        return climbs(text);
    }
    wrong(
        "a path of the host must be absolute, or begin with `./`",
        "`./x` is beside the recipe; a bare name could mean a place or a volume",
    )
}

fn inner(text: &str) -> Option<Wrong> {
    if text.is_empty() {
        return wrong("this is empty", "write a relative path");
    }
    if text.starts_with('/') || text.starts_with('~') {
        return wrong(
            "this path must be relative",
            "it stands below a directory of its own",
        );
    }
    climbs(text)
}

/// Splits `source:target[:ro|:rw]` outside of expressions.
pub(crate) fn split_mount(text: &str) -> Option<(&str, &str, bool)> {
    let expressions = super::expression::scan(text).ok()?;
    let inside = |at: usize| {
        expressions
            .iter()
            .any(|expression| expression.outer.contains(&at))
    };
    let colons: Vec<usize> = text
        .match_indices(':')
        .map(|(at, _)| at)
        .filter(|&at| !inside(at))
        .collect();
    match colons[..] {
        [colon] => Some((&text[..colon], &text[colon + 1..], false)),
        [first, second] => match &text[second + 1..] {
            "ro" => Some((&text[..first], &text[first + 1..second], true)),
            "rw" => Some((&text[..first], &text[first + 1..second], false)),
            _ => None,
        },
        _ => None,
    }
}

fn mount(text: &str) -> Option<Wrong> {
    let Some((source, target, _)) = split_mount(text) else {
        return wrong(
            "this is no mount",
            "write source:target, source:target:ro, or {source, target, read_only}",
        );
    };
    let part = |text: &str, format: Format| match text.split_once("${{") {
        Some((start, _)) => format.problem(start, true),
        None => format.problem(text, false),
    };
    part(source, Format::HostPath).or_else(|| part(target, Format::Absolute))
}

fn image(text: &str) -> Option<Wrong> {
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
pub(crate) fn split_tag(reference: &str) -> (&str, Option<&str>) {
    match reference.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (reference, None),
    }
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.chars().all(|digit| digit.is_ascii_hexdigit())
}

fn hub(text: &str) -> Option<Wrong> {
    let part_fits = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
    };
    match text.split_once('/') {
        Some((owner, name)) if part_fits(owner) && part_fits(name) => None,
        _ => wrong(
            "this is no model of the hub",
            "write owner/name, as it stands in the address of the model's page",
        ),
    }
}

fn version_range(text: &str) -> Option<Wrong> {
    let bound_fits = |bound: &str| {
        let version = bound.trim().trim_start_matches(['<', '>', '=', '~', '^']);
        let operator = &bound.trim()[..bound.trim().len() - version.len()];
        let parts: Vec<&str> = version.trim().split('.').collect();
        ["", "=", ">=", "<=", ">", "<"].contains(&operator)
            && parts.len() <= 4
            && parts.iter().all(|part| {
                !part.is_empty()
                    && part.len() <= 9
                    && part.chars().all(|digit| digit.is_ascii_digit())
            })
    };
    if text.split(',').all(bound_fits) {
        return None;
    }
    wrong(
        "this is no range of versions",
        "write \">=7.1.0\", or \">=6.4, <7.2\"",
    )
}

fn device(text: &str) -> Option<Wrong> {
    let mut parts = text.split(':');
    let host = parts.next().unwrap_or("");
    let target = parts.next();
    let rights = parts.next();
    let help = "a device is /dev/kfd, /dev/dri, or host:container:rwm";
    let is_rights = |text: &str| {
        !text.is_empty() && text.len() <= 3 && text.chars().all(|letter| "rwm".contains(letter))
    };
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

/// With or without `CAP_`: vendors' guides write both, and a plan shows what they write.
fn capability(text: &str) -> Option<Wrong> {
    let bare = text.strip_prefix("CAP_").unwrap_or(text);
    listed(bare, CAPABILITIES, "no capability")
}

fn security_option(text: &str) -> Option<Wrong> {
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

fn listed(text: &str, known: &[&str], what: &str) -> Option<Wrong> {
    if known.contains(&text) {
        return None;
    }
    let help = nearest(text, known.iter().copied()).map_or_else(
        || format!("known are {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    wrong(format!("`{text}` is {what}"), help)
}

fn keep_key(text: &str) -> Option<Wrong> {
    let good = !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
        && !text.starts_with('.');
    if good {
        return None;
    }
    wrong(
        "this is no key of a kept directory",
        "it names a directory: letters, digits, `_`, `-` and `.`",
    )
}

fn pattern(text: &str) -> Option<Wrong> {
    match regex::Regex::new(text) {
        Err(regex::Error::Syntax(report)) => {
            let reason = report
                .lines()
                .last()
                .unwrap_or("")
                .trim_start_matches("error: ");
            wrong(
                format!("this is no regular expression: {reason}"),
                "the syntax is that of https://docs.rs/regex/latest/regex/#syntax",
            )
        }
        Err(error) => wrong(
            format!("this is no regular expression: {error}"),
            "make it simpler",
        ),
        Ok(pattern) if pattern.captures_len() < 2 => wrong(
            "this pattern has no group",
            "put parentheses around the figure: `score: ([0-9.]+)`",
        ),
        Ok(_) => None,
    }
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
