//! The formats of a recipe's texts: those of documents, containers and figures, and its own.

pub use retrial_container::formats::{
    ABSOLUTE_PATH, CAPABILITY, DEVICE, DIGEST, IMAGE, IPC, MOUNT_TARGET, SECURITY_OPTION, ULIMIT,
    VARIABLE,
};
pub use retrial_document::formats::{ANY, COUNT, FILLED, LINE, NAME, RELATIVE_PATH, SHA256};
pub use retrial_readings::formats::{
    ENTRY, FIGURE, JSON_PATH, PATTERN, PUBLISHED_VALUE, REGEX, complete_json_path,
};

use retrial_document::formats::{check_no_parent, is_word, mismatch_unless, mismatch_with_help};
use retrial_document::{FormatMismatch, StringFormat};

use crate::expression;

/// A path of the host: absolute, `./` next to the recipe, or `~/` below the home directory of the user who runs it.
pub const HOST_PATH: StringFormat = StringFormat::new(check_host_path)
    .with_start_check(|start| {
        if start.is_empty() || is_host_path(start) {
            return None;
        }
        check_host_path(start)
    })
    .with_pattern("^(/|\\./|~/)");

/// A path below results, absolute, or a glob.
pub const RESULT_FILE: StringFormat = StringFormat::new(|text| {
    let format = if text.starts_with('/') { ABSOLUTE_PATH } else { RELATIVE_PATH };
    format.mismatch(text)
});

/// `source:target[:ro]`. Colons in an expression do not split it.
pub const MOUNT: StringFormat = StringFormat::new(check_mount).with_expressions();

/// `owner/name` on the hub.
pub const HUB_REPOSITORY: StringFormat =
    StringFormat::new(check_hub_repository).with_pattern("^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$");

pub const HOST_NAME: StringFormat =
    StringFormat::new(check_host_name).with_pattern("^[A-Za-z0-9.-]+$");

/// The address of a service.
pub const HTTP_ADDRESS: StringFormat = StringFormat::new(check_http_address)
    .with_start_check(|start| if start.is_empty() { None } else { check_http_address(start) })
    .with_pattern("^https?://");

pub const VERSION_RANGE: StringFormat = StringFormat::new(check_version_range);

/// The name of a cached directory.
pub const CACHE_KEY: StringFormat = StringFormat::new(check_cache_key);

fn is_host_path(text: &str) -> bool {
    text == "~" || ["/", "./", "~/"].iter().any(|start| text.starts_with(start))
}

fn check_host_path(text: &str) -> Option<FormatMismatch> {
    if is_host_path(text) {
        return check_no_parent(text);
    }
    mismatch_with_help(
        "a host path must be absolute, or begin with `./` or `~/`",
        "`./x` is next to the recipe, and `~/x` in the home directory; a bare name could be a directory or a volume",
    )
}

fn check_host_name(text: &str) -> Option<FormatMismatch> {
    mismatch_unless(
        is_word(text, "-."),
        "this is not a host name",
        "write it as `pypi.org`, without https://",
    )
}

fn check_http_address(text: &str) -> Option<FormatMismatch> {
    mismatch_unless(
        text.starts_with("http://") || text.starts_with("https://"),
        "this is not an address",
        "write http://localhost:PORT/PATH, as seen in the container",
    )
}

fn check_hub_repository(text: &str) -> Option<FormatMismatch> {
    match text.split_once('/') {
        Some((owner, name)) if is_word(owner, "_.-") && is_word(name, "_.-") => None,
        _ => mismatch_with_help(
            "this is not a model of the hub",
            "write owner/name, as in the address of the model's page",
        ),
    }
}

fn check_version_range(text: &str) -> Option<FormatMismatch> {
    let bound_fits = |bound: &str| {
        let version = bound.trim().trim_start_matches(['<', '>', '=', '~', '^']);
        let operator = &bound.trim()[..bound.trim().len() - version.len()];
        let parts: Vec<&str> = version.trim().split('.').collect();
        ["", "=", ">=", "<=", ">", "<"].contains(&operator)
            && parts.len() <= 4
            && parts.iter().all(|part| {
                (1..=9).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit())
            })
    };
    mismatch_unless(
        text.split(',').all(bound_fits),
        "this is not a range of versions",
        "write \">=7.1.0\", or \">=6.4, <7.2\"",
    )
}

fn check_cache_key(text: &str) -> Option<FormatMismatch> {
    mismatch_unless(
        is_word(text, "_-.") && !text.starts_with('.'),
        "this is not a valid key of a cached directory",
        "it names a directory: letters, digits, `_`, `-` and `.`",
    )
}
/// Splits `source:target[:ro|:rw]` outside of expressions.
pub fn split_mount(text: &str) -> Option<(&str, &str, bool)> {
    let expressions = expression::find_expressions(text).ok()?;
    let inside = |at: usize| expressions.iter().any(|part| part.outer.contains(&at));
    let positions = text.match_indices(':').map(|(at, _)| at);
    let colons: Vec<usize> = positions.filter(|&at| !inside(at)).collect();
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

fn check_mount(text: &str) -> Option<FormatMismatch> {
    let Some((source, target, _)) = split_mount(text) else {
        return mismatch_with_help(
            "this is not a mount",
            "write source:target, source:target:ro, or {source, target, read_only}",
        );
    };
    let part = |text: &str, format: StringFormat| match text.split_once("${{") {
        Some((start, _)) => format.start_mismatch(start),
        None => format.mismatch(text),
    };
    part(source, HOST_PATH).or_else(|| part(target, ABSOLUTE_PATH))
}
