//! The README files of a tree: one table of results, each with all of its trials.

use itertools::Itertools as _;

use super::choose::RepresentativeTrial;
use super::model::SourceRun;

const COLUMNS: [&str; 6] =
    ["result", "unverified figures", "exported trial", "run", "recipe", "environment"];

/// A README with these rows below its title.
pub(super) fn render_readme(title: &str, rows: &[String]) -> String {
    format!(
        "# {title}\n\nExported by Retrial {} from its runs; the folder of the code has each run's recipe and its \
         steps as a script.\n\n{}{}{}",
        env!("CARGO_PKG_VERSION"),
        render_row(COLUMNS.map(str::to_owned)),
        render_row(COLUMNS.map(|_| "---".to_owned())),
        rows.concat()
    )
}

/// The row of a result.
pub(super) fn render_result_row(result: String, chosen: &RepresentativeTrial<'_>) -> String {
    render_row([
        result,
        list_trials(chosen),
        format!("{}, {}", chosen.files.trial, chosen.reason),
        chosen.run.id.clone(),
        format!("`{}`", chosen.run.plan.recipe),
        describe_environment(chosen.run),
    ])
}

fn render_row(cells: [String; 6]) -> String {
    let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |\n", cells.join(" | "))
}

/// The figures of all trials.
fn list_trials(chosen: &RepresentativeTrial<'_>) -> String {
    let (Some(verdict), Some((name, _))) = (chosen.verdict, &chosen.figure) else {
        return String::new();
    };
    let trials = verdict.trials.iter().map(|trial| {
        let figure = trial.figures.get(name);
        let figure = figure.map(|figure| format!("{} {}", figure.value, figure.unit));
        let valid = if trial.valid { "valid" } else { "not valid" };
        format!("{}: {}, {valid}", trial.trial, figure.as_deref().unwrap_or("no figure"))
    });
    trials.format("; ").to_string()
}

/// Image, models, and what the command line changed.
fn describe_environment(run: &SourceRun) -> String {
    let image = [format!("image {}", run.plan.image)].into_iter();
    let digests = run.digests.iter().map(|digest| format!("digest {digest}"));
    let models = run.models.iter().map(|(name, commit)| format!("model {name}: commit {commit}"));
    let settings = run.plan.changed_settings().into_iter();
    let changes = settings.chain(run.plan.replaced_images(|_| None));
    let changes = changes.chain(run.plan.changing_options());
    let changes = changes.map(|change| format!("changed: {change}"));
    image.chain(digests).chain(models).chain(changes).format("; ").to_string()
}
