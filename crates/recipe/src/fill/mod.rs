//! A recipe that was checked, as the plan wants it.

pub mod read;

use super::declare::Keys as _;
use super::model::Recipe;
use super::names::Names;
use super::node::Node;

/// The recipe. None means that the check is not as strict as the reader: a fault of ours.
pub fn fill(name: &str, node: &Node, names: &Names) -> Option<Recipe> {
    let recipe = Recipe::from_keys(node)?;
    Some(Recipe {
        name: name.to_owned(),
        title: recipe.title.trim().to_owned(),
        params: names.scope.params.clone(),
        variant: names.scope.variant.clone(),
        modified: names.modified.clone(),
        ..recipe
    })
}
