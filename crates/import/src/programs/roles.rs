//! What a command in a container is for a recipe: preparation, a server, a wait, or the measurement.

use super::servers::is_server;
use super::words::{is_shell, program_name, shell_script, split_words};
use super::wrappers::find_wrappers;

/// The role of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It changes the shell for the commands behind it.
    State,
    Prepare,
    Server,
    /// It waits, for ever or for a server, or stops one.
    Wait,
    /// It only shows files or the machine.
    Show,
    /// It prints a text, which is measured only if nothing else is.
    Print,
    Measure,
}

/// Commands with an effect on the commands behind them in one shell.
const STATE: &str = ". alias cd declare deactivate eval export module popd pushd readonly set shopt source typeset ulimit \
     umask unset local";
/// Programs that prepare.
const PREPARE: &str = "apk apt apt-get aws azcopy chmod chown cmake conda cp curl dnf git git-lfs gsutil hf \
     huggingface-cli kill ldconfig ln make mamba micromamba mkdir mv ninja pip pip3 pkill rm rsync \
     scp sed service sync sysctl tar tee touch unzip update-alternatives usermod groupadd newgrp adduser \
     uv wget yum";
/// Programs that show something.
const SHOW: &str = "amd-smi cat clear df du env find free grep head hipconfig hostname ibstat jq less ls lscpu lspci \
     more nvcc nvidia-smi ps pwd rocm-smi rocminfo tail uname vi vim nano";
const WAIT: &str = "disown fg jobs killall pause sleep wait exit bg";
/// Words of names of scripts that prepare.
const PREPARING_WORDS: [&str; 9] = [
    "download",
    "install",
    "setup",
    "prepare",
    "preprocess",
    "build",
    "convert",
    "requirements",
    "tokenize",
];
/// Words of commands that measure.
const MEASURING_WORDS: [&str; 7] = ["bench", "perf", "train", "run", "test", "measure", "eval"];
/// The addresses at which servers only say that they are up.
const HEALTH_PATHS: [&str; 5] = ["/health", "/ready", "/v1/models", "/get_model_info", "/ping"];

fn is_listed(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|listed| listed == name)
}

/// Returns the role of a command of these words.
pub fn role_of(words: &[String]) -> Role {
    let skipped = find_wrappers(words).count;
    let words = &words[skipped..];
    let assigned = words.iter().take_while(|word| is_assignment(word)).count();
    let words = &words[assigned..];
    let Some(first) = words.first() else {
        return Role::State;
    };
    if let Some(script) = shell_script(words) {
        return role_of_script(script);
    }
    if is_shell(words) {
        return Role::Wait;
    }
    if is_server(words) {
        return Role::Server;
    }
    if words.last().is_some_and(|word| matches!(word.as_str(), "--help" | "--version")) {
        return Role::Show;
    }
    let name = program_name(first);
    let second = words.get(1).map_or("", String::as_str);
    let text = words.join(" ").to_lowercase();
    match name {
        "conda" | "mamba" | "micromamba" | "pyenv"
            if matches!(second, "activate" | "deactivate") =>
        {
            Role::State
        }
        "ray" | "service" | "systemctl" => Role::Prepare,
        _ if is_listed(STATE, name) => Role::State,
        _ if is_listed(WAIT, name) => Role::Wait,
        "tail" if words.iter().any(|word| matches!(word.as_str(), "-f" | "-F" | "/dev/null")) => {
            Role::Wait
        }
        "curl" | "wget" if HEALTH_PATHS.iter().any(|path| text.contains(path)) => Role::Wait,
        "curl" if !saves_file(words) => Role::Measure,
        "echo" | "printf" => Role::Print,
        "cat" | "tee" if text.contains('>') => Role::Prepare,
        "make" if MEASURING_WORDS.iter().any(|word| text.contains(word)) => Role::Measure,
        _ if is_listed(SHOW, name) => Role::Show,
        _ if is_listed(PREPARE, name) => Role::Prepare,
        "python" | "python3"
            if matches!(second, "-m")
                && matches!(
                    words.get(2).map(String::as_str),
                    Some("pip" | "venv" | "ensurepip")
                ) =>
        {
            Role::Prepare
        }
        "python" | "python3" | "bash" | "sh" => {
            let script = words.iter().skip(1).find(|word| !word.starts_with('-'));
            role_of_file(script.map_or("", String::as_str))
        }
        _ if first.contains('/') && !name.ends_with("server") => role_of_file(first),
        _ if matches!(second, "serve" | "start") || name.ends_with("server") => Role::Server,
        _ => Role::Measure,
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn saves_file(words: &[String]) -> bool {
    words.iter().any(|word| {
        matches!(word.as_str(), "--output" | "--remote-name")
            || word.starts_with('-') && !word.starts_with("--") && word.to_lowercase().contains('o')
    })
}

fn role_of_file(path: &str) -> Role {
    let name = program_name(path).to_lowercase();
    let prepares = PREPARING_WORDS.iter().any(|word| name.contains(word));
    let measures = MEASURING_WORDS.iter().any(|word| name.contains(word));
    if prepares && !measures { Role::Prepare } else { Role::Measure }
}

/// Returns the role of a script: of its last command that is not only shown, or that of a loop that waits.
pub fn role_of_script(script: &str) -> Role {
    if is_loop_that_waits(script) {
        return Role::Wait;
    }
    let commands = script.split(['\n', ';']).flat_map(|part| part.split("&&"));
    let roles: Vec<Role> = commands
        .flat_map(|command| command.split('|').take(1))
        .map(|command| {
            command
                .trim()
                .trim_start_matches("do ")
                .trim_start_matches("then ")
                .trim_end_matches('&')
                .trim()
        })
        .filter(|command| !command.is_empty() && !command.starts_with('#'))
        .map(|command| role_of(&split_words(command)))
        .collect();
    let has = |role| roles.contains(&role);
    match roles.last() {
        Some(Role::Wait) => Role::Wait,
        _ if has(Role::Server)
            && !roles
                .iter()
                .rev()
                .take_while(|role| **role != Role::Server)
                .any(|role| *role == Role::Measure) =>
        {
            Role::Server
        }
        _ if has(Role::Measure) => Role::Measure,
        _ if has(Role::Print) => Role::Print,
        _ if has(Role::Prepare) => Role::Prepare,
        _ => Role::Show,
    }
}

/// `until curl …; do sleep 5; done`
fn is_loop_that_waits(script: &str) -> bool {
    let first = script.split_whitespace().next().unwrap_or_default();
    let probes =
        ["curl", "wget", "nc ", "/dev/tcp", "grep"].iter().any(|probe| script.contains(probe));
    let is_loop = first == "until"
        || matches!(first, "while" | "for")
            && ["while !", "!=", "break", "exit 0", "while true"]
                .iter()
                .any(|part| script.contains(part));
    is_loop
        && script.contains("sleep ")
        && (probes || first == "while")
        && !script.contains("bench")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_roles() {
        for (text, role) in [
            ("cd /x", Role::State),
            ("A=1 B=2", Role::State),
            ("conda activate x", Role::State),
            ("pip install -r requirements.txt", Role::Prepare),
            ("python3 -m pip install x", Role::Prepare),
            ("git clone https://x/bench", Role::Prepare),
            ("bash download_data.sh", Role::Prepare),
            ("curl -LO https://x/y", Role::Prepare),
            ("python3 run_harness.py --n 1", Role::Measure),
            ("sudo -E ./bench", Role::Measure),
            ("vllm serve m", Role::Server),
            ("vllm bench serve --port 8000", Role::Measure),
            ("sleep infinity", Role::Wait),
            ("tail -f /dev/null", Role::Wait),
            ("cat results.json", Role::Show),
            ("curl http://localhost:8000/health", Role::Wait),
        ] {
            assert_eq!(role_of(&split_words(text)), role, "{text}");
        }
        assert_eq!(role_of_script("service ssh start && sleep infinity"), Role::Wait);
        assert_eq!(role_of_script("cd /x && ./bench"), Role::Measure);
        assert_eq!(role_of_script("until curl -sf http://x/health; do sleep 5; done"), Role::Wait);
    }
}
