//! MLPerf Inference's LoadGen: its summary and its detail log, rounds v4.1 to v6.1.
//!
//! [`summary::parse_summary`] reads a summary whole, [`detail::DetailParser`] a detail log of any length as it
//! comes, and [`LoadgenRun`] puts the two together: figures, parameters, and whether the run is valid.
//!
//! ## Names of figures
//!
//! | name | unit | what |
//! | --- | --- | --- |
//! | `samples_per_second`, `tokens_per_second`, `tokens_per_second_inferred` | samples/s, tokens/s | Offline |
//! | `completed_samples_per_second`, `completed_tokens_per_second`, `completed_tokens_per_second_inferred` | samples/s, tokens/s | Server, Interactive |
//! | `scheduled_samples_per_second` | samples/s | Server: the scheduled load |
//! | `early_stopping_latency_ns` | ns | SingleStream, MultiStream: the published latency |
//! | `latency_S_ns` | ns | per query; S is `min`, `max`, `mean`, `p50` … `p99`, `p99_9` |
//! | `sample_latency_S_ns` | ns | per sample, MultiStream only |
//! | `ttft_S_ns`, `tpot_S_ns` | ns | time to first token, time per output token |
//! | `early_stopping_pN_ns`, `ttft_early_stopping_pN_ns`, `tpot_early_stopping_pN_ns` | ns | early stopping's estimates |
//! | `queries_per_second_with_loadgen_overhead`, `…_without_…` | queries/s | SingleStream |
//! | `tokens_per_second_with_loadgen_overhead`, `…_without_…` | tokens/s | with token latencies |
//!
//! [`LoadgenRun::resolve_figure`] also takes `tokens_per_second` and `samples_per_second` in a Server run, and
//! `_us`, `_ms` or `_s` in place of `_ns`.

mod consistency;
pub mod detail;
mod early_stopping;
mod identity;
mod names;
mod parameters;
mod run;
mod run_settings;
#[cfg(test)]
mod run_tests;
mod scenario;
pub mod summary;
mod user_conf;
mod validity;

pub use detail::LoadgenDetail;
pub use early_stopping::{EarlyStopping, EarlyStoppingBlock};
pub use identity::LoadgenRunIdentity;
pub(crate) use identity::digest_latencies;
pub(crate) use names::EARLY_STOPPING_KEYS;
pub use names::{figure_aliases, published_metric, resolve_figure};
pub(crate) use names::{figure_name_of_detail_key, figure_name_of_summary_line};
pub use parameters::Parameters;
pub use run::{DETAIL_FILE, LoadgenRun, SUMMARY_FILE};
pub use run_settings::RunSettings;
pub use scenario::{MULTI_STREAM_SAMPLES, ResultStatus, TestMode, TestScenario};
pub use summary::{LoadgenSummary, SummaryError};
pub use user_conf::check_user_conf;
pub use validity::{Validity, ValidityReport, error_rule, validity_rule};
