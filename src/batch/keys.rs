//! The keys of a batch file, in the same words as a recipe's (`recipe/keys/`).

use retrial_recipe::format::Format as F;
use retrial_recipe::shape::{Choice, Object, Reach, Shape as S, choice, key};

/// The newest schema that is understood.
pub(super) const SCHEMA: i64 = 1;

const TEXT: S = S::Text(F::Filled);
const VALUE: S = S::Scalar(Reach::Recipe);
const COMBINATION: S = S::Map(F::Name, &VALUE);

pub(super) static BATCH: Object = Object {
    what: "a batch",
    one_of: &["recipe", "recipes"],
    groups: &[&[
        key(
            "schema",
            S::Integer(1, SCHEMA),
            "The version of the language of batches: 1.",
        )
        .required(),
        key(
            "title",
            S::Text(F::Line),
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
            S::Either(&[S::Map(F::Name, &TEXT), S::List(&TEXT, 1)]),
            "Several recipes: a list, or a map with the names that cells and claims call them by.",
        ),
        key(
            "vary",
            S::Map(F::Name, &S::List(&VALUE, 1)),
            "Axes and their values: each an axis of the recipes' variants, or a param.",
        ),
        key(
            "exclude",
            S::List(&COMBINATION, 1),
            "Combinations that are excluded: {rocm: \"7.1.1\", backend: rocm, reason: why}.",
        ),
        key(
            "include",
            S::List(&COMBINATION, 1),
            "Combinations besides the product of the axes; what one does not name has the recipe's default.",
        ),
        key(
            "set",
            COMBINATION,
            "Variants and params that are the same in all cells.",
        ),
        key(
            "scenarios",
            S::List(&TEXT, 1),
            "Only these scenarios of the recipes.",
        ),
        key("modes", S::List(&S::Choice(MODES), 1), "Only these modes."),
        key(
            "baseline",
            S::Either(&[TEXT, COMBINATION]),
            "What each cell is compared with: the cell that has these values and is alike in all others. None: the first of each recipe.",
        ),
        key(
            "trials",
            S::Integer(1, 1000),
            "How many trials of each cell. Each is a run of its own, in a fresh container.",
        )
        .default("1"),
        key("order", S::Choice(ORDERS), "In which order trials are taken.").default("interleaved"),
        key(
            "on_failure",
            S::Choice(ON_FAILURE),
            "What a failed run means for the others.",
        )
        .default("keep-going"),
        key(
            "retries",
            S::Integer(0, 100),
            "How often a run is tried again after the host or its services failed. A benchmark's own failure is a result.",
        )
        .default("1"),
        key(
            "parallel",
            S::Integer(1, 64),
            "How many runs at once, each on GPUs of its own.",
        )
        .default("1"),
        key(
            "pull_ahead",
            S::Choice(PULL_AHEAD),
            "When images are pulled.",
        )
        .default("between"),
        key(
            "gpus",
            S::List(&VALUE, 1),
            "Only these GPUs of the host: index, GPU-… or PCI address.",
        ),
        key(
            "confidence",
            S::Fraction,
            "Confidence of comparisons and claims.",
        )
        .default("95%"),
        key(
            "claims",
            S::List(&S::Either(&[S::Text(F::Line), S::Object(&CLAIM)]), 1),
            "What is claimed, in sentences (docs/batches.md has the grammar).",
        ),
        key(
            "others",
            S::Map(F::Name, &S::Object(&OTHER)),
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
            S::Text(F::Line),
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
            S::List(&TEXT, 1),
            "Ids of imported runs, and paths (./rtx4090) from this file: run directories or folders of results.",
        )
        .required(),
    ]],
};

const MODES: &[Choice] = &[
    choice("performance", "How fast."),
    choice("accuracy", "How right; measured with the first trial."),
    choice("compliance", "The audit's tests; with the first trial."),
];

const ORDERS: &[Choice] = &[
    choice(
        "interleaved",
        "Rounds of one trial of every cell, there and back: A B C, C B A, …",
    ),
    choice("grouped", "All trials of a cell, then the next cell."),
];

const ON_FAILURE: &[Choice] = &[
    choice("keep-going", "The others are run."),
    choice("fail-fast", "No further run begins."),
];

const PULL_AHEAD: &[Choice] = &[
    choice(
        "between",
        "While something else is done that is no measurement.",
    ),
    choice("during", "Also while something is measured."),
    choice("never", "Each when its own run begins."),
];
