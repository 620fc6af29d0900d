//! Writes the recipe's text.

use std::fmt::Write as _;

use itertools::Itertools as _;
use retrial_document::{Keys as _, Node, to_yaml};

use super::nodes::{list_node, map_node, plain_node, text_node};
use super::parts::{DraftedParam, DraftedStep, RecipeParts};
use crate::model::Recipe;

/// The keys of a recipe that follow from a `docker run`, to be written together with others.
#[derive(Debug, Clone)]
pub struct DockerRunDraft {
    /// Differences from the command line, a line each.
    pub notes: Vec<String>,
    /// The reference of the image, variables as params.
    pub image: String,
    /// The number of NVIDIA GPUs that were requested; none without `--gpus`.
    pub gpus: Option<u32>,
    /// The keys params, container, secrets and setup, as far as the block has them.
    pub keys: Vec<(&'static str, Node)>,
    /// The keys of the measured command; none if the block has no command.
    pub measured: Option<Vec<(&'static str, Node)>>,
}

/// The command of a block that has no measured command.
const PLACEHOLDER_COMMAND: &str =
    "echo 'write the command that the guide runs in the container' >&2\nexit 1\n";

/// Returns the recipe's text, with the notes as comments.
pub(super) fn render_recipe(name: &str, draft: &DockerRunDraft) -> String {
    let mut out = String::from("# From a vendor's `docker run`, by `retrial new NAME --from`.\n");
    if !draft.notes.is_empty() {
        out.push_str("# Differences from the command line:\n");
        for note in &draft.notes {
            let note_line: String = note.replace(char::is_control, " ");
            let _ = writeln!(out, "#   {note_line}");
        }
    }
    out.push_str("# Retrial adds its first process, /.retrial and PYTHONUNBUFFERED=1.\n");
    out.push_str("# Still to write: what was published (submission, expect), and how the figure is read (figures, or results).\n");
    let section_keys = recipe_sections(name, draft).into_iter();
    let mut sections = section_keys.map(|section| to_yaml(&map_node(section), Recipe::OBJECT));
    out + &sections.join("\n")
}

/// Returns the keys of each section; a blank line separates sections.
fn recipe_sections(name: &str, draft: &DockerRunDraft) -> Vec<Vec<(&'static str, Node)>> {
    let submission = [
        ("suite", text_node("my-suite")),
        ("benchmark", text_node(name)),
    ];
    let mut sections = vec![
        vec![("schema", plain_node("1")), ("title", text_node(name))],
        vec![("submission", map_node(submission))],
    ];
    let image = ("image", text_node(&draft.image));
    let gpus = draft.gpus.map(|count| {
        let count = plain_node(count.to_string());
        let gpus = map_node([("vendor", text_node("nvidia")), ("count", count)]);
        ("requires", map_node([("gpus", gpus)]))
    });
    let keys = draft.keys.iter().cloned();
    let (params, rest): (Vec<_>, Vec<_>) = keys.partition(|(key, _)| *key == "params");
    let ordered = params.into_iter().chain([image]).chain(gpus).chain(rest);
    sections.extend(ordered.map(|key| vec![key]));
    let draft_command = draft.measured.clone();
    let measured = draft_command.unwrap_or_else(|| vec![("run", text_node(PLACEHOLDER_COMMAND))]);
    let speed = [
        ("pattern", text_node("speed: ${number}")),
        ("unit", text_node("items/s")),
        ("better", text_node("higher")),
    ];
    let figures = [("figures", map_node([("speed", map_node(speed))]))];
    let performance = map_node(measured.into_iter().chain(figures));
    let case = map_node([("performance", performance)]);
    sections.push(vec![("scenarios", map_node([("my-case", case)]))]);
    sections
}

/// Returns the keys params, container, secrets and setup, as far as there are any.
fn draft_keys(parts: &RecipeParts<'_>) -> Vec<(&'static str, Node)> {
    let mut keys = Vec::new();
    if !parts.params.is_empty() {
        keys.push(("params", map_node(parts.params.iter().map(param_entry))));
    }
    if !parts.container.is_empty() {
        keys.push(("container", map_node(parts.container.values().cloned())));
    }
    if parts.passes_token {
        keys.push(("secrets", list_node(vec![text_node("HF_TOKEN")])));
    }
    let setup = parts.steps.split_last().map_or(&[][..], |(_, setup)| setup);
    if !setup.is_empty() {
        let steps = (1..).zip(setup).map(|(number, written)| {
            let keys = step_keys(written, parts.passes_token);
            (format!("step-{number}"), map_node(keys))
        });
        keys.push(("setup", map_node(steps)));
    }
    keys
}

/// Returns the keys of a recipe that follow from the block.
pub(super) fn build_draft(parts: RecipeParts<'_>) -> DockerRunDraft {
    DockerRunDraft {
        keys: draft_keys(&parts),
        // The block's last command is the one that is measured.
        measured: parts
            .steps
            .last()
            .map(|last| step_keys(last, parts.passes_token)),
        gpus: parts.gpus,
        image: parts.image,
        notes: parts.notes,
    }
}

fn param_entry(param: &DraftedParam) -> (&str, Node) {
    let kind = if param.is_path { "path" } else { "string" };
    let placeholders = param.placeholder.iter().map(|text| format!(": {text}"));
    let stated: String = placeholders.collect();
    let help = format!("${} of the command line{stated}.", param.variable);
    let default = param
        .default
        .iter()
        .map(|default| ("default", text_node(default)));
    let keys = [("type", text_node(kind))].into_iter().chain(default);
    (
        &param.name,
        map_node(keys.chain([("help", text_node(help))])),
    )
}

/// Returns the keys of a command. A step that names a secret gets it.
fn step_keys(step: &DraftedStep, token: bool) -> Vec<(&'static str, Node)> {
    let run = if token {
        format!("HF_TOKEN=\"$HF_TOKEN\" {}", step.run)
    } else {
        step.run.clone()
    };
    let keys = step.keys.iter().cloned();
    [("run", text_node(run))].into_iter().chain(keys).collect()
}
