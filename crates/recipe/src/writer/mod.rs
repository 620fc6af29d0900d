//! Writes a recipe: its keys in the order of their declaration, with comments. It does not choose the content.

mod compact;
mod fold;
mod nodes;
mod section;

use retrial_document::{FieldType, Keys as _};

pub use nodes::{list_node, map_node, plain_node, text_node};
pub use section::Section;

use crate::model::Recipe;

/// The line by which editors find the schema.
const SCHEMA_LINES: &str = "# yaml-language-server: $schema=recipe.schema.json\n# Editors complete and check it with the schema next to it: retrial schema recipe > recipe.schema.json\n";

/// Returns a recipe's text: comments, the schema's version, and the other keys.
pub fn render_recipe(heading: &[String], mut keys: Section) -> String {
    for line in heading {
        keys.comment_above("schema", line);
    }
    keys.set("schema", plain_node("1"));
    format!("{SCHEMA_LINES}{}", render_keys(&keys))
}

/// Returns keys of a recipe as text; a blank line separates them.
pub fn render_keys(keys: &Section) -> String {
    keys.render(&FieldType::Object(Recipe::OBJECT))
}
