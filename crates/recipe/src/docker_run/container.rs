//! Converts the flags of `docker run` into keys of a recipe's container.

use retrial_document::{ByteUnits, Node, measures};

use super::flags::{FlagArity, FlagTreatment};
use super::line::{ContainerLine, FlagValue};
use super::mounts;
use super::parts::{MissingPlace, RecipeParts, has_parent};
use super::secret::is_secret;
use super::value_error::FlagValueError;
use super::values::Word;
use crate::formats::VARIABLE;
use crate::writer::{map_node, plain_node, text_node};

/// Sets the keys of a line's flags. `directory` is the working directory.
pub(super) fn translate_flags(parts: &mut RecipeParts<'_>, line: &ContainerLine, directory: &str) {
    for option in &line.flags {
        let FlagValue { flag, value } = option;
        let shown = show_flag(parts, option);
        match flag.treatment {
            FlagTreatment::Dropped(reason) => parts.note(format!("{shown}: dropped, {reason}")),
            FlagTreatment::Refused | FlagTreatment::Translated(_) => {
                let help = "remove it from the command line if the figure does not depend on it";
                parts.refuse(format!("{shown}: a recipe cannot express this yet"), value, help);
            }
            FlagTreatment::Key => {
                if let Err(reason) = set_flag_value(parts, flag.name, value, directory) {
                    parts.refuse_value(flag.name, value, &reason);
                }
            }
        }
    }
    for word in &line.unknown_flags {
        let shown = parts.written(word);
        parts.ask(MissingPlace::Container, format!(
            "{shown} of the command line may hold further flags of docker; add their keys, and remove this line"
        ));
    }
}

/// Returns a flag as the guide writes it; flags of another program than Docker's with its name.
pub(super) fn show_flag(parts: &RecipeParts<'_>, option: &FlagValue) -> String {
    let FlagValue { flag, value } = option;
    let program = match flag.program {
        "srun" | "apptainer" => format!("{} ", flag.program),
        _ => String::new(),
    };
    if flag.arity == FlagArity::Switch || value.text.is_empty() {
        format!("{program}--{}", flag.name)
    } else {
        format!("{program}--{} {}", flag.name, parts.written(value))
    }
}

fn set_flag_value(
    parts: &mut RecipeParts<'_>,
    name: &'static str,
    word: &Word,
    directory: &str,
) -> Result<(), FlagValueError> {
    let literal = parts.literal(word);
    match name {
        // They are read with the command.
        "entrypoint" | "gpus" => {}
        "volume" => return mounts::translate_volume(parts, word, directory),
        "mount" => return mounts::translate_mount(parts, word, directory),
        "env" => {
            if let Some((name, value)) = parse_variable(parts, word)? {
                parts.set_map_entry("env", &name, value);
            }
        }
        "env-file" => {
            for (name, value) in read_env_file(parts, word)? {
                parts.set_map_entry("env", &name, value);
            }
        }
        // Podman's own mapping, by which files that root of a rootless container writes are the user's.
        "userns" if literal == "keep-id" || literal.starts_with("keep-id:") => {
            parts.note(format!("--userns {literal}: dropped, Docker maps no users; `container.user` is the container's"));
        }
        "platform" if matches!(&*literal, "linux/amd64" | "linux/x86_64") => {
            parts.note(format!(
                "--platform {literal}: dropped, the engine takes the image for its own machine"
            ));
        }
        // Podman's own word for the groups of the user, whom root does not need.
        "group-add" if literal == "keep-groups" => {
            parts.note("--group-add keep-groups: dropped, root in Docker's containers opens the devices without these groups");
        }
        "ulimit" => return translate_ulimit(parts, word),
        "sysctl" => {
            let taken = parts.take("--sysctl", word);
            let Some(text) = taken else { return Ok(()) };
            let (key, value) = text.split_once('=').ok_or(FlagValueError::Sysctl)?;
            parts.set_map_entry("sysctl", key, text_node(value));
        }
        // Docker's own default.
        "memory" if literal == "0" => {}
        "memory-swap" if matches!(&*literal, "0" | "-1") => {}
        "link" | "platform" | "memory-swap" => return Err(FlagValueError::NoKey),
        "shm-size" | "memory"
            if !literal.contains("${{")
                && measures::parse_size(&literal, ByteUnits::Docker).is_none() =>
        {
            return Err(FlagValueError::Size);
        }
        "network" if literal.contains(['=', ',']) || literal.starts_with("container:") => {
            return Err(FlagValueError::Network);
        }
        "network"
            if parts.flag_node("network").is_some_and(|node| node.text() != Some(&word.text)) =>
        {
            return Err(FlagValueError::SecondNetwork);
        }
        "uts" | "pid" | "userns" if literal != "host" => return Err(FlagValueError::HostOnly),
        _ => return copy_flag_value(parts, name, word),
    }
    Ok(())
}

/// Sets the key of a flag that accepts the same text.
fn copy_flag_value(
    parts: &mut RecipeParts<'_>,
    name: &'static str,
    word: &Word,
) -> Result<(), FlagValueError> {
    let Some(taken) = parts.take(&format!("--{name}"), word) else {
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
        "cap-add" | "cap-drop" if !taken.contains("${{") => taken.to_uppercase(),
        "security-opt" => match taken.split_once(':') {
            Some((option, value)) if !option.contains('=') => format!("{option}={value}"),
            _ => taken,
        },
        _ => taken,
    };
    parts.set_flag(name, &value)
}

/// `NAME=value`, or `NAME` for the value that it has in the shell. Nothing if it is a secret.
pub(super) fn parse_variable(
    parts: &mut RecipeParts<'_>,
    word: &Word,
) -> Result<Option<(String, Node)>, FlagValueError> {
    let (name, value) = match word.text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (&*word.text, None),
    };
    if VARIABLE.mismatch(name).is_some() {
        return Err(FlagValueError::VariableName);
    }
    if name == "HF_TOKEN" {
        parts.passes_token = true;
        parts.note("--env HF_TOKEN: the token is passed to steps that name it, and is never written to a file (`secrets`)");
        return Ok(None);
    }
    if is_secret(name) {
        parts.note(format!("--env {name}: it looks like a secret, so its value is not written; pass it to steps that name it by `retrial run --secret {name}`"));
        return Ok(None);
    }
    let value = match value {
        Some(value) => value.to_owned(),
        None => parts.shell.variable(name, &format!("${name}"), None),
    };
    let taken = parts.take("--env", &word.with_text(value));
    Ok(taken.map(|value| (name.to_owned(), text_node(value))))
}

/// Returns the variables of a file in Docker's format: `NAME=value` or `NAME` a line, no quotes, `#` begins a comment. One
/// that is not here is asked for.
pub(super) fn read_env_file(
    parts: &mut RecipeParts<'_>,
    word: &Word,
) -> Result<Vec<(String, Node)>, FlagValueError> {
    let mut variables = Vec::new();
    let Some(taken) = parts.take("--env-file", word) else {
        return Ok(variables);
    };
    let path = parts.shell.values.literal(&taken);
    let shown = parts.written(word);
    let of_block = parts.shell.files.get(path.trim_start_matches("./")).cloned();
    let is_of_block = of_block.is_some();
    let text = match of_block.map_or_else(|| parts.shell.values.environment.read_file(&path), Ok) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            parts.ask(MissingPlace::Container, format!(
                "env: the variables of the file `{shown}` (--env-file), which was not found: put it next to the guide, or write the variables, and remove this line"
            ));
            return Ok(variables);
        }
        Err(error) => {
            let reason = error.to_string();
            return Err(FlagValueError::EnvFile { reason });
        }
    };
    parts.note(format!("--env-file {shown}: its variables are in the recipe"));
    for line in text.lines().map(str::trim_start) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.contains("${{") && !is_of_block {
            let reason = "`${{` would be read as an expression".to_owned();
            return Err(FlagValueError::EnvFile { reason });
        }
        variables.extend(parse_variable(parts, &word.with_text(line))?);
    }
    Ok(variables)
}

fn translate_ulimit(parts: &mut RecipeParts<'_>, word: &Word) -> Result<(), FlagValueError> {
    let Some(text) = parts.take("--ulimit", word) else {
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
    parts.set_map_entry("ulimit", name, value);
    Ok(())
}
