//! The page of all recipes, `docs/recipes.md`: published figures, requirements, host notes and deviations of each,
//! generated from the recipes.

use std::fmt::Write as _;

use itertools::{Itertools as _, join};

use super::charts::value_range;
use retrial_document::measures::format::{format_bytes, format_time_limit};
use retrial_mlperf::Division;
use retrial_plan::deviation::{COMMON_DEVIATIONS, REIMPLEMENTED_REASON};
use retrial_recipe::model::{Expectation, ExpectationKind, Image, Measurement, Mode, Recipe};
use retrial_results::verdict::number::format_figure;

/// A recipe with one choice of its variants.
#[derive(Debug)]
pub struct CatalogueEntry {
    /// The recipe's path in the repository: `recipes/…/x.yaml`.
    pub file: String,
    /// None: its default variants. Else `--set gpu=mi300x`, right after the entry with the default ones.
    pub choice: Option<String>,
    /// The recipe, resolved with the choice.
    pub recipe: Recipe,
}

/// Renders the page. `omitted` lists published results without a recipe, with reasons.
pub fn render_catalogue(entries: &[CatalogueEntry], omitted: &str) -> String {
    let mut out = String::from(
        "# The built-in recipes\n\n\
         Generated from the recipes by `make docs`. `retrial list` lists them, `retrial show RECIPE` shows one, \
         and [recipe-format.md](recipe-format.md) explains the keys.\n\
         `takes` is the published duration of all scenarios and modes, without downloads. \
         Of several figures the official one decides.\n",
    );
    let _ = writeln!(
        out,
        "\nEvery recipe deviates from its guide as follows: {COMMON_DEVIATIONS}. Each recipe's own deviations are below it."
    );
    let mut group = None;
    for entry in entries {
        let submission = &entry.recipe.submission;
        let own = (&submission.suite, &submission.round);
        if entry.choice.is_none() && group != Some(own) {
            group = Some(own);
            let round = submission.round.as_deref().unwrap_or_default();
            let _ = writeln!(out, "\n## {} {round}", submission.suite);
        }
        match &entry.choice {
            None => write_recipe(&mut out, entry),
            Some(choice) => write_variant(&mut out, entry, choice),
        }
    }
    let _ = write!(out, "\n{}\n", omitted.trim());
    // A heading without a round would end with a space.
    out.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn write_recipe(out: &mut String, entry: &CatalogueEntry) {
    let recipe = &entry.recipe;
    let _ = writeln!(out, "\n### {}\n", recipe.title);
    let _ = writeln!(out, "[`{}`](../{})\n", recipe.name, entry.file);
    if let Some(description) = &recipe.description {
        let _ = writeln!(out, "{}\n", to_one_line(description));
    }
    write_requirements(out, recipe);
    let takes = recipe.expected_duration.map(|whole| format_time_limit(whole.as_secs()));
    write_item(out, "takes", takes);
    write_item(out, "image", describe_image(&recipe.image));
    let sources = recipe.submission.sources.iter().map(|source| link_to_source(source));
    let own = recipe.judge.reimplemented;
    write_item(out, "qualifier", own.then(|| format!("reimplemented: {REIMPLEMENTED_REASON}")));
    write_item(out, "sources", join(sources, ", "));
    write_figures(out, recipe);
    write_list(out, "Host notes", &recipe.host_notes);
    write_list(out, "Deviations", &recipe.deviations);
}

fn write_variant(out: &mut String, entry: &CatalogueEntry, choice: &str) {
    let recipe = &entry.recipe;
    let _ = writeln!(out, "\n`{choice}`: {}\n", recipe.title);
    write_requirements(out, recipe);
    write_figures(out, recipe);
}

/// The submission, and the requirements on the host.
fn write_requirements(out: &mut String, recipe: &Recipe) {
    let submission = &recipe.submission;
    let who = [
        submission.submitter.as_deref(),
        submission.division.map(Division::word),
        submission.system.as_deref(),
        Some(submission.benchmark.as_str()),
    ];
    write_item(out, "submission", join(who.into_iter().flatten(), ", "));
    let requires = &recipe.requires;
    let gpus = requires.gpus.as_ref().map(|gpus| {
        let gpu_partition = gpus.partition.as_ref();
        let partition = gpu_partition.map_or(String::new(), |mode| format!(" as {mode}"));
        format!("{} × {}{partition}", gpus.count, gpus.models.join(" or "))
    });
    let hardware = [
        gpus,
        requires.rocm.as_ref().map(|range| format!("ROCm {range}")),
        requires.memory.map(|bytes| format!("{} memory", format_bytes(bytes))),
        requires.disk.map(|bytes| format!("{} disk", format_bytes(bytes))),
    ];
    let hardware = join(hardware.into_iter().flatten(), ", ");
    write_item(out, "needs", hardware);
}

fn write_item(out: &mut String, key: &str, value: impl Into<Option<String>>) {
    if let Some(value) = value.into().filter(|value| !value.is_empty()) {
        let _ = writeln!(out, "- {key}: {value}");
    }
}

fn write_list(out: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(out, "\n{title}:\n");
    }
    for line in lines {
        let _ = writeln!(out, "- {}", to_one_line(line));
    }
}

fn describe_image(image: &Image) -> String {
    match image {
        Image::Pull { reference, .. } => format!("`{reference}`"),
        Image::Build(build) => format!("built from `{}`", build.context),
    }
}

/// The kinds of published figures, as the columns of the table have them.
const KINDS: [ExpectationKind; 3] =
    [ExpectationKind::Official, ExpectationKind::Guide, ExpectationKind::ThirdParty];

/// The published figures of each measurement that has some, and the names of the others.
fn write_figures(out: &mut String, recipe: &Recipe) {
    let measurements = recipe.scenarios.iter().flat_map(|(name, scenario)| {
        let name = scenario.loadgen.as_deref().unwrap_or(name);
        let modes = scenario.modes.iter();
        modes.map(move |(mode, measurement)| (format!("{name} {mode}"), *mode, measurement))
    });
    let (published, others): (Vec<_>, Vec<_>) =
        measurements.partition(|(_, _, measurement)| !measurement.expect.is_empty());
    write_item(out, "nothing published for", join(others.iter().map(|(name, _, _)| name), ", "));
    if published.is_empty() {
        return;
    }
    out.push_str(
        "\n| measured | figure | official | guide | others |\n| --- | --- | --- | --- | --- |\n",
    );
    for (name, mode, measurement) in published {
        write_rows(out, &name, mode, measurement);
    }
}

fn write_rows(out: &mut String, measured: &str, mode: Mode, measurement: &Measurement) {
    let expected = &measurement.expect;
    let mut row = |figure: &str, cells: [String; 3]| {
        let _ = writeln!(out, "| {measured} | {figure} | {} |", cells.join(" | "));
    };
    if mode == Mode::Performance && !expected.is_empty() {
        for (name, published) in expected {
            let unit = if name.ends_with("_ns") { "ns" } else { "" };
            row(name, KINDS.map(|kind| format_published(published, kind, unit)));
        }
        return;
    }
    // Accuracy has many figures, which share a row.
    let cell = |kind| {
        let values = expected.iter().filter_map(|(name, published)| {
            let value = published.iter().find(|value| value.kind == kind)?;
            Some(format!("{name} {}", format_figure(value.value, "")))
        });
        join(values, ", ")
    };
    row("", KINDS.map(cell));
}

/// `93046 (5.1-0098)`; of many the range.
fn format_published(published: &[Expectation], kind: ExpectationKind, unit: &str) -> String {
    let matching = published.iter().filter(|value| value.kind == kind).collect_vec();
    if matching.len() <= 2 {
        let each = matching.iter().map(|value| {
            // The sources of guides are pages, which the list of sources has.
            let named_source = value.source.iter().filter(|_| kind != ExpectationKind::Guide);
            let source = named_source.map(|source| format!(" ({source})"));
            format_figure(value.value, unit) + &source.collect::<String>()
        });
        return join(each, ", ");
    }
    let (low, high) = value_range(matching.iter().map(|expectation| expectation.value));
    let (low, high) = (format_figure(low, unit), format_figure(high, unit));
    format!("{}: {low} to {high}", matching.len())
}

fn link_to_source(source: &str) -> String {
    match source.split_once("://") {
        Some((_, rest)) => format!("[{}]({source})", rest.split('/').next().unwrap_or(rest)),
        None => source.to_owned(),
    }
}

fn to_one_line(text: &str) -> String {
    text.split_whitespace().join(" ")
}
