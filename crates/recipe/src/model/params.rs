//! Params: values that a user may set.

use retrial_document::formats::ANY;
use retrial_document::{FieldType as T, Object, Scope, Word, key, word};

/// The keys of a param.
pub(super) static PARAM: Object = Object {
    label: "a param",
    one_of: &[],
    groups: &[&[
        key("type", T::Words(TYPES), "The type of the value.").required(),
        key(
            "default",
            T::Scalar(Scope::DOCUMENT),
            "The value without --set; a param without a default must be set.",
        ),
        key(
            "values",
            T::List(&T::Text(ANY), 1),
            "The values of an enum.",
        ),
        key("help", T::Text(ANY), "The purpose of the param."),
        key(
            "set",
            T::Scalar(Scope::DOCUMENT),
            "The value that --set gave. Written by retrial into a run's recipe.yaml.",
        ),
    ]],
};

const TYPES: &[Word] = &[
    word("string", "Text."),
    word("int", "A whole number."),
    word("path", "An absolute path, or ./ next to the recipe."),
    word("enum", "One of `values`."),
    word("bool", "true or false."),
];
