//! The clients whose output is known.

use schemars::JsonSchema;

retrial_document::words! {
    /// A program that loads an LLM server and measures its answers.
    #[derive(JsonSchema)]
    pub enum Client {
        /// `vllm bench serve --save-result`.
        Vllm = "vllm",
        /// `python -m sglang.bench_serving --output-file`.
        Sglang = "sglang",
        /// `utils/bench_serving/benchmark_serving.py` of InferenceX.
        Inferencex = "inferencex",
        /// `guidellm run --output kind=json`.
        Guidellm = "guidellm",
        /// `aiperf profile`.
        Aiperf = "aiperf",
        /// `inference-perf`, with a file for each stage.
        InferencePerf = "inference-perf",
    }
}
