//! `retrial list`: built-in recipes, first those that this host can run, the newest round first.

use std::cmp::Reverse;

use itertools::{Itertools as _, join};

use crate::app::catalog;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::recipes::{self, ListedRecipe, RecipeFilter, fits_host};
use crate::app::{open, terminal};
use retrial_host::model::HostView;
use retrial_readings::natural::natural_sort_key;
use retrial_readings::number::format_figure;
use retrial_recipe::{RecipeSummary, VariantSummary};
use retrial_results::verdict::{ExitCode, published_notice};

/// The heading of the recipes for which this host has the GPUs.
const FITTING_HEADING: &str = "this host has the GPUs for";
/// Explains the mark of a recipe that needs more than a host.
const NEEDS_LEGEND: &str =
    "* needs a secret, a setting or more machines: retrial show RECIPE says which";
/// Leads to figures without a recipe.
const PUBLISHED_LINE: &str = "published for a GPU: retrial list --published --gpu MODEL";

/// Lists the built-in recipes that match.
pub fn list_recipes(global: &GlobalOptions, filter: &RecipeFilter) -> Result<ExitCode, Failure> {
    let host = open::probe_host(global);
    let mut matching_recipes = recipes::find_recipes(global, filter, &host)?;
    if global.output == OutputFormat::Json {
        terminal::print_pretty_json(&matching_recipes);
        return Ok(ExitCode::Success);
    }
    if matching_recipes.is_empty() {
        terminal::print_note("no recipe matches; `retrial list` shows all");
    }
    matching_recipes.sort_by_cached_key(|recipe| {
        let round = recipe.summary.round.as_deref().unwrap_or_default();
        let suite = recipe.summary.suite.clone();
        (suite, Reverse(natural_sort_key(round)), recipe.name.clone())
    });
    if host.gpus.is_empty() {
        terminal::print_note("no GPU found on this host");
    }
    terminal::print_lines(as_text(&matching_recipes, &host));
    terminal::print_lines([String::new(), PUBLISHED_LINE.to_owned()]);
    let with_figure = matching_recipes.iter().filter(|one| one.summary.published.is_some());
    terminal::print_notice(published_notice(
        with_figure.filter_map(|one| one.summary.suite.as_deref()),
    ));
    Ok(ExitCode::Success)
}

struct ListRow {
    /// The recipe's short name, or below it the settings of a variant.
    name: String,
    /// The recipe's or variant's summary; none where only variants of the recipe match.
    details: Option<[String; 2]>,
    needs_more: bool,
}

fn as_text(recipes: &[ListedRecipe], host: &HostView) -> Vec<String> {
    let names = catalog::recipe_names();
    let (fitting, others): (Vec<_>, Vec<_>) = recipes.iter().partition(|recipe| {
        recipe.fits || recipe.variants.iter().any(|one| fits_host(&one.summary, host))
    });
    let mut sections = vec![(FITTING_HEADING.to_owned(), list_rows(&fitting, &names, host))];
    let groups = others.iter().chunk_by(|recipe| {
        let summary = &recipe.summary;
        join(summary.suite.iter().chain(&summary.round), " ")
    });
    for (heading, group) in &groups {
        let group: Vec<&ListedRecipe> = group.copied().collect();
        sections.push((heading, list_rows(&group, &names, host)));
    }
    sections.retain(|(_, rows)| !rows.is_empty());
    let all_rows = || sections.iter().flat_map(|(_, rows)| rows);
    let name_width = all_rows().map(|row| row.name.len()).max().unwrap_or(0);
    let gpus_of = |row: &ListRow| row.details.as_ref().map_or(0, |[gpus, _]| gpus.len());
    let gpus_width = all_rows().map(gpus_of).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (heading, rows) in &sections {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(heading.clone());
        for row in rows {
            let mark = if row.needs_more { "*" } else { " " };
            let [gpus, published] = row.details.clone().unwrap_or_default();
            let name = &row.name;
            let line = format!("{mark} {name:<name_width$}  {gpus:<gpus_width$}  {published}");
            lines.push(line.trim_end().to_owned());
        }
    }
    if all_rows().any(|row| row.needs_more) {
        lines.extend([String::new(), NEEDS_LEGEND.to_owned()]);
    }
    lines
}

/// A row for each recipe, and below it rows of variants: those that fit this host, or all that match if the recipe's
/// own does not.
fn list_rows(recipes: &[&ListedRecipe], names: &[String], host: &HostView) -> Vec<ListRow> {
    let mut rows = Vec::new();
    for recipe in recipes {
        let is_listed =
            |variant: &&VariantSummary| !recipe.matches || fits_host(&variant.summary, host);
        // Where only a variant fits, the recipe's own GPUs are not what this host has.
        let fits_by_variant =
            !recipe.fits && recipe.variants.iter().any(|one| fits_host(&one.summary, host));
        let is_detailed = recipe.matches && !fits_by_variant;
        let summary = is_detailed.then_some(&recipe.summary);
        rows.push(ListRow {
            name: catalog::shorten_name(&recipe.name, names),
            details: summary.map(summarize_details),
            needs_more: needs_more(&recipe.summary),
        });
        let variants = recipe.variants.iter().filter(is_listed);
        rows.extend(variants.map(|variant| ListRow {
            name: format!("  --set {}={}", variant.axis, variant.value),
            details: Some(summarize_details(&variant.summary)),
            needs_more: needs_more(&variant.summary),
        }));
    }
    rows
}

fn needs_more(summary: &RecipeSummary) -> bool {
    summary.machines.is_some() || !summary.needs.is_empty()
}

/// The GPUs, and the published figure.
fn summarize_details(summary: &RecipeSummary) -> [String; 2] {
    let gpus = match (summary.machines, &summary.gpus) {
        (Some(machines), Some(gpus)) => format!("{machines} x ({gpus})"),
        (_, gpus) => gpus.clone().unwrap_or_default(),
    };
    let published = summary.published.as_ref().map(|published| {
        let figure = format_figure(published.value, &published.unit);
        format!("{} {figure}", published.scenario)
    });
    [gpus, published.unwrap_or_default()]
}
