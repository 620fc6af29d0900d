//! Scenarios and their modes, figures, expectations, the rules of judging.

use super::figures::{EXPECTATION, FIGURE, LIMIT};
use super::shared::{MEASURED_COMMAND, MEASURED_ENV, SHELL, SILENCE, TIMEOUT, USER};
use crate::format::Format as F;
use crate::shape::{Object, Reach, Shape as S, key};

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
                F::Figure,
                &S::Either(&[
                    S::Object(&EXPECTATION),
                    S::List(&S::Object(&EXPECTATION), 1),
                ]),
            ),
            "Published figures, by name: one, or a list. Of a table: {values: {…}}, or name[entry].",
        ),
        key(
            "limits",
            S::Map(F::Figure, &S::Object(&LIMIT)),
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
