//! Axes that are varied over all values that the recipes list: `--vary rocm`.

use super::axis_domain::{AxisDomain, unknown_axis};
use super::model::{Batch, Spanned};
use indexmap::IndexSet;
use retrial_recipe::Diagnostics;

/// Gives each axis without values those of the recipes, in their order; combinations that a recipe does not support are
/// excluded later. Returns a problem for an axis of which no recipe lists any.
pub fn fill_axes(batch: &mut Batch, recipes: &[AxisDomain]) -> Diagnostics {
    let mut problems = Diagnostics::default();
    for axis in batch.vary.iter_mut().filter(|axis| axis.values.is_empty()) {
        let (name, span) = (&axis.name.value, &axis.name.span);
        let lists = recipes.iter().filter_map(|recipe| recipe.list_values(name, span).ok());
        let lists: Vec<Vec<String>> = lists.collect();
        if lists.is_empty() {
            problems.push(unknown_axis(recipes, name, span));
            continue;
        }
        let values: IndexSet<String> = lists.into_iter().flatten().collect();
        if values.is_empty() {
            let message = format!("the recipe lists no values of `{name}`");
            let help = format!("write them: --vary {name}=A,B");
            problems.error("bad-value", message, span, help);
        }
        let values = values.into_iter();
        axis.values = values.map(|value| Spanned { value, span: span.clone() }).collect();
    }
    problems
}
