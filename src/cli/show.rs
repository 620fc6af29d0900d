//! `retrial show`: a recipe's published figures, its requirements, privileges and options.

use std::fmt::Write as _;

use crate::app::failure::Failure;
use crate::app::launch::OpenedRecipe;
use crate::app::launch::stand_ins::{name_stand_ins, open_with_stand_ins};
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest, RecipeRequest};
use crate::app::recipes::RecipeFilter;
use crate::app::{hub, open, published_entries, terminal};
use retrial_document::measures::format;
use retrial_history::FacetFilter;
use retrial_plan::Plan;
use retrial_plan::deviation::REIMPLEMENTED_REASON;
use retrial_plan::text::{PRIVILEGES_TITLE, downloads, requirement_rows, write_section};
use retrial_recipe::LoadedRecipe;
use retrial_recipe::model::Recipe;
use retrial_recipe::quote::shell_quote;
use retrial_results::verdict::{ExitCode, published_notice};

/// Prints figures, requirements, privileges and options of a recipe, or its resolved text with sources.
pub fn show_recipe(
    global: &GlobalOptions,
    request: &RecipeRequest,
    resolved: bool,
) -> Result<ExitCode, Failure> {
    let (opened, unset) = open_with_stand_ins(request)?;
    if resolved {
        if global.output == OutputFormat::Json {
            terminal::print_pretty_json(&opened.resolved.list_origins());
        } else {
            terminal::print_quoted_text(&render_origins(&opened.resolved));
        }
        if opened.entry.is_builtin() {
            advise_extending(&opened);
        }
        return Ok(ExitCode::Success);
    }
    let recipe = &opened.resolved.recipe;
    if global.output == OutputFormat::Json {
        terminal::print_pretty_json(recipe);
        return Ok(ExitCode::Success);
    }
    let every = PlanRequest::whole_recipe(request.clone());
    let plan = opened.plan(global, &every, Some(&open::probe_host(global)))?;
    let entry = &opened.entry;
    let loaded = LoadedRecipe::from_source(&entry.name, &entry.source, entry).ok();
    let shown = render_recipe(recipe, &plan, loaded.as_ref(), &unset);
    terminal::print_quoted_text(&name_stand_ins(shown, &unset));
    if let Some(line) = lead_to_published(global, recipe)? {
        terminal::print_quoted_text(&(line + "\n"));
    }
    let mut published = plan.measurements.iter().map(|one| one.expect.len());
    let suite = published.any(|count| count > 0).then_some(&*recipe.submission.suite);
    terminal::print_notice(published_notice(suite));
    Ok(ExitCode::Success)
}

/// Returns how many figures were published of the recipe's benchmark on its GPUs, and the command that lists them.
fn lead_to_published(global: &GlobalOptions, recipe: &Recipe) -> Result<Option<String>, Failure> {
    let models = recipe.requires.gpus.as_ref().map_or(&[][..], |gpus| &gpus.models);
    let mut facets = FacetFilter::default();
    facets.gpu.extend_from_slice(models);
    facets.benchmark.push(recipe.submission.benchmark.clone());
    let filter = RecipeFilter { facets, ..RecipeFilter::default() };
    let entries = published_entries::read_entries(global)?;
    let count = published_entries::select_entries(entries, &filter).len();
    if models.is_empty() || count == 0 {
        return Ok(None);
    }
    let gpus = models.iter().map(|model| format!(" --gpu {}", shell_quote(model)));
    let benchmark = shell_quote(&recipe.submission.benchmark);
    Ok(Some(format!(
        "{} for its GPU: retrial list --published{} --benchmark {benchmark}",
        format::format_count(count, "published figure"),
        gpus.collect::<String>(),
    )))
}

/// Says what a copy of the text lacks, to those who make one.
fn advise_extending(opened: &OpenedRecipe) {
    let name = &opened.entry.name;
    let companions = opened.companion_paths().join(", ");
    let lacks = match &*companions {
        "" => "a copy has no link to the recipe".to_owned(),
        files => format!("a copy lacks the recipe's files: {files}"),
    };
    terminal::advise(lacks, format!("write what you change only, below `extends: {name}`"));
}

fn render_origins(resolved: &retrial_recipe::ResolvedRecipe) -> String {
    let origins = resolved.list_origins();
    let widths = origins.iter().map(|origin| origin.key.len());
    let width = widths.max().unwrap_or(0).min(60);
    let mut out = format!("{}\n# the source of each value\n", resolved.yaml.trim_end());
    for origin in &origins {
        let value = origin.value.lines().next().unwrap_or_default();
        let (key, from) = (&origin.key, &origin.from);
        let _ = writeln!(out, "# {key:<width$}  {value:.60}  ({from})");
    }
    out
}

fn render_recipe(
    recipe: &Recipe,
    plan: &Plan,
    loaded: Option<&LoadedRecipe>,
    unset: &[String],
) -> String {
    let description = recipe.description.as_deref().map(str::trim_end);
    let mut out = [Some(recipe.title.as_str()), description]
        .into_iter()
        .flatten()
        .fold(String::new(), |out, line| out + &terminal::wrap_for_stdout(line) + "\n");
    let listed = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| format!("- {}", line.trim_end())).collect()
    };
    let downloads = downloads::download_lines(plan, &hub::hub_from_environment());
    let prose = |line: &str| terminal::wrap_for_stdout(&format!("  {line}"));
    let verbatim = |line: &str| format!("  {line}");
    write_section(&mut out, "submission", submission_lines(recipe, plan), &prose);
    write_section(&mut out, "published", published_lines(plan), &prose);
    write_section(&mut out, "requirements", requirement_lines(recipe, plan), &prose);
    write_section(&mut out, "downloads", downloads, &verbatim);
    write_section(&mut out, "host notes", listed(&recipe.host_notes), &prose);
    write_section(&mut out, "deviates from the guide", listed(&plan.deviations), &prose);
    write_section(&mut out, PRIVILEGES_TITLE, privilege_lines(plan), &prose);
    let options = option_lines(recipe, loaded, unset);
    write_section(&mut out, "options (--set NAME=VALUE)", options, &prose);
    let _ = writeln!(out, "\nits steps: retrial plan {}", recipe.name);
    out
}

/// Lines of known values, each with its label.
fn label_lines<'a>(rows: impl IntoIterator<Item = (&'a str, Option<String>)>) -> Vec<String> {
    rows.into_iter().filter_map(|(name, value)| Some(format!("{name:<10} {}", value?))).collect()
}

fn submission_lines(recipe: &Recipe, plan: &Plan) -> Vec<String> {
    let submission = &recipe.submission;
    let reimplemented = format!("reimplemented: {REIMPLEMENTED_REASON}");
    let first = [
        ("suite", Some(submission.suite.clone())),
        ("round", submission.round.clone()),
        ("division", submission.division.map(|division| division.to_string())),
        ("submitter", submission.submitter.clone()),
        ("system", submission.system.clone()),
        ("benchmark", Some(submission.benchmark.clone())),
    ];
    let last = [
        ("rules", plan.describe_rules()),
        ("qualifier", plan.judge.reimplemented.then_some(reimplemented)),
    ];
    let sources = submission.sources.iter().map(|source| ("source", Some(source.clone())));
    label_lines(first.into_iter().chain(sources).chain(last))
}

fn published_lines(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for measured in &plan.measurements {
        let label = format!("{} {}", measured.scenario, measured.mode);
        for (name, list) in &measured.expect {
            lines.extend(list.iter().map(|expectation| {
                let kind = expectation.kind.label();
                let source_parts = expectation.source.iter().map(|source| format!(", {source}"));
                let source: String = source_parts.collect();
                format!("{label:<24} {name} {} ({kind}{source})", expectation.value)
            }));
        }
        lines.extend(measured.references.iter().map(|references| {
            let count = format::format_count(references.values.len(), "figure");
            let kind = references.kind.label();
            let source = references.source.as_ref();
            let source = source.map_or_else(String::new, |source| format!(", {source}"));
            format!("{label:<24} {count} for reference, not judged ({kind}{source})")
        }));
    }
    if lines.is_empty() {
        lines.push("no figures: results are measured and not compared".to_owned());
    }
    lines
}

fn privilege_lines(plan: &Plan) -> Vec<String> {
    // Secrets are among the requirements.
    let privileges = plan.privileges.iter().filter(|one| !one.is_secret());
    let lines = privileges.map(|privilege| format!("{:<14} {privilege}", privilege.name));
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return vec!["none that is root-equivalent".to_owned()];
    }
    lines
}

fn requirement_lines(recipe: &Recipe, plan: &Plan) -> Vec<String> {
    let time = recipe.expected_duration.map(|duration| {
        let duration = format::format_time_limit(duration.as_secs());
        format!("{duration}{}, without downloads", plan.published_system_suffix())
    });
    let rows = [
        ("image", Some(plan.image.clone())),
        ("locked", plan.lock.as_ref().map(|lock| lock.path.clone())),
    ];
    let required = requirement_rows(&recipe.requires).into_iter();
    let required = required.map(|(name, value)| (name, Some(value)));
    let secret_names = recipe.secrets.iter();
    let secrets = secret_names.map(|name| ("secret", Some(name.clone())));
    let unmet_checks = plan.unmet.iter();
    let unmet = unmet_checks.map(|unmet| format!("on this host: {unmet}"));
    let rows = rows.into_iter().chain(required).chain([("time", time)]);
    let mut lines = label_lines(rows.chain(secrets));
    lines.extend(unmet);
    lines
}

fn option_lines(recipe: &Recipe, loaded: Option<&LoadedRecipe>, unset: &[String]) -> Vec<String> {
    let axes = loaded.into_iter().flat_map(|loaded| &loaded.variants().axes).map(|axis| {
        let chosen_value = recipe.variant.get(&axis.name);
        let chosen = chosen_value.map_or("none", String::as_str);
        let values = axis.values.join(", ");
        format!("{:<14} {chosen} (one of {values})", axis.name)
    });
    let declared = loaded.map(LoadedRecipe::declared_params).unwrap_or_default();
    let params = recipe.params.iter().map(|(name, value)| {
        let is_unset = unset.contains(name);
        let value = if is_unset { "must be set".to_owned() } else { value.to_string() };
        let param = declared.iter().find(|param| param.name == *name);
        let purpose = param.and_then(|param| param.help.as_deref());
        let purpose = purpose.map_or_else(String::new, |text| format!(" ({})", text.trim_end()));
        format!("{name:<14} {value}{purpose}")
    });
    axes.chain(params).collect()
}
