//! Figures, what was published of them, the benchmark's own limits.

use super::shared::TEXT;
use crate::format::Format as F;
use crate::shape::{Choice, Object, Reach, Shape as S, choice, key};

pub(super) static FIGURE: Object = Object {
    what: "a figure",
    one_of: &["pattern", "json", "csv", "mllog"],
    keys: &[
        key(
            "pattern",
            S::Text(F::Pattern),
            "A regular expression; the group `value`, or the first, is the figure. A group `unit` is converted into `unit`.",
        ),
        key(
            "json",
            S::Text(F::JsonPath),
            "A JSONPath (RFC 9535), for example $.metrics.rouge1: into the file, or into each line of the output that is JSON.",
        ),
        key(
            "csv",
            S::Either(&[S::Text(F::Filled), S::Object(&CSV)]),
            "A column of a CSV file by its head, or {column, where, row}.",
        ),
        key(
            "mllog",
            S::Text(F::Filled),
            "Of the :::MLLOG lines: time_to_train, samples_to_converge, or a key (tracked_stats.throughput).",
        ),
        key(
            "file",
            S::Template(Reach::Measurement, F::ResultFile),
            "The file below results, or a glob (result_*.txt); none: the output of the check, else of the command.",
        ),
        key(
            "by",
            S::List(&S::Text(F::Filled), 1),
            "A table: the groups, columns or members whose values name a figure each, for example [dtype, shape] gives gemm[bf16 8192x8192x8192].",
        ),
        key(
            "value",
            S::Text(F::Filled),
            "Of a table from JSON: the member of each match that is the figure.",
        ),
        key(
            "target",
            S::Object(&LIMIT),
            "What the last eval_accuracy of each run must meet; beside mllog: time_to_train.",
        ),
        key(
            "rcp",
            S::Object(&RCP),
            "Reference convergence points, by which MLCommons normalises the score; beside mllog: time_to_train.",
        ),
        key("unit", S::Text(F::Line), "Its unit, for example TFLOP/s."),
        key(
            "better",
            S::Choice(&[
                choice("higher", "Throughput, accuracy."),
                choice("lower", "Latency, time."),
            ]),
            "Which way is better.",
        )
        .default("higher"),
        key("take", S::Choice(TAKES), "Which match counts.").default("last"),
        key(
            "aggregate",
            S::Choice(AGGREGATES),
            "How trials are made one figure.",
        )
        .default("mean"),
        key(
            "noise",
            S::Fraction,
            "Assumed noise of one trial, for example 0.8%.",
        ),
    ],
};

static CSV: Object = Object {
    what: "a cell",
    one_of: &[],
    keys: &[
        key("column", S::Text(F::Filled), "The column, by its head.").required(),
        key(
            "where",
            S::Map(F::Filled, &S::Scalar(Reach::Recipe)),
            "Only rows whose cells in these columns are these.",
        ),
        key(
            "row",
            S::Integer(1, 1_000_000),
            "Only the row of this number among them, from 1.",
        ),
    ],
};

static RCP: Object = Object {
    what: "the reference convergence points",
    one_of: &[],
    keys: &[
        key(
            "runs",
            S::Integer(3, 100),
            "How many runs a submission of this benchmark has.",
        )
        .default("10"),
        key(
            "points",
            S::Map(F::Count, &S::List(&S::Number, 3)),
            "By global batch size: what the reference's runs took to converge, in samples or epochs.",
        )
        .required(),
    ],
};

const TAKES: &[Choice] = &[
    choice("first", "The first."),
    choice("last", "The last."),
    choice("all", "All; they must agree."),
    choice("min", "The smallest."),
    choice("max", "The largest."),
    choice("sum", "The sum."),
    choice("mean", "The mean."),
];

const AGGREGATES: &[Choice] = &[
    choice("mean", "The geometric mean."),
    choice("median", "The median."),
    choice("olympic", "Fastest and slowest dropped, mean of the rest."),
];

pub(super) static EXPECTATION: Object = Object {
    what: "a published figure",
    one_of: &["value", "values"],
    keys: &[
        key("value", S::Number, "The value."),
        key(
            "values",
            S::Map(F::Entry, &S::Number),
            "Of a table: the value of each entry, for example {bf16 8192x8192x8192: 1010}.",
        ),
        key(
            "kind",
            S::Choice(EXPECTATION_KINDS),
            "Who published it; official decides.",
        )
        .required(),
        key(
            "source",
            TEXT,
            "Where it stands, for example the id of the result.",
        ),
        key(
            "sigma",
            S::Fraction,
            "Declared standard deviation, a share of the value.",
        ),
        key(
            "noise",
            S::Fraction,
            "Assumed noise of one trial, a share of the value.",
        ),
        key(
            "margin",
            S::Fraction,
            "The margin for this figure, where it differs from the recipe's.",
        ),
        key(
            "claim",
            S::Choice(CLAIMS),
            "What is claimed of the measured figure.",
        )
        .default("not-worse"),
    ],
};

const CLAIMS: &[Choice] = &[
    choice("not-worse", "No worse than published less the margin."),
    choice("equivalent", "Within the margin of it, either way."),
    choice(
        "better",
        "Better than published, by the figure's own margin where it has one.",
    ),
];

const EXPECTATION_KINDS: &[Choice] = &[
    choice("official", "In the results of the round."),
    choice("guide", "Printed by the vendor's guide."),
    choice("third-party", "By somebody else on the same GPU."),
];

pub(super) static LIMIT: Object = Object {
    what: "a limit",
    one_of: &[],
    keys: &[
        key("min", S::Number, "At least."),
        key("max", S::Number, "At most."),
        key("below", S::Number, "Strictly below."),
    ],
};
