//! The top level of a recipe: keys that are not read into the model, reserved words, versions.

mod loadgen;

pub use loadgen::{ACCURACY_FIGURES, LOADGEN_FIGURES, is_accuracy_figure, is_loadgen_figure};

use super::model::Recipe;
use crate::formats;
use retrial_document::{FieldType as T, Keys as _, Object, Scope, Word, key, word};

/// Keys that a later release will give a meaning.
pub const RESERVED: &[&str] = &["roles"];

/// Keys that only the top level of a file has.
pub const TOP_ONLY: &[&str] = &["schema", "extends", "variants", "default", "unsupported"];

/// The newest schema that is understood.
pub const SCHEMA: i64 = 1;

/// The keys of a recipe.
#[must_use]
pub fn recipe() -> &'static Object {
    Recipe::OBJECT
}

pub static PARAM: Object = Object {
    what: "a param",
    one_of: &[],
    groups: &[&[
        key("type", T::Words(PARAM_TYPES), "What its value is.").required(),
        key(
            "default",
            T::Scalar(Scope::DOCUMENT),
            "Its value where --set gives none; without, it must be set.",
        ),
        key(
            "values",
            T::List(&T::Text(formats::ANY), 1),
            "The values of an enum.",
        ),
        key("help", T::Text(formats::ANY), "What it is for."),
        key(
            "set",
            T::Scalar(Scope::DOCUMENT),
            "The value that --set gave. Written by retrial into a run's recipe.yaml.",
        ),
    ]],
};

pub const PARAM_TYPES: &[Word] = &[
    word("string", "Text."),
    word("int", "A whole number."),
    word("path", "An absolute path, or ./ next to the recipe."),
    word("enum", "One of `values`."),
    word("bool", "true or false."),
];
