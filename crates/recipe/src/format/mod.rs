//! What a text must look like at its place.

mod docker;
mod figures;
mod paths;

use super::suggest::nearest;
pub use docker::split_tag;
use docker::{ULIMITS, capability, device, image, security_option};
pub use figures::whole_json_path;
use figures::{count, entry, figure, json_path, pattern};
pub use paths::split_mount;
use paths::{absolute, host_path, inner, mount, relative};

/// A kind of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
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
    /// The name of a cached directory.
    CacheKey,
    /// A regular expression with a group.
    Pattern,
    /// A `JSONPath`.
    JsonPath,
    /// A figure's name, or one of a table's: `gemm[bf16 8192]`.
    Figure,
    /// An entry of a table: `bf16 8192`.
    Entry,
    /// A whole number above 0.
    Count,
}

/// What is wrong with a text, and what to do about it.
pub type Wrong = (String, Option<String>);

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
            Self::CacheKey => cache_key(text),
            Self::Pattern => pattern(text),
            Self::JsonPath => json_path(text),
            Self::Figure => figure(text),
            Self::Entry => entry(text),
            Self::Count => count(text),
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

fn cache_key(text: &str) -> Option<Wrong> {
    let good = !text.is_empty()
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
        && !text.starts_with('.');
    if good {
        return None;
    }
    wrong(
        "this is no key of a cached directory",
        "it names a directory: letters, digits, `_`, `-` and `.`",
    )
}
