//! Makes the keys of a recipe of containers and their commands: which is measured, which prepares, which serves.

use retrial_document::Node;
use retrial_recipe::writer::{list_node, map_node, text_node};

use super::builder::Builder;
use super::flags::translate_flags;
use super::gpu_options::find_machines;
use super::gpus::{add_gpus, gpu_tokens};
use super::images::image_text;
use super::keys::{ContainerKeys, WrittenKeys};
use super::missing::{
    MissingPlace, PLACEHOLDER_COMMAND, SERVER_NAME, describe_entrypoint, shorten,
};
use super::scripts::{Script, with_secrets};
use super::services::{Service, move_to_service, ready_of};
use super::session::{Entry, Origin, Session, ports_of};
use crate::page::Page;
use crate::programs::Role;

/// What follows from the containers of a guide.
#[derive(Debug, Default)]
pub struct Assembled {
    pub setup: Vec<WrittenKeys>,
    pub measured: Option<WrittenKeys>,
    pub service: Option<Service>,
}

/// Assembles the containers of a guide.
pub fn assemble(builder: &mut Builder<'_>, page: &Page, sessions: &[Session]) -> Option<Assembled> {
    let (main, server) = choose_containers(builder, sessions)?;
    let session = &sessions[main];
    builder.image = image_text(builder, &session.line.image);
    let mut keys = ContainerKeys::default();
    let mut service = None;
    if let Some(server) = server.map(|at| &sessions[at]) {
        service = Some(move_to_service(builder, server));
        let client = super::services::client_line(builder, &session.line, server);
        translate_flags(builder, &client, &mut keys);
        super::services::name_server(builder, server, session, &mut keys);
        if builder.requires.is_some() && session.line.flag("gpus").is_none() {
            // The GPUs are the server's.
            let key = keys.set("gpu-access", "as-written");
            debug_assert!(key.is_ok(), "the container has the key");
        }
    } else {
        translate_flags(builder, &session.line, &mut keys);
        let tokens = gpu_tokens(session, &keys);
        add_gpus(builder, &session.line, &mut keys, &tokens);
    }
    let assembled = assemble_session(builder, page, session, &mut keys, service);
    builder.container = keys;
    Some(assembled)
}

/// Returns the container of the recipe, and that of its server if it has one of its own.
fn choose_containers(
    builder: &mut Builder<'_>,
    sessions: &[Session],
) -> Option<(usize, Option<usize>)> {
    let serves = |session: &Session| {
        session.serves()
            || session.unknown_entrypoint.is_some() && session.is_detached
            || session.is_detached && session.measures() && sessions.len() > 1
    };
    match sessions {
        [] => None,
        [_] => Some((0, None)),
        [one, other] if serves(one) && !serves(other) => Some((1, Some(0))),
        _ => {
            let lines: Vec<String> = sessions
                .iter()
                .map(|session| {
                    let line = session.line.image.span.line_and_column().0;
                    line.to_string()
                })
                .collect();
            let message = format!(
                "{} `docker run` commands in it, on lines {}",
                sessions.len(),
                lines.join(", ")
            );
            let help = "a recipe has one container, and one for a server: give the lines of the server and of its client, or of what is measured; --from FILE:LINE chooses one";
            let span = sessions.last().map(|session| session.line.image.span.clone())?;
            builder.refuse(message, &span, help);
            None
        }
    }
}

fn assemble_session(
    builder: &mut Builder<'_>,
    page: &Page,
    session: &Session,
    keys: &mut ContainerKeys,
    service: Option<Service>,
) -> Assembled {
    let entries = &session.entries;
    let server =
        entries.iter().position(|entry| entry.role == Role::Server).filter(|_| service.is_none());
    refuse_second_server(builder, page, entries);
    ask_for_variables(builder, session, keys);
    let from = server.map_or(0, |at| at + 1);
    let last = |role| entries.iter().rposition(|entry| entry.role == role).filter(|at| *at >= from);
    // A typed text in a file is an input.
    let written = last(Role::Write).filter(|at| entries[*at].origin != Origin::Typed);
    let measured = last(Role::Measure).or_else(|| last(Role::Print)).or(written);
    let end = measured.unwrap_or(entries.len());
    let mut assembled = Assembled::default();
    let before: Vec<&Entry> = entries[..end]
        .iter()
        .filter(|entry| !matches!(entry.role, Role::Server | Role::Wait))
        .collect();
    for script in Script::group(page, &before) {
        assembled.setup.extend(script.into_step(builder));
    }
    if let Some(at) = measured {
        assembled.measured = Some(measured_keys(builder, entries, at));
        note_rest(builder, &entries[at + 1..]);
    }
    assembled.service =
        service.or_else(|| server.map(|at| own_service(builder, session, keys, at)));
    if let Some(arguments) = &session.unknown_entrypoint {
        ask_for_entrypoint(builder, session, arguments, &mut assembled);
    }
    if let Some(option) = entries.iter().find_map(|entry| find_machines(&entry.tokens)) {
        builder.ask(
            MissingPlace::Measurement("run"),
            format!("`{option}` is of several machines: write the options of one, or add `nodes`"),
        );
    }
    if let Some(processes) = &session.line.processes {
        let count = processes.sketch(&builder.values);
        builder.ask(
            MissingPlace::Measurement("run"),
            format!("srun starts {count} processes: start them by the image's launcher, `mpirun -np {count} …`"),
        );
    }
    if assembled.measured.is_none() {
        ask_for_measurement(builder, session, assembled.service.is_some());
    }
    assembled
}

fn refuse_second_server(builder: &mut Builder<'_>, page: &Page, entries: &[Entry]) {
    let servers: Vec<&Entry> = entries.iter().filter(|entry| entry.role == Role::Server).collect();
    if let [first, second, ..] = &servers[..] {
        let line = |entry: &Entry| page.line_of(entry.place.0, entry.place.1.start);
        let message = format!("two servers, on lines {} and {}", line(first), line(second));
        let help = "choose one: --from FILE:LINE; or write the second as a further service of the recipe, with a port of its own";
        builder.refuse(message, &second.span, help);
    }
}

/// Makes parameters of variables that typed lines use and nothing sets.
fn ask_for_variables(builder: &mut Builder<'_>, session: &Session, keys: &mut ContainerKeys) {
    let typed = session.entries.iter().filter(|entry| entry.origin == Origin::Typed);
    let text: Vec<&str> = typed.map(|entry| entry.run.as_str()).collect();
    for name in crate::shell::unset_variables(&text.join("\n")) {
        if keys.get("env").is_some_and(|env| env.get(&name).is_some()) {
            continue;
        }
        if crate::shell::is_secret(&name) {
            builder.pass_secret(&name, &name);
            continue;
        }
        // A guide may set it in the host's shell, which the container's does not see.
        let parts = builder.values.use_variable(&name);
        let word = session.line.image.with_parts(parts);
        if let Some(value) = builder.take("the command", &word) {
            keys.set_entry("env", &name, text_node(value));
        }
    }
}

/// Returns the keys of the measured command: with what changes its shell, and what shows its results.
fn measured_keys(builder: &mut Builder<'_>, entries: &[Entry], at: usize) -> WrittenKeys {
    let entry = &entries[at];
    let mut lines = states_before(entries, at);
    lines.push(entry.run.clone());
    let shows = entries[at + 1..].iter().take_while(|entry| entry.role == Role::Show);
    let shows = shows.filter(|shown| shown.origin == entry.origin || entry.origin == Origin::Exec);
    lines.extend(shows.map(|entry| entry.run.clone()));
    let run = with_secrets(builder, &join_lines(&lines));
    [("run", text_node(run))].into_iter().chain(entry.keys.iter().cloned()).collect()
}

/// Returns the typed lines before a command that change its shell.
fn states_before(entries: &[Entry], at: usize) -> Vec<String> {
    let is_typed = entries[at].origin == Origin::Typed;
    let before = entries[..at]
        .iter()
        .filter(|entry| is_typed && entry.origin == Origin::Typed && entry.role == Role::State);
    before.map(|entry| entry.run.clone()).collect()
}

fn join_lines(lines: &[String]) -> String {
    match lines {
        [one] => one.clone(),
        lines => {
            let texts: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
            texts.join("\n") + "\n"
        }
    }
}

fn note_rest(builder: &mut Builder<'_>, rest: &[Entry]) {
    let kept =
        rest.iter().filter(|entry| !matches!(entry.role, Role::Wait | Role::Show | Role::State));
    let shown: Vec<String> = kept.map(|entry| entry.shown.clone()).collect();
    for shown in shown {
        builder.note(format!("`{shown}`: dropped, it follows the measured command"));
    }
}

/// Returns the service of a server in the recipe's own container.
fn own_service(
    builder: &mut Builder<'_>,
    session: &Session,
    keys: &ContainerKeys,
    at: usize,
) -> Service {
    let entry = &session.entries[at];
    let mut lines = states_before(&session.entries, at);
    lines.push(entry.run.clone());
    let run = with_secrets(builder, &join_lines(&lines));
    let ready = ready_of(builder, session, entry, keys);
    let is_blocked = entry.origin == Origin::Typed
        && !entry.is_background
        && session.entries[at + 1..]
            .iter()
            .any(|later| later.origin == Origin::Typed && later.role != Role::Wait);
    if is_blocked {
        builder.ask(
            MissingPlace::Service("run"),
            format!(
                "is `{}` in this image? The guide types it before further lines",
                shorten(&entry.run, 40)
            ),
        );
    }
    Service { run, ready, keys: entry.keys.clone(), container: None }
}

/// Asks for the entrypoint of an image, whose arguments are known.
fn ask_for_entrypoint(
    builder: &mut Builder<'_>,
    session: &Session,
    arguments: &str,
    assembled: &mut Assembled,
) {
    let what = describe_entrypoint(arguments);
    builder.note(format!("`docker inspect --format '{{{{json .Config.Entrypoint}}}} {{{{json .Config.Cmd}}}}' IMAGE` prints the entrypoint and the command of an image; {what} is what the guide runs"));
    let ports = ports_of(builder, session);
    let text = format!("{} (docker inspect prints it)", shorten(&what, 80));
    if let Some((_, port)) =
        ports.first().filter(|_| assembled.measured.is_none() && assembled.service.is_none())
    {
        let ready = map_node([
            ("port", retrial_recipe::writer::plain_node(port.to_string())),
            ("timeout", text_node("1h")),
        ]);
        assembled.service = Some(Service {
            run: PLACEHOLDER_COMMAND.to_owned(),
            ready,
            keys: Vec::new(),
            container: None,
        });
        builder.ask(MissingPlace::Service("run"), text);
    } else {
        builder.ask(MissingPlace::Measurement("run"), text);
    }
}

fn ask_for_measurement(builder: &mut Builder<'_>, session: &Session, serves: bool) {
    let asked =
        builder.missing.iter().any(|missing| missing.place == MissingPlace::Measurement("run"));
    if asked {
        return;
    }
    let text = if serves {
        "the client that measures the server, for example `vllm bench serve …`".to_owned()
    } else if session.entries.is_empty() {
        "the command that is measured, for example `python3 bench.py`".to_owned()
    } else {
        "the command that is measured: the guide's lines only prepare".to_owned()
    };
    builder.ask(MissingPlace::Measurement("run"), text);
}

impl Assembled {
    /// Returns the keys of setup, services and the measurement.
    pub fn into_keys(self) -> (WrittenKeys, Option<WrittenKeys>) {
        let mut keys = WrittenKeys::new();
        if !self.setup.is_empty() {
            let steps = (1..)
                .zip(self.setup)
                .map(|(number, step)| (format!("step-{number}"), map_node(step)));
            keys.push(("setup", map_node(steps)));
        }
        let mut measured = self.measured;
        if let Some(service) = self.service {
            keys.push(("services", map_node([(SERVER_NAME, service.into_node())])));
            let client =
                measured.get_or_insert_with(|| vec![("run", text_node(PLACEHOLDER_COMMAND))]);
            let needs: Node = list_node(vec![text_node(SERVER_NAME)]);
            client.push(("needs", needs));
        }
        (keys, measured)
    }
}
