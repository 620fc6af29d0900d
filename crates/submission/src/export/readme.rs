//! The README files of a tree: how each result was measured, its violations and missing items.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::choose::RepresentativeTrial;
use super::model::{Export, SourceRun};
use retrial_plan::step::{Action, Step};
use retrial_recipe::model::Mode;

/// Describes how one scenario was measured.
pub(super) fn render_scenario_readme(
    benchmark: &str,
    scenario: &str,
    chosen: &[&RepresentativeTrial<'_>],
) -> String {
    let mut text = format!("# {benchmark}, {scenario}\n");
    for chosen in chosen {
        let (run, mode) = (chosen.run, chosen.measurement.mode);
        let _ = write!(
            text,
            "\n## {}\n\nRun {} of `{}`, trial {}: {}.\n",
            mode_heading(mode),
            run.id,
            run.plan.recipe,
            chosen.files.trial,
            chosen.reason
        );
        text.push_str(&render_trials(chosen));
        let _ = write!(text, "\n```sh\n{}\n```\n", render_commands(chosen));
    }
    if let Some(chosen) = chosen.first() {
        let _ = write!(text, "\n## Environment\n\n{}", render_environment(chosen.run));
    }
    text
}

/// The figures of all trials.
fn render_trials(chosen: &RepresentativeTrial<'_>) -> String {
    let (Some(verdict), Some((name, _))) = (chosen.verdict, &chosen.figure) else {
        return String::new();
    };
    let mut text = String::new();
    for trial in &verdict.trials {
        let figure = trial.figures.get(name).map_or_else(
            || "no figure".to_owned(),
            |figure| format!("{} {}", figure.value, figure.unit),
        );
        let valid = if trial.valid { "valid" } else { "not valid" };
        let _ = write!(text, "\n- trial {}: {figure}, {valid}", trial.trial);
    }
    text.push('\n');
    text
}

/// The commands of the measurement, its services and its check.
fn render_commands(chosen: &RepresentativeTrial<'_>) -> String {
    let (files, plan) = (chosen.files, &chosen.run.plan);
    let is_included = |step: &Step| step.belongs_to_trial(files.measurement, files.trial);
    let steps = plan.steps.iter().filter(|step| match step.action {
        Action::StartService(_) => plan.steps_needing_service(step.number).any(is_included),
        _ => is_included(step),
    });
    let commands = steps.filter_map(Step::recipe_command);
    commands.map(|command| command.run.trim_end()).join("\n")
}

/// Image, models, and what the command line changed.
fn render_environment(run: &SourceRun) -> String {
    let mut text = format!("- image: {}\n", run.plan.image);
    for digest in &run.digests {
        let _ = writeln!(text, "- digest: {digest}");
    }
    for (name, commit) in &run.models {
        let _ = writeln!(text, "- model {name}: commit {commit}");
    }
    let settings = run.plan.changed_settings().into_iter();
    let changes = settings.chain(run.plan.replaced_images(|_| None));
    for change in changes.chain(run.plan.changing_options()) {
        let _ = writeln!(text, "- changed: {change}");
    }
    text
}

pub(super) fn render_code_readme<'a>(
    benchmark: &str,
    runs: impl Iterator<Item = &'a SourceRun>,
) -> String {
    let mut text = format!(
        "# {benchmark}\n\nMeasured by Retrial {} in the images named below. Each run has its resolved recipe and \
         its steps as a script.\n",
        env!("CARGO_PKG_VERSION")
    );
    for run in runs {
        let _ = write!(
            text,
            "\n## {}\n\n- recipe: `{}`\n{}",
            run.id,
            run.plan.recipe,
            render_environment(run)
        );
        for source in &run.plan.submission.sources {
            let _ = writeln!(text, "- source: {source}");
        }
    }
    text
}

pub(super) fn render_tree_readme(export: &Export) -> String {
    let mut text = format!(
        "# {}, {}, {}\n\nExported by Retrial {} from its runs, in the layout of MLPerf Inference {}.\n",
        export.submitter,
        export.system,
        export.division,
        env!("CARGO_PKG_VERSION"),
        export.round
    );
    if let Some(notice) = &export.notice {
        let _ = write!(text, "\n**{notice}**\n");
    }
    text.push_str("\n| result | figure | run | trial |\n| --- | --- | --- | --- |\n");
    for result in &export.results {
        let first_figure = result.figures.values().next();
        let figure_text =
            first_figure.map(|figure| format!("{} {}, unverified", figure.value, figure.unit));
        let figure = figure_text.unwrap_or_default();
        let mode = result.test.clone().unwrap_or_else(|| result.mode.to_string());
        let _ = writeln!(
            text,
            "| {} {} {mode} | {figure} | {} | {}, {} |",
            result.benchmark, result.scenario, result.run, result.trial, result.reason
        );
    }
    if !export.violations.is_empty() {
        text.push_str("\n## Violated rules\n\n");
        for violation in &export.violations {
            let _ = writeln!(text, "- {}: {}", violation.path, violation.rule);
        }
    }
    if !export.missing.is_empty() {
        text.push_str("\n## Missing for acceptance\n\n");
        for entry in &export.missing {
            let _ = writeln!(text, "- {}: {} ({})", entry.path, entry.item, entry.fix);
        }
    }
    text
}

fn mode_heading(mode: Mode) -> &'static str {
    match mode {
        Mode::Performance => "Performance",
        Mode::Accuracy => "Accuracy",
        Mode::Compliance => "Compliance",
    }
}
