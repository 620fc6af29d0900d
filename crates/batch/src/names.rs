//! The names of recipes and cells of a batch.

use std::collections::HashSet;

use itertools::Itertools as _;

use super::model::{BatchRecipe, Combination, Spanned};
use retrial_recipe::Diagnostics;

impl Combination {
    /// Parses `rocm=6.4.1,backend=rocm`, as cells are named; the first part may be only a recipe's name.
    pub(super) fn parse(text: &Spanned<String>, problems: &mut Diagnostics) -> Option<Self> {
        let mut values = Vec::new();
        let mut good = true;
        let mut start = 0;
        // In the text as it was written, quotes included.
        let offset = text.span.slice().find(&text.value).unwrap_or(0);
        for part in text.value.split(',') {
            let at = offset + start + part.len() - part.trim_start().len();
            let span = text.span.sub_span(at..at + part.trim().len());
            start += part.len() + 1;
            let spanned =
                |value: &str| Spanned { value: value.trim().to_owned(), span: span.clone() };
            match part.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                    values.push((spanned(name), spanned(value)));
                }
                None if values.is_empty() && !part.trim().is_empty() => {
                    values.push((spanned(RECIPE), spanned(part)));
                }
                _ => {
                    let message = format!("`{}` is not axis=value", part.trim());
                    let help = "name a cell like rocm=6.4.1,backend=rocm";
                    problems.error("bad-value", message, &span, help);
                    good = false;
                }
            }
        }
        good.then(|| Self::new(values, text.span.clone()))
    }
}

/// The axis of a batch's recipes.
pub(super) const RECIPE: &str = "recipe";

/// Returns the texts that are equal to an earlier one.
pub(super) fn find_duplicates(texts: &[Spanned<String>]) -> impl Iterator<Item = &Spanned<String>> {
    let mut known = HashSet::new();
    texts.iter().filter(move |text| !known.insert(&text.value))
}

/// Calls each recipe by the last part of its name, or by as many parts as tell it from the others.
pub(super) fn assign_short_names(
    recipes: &[Spanned<String>],
    problems: &mut Diagnostics,
) -> Vec<BatchRecipe> {
    for recipe in find_duplicates(recipes) {
        let message = format!("duplicate `{}`", recipe.value);
        problems.error("duplicate", message, &recipe.span, "remove one of them");
    }
    let all: Vec<Vec<&str>> = recipes.iter().map(|recipe| name_parts(&recipe.value)).collect();
    let most = all.iter().map(Vec::len).max().unwrap_or(1);
    let ends = |count: usize| -> Vec<String> {
        let end = |parts: &Vec<&str>| parts[parts.len().saturating_sub(count)..].join("-");
        all.iter().map(end).collect()
    };
    let names =
        (1..most).map(ends).find(|names| names.iter().all_unique()).unwrap_or_else(|| ends(most));
    let pairs = names.into_iter().zip(recipes.iter());
    pairs.map(|(name, recipe)| BatchRecipe { name, recipe: recipe.clone() }).collect()
}

/// `../some/mine.yaml` and `../some/mine/recipe.yaml` are `some`, `mine`.
fn name_parts(recipe: &str) -> Vec<&str> {
    let path = recipe.trim_end_matches('/');
    let without_file = path.strip_suffix("/recipe.yaml").unwrap_or(path);
    let trimmed = without_file.strip_suffix(".yaml").unwrap_or(without_file);
    let parts: Vec<&str> =
        trimmed.split('/').filter(|part| !matches!(*part, "" | "." | ".." | "~")).collect();
    if parts.is_empty() { vec!["recipe"] } else { parts }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use retrial_recipe::Source;

    fn spanned(text: &str) -> Spanned<String> {
        let source = Source::new("batch.yaml", text);
        Spanned { value: text.to_owned(), span: source.span(0..text.len()) }
    }

    #[rstest]
    #[case(&["mlperf/v6.0/amd/bert-mi355x"], "bert-mi355x")]
    #[case(&["./mine.yaml", "./dir/recipe.yaml", "../"], "mine dir recipe")]
    #[case(&["v5.1/amd/bert", "v6.0/amd/bert"], "v5.1-amd-bert v6.0-amd-bert")]
    #[case(&["v6.0/amd/bert", "v6.0/nvidia/bert", "x"], "amd-bert nvidia-bert x")]
    fn recipes_have_short_names(#[case] recipes: &[&str], #[case] expected: &str) {
        let recipes: Vec<_> = recipes.iter().copied().map(spanned).collect();
        let named = assign_short_names(&recipes, &mut Diagnostics::default());
        let names: Vec<&str> = named.iter().map(|recipe| recipe.name.as_str()).collect();
        assert_eq!(names.join(" "), expected);
    }

    #[test]
    fn cell_names_are_parsed() {
        let mut problems = Diagnostics::default();
        let text = spanned("bert, rocm=6.4.1,backend = rocm");
        let combination = Combination::parse(&text, &mut problems).unwrap();
        assert_eq!(combination.to_values().to_string(), "recipe=bert,rocm=6.4.1,backend=rocm");
        assert_eq!(combination.values[1].1.span.slice(), "rocm=6.4.1");
        assert!(Combination::parse(&spanned("rocm=6.4.1,rocm"), &mut problems).is_none());
        assert_eq!(problems.error_count(), 1);
    }
}
