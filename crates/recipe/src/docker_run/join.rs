//! Joins the commands of a measurement, which has one: those behind a server, whose service runs for a measurement only, and
//! those that show the figures of the command before them.

use retrial_document::{Keys as _, to_yaml};

use super::parts::{DraftedCommand, MissingPlace, RecipeParts, WrittenKeys};
use crate::model::Recipe;
use crate::quote::shell_quote;
use crate::writer::map_node;

pub(super) fn join_commands(
    parts: &mut RecipeParts<'_>,
    mut commands: Vec<DraftedCommand>,
) -> Option<DraftedCommand> {
    if commands.len() < 2 {
        return commands.pop();
    }
    parts.note(if parts.services.is_empty() {
        "the last commands are one measurement: they show what the first of them has measured"
    } else {
        "the commands behind the server are one measurement: its service runs for a measurement only"
    });
    let literals = commands.iter().flat_map(|command| command.literals.clone());
    let literals = literals.collect();
    let keys = commands[0].keys.clone();
    let before = commands[0].before.clone();
    let has_these = |command: &DraftedCommand| {
        render(&command.keys) == render(&keys) && command.before == before
    };
    if !commands.iter().all(has_these) {
        let subshells = commands.iter().map(|command| subshell(parts, command));
        let subshells: Vec<String> = subshells.collect();
        return Some(DraftedCommand {
            run: format!("set -e\n{}", subshells.concat()),
            literals,
            ..DraftedCommand::default()
        });
    }
    let runs: Vec<&str> = commands.iter().map(|command| command.run.trim_end()).collect();
    let run = if runs.iter().any(|run| run.contains('\n')) {
        format!("set -e\n{}\n", runs.join("\n"))
    } else {
        runs.join(" &&\n") + "\n"
    };
    Some(DraftedCommand { before, run, literals, keys })
}

fn render(keys: &WrittenKeys) -> String {
    to_yaml(&map_node(keys.iter().cloned()), Recipe::OBJECT)
}

/// Returns a command with its own directory and variables.
fn subshell(parts: &mut RecipeParts<'_>, command: &DraftedCommand) -> String {
    let mut lines = Vec::new();
    for (key, node) in &command.keys {
        match *key {
            "workdir" => lines.push(format!("cd {}", shell_quote(node.text().unwrap_or_default()))),
            "env" => lines.extend(node.entries().iter().map(|entry| {
                let value = shell_quote(entry.value.text().unwrap_or_default());
                format!("export {}={value}", entry.key)
            })),
            other => parts.ask(
                MissingPlace::Measurement("run"),
                format!("the guide's commands differ in `{other}`; here they are one command"),
            ),
        }
    }
    lines.push(command.text().trim_end().to_owned());
    format!("(\n{}\n)\n", lines.join("\n"))
}
