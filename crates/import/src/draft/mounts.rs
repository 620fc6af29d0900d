//! Converts `--volume` and `--mount`.

use super::builder::{Builder, has_parent};
use super::keys::ContainerKeys;
use super::value_error::FlagValueError;
use crate::shell::{ParamKind, Part, Word, push_part};

/// Translates the value of `--volume`, `source:target[:options]`, to a mount.
pub fn translate_volume(
    builder: &mut Builder<'_>,
    keys: &mut ContainerKeys,
    word: &Word,
) -> Result<(), FlagValueError> {
    let fields = word.split(':', &builder.values);
    let (source, target, options) = match fields.as_slice() {
        [source, target] => (source, target, String::new()),
        [source, target, options] => (source, target, options.sketch(&builder.values)),
        _ => return Err(FlagValueError::AnonymousVolume),
    };
    let mut read_only = false;
    for option in options.split(',') {
        match option {
            "ro" | "readonly" => read_only = true,
            // They state the default, or apply to Docker Desktop only.
            "" | "rw" | "rprivate" | "rslave" | "cached" | "delegated" | "consistent" => {}
            "z" | "Z" => note_label(builder, &format!("--volume {}", word.written)),
            other => {
                let option = other.to_owned();
                return Err(FlagValueError::VolumeOption { option });
            }
        }
    }
    add_bind_mount(builder, keys, "volume", (source, target), read_only)
}

/// Translates the value of `--mount`, `type=bind,source=…,target=…,readonly`, to a mount.
pub fn translate_mount(
    builder: &mut Builder<'_>,
    keys: &mut ContainerKeys,
    word: &Word,
) -> Result<(), FlagValueError> {
    let (mut kind, mut source, mut target, mut read_only) =
        ("volume".to_owned(), None, None, false);
    let mut tmpfs = Vec::new();
    for field in word.split(',', &builder.values) {
        let (key, value) =
            field.split_once('=').unwrap_or((field.clone(), field.with_text("true")));
        let text = value.sketch(&builder.values);
        match &*key.sketch(&builder.values) {
            "type" => kind = text,
            "source" | "src" => source = Some(value),
            "target" | "dst" | "destination" => target = Some(value),
            "readonly" | "ro" => read_only = matches!(&*text, "true" | "1"),
            "tmpfs-size" => tmpfs.push(format!("size={text}")),
            "tmpfs-mode" => tmpfs.push(format!("mode={text}")),
            "bind-propagation" if text == "rprivate" => {}
            "relabel" => note_label(builder, &format!("--mount {}", word.written)),
            other => {
                let key = other.to_owned();
                return Err(FlagValueError::MountKey { key });
            }
        }
    }
    match (&*kind, source, target) {
        ("bind" | "volume", Some(source), Some(target)) => {
            add_bind_mount(builder, keys, "mount", (&source, &target), read_only)
        }
        ("tmpfs", None, Some(target)) => {
            let colon = if tmpfs.is_empty() { "" } else { ":" };
            let Some(target) = builder.take("--mount", &target) else {
                return Ok(());
            };
            keys.set("tmpfs", &format!("{target}{colon}{}", tmpfs.join(",")))
        }
        _ => Err(FlagValueError::MountType),
    }
}

fn note_label(builder: &mut Builder<'_>, flag: &str) {
    builder.note(format!("{flag}: not labelled for SELinux; where it is enforced, `container.security_opt: [label=disable]` lets the container read it"));
}

fn add_bind_mount(
    builder: &mut Builder<'_>,
    keys: &mut ContainerKeys,
    flag: &'static str,
    (source, target): (&Word, &Word),
    read_only: bool,
) -> Result<(), FlagValueError> {
    let source = source_path(builder, flag, source)?;
    let dashed = format!("--{flag}");
    let taken = builder.renderer().host_path(&dashed, &source);
    let (Some(path), Some(target)) = (taken, builder.take(&dashed, target)) else {
        return Ok(());
    };
    if has_parent(&path) || has_parent(&target) {
        return Err(FlagValueError::ParentPath);
    }
    // `a//b/` and `a/b` are one directory, and a container has one mount at each.
    let target = match target.trim_end_matches('/') {
        "" => "/",
        trimmed => trimmed,
    };
    let ending = if read_only { ":ro" } else { "" };
    keys.set("volume", &format!("{path}:{target}{ending}"))
}

/// Returns the directory of the host: relative paths are those of the guide, and a volume of the engine is asked for.
fn source_path(
    builder: &mut Builder<'_>,
    flag: &str,
    source: &Word,
) -> Result<Word, FlagValueError> {
    let start = source.start();
    let is_relative = start == "." || start.starts_with("./");
    match source.parts.first() {
        Some(Part::Text(_)) if is_relative => {
            let mut parts = builder.values.directory.clone();
            let rest = start.trim_start_matches('.').to_owned();
            if rest != "/" {
                push_part(&mut parts, Part::Text(rest));
            }
            parts.extend(source.parts[1..].iter().cloned());
            Ok(source.with_parts(parts))
        }
        Some(Part::Text(text)) if text.starts_with("../") => Err(FlagValueError::ParentPath),
        Some(Part::Text(text)) if !text.starts_with('/') => {
            let volume = source.sketch(&builder.values);
            let written = format!("--{flag} {volume}");
            let question =
                format!("a directory of the host in place of the engine's volume `{volume}`");
            let id = builder.values.add_param(&volume, &written, None, Some(question));
            builder.values.param_mut(id).kind = ParamKind::Path;
            Ok(source.with_parts(vec![Part::Param(id)]))
        }
        Some(Part::Param(id)) => {
            let id = *id;
            let is_whole = source.parts.len() == 1;
            let param = builder.values.param_mut(id);
            let default = param.default.as_deref();
            let is_path = |text: &str| text.starts_with(['/', '~']) || text.starts_with("./");
            if default.is_some_and(|text| !is_path(text)) {
                // A volume's name: `${CACHE:-cache}`; or a path relative to the guide.
                param.default = None;
                param.question.get_or_insert_with(|| {
                    "a directory of the host in place of the engine's volume".to_owned()
                });
            }
            if is_whole || param.default.is_some() {
                param.kind = ParamKind::Path;
            }
            Ok(source.clone())
        }
        _ => Ok(source.clone()),
    }
}
