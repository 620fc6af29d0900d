//! The keys of a rules file, in the same words as a recipe's (`recipe/keys/`).

use retrial_document::{FieldType as T, Key, Object, Word, formats, key, word};
use retrial_readings::formats::FIGURE;

/// The newest schema that is understood.
pub(super) const SCHEMA: i64 = 1;

const COUNT: T = T::Text(formats::COUNT);
const NAMES: T = T::List(&T::Text(formats::LINE), 1);

pub(super) static ROUND: Object = Object {
    what: "the rules of a round",
    one_of: &[],
    groups: &[&[
        key(
            "schema",
            T::Integer(1, SCHEMA),
            "The version of the language of rules: 1.",
        )
        .required(),
        key(
            "suite",
            T::Text(formats::LINE),
            "The suite: mlperf-inference.",
        )
        .required(),
        key(
            "round",
            T::Text(formats::LINE),
            "The round, for example v6.0.",
        )
        .required(),
        key("sources", NAMES, "Where its rules were published."),
        key("layout", T::Words(LAYOUTS), "How a submission is laid out.").required(),
        key(
            "endpoints",
            T::Bool,
            "Results of an endpoint, without LoadGen's logs, are allowed.",
        )
        .default("false"),
        key(
            "any_samples_in_open",
            T::Bool,
            "The open division may have fewer samples in Offline's query.",
        )
        .default("false"),
        key(
            "any_issue_in_open",
            T::Bool,
            "The open division need not have equal_issue.",
        )
        .default("false"),
        key(
            "unlogged_issue",
            T::Bool,
            "A detail log need not tell of equal_issue: the round's LoadGen may not log it.",
        )
        .default("false"),
        key("seeds", T::Object(&SEEDS), "The random seeds of every run.").required(),
        key(
            "min_duration",
            T::Duration,
            "The least duration of a performance run.",
        )
        .required(),
        key(
            "metrics",
            T::Object(&METRICS),
            "By which figure each scenario is published.",
        )
        .required(),
        key(
            "tests",
            T::Map(formats::NAME, &T::Object(&TEST)),
            "The compliance tests.",
        ),
        key(
            "benchmarks",
            T::Map(formats::NAME, &T::Object(&BENCHMARK)),
            "The benchmarks, by their official names.",
        )
        .required(),
    ]],
};

const LAYOUTS: &[Word] = &[
    word(
        "beside",
        "measurements/, compliance/ and code/ stand beside results/.",
    ),
    word(
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
            T::Object(&SEEDS),
            "The seeds of its run, where they are others than the round's.",
        ),
        key(
            "within",
            T::Fraction,
            "By how much its performance may differ from the submitted run's.",
        ),
        key(
            "above",
            T::Fraction,
            "By how much its performance may be better; worse is no harm.",
        ),
        key("limits", LIMITS, "Limits of what the test itself measures."),
    ]],
};

const LIMITS: T = T::Map(FIGURE, &T::Object(&LIMIT));

static LIMIT: Object = Object {
    what: "a limit",
    one_of: &[],
    groups: &[&[
        key("min", T::Number, "At least."),
        key("max", T::Number, "At most."),
    ]],
};

static METRIC: Object = Object {
    what: "a metric",
    one_of: &[],
    groups: &[&[METRIC_FIGURE.required(), UNIT.required()]],
};

const METRIC_FIGURE: Key = key(
    "figure",
    T::Text(FIGURE),
    "The figure by which it is published, for example tokens_per_second.",
);

const UNIT: Key = key("unit", T::Text(formats::LINE), "Its unit as published.");

/// The five scenarios as keys of one type.
const fn scenarios(field_type: T) -> [Key; 5] {
    [
        key("Offline", field_type, "All samples in one query."),
        key("Server", field_type, "Queries arrive at a rate."),
        key("Interactive", field_type, "Server with tighter limits."),
        key("SingleStream", field_type, "One query after the other."),
        key(
            "MultiStream",
            field_type,
            "Queries of several samples, one after the other.",
        ),
    ]
}

static METRICS: Object = Object {
    what: "the metrics",
    one_of: &[],
    groups: &[&scenarios(T::Object(&METRIC))],
};

static SCENARIOS: Object = Object {
    what: "the scenarios",
    one_of: &[],
    groups: &[&scenarios(T::Object(&SCENARIO))],
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
            T::Bool,
            "Token latencies must be measured.",
        )
        .default("false"),
        key(
            "equal_issue",
            T::Bool,
            "Offline's query must be put together from whole permutations (sample_concatenate_permutation).",
        )
        .default("false"),
        key(
            "any_duration",
            T::Bool,
            "A run may be shorter than min_duration: it goes once through the data set.",
        )
        .default("false"),
        key(
            "one_of",
            T::List(&T::Words(SCENARIO_NAMES), 2),
            "Of these optional scenarios one at least is required.",
        ),
        key(
            "compliance",
            T::List(&T::Text(formats::NAME), 1),
            "Its compliance tests, in the closed division.",
        ),
        key(
            "accuracy_delta",
            T::Map(FIGURE, &T::Fraction),
            "By how much TEST01's accuracies may differ; none: 1 %, 0.1 % for a 99.9 benchmark.",
        ),
        key(
            "scenarios",
            T::Object(&SCENARIOS),
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

const SCENARIO_NAMES: &[Word] = &[
    word("Offline", ""),
    word("Server", ""),
    word("Interactive", ""),
    word("SingleStream", ""),
    word("MultiStream", ""),
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
        METRIC_FIGURE,
        UNIT,
        key(
            "query_ms",
            T::Number,
            "The highest 99th percentile of a query's latency, ms.",
        ),
        key(
            "ttft_ms",
            T::Number,
            "The 99th percentile of the time to the first token lies below, ms.",
        ),
        key(
            "tpot_ms",
            T::Number,
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

const SYSTEMS: T = T::List(&T::Words(SYSTEM_TYPES), 1);

const SYSTEM_TYPES: &[Word] = &[
    word("datacenter", "Systems of the datacenter category."),
    word("edge", "Systems of the edge category."),
    word("both", "Systems that were submitted as datacenter,edge."),
];
