//! Converts `--volume` and `--mount`.

use super::parts::RecipeParts;
use super::value_error::FlagValueError;
use super::words::{ShellWord, ShellWordPart};

/// Translates the value of `--volume`, `source:target[:options]`, to a mount.
pub(super) fn translate_volume(
    parts: &mut RecipeParts<'_>,
    value: &ShellWord,
) -> Result<(), FlagValueError> {
    let shown = value.to_shell_text();
    let words = value.split(':');
    let (source, target, options) = match words.as_slice() {
        [source, target] => (source, target, None),
        [source, target, options] => (source, target, Some(options.to_shell_text())),
        _ => return Err(FlagValueError::AnonymousVolume),
    };
    let mut read_only = false;
    for option in options.iter().flat_map(|options| options.split(',')) {
        match option {
            "ro" | "readonly" => read_only = true,
            // They state the default, or apply to Docker Desktop only.
            "rw" | "rprivate" => {}
            "cached" | "delegated" | "consistent" => parts.add_note(format!(
                "--volume {shown}: dropped `{option}`, which only Docker Desktop uses"
            )),
            "z" | "Z" => {
                let option = option.to_owned();
                return Err(FlagValueError::Relabel { option });
            }
            other => {
                let option = other.to_owned();
                return Err(FlagValueError::VolumeOption { option });
            }
        }
    }
    add_bind_mount(parts, "volume", source, target, read_only);
    Ok(())
}

/// Translates the value of `--mount`, `type=bind,source=…,target=…,readonly`, to a mount.
pub(super) fn translate_mount(
    parts: &mut RecipeParts<'_>,
    value: &ShellWord,
) -> Result<(), FlagValueError> {
    let shown = value.to_shell_text();
    let mut kind = "volume".to_owned();
    let (mut source, mut target, mut read_only) = (None, None, false);
    let mut tmpfs = Vec::new();
    for field in value.split(',') {
        let (key, value) = field
            .split_once('=')
            .unwrap_or((field, ShellWord::new("true")));
        let text = value.to_shell_text();
        match key.to_shell_text().as_str() {
            "type" => kind = text,
            "source" | "src" => source = Some(value),
            "target" | "dst" | "destination" => target = Some(value),
            "readonly" | "ro" => read_only = matches!(text.as_str(), "true" | "1"),
            "tmpfs-size" => tmpfs.push(format!("size={text}")),
            "tmpfs-mode" => tmpfs.push(format!("mode={text}")),
            "bind-propagation" if text == "rprivate" => {}
            other => {
                let key = other.to_owned();
                return Err(FlagValueError::MountKey { key });
            }
        }
    }
    match (kind.as_str(), source, target) {
        ("bind", Some(source), Some(target)) => {
            parts.add_note(format!("--mount {shown}: the engine creates the directory if it is missing, as with --volume"));
            add_bind_mount(parts, "mount", &source, &target, read_only);
        }
        ("tmpfs", None, Some(target)) => {
            if let Some(target) = parts.expand_word("--mount", &target, false) {
                let colon = if tmpfs.is_empty() { "" } else { ":" };
                parts.set_flag("tmpfs", format!("{target}{colon}{}", tmpfs.join(",")));
            }
        }
        _ => return Err(FlagValueError::MountType),
    }
    Ok(())
}

fn add_bind_mount(
    parts: &mut RecipeParts<'_>,
    flag: &str,
    source: &ShellWord,
    target: &ShellWord,
    read_only: bool,
) {
    let (shown, dashed) = (source.to_shell_text(), format!("--{flag}"));
    let expanded = match source.pieces.first() {
        Some(ShellWordPart::WorkingDirectory) => {
            let rest = ShellWord {
                pieces: source.pieces[1..].to_vec(),
            };
            let rest = parts.expand_word(&dashed, &rest, false);
            rest.map(|rest| format!("./{}", rest.trim_start_matches('/')))
        }
        Some(ShellWordPart::Text(text))
            if text == "." || text.starts_with("./") || text.starts_with('/') =>
        {
            parts.expand_word(&dashed, source, false)
        }
        Some(ShellWordPart::Variable { .. }) => parts.expand_word(&dashed, source, true),
        _ => {
            parts.refuse_value(flag, &shown, FlagValueError::NamedVolume);
            return;
        }
    };
    let (Some(source), Some(target)) = (expanded, parts.expand_word(&dashed, target, false)) else {
        return;
    };
    let source = match &*source {
        "." => "./".to_owned(),
        _ => source,
    };
    if parts.refuse_parent_paths(flag, &shown, &[&source, &target]) {
        return;
    }
    if source.starts_with("./") {
        parts.add_note(format!(
            "--{flag} {shown}: the directory is next to the recipe"
        ));
    }
    // `a//b/` and `a/b` are one directory, and a container has one mount at each.
    let target = match target.trim_end_matches('/') {
        "" => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    };
    let ending = if read_only { ":ro" } else { "" };
    parts.set_flag("volume", format!("{source}:{target}{ending}"));
}
