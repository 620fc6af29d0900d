//! The recipe's text.

use std::fmt::Write as _;

use retrial_document::{Keys as _, Node, to_yaml};

use super::nodes::{list, map, plain, text};
use super::parts::{Param, Parts, Step};
use crate::model::Recipe;

/// The command of a block that does not say what is measured.
const NOTHING: &str = "echo 'write the command that the guide runs in the container' >&2\nexit 1\n";

/// Writes the recipe.
pub(super) fn recipe(name: &str, parts: &Parts<'_>) -> String {
    let mut out = String::from("# From a vendor's `docker run`, by `retrial new NAME --from`.\n");
    if !parts.notes.is_empty() {
        out.push_str("# Differences from the command line:\n");
        for note in &parts.notes {
            let note: String = note.replace(char::is_control, " ");
            let _ = writeln!(out, "#   {note}");
        }
    }
    out.push_str("# Retrial adds its first process, /.retrial and PYTHONUNBUFFERED=1.\n");
    out.push_str("# Still to write: what was published (submission, expect), and how the figure is read (figures, or results).\n");
    let sections = sections(name, parts).into_iter();
    let sections: Vec<String> = sections
        .map(|section| to_yaml(&map(section), Recipe::OBJECT))
        .collect();
    out + &sections.join("\n")
}

/// Keys that stand together, with a blank line between sections.
fn sections(name: &str, parts: &Parts<'_>) -> Vec<Vec<(&'static str, Node)>> {
    let submission = [("suite", text("my-suite")), ("benchmark", text(name))];
    let mut sections = vec![
        vec![("schema", plain("1")), ("title", text(name))],
        vec![("submission", map(submission))],
    ];
    if !parts.params.is_empty() {
        sections.push(vec![("params", map(parts.params.iter().map(param)))]);
    }
    sections.push(vec![("image", text(&parts.image))]);
    if let Some(count) = parts.gpus {
        let count = plain(count.to_string());
        let gpus = map([("vendor", text("nvidia")), ("count", count)]);
        sections.push(vec![("requires", map([("gpus", gpus)]))]);
    }
    if !parts.container.is_empty() {
        let keys = parts.container.values().cloned();
        sections.push(vec![("container", map(keys))]);
    }
    if parts.token {
        sections.push(vec![("secrets", list(vec![text("HF_TOKEN")]))]);
    }
    let (measured, setup) = match parts.steps.split_last() {
        Some((measured, setup)) => (step(measured, parts.token), setup),
        None => (vec![("run", text(NOTHING))], &[][..]),
    };
    if !setup.is_empty() {
        let steps = (1..).zip(setup).map(|(number, one)| {
            let keys = step(one, parts.token);
            (format!("step-{number}"), map(keys))
        });
        sections.push(vec![("setup", map(steps))]);
    }
    let speed = [
        ("pattern", text("speed: ([0-9.]+)")),
        ("unit", text("items/s")),
        ("better", text("higher")),
    ];
    let figures = [("figures", map([("speed", map(speed))]))];
    let performance = map(measured.into_iter().chain(figures));
    let case = map([("performance", performance)]);
    sections.push(vec![("scenarios", map([("my-case", case)]))]);
    sections
}

fn param(param: &Param) -> (&str, Node) {
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

/// The keys of a command. A step gets a secret where it names it.
fn step(step: &Step, token: bool) -> Vec<(&'static str, Node)> {
    let run = if token {
        format!("HF_TOKEN=\"$HF_TOKEN\" {}", step.run)
    } else {
        step.run.clone()
    };
    let keys = step.keys.iter().cloned();
    [("run", text(run))].into_iter().chain(keys).collect()
}
