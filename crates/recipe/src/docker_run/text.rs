//! Writes the recipe's text.

use retrial_document::{Keys as _, Node, to_yaml};

use super::join::join_commands;
use super::measured::MeasuredFigures;
use super::parts::{
    DraftedCommand, MissingPart, MissingPlace, PLACEHOLDER_COMMAND, RecipeParts, SERVER_NAME,
    WrittenKeys,
};
use super::values::{GuideParam, Word};
use crate::Diagnostics;
use crate::model::Recipe;
use crate::writer::{self, list_node, map_node, plain_node, text_node};

/// The keys of a recipe that follow from a `docker run`, to be written together with others.
#[derive(Debug, Clone)]
pub struct DockerRunDraft {
    /// Differences from the command line, a line each.
    pub notes: Vec<String>,
    /// What the block does not say.
    pub incomplete: Vec<MissingPart>,
    /// The reference of the image, variables as params.
    pub image: String,
    /// The image as the recipe has it: its reference, or its build.
    pub image_node: Node,
    /// The GPUs that were requested, as the key `requires`.
    pub requires: Option<Node>,
    /// The keys params, container, secrets, setup and services, as far as the block has them.
    pub keys: Vec<(&'static str, Node)>,
    /// The keys of the measured command; none if the block has no command.
    pub measured: Option<Vec<(&'static str, Node)>>,
}

/// Returns the recipe's text, with the notes as comments.
pub(super) fn render_recipe(
    name: &str,
    draft: DockerRunDraft,
    measures: &MeasuredFigures,
) -> (String, Vec<String>) {
    let mut heading =
        vec!["From a vendor's `docker run`, by `retrial new NAME --from`.".to_owned()];
    if !draft.notes.is_empty() {
        heading.push("Differences from the command line:".to_owned());
        heading.extend(draft.notes.iter().map(|note| format!("  {note}")));
    }
    heading.push("Retrial adds its first process, /.retrial and PYTHONUNBUFFERED=1.".to_owned());
    let missing = missing_lines(name, &draft, measures);
    let keys = recipe_keys(name, draft, measures, &missing);
    let text = writer::render_recipe(&heading, keys.into_iter().collect());
    (text, missing)
}

/// Returns what remains to be written, with an example each.
fn missing_lines(name: &str, draft: &DockerRunDraft, figures: &MeasuredFigures) -> Vec<String> {
    let run = MissingPlace::Measurement("run");
    let of_block = draft.incomplete.iter();
    let mut missing: Vec<MissingPart> = of_block
        .filter(|missing| figures.command.is_none() || missing.place != run)
        .cloned()
        .collect();
    let mut ask = |place: MissingPlace, text: &str| {
        let text = text.to_owned();
        missing.push(MissingPart { place, text });
    };
    if figures.figures.is_empty() {
        ask(
            MissingPlace::Measurement("figures"),
            "the line of the output that has the figure, for example `speed: { pattern: 'speed: ${number}', unit: items/s }`; or `results`, the directory that LoadGen writes",
        );
    }
    if figures.expected.is_empty() && !figures.is_only_measured {
        ask(
            MissingPlace::Measurement("expect"),
            "what was published, for example `speed: { value: 42.0, kind: official, source: \"https://…\" }`; without it the run only measures: remove this line",
        );
        let text = format!(
            "the suite and the benchmark as they are published, for example `{{ suite: mlperf-inference, benchmark: {name} }}`, and `sources`"
        );
        ask(MissingPlace::Submission, &text);
    }
    missing.iter().map(ToString::to_string).collect()
}

fn recipe_keys(
    name: &str,
    draft: DockerRunDraft,
    figures: &MeasuredFigures,
    missing: &[String],
) -> WrittenKeys {
    let mut measured =
        draft.measured.unwrap_or_else(|| vec![("run", text_node(PLACEHOLDER_COMMAND))]);
    if let Some(command) = &figures.command {
        measured.retain(|(key, _)| *key != "run");
        measured.insert(0, ("run", text_node(command)));
    }
    measured.push(("figures", figures.figures_node()));
    measured.extend(figures.expect_node().map(|expect| ("expect", expect)));
    let case = map_node([("performance", map_node(measured))]);
    let mut keys = vec![
        ("title", text_node(name)),
        ("submission", figures.submission_node(name)),
        ("image", draft.image_node),
        ("scenarios", map_node([("my-case", case)])),
    ];
    if !missing.is_empty() {
        let lines = missing.iter().map(text_node).collect();
        keys.push(("incomplete", list_node(lines)));
    }
    keys.extend(draft.requires.map(|node| ("requires", node)));
    keys.extend(draft.keys);
    keys
}

impl DockerRunDraft {
    /// Returns the keys for a recipe whose requirements come from elsewhere: without the param that only they use.
    pub fn keys_without_requirements(&self) -> Vec<(&'static str, Node)> {
        let gpus = self.requires.as_ref().and_then(|requires| requires.get("gpus"));
        let count = gpus.and_then(|gpus| gpus.get("count")?.text());
        let keys = self.keys.iter().map(|(key, node)| {
            let is_count = |name: &str| count == Some(&*format!("${{{{ params.{name} }}}}"));
            let kept =
                node.entries().iter().filter(|entry| *key != "params" || !is_count(&entry.key));
            let entries = kept.map(|entry| (entry.key.clone(), entry.value.clone()));
            let node = if node.entries().is_empty() { node.clone() } else { map_node(entries) };
            (*key, node)
        });
        keys.filter(|(_, node)| !node.entries().is_empty() || !node.items().is_empty()).collect()
    }
}

/// Returns the keys of a recipe that follow from the block.
///
/// # Errors
/// The recipe would have text that only a shell can compute.
pub(super) fn build_draft(mut parts: RecipeParts<'_>) -> Result<DockerRunDraft, Diagnostics> {
    let image_node = parts.build.take().unwrap_or_else(|| text_node(&parts.image));
    let token = parts.passes_token;
    let measured_from = if parts.services.is_empty() {
        // `cat results.json` shows what the command before it has measured.
        let mut commands = parts.commands.iter();
        let last = commands.rposition(|command| !command.only_shows());
        last.unwrap_or(parts.commands.len().saturating_sub(1))
    } else {
        parts.commands_before_server
    };
    let behind = parts.commands.split_off(measured_from);
    let measured = join_commands(&mut parts, behind);
    let mut measured = measured.map(|command| command_keys(&command, token));
    let mut keys = container_keys(&parts);
    if !parts.services.is_empty() {
        let drafted = std::mem::take(&mut parts.services).into_iter();
        let written = (1..).zip(drafted).map(|(number, mut service)| {
            let run = service.keys.iter_mut().find(|(key, _)| *key == "run");
            if token && let Some((_, run)) = run {
                *run = text_node(with_token(run.text().unwrap_or_default()));
            }
            (service_name(number), map_node(service.keys))
        });
        let services: Vec<(String, Node)> = written.collect();
        let names = services.iter().map(|(name, _)| text_node(name)).collect();
        keys.push(("services", map_node(services)));
        let client = measured.get_or_insert_with(|| vec![("run", text_node(PLACEHOLDER_COMMAND))]);
        client.push(("needs", list_node(names)));
    }
    // What is written decides which params are declared.
    let others = parts.requires.iter().cloned().map(|node| ("requires", node));
    let others = others.chain([("image", image_node.clone())]);
    let all = keys.iter().cloned().chain(others).collect();
    let commands = map_node(measured.iter().flatten().cloned());
    let text = writer::render_keys(&all) + &to_yaml(&commands, Recipe::OBJECT);
    let word = Word::new(&*text, &parts.place);
    let values = &mut parts.shell.values;
    if values.take("the recipe", &word, &mut parts.shell.problems).is_none() {
        return Err(parts.shell.problems);
    }
    let here = values.literal(super::values::WORKING_DIRECTORY);
    let params: Vec<_> = values.params_of(&text).map(|param| param_entry(param, &here)).collect();
    if !params.is_empty() {
        keys.push(("params", map_node(params)));
    }
    Ok(DockerRunDraft {
        keys,
        measured,
        image_node,
        requires: parts.requires,
        image: parts.image,
        notes: parts.shell.notes,
        incomplete: parts.incomplete,
    })
}

fn service_name(number: usize) -> String {
    match number {
        1 => SERVER_NAME.to_owned(),
        further => format!("{SERVER_NAME}-{further}"),
    }
}

/// Returns the keys container, secrets and setup, as far as there are any.
fn container_keys(parts: &RecipeParts<'_>) -> WrittenKeys {
    let mut keys = WrittenKeys::new();
    let is_set = |(_, node): &&(&'static str, Node)| {
        !node.entries().is_empty() || node.text().is_some() || !node.items().is_empty()
    };
    let container: Vec<_> = parts.container.values().filter(is_set).cloned().collect();
    if !container.is_empty() {
        keys.push(("container", map_node(container)));
    }
    if parts.passes_token {
        keys.push(("secrets", list_node(vec![text_node("HF_TOKEN")])));
    }
    if !parts.commands.is_empty() {
        let steps = (1..).zip(&parts.commands).map(|(number, command)| {
            let keys = command_keys(command, parts.passes_token);
            (format!("step-{number}"), map_node(keys))
        });
        keys.push(("setup", map_node(steps)));
    }
    keys
}

/// Returns a param; a directory next to the recipe is written as one.
fn param_entry<'a>(param: &'a GuideParam, here: &str) -> (&'a str, Node) {
    let is_path = |path: &String| path.starts_with('/') || path.starts_with("./");
    let kind = match param.kind {
        "path" if !param.default.as_ref().is_none_or(is_path) => "string",
        kind => kind,
    };
    let default = param.default.as_ref().map(|default| match default.strip_prefix(here) {
        Some(rest) if kind == "path" && rest.starts_with('/') => format!(".{rest}"),
        _ => default.clone(),
    });
    let stated = param.placeholder.as_ref().map_or(String::new(), |text| format!(": {text}"));
    let help = format!("{} of the command line{stated}.", param.written);
    let default_node = |default: String| match kind {
        "int" => plain_node(default),
        _ => text_node(default),
    };
    let default = default.map(|default| ("default", default_node(default)));
    let keys = [("type", text_node(kind))].into_iter().chain(default);
    (&param.name, map_node(keys.chain([("help", text_node(help))])))
}

/// Returns the keys of a command. A step that names a secret gets it.
fn command_keys(command: &DraftedCommand, token: bool) -> WrittenKeys {
    let text = command.text();
    let run = if token { with_token(&text) } else { text };
    let keys = command.keys.iter().cloned();
    [("run", text_node(run))].into_iter().chain(keys).collect()
}

fn with_token(run: &str) -> String {
    // A script of several lines is no single command.
    let separator = if run.contains('\n') { "\n" } else { " " };
    let export = if run.contains('\n') { "export " } else { "" };
    format!("{export}HF_TOKEN=\"$HF_TOKEN\"{separator}{run}")
}
