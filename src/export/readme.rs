//! The README files of a tree: how a result came about, and what may be said of it.

use std::fmt::Write as _;

use super::choose::Chosen;
use super::model::{Export, RunRead};
use crate::plan::step::{Action, Purpose};
use retrial_recipe::model::Mode;

/// How one scenario was measured.
pub(super) fn of_scenario(benchmark: &str, scenario: &str, chosen: &[&Chosen<'_>]) -> String {
    let mut text = format!("# {benchmark}, {scenario}\n");
    for one in chosen {
        let (run, mode) = (one.run, one.measured.mode);
        let _ = write!(
            text,
            "\n## {}\n\nRun {} of `{}`, trial {}: {}.\n",
            capitalized(mode),
            run.id,
            run.plan.recipe,
            one.found.trial,
            one.because
        );
        text.push_str(&trials(one));
        let _ = write!(text, "\n```sh\n{}```\n", commands(one));
    }
    if let Some(one) = chosen.first() {
        let _ = write!(text, "\n## Environment\n\n{}", environment(one.run));
    }
    text
}

/// Every trial's figure, so that nobody takes the one for all.
fn trials(one: &Chosen<'_>) -> String {
    let (Some(verdict), Some((name, _))) = (one.verdict, &one.figure) else {
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

/// The commands that measured and checked.
fn commands(one: &Chosen<'_>) -> String {
    let measurement = one.found.measurement;
    let steps = one.run.plan.steps.iter().filter_map(|step| {
        let Action::Exec(exec) = &step.action else {
            return None;
        };
        let is_ours = match &exec.purpose {
            Purpose::Measure {
                measurements,
                trial,
            } => measurements.contains(&measurement) && *trial == one.found.trial,
            Purpose::Check {
                measurement: of,
                trial,
                ..
            } => *of == measurement && *trial == one.found.trial,
            Purpose::Prepare => false,
        };
        is_ours.then(|| format!("{}\n", exec.run.trim_end()))
    });
    steps.collect()
}

/// Image, models, and what may have changed.
fn environment(run: &RunRead) -> String {
    let mut text = format!("- image: {}\n", run.plan.image);
    for digest in &run.digests {
        let _ = writeln!(text, "- digest: {digest}");
    }
    for (name, commit) in &run.models {
        let _ = writeln!(text, "- model {name}: commit {commit}");
    }
    for name in &run.plan.modified {
        let value = run.plan.params.get(name).map(ToString::to_string);
        let _ = writeln!(text, "- set by hand: {name}={}", value.unwrap_or_default());
    }
    text
}

/// What lies beside the code of a benchmark.
pub(super) fn of_code(benchmark: &str, runs: &[&RunRead]) -> String {
    let mut text = format!(
        "# {benchmark}\n\nMeasured by Retrial {} in the images named below. Of each run there is its recipe as \
         resolved, and its steps as a script.\n",
        env!("CARGO_PKG_VERSION")
    );
    for run in runs {
        let _ = write!(
            text,
            "\n## {}\n\n- recipe: `{}`\n{}",
            run.id,
            run.plan.recipe,
            environment(run)
        );
        for source in &run.plan.submission.sources {
            let _ = writeln!(text, "- after: {source}");
        }
    }
    text
}

/// The tree's own README.
pub(super) fn of_tree(export: &Export) -> String {
    let mut text = format!(
        "# {}, {}, {}\n\nMade by Retrial {} from its own runs, in the layout of MLPerf Inference {}.\n",
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
    for one in &export.results {
        let figure = one.figure.as_ref().map_or_else(String::new, |figure| {
            format!("{} {}, unverified", figure.1, figure.2)
        });
        let mode = one.test.clone().unwrap_or_else(|| one.mode.to_string());
        let _ = writeln!(
            text,
            "| {} {} {mode} | {figure} | {} | {}, {} |",
            one.benchmark, one.scenario, one.run, one.trial, one.because
        );
    }
    if !export.broken.is_empty() {
        text.push_str("\n## Rules that are broken\n\n");
        for one in &export.broken {
            let _ = writeln!(text, "- {}: {}", one.place, one.rule);
        }
    }
    if !export.missing.is_empty() {
        text.push_str("\n## Missing for acceptance\n\n");
        for one in &export.missing {
            let _ = writeln!(text, "- {}: {} ({})", one.place, one.what, one.advice);
        }
    }
    text
}

fn capitalized(mode: Mode) -> &'static str {
    match mode {
        Mode::Performance => "Performance",
        Mode::Accuracy => "Accuracy",
        Mode::Compliance => "Compliance",
    }
}
