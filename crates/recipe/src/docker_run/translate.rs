//! Converts flags into keys of a recipe.

use super::error::DockerRunError;
use super::flags::FlagTreatment;
use super::guide::Guide;
use super::line::{DockerRunCommand, FlagValue};
use super::mounts;
use super::nodes::{map, plain, text};
use super::parts::{DraftedStep, RecipeParts};
use super::secret::is_secret;
use super::surroundings::ShellEnvironment;
use super::words::{ShellWord, is_name};
use itertools::Itertools as _;
use retrial_document::{ByteUnits, Node, measures};

/// Collects the parts of the recipe.
pub(super) fn parts<'a>(
    run: &DockerRunCommand,
    guide: Guide,
    surroundings: &'a dyn ShellEnvironment,
) -> Result<RecipeParts<'a>, Vec<DockerRunError>> {
    let mut parts = RecipeParts::new(guide.variables, surroundings);
    if let Some(image) = parts.expand("the image", &run.image, false) {
        parts.image = image;
    }
    let mut entrypoint = None;
    for option in &run.flags {
        match option.flag.treatment {
            FlagTreatment::Dropped(reason) => {
                parts.note(format!("{}: dropped, {reason}", option.shown()));
            }
            FlagTreatment::Refused => parts.problems.push(DockerRunError::NoKey {
                flag: option.shown(),
                advice: "remove it from the command line if the figure does not depend on it"
                    .to_owned(),
            }),
            FlagTreatment::Key if option.flag.name == "entrypoint" => {
                entrypoint = Some(&option.value)
            }
            FlagTreatment::Key => flag(&mut parts, option),
        }
    }
    let mut command: Vec<&ShellWord> = entrypoint
        .into_iter()
        .filter(|word| !word.pieces.is_empty())
        .chain(&run.command)
        .collect();
    if let Some(reason) = idles(&command) {
        let shown = command.iter().map(|word| word.shown()).join(" ");
        parts.note(format!("`{shown}` after the image: dropped, {reason}"));
        command.clear();
    }
    if entrypoint.is_none() {
        parts.note("the image's entrypoint does not run (`entrypoint: image` lets it run before Retrial's first process)");
    }
    if !command.is_empty() && !guide.execs.is_empty() {
        parts.problems.push(DockerRunError::NoKey {
            flag: "a command after the image, and docker exec".to_owned(),
            advice: "background processes are not supported: give one of the two".to_owned(),
        });
    }
    if !command.is_empty() {
        let step = step(&mut parts, &command, Vec::new());
        parts.steps.extend(step);
    }
    for exec in &guide.execs {
        self::exec(&mut parts, exec);
    }
    for pulled in guide.pulls.iter().filter(|pulled| **pulled != run.image) {
        parts.note(format!(
            "docker pull {}: dropped, the container is created from a different image",
            pulled.shown()
        ));
    }
    for rest in guide.rest {
        parts.note(format!("`{rest}`: dropped; if it is typed in the container, write it as a step or a scenario's `run`"));
    }
    if parts.problems.is_empty() {
        Ok(parts)
    } else {
        Err(parts.problems)
    }
}

/// Returns the reason why a command only keeps the container running.
fn idles(command: &[&ShellWord]) -> Option<&'static str> {
    let words: Vec<&str> = command
        .iter()
        .map(|word| word.plain().unwrap_or("$"))
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

fn step(
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

fn exec(parts: &mut RecipeParts<'_>, exec: &DockerRunCommand) {
    let mut keys = Vec::new();
    let mut env = Vec::new();
    for option in &exec.flags {
        match option.flag.name {
            "env" => env.extend(variable(parts, &option.value)),
            key @ ("workdir" | "user") => {
                let expanded = parts.expand(&format!("--{key}"), &option.value, false);
                keys.extend(expanded.map(|expanded| (key, text(expanded))));
            }
            "interactive" | "tty" | "detach-keys" => {}
            _ => parts.problems.push(DockerRunError::NoKey {
                flag: format!("docker exec {}", option.shown()),
                advice: "a recipe's steps run one after another, in the foreground".to_owned(),
            }),
        }
    }
    if !env.is_empty() {
        keys.push(("env", map(env)));
    }
    let command: Vec<&ShellWord> = exec.command.iter().collect();
    if idles(&command).is_none() {
        let step = step(parts, &command, keys);
        parts.steps.extend(step);
    }
}

fn flag(parts: &mut RecipeParts<'_>, option: &FlagValue) {
    let name = option.flag.name;
    if let Err(reason) = set(parts, name, &option.value) {
        parts.refuse(name, &option.value.shown(), reason);
    }
}

/// Sets the key of a flag; the error is the reason why a recipe cannot express its value.
fn set(parts: &mut RecipeParts<'_>, name: &'static str, value: &ShellWord) -> Result<(), String> {
    let shown = value.shown();
    match name {
        "volume" => mounts::volume(parts, value)?,
        "mount" => mounts::mount(parts, value)?,
        "env" => environment(parts, value),
        "env-file" => env_file(parts, &shown)?,
        "gpus" => gpus(parts, &shown)?,
        "ulimit" => ulimit(parts, &shown)?,
        "sysctl" => {
            let (key, value) = shown.split_once('=').ok_or("write name=value")?;
            parts.put("sysctl", key, text(value));
        }
        "shm-size" | "memory" if measures::size(&shown, ByteUnits::Docker).is_none() => {
            Err("write a size, for example 64G")?;
        }
        "network" if shown.contains(['=', ',']) || shown.starts_with("container:") => {
            Err("a recipe allows host, bridge, none or a network's name")?;
        }
        "network" if parts.has("network") => Err("a recipe has one network")?,
        "uts" | "pid" | "userns" if shown != "host" => {
            Err("a recipe allows `host` only; remove it for the engine's default")?;
        }
        _ => same_words(parts, name, value),
    }
    Ok(())
}

fn environment(parts: &mut RecipeParts<'_>, word: &ShellWord) {
    if let Some((name, value)) = variable(parts, word) {
        parts.put("env", &name, value);
    }
}

/// Sets the key of a flag that accepts the same text.
fn same_words(parts: &mut RecipeParts<'_>, name: &'static str, value: &ShellWord) {
    let Some(expanded) = parts.expand(&format!("--{name}"), value, false) else {
        return;
    };
    let paths: Vec<&str> = match name {
        "device" | "tmpfs" | "workdir" => expanded.split(':').collect(),
        _ => Vec::new(),
    };
    if !parts.refuse_climbing(name, &value.shown(), &paths) {
        parts.set(name, expanded);
    }
}

/// `NAME=value`, or `NAME` for the value that it has in the shell.
fn variable(parts: &mut RecipeParts<'_>, word: &ShellWord) -> Option<(String, Node)> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name.shown(), Some(value)),
        None => (word.shown(), None),
    };
    if !is_name(&name) {
        parts.refuse("env", &name, "this is not a variable name");
        return None;
    }
    if name == "HF_TOKEN" {
        parts.token = true;
        parts.note("--env HF_TOKEN: the token is passed to steps that name it, and is never written to a file (`secrets`)");
        return None;
    }
    if is_secret(&name) {
        parts.note(format!("--env {name}: it looks like a secret, so its value is not written; pass it to steps that name it by `retrial run --secret {name}`"));
        return None;
    }
    let value = value.unwrap_or_else(|| ShellWord {
        pieces: vec![super::words::ShellWordPart::Variable {
            name: name.clone(),
            default: None,
        }],
    });
    let expanded = parts.expand("--env", &value, false)?;
    Some((name, text(expanded)))
}

/// Docker's format: `NAME=value` or `NAME` a line, no quotes, `#` begins a comment.
fn env_file(parts: &mut RecipeParts<'_>, path: &str) -> Result<(), String> {
    let lines = parts.surroundings.file(path)?;
    parts.note(format!(
        "--env-file {path}: its variables are in the recipe"
    ));
    for line in lines.lines().map(str::trim_start) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        environment(parts, &ShellWord::new(line));
    }
    Ok(())
}

fn gpus(parts: &mut RecipeParts<'_>, written: &str) -> Result<(), String> {
    let bare = written.trim_matches('"');
    let count = match bare.strip_prefix("device=") {
        Some(ids) => {
            parts.note(format!(
                "--gpus {written}: `retrial run --gpus {ids}` chooses these"
            ));
            u32::try_from(ids.split(',').count()).ok()
        }
        None if bare == "all" => {
            parts.note("--gpus all: write how many GPUs it needs into requires.gpus.count");
            Some(1)
        }
        None => {
            let count = bare.strip_prefix("count=").unwrap_or(bare).parse().ok();
            let count = count.filter(|count| (1..=4096).contains(count));
            if count.is_some() {
                parts.note(format!("--gpus {written}: the container gets that many; choose which with `retrial run --gpus 0,1`"));
            }
            count
        }
    };
    parts.gpus = Some(count.ok_or("expected all, a number, or device=0,1")?);
    Ok(())
}

fn ulimit(parts: &mut RecipeParts<'_>, written: &str) -> Result<(), String> {
    let read = || -> Option<(String, i64, i64)> {
        let (name, limits) = written.split_once('=')?;
        let (soft, hard) = limits.split_once(':').unwrap_or((limits, limits));
        Some((name.to_owned(), soft.parse().ok()?, hard.parse().ok()?))
    };
    let (name, soft, hard) = read().ok_or("write name=soft:hard, for example memlock=-1:-1")?;
    let limit = |limit: i64| plain(limit.to_string());
    let value = if soft == hard {
        limit(soft)
    } else {
        map([("soft", limit(soft)), ("hard", limit(hard))])
    };
    parts.put("ulimit", &name, value);
    Ok(())
}
