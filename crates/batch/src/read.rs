//! From a batch file's text to a checked [`Batch`].

use std::path::Path;

use super::model::{Batch, Combination, Spanned, WrittenAxis};
use super::names::{assign_short_names, find_duplicates};
use retrial_document::{
    Diagnostics, Field as _, Keys as _, Node, Source, parse_and_validate, parse_yaml,
};

/// Returns whether a file is a batch and not a recipe: it has `recipe`, `recipes` or `vary`, which no recipe
/// has.
pub fn is_batch(source: &Source) -> bool {
    let keys = ["recipes", "recipe", "vary"];
    // Most files are recipes, and need no second parse to say so.
    let begins = |line: &str| keys.iter().any(|key| line.trim_start().starts_with(key));
    source.text.lines().any(begins)
        && parse_yaml(source, &mut Diagnostics::default()).is_some_and(|node| {
            keys.iter().any(|key| node.entry(key).is_some()) && node.entry("submission").is_none()
        })
}

/// Reads a batch file as far as it can be understood, with every problem of it: what is wrong with its axes and
/// claims can then be reported together with a misspelt key. Relative paths in it are from its own directory,
/// which is put before them.
pub fn read_batch(source: &Source) -> (Option<Batch>, Diagnostics) {
    let mut problems = Diagnostics::default();
    let checked_node = parse_and_validate::<Batch>(source, "docs/batches.md", &mut problems);
    let batch = checked_node.and_then(|checked| {
        let mut batch = Batch::from_keys(&checked)?;
        let directory = directory_of(&source.path);
        complete_batch(&mut batch, &checked, directory, &mut problems);
        Some(batch)
    });
    (batch, problems)
}

/// Completes what depends on more than one key, or on where the file is.
fn complete_batch(batch: &mut Batch, node: &Node, directory: &str, problems: &mut Diagnostics) {
    let recipes = batch.recipes.iter_mut().map(|recipe| &mut recipe.recipe);
    let others = batch.external_results.iter_mut();
    for path in recipes.chain(others.flat_map(|(_, other)| &mut other.runs)) {
        path.value = resolve_path(directory, &path.value);
    }
    if batch.recipes.iter().all(|recipe| recipe.name.is_empty()) {
        let drained = batch.recipes.drain(..).map(|recipe| recipe.recipe);
        let recipes: Vec<_> = drained.collect();
        batch.recipes = assign_short_names(&recipes, problems);
    }
    let baseline = node.get("baseline");
    if let Some(text) = baseline.and_then(|node| Spanned::from_node(node, &String::TYPE)) {
        Combination::parse(&text, problems);
    }
    let confidence = batch.execution.confidence;
    if !(confidence > 0.5 && confidence < 1.0)
        && let Some(at) = node.get("confidence")
    {
        let message = "a confidence is between 50 % and 100 %";
        problems.error("out-of-range", message, &at.span, "95% is usual");
    }
    for axis in &batch.vary {
        check_duplicates(axis, problems);
    }
}

/// Reports values that are listed twice: they would be run twice as often.
pub(super) fn check_duplicates(axis: &WrittenAxis, problems: &mut Diagnostics) {
    for value in find_duplicates(&axis.values) {
        let message = format!("duplicate `{}` under `{}`", value.value, axis.name.value);
        let help = "remove one of them; `trials` repeats all cells";
        problems.error("duplicate", message, &value.span, help);
    }
}

/// The directory of a file, as its path was written; empty for one of the working directory.
fn directory_of(path: &str) -> &str {
    let directory = Path::new(path).parent();
    directory.and_then(Path::to_str).unwrap_or_default()
}

/// Returns a path relative to the working directory; names of the catalog, ids and absolute paths stay.
fn resolve_path(directory: &str, written: &str) -> String {
    let relative = matches!(written.split('/').next(), Some("." | ".."));
    if !relative || directory.is_empty() {
        return written.to_owned();
    }
    let joined =
        format!("{}/{}", directory.trim_end_matches('/'), written.trim_start_matches("./"));
    // A bare name would mean a built-in recipe.
    if joined.starts_with(['/', '.', '~']) { joined } else { format!("./{joined}") }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("batch.yaml", "./mine.yaml", "./mine.yaml")]
    #[case("./batch.yaml", "./mine.yaml", "./mine.yaml")]
    #[case("some/batch.yaml", "./mine.yaml", "./some/mine.yaml")]
    #[case("/a/b/batch.yaml", "../mine.yaml", "/a/b/../mine.yaml")]
    #[case("/batch.yaml", "./mine.yaml", "/mine.yaml")]
    #[case("../batch.yaml", "./mine.yaml", "../mine.yaml")]
    #[case("some/batch.yaml", "mlperf-inference/x", "mlperf-inference/x")]
    #[case("some/batch.yaml", "/abs/x.yaml", "/abs/x.yaml")]
    fn paths_are_relative_to_the_file(
        #[case] file: &str,
        #[case] written: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(resolve_path(directory_of(file), written), expected);
    }
}
