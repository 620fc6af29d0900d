//! Adds the commands of a container as steps, and its server as a service.

use super::Translator;
use crate::Span;
use crate::docker_run::commands::{CommandInput, CommandKind, GuideCommand, idle_reason};
use crate::docker_run::container::{parse_variable, read_env_file};
use crate::docker_run::flags::FlagTreatment;
use crate::docker_run::gpu_options::split_words;
use crate::docker_run::line::ContainerLine;
use crate::docker_run::parts::{
    DraftedCommand, DraftedService, MissingPlace, RecipeParts, WrittenKeys,
};
use crate::docker_run::servers::{find_port, is_server, move_ports, ready_key};
use crate::docker_run::shells::is_shell;
use crate::docker_run::values::Word;
use crate::writer::{map_node, text_node};

/// The last line of a command's input.
const INPUT_END: &str = "END_OF_INPUT";

impl Translator {
    pub(super) fn add_exec(
        &mut self,
        parts: &mut RecipeParts<'_>,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        if self.is_in_server(&line.image) {
            let help = "a recipe's steps run in its container, which is the client's: start the client by `docker exec`, too, or leave this line out";
            let message = "`docker exec` in the server's container, next to a client's".to_owned();
            return parts.refuse(message, &line.image, help);
        }
        let mut keys = WrittenKeys::new();
        let mut env = Vec::new();
        for option in &line.flags {
            let flag = option.flag.name;
            match flag {
                "env" | "env-file" => {
                    let variables = match flag {
                        "env" => parse_variable(parts, &option.value)
                            .map(|variable| variable.into_iter().collect()),
                        _ => read_env_file(parts, &option.value),
                    };
                    match variables {
                        Ok(variables) => env.extend(variables),
                        Err(reason) => parts.refuse_value(flag, &option.value, &reason),
                    }
                }
                "workdir" | "user" => {
                    let taken = parts.take(&format!("--{flag}"), &option.value);
                    let key = if flag == "user" { "user" } else { "workdir" };
                    keys.extend(taken.map(|text| (key, text_node(text))));
                }
                _ if option.flag.treatment != FlagTreatment::Refused => {}
                _ => {
                    let help = "a recipe's steps run one after another, in the recipe's container";
                    parts.refuse(
                        format!("docker exec --{flag}: a recipe cannot express this yet"),
                        &option.value,
                        help,
                    );
                }
            }
        }
        if !env.is_empty() {
            keys.push(("env", map_node(env)));
        }
        if let Some(script) = command.script() {
            let script = script_command(script);
            return parts.commands.push(DraftedCommand { keys, ..script });
        }
        let words: Vec<&str> = line.command.iter().map(|word| &*word.text).collect();
        if !parts.services.is_empty() && manages_server(&words.join(" ")) {
            let shown = command.shown(&parts.shell.values);
            return parts.note(format!("`{shown}`: {MANAGED_REASON}"));
        }
        match idle_reason(&line.command) {
            None => self.add_command(parts, &line.command, keys, command),
            Some(_) if is_shell(&line.command) => {}
            Some(_) => {
                let shown = command.shown(&parts.shell.values);
                parts.note(format!("`{shown}`: dropped, it only waits"));
            }
        }
    }

    /// Adds a command of the container: a server is a service, all others are steps.
    pub(super) fn add_command(
        &mut self,
        parts: &mut RecipeParts<'_>,
        words: &[Word],
        keys: WrittenKeys,
        command: &GuideCommand,
    ) {
        let Some(mut drafted) = parts.command(words, keys) else {
            return;
        };
        if let CommandInput::Script(input) = &command.input {
            drafted.run = format!("{} <<'{INPUT_END}'\n{input}{INPUT_END}\n", drafted.run);
        }
        let (line, is_run) = match &command.kind {
            CommandKind::Run(line) => (line, true),
            CommandKind::Exec(line) => (line, false),
            _ => return parts.commands.push(drafted),
        };
        if let Some(server) = &self.server_side {
            if server.shares_host_ports(line) {
                drafted.run = move_ports(&drafted.run, &self.published);
            }
            return self.add_drafted(parts, drafted, false, &command.span);
        }
        let is_detached = command.is_background || line.flag("detach").is_some();
        // A detached container may be a server or a benchmark: one whose ports are published, or in which others are
        // executed, is a server.
        let is_service = is_detached && (!is_run || self.is_followed);
        let is_detached = is_service || is_run && !self.published.is_empty();
        self.add_drafted(parts, drafted, is_detached, &command.span);
    }

    pub(super) fn add_drafted(
        &mut self,
        parts: &mut RecipeParts<'_>,
        drafted: DraftedCommand,
        is_detached: bool,
        span: &Span,
    ) {
        if !is_detached && !is_server(&drafted.literals) {
            return parts.commands.push(drafted);
        }
        let ready = ready_key(&drafted.literals, &self.published);
        let port = find_port(&drafted.literals);
        let shares_port =
            |server: &DraftedService| port.is_some() && find_port(&server.words) == port;
        let is_further = !parts.services.is_empty();
        if is_further && (ready.is_none() || parts.commands.len() > parts.commands_before_server)
            || parts.services.iter().any(shares_port)
        {
            let word = Word::new("", span);
            let help = "write it as a further service of the recipe; services share a network, so each needs a port of its own";
            return parts.refuse("a second server".to_owned(), &word, help);
        }
        let ready = ready.unwrap_or_else(|| {
            parts.ask(
                MissingPlace::Service("ready"),
                "the condition under which the server is ready, for example `{ port: 8000 }`",
            );
            let until = map_node([("log", text_node("ready"))]);
            vec![("ready", until)]
        });
        let keys =
            [("run", text_node(drafted.text()))].into_iter().chain(ready).chain(drafted.keys);
        parts.services.push(DraftedService {
            keys: keys.collect(),
            words: drafted.literals,
            gpus: Vec::new(),
        });
        parts.commands_before_server = parts.commands.len();
    }
}

/// Why a command that waits for a server, or stops it, is dropped.
pub(super) const MANAGED_REASON: &str =
    "dropped, a service is awaited by its `ready`, and is stopped by Retrial";
/// The addresses at which servers only say that they are up.
const HEALTH_PATHS: [&str; 5] = ["/health", "/ready", "/v1/models", "/get_model_info", "/ping"];

/// Returns whether a command only waits for a server, or stops it.
pub(super) fn manages_server(text: &str) -> bool {
    let mut words = text.split_whitespace().map(|word| word.trim_matches(['\'', '"', '(']));
    let first = words.clone().next().unwrap_or_default();
    let is_one = !text.contains(['\n', ';', '&', '|']);
    let probes = ["curl", "wget", "nc ", "/dev/tcp", "grep"];
    let is_probe = probes.iter().any(|probe| text.contains(probe)) && !text.contains("bench");
    // `timeout 600 bash -c 'until …'`
    let is_around = |word: &&str| {
        ["timeout", "bash", "sh"].contains(word)
            || word.starts_with('-')
            || word.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let awaits = match words.find(|word| !is_around(word)) {
        Some("until") => true,
        Some("while" | "for") => {
            ["while !", "!=", "break", "exit 0"].iter().any(|part| text.contains(part))
        }
        _ => false,
    };
    let asks_health =
        ["curl", "wget"].contains(&first) && HEALTH_PATHS.iter().any(|path| text.contains(path));
    awaits && text.contains("sleep ") && is_probe
        || is_one && asks_health
        || is_one && first == "tail" && [" -f", " -F"].iter().any(|option| text.contains(option))
        || is_one
            && ["sleep", "wait", "kill", "pkill", "killall", "fg", "jobs", "disown"]
                .contains(&first)
}

/// Returns whether a command in the background only watches what is measured.
pub(super) fn is_monitor(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let monitors = ["while", "watch", "nvidia-smi", "rocm-smi", "amd-smi", "nvtop", "dcgmi"];
    monitors.contains(&first)
}

pub(super) fn script_command(script: &str) -> DraftedCommand {
    DraftedCommand {
        run: script.to_owned(),
        literals: split_words(script),
        ..DraftedCommand::default()
    }
}
