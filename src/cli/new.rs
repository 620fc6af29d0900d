//! `retrial new`: a recipe to start from.

use std::path::Path;

use serde_json::json;

use super::arguments::NewArguments;
use super::new_from;
use crate::app::catalog;
use crate::app::curves;
use crate::app::dialog::Dialog;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::published::{self, ImportRequest};
use crate::app::terminal;
use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_recipe::writer::{Section, render_recipe, text_node};
use retrial_recipe::{LoadedRecipe, scaffold};
use retrial_results::verdict::ExitCode;
use retrial_store::files::parent_directory;
use retrial_submission::import::{self as import, ResultsIndex};

/// Writes a commented recipe, one from a vendor's command line or from answers at the terminal, or one from published
/// results or rows; never over an existing file.
pub fn create_recipe(
    global: &GlobalOptions,
    arguments: &NewArguments,
) -> Result<ExitCode, Failure> {
    use std::io::Write as _;
    let NewArguments { name, results, from, .. } = arguments;
    let is_file = name.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let path = match from {
        _ if is_file => name.to_owned(),
        // The guide's directory is that of the recipe: its paths stay what they are.
        Some(_) => name.with_added_extension("yaml"),
        None => name.join("recipe.yaml"),
    };
    let fault = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{} already exists: choose another name", path.display()))
        }
        _ => Failure::host(format!("failed to write {}: {error}", path.display())),
    };
    // Before the user answers questions in vain.
    if path.exists() {
        return Err(fault(std::io::ErrorKind::AlreadyExists.into()));
    }
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    let may_ask = !arguments.no_input && global.output == OutputFormat::Text;
    let dialog = may_ask.then(Dialog::open).flatten();
    let (text, notes) = match (from, &results.from_results) {
        _ if arguments.from_recipe.is_some() => {
            recipe_from_builtin(&stem, arguments.from_recipe.as_deref().unwrap_or_default())?
        }
        _ if arguments.curve.from_inferencex.is_some() => curves::write_recipe(&arguments.curve)?,
        (_, Some(tree)) => recipe_from_results(tree, results)?,
        (Some(from), None) => {
            new_from::convert_guide(global, &stem, from, arguments, dialog.as_ref())?
        }
        (None, None) => {
            let described =
                dialog.map(|dialog| new_from::describe_recipe(global, &stem, arguments, &dialog));
            described
                .transpose()?
                .flatten()
                .unwrap_or_else(|| (scaffold::starter_recipe(&stem), Vec::new()))
        }
    };
    std::fs::create_dir_all(parent_directory(&path)).map_err(fault)?;
    let mut file = std::fs::File::create_new(&path).map_err(fault)?;
    file.write_all(text.as_bytes()).map_err(fault)?;
    let shown = if path.is_absolute() || path.starts_with(".") {
        path.display().to_string()
    } else {
        format!("./{}", path.display())
    };
    if global.output == OutputFormat::Json {
        terminal::print_pretty_json(&json!({ "path": shown, "notes": notes }));
        return Ok(ExitCode::Success);
    }
    for note in notes {
        terminal::print_note(&format!("note: {note}"));
    }
    terminal::note_error(
        &ErrorText::new(format!("wrote {shown}"))
            .with_help(format!("check it: retrial check {shown}"))
            .with_help(format!("see its steps: retrial plan {shown}")),
    );
    Ok(ExitCode::Success)
}

/// Returns a recipe that extends a built-in one, with the settings of that as comments.
fn recipe_from_builtin(title: &str, name: &str) -> Result<(String, Vec<String>), Failure> {
    let base = catalog::open_recipe(name)?;
    let loaded =
        LoadedRecipe::from_source(&base.name, &base.source, &base).map_err(Failure::of_problems)?;
    let mut keys = Section::default();
    keys.set("extends", text_node(&base.name));
    keys.set("title", text_node(title));
    for param in loaded.declared_params() {
        let help = param.help.unwrap_or_default();
        keys.comment_above("params", &format!("{}: {{ default: … }}    {help}", param.name));
    }
    let heading = [
        format!(
            "Extends {}, by `retrial new NAME --from-recipe`: a key here replaces that of its base.",
            base.name
        ),
        format!("`retrial show {}` prints the base; `expect` is a claim of this file.", base.name),
    ];
    Ok((render_recipe(&heading, keys), Vec::new()))
}

/// Returns the recipe's text, and notes on completing it.
fn recipe_from_results(
    tree: &Path,
    request: &ImportRequest,
) -> Result<(String, Vec<String>), Failure> {
    let index = ResultsIndex::open(tree, catalog::built_in_rounds())?;
    let entries = index.entries();
    let entry = published::select_result(&index, &entries, request)?;
    let others = if request.with_others {
        published::comparable_results(&index, &entries, entry)
    } else {
        Vec::new()
    };
    let (text, incomplete) =
        import::recipe::write_recipe(&import::read_submission(&index, entry, &others)?);
    let added = || format!("figures of {}", format::format_count(others.len(), "other result"));
    let added = request.with_others.then(added);
    let left = format!(
        "{} of `incomplete` must be completed before it can run",
        format::format_count(incomplete, "line")
    );
    Ok((text, added.into_iter().chain([left]).collect()))
}
