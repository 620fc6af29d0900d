//! Scenarios and their modes, figures, expectations, the rules of judging.

use super::shared::{MEASURED_COMMAND, MEASURED_ENV, SHELL, SILENCE, TEXT, TIMEOUT, USER};
use crate::recipe::format::Format as F;
use crate::recipe::shape::{Choice, Object, Reach, Shape as S, choice, key};

pub(super) static MODES: Object = Object {
    what: "a scenario",
    one_of: &[],
    keys: &[
        key("performance", S::Object(&MEASUREMENT), "How fast."),
        key("accuracy", S::Object(&MEASUREMENT), "How right."),
        key("compliance", S::Object(&MEASUREMENT), "The audit's tests."),
    ],
};

pub(super) static MEASUREMENT: Object = Object {
    what: "a measurement",
    one_of: &["run", "from"],
    keys: &[
        key("run", MEASURED_COMMAND, "The command."),
        key(
            "from",
            S::Text(F::Filled),
            "One of `commands`, run once for all that name it.",
        ),
        key(
            "results",
            S::Template(Reach::Measurement, F::Absolute),
            "The directory that LoadGen writes, a path or a glob that one new directory matches.",
        ),
        key(
            "check",
            MEASURED_COMMAND,
            "A command that checks the results, for example the accuracy script.",
        ),
        key(
            "check_timeout",
            S::Duration,
            "The longest that the check may take.",
        ),
        key(
            "figures",
            S::Map(F::Name, &S::Object(&FIGURE)),
            "Figures that are not LoadGen's, by name.",
        ),
        key(
            "expect",
            S::Map(
                F::Name,
                &S::Either(&[
                    S::Object(&EXPECTATION),
                    S::List(&S::Object(&EXPECTATION), 1),
                ]),
            ),
            "Published figures, by name: one, or a list.",
        ),
        key(
            "limits",
            S::Map(F::Name, &S::Object(&LIMIT)),
            "The benchmark's own limits: outside of them a result is invalid.",
        ),
        key(
            "target_qps",
            S::Number,
            "The target rate of the published result, queries per second: another one is `modified`.",
        ),
        key(
            "trials",
            S::Either(&[S::Integer(1, 1000), S::Object(&TRIALS)]),
            "How often it is measured: 3, or {min, max} to go on until the evidence decides.",
        )
        .default("1"),
        TIMEOUT,
        SILENCE,
        key(
            "env",
            MEASURED_ENV,
            "Environment variables of this command.",
        ),
        key(
            "workdir",
            S::Template(Reach::Measurement, F::Absolute),
            "The working directory in the container.",
        ),
        USER,
        SHELL,
    ],
};

pub(super) static FIGURE: Object = Object {
    what: "a figure",
    one_of: &["pattern", "json", "csv", "mllog"],
    keys: &[
        key(
            "pattern",
            S::Text(F::Pattern),
            "A regular expression; the group `value`, or the first, is the figure.",
        ),
        key(
            "json",
            S::Text(F::Filled),
            "A path into a JSON document, for example metrics.rouge1.",
        ),
        key("csv", S::Text(F::Filled), "A column of a CSV file."),
        key("mllog", S::Text(F::Filled), "A key of :::MLLOG lines."),
        key(
            "file",
            S::Template(Reach::Measurement, F::ResultFile),
            "The file below results; none: the output of the check, else of the command.",
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

pub(super) const TAKES: &[Choice] = &[
    choice("first", "The first."),
    choice("last", "The last."),
    choice("all", "All; they must agree."),
    choice("min", "The smallest."),
    choice("max", "The largest."),
    choice("sum", "The sum."),
    choice("mean", "The mean."),
];

pub(super) const AGGREGATES: &[Choice] = &[
    choice("mean", "The arithmetic mean."),
    choice("median", "The median."),
    choice("olympic", "Fastest and slowest dropped, mean of the rest."),
];

pub(super) static EXPECTATION: Object = Object {
    what: "a published figure",
    one_of: &[],
    keys: &[
        key("value", S::Number, "The value.").required(),
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
    ],
};

pub(super) const EXPECTATION_KINDS: &[Choice] = &[
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

pub(super) static TRIALS: Object = Object {
    what: "a number of trials",
    one_of: &[],
    keys: &[
        key("min", S::Integer(1, 1000), "At least.").required(),
        key("max", S::Integer(1, 1000), "At most.").required(),
    ],
};

pub(super) static JUDGE: Object = Object {
    what: "the rules of judging",
    one_of: &[],
    keys: &[
        key(
            "margin",
            S::Fraction,
            "How much worse still counts as reproduced; none: 5 %, or 2 % on the same system.",
        ),
        key(
            "noise",
            S::Fraction,
            "Assumed noise of one trial; none: 0.8 % for LoadGen's performance figures.",
        ),
        key("confidence", S::Fraction, "Confidence, one-sided.").default("95%"),
        key(
            "reimplemented",
            S::Bool,
            "The script is ours: the workload's own was never published.",
        )
        .default("false"),
    ],
};
