//! Commands of the host: the client of a server, copies into and out of a container, and what is only noted.

use super::Translator;
use super::steps::script_command;
use crate::docker_run::block::unmark_placeholders;
use crate::docker_run::commands::GuideCommand;
use crate::docker_run::parts::{MissingPlace, RecipeParts};
use crate::docker_run::servers::{is_client, move_ports};

impl Translator {
    pub(super) fn add_other(&mut self, parts: &mut RecipeParts<'_>, command: &GuideCommand) {
        let shown = parts.shell.values.written(&command.text);
        if self.runs > 1 && shown.starts_with("docker network") {
            return parts.note(format!(
                "`{shown}`: dropped, a service shares the network of the recipe's container"
            ));
        }
        let first = shown.split_whitespace().next().unwrap_or_default();
        if matches!(first, "echo" | "printf" | "mkdir") && self.line.is_none() || first == "echo" {
            return parts.note(format!("`{shown}`: dropped, it is run on the host"));
        }
        if self.line.is_none() {
            return parts.note(format!(
                "`{shown}`: run it on the host before, as the guide does"
            ));
        }
        if parts.server.is_some() && is_client(&shown, &self.published) && !shown.contains("${{") {
            let moved = move_ports(&command.text, &self.published);
            let text = unmark_placeholders(&moved);
            parts.ask(MissingPlace::Measurement("run"), format!(
                "the guide runs `{}` on the host; here it runs in the server's container, whose image must have the program",
                shown.chars().take(80).collect::<String>()
            ));
            return parts.commands.push(script_command(&text));
        }
        parts.note(format!("`{shown}`: dropped; if it is typed in the container, write it as a step or a scenario's `run`"));
    }

    /// Adds a `docker cp`.
    pub(super) fn add_copy(parts: &mut RecipeParts<'_>, command: &GuideCommand, is_out: bool) {
        let shown = parts.shell.values.written(&command.text);
        if is_out {
            return parts.note(format!(
                "`{shown}`: dropped; `results: DIRECTORY` in the measurement copies the directory into the run"
            ));
        }
        parts.ask(MissingPlace::Container, format!(
            "mounts: `{shown}` copies it into the container; mount it, for example `- ./run.py:/run.py:ro`, and remove this line"
        ));
    }
}
