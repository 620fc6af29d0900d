//! `retrial check`: every problem of recipes, templates, batches, sites and rules of rounds at once.

use crate::app::batch::file;
use crate::app::catalog::{self, CatalogError};
use crate::app::failure::Failure;
use crate::app::launch::is_moving_name;
use crate::app::launch::missing_requirements::describe_start;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::terminal;
use retrial_batch as batch;
use retrial_cluster::site;
use retrial_document::measures::format;
use retrial_mlperf::rounds;
use retrial_recipe::{RecipeFileKind, check_source as check_text};
use retrial_results::verdict::ExitCode;

/// Checks files; warnings are not failures.
pub fn check_files(global: &GlobalOptions, files: &[String]) -> ExitCode {
    let mut failed = false;
    let mut reports = Vec::new();
    for file in files {
        // A file, or a built-in recipe if there is no such file.
        let path = std::path::Path::new(file);
        let opened =
            if path.exists() { catalog::open_path(path) } else { catalog::open_recipe(file) };
        let mut is_recipe = false;
        let diagnostics = match opened {
            Ok(opened) if rounds::is_rules_file(&opened.source) => {
                rounds::check_rules_file(&opened.source)
            }
            Ok(opened) if site::is_site(&opened.source) => {
                site::read_site(&opened.source).err().unwrap_or_default()
            }
            Ok(opened) if batch::is_batch(&opened.source) => {
                file::check_batch_file(global, &opened.source)
            }
            Ok(opened) => {
                is_recipe = opened.kind == RecipeFileKind::Recipe;
                let mut problems = check_text(&opened.source, opened.kind, &opened);
                let is_builtin = opened.is_builtin();
                problems.retain(|problem| !(is_builtin && is_moving_name(problem)));
                problems
            }
            Err(CatalogError::Text(diagnostics)) => diagnostics,
            Err(error) => {
                failed = true;
                let failure = Failure::from(error);
                if global.output == OutputFormat::Json {
                    let (errors, _) = failure.into_parts();
                    reports
                        .push(serde_json::json!({ "file": file, "ok": false, "errors": errors }));
                } else {
                    failure.report();
                }
                continue;
            }
        };
        failed |= diagnostics.has_errors();
        let start = if is_recipe && !diagnostics.has_errors() {
            describe_start(global, file)
        } else {
            Vec::new()
        };
        if global.output == OutputFormat::Json {
            reports.push(serde_json::json!({ "file": file, "ok": !diagnostics.has_errors(), "problems": diagnostics, "start": start }));
            continue;
        }
        let rendered = diagnostics.render(terminal::uses_color());
        if !rendered.is_empty() {
            terminal::print_text(&rendered);
        }
        if !global.quiet && !diagnostics.has_errors() {
            let warnings = describe_warnings(diagnostics.warning_count());
            terminal::print_lines([format!("{file}: ok{warnings}")]);
            terminal::print_lines(start.into_iter().map(|line| format!("  {line}")));
        }
    }
    if global.output == OutputFormat::Json {
        terminal::print_json(&reports);
    }
    ExitCode::Usage.success_if(!failed)
}

fn describe_warnings(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!(", {}", format::format_count(count, "warning")),
    }
}
