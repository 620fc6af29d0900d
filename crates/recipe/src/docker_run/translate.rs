//! Converts flags into keys of a recipe.

use super::error::DockerRunError;
use super::flags::FlagTreatment;
use super::guide::Guide;
use super::line::{DockerRunCommand, FlagValue};
use super::mounts;
use super::nodes::{map_node, plain_node, text_node};
use super::parts::{DraftedStep, RecipeParts};
use super::secret::is_secret;
use super::shell_environment::ShellEnvironment;
use super::value_error::FlagValueError;
use super::words::{ShellWord, is_variable_name};
use itertools::Itertools as _;
use retrial_document::{ByteUnits, Node, measures};

/// Collects the parts of the recipe.
pub(super) fn collect_parts<'a>(
    run: &DockerRunCommand,
    guide: Guide,
    surroundings: &'a dyn ShellEnvironment,
) -> Result<RecipeParts<'a>, Vec<DockerRunError>> {
    let mut parts = RecipeParts::new(guide.variables, surroundings);
    if let Some(image) = parts.expand_word("the image", &run.image, false) {
        parts.image = image;
    }
    let mut entrypoint = None;
    for option in &run.flags {
        match option.flag.treatment {
            FlagTreatment::Dropped(reason) => {
                parts.add_note(format!("{}: dropped, {reason}", option.to_shell_text()));
            }
            FlagTreatment::Refused => parts.problems.push(DockerRunError::NoKey {
                flag: option.to_shell_text(),
                advice: "remove it from the command line if the figure does not depend on it"
                    .to_owned(),
            }),
            FlagTreatment::Key if option.flag.name == "entrypoint" => {
                entrypoint = Some(&option.value);
            }
            FlagTreatment::Key => translate_flag(&mut parts, option),
        }
    }
    let mut command: Vec<&ShellWord> = entrypoint
        .into_iter()
        .filter(|word| !word.pieces.is_empty())
        .chain(&run.command)
        .collect();
    if let Some(reason) = idle_reason(&command) {
        let shown = command.iter().map(|word| word.to_shell_text()).join(" ");
        parts.add_note(format!("`{shown}` after the image: dropped, {reason}"));
        command.clear();
    }
    if entrypoint.is_none() {
        parts.add_note("the image's entrypoint does not run (`entrypoint: image` lets it run before Retrial's first process)");
    }
    if !command.is_empty() && !guide.exec_lines.is_empty() {
        parts.problems.push(DockerRunError::NoKey {
            flag: "a command after the image, and docker exec".to_owned(),
            advice: "background processes are not supported: give one of the two".to_owned(),
        });
    }
    if !command.is_empty() {
        let step = command_step(&mut parts, &command, Vec::new());
        parts.steps.extend(step);
    }
    for exec in &guide.exec_lines {
        self::add_exec_step(&mut parts, exec);
    }
    for pulled in guide.pulls.iter().filter(|pulled| **pulled != run.image) {
        parts.add_note(format!(
            "docker pull {}: dropped, the container is created from a different image",
            pulled.to_shell_text()
        ));
    }
    for rest in guide.other_commands {
        parts.add_note(format!("`{rest}`: dropped; if it is typed in the container, write it as a step or a scenario's `run`"));
    }
    if parts.problems.is_empty() {
        Ok(parts)
    } else {
        Err(parts.problems)
    }
}

/// Returns the reason why a command only keeps the container running.
fn idle_reason(command: &[&ShellWord]) -> Option<&'static str> {
    let words: Vec<&str> = command
        .iter()
        .map(|word| word.as_plain().unwrap_or("$"))
        .collect();
    let shell = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        ["bash", "sh", "zsh", "dash"].contains(&name)
    };
    match words.as_slice() {
        [one] if shell(one) => Some("commands in the container are the recipe's steps"),
        [one, "-l" | "-i" | "--login" | "-il" | "-li"] if shell(one) => Some(
            "commands in the container are the recipe's steps (`shell: [bash, -ilc]` gives them a login shell)",
        ),
        ["sleep", "infinity"] | ["tail", "-f", "/dev/null"] | ["cat"] => {
            Some("Retrial keeps its container")
        }
        _ => None,
    }
}

fn command_step(
    parts: &mut RecipeParts<'_>,
    command: &[&ShellWord],
    keys: Vec<(&'static str, Node)>,
) -> Option<DraftedStep> {
    let words: Option<Vec<String>> = command
        .iter()
        .map(|word| parts.expand_quoted(word))
        .collect();
    let run = words?.join(" ");
    Some(DraftedStep { run, keys })
}

fn add_exec_step(parts: &mut RecipeParts<'_>, exec: &DockerRunCommand) {
    let mut keys = Vec::new();
    let mut env = Vec::new();
    for option in &exec.flags {
        match option.flag.name {
            "env" => env.extend(parse_variable(parts, &option.value)),
            key @ ("workdir" | "user") => {
                let expanded = parts.expand_word(&format!("--{key}"), &option.value, false);
                keys.extend(expanded.map(|expanded| (key, text_node(expanded))));
            }
            "interactive" | "tty" | "detach-keys" => {}
            _ => parts.problems.push(DockerRunError::NoKey {
                flag: format!("docker exec {}", option.to_shell_text()),
                advice: "a recipe's steps run one after another, in the foreground".to_owned(),
            }),
        }
    }
    if !env.is_empty() {
        keys.push(("env", map_node(env)));
    }
    let command: Vec<&ShellWord> = exec.command.iter().collect();
    if idle_reason(&command).is_none() {
        let step = command_step(parts, &command, keys);
        parts.steps.extend(step);
    }
}

fn translate_flag(parts: &mut RecipeParts<'_>, option: &FlagValue) {
    let name = option.flag.name;
    if let Err(reason) = set_flag_value(parts, name, &option.value) {
        parts.refuse_value(name, &option.value.to_shell_text(), reason);
    }
}

/// Sets the key of a flag.
fn set_flag_value(
    parts: &mut RecipeParts<'_>,
    name: &'static str,
    value: &ShellWord,
) -> Result<(), FlagValueError> {
    let shown = value.to_shell_text();
    match name {
        "volume" => mounts::translate_volume(parts, value)?,
        "mount" => mounts::translate_mount(parts, value)?,
        "env" => add_variable(parts, value),
        "env-file" => read_env_file(parts, &shown)?,
        "gpus" => translate_gpus(parts, &shown)?,
        "ulimit" => translate_ulimit(parts, &shown)?,
        "sysctl" => {
            let (key, value) = shown.split_once('=').ok_or(FlagValueError::Sysctl)?;
            parts.set_map_entry("sysctl", key, text_node(value));
        }
        "shm-size" | "memory" if measures::parse_size(&shown, ByteUnits::Docker).is_none() => {
            return Err(FlagValueError::Size);
        }
        "network" if shown.contains(['=', ',']) || shown.starts_with("container:") => {
            return Err(FlagValueError::Network);
        }
        "network" if parts.has_flag("network") => return Err(FlagValueError::SecondNetwork),
        "uts" | "pid" | "userns" if shown != "host" => {
            return Err(FlagValueError::HostOnly);
        }
        _ => copy_flag_value(parts, name, value),
    }
    Ok(())
}

fn add_variable(parts: &mut RecipeParts<'_>, word: &ShellWord) {
    if let Some((name, value)) = parse_variable(parts, word) {
        parts.set_map_entry("env", &name, value);
    }
}

/// Sets the key of a flag that accepts the same text.
fn copy_flag_value(parts: &mut RecipeParts<'_>, name: &'static str, value: &ShellWord) {
    let Some(expanded) = parts.expand_word(&format!("--{name}"), value, false) else {
        return;
    };
    let paths: Vec<&str> = match name {
        "device" | "tmpfs" | "workdir" => expanded.split(':').collect(),
        _ => Vec::new(),
    };
    if !parts.refuse_parent_paths(name, &value.to_shell_text(), &paths) {
        parts.set_flag(name, expanded);
    }
}

/// `NAME=value`, or `NAME` for the value that it has in the shell.
fn parse_variable(parts: &mut RecipeParts<'_>, word: &ShellWord) -> Option<(String, Node)> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name.to_shell_text(), Some(value)),
        None => (word.to_shell_text(), None),
    };
    if !is_variable_name(&name) {
        parts.refuse_value("env", &name, FlagValueError::VariableName);
        return None;
    }
    if name == "HF_TOKEN" {
        parts.passes_token = true;
        parts.add_note("--env HF_TOKEN: the token is passed to steps that name it, and is never written to a file (`secrets`)");
        return None;
    }
    if is_secret(&name) {
        parts.add_note(format!("--env {name}: it looks like a secret, so its value is not written; pass it to steps that name it by `retrial run --secret {name}`"));
        return None;
    }
    let value_word = value.unwrap_or_else(|| ShellWord {
        pieces: vec![super::words::ShellWordPart::Variable {
            name: name.clone(),
            default: None,
        }],
    });
    let expanded = parts.expand_word("--env", &value_word, false)?;
    Some((name, text_node(expanded)))
}

/// Docker's format: `NAME=value` or `NAME` a line, no quotes, `#` begins a comment.
fn read_env_file(parts: &mut RecipeParts<'_>, path: &str) -> Result<(), FlagValueError> {
    let lines = parts.surroundings.read_file(path).map_err(|error| {
        let reason = error.to_string();
        FlagValueError::EnvFile { reason }
    })?;
    parts.add_note(format!(
        "--env-file {path}: its variables are in the recipe"
    ));
    for line in lines.lines().map(str::trim_start) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        add_variable(parts, &ShellWord::new(line));
    }
    Ok(())
}

fn translate_gpus(parts: &mut RecipeParts<'_>, written: &str) -> Result<(), FlagValueError> {
    let bare = written.trim_matches('"');
    let count = match bare.strip_prefix("device=") {
        Some(ids) => {
            parts.add_note(format!(
                "--gpus {written}: `retrial run --gpus {ids}` chooses these"
            ));
            u32::try_from(ids.split(',').count()).ok()
        }
        None if bare == "all" => {
            parts.add_note("--gpus all: write how many GPUs it needs into requires.gpus.count");
            Some(1)
        }
        None => {
            let number = bare.strip_prefix("count=").unwrap_or(bare).parse().ok();
            let count = number.filter(|count| (1..=4096).contains(count));
            if count.is_some() {
                parts.add_note(format!("--gpus {written}: the container gets that many; choose which with `retrial run --gpus 0,1`"));
            }
            count
        }
    };
    parts.gpus = Some(count.ok_or(FlagValueError::Gpus)?);
    Ok(())
}

fn translate_ulimit(parts: &mut RecipeParts<'_>, written: &str) -> Result<(), FlagValueError> {
    let read = || -> Option<(String, i64, i64)> {
        let (name, limits) = written.split_once('=')?;
        let (soft, hard) = limits.split_once(':').unwrap_or((limits, limits));
        Some((name.to_owned(), soft.parse().ok()?, hard.parse().ok()?))
    };
    let (name, soft, hard) = read().ok_or(FlagValueError::Ulimit)?;
    let limit = |limit: i64| plain_node(limit.to_string());
    let value = if soft == hard {
        limit(soft)
    } else {
        map_node([("soft", limit(soft)), ("hard", limit(hard))])
    };
    parts.set_map_entry("ulimit", &name, value);
    Ok(())
}
