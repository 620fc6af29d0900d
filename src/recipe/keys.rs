//! Every key of a recipe: its shape, its default and its description, once.

use super::format::Format as F;
use super::shape::{Choice, Key, Object, Reach, Shape as S, Units, choice, key};

const TEXT: S = S::Text(F::Any);
const TEXTS: S = S::List(&TEXT, 0);
const COMMAND: S = S::Template(Reach::Run, F::Filled);
const MEASURED_COMMAND: S = S::Template(Reach::Measurement, F::Filled);
const ENV: S = S::Map(F::Variable, &S::Scalar(Reach::Run));
const MEASURED_ENV: S = S::Map(F::Variable, &S::Scalar(Reach::Measurement));

const SHELL: Key = key(
    "shell",
    S::List(&S::Text(F::Filled), 1),
    "The shell that is given the command, for example [bash, -ilc] for one that reads .bashrc. None: bash with pipefail, else sh.",
);
const USER: Key = key(
    "user",
    S::Text(F::Filled),
    "The user of the command, a name or a number, with :group if need be.",
);
const TIMEOUT: Key = key("timeout", S::Duration, "The longest that it may take.");
const SILENCE: Key = key(
    "silence",
    S::Duration,
    "The longest that it may go without output. Offline is silent for over an hour.",
);
const WORKDIR: Key = key(
    "workdir",
    S::Template(Reach::Run, F::Absolute),
    "The working directory in the container.",
);
const ENVIRONMENT: Key = key("env", ENV, "Environment variables of this command.");

/// Keys that a later release will give a meaning.
pub(crate) const RESERVED: &[&str] = &["services", "nodes", "roles"];
/// Keys that only the top level of a file has.
pub(crate) const TOP_ONLY: &[&str] = &["schema", "extends", "variants", "default", "impossible"];
/// The newest schema that is understood.
pub(crate) const SCHEMA: i64 = 1;

pub(crate) static RECIPE: Object = Object {
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
            "impossible",
            S::List(&S::Map(F::Name, &TEXT), 0),
            "Combinations of variants that do not exist, each with because: why.",
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
            "Datasets, by name: a command, and the directory that it fills.",
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

pub(crate) const PARAM_TYPES: &[Choice] = &[
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

static REQUIRES: Object = Object {
    what: "a request to the host",
    one_of: &[],
    keys: &[
        key("gpus", S::Object(&GPUS), "GPUs."),
        key(
            "rocm",
            S::Text(F::VersionRange),
            "ROCm releases, for example \">=7.1.0\".",
        ),
        key(
            "disk",
            S::Size(Units::Precise),
            "Free disk, for example 500 GiB.",
        ),
        key(
            "memory",
            S::Size(Units::Precise),
            "Memory, for example 1 TiB.",
        ),
    ],
};

static GPUS: Object = Object {
    what: "a request for GPUs",
    one_of: &[],
    keys: &[
        key("vendor", S::Choice(VENDORS), "Who made them.").required(),
        key(
            "models",
            S::List(&S::Text(F::Line), 0),
            "Models that the figure was published on, for example [MI355X].",
        ),
        key("count", S::Integer(1, 4096), "How many.").required(),
        key(
            "partition",
            S::Choice(PARTITIONS),
            "AMD's compute partition mode.",
        ),
    ],
};

const VENDORS: &[Choice] = &[
    choice("amd", "AMD Instinct and Radeon."),
    choice("nvidia", "NVIDIA."),
];

const PARTITIONS: &[Choice] = &[
    choice("SPX", "The whole GPU is one device."),
    choice("DPX", "Two devices a GPU."),
    choice("TPX", "Three devices a GPU."),
    choice("QPX", "Four devices a GPU."),
    choice("CPX", "One device a compute die."),
];

static CONTAINER: Object = Object {
    what: "a container",
    one_of: &[],
    keys: &[
        key("privileged", S::Bool, "Full access to the host's devices.").default("false"),
        key(
            "ipc",
            S::Text(F::Ipc),
            "The IPC namespace: host, private, shareable, none.",
        ),
        key(
            "network",
            S::Text(F::Filled),
            "host, bridge, none, or a network's name.",
        ),
        key("uts", S::Choice(HOST_ONLY), "The UTS namespace."),
        key("pid", S::Choice(HOST_ONLY), "The PID namespace."),
        key(
            "devices",
            S::List(&S::Text(F::Device), 0),
            "Device nodes: /dev/kfd, or host:container:rwm.",
        ),
        key(
            "cap_add",
            S::List(&S::Text(F::Capability), 0),
            "Capabilities, with or without CAP_.",
        ),
        key(
            "security_opt",
            S::List(&S::Text(F::SecurityOption), 0),
            "Security options, for example seccomp=unconfined.",
        ),
        key(
            "group_add",
            S::List(&S::Text(F::Filled), 0),
            "More groups, by name or number.",
        ),
        key(
            "shm_size",
            S::Size(Units::Docker),
            "Size of /dev/shm, for example 64G.",
        ),
        key(
            "ulimits",
            S::Map(
                F::Ulimit,
                &S::Either(&[S::Integer(-1, i64::MAX), S::Object(&ULIMIT)]),
            ),
            "Limits by name: {memlock: -1, nofile: {soft: 1024, hard: 2048}}.",
        ),
        key("env", ENV, "Environment variables of the container."),
        key(
            "mounts",
            S::List(
                &S::Either(&[S::Template(Reach::Run, F::Mount), S::Object(&MOUNT)]),
                0,
            ),
            "Directories of the host: source:target[:ro]. A source is absolute, or ./ beside the recipe.",
        ),
        key(
            "workdir",
            S::Template(Reach::Run, F::Absolute),
            "The working directory of all commands.",
        ),
        key("user", S::Text(F::Filled), "The user of all commands."),
        key("init", S::Bool, "Docker's own init as the first process.").default("false"),
        key(
            "entrypoint",
            S::Choice(ENTRYPOINTS),
            "What happens to the image's entrypoint.",
        )
        .default("bypass"),
        SHELL,
    ],
};

const HOST_ONLY: &[Choice] = &[choice("host", "The host's own.")];

const ENTRYPOINTS: &[Choice] = &[
    choice(
        "image",
        "It runs, and is given our first process as its command.",
    ),
    choice("bypass", "Our first process runs in its place."),
];

static ULIMIT: Object = Object {
    what: "a resource limit",
    one_of: &[],
    keys: &[
        key(
            "soft",
            S::Integer(-1, i64::MAX),
            "The soft limit; -1 is unlimited.",
        )
        .required(),
        key(
            "hard",
            S::Integer(-1, i64::MAX),
            "The hard limit; -1 is unlimited.",
        )
        .required(),
    ],
};

static MOUNT: Object = Object {
    what: "a mount",
    one_of: &[],
    keys: &[
        key(
            "source",
            S::Template(Reach::Run, F::HostPath),
            "On the host: absolute, or ./ beside the recipe.",
        )
        .required(),
        key(
            "target",
            S::Template(Reach::Run, F::Absolute),
            "In the container.",
        )
        .required(),
        key("read_only", S::Bool, "Whether it is read-only.").default("false"),
    ],
};

static COPY: Object = Object {
    what: "a copy out of the image",
    one_of: &[],
    keys: &[
        key("path", S::Text(F::Absolute), "In the image.").required(),
        key(
            "to",
            S::Text(F::Inner),
            "Relative to the run's directory for host files.",
        )
        .required(),
    ],
};

static MODEL: Object = Object {
    what: "a model",
    one_of: &[],
    keys: &[
        key("source", S::Object(&MODEL_SOURCE), "Where it comes from.").required(),
        key(
            "mount",
            S::Template(Reach::Run, F::Absolute),
            "Where it lies in the container.",
        ),
        key(
            "as",
            S::Choice(&[choice(
                "hub-cache",
                "Mount the hub's cache, for programs that load by hub id.",
            )]),
            "How it is mounted; none: a directory of real files.",
        ),
        key(
            "writable",
            S::List(&S::Text(F::Inner), 0),
            "Sub-directories that a setup step writes into.",
        ),
    ],
};

static MODEL_SOURCE: Object = Object {
    what: "a model's source",
    one_of: &["hub", "path", "run"],
    keys: &[
        key(
            "hub",
            S::Text(F::Hub),
            "owner/name on the Hugging Face hub.",
        ),
        key(
            "revision",
            S::Text(F::Filled),
            "Branch, tag or commit on the hub.",
        )
        .default("main"),
        key("allow", TEXTS, "Globs of the files to fetch; none: all."),
        key("ignore", TEXTS, "Globs of files to leave."),
        key(
            "path",
            S::Template(Reach::Recipe, F::HostPath),
            "A directory of the host.",
        ),
        key(
            "run",
            COMMAND,
            "A command in the container that fills the mount.",
        ),
    ],
};

static SETUP: Object = Object {
    what: "a setup step",
    one_of: &[],
    keys: &[
        key("run", COMMAND, "The command.").required(),
        key("on", S::Choice(PLACES), "Where it runs.").default("container"),
        key(
            "keep",
            S::Object(&KEEP),
            "A directory that it fills once, and that later runs take over.",
        ),
        key(
            "writable",
            S::Bool,
            "The kept directory stays writable afterwards.",
        )
        .default("false"),
        TIMEOUT,
        ENVIRONMENT,
        WORKDIR,
        USER,
        SHELL,
    ],
};

const PLACES: &[Choice] = &[
    choice("container", "In the container."),
    choice("host", "On the host; needs --allow host."),
];

static KEEP: Object = Object {
    what: "a kept directory",
    one_of: &[],
    keys: &[
        key(
            "path",
            S::Template(Reach::Run, F::Absolute),
            "In the container.",
        )
        .required(),
        key(
            "key",
            S::Template(Reach::Run, F::KeepKey),
            "Under which name it is kept.",
        )
        .required(),
        key(
            "files",
            S::Map(F::Inner, &S::Object(&KEPT_FILE)),
            "Files that must be there in the end, with size and sha256.",
        ),
    ],
};

static KEPT_FILE: Object = Object {
    what: "a kept file",
    one_of: &[],
    keys: &[
        key("size", S::Size(Units::Precise), "Bytes."),
        key("sha256", S::Text(F::Sha256), "SHA-256 in hexadecimal."),
    ],
};

static COMMAND_OBJECT: Object = Object {
    what: "a shared command",
    one_of: &[],
    keys: &[
        key("run", COMMAND, "The command.").required(),
        TIMEOUT,
        SILENCE,
        ENVIRONMENT,
        WORKDIR,
        USER,
        SHELL,
    ],
};

static MODES: Object = Object {
    what: "a scenario",
    one_of: &[],
    keys: &[
        key("performance", S::Object(&MEASUREMENT), "How fast."),
        key("accuracy", S::Object(&MEASUREMENT), "How right."),
        key("compliance", S::Object(&MEASUREMENT), "The audit's tests."),
    ],
};

static MEASUREMENT: Object = Object {
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

static FIGURE: Object = Object {
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
    choice("mean", "The arithmetic mean."),
    choice("median", "The median."),
    choice("olympic", "Fastest and slowest dropped, mean of the rest."),
];

static EXPECTATION: Object = Object {
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

const EXPECTATION_KINDS: &[Choice] = &[
    choice("official", "In the results of the round."),
    choice("guide", "Printed by the vendor's guide."),
    choice("third-party", "By somebody else on the same GPU."),
];

static LIMIT: Object = Object {
    what: "a limit",
    one_of: &[],
    keys: &[
        key("min", S::Number, "At least."),
        key("max", S::Number, "At most."),
        key("below", S::Number, "Strictly below."),
    ],
};

static TRIALS: Object = Object {
    what: "a number of trials",
    one_of: &[],
    keys: &[
        key("min", S::Integer(1, 1000), "At least.").required(),
        key("max", S::Integer(1, 1000), "At most.").required(),
    ],
};

static JUDGE: Object = Object {
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

/// Figures that `LoadGen`'s own logs give to a mode that has `results`.
pub(crate) const LOADGEN_FIGURES: &[&str] = &[
    "samples_per_second",
    "tokens_per_second",
    "completed_samples_per_second",
    "completed_tokens_per_second",
    "scheduled_samples_per_second",
    "scheduled_tokens_per_second",
    "inferred_tokens_per_second",
    "inferred_completed_tokens_per_second",
    "queries_per_second",
    "early_stopping_latency_ns",
];

/// Whether `LoadGen` gives a figure of this name.
pub(crate) fn is_loadgen_figure(name: &str) -> bool {
    // Percentiles of latency, time to first token and time per output token.
    let family = ["latency_", "query_latency_", "ttft_", "tpot_"]
        .iter()
        .any(|family| name.starts_with(family));
    LOADGEN_FIGURES.contains(&name) || (family && name.ends_with("_ns"))
}
