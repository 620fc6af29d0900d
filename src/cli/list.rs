//! `retrial list`: the recipes there are, by suite and round.

use serde_json::{Value, json};

use super::arguments::ListFilter;
use crate::app::catalog::Catalog;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::results::verdict::ExitCode;
use retrial_recipe::{Summary, VariantSummary, summarize_all};

/// A recipe: what it says with its default variants, and with those that are another submission.
struct Found {
    name: String,
    summary: Summary,
    /// Whether it fits the filter as it is; else only with one of the variants.
    fits: bool,
    variants: Vec<VariantSummary>,
}

/// Lists the built-in recipes.
pub fn list(
    global: &GlobalOptions,
    part: Option<&str>,
    filter: &ListFilter,
) -> Result<ExitCode, Failure> {
    let mut recipes = recipes()?;
    if let Some(part) = part {
        let part = part.to_lowercase();
        recipes.retain(|recipe| {
            recipe.name.to_lowercase().contains(&part)
                || recipe.summary.title.to_lowercase().contains(&part)
        });
    }
    let recipes = filtered(recipes, filter)?;
    if global.output == Output::Json {
        let objects: Vec<Value> = recipes.iter().map(as_json).collect();
        let text = serde_json::to_string_pretty(&objects)
            .map_err(|error| Failure::host(error.to_string()))?;
        terminal::print(&format!("{text}\n"));
        return Ok(ExitCode::Success);
    }
    if recipes.is_empty() {
        terminal::note("no recipe has all of that; `retrial list` shows all");
    }
    terminal::print_lines(as_text(&recipes));
    Ok(ExitCode::Success)
}

fn recipes() -> Result<Vec<Found>, Failure> {
    let mut recipes = Vec::new();
    for found in Catalog::builtin().list() {
        let (summary, variants) = summarize_all(&found.source, &found)
            .map_err(|diagnostics| Failure::usage(diagnostics.render(false)))?;
        recipes.push(Found {
            name: found.name,
            summary,
            fits: true,
            variants,
        });
    }
    Ok(recipes)
}

/// What a filter looks at, and what was asked of it.
type Facet<'a> = (&'static str, &'a [String], fn(&Summary) -> Vec<&str>);

fn filtered(mut recipes: Vec<Found>, filter: &ListFilter) -> Result<Vec<Found>, Failure> {
    let facets: [Facet<'_>; 5] = [
        ("suite", &filter.suite, |one| {
            one.suite.as_deref().into_iter().collect()
        }),
        ("round", &filter.round, |one| {
            one.round.as_deref().into_iter().collect()
        }),
        ("gpu", &filter.gpu, |one| {
            one.gpu_models.iter().map(String::as_str).collect()
        }),
        ("submitter", &filter.submitter, |one| {
            one.submitter.as_deref().into_iter().collect()
        }),
        ("benchmark", &filter.benchmark, |one| {
            one.benchmark.as_deref().into_iter().collect()
        }),
    ];
    // What is unknown is unknown among all recipes, whatever else was asked.
    for (facet, asked, of) in &facets {
        for asked in *asked {
            let every = recipes.iter().flat_map(|recipe| {
                let variants = recipe.variants.iter().map(|variant| &variant.summary);
                std::iter::once(&recipe.summary).chain(variants)
            });
            let known: Vec<&str> = every.flat_map(of).collect();
            if !known.iter().any(|known| means(asked, known)) {
                return Err(unknown(facet, asked, known));
            }
        }
    }
    let fits = |summary: &Summary| {
        facets.iter().all(|(_, asked, of)| {
            let mut known = of(summary).into_iter();
            asked.is_empty() || known.any(|known| asked.iter().any(|asked| means(asked, known)))
        })
    };
    for recipe in &mut recipes {
        recipe.fits = fits(&recipe.summary);
        recipe.variants.retain(|variant| fits(&variant.summary));
    }
    recipes.retain(|recipe| recipe.fits || !recipe.variants.is_empty());
    Ok(recipes)
}

/// `6.0` means `v6.0`, `llama2-70b` also `llama2-70b-99.9`, `dell` also `Dell_AMD`.
fn means(asked: &str, known: &str) -> bool {
    let plain = |text: &str| {
        let text = text.trim().to_lowercase().replace([' ', '_'], "-");
        match text.strip_prefix('v') {
            Some(version) if version.starts_with(|first: char| first.is_ascii_digit()) => {
                version.to_owned()
            }
            _ => text,
        }
    };
    let (asked, known) = (plain(asked), plain(known));
    let rest = known.strip_prefix(&asked);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn unknown(facet: &str, asked: &str, mut known: Vec<&str>) -> Failure {
    known.sort_unstable();
    known.dedup();
    let known = known.join(", ");
    Failure::usage(format!(
        "no recipe is of the {facet} `{asked}`; there are: {known}"
    ))
}

fn as_text(recipes: &[Found]) -> Vec<String> {
    let widths = recipes.iter().map(|recipe| recipe.name.len());
    let width = widths.max().unwrap_or(0);
    let mut lines = Vec::new();
    let mut group = None;
    for recipe in recipes {
        let own = (&recipe.summary.suite, &recipe.summary.round);
        if group != Some(own) {
            if group.is_some() {
                lines.push(String::new());
            }
            let words = [own.0.as_deref(), own.1.as_deref()];
            lines.push(words.into_iter().flatten().collect::<Vec<_>>().join(" "));
            group = Some(own);
        }
        lines.push(format!(
            "  {:<width$}  {}",
            recipe.name, recipe.summary.title
        ));
        let word = if recipe.fits { "also" } else { "with" };
        for axis in axes(&recipe.variants) {
            let of_axis = recipe.variants.iter().filter(|one| one.axis == axis);
            let values: Vec<&str> = of_axis.map(|one| one.value.as_str()).collect();
            lines.push(format!("    {word} --set {axis}={}", values.join("|")));
        }
    }
    lines
}

/// The axes, each once.
fn axes(variants: &[VariantSummary]) -> Vec<&str> {
    let mut axes: Vec<&str> = variants.iter().map(|one| one.axis.as_str()).collect();
    axes.dedup();
    axes
}

/// As its default variants have it.
fn as_json(recipe: &Found) -> Value {
    let summary = &recipe.summary;
    json!({
        "name": recipe.name,
        "title": summary.title,
        "suite": summary.suite,
        "round": summary.round,
        "submitter": summary.submitter,
        "system": summary.system,
        "benchmark": summary.benchmark,
        "gpus": summary.gpus,
        "source": summary.source,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::means;

    #[rstest]
    #[case("6.0", "v6.0", true)]
    #[case("V6.0", "v6.0", true)]
    #[case("6", "v6.0", false)]
    #[case("mi355x", "MI355X", true)]
    #[case("mi35", "MI355X", false)]
    #[case("llama2-70b", "llama2-70b-99.9", true)]
    #[case("llama2", "llama2-70b-99.9", true)]
    #[case("llama", "llama2-70b-99.9", false)]
    #[case("dell", "Dell_AMD", true)]
    #[case("mlperf inference", "mlperf-inference", true)]
    #[case("vision", "ision", false)]
    fn what_is_meant(#[case] asked: &str, #[case] known: &str, #[case] meant: bool) {
        assert_eq!(means(asked, known), meant);
    }
}
