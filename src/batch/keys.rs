//! The keys of a batch file, in the same words as a recipe's (`recipe/keys/`).

use retrial_document::{FieldType as T, Object, Scope, Word, formats, key, word};

/// The newest schema that is understood.
pub(super) const SCHEMA: i64 = 1;

const TEXT: T = T::Text(formats::FILLED);
const VALUE: T = T::Scalar(Scope::DOCUMENT);
const COMBINATION: T = T::Map(formats::NAME, &VALUE);

pub(super) static BATCH: Object = Object {
    what: "a batch",
    one_of: &["recipe", "recipes"],
    groups: &[&[
        key(
            "schema",
            T::Integer(1, SCHEMA),
            "The version of the language of batches: 1.",
        )
        .required(),
        key(
            "title",
            T::Text(formats::LINE),
            "One line: what is compared, on what.",
        )
        .required(),
        key("description", TEXT, "More about it."),
        key(
            "recipe",
            TEXT,
            "The recipe: a built-in name, or a path (./mine.yaml) from this file.",
        ),
        key(
            "recipes",
            T::Either(&[T::Map(formats::NAME, &TEXT), T::List(&TEXT, 1)]),
            "Several recipes: a list, or a map with the names that cells and claims call them by.",
        ),
        key(
            "vary",
            T::Map(formats::NAME, &T::List(&VALUE, 1)),
            "Axes and their values: each an axis of the recipes' variants, or a param.",
        ),
        key(
            "exclude",
            T::List(&COMBINATION, 1),
            "Combinations that are excluded: {rocm: \"7.1.1\", backend: rocm, reason: why}.",
        ),
        key(
            "include",
            T::List(&COMBINATION, 1),
            "Combinations besides the product of the axes; what one does not name has the recipe's default.",
        ),
        key(
            "set",
            COMBINATION,
            "Variants and params that are the same in all cells.",
        ),
        key(
            "scenarios",
            T::List(&TEXT, 1),
            "Only these scenarios of the recipes.",
        ),
        key("modes", T::List(&T::Words(MODES), 1), "Only these modes."),
        key(
            "baseline",
            T::Either(&[TEXT, COMBINATION]),
            "What each cell is compared with: the cell that has these values and is alike in all others. None: the first of each recipe.",
        ),
        key(
            "trials",
            T::Integer(1, 1000),
            "How many trials of each cell. Each is a run of its own, in a fresh container.",
        )
        .default("1"),
        key("order", T::Words(ORDERS), "In which order trials are taken.").default("interleaved"),
        key(
            "on_failure",
            T::Words(ON_FAILURE),
            "What a failed run means for the others.",
        )
        .default("keep-going"),
        key(
            "retries",
            T::Integer(0, 100),
            "How often a run is tried again after the host or its services failed. A benchmark's own failure is a result.",
        )
        .default("1"),
        key(
            "parallel",
            T::Integer(1, 64),
            "How many runs at once, each on GPUs of its own.",
        )
        .default("1"),
        key(
            "pull_ahead",
            T::Words(PULL_AHEAD),
            "When images are pulled.",
        )
        .default("between"),
        key(
            "gpus",
            T::List(&VALUE, 1),
            "Only these GPUs of the host: index, GPU-… or PCI address.",
        ),
        key(
            "confidence",
            T::Fraction,
            "Confidence of comparisons and claims.",
        )
        .default("95%"),
        key(
            "claims",
            T::List(&T::Either(&[T::Text(formats::LINE), T::Object(&CLAIM)]), 1),
            "What is claimed, in sentences (docs/batches.md has the grammar).",
        ),
        key(
            "others",
            T::Map(formats::NAME, &T::Object(&OTHER)),
            "Runs of other hosts that take part in claims, by the name that claims call them.",
        ),
    ]],
};

static CLAIM: Object = Object {
    what: "a claim",
    one_of: &[],
    groups: &[&[
        key(
            "claim",
            T::Text(formats::LINE),
            "The sentence: 7.1.1 + migraphx is faster than 6.4.1 + migraphx.",
        )
        .required(),
        key("source", TEXT, "Where it was published."),
    ]],
};

static OTHER: Object = Object {
    what: "runs of another host",
    one_of: &[],
    groups: &[&[
        key(
            "runs",
            T::List(&TEXT, 1),
            "Ids of imported runs, and paths (./rtx4090) from this file: run directories or folders of results.",
        )
        .required(),
    ]],
};

const MODES: &[Word] = &[
    word("performance", "How fast."),
    word("accuracy", "How right; measured with the first trial."),
    word("compliance", "The audit's tests; with the first trial."),
];

const ORDERS: &[Word] = &[
    word(
        "interleaved",
        "Rounds of one trial of every cell, there and back: A B C, C B A, …",
    ),
    word("grouped", "All trials of a cell, then the next cell."),
];

const ON_FAILURE: &[Word] = &[
    word("keep-going", "The others are run."),
    word("fail-fast", "No further run begins."),
];

const PULL_AHEAD: &[Word] = &[
    word(
        "between",
        "While something else is done that is no measurement.",
    ),
    word("during", "Also while something is measured."),
    word("never", "Each when its own run begins."),
];
