//! The keys of a rules file, in the same words as a recipe's (`recipe/keys/`).

use retrial_recipe::format::Format as F;
use retrial_recipe::shape::{Choice, Key, Object, Shape as S, choice, key};

/// The newest schema that is understood.
pub(super) const SCHEMA: i64 = 1;

const COUNT: S = S::Text(F::Count);
const NAMES: S = S::List(&S::Text(F::Line), 1);

pub(super) static ROUND: Object = Object {
    what: "the rules of a round",
    one_of: &[],
    groups: &[&[
        key(
            "schema",
            S::Integer(1, SCHEMA),
            "The version of the language of rules: 1.",
        )
        .required(),
        key("suite", S::Text(F::Line), "The suite: mlperf-inference.").required(),
        key("round", S::Text(F::Line), "The round, for example v6.0.").required(),
        key("sources", NAMES, "Where its rules were published."),
        key(
            "layout",
            S::Choice(LAYOUTS),
            "How a submission is laid out.",
        )
        .required(),
        key(
            "endpoints",
            S::Bool,
            "Results of an endpoint, without LoadGen's logs, are allowed.",
        )
        .default("false"),
        key(
            "any_samples_in_open",
            S::Bool,
            "The open division may have fewer samples in Offline's query.",
        )
        .default("false"),
        key(
            "any_issue_in_open",
            S::Bool,
            "The open division need not have equal_issue.",
        )
        .default("false"),
        key(
            "unlogged_issue",
            S::Bool,
            "A detail log need not tell of equal_issue: the round's LoadGen may not log it.",
        )
        .default("false"),
        key("seeds", S::Object(&SEEDS), "The random seeds of every run.").required(),
        key(
            "min_duration",
            S::Duration,
            "The least duration of a performance run.",
        )
        .required(),
        key(
            "metrics",
            S::Object(&METRICS),
            "By which figure each scenario is published.",
        )
        .required(),
        key(
            "tests",
            S::Map(F::Name, &S::Object(&TEST)),
            "The compliance tests.",
        ),
        key(
            "benchmarks",
            S::Map(F::Name, &S::Object(&BENCHMARK)),
            "The benchmarks, by their official names.",
        )
        .required(),
    ]],
};

const LAYOUTS: &[Choice] = &[
    choice(
        "beside",
        "measurements/, compliance/ and code/ stand beside results/.",
    ),
    choice(
        "together",
        "All of a result lies in its own folder below results/.",
    ),
];

static SEEDS: Object = Object {
    what: "the seeds",
    one_of: &[],
    groups: &[&[
        key("qsl", COUNT, "qsl_rng_seed").required(),
        key("sample_index", COUNT, "sample_index_rng_seed").required(),
        key("schedule", COUNT, "schedule_rng_seed").required(),
    ]],
};

static TEST: Object = Object {
    what: "a compliance test",
    one_of: &[],
    groups: &[&[
        key(
            "seeds",
            S::Object(&SEEDS),
            "The seeds of its run, where they are others than the round's.",
        ),
        key(
            "within",
            S::Fraction,
            "By how much its performance may differ from the submitted run's.",
        ),
        key(
            "above",
            S::Fraction,
            "By how much its performance may be better; worse is no harm.",
        ),
        key("limits", LIMITS, "Limits of what the test itself measures."),
    ]],
};

const LIMITS: S = S::Map(F::Figure, &S::Object(&LIMIT));

static LIMIT: Object = Object {
    what: "a limit",
    one_of: &[],
    groups: &[&[
        key("min", S::Number, "At least."),
        key("max", S::Number, "At most."),
    ]],
};

static METRIC: Object = Object {
    what: "a metric",
    one_of: &[],
    groups: &[&[FIGURE.required(), UNIT.required()]],
};

const FIGURE: Key = key(
    "figure",
    S::Text(F::Figure),
    "The figure by which it is published, for example tokens_per_second.",
);

const UNIT: Key = key("unit", S::Text(F::Line), "Its unit as published.");

/// The five scenarios as keys of one shape.
const fn scenarios(shape: S) -> [Key; 5] {
    [
        key("Offline", shape, "All samples in one query."),
        key("Server", shape, "Queries arrive at a rate."),
        key("Interactive", shape, "Server with tighter limits."),
        key("SingleStream", shape, "One query after the other."),
        key(
            "MultiStream",
            shape,
            "Queries of several samples, one after the other.",
        ),
    ]
}

static METRICS: Object = Object {
    what: "the metrics",
    one_of: &[],
    groups: &[&scenarios(S::Object(&METRIC))],
};

static SCENARIOS: Object = Object {
    what: "the scenarios",
    one_of: &[],
    groups: &[&scenarios(S::Object(&SCENARIO))],
};

static BENCHMARK: Object = Object {
    what: "a benchmark",
    one_of: &[],
    groups: &[&[
        key("names", NAMES, "Other names under which submitters have it."),
        key(
            "like",
            NAMES,
            "Parts of names by which an open submission is known, where its name says nothing else.",
        ),
        ACCURACY.required(),
        key("dataset", COUNT, "Samples of the data set."),
        key(
            "performance_samples",
            COUNT,
            "The least number of samples held for performance.",
        )
        .required(),
        ACCURACY_SAMPLES,
        key(
            "token_latencies",
            S::Bool,
            "Token latencies must be measured.",
        )
        .default("false"),
        key(
            "equal_issue",
            S::Bool,
            "Offline's query must be put together from whole permutations (sample_concatenate_permutation).",
        )
        .default("false"),
        key(
            "any_duration",
            S::Bool,
            "A run may be shorter than min_duration: it goes once through the data set.",
        )
        .default("false"),
        key(
            "one_of",
            S::List(&S::Choice(SCENARIO_NAMES), 2),
            "Of these optional scenarios one at least is required.",
        ),
        key(
            "compliance",
            S::List(&S::Text(F::Name), 1),
            "Its compliance tests, in the closed division.",
        ),
        key(
            "accuracy_delta",
            S::Map(F::Figure, &S::Fraction),
            "By how much TEST01's accuracies may differ; none: 1 %, 0.1 % for a 99.9 benchmark.",
        ),
        key(
            "scenarios",
            S::Object(&SCENARIOS),
            "The scenarios that may be submitted.",
        )
        .required(),
    ]],
};

const ACCURACY: Key = key(
    "accuracy",
    LIMITS,
    "The limits of its accuracy figures, the published one first.",
);

const ACCURACY_SAMPLES: Key = key(
    "accuracy_samples",
    COUNT,
    "Samples of the accuracy run, where they are not the data set's.",
);

const SCENARIO_NAMES: &[Choice] = &[
    choice("Offline", ""),
    choice("Server", ""),
    choice("Interactive", ""),
    choice("SingleStream", ""),
    choice("MultiStream", ""),
];

static SCENARIO: Object = Object {
    what: "a scenario",
    one_of: &[],
    groups: &[&[
        key(
            "required",
            SYSTEMS,
            "The types of systems for which it is required.",
        ),
        key(
            "optional",
            SYSTEMS,
            "The types of systems for which it is optional.",
        ),
        FIGURE,
        UNIT,
        key(
            "query_ms",
            S::Number,
            "The highest 99th percentile of a query's latency, ms.",
        ),
        key(
            "ttft_ms",
            S::Number,
            "The 99th percentile of the time to the first token lies below, ms.",
        ),
        key(
            "tpot_ms",
            S::Number,
            "The 99th percentile of the time per output token lies below, ms.",
        ),
        key(
            "min_queries",
            COUNT,
            "The least number of queries, where early stopping does not stand for it.",
        ),
        key(
            "min_samples_per_query",
            COUNT,
            "The least number of samples in Offline's one query.",
        ),
        ACCURACY,
        ACCURACY_SAMPLES,
    ]],
};

const SYSTEMS: S = S::List(&S::Choice(SYSTEM_TYPES), 1);

const SYSTEM_TYPES: &[Choice] = &[
    choice("datacenter", "Systems of the datacenter category."),
    choice("edge", "Systems of the edge category."),
    choice("both", "Systems that were submitted as datacenter,edge."),
];
