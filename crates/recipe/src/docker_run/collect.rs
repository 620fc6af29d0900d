//! Makes the parts of a recipe of a block: that it has one container, and everything that is wrong with it.

use super::commands::{CommandKind, GuideCommand};
use super::foreign::describe_block;
use super::parts::RecipeParts;
use super::shell::Shell;
use super::translate::Translator;
use crate::{Diagnostics, Span};

/// Makes the parts of a recipe of what a shell found in a block.
pub(super) fn collect_parts<'a>(
    mut shell: Shell<'a>,
    text: &str,
    place: &Span,
) -> Result<RecipeParts<'a>, Diagnostics> {
    let commands = std::mem::take(&mut shell.commands);
    let is_run = |command: &&GuideCommand| matches!(command.kind, CommandKind::Run(_));
    let count = commands.iter().filter(is_run).count();
    let is_refused = commands.iter().any(|command| matches!(command.kind, CommandKind::Refused));
    if count == 0 && !is_refused && !shell.problems.has_errors() {
        let what = describe_block(text).map_or(String::new(), |what| format!(": this is {what}"));
        let help =
            "give the `docker run` line as the guide prints it, in single quotes, or a file of it";
        shell.problems.error("guide", format!("no `docker run` commands in it{what}"), place, help);
    }
    let mut parts = RecipeParts::new(shell, place.clone());
    let mut translator = Translator::new(&commands);
    for command in &commands {
        translator.add(&mut parts, command);
    }
    translator.finish(&mut parts);
    if parts.shell.problems.has_errors() {
        return Err(parts.shell.problems);
    }
    Ok(parts)
}
