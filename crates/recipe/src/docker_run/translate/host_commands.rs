//! Commands of the host: the client of a server, copies into and out of a container, and commands that are only noted.

use super::Translator;
use super::steps::{MANAGED_REASON, manages_server, script_command};
use crate::docker_run::commands::GuideCommand;
use crate::docker_run::container::translate_flags;
use crate::docker_run::line::ContainerLine;
use crate::docker_run::parts::{MissingPlace, RecipeParts, has_parent};
use crate::docker_run::secret::mask_secrets;
use crate::docker_run::servers::{is_client, move_ports};
use crate::docker_run::values::Word;

impl Translator {
    pub(super) fn add_other(&mut self, parts: &mut RecipeParts<'_>, command: &GuideCommand) {
        let shown = command.shown(&parts.shell.values);
        if self.runs > 1 && shown.starts_with("docker network") {
            return parts.note(format!(
                "`{shown}`: dropped, a service shares the network of the recipe's container"
            ));
        }
        let first = shown.split_whitespace().next().unwrap_or_default();
        let only_shows = matches!(first, "echo" | "printf") && command.output.is_none();
        if only_shows || first == "mkdir" && self.line.is_none() {
            return parts.note(format!("`{shown}`: dropped, it is run on the host"));
        }
        if self.line.is_none() {
            return parts.note(format!("`{shown}`: run it on the host before, as the guide does"));
        }
        if !parts.services.is_empty() && manages_server(&shown) {
            return parts.note(format!("`{shown}`: {MANAGED_REASON}"));
        }
        if !parts.services.is_empty()
            && is_client(&shown, &self.published)
            && !command.text.contains("${{")
        {
            let moved = move_ports(&mask_secrets(&command.text), &self.published);
            let named = parts.shell.name_placeholders(&moved);
            let word = Word::new(named, &command.span);
            let Some(text) = parts.take("the command", &word) else {
                return;
            };
            parts.ask(MissingPlace::Measurement("run"), format!(
                "the guide runs `{}` on the host; here it runs in the server's container, whose image must have the program",
                shown.chars().take(80).collect::<String>()
            ));
            return parts.commands.push(script_command(&text));
        }
        parts.note(format!("`{shown}`: dropped; if it is typed in the container, write it as a step or a scenario's `run`"));
    }

    /// Adds a `docker cp`: a file next to the recipe is one of its files.
    pub(super) fn add_copy(
        parts: &mut RecipeParts<'_>,
        command: &GuideCommand,
        source: &Word,
        target: &Word,
    ) {
        let shown = command.shown(&parts.shell.values);
        if split_container_path(&source.text).is_some() {
            return parts.note(format!(
                "`{shown}`: dropped; `results: DIRECTORY` in the measurement copies the directory into the run"
            ));
        }
        let target = parts.literal(target);
        let of_container = split_container_path(&target).map_or("", |(_, path)| path);
        let source = parts.literal(source);
        let Some(mount) = mount_of_copy(&source, of_container) else {
            return parts.ask(MissingPlace::Container, format!(
                "mounts: `{shown}` copies it into the container; mount it, for example `- ./run.py:/run.py:ro`, and remove this line"
            ));
        };
        parts.note(format!("`{shown}`: the file is next to the recipe, and is mounted"));
        let key = parts.set_flag("volume", &mount);
        debug_assert!(key.is_ok(), "the container has the key");
    }

    /// Adds a `docker commit`: a later line that starts its image has the same container.
    pub(super) fn add_commit(
        &mut self,
        parts: &mut RecipeParts<'_>,
        command: &GuideCommand,
        image: &Word,
    ) {
        let shown = command.shown(&parts.shell.values);
        parts.note(format!(
            "`{shown}`: dropped, since each run repeats the steps before it; to execute them only once, put them into an image (`docker build`)"
        ));
        self.commits.push(parts.literal(image));
    }

    /// Adds a line that starts an image of the recipe's container.
    pub(super) fn add_committed_run(
        &mut self,
        parts: &mut RecipeParts<'_>,
        earlier: &ContainerLine,
        line: &ContainerLine,
        command: &GuideCommand,
    ) {
        let image = parts.written(&line.image);
        parts.note(format!(
            "{image}: the container after the previous steps, with the flags of both lines"
        ));
        translate_flags(parts, line, &command.directory);
        let flags = earlier.flags.iter().chain(&line.flags).cloned().collect();
        let own = ContainerLine { image: earlier.image.clone(), flags, ..line.clone() };
        self.add_run_command(parts, &own, command);
        self.line = Some(own);
    }
}

/// Splits a path of `docker cp` in a container: `name:/path`.
fn split_container_path(path: &str) -> Option<(&str, &str)> {
    let (container, path) = path.split_once(':')?;
    (!container.is_empty() && !container.contains('/')).then_some((container, path))
}

/// Returns the mount that replaces a copy of a file next to the recipe. A name without an extension may be a directory.
fn mount_of_copy(source: &str, target: &str) -> Option<String> {
    let file = source.trim_start_matches("./");
    let name = file.rsplit('/').next().filter(|name| name.contains('.'))?;
    let is_below = !file.starts_with(['/', '~', '.']) && !has_parent(file);
    if !is_below
        || !target.starts_with('/')
        || [file, target].iter().any(|path| path.contains("${{"))
    {
        return None;
    }
    let directory = target.trim_end_matches('/');
    let names_file = directory.rsplit('/').next().is_some_and(|last| last.contains('.'));
    let path = if names_file && !target.ends_with('/') {
        target.to_owned()
    } else {
        format!("{directory}/{name}")
    };
    Some(format!("./{file}:{path}:ro"))
}
