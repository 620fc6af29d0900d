//! Converts `--volume` and `--mount`.

use super::parts::{RecipeParts, has_parent};
use super::value_error::FlagValueError;
use super::values::{WORKING_DIRECTORY, Word};

/// Translates the value of `--volume`, `source:target[:options]`, to a mount. `directory` is the working directory.
pub(super) fn translate_volume(
    parts: &mut RecipeParts<'_>,
    word: &Word,
    directory: &str,
) -> Result<(), FlagValueError> {
    let fields: Vec<&str> = word.text.split(':').collect();
    let (source, target, options) = match fields.as_slice() {
        [source, target] => (*source, *target, ""),
        [source, target, options] => (*source, *target, *options),
        _ => return Err(FlagValueError::AnonymousVolume),
    };
    let mut read_only = false;
    for option in options.split(',') {
        match option {
            "ro" | "readonly" => read_only = true,
            // They state the default, or apply to Docker Desktop only.
            "" | "rw" | "rprivate" => {}
            "cached" | "delegated" | "consistent" => {
                let shown = parts.written(word);
                parts.note(format!(
                    "--volume {shown}: dropped `{option}`, which only Docker Desktop uses"
                ));
            }
            "z" | "Z" => note_label(parts, &format!("--volume {}", parts.written(word)), option),
            other => {
                let option = other.to_owned();
                return Err(FlagValueError::VolumeOption { option });
            }
        }
    }
    let mount = (&word.with_text(source), &word.with_text(target));
    add_bind_mount(parts, "volume", mount, read_only, directory)
}

/// Translates the value of `--mount`, `type=bind,source=…,target=…,readonly`, to a mount.
pub(super) fn translate_mount(
    parts: &mut RecipeParts<'_>,
    word: &Word,
    directory: &str,
) -> Result<(), FlagValueError> {
    let (mut kind, mut source, mut target, mut read_only) = ("volume", None, None, false);
    let mut tmpfs = Vec::new();
    for field in word.text.split(',') {
        let (key, value) = field.split_once('=').unwrap_or((field, "true"));
        match key {
            "type" => kind = value,
            "source" | "src" => source = Some(word.with_text(value)),
            "target" | "dst" | "destination" => target = Some(word.with_text(value)),
            "readonly" | "ro" => read_only = matches!(value, "true" | "1"),
            "tmpfs-size" => tmpfs.push(format!("size={value}")),
            "tmpfs-mode" => tmpfs.push(format!("mode={value}")),
            "bind-propagation" if value == "rprivate" => {}
            "relabel" => note_label(parts, &format!("--mount {}", parts.written(word)), field),
            other => {
                let key = other.to_owned();
                return Err(FlagValueError::MountKey { key });
            }
        }
    }
    match (kind, source, target) {
        ("bind", Some(source), Some(target)) => {
            let shown = parts.written(word);
            parts.note(format!("--mount {shown}: the engine creates the directory if it is missing, as with --volume"));
            add_bind_mount(parts, "mount", (&source, &target), read_only, directory)
        }
        ("volume", Some(source), Some(target)) => {
            add_bind_mount(parts, "mount", (&source, &target), read_only, directory)
        }
        ("tmpfs", None, Some(target)) => {
            let colon = if tmpfs.is_empty() { "" } else { ":" };
            let Some(target) = parts.take("--mount", &target) else {
                return Ok(());
            };
            parts.set_flag("tmpfs", &format!("{target}{colon}{}", tmpfs.join(",")))
        }
        _ => Err(FlagValueError::MountType),
    }
}

/// Returns whether a path is a placeholder for the reader's own: `/path/to/model`, `/your/data`.
fn is_placeholder(path: &str) -> bool {
    let lower = path.to_lowercase();
    let is_readers = |part: &str| {
        part == "your" || ["your_", "your-"].iter().any(|start| part.starts_with(start))
    };
    lower.starts_with("/path/to/") || lower.split('/').any(is_readers)
}

fn note_label(parts: &mut RecipeParts<'_>, flag: &str, option: &str) {
    parts.note(format!("{flag}: dropped `{option}`, the engine then labels the directory for SELinux; where SELinux is enforced, `container.security_opt: [label=disable]` lets the container read it"));
}

fn note_volume(parts: &mut RecipeParts<'_>, flag: &str, volume: &str) {
    parts.note(format!(
        "--{flag} {volume}: a volume of the engine; the recipe asks for a directory of the host"
    ));
}

fn add_bind_mount(
    parts: &mut RecipeParts<'_>,
    flag: &str,
    (source, target): (&Word, &Word),
    read_only: bool,
    directory: &str,
) -> Result<(), FlagValueError> {
    let path = match &*source.text {
        "." => directory.to_owned(),
        text if text.starts_with("./") => format!("{directory}{}", &text[1..]),
        text if text.starts_with("../") => return Err(FlagValueError::ParentPath),
        text if text.starts_with('/') || text.starts_with("${{") => text.to_owned(),
        volume => {
            note_volume(parts, flag, volume);
            parts.shell.values.declare(volume, &format!("--{flag} {volume}"), None, None)
        }
    };
    let mut path = match path.strip_prefix(WORKING_DIRECTORY) {
        Some(rest) => format!("./{}", rest.trim_start_matches('/')),
        None => path,
    };
    if is_placeholder(&path) {
        path = parts.shell.values.declare(&path, &path, None, None);
    }
    if path.starts_with("${{") {
        parts.shell.values.set_kind(&path, "path");
        if let Some(volume) = parts.shell.values.take_volume_default(&path) {
            note_volume(parts, flag, &volume);
        }
    }
    let dashed = format!("--{flag}");
    let taken = parts.take(&dashed, &source.with_text(path));
    let (Some(path), Some(target)) = (taken, parts.take(&dashed, target)) else {
        return Ok(());
    };
    if has_parent(&path) || has_parent(&target) {
        return Err(FlagValueError::ParentPath);
    }
    if path.starts_with("./") {
        let shown = parts.written(source);
        parts.note(format!("--{flag} {shown}: the directory is next to the recipe"));
    }
    // `a//b/` and `a/b` are one directory, and a container has one mount at each.
    let target = match target.trim_end_matches('/') {
        "" => "/",
        trimmed => trimmed,
    };
    let ending = if read_only { ":ro" } else { "" };
    parts.set_flag("volume", &format!("{path}:{target}{ending}"))
}
