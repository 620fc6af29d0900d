//! Writes the recipe's text.

use std::fmt::Write as _;

use itertools::Itertools as _;
use retrial_document::{Keys as _, Node, to_yaml};

use super::nodes::{list, map, plain, text};
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
const NOTHING: &str = "echo 'write the command that the guide runs in the container' >&2\nexit 1\n";

/// Returns the recipe's text, with the notes as comments.
pub(super) fn recipe(name: &str, draft: &DockerRunDraft) -> String {
    let mut out = String::from("# From a vendor's `docker run`, by `retrial new NAME --from`.\n");
    if !draft.notes.is_empty() {
        out.push_str("# Differences from the command line:\n");
        for note in &draft.notes {
            let note: String = note.replace(char::is_control, " ");
            let _ = writeln!(out, "#   {note}");
        }
    }
    out.push_str("# Retrial adds its first process, /.retrial and PYTHONUNBUFFERED=1.\n");
    out.push_str("# Still to write: what was published (submission, expect), and how the figure is read (figures, or results).\n");
    let sections = sections(name, draft).into_iter();
    let mut sections = sections.map(|section| to_yaml(&map(section), Recipe::OBJECT));
    out + &sections.join("\n")
}

/// Returns the keys of each section; a blank line separates sections.
fn sections(name: &str, draft: &DockerRunDraft) -> Vec<Vec<(&'static str, Node)>> {
    let submission = [("suite", text("my-suite")), ("benchmark", text(name))];
    let mut sections = vec![
        vec![("schema", plain("1")), ("title", text(name))],
        vec![("submission", map(submission))],
    ];
    let image = ("image", text(&draft.image));
    let gpus = draft.gpus.map(|count| {
        let count = plain(count.to_string());
        let gpus = map([("vendor", text("nvidia")), ("count", count)]);
        ("requires", map([("gpus", gpus)]))
    });
    let keys = draft.keys.iter().cloned();
    let (params, rest): (Vec<_>, Vec<_>) = keys.partition(|(key, _)| *key == "params");
    let ordered = params.into_iter().chain([image]).chain(gpus).chain(rest);
    sections.extend(ordered.map(|key| vec![key]));
    let measured = draft.measured.clone();
    let measured = measured.unwrap_or_else(|| vec![("run", text(NOTHING))]);
    let speed = [
        ("pattern", text("speed: ${number}")),
        ("unit", text("items/s")),
        ("better", text("higher")),
    ];
    let figures = [("figures", map([("speed", map(speed))]))];
    let performance = map(measured.into_iter().chain(figures));
    let case = map([("performance", performance)]);
    sections.push(vec![("scenarios", map([("my-case", case)]))]);
    sections
}

/// Returns the keys params, container, secrets and setup, as far as there are any.
fn keys(parts: &RecipeParts<'_>) -> Vec<(&'static str, Node)> {
    let mut keys = Vec::new();
    if !parts.params.is_empty() {
        keys.push(("params", map(parts.params.iter().map(param))));
    }
    if !parts.container.is_empty() {
        keys.push(("container", map(parts.container.values().cloned())));
    }
    if parts.token {
        keys.push(("secrets", list(vec![text("HF_TOKEN")])));
    }
    let setup = parts.steps.split_last().map_or(&[][..], |(_, setup)| setup);
    if !setup.is_empty() {
        let steps = (1..).zip(setup).map(|(number, written)| {
            let keys = step(written, parts.token);
            (format!("step-{number}"), map(keys))
        });
        keys.push(("setup", map(steps)));
    }
    keys
}

/// Returns the keys of a recipe that follow from the block.
pub(super) fn draft(parts: RecipeParts<'_>) -> DockerRunDraft {
    DockerRunDraft {
        keys: keys(&parts),
        // The block's last command is the one that is measured.
        measured: parts.steps.last().map(|last| step(last, parts.token)),
        gpus: parts.gpus,
        image: parts.image,
        notes: parts.notes,
    }
}

fn param(param: &DraftedParam) -> (&str, Node) {
    let kind = if param.is_path { "path" } else { "string" };
    let stated = param.placeholder.iter().map(|text| format!(": {text}"));
    let stated: String = stated.collect();
    let help = format!("${} of the command line{stated}.", param.variable);
    let default = param
        .default
        .iter()
        .map(|default| ("default", text(default)));
    let keys = [("type", text(kind))].into_iter().chain(default);
    (&param.name, map(keys.chain([("help", text(help))])))
}

/// Returns the keys of a command. A step that names a secret gets it.
fn step(step: &DraftedStep, token: bool) -> Vec<(&'static str, Node)> {
    let run = if token {
        format!("HF_TOKEN=\"$HF_TOKEN\" {}", step.run)
    } else {
        step.run.clone()
    };
    let keys = step.keys.iter().cloned();
    [("run", text(run))].into_iter().chain(keys).collect()
}
