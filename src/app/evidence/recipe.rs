//! The recipe of a bundle next to the built-in one of its name.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::app::catalog;
use crate::app::launch::OpenedRecipe;
use retrial_bundle::verification::RecipeComparison;
use retrial_plan::Plan;
use retrial_recipe::ParamSetting;

/// The time limit of the comparison; the rest counts as different.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);
/// The largest number of lines that are shown.
const MAX_DIFF_LINES: usize = 20;

/// Compares the resolved recipe of a run with the built-in one, resolved with the same settings.
pub fn compare_with_builtin(plan: &Plan, text: &str) -> RecipeComparison {
    let settings: Vec<ParamSetting> = plan.settings().collect();
    compare_with_settings(&plan.recipe, &settings, plan.smoke_test, text)
}

fn compare_with_settings(
    name: &str,
    settings: &[ParamSetting],
    smoke_test: bool,
    text: &str,
) -> RecipeComparison {
    let name = name.to_owned();
    // A path is never a built-in recipe, even if the file exists on this machine.
    let is_builtin = catalog::recipe_names().contains(&name);
    let entry = is_builtin.then(|| catalog::open_recipe(&name).ok()).flatten();
    let Some(entry) = entry else {
        return RecipeComparison::NotBuiltIn { name };
    };
    let Ok(OpenedRecipe { resolved, .. }) = OpenedRecipe::resolve(entry, settings, smoke_test)
    else {
        let diff = vec!["the built-in recipe does not have the settings of the run".to_owned()];
        return RecipeComparison::Differs { name, diff };
    };
    if resolved.yaml == text {
        return RecipeComparison::Same { name };
    }
    let diff = diff_lines(&resolved.yaml, text);
    RecipeComparison::Differs { name, diff }
}

fn diff_lines(builtin: &str, own: &str) -> Vec<String> {
    // Somebody may have made a text that takes long to compare.
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(builtin, own);
    let changed = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Equal => return None,
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        Some(format!("{sign} {}", change.value().trim_end()))
    });
    let mut lines: Vec<String> = changed.collect();
    if lines.len() > MAX_DIFF_LINES {
        let more = lines.len() - MAX_DIFF_LINES;
        lines.truncate(MAX_DIFF_LINES);
        lines.push(format!("… {more} more lines"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan has all variants, chosen or not: naming the usual ones changes nothing.
    #[test]
    fn every_built_in_recipe_matches_only_itself() {
        let mut count = 0;
        for entry in catalog::builtin_recipes() {
            // Some have params that must be set.
            let name = entry.name.clone();
            let Ok(OpenedRecipe { resolved, .. }) = OpenedRecipe::resolve(entry, &[], false) else {
                continue;
            };
            let variants = resolved.recipe.variant.iter();
            let settings: Vec<ParamSetting> = variants
                .map(|(axis, value)| ParamSetting::new(axis.clone(), value.clone()))
                .collect();
            let same = RecipeComparison::Same { name: name.clone() };
            let compared = compare_with_settings(&name, &settings, false, &resolved.yaml);
            assert_eq!(compared, same);
            let other = resolved.yaml.replacen("title:", "title: another", 1);
            let RecipeComparison::Differs { diff, .. } =
                compare_with_settings(&name, &settings, false, &other)
            else {
                panic!("{name}")
            };
            assert_eq!(diff.len(), 2, "{diff:?}");
            assert!(diff[1].starts_with("+ title: another"), "{diff:?}");
            count += 1;
        }
        assert!(count > 20, "{count}");
    }

    #[test]
    fn a_path_or_unknown_setting_is_not_a_built_in_recipe() {
        let not = compare_with_settings("./mine.yaml", &[], false, "");
        assert!(matches!(not, RecipeComparison::NotBuiltIn { .. }), "{not:?}");
        let entry = &catalog::builtin_recipes()[0];
        let settings = [ParamSetting::new("no-such-thing", "1")];
        let differs = compare_with_settings(&entry.name, &settings, false, "");
        assert!(matches!(differs, RecipeComparison::Differs { .. }), "{differs:?}");
    }
}
