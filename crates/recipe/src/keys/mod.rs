//! Every key of a recipe: its shape, its default and its description, once.

mod figures;
mod host;
mod loadgen;
mod scenarios;
mod shared;
mod steps;

use host::{CONTAINER, REQUIRES};
pub use loadgen::{ACCURACY_FIGURES, LOADGEN_FIGURES, is_accuracy_figure, is_loadgen_figure};
use scenarios::{JUDGE, MODES};

use shared::{TEXT, TEXTS};
use steps::{COMMAND_OBJECT, COPY, MODEL, SETUP};

use super::format::Format as F;
use super::shape::{Choice, Object, Reach, Shape as S, choice, key};

/// Keys that a later release will give a meaning.
pub const RESERVED: &[&str] = &["services", "nodes", "roles"];

/// Keys that only the top level of a file has.
pub const TOP_ONLY: &[&str] = &["schema", "extends", "variants", "default", "unsupported"];

/// The newest schema that is understood.
pub const SCHEMA: i64 = 1;

pub static RECIPE: Object = Object {
    what: "a recipe",
    one_of: &[],
    keys: &[
        key(
            "schema",
            S::Integer(1, i64::MAX),
            "The version of the recipe's language: 1.",
        )
        .required(),
        key(
            "title",
            S::Text(F::Line),
            "One line: whose submission of what, on what.",
        )
        .required(),
        key("description", TEXT, "More about it."),
        key(
            "expected_duration",
            S::Duration,
            "How long all its scenarios and modes take on the published hardware, besides downloads.",
        ),
        key(
            "host_notes",
            S::List(&S::Text(F::Filled), 0),
            "Changes that the guide makes to the host and this recipe only mentions: clocks, partitions, kernel settings.",
        ),
        key(
            "deviations",
            S::List(&S::Text(F::Filled), 0),
            "Where the recipe deviates from the guide or the published run, and why.",
        ),
        key(
            "extends",
            S::Either(&[S::Text(F::Filled), S::List(&S::Text(F::Filled), 0)]),
            "Templates that this one builds on, by name; later ones are merged over earlier ones, and this file over all.",
        ),
        key("submission", S::Object(&SUBMISSION), "What was published.").required(),
        key(
            "params",
            S::Map(F::Name, &S::Object(&PARAM)),
            "Values that a user may set with --set name=value, named in expressions as params.name.",
        ),
        key(
            "variants",
            S::Map(F::Name, &S::Map(F::Filled, &S::Overlay)),
            "Overlays on this recipe, by axis and value: {rocm: {\"7.1.1\": {image: …}}}.",
        ),
        key(
            "default",
            S::Map(F::Name, &TEXT),
            "The value of each variant axis that holds without --set.",
        ),
        key(
            "unsupported",
            S::List(&S::Map(F::Name, &TEXT), 0),
            "Combinations of variants that do not exist, each with a `reason`.",
        ),
        key(
            "image",
            S::Either(&[S::Text(F::Image), S::Object(&IMAGE)]),
            "The image: a reference, {ref, digest}, or {build}.",
        )
        .required(),
        key(
            "requires",
            S::Object(&REQUIRES),
            "What is asked of the host.",
        ),
        key(
            "container",
            S::Object(&CONTAINER),
            "How the container is made, in Docker's words.",
        ),
        key(
            "files",
            S::Map(F::Inner, &S::Text(F::Absolute)),
            "Scripts beside the recipe, mounted read-only: {script.sh: /in/the/container.sh}.",
        ),
        key(
            "copy_from_image",
            S::List(&S::Object(&COPY), 0),
            "Paths taken out of the image, for steps on the host.",
        ),
        key(
            "models",
            S::Map(F::Name, &S::Object(&MODEL)),
            "Models, by name.",
        ),
        key(
            "datasets",
            S::Map(F::Name, &S::Object(&SETUP)),
            "Datasets, by name: a command, and the directory that it populates.",
        ),
        key(
            "setup",
            S::Map(F::Name, &S::Object(&SETUP)),
            "Setup steps after the datasets, by name, in this order.",
        ),
        key(
            "commands",
            S::Map(F::Name, &S::Object(&COMMAND_OBJECT)),
            "Commands that several scenarios share: they name them with from.",
        ),
        key(
            "scenarios",
            S::Map(F::Name, &S::Object(&MODES)),
            "What is measured: MLPerf's scenarios, or cases with names of your own.",
        )
        .required(),
        key("judge", S::Object(&JUDGE), "How figures are judged."),
        key(
            "secrets",
            S::List(&S::Text(F::Filled), 0),
            "Environment variables of the host that commands may use. HF_TOKEN only; others are given with --secret.",
        ),
    ],
};

static SUBMISSION: Object = Object {
    what: "a submission",
    one_of: &[],
    keys: &[
        key(
            "suite",
            S::Text(F::Line),
            "The suite, for example mlperf-inference.",
        )
        .required(),
        key("round", S::Text(F::Line), "The round, for example v6.0."),
        key("division", S::Choice(DIVISIONS), "The division."),
        key("submitter", S::Text(F::Line), "Who submitted."),
        key(
            "system",
            S::Text(F::Line),
            "The system's name as published.",
        ),
        key(
            "benchmark",
            S::Text(F::Line),
            "The benchmark's name as published, for example llama2-70b-99.",
        )
        .required(),
        key("sources", TEXTS, "Where it was published."),
    ],
};

const DIVISIONS: &[Choice] = &[
    choice("closed", "The benchmark's own model and rules."),
    choice("open", "Another model or other rules."),
    choice("network", "Closed, with queries over a network."),
];

static PARAM: Object = Object {
    what: "a param",
    one_of: &[],
    keys: &[
        key("type", S::Choice(PARAM_TYPES), "What its value is.").required(),
        key(
            "default",
            S::Scalar(Reach::Recipe),
            "Its value where --set gives none; without, it must be set.",
        ),
        key("values", S::List(&TEXT, 1), "The values of an enum."),
        key("help", TEXT, "What it is for."),
        key(
            "set",
            S::Scalar(Reach::Recipe),
            "The value that --set gave. Written by retrial into a run's recipe.yaml.",
        ),
    ],
};

pub const PARAM_TYPES: &[Choice] = &[
    choice("string", "Text."),
    choice("int", "A whole number."),
    choice("path", "An absolute path, or ./ beside the recipe."),
    choice("enum", "One of `values`."),
    choice("bool", "true or false."),
];

static IMAGE: Object = Object {
    what: "an image",
    one_of: &["ref", "build"],
    keys: &[
        key(
            "ref",
            S::Text(F::Image),
            "The reference, for example rocm/amd-mlperf:tag.",
        ),
        key(
            "digest",
            S::Text(F::Digest),
            "sha256:… of exactly the image that is meant.",
        ),
        key(
            "build",
            S::Object(&BUILD),
            "Build it from a Dockerfile beside the recipe.",
        ),
    ],
};

static BUILD: Object = Object {
    what: "a build",
    one_of: &[],
    keys: &[
        key(
            "context",
            S::Text(F::Inner),
            "The directory, relative to the recipe's.",
        )
        .required(),
        key(
            "dockerfile",
            S::Text(F::Inner),
            "The Dockerfile, relative to the context.",
        )
        .default("Dockerfile"),
        key(
            "args",
            S::Map(F::Variable, &S::Scalar(Reach::Recipe)),
            "Build arguments.",
        ),
    ],
};
