//! The top level of a recipe: keys that are not read into the model, reserved words, versions.

mod loadgen;

pub use loadgen::{ACCURACY_FIGURES, LOADGEN_FIGURES, is_accuracy_figure, is_loadgen_figure};

use super::declare::Field as _;
use super::format::Format as F;
use super::model::Recipe;
use super::shape::{Choice, Object, Reach, Shape as S, choice, key};

/// Keys that a later release will give a meaning.
pub const RESERVED: &[&str] = &["services", "nodes", "roles"];

/// Keys that only the top level of a file has.
pub const TOP_ONLY: &[&str] = &["schema", "extends", "variants", "default", "unsupported"];

/// The newest schema that is understood.
pub const SCHEMA: i64 = 1;

/// The keys of a recipe.
pub fn recipe() -> &'static Object {
    match Recipe::SHAPE {
        S::Object(object) => object,
        _ => &Object {
            what: "a recipe",
            groups: &[],
            one_of: &[],
        },
    }
}

/// Whether these are the keys of a recipe.
pub fn is_recipe(object: &Object) -> bool {
    object.what == recipe().what
}

pub static PARAM: Object = Object {
    what: "a param",
    one_of: &[],
    groups: &[&[
        key("type", S::Choice(PARAM_TYPES), "What its value is.").required(),
        key(
            "default",
            S::Scalar(Reach::Recipe),
            "Its value where --set gives none; without, it must be set.",
        ),
        key(
            "values",
            S::List(&S::Text(F::Any), 1),
            "The values of an enum.",
        ),
        key("help", S::Text(F::Any), "What it is for."),
        key(
            "set",
            S::Scalar(Reach::Recipe),
            "The value that --set gave. Written by retrial into a run's recipe.yaml.",
        ),
    ]],
};

pub const PARAM_TYPES: &[Choice] = &[
    choice("string", "Text."),
    choice("int", "A whole number."),
    choice("path", "An absolute path, or ./ beside the recipe."),
    choice("enum", "One of `values`."),
    choice("bool", "true or false."),
];
