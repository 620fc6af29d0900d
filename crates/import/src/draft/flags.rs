//! Converts the flags of a line into keys of a container.

use retrial_document::{ByteUnits, Node, measures};
use retrial_recipe::writer::{map_node, plain_node, text_node};

use super::builder::{Builder, has_parent};
use super::keys::ContainerKeys;
use super::missing::MissingPlace;
use super::mounts;
use super::value_error::FlagValueError;
use crate::programs::{ContainerLine, FlagArity, FlagTreatment, FlagValue};
use crate::shell::{Part, Word, is_secret};

/// Returns the keys of a line's flags.
pub fn translate_flags(builder: &mut Builder<'_>, line: &ContainerLine, keys: &mut ContainerKeys) {
    for option in &line.flags {
        let FlagValue { flag, value } = option;
        let shown = show_flag(option);
        match flag.treatment {
            FlagTreatment::Dropped => {
                if !builder.dropped.contains(&shown) {
                    builder.dropped.push(shown);
                }
            }
            FlagTreatment::Asked(question) => {
                builder.ask(MissingPlace::Container, format!("{shown}: {question}"));
            }
            FlagTreatment::Refused | FlagTreatment::Translated(_) => {
                let help = "remove it from the command line if the figure does not depend on it";
                let message = format!("{shown}: a recipe cannot express this yet");
                builder.refuse(message, &value.span, help);
            }
            FlagTreatment::Key => {
                if let Err(reason) = set_flag(builder, keys, flag.name, value) {
                    builder.refuse_value(flag.name, value, &reason);
                }
            }
        }
    }
    for word in &line.unknown_flags {
        let shown = &word.written;
        builder.ask(
            MissingPlace::Container,
            format!(
                "{shown} may hold further flags of docker: add their keys, or remove this line"
            ),
        );
    }
    for remark in &line.remarks {
        builder.note(remark);
    }
}

/// Returns a flag as the guide writes it; flags of another program than Docker's with its name.
pub fn show_flag(option: &FlagValue) -> String {
    let FlagValue { flag, value } = option;
    let program = match flag.program {
        "srun" | "apptainer" => format!("{} ", flag.program),
        _ => String::new(),
    };
    if flag.arity == FlagArity::Switch || value.is_empty() {
        return format!("{program}--{}", flag.name);
    }
    let written = match value.written.split_once('=') {
        Some((name, written)) if name.starts_with('-') => written,
        _ => &value.written,
    };
    format!("{program}--{} {written}", flag.name)
}

fn set_flag(
    builder: &mut Builder<'_>,
    keys: &mut ContainerKeys,
    name: &'static str,
    word: &Word,
) -> Result<(), FlagValueError> {
    let known = word.known(&builder.values);
    let text = known.as_deref();
    let blank = word.only_param().filter(|id| builder.values.param(*id).default.is_none());
    if blank.is_some() && matches!(name, "volume" | "mount" | "env" | "ulimit" | "sysctl") {
        // The whole value is the reader's.
        builder.ask(
            MissingPlace::Container,
            format!("`--{name} {}`: write its key, or remove this line", word.written),
        );
        return Ok(());
    }
    match (name, text) {
        // They are read with the command; or state Docker's own default.
        ("entrypoint" | "gpus", _) | ("memory", Some("0")) | ("memory-swap", Some("0" | "-1")) => {}
        ("volume", _) => return mounts::translate_volume(builder, keys, word),
        ("mount", _) => return mounts::translate_mount(builder, keys, word),
        ("env", _) => {
            if let Some((name, value)) = read_variable(builder, word)? {
                keys.set_entry("env", &name, value);
            }
        }
        ("env-file", _) => {
            for (name, value) in read_env_file(builder, word)? {
                keys.set_entry("env", &name, value);
            }
        }
        // Podman's own mapping, by which files that root of a rootless container writes are the user's.
        ("userns", Some(text)) if text == "keep-id" || text.starts_with("keep-id:") => {
            builder.note(format!("--userns {text}: dropped, Docker maps no users; `container.user` is the container's"));
        }
        ("platform", Some("linux/amd64" | "linux/x86_64")) => {
            builder.dropped.push(format!("--platform {}", word.written));
        }
        // Podman's own word for the groups of the user, whom root does not need.
        ("group-add", Some("keep-groups")) => {
            builder.note("--group-add keep-groups: dropped, root in Docker's containers opens the devices without these groups");
        }
        ("ulimit", _) => return translate_ulimit(builder, keys, word),
        ("sysctl", _) => {
            let Some(text) = builder.take("--sysctl", word) else { return Ok(()) };
            let (key, value) = text.split_once('=').ok_or(FlagValueError::Sysctl)?;
            keys.set_entry("sysctl", key, text_node(value));
        }
        ("link" | "platform" | "memory-swap", _) => return Err(FlagValueError::NoKey),
        ("shm-size" | "memory", Some(text))
            if measures::parse_size(text, ByteUnits::Docker).is_none() =>
        {
            return Err(FlagValueError::Size);
        }
        ("network", Some(text)) if text.contains(['=', ',']) || text.starts_with("container:") => {
            return Err(FlagValueError::Network);
        }
        ("network", Some(text))
            if keys.get("network").is_some_and(|node| node.text() != Some(text)) =>
        {
            return Err(FlagValueError::SecondNetwork);
        }
        ("uts" | "pid" | "userns", Some(text)) if text != "host" => {
            return Err(FlagValueError::HostOnly);
        }
        _ => return copy_flag(builder, keys, name, word),
    }
    Ok(())
}

/// Sets the key of a flag that accepts the same text.
fn copy_flag(
    builder: &mut Builder<'_>,
    keys: &mut ContainerKeys,
    name: &'static str,
    word: &Word,
) -> Result<(), FlagValueError> {
    let Some(taken) = builder.take(&format!("--{name}"), word) else {
        return Ok(());
    };
    if matches!(name, "device" | "tmpfs" | "workdir") && taken.split(':').any(has_parent) {
        return Err(FlagValueError::ParentPath);
    }
    if name == "device" && taken.contains(['*', '?']) {
        return Err(FlagValueError::DevicePattern);
    }
    let value = match name {
        // Docker takes both cases, and the older separator.
        "cap-add" | "cap-drop" if word.plain().is_some() => taken.to_uppercase(),
        "security-opt" => match taken.split_once(':') {
            Some((option, value)) if !option.contains('=') => format!("{option}={value}"),
            _ => taken,
        },
        _ => taken,
    };
    keys.set(name, &value)
}

/// `NAME=value`, or `NAME` for the value that it has in the shell. Nothing if it is a secret.
pub fn read_variable(
    builder: &mut Builder<'_>,
    word: &Word,
) -> Result<Option<(String, Node)>, FlagValueError> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word.clone(), None),
    };
    let name = name.plain().unwrap_or_default().to_owned();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty()
        || name.starts_with(|letter: char| letter.is_ascii_digit())
        || !name.chars().all(is_name)
    {
        return Err(FlagValueError::VariableName);
    }
    let value = if let Some(value) = value {
        value
    } else {
        let parts = builder.values.use_variable(&name);
        word.with_parts(parts)
    };
    let secret = value.parts.iter().find_map(|part| match part {
        Part::Secret(secret) => Some(secret.clone()),
        _ => None,
    });
    if let [Part::Secret(secret)] = &value.parts[..] {
        // The hub's token has one name, whatever the guide's own variable is called.
        let secret = if name == "HF_TOKEN" { &name } else { secret };
        builder.pass_secret(&name, secret);
        return Ok(None);
    }
    if is_secret(&name) {
        builder.pass_secret(&name, &name);
        return Ok(None);
    }
    if let Some(secret) = secret {
        let message = format!("--env {name}: the secret `${secret}` is a part of its value");
        let help = "pass the secret by a variable of its own, and build the value in the command";
        builder.refuse(message, &word.span, help);
        return Ok(None);
    }
    let taken = builder.take("--env", &value);
    Ok(taken.map(|value| (name, text_node(value))))
}

/// Returns the variables of a file in Docker's format: `NAME=value` or `NAME` a line, no quotes, `#` begins a comment. One
/// that is not here is asked for.
pub fn read_env_file(
    builder: &mut Builder<'_>,
    word: &Word,
) -> Result<Vec<(String, Node)>, FlagValueError> {
    let mut variables = Vec::new();
    let path = word.sketch(&builder.values);
    let shown = word.written.clone();
    let of_guide = builder.files.get(path.trim_start_matches("./")).cloned();
    let text = match of_guide.map_or_else(|| builder.companions.read_file(&path), Ok) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            builder.ask(
                MissingPlace::Container,
                format!(
                    "env: the variables of `{shown}` (--env-file), which is not next to the guide"
                ),
            );
            return Ok(variables);
        }
        Err(error) => return Err(FlagValueError::EnvFile { reason: error.to_string() }),
    };
    builder.note(format!("--env-file {shown}: its variables are in the recipe"));
    for line in text.lines().map(str::trim_start) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        variables.extend(read_variable(builder, &word.with_text(line))?);
    }
    Ok(variables)
}

fn translate_ulimit(
    builder: &mut Builder<'_>,
    keys: &mut ContainerKeys,
    word: &Word,
) -> Result<(), FlagValueError> {
    let Some(text) = builder.take("--ulimit", word) else {
        return Ok(());
    };
    let (name, limits) = text.split_once('=').ok_or(FlagValueError::Ulimit)?;
    let (soft, hard) = limits.split_once(':').unwrap_or((limits, limits));
    let limit = |limit: &str| {
        let is_limit = limit.parse::<i64>().is_ok() || limit.starts_with("${{");
        is_limit.then(|| plain_node(limit)).ok_or(FlagValueError::Ulimit)
    };
    let value = if soft == hard {
        limit(soft)?
    } else {
        map_node([("soft", limit(soft)?), ("hard", limit(hard)?)])
    };
    keys.set_entry("ulimit", name, value);
    Ok(())
}
