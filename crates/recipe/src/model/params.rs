//! Params: values that a user may set.

use retrial_document::formats::ANY;
use retrial_document::{FieldType as T, Object, Scope, Word, declare_key, declare_word};

pub(super) static PARAM_OBJECT: Object = Object {
    label: "a param",
    one_of: &[],
    groups: &[&[
        declare_key("type", T::Words(PARAM_TYPES), "The type of the value.").required(),
        declare_key(
            "default",
            T::Scalar(Scope::DOCUMENT),
            "The value without --set; a param without a default must be set.",
        ),
        declare_key("values", T::List(&T::Text(ANY), 1), "The values of an enum."),
        declare_key("help", T::Text(ANY), "The purpose of the param."),
        declare_key(
            "set",
            T::Scalar(Scope::DOCUMENT),
            "The value that --set gave. Written by retrial into a run's recipe.yaml.",
        ),
    ]],
};

const PARAM_TYPES: &[Word] = &[
    declare_word("string", "Text."),
    declare_word("int", "A whole number."),
    declare_word(
        "path",
        "An absolute path, ./ next to the recipe, or ~/ below the home directory.",
    ),
    declare_word("enum", "One of `values`."),
    declare_word("bool", "true or false."),
];
