//! Flags as keys of a recipe.

use super::Surroundings;
use super::error::DockerRunError;
use super::flags::Treatment;
use super::guide::{Exec, Guide, exec_key};
use super::line::Given;
use super::mounts;
use super::parts::{Parts, Step, Value};
use super::secret::is_secret;
use super::words::{Word, is_name};
use retrial_document::Units;
use retrial_document::measures;

/// Collects what the recipe will say.
pub(super) fn parts(
    guide: Guide,
    surroundings: &dyn Surroundings,
) -> Result<Parts<'_>, Vec<DockerRunError>> {
    let mut parts = Parts::new(guide.variables, surroundings);
    if let Some(image) = parts.say("the image", &guide.run.image, false) {
        parts.image = image;
    }
    let mut entrypoint = None;
    for given in &guide.run.flags {
        match given.flag.treatment {
            Treatment::LeftOut(because) => {
                parts.tell(format!("{}: left out, {because}", given.shown()));
            }
            Treatment::Refused => parts.problems.push(DockerRunError::NoKey {
                flag: given.shown(),
                advice: "leave it out of the command line if the figure does not hang on it"
                    .to_owned(),
            }),
            Treatment::Key if given.flag.name == "entrypoint" => entrypoint = Some(&given.value),
            Treatment::Key => flag(&mut parts, given),
        }
    }
    let mut command: Vec<&Word> = entrypoint
        .into_iter()
        .filter(|word| !word.pieces.is_empty())
        .chain(&guide.run.command)
        .collect();
    if let Some(because) = idles(&command) {
        let shown: Vec<String> = command.iter().map(|word| word.shown()).collect();
        parts.tell(format!(
            "`{}` after the image: left out, {because}",
            shown.join(" ")
        ));
        command.clear();
    }
    if entrypoint.is_none() {
        parts.tell("the image's entrypoint does not run (`entrypoint: image` lets it run before Retrial's first process)");
    }
    if !command.is_empty() && !guide.execs.is_empty() {
        parts.problems.push(DockerRunError::NoKey {
            flag: "a command after the image, and docker exec beside it".to_owned(),
            advice: "processes in the background come with a later release (`services`): give one of the two".to_owned(),
        });
    }
    if !command.is_empty() {
        let step = step(&mut parts, &command, Vec::new());
        parts.steps.extend(step);
    }
    for exec in &guide.execs {
        self::exec(&mut parts, exec);
    }
    for pulled in guide
        .pulls
        .iter()
        .filter(|pulled| **pulled != guide.run.image)
    {
        parts.tell(format!(
            "docker pull {}: left out, the container is made from another image",
            pulled.shown()
        ));
    }
    for rest in guide.rest {
        parts.tell(format!("`{rest}`: left out; if it is typed in the container, write it as a step or a scenario's `run`"));
    }
    if parts.problems.is_empty() {
        Ok(parts)
    } else {
        Err(parts.problems)
    }
}

/// Why a command only keeps the container there.
fn idles(command: &[&Word]) -> Option<&'static str> {
    let words: Vec<&str> = command
        .iter()
        .map(|word| word.plain().unwrap_or("$"))
        .collect();
    let shell = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        ["bash", "sh", "zsh", "dash"].contains(&name)
    };
    match words.as_slice() {
        [one] if shell(one) => Some("what is typed there are the recipe's steps"),
        [one, "-l" | "-i" | "--login" | "-il" | "-li"] if shell(one) => Some(
            "what is typed there are the recipe's steps (`shell: [bash, -ilc]` gives them a login shell)",
        ),
        ["sleep", "infinity"] | ["tail", "-f", "/dev/null"] | ["cat"] => {
            Some("Retrial keeps its container")
        }
        _ => None,
    }
}

fn step(
    parts: &mut Parts<'_>,
    command: &[&Word],
    keys: Vec<(&'static str, Value)>,
) -> Option<Step> {
    let words: Option<Vec<String>> = command.iter().map(|word| parts.say_quoted(word)).collect();
    let run = words?.join(" ");
    Some(Step { run, keys })
}

fn exec(parts: &mut Parts<'_>, exec: &Exec) {
    let mut keys: Vec<(&'static str, Value)> = Vec::new();
    let mut env = Vec::new();
    for given in &exec.flags {
        let name = given.flag.name;
        match exec_key(given.flag) {
            Some("env") => env.extend(variable(parts, &given.value)),
            Some(key) => {
                let said = parts.say(&format!("--{name}"), &given.value, false);
                keys.extend(said.map(|said| (key, Value::Text(said))));
            }
            None if ["interactive", "tty", "detach-keys"].contains(&name) => {}
            None => parts.problems.push(DockerRunError::NoKey {
                flag: format!("docker exec {}", given.shown()),
                advice: "a recipe's steps run one after the other, in the foreground".to_owned(),
            }),
        }
    }
    if !env.is_empty() {
        keys.push(("env", Value::Map(env)));
    }
    let command: Vec<&Word> = exec.command.iter().collect();
    if idles(&command).is_none() {
        let step = step(parts, &command, keys);
        parts.steps.extend(step);
    }
}

fn flag(parts: &mut Parts<'_>, given: &Given) {
    let name = given.flag.name;
    let shown = given.value.shown();
    match name {
        "privileged" => parts.scalar("privileged", Value::Bare("true".to_owned())),
        "init" => parts.scalar("init", Value::Bare("true".to_owned())),
        "read-only" => parts.scalar("read_only", Value::Bare("true".to_owned())),
        "volume" => mounts::volume(parts, &given.value),
        "mount" => mounts::mount(parts, &given.value),
        "env" => {
            if let Some((name, value)) = variable(parts, &given.value) {
                parts.put("env", name, value);
            }
        }
        "env-file" => env_file(parts, &shown),
        "gpus" => gpus(parts, &shown),
        "ulimit" => ulimit(parts, &shown),
        "sysctl" => match shown.split_once('=') {
            Some((key, value)) => {
                parts.put("sysctls", key.to_owned(), Value::Text(value.to_owned()));
            }
            None => parts.refuse(name, &shown, "write name=value"),
        },
        "shm-size" | "memory" if measures::size(&shown, Units::Docker).is_none() => {
            parts.refuse(name, &shown, "write a size, for example 64G");
        }
        "network" if shown.contains(['=', ',']) || shown.starts_with("container:") => {
            parts.refuse(
                name,
                &shown,
                "a recipe takes host, bridge, none or a network's name",
            );
        }
        "network" if parts.container.contains_key("network") => {
            parts.refuse(name, &shown, "a recipe has one network");
        }
        "uts" | "pid" | "userns" if shown != "host" => {
            parts.refuse(
                name,
                &shown,
                "a recipe takes `host` only; leave it out for the engine's own",
            );
        }
        "cpus" => parts.scalar("cpus", Value::Bare(shown)),
        "pids-limit" => parts.scalar("pids_limit", Value::Bare(shown)),
        _ => plain(parts, name, &given.value),
    }
}

/// Flags that a key says in the same words.
fn plain(parts: &mut Parts<'_>, name: &'static str, value: &Word) {
    let Some(said) = parts.say(&format!("--{name}"), value, false) else {
        return;
    };
    let paths: Vec<&str> = match name {
        "device" | "tmpfs" | "workdir" => said.split(':').collect(),
        _ => Vec::new(),
    };
    if parts.refuse_climbing(name, &value.shown(), &paths) {
        return;
    }
    let (key, is_list) = match name {
        "add-host" => ("add_host", true),
        "cap-add" => ("cap_add", true),
        "cap-drop" => ("cap_drop", true),
        "cgroupns" => ("cgroupns", false),
        "cpuset-cpus" => ("cpuset_cpus", false),
        "cpuset-mems" => ("cpuset_mems", false),
        "device" => ("devices", true),
        "dns" => ("dns", true),
        "group-add" => ("group_add", true),
        "hostname" => ("hostname", false),
        "ipc" => ("ipc", false),
        "memory" => ("memory", false),
        "network" => ("network", false),
        "pid" => ("pid", false),
        "runtime" => ("runtime", false),
        "security-opt" => ("security_opt", true),
        "shm-size" => ("shm_size", false),
        "tmpfs" => ("tmpfs", true),
        "user" => ("user", false),
        "userns" => ("userns", false),
        "uts" => ("uts", false),
        "workdir" => ("workdir", false),
        other => {
            // A flag of the table that nobody reads would be lost.
            parts.refuse(other, &said, "a recipe cannot say this yet");
            return;
        }
    };
    if is_list {
        parts.append(key, said);
    } else {
        parts.scalar(key, Value::Text(said));
    }
}

/// `NAME=value`, or `NAME` for the value that it has in the shell.
fn variable(parts: &mut Parts<'_>, word: &Word) -> Option<(String, Value)> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name.shown(), Some(value)),
        None => (word.shown(), None),
    };
    if !is_name(&name) {
        parts.refuse("env", &name, "this is no name of a variable");
        return None;
    }
    if name == "HF_TOKEN" {
        parts.token = true;
        parts.tell("--env HF_TOKEN: the token goes to steps that name it, and never stands in a file (`secrets`)");
        return None;
    }
    if is_secret(&name) {
        parts.tell(format!("--env {name}: it looks like a secret, so its value is in no file; steps that name it get it by `retrial run --secret {name}`"));
        return None;
    }
    let value = value.unwrap_or_else(|| Word {
        pieces: vec![super::words::Piece::Variable {
            name: name.clone(),
            default: None,
        }],
    });
    let said = parts.say("--env", &value, false)?;
    Some((name, Value::Text(said)))
}

/// Docker's format: `NAME=value` or `NAME` a line, no quotes, `#` begins a comment.
fn env_file(parts: &mut Parts<'_>, path: &str) {
    let text = match parts.surroundings().file(path) {
        Ok(text) => text,
        Err(because) => {
            parts.problems.push(DockerRunError::File {
                flag: "--env-file".to_owned(),
                path: path.to_owned(),
                because,
            });
            return;
        }
    };
    parts.tell(format!(
        "--env-file {path}: its variables stand in the recipe"
    ));
    for line in text.lines().map(str::trim_start) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((name, value)) = variable(parts, &Word::new(line)) {
            parts.put("env", name, value);
        }
    }
}

fn gpus(parts: &mut Parts<'_>, asked: &str) {
    let bare = asked.trim_matches('"');
    let count = match bare.strip_prefix("device=") {
        Some(ids) => {
            parts.tell(format!(
                "--gpus {asked}: `retrial run --gpus {ids}` chooses these"
            ));
            u32::try_from(ids.split(',').count()).ok()
        }
        None if bare == "all" => {
            parts.tell("--gpus all: write how many GPUs it needs into requires.gpus.count");
            Some(1)
        }
        None => {
            let count = bare.strip_prefix("count=").unwrap_or(bare).parse().ok();
            let count = count.filter(|count| (1..=4096).contains(count));
            if count.is_some() {
                parts.tell(format!("--gpus {asked}: the container is given as many; `retrial run --gpus 0,1` chooses which"));
            }
            count
        }
    };
    match count {
        Some(count) => parts.gpus = Some(count),
        None => parts.refuse("gpus", asked, "a recipe takes all, a number, or device=0,1"),
    }
}

fn ulimit(parts: &mut Parts<'_>, text: &str) {
    let read = || -> Option<(String, i64, i64)> {
        let (name, limits) = text.split_once('=')?;
        let (soft, hard) = limits.split_once(':').unwrap_or((limits, limits));
        Some((name.to_owned(), soft.parse().ok()?, hard.parse().ok()?))
    };
    let Some((name, soft, hard)) = read() else {
        parts.refuse(
            "ulimit",
            text,
            "write name=soft:hard, for example memlock=-1:-1",
        );
        return;
    };
    let bare = |limit: i64| Value::Bare(limit.to_string());
    let value = if soft == hard {
        bare(soft)
    } else {
        Value::Map(vec![
            ("soft".to_owned(), bare(soft)),
            ("hard".to_owned(), bare(hard)),
        ])
    };
    parts.put("ulimits", name, value);
}
