//! What a command in a container is for a recipe, by its parsed words, pipes and redirections and one table of programs:
//! a program that the table does not have is measured.

use super::line::ContainerLine;
use super::servers::{ImageArguments, find_server, read_image_arguments};
use super::words::{is_shell, program_name, shell_script};
use super::wrappers::find_wrappers;
use crate::shell::{HereDocument, Item, Simple, Stage, Values, mark_placeholders, parse_commands};

/// The role of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It changes the shell for the commands behind it.
    State,
    Prepare,
    Server,
    /// It waits for a while or for a server, or stops one.
    Wait,
    /// It waits for ever, as a container's own command that others are executed next to.
    Idle,
    /// It only shows files or the machine.
    Show,
    /// It prints a text, which is measured only if nothing else is.
    Print,
    /// It prints a text into a file: it prepares, or is measured as a text that is printed.
    Write,
    Measure,
}

/// The roles of programs; `conda:run` is a program with its first word. Servers have a table of their own.
const PROGRAMS: [(Role, &str); 6] = [
    (
        Role::State,
        ". : [ alias break cd conda:activate conda:deactivate continue deactivate declare eval exit export false \
         local mamba:activate micromamba:activate module popd pushd pyenv:activate readonly return set shopt source \
         test trap true typeset ulimit umask unset",
    ),
    (
        Role::Prepare,
        "add-apt-repository adduser amdclang++ apk apt apt-get apt-key aws azcopy bazel:build brew \
         cargo:build cargo:install cc chmod chown clang clang++ cmake conda cp dd dnf dpkg g++ gcc gdown git \
         git-lfs go:build gpg groupadd gsutil hf hipcc huggingface-cli icpx icx kaggle ldconfig ln mamba meson \
         micromamba mkdir modelscope modprobe mount mpicc mv newgrp ngc npm:ci npm:install nvcc ollama:pull \
         pdm:install pip pip3 poetry:install pyenv ray:start ray:stop rclone rm rsync s5cmd scp service snap sync \
         sysctl systemctl tar tools.sh:--all-in-one tools.sh:--convert tools.sh:--quantize tools.sh:-a tools.sh:-c \
         tools.sh:-q touch trtllm-build unzip update-alternatives useradd usermod uv virtualenv wget yum zypper",
    ),
    (
        Role::Show,
        "amd-smi awk cat clear clinfo cut date df diff dmesg du egrep env file find free grep head hipconfig history \
         hostname htop ibstat id ip jq less ls lscpu lsmod lspci man more nano nc netstat nproc nvidia-smi nvtop \
         ping ps pwd rocm-smi rocminfo sed sort ss stat tail tee top tr tree uname uniq vi vim watch wc which whoami",
    ),
    (Role::Print, "echo printf"),
    (Role::Wait, "bg disown fg jobs kill killall pause pkill sleep su wait"),
    (Role::Measure, "conda:run mamba:run micromamba:run uv:run"),
];
/// The first words of names of scripts, and of targets of make, that prepare.
const PREPARING_VERBS: &str = "build clean clone compile configure convert copy download fetch get install prepare \
                               preprocess pull quantize requirements setup tokenize unpack";
const INTERPRETERS: [&str; 4] = ["python", "bash", "sh", "zsh"];
/// The seconds from which on a sleep only keeps its container.
const IDLE_SECONDS: u64 = 3600;

fn is_listed(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|listed| listed == name)
}

/// Returns the role of a text that a shell reads.
pub fn role_of_script(script: &str) -> Role {
    parse_script(script).map_or(Role::Measure, |(_, items)| role_of_items(&items))
}

pub(super) fn parse_script(script: &str) -> Option<(Vec<char>, Vec<Item>)> {
    let mut letters: Vec<char> = script.chars().collect();
    mark_placeholders(&mut letters);
    let items = parse_commands(&letters).ok()?;
    Some((letters, items))
}

/// Returns the commands of a script before those with which it idles or waits at its end; nothing if there are none.
pub fn script_before_idling(script: &str) -> Option<String> {
    let (letters, items) = parse_script(script)?;
    let waits = |item: &Item| matches!(role_of_item(item), Role::Wait | Role::Idle | Role::State);
    let last = items.iter().rposition(|item| !waits(item))?;
    let text: String = letters[..items[last].range.end].iter().collect();
    Some(if items[last].is_background { text + " &" } else { text })
}

/// Returns the role of commands one after another.
pub fn role_of_items(items: &[Item]) -> Role {
    let roles: Vec<Role> = items.iter().map(role_of_item).collect();
    role_of_list(&roles, false)
}

fn role_of_list(roles: &[Role], is_loop: bool) -> Role {
    let last = |role| roles.iter().rposition(|other| *other == role);
    match (last(Role::Server), last(Role::Measure)) {
        (Some(server), measured) if measured.is_none_or(|measured| measured < server) => {
            Role::Server
        }
        _ if last(Role::Idle).is_some() => Role::Idle,
        (_, Some(_)) => Role::Measure,
        _ => {
            let acts = |role: &&Role| matches!(role, Role::Prepare | Role::Print | Role::Write);
            let acting = roles.iter().rev().find(acts);
            let idle = [Role::Show, Role::Wait].into_iter().find(|role| last(*role).is_some());
            let only_prints = matches!(acting, None | Some(Role::Print));
            if is_loop && only_prints && last(Role::Wait).is_some() {
                return Role::Wait;
            }
            acting.copied().or(idle).unwrap_or(Role::State)
        }
    }
}

/// Returns the role of a pipeline.
pub fn role_of_item(item: &Item) -> Role {
    let roles: Vec<Role> = item.stages.iter().map(role_of_stage).collect();
    let Some((&first, filters)) = roles.split_first() else { return Role::State };
    // `curl … | sh`, `wget -O- … | tar x`
    if filters.iter().any(|role| matches!(role, Role::Idle | Role::Prepare)) {
        return Role::Prepare;
    }
    let strong = [Role::Server, Role::Measure].into_iter().find(|role| roles.contains(role));
    match first {
        _ if strong.is_some() => strong.unwrap_or(first),
        Role::Show if item.stages.iter().any(writes_file) => Role::Prepare,
        Role::Print if item.stages.iter().any(writes_file) => Role::Write,
        first => first,
    }
}

fn writes_file(stage: &Stage) -> bool {
    let Stage::Simple(simple) = stage else { return false };
    let words = simple.plain_words();
    let is_tee = program_words(&words).first().is_some_and(|name| name == "tee");
    is_tee || simple.output.as_ref().is_some_and(|path| !path.text.starts_with("/dev/"))
}

fn role_of_stage(stage: &Stage) -> Role {
    match stage {
        Stage::Simple(simple) => role_of_simple(simple),
        Stage::Compound { keyword, inner } => {
            let roles: Vec<Role> = inner.iter().map(role_of_item).collect();
            let is_endless = *keyword == "while"
                && inner.first().and_then(Item::simple).is_some_and(|condition| {
                    matches!(&*condition.plain_words().concat(), "true" | ":")
                });
            match role_of_list(&roles, matches!(*keyword, "for" | "while" | "until")) {
                Role::Wait if is_endless => Role::Idle,
                role => role,
            }
        }
        Stage::Function { .. } => Role::State,
    }
}

fn role_of_simple(simple: &Simple) -> Role {
    let words = simple.plain_words();
    match &simple.here_document {
        Some(document) if is_shell(program_words(&words)) => role_of_script(&document.body),
        _ => role_of(&words),
    }
}

/// Returns the words of a command from its program on, without assignments and programs like sudo.
pub(super) fn program_words(words: &[String]) -> &[String] {
    let words = &words[find_wrappers(words).count..];
    &words[words.iter().take_while(|word| is_assignment(word)).count()..]
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns the role of a command of these words, without their quotes.
pub fn role_of(words: &[String]) -> Role {
    let words = program_words(words);
    if let Some(script) = shell_script(words) {
        return role_of_script(script);
    }
    if is_shell(words) {
        return Role::Idle;
    }
    let Some((program, arguments)) = words.split_first() else { return Role::State };
    let asks_only = |word: &String| matches!(&**word, "--help" | "--version" | "-V" | "-h");
    if arguments.last().is_some_and(asks_only) {
        return Role::Show;
    }
    if let Some(script) = interpreted_script(program, arguments) {
        let is_module = matches!(script, "pip" | "venv" | "ensurepip");
        let prepares = is_module || names_preparation(program_name(script));
        let role = if prepares { Role::Prepare } else { Role::Measure };
        return find_server(words).map_or(role, |_| Role::Server);
    }
    let name = program_name(program);
    let second = arguments.first().map_or("", String::as_str);
    let with_word = format!("{name}:{second}");
    let listed = |name: &str| PROGRAMS.iter().find(|(_, names)| is_listed(names, name));
    let stem = name.split('.').next().unwrap_or_default();
    role_by_arguments(name, arguments)
        .or_else(|| listed(&with_word).or_else(|| listed(name)).map(|(role, _)| *role))
        .or_else(|| find_server(words).map(|_| Role::Server))
        .or_else(|| names_preparation(name).then_some(Role::Prepare))
        .or_else(|| (second == "serve").then_some(Role::Server))
        // `/etc/init.d/ssh start` ends.
        .or_else(|| (second == "start" && name == program).then_some(Role::Server))
        .or_else(|| (stem == name && name.ends_with("server")).then_some(Role::Server))
        .unwrap_or(Role::Measure)
}

/// Returns the script or module that an interpreter executes: `python3 -u -m pip install x`, `bash -x run.sh`.
pub(super) fn interpreted_script<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    let program = program_name(program).trim_end_matches(|letter: char| !letter.is_alphabetic());
    let options = arguments.iter().take_while(|word| word.starts_with('-') && *word != "-c");
    let script = arguments.get(options.count()).filter(|_| INTERPRETERS.contains(&program));
    script.map(String::as_str)
}

/// Returns the role of a program that depends on its arguments.
fn role_by_arguments(name: &str, arguments: &[String]) -> Option<Role> {
    let has = |options: &[&str]| arguments.iter().any(|word| options.contains(&word.as_str()));
    match name {
        "curl" => Some(role_of_request(arguments)),
        "wget" if has(&["--spider", "-O-", "-qO-"]) => Some(Role::Show),
        "sed" if arguments.iter().any(|word| word.starts_with("-i")) => Some(Role::Prepare),
        "tail" if has(&["-f", "-F", "--follow", "/dev/null"]) => Some(Role::Idle),
        "sleep" => arguments.first().filter(|time| is_long(time)).map(|_| Role::Idle),
        "make" | "ninja" => {
            let is_target = |word: &&String| !word.starts_with('-') && !is_assignment(word);
            let target = arguments.iter().find(is_target);
            let prepares = target.is_none_or(|name| name == "all" || names_preparation(name));
            Some(if prepares { Role::Prepare } else { Role::Measure })
        }
        _ => None,
    }
}

/// `infinity`, `1d`, `86400`
fn is_long(time: &str) -> bool {
    let number: String = time.chars().take_while(char::is_ascii_digit).collect();
    let is_unit = time.ends_with(['d', 'h']) || number.is_empty();
    is_unit && !time.starts_with('$')
        || number.parse::<u64>().is_ok_and(|seconds| seconds >= IDLE_SECONDS)
}

/// A request of curl that sends data measures, one that saves its answer prepares; others only ask.
fn role_of_request(arguments: &[String]) -> Role {
    let is_option = |long: &[&str], letters: [char; 3]| {
        arguments.iter().any(|word| {
            let name = word.split_once('=').map_or(&**word, |(name, _)| name);
            let short = word.strip_prefix('-').filter(|short| !short.starts_with('-'));
            // Letters behind one with a value are its value: `-XPOST`.
            let short =
                short.map(|short| short.split_inclusive(['H', 'X', 'u', 'A', 'd', 'F', 'o']));
            let own = short.and_then(|mut pieces| pieces.next()).unwrap_or_default();
            long.contains(&name) || own.contains(letters)
        })
    };
    let sends = ["--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "--form"];
    if is_option(&sends, ['d', 'F', 'T']) || arguments.iter().any(|word| word == "POST") {
        Role::Measure
    } else if is_option(&["--output", "--remote-name", "--output-dir"], ['o', 'O', 'J']) {
        Role::Prepare
    } else {
        Role::Show
    }
}

/// Returns whether the name of a script or target begins with a verb of preparation: `download_data.sh`.
fn names_preparation(name: &str) -> bool {
    let is_separator = |letter: char| !letter.is_ascii_alphabetic();
    let verb = name.split(is_separator).find(|word| !word.is_empty()).unwrap_or_default();
    is_listed(PREPARING_VERBS, &verb.to_lowercase())
}

/// Returns the role of what a line runs in its container; none if it only opens or keeps one.
pub fn role_of_line(
    line: &ContainerLine,
    document: Option<&HereDocument>,
    values: &Values,
) -> Option<Role> {
    let words = line.arguments.sketch(values);
    if let Some(document) = document.filter(|_| is_shell(&words)) {
        return Some(role_of_script(&document.body));
    }
    let image = line.image.known(values).unwrap_or_default();
    let own = line.flag("entrypoint").map(|entrypoint| vec![entrypoint.sketch(values)]);
    let before = match (own, read_image_arguments(&image, &words)) {
        (Some(own), _) | (None, ImageArguments::Of(own)) => own,
        (None, ImageArguments::Command) => Vec::new(),
        (None, ImageArguments::OfUnknown) => vec![image],
    };
    let all: Vec<String> = before.into_iter().chain(words).collect();
    let role = if all.is_empty() { Role::Idle } else { role_of(&all) };
    let is_published = line.flag("detach").is_some() && line.flag("publish").is_some();
    match role {
        Role::Measure if is_published => Some(Role::Server),
        Role::Idle | Role::Wait => None,
        role => Some(role),
    }
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
            ("pip install -r requirements.txt jupyter", Role::Prepare),
            ("python3 -m pip install x", Role::Prepare),
            ("git clone https://x/bench", Role::Prepare),
            ("bash -x download_data.sh", Role::Prepare),
            ("cat <<E > x.yml\nA: 1\nE", Role::Prepare),
            ("echo 1 | sudo tee /x", Role::Write),
            ("mkdir /x; echo 1 > /x/y", Role::Write),
            ("echo installing; pip install x", Role::Prepare),
            ("curl -LsSf https://x/y | sh", Role::Prepare),
            ("curl -LO https://x/y", Role::Prepare),
            ("curl -XPOST http://x/y -d '{}' | jq .", Role::Measure),
            ("make -j", Role::Prepare),
            ("nvcc -o bench bench.cu", Role::Prepare),
            ("nvcc -V", Role::Show),
            ("poetry install", Role::Prepare),
            ("mlserver start .", Role::Server),
            ("make run_harness RUN_ARGS=x", Role::Measure),
            ("uv run bench.py | tee log", Role::Measure),
            ("python3 run_harness.py --n 1", Role::Measure),
            ("sudo -E ./bench", Role::Measure),
            ("vllm serve <model>", Role::Server),
            ("bash -c 'cd /x; python3 -m sglang.launch_server --tp 8'", Role::Server),
            ("vllm bench serve --port 8000", Role::Measure),
            ("vllm serve m & sleep 60; vllm bench serve; kill %1", Role::Measure),
            ("vllm serve m & wait", Role::Server),
            ("sleep infinity", Role::Idle),
            ("sleep 5", Role::Wait),
            ("tail -f /dev/null", Role::Idle),
            ("service ssh start && sleep infinity", Role::Idle),
            ("./bench; sleep 5; exit 0", Role::Measure),
            ("while true; do sleep 10; done", Role::Idle),
            ("until curl -sf http://x/health; do sleep 5; done", Role::Wait),
            ("for i in 1 2; do ./bench $i; sleep 5; done", Role::Measure),
            ("if [ ! -d x ]; then git clone x; fi", Role::Prepare),
            ("cat results.json", Role::Show),
            ("curl http://localhost:8000/health", Role::Show),
            ("cd /x && ./bench", Role::Measure),
        ] {
            assert_eq!(role_of_script(text), role, "{text}");
        }
        let before = script_before_idling("service ssh start && sleep infinity");
        assert_eq!(before.as_deref(), Some("service ssh start"));
    }
}
