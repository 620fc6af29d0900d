//! Groups the commands of a guide by the containers in which they run.

use super::builder::Builder;
use super::entries::{add_exec, add_own_command, typed_entry};
use super::session::Session;
use crate::page::Page;
use crate::programs::{Action, Command, ContainerLine, FlagTreatment, FlagValue};
use crate::shell::Word;

/// Returns the containers of a guide, in the order in which they are started.
pub fn collect_sessions(
    builder: &mut Builder<'_>,
    page: &Page,
    commands: &[Command],
) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut current = 0;
    for command in commands {
        match &command.action {
            Action::Start(line) => {
                let same =
                    sessions.iter().position(|session| is_same_container(&session.line, line));
                current = same.unwrap_or(sessions.len());
                if same.is_none() {
                    sessions.push(Session::new(line, command));
                } else {
                    builder.note("each `docker run` of the guide has a container of its own; here their commands run in one, one after another");
                }
                sessions[current].starts += 1;
                add_own_command(builder, &mut sessions[current], line, command);
            }
            Action::Exec(line) => {
                let name = line.image.sketch(&builder.values);
                let named = sessions.iter().position(|session| session.is_named(&name, builder));
                current = named.unwrap_or(sessions.len().saturating_sub(1));
                match sessions.get_mut(current) {
                    Some(session) => add_exec(builder, session, line, command),
                    None => builder.refuse(
                        "`docker exec` in a container that no line starts",
                        &command.span,
                        "give the `docker run` that starts it, too",
                    ),
                }
            }
            Action::Attach => {
                if let Some(session) = sessions.get_mut(current) {
                    session.is_typed = true;
                }
            }
            Action::Typed(role) => {
                if let Some(session) = sessions.get_mut(current) {
                    session.is_typed = true;
                    let entry = typed_entry(builder, page, command, *role);
                    session.entries.extend(entry);
                }
            }
            _ => {}
        }
    }
    for session in &mut sessions {
        let is_published = session.line.flag("publish").is_some();
        session.serve_if_detached(is_published);
    }
    sessions
}

/// Whether two lines start containers with the same image and flags.
fn is_same_container(one: &ContainerLine, other: &ContainerLine) -> bool {
    let keys = |line: &ContainerLine| -> Vec<(&'static str, Word)> {
        let is_key = |option: &&FlagValue| !matches!(option.flag.treatment, FlagTreatment::Dropped);
        let options = line.flags.iter().filter(is_key);
        let mut keys: Vec<_> = options
            .map(|option| {
                let bare = Word {
                    written: String::new(),
                    span: line.image.span.clone(),
                    ..option.value.clone()
                };
                (option.flag.name, bare)
            })
            .collect();
        keys.sort_by_key(|(name, word)| (*name, format!("{:?}", word.parts)));
        keys
    };
    let ports = |line: &ContainerLine| {
        line.all_values("publish").map(|word| word.parts.clone()).collect::<Vec<_>>()
    };
    let key_parts =
        |line| keys(line).into_iter().map(|(name, word)| (name, word.parts)).collect::<Vec<_>>();
    one.image.parts == other.image.parts
        && key_parts(one) == key_parts(other)
        && ports(one) == ports(other)
        && one.flag("detach").is_none()
}
