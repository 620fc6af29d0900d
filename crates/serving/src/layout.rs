//! Where each client states what: one table.

use retrial_readings::claim::Better;

use crate::Client;

/// A figure of a client's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFigure {
    /// `output_throughput`, `ttft_p50`: what is measured, by the same name for each client.
    pub name: String,
    /// A `JSONPath` into the output.
    pub path: String,
    pub unit: &'static str,
    pub better: Better,
    /// Whether the client states it whatever its options are.
    pub is_usual: bool,
}

/// One of the loads that a call of a client makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadOfCall {
    /// Its number, from 0; none if the call makes no other.
    pub number: Option<usize>,
    /// The most requests at a time.
    pub concurrency: f64,
}

/// Places in the JSON of one load, as JSON pointers; an empty one is stated nowhere.
pub(crate) struct Layout {
    /// The output's file below the results.
    pub file: &'static str,
    /// That of one load, if each of a call has its own, with `{}` where its number stands, from 0.
    pub file_of_load: &'static str,
    /// The list of loads, if one file has several.
    pub loads: &'static str,
    /// Whether a line of the file is a load.
    pub is_lines: bool,
    pub concurrency: &'static str,
    pub requested: &'static str,
    pub completed: &'static str,
    pub failed: &'static str,
    /// The texts of errors, one for each request.
    pub errors: &'static str,
    /// Seconds.
    pub duration: &'static str,
    pub output_tokens: &'static str,
    /// Tokens of each answer, in the order of `errors`.
    pub lengths: &'static str,
    pub shortest: &'static str,
    pub median_length: &'static str,
    pub longest: &'static str,
    /// The tokens of all answers by the client's own tokenizer, where the figures count others.
    pub recounted_tokens: &'static str,
    /// Answers whose tokens were counted otherwise than the server says.
    pub miscounted: &'static str,
    /// Answers whose tokens the server did not state.
    pub uncounted: &'static str,
    /// Tokens per second of all answers.
    pub output_rate: &'static str,
    /// Tokens per second of prompts and answers.
    pub total_rate: &'static str,
    /// The mean number of tokens of each step of a server that speculates.
    pub acceptance_length: &'static str,
    pub first_token: Latency,
    /// From the first token to the last, by the number of the others.
    pub per_token: Latency,
    /// Between two chunks of the stream, which may have several tokens.
    pub between_chunks: Latency,
    pub whole_answer: Latency,
    /// What the client calls the mean, the median, and the percentiles 90 and 99.
    pub statistics: [&'static str; 4],
}

/// The statistics of a latency, as our figures are called.
const STATISTICS: [&str; 4] = ["mean", "p50", "p90", "p99"];

/// A latency in several statistics.
#[derive(Clone, Copy)]
pub(crate) struct Latency {
    /// Its place, with `{}` where the statistic stands; empty if it is not stated.
    pub place: &'static str,
    pub unit: &'static str,
}

const fn ms(place: &'static str) -> Latency {
    Latency { place, unit: "ms" }
}

const fn seconds(place: &'static str) -> Latency {
    Latency { place, unit: "s" }
}

impl Latency {
    /// Seconds of what the output states.
    pub fn to_seconds(self, value: f64) -> f64 {
        if self.unit == "ms" { value / 1e3 } else { value }
    }
}

/// What the layouts are made of: nothing is stated.
const UNSTATED: Layout = Layout {
    file: "",
    file_of_load: "",
    loads: "",
    is_lines: false,
    concurrency: "",
    requested: "",
    completed: "",
    failed: "",
    errors: "",
    duration: "",
    output_tokens: "",
    lengths: "",
    shortest: "",
    median_length: "",
    longest: "",
    recounted_tokens: "",
    miscounted: "",
    uncounted: "",
    output_rate: "",
    total_rate: "",
    acceptance_length: "",
    first_token: ms(""),
    per_token: ms(""),
    between_chunks: ms(""),
    whole_answer: ms(""),
    statistics: STATISTICS,
};

const BENCH_SERVE: Layout = Layout {
    file: "*.json",
    concurrency: "/max_concurrency",
    requested: "/num_prompts",
    completed: "/completed",
    failed: "/failed",
    errors: "/errors",
    duration: "/duration",
    output_tokens: "/total_output_tokens",
    lengths: "/output_lens",
    output_rate: "/output_throughput",
    total_rate: "/total_token_throughput",
    acceptance_length: "/spec_decode_acceptance_length",
    first_token: ms("/{}_ttft_ms"),
    per_token: ms("/{}_tpot_ms"),
    between_chunks: ms("/{}_itl_ms"),
    whole_answer: ms("/{}_e2el_ms"),
    statistics: ["mean", "median", "p90", "p99"],
    ..UNSTATED
};

const INFERENCEX: Layout = Layout { failed: "", acceptance_length: "", ..BENCH_SERVE };

const SGLANG: Layout = Layout {
    file: "*.jsonl",
    is_lines: true,
    requested: "",
    failed: "",
    // The length that was asked for, whatever came.
    lengths: "",
    recounted_tokens: "/total_output_tokens_retokenized",
    total_rate: "/total_throughput",
    acceptance_length: "/accept_length",
    whole_answer: ms("/{}_e2e_latency_ms"),
    ..BENCH_SERVE
};

const GUIDELLM: Layout = Layout {
    file: "*.json",
    loads: "/benchmarks",
    concurrency: "/config/strategy/streams",
    requested: "/metrics/request_totals/total",
    completed: "/metrics/request_totals/successful",
    failed: "/metrics/request_totals/errored",
    duration: "/duration",
    output_tokens: "/metrics/output_token_count/successful/total_sum",
    shortest: "/metrics/output_token_count/successful/min",
    median_length: "/metrics/output_token_count/successful/median",
    longest: "/metrics/output_token_count/successful/max",
    output_rate: "/metrics/output_tokens_per_second/successful/mean",
    total_rate: "/metrics/tokens_per_second/successful/mean",
    first_token: ms("/metrics/time_to_first_token_ms/successful/{}"),
    // What it calls the time per output token has the first one in it.
    per_token: ms("/metrics/inter_token_latency_ms/successful/{}"),
    whole_answer: seconds("/metrics/request_latency/successful/{}"),
    statistics: ["mean", "median", "percentiles/p90", "percentiles/p99"],
    ..UNSTATED
};

const AIPERF: Layout = Layout {
    file: "profile_export_aiperf.json",
    concurrency: "/input_config/phases/-/concurrency",
    requested: "/input_config/phases/-/requests",
    completed: "/request_count/avg",
    failed: "/error_request_count/avg",
    duration: "/benchmark_duration/avg",
    output_tokens: "/total_osl/avg",
    shortest: "/output_sequence_length/min",
    median_length: "/output_sequence_length/p50",
    longest: "/output_sequence_length/max",
    miscounted: "/usage_discrepancy_count/avg",
    output_rate: "/output_token_throughput/avg",
    total_rate: "/total_token_throughput/avg",
    first_token: ms("/time_to_first_token/{}"),
    per_token: ms("/inter_token_latency/{}"),
    between_chunks: ms("/inter_chunk_latency/{}"),
    whole_answer: ms("/request_latency/{}"),
    statistics: ["avg", "p50", "p90", "p99"],
    ..UNSTATED
};

const INFERENCE_PERF: Layout = Layout {
    file: "stage_*_lifecycle_metrics.json",
    file_of_load: "stage_{}_lifecycle_metrics.json",
    concurrency: "/load_summary/concurrency",
    requested: "/load_summary/count",
    completed: "/successes/count",
    failed: "/failures/count",
    duration: "/benchmark_time_seconds",
    output_tokens: "/successes/output_tokens/total",
    shortest: "/successes/output_len/min",
    median_length: "/successes/output_len/median",
    longest: "/successes/output_len/max",
    miscounted: "/successes/token_count_mismatches",
    uncounted: "/successes/client_fallback_requests/output",
    output_rate: "/successes/throughput/output_tokens_per_sec",
    total_rate: "/successes/throughput/total_tokens_per_sec",
    first_token: seconds("/successes/latency/time_to_first_token/{}"),
    per_token: seconds("/successes/latency/time_per_output_token/{}"),
    whole_answer: seconds("/successes/latency/request_latency/{}"),
    statistics: ["mean", "median", "p90", "p99"],
    ..UNSTATED
};

impl Client {
    pub(crate) fn layout(self) -> &'static Layout {
        match self {
            Self::Vllm => &BENCH_SERVE,
            Self::Inferencex => &INFERENCEX,
            Self::Sglang => &SGLANG,
            Self::Guidellm => &GUIDELLM,
            Self::Aiperf => &AIPERF,
            Self::InferencePerf => &INFERENCE_PERF,
        }
    }

    /// Returns the name of its output below the results, a glob.
    pub fn output_file(self) -> &'static str {
        self.layout().file
    }

    /// Returns the name of the output of one of the loads that a call makes.
    pub fn output_file_of(self, load: LoadOfCall) -> String {
        let Layout { file, file_of_load, .. } = *self.layout();
        match load.number {
            Some(number) if !file_of_load.is_empty() => {
                file_of_load.replace("{}", &number.to_string())
            }
            _ => file.to_owned(),
        }
    }

    /// Returns the figures that its output states of its only load, or of one of those that a call makes.
    pub fn figures(self, load: Option<LoadOfCall>) -> Vec<ClientFigure> {
        let layout = self.layout();
        let json_path = |place: &str| json_path(layout, load, place);
        let rates = [
            ("output_throughput", layout.output_rate, "tokens/s"),
            ("total_throughput", layout.total_rate, "tokens/s"),
            ("acceptance_length", layout.acceptance_length, ""),
        ];
        let rates = rates.into_iter().filter(|(_, place, _)| !place.is_empty());
        let rates = rates.map(|(name, place, unit)| ClientFigure {
            name: name.to_owned(),
            path: json_path(place),
            unit,
            better: Better::Higher,
            is_usual: name == "output_throughput",
        });
        // The time between chunks is comparable to itself only, and that of an answer depends on its length.
        let latencies = [
            ("ttft", layout.first_token, true),
            ("tpot", layout.per_token, true),
            ("itl", layout.between_chunks, false),
            ("e2e", layout.whole_answer, false),
        ];
        let stated = latencies.into_iter().filter(|(_, latency, _)| !latency.place.is_empty());
        let latencies = stated.flat_map(|(name, latency, is_usual)| {
            STATISTICS.into_iter().zip(layout.statistics).map(move |(statistic, word)| {
                ClientFigure {
                    name: format!("{name}_{statistic}"),
                    path: json_path(&latency.place.replace("{}", word)),
                    unit: latency.unit,
                    better: Better::Lower,
                    is_usual: is_usual && statistic != "p90",
                }
            })
        });
        rates.chain(latencies).collect()
    }
}

/// The `JSONPath` of a place in the first load of a file, or in that with a concurrency.
fn json_path(layout: &Layout, load: Option<LoadOfCall>, place: &str) -> String {
    let load = match load {
        _ if layout.loads.is_empty() => String::new(),
        None => "[0]".to_owned(),
        Some(load) => format!("[?@{} == {}]", members(layout.concurrency), load.concurrency),
    };
    format!("${}{load}{}", members(layout.loads), members(place))
}

/// The steps of a `JSONPath` to a place.
fn members(place: &str) -> String {
    let steps = place.split('/').filter(|step| !step.is_empty());
    let steps = steps.map(|step| match step.parse::<usize>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!(".{step}"),
    });
    steps.collect()
}
