//! The keys of a recipe, and the questions that a guide leaves, from its commands. Reads no machine, and prints nothing.

mod answer;
mod assemble;
mod builder;
mod entries;
mod figures;
mod flags;
mod gpu_options;
mod gpus;
mod images;
mod keys;
mod missing;
mod mounts;
mod printed;
mod scripts;
mod services;
mod session;
mod sessions;
mod text;
mod value_error;

pub use answer::AnswerError;
pub use figures::{FigureFinder, InvalidFinder, MeasuredFigures};
pub use missing::{Missing, MissingPlace};
pub use text::WrittenRecipe;

use retrial_document::{Diagnostics, Node};
use retrial_recipe::writer::{list_node, map_node, plain_node, text_node};
use retrial_serving::Client;

use assemble::{Assembled, assemble};
use builder::Builder;
use images::add_build;
use keys::WrittenKeys;
use session::Session;
use sessions::collect_sessions;
use text::CLIENT_RESULTS;

use crate::page::Page;
use crate::programs::{
    Action, ClientCommand, Command, Companions, Reading, Role, save_figures_of_client,
};
use crate::shell::{Param, ParamKind, Word};

/// The keys of a recipe that follow from a guide, to be written together with others.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Differences from the guide, a line each.
    pub notes: Vec<String>,
    /// What the guide does not say.
    pub incomplete: Vec<Missing>,
    /// The reference of the image, or the expression of a parameter.
    pub image: String,
    /// The image as the recipe has it: its reference, or its build.
    pub image_node: Node,
    /// The GPUs that were requested, as the key `requires`.
    pub requires: Option<Node>,
    /// The keys params, container, secrets, setup and services, as far as the guide has them.
    pub keys: WrittenKeys,
    /// The keys of the measured command; none if the guide has no command.
    pub measured: Option<WrittenKeys>,
}

impl Draft {
    /// Returns the client that the measured command is, whose figures a recipe has by name; `command` replaces the
    /// guide's.
    pub fn client(&self, command: Option<&str>) -> Option<Client> {
        Some(self.client_command(command)?.client)
    }

    fn client_command(&self, command: Option<&str>) -> Option<ClientCommand> {
        let mut keys = self.measured.iter().flatten();
        let of_guide = || keys.find(|(key, _)| *key == "run")?.1.text();
        save_figures_of_client(command.or_else(of_guide)?, CLIENT_RESULTS)
    }
}

/// Makes the draft of commands.
///
/// # Errors
/// Returns everything that a recipe cannot express, each with its place.
pub fn make_draft(
    page: &Page,
    mut reading: Reading,
    companions: &dyn Companions,
) -> Result<Draft, Diagnostics> {
    let commands = std::mem::take(&mut reading.commands);
    let output = printed::collect_output(page, &reading.output);
    let mut builder = Builder::new(reading, companions);
    let sessions = collect_sessions(&mut builder, page, &commands);
    if sessions.is_empty() && !builder.problems.has_errors() {
        refuse_block(&mut builder, page);
    }
    let assembled = assemble(&mut builder, page, &sessions);
    add_other_commands(&mut builder, &commands, &sessions, assembled.as_ref());
    printed::offer_figures(&mut builder, &output);
    let mut problems = std::mem::take(&mut builder.problems);
    if problems.has_errors() || assembled.is_none() {
        problems.sort_by_place(&page.source.path);
        return Err(problems);
    }
    let draft = assembled.map(|assembled| finish(builder, assembled)).ok_or(problems)?;
    Ok(draft)
}

/// Says what a text without a container's command is.
fn refuse_block(builder: &mut Builder<'_>, page: &Page) {
    const KINDS: [(&str, &str); 9] = [
        ("services:", "a compose file"),
        ("apiVersion:", "a Kubernetes manifest"),
        ("kind:", "a Kubernetes manifest"),
        ("Bootstrap:", "a definition of Apptainer (Singularity)"),
        ("%post", "a definition of Apptainer (Singularity)"),
        ("FROM ", "a Dockerfile"),
        ("make ", "calls of make"),
        ("madengine ", "calls of madengine, which starts the containers itself"),
        ("mlcr ", "calls of MLCommons' automation, which starts the containers itself"),
    ];
    let text = &page.source.text;
    let begins = |start: &str| text.lines().any(|line| line.starts_with(start));
    let kind = KINDS.iter().find(|(start, _)| begins(start)).map(|(_, what)| *what);
    let what = kind.map_or(String::new(), |kind| format!("; it looks like {kind}"));
    let message = format!("no command that starts a container{what}");
    let help = "give the guide's `docker run …` (podman, srun with Pyxis, apptainer and enroot are read, too), up to the image and its command";
    let span = page.source.span(0..text.len().min(1));
    builder.refuse(message, &span, help);
}

/// Adds what commands mean that run in no container.
fn add_other_commands(
    builder: &mut Builder<'_>,
    commands: &[Command],
    sessions: &[Session],
    assembled: Option<&Assembled>,
) {
    let Some(session) = sessions.first() else { return };
    let is_served = assembled.is_some_and(|assembled| assembled.service.is_some());
    let image = session.line.image.known(&builder.values).unwrap_or_default();
    let mut is_started = false;
    for command in commands {
        let shown = &command.shown;
        match &command.action {
            Action::Start(_) => is_started = true,
            Action::Build(words) => add_build(builder, words, &image),
            Action::Pull(pulled) => note_pull(builder, pulled, sessions),
            Action::Manage(reason) => builder.note(format!("`{shown}`: dropped, {reason}")),
            Action::Copy(source, target) => add_copy(builder, shown, source, target),
            Action::Commit => {
                builder.note(format!("`{shown}`: dropped, each run repeats the steps before it"));
            }
            Action::Host(role) => note_host(builder, command, *role, is_started, is_served),
            _ => {}
        }
    }
}

fn note_host(
    builder: &mut Builder<'_>,
    command: &Command,
    role: Role,
    is_started: bool,
    is_served: bool,
) {
    let shown = &command.shown;
    if !is_started {
        if !matches!(role, Role::Print | Role::Show) {
            builder.note(format!("`{shown}`: run it on the host before, as the guide does"));
        }
    } else if matches!(role, Role::Wait | Role::Show) && is_served {
        builder.note(format!(
            "`{shown}`: dropped, a service is awaited by its `ready`, and is stopped by Retrial"
        ));
    } else {
        builder.note(format!(
            "`{shown}`: the guide runs it on the host behind the container; it is not in the recipe"
        ));
        if is_served && role == Role::Measure {
            services::ask_for_host_client(builder, shown);
        }
    }
}

fn note_pull(builder: &mut Builder<'_>, pulled: &Word, sessions: &[Session]) {
    let text = pulled.sketch(&builder.values);
    let bare = |text: &str| text.trim_start_matches("docker://").to_owned();
    let is_known = sessions
        .iter()
        .any(|session| bare(&session.line.image.sketch(&builder.values)) == bare(&text));
    if !is_known {
        builder.note(format!(
            "docker pull {text}: dropped, the container is created from a different image"
        ));
    }
}

/// A file that is copied into the container is asked for as a mount.
fn add_copy(builder: &mut Builder<'_>, shown: &str, source: &Word, target: &Word) {
    let is_container = |word: &Word| {
        let text = word.sketch(&builder.values);
        text.split_once(':').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
    };
    if is_container(source) {
        builder.note(format!(
            "`{shown}`: dropped; `results: DIRECTORY` copies a directory into the run"
        ));
    } else if is_container(target) {
        builder.ask(
            MissingPlace::Container,
            format!("mounts: `{}` copies it in", missing::shorten(shown, 60)),
        );
    }
}

fn finish(mut builder: Builder<'_>, assembled: Assembled) -> Draft {
    let (own, measured) = assembled.into_keys();
    let mut keys = WrittenKeys::new();
    let container = std::mem::take(&mut builder.container).into_keys();
    if !container.is_empty() {
        keys.push(("container", map_node(container)));
    }
    if builder.secrets.iter().any(|name| name == "HF_TOKEN") {
        keys.push(("secrets", list_node(vec![text_node("HF_TOKEN")])));
    }
    let others: Vec<String> =
        builder.secrets.iter().filter(|name| *name != "HF_TOKEN").cloned().collect();
    for name in others {
        builder.note(format!(
            "{name} is a secret: `retrial run --secret {name}` passes it to the steps that name it"
        ));
    }
    keys.extend(own);
    let blanks: Vec<(String, String)> = builder
        .values
        .used_params()
        .filter(|param| param.default.is_some() && param.question.is_some())
        .map(|param| (param.name.clone(), param.question.clone().unwrap_or_default()))
        .collect();
    for (name, question) in blanks {
        builder.ask(
            MissingPlace::Param(name),
            format!("is its default right? The guide says: {}", missing::shorten(&question, 50)),
        );
    }
    let params: Vec<(String, Node)> = builder.values.used_params().map(param_entry).collect();
    if !params.is_empty() {
        keys.push(("params", map_node(params)));
    }
    if !builder.dropped.is_empty() {
        let listed = builder.dropped.join(", ");
        builder.notes.insert(0, format!("Without effect in a recipe: {listed}."));
    }
    Draft {
        notes: builder.notes,
        incomplete: builder.missing,
        image_node: builder.build.unwrap_or_else(|| text_node(&builder.image)),
        image: builder.image,
        requires: builder.requires,
        keys,
        measured,
    }
}

fn param_entry(param: &Param) -> (String, Node) {
    let is_path = |path: &String| path.starts_with(['/', '~']) || path.starts_with("./");
    let kind = match param.kind {
        ParamKind::Path if param.default.as_ref().is_none_or(is_path) => "path",
        ParamKind::Int => "int",
        ParamKind::Path | ParamKind::String => "string",
    };
    let question =
        param.question.as_deref().map_or(String::new(), |question| format!(": {question}"));
    let written = if param.question.as_deref() == Some(&param.written) {
        "the guide's blank"
    } else {
        &*param.written
    };
    let help = missing::shorten(&format!("{written}{question}"), 90);
    let default = param.default.as_ref().map(|default| match kind {
        "int" => plain_node(default.clone()),
        _ => text_node(default.clone()),
    });
    let default = default.map(|default| ("default", default));
    let keys = [("type", text_node(kind))].into_iter().chain(default);
    (param.name.clone(), map_node(keys.chain([("help", text_node(help))])))
}

impl Draft {
    /// Returns the keys for a recipe whose requirements come from elsewhere: without the param that only they use.
    pub fn keys_without_requirements(&self) -> WrittenKeys {
        let gpus = self.requires.as_ref().and_then(|requires| requires.get("gpus"));
        let count = gpus.and_then(|gpus| gpus.get("count")?.text());
        let keys = self.keys.iter().map(|(key, node)| {
            let is_count = |name: &str| name == "gpus" && count == Some("${{ params.gpus }}");
            let kept =
                node.entries().iter().filter(|entry| *key != "params" || !is_count(&entry.key));
            let entries = kept.map(|entry| (entry.key.clone(), entry.value.clone()));
            let node = if node.entries().is_empty() { node.clone() } else { map_node(entries) };
            (*key, node)
        });
        keys.filter(|(_, node)| !node.entries().is_empty() || !node.items().is_empty()).collect()
    }
}
