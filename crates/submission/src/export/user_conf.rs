//! Reconstructs `user.conf` from the settings that `LoadGen` logged, for results without their own.

use std::fmt::Write as _;

use retrial_mlperf::loadgen::Parameters;

/// `LoadGen`'s settings are in milliseconds, its figures in nanoseconds.
const NS_PER_MS: u64 = 1_000_000;

/// The settings of a scenario as `user.conf` has them; none if the log has none.
pub(super) fn reconstruct_user_conf(
    scenario: &str,
    run: &str,
    parameters: &Parameters,
) -> Option<String> {
    // LoadGen has no Interactive scenario: its settings are those of Server.
    let scenario = if scenario == "Interactive" { "Server" } else { scenario };
    let settings = logged_settings(scenario, parameters);
    if settings.is_empty() {
        return None;
    }
    let mut text = format!(
        "# Reconstructed by Retrial from the settings that LoadGen logged in run {run}:\n\
         # the results did not include the file that the benchmark read.\n"
    );
    for (key, value) in settings {
        let _ = writeln!(text, "*.{scenario}.{key} = {value}");
    }
    Some(text)
}

fn logged_settings(scenario: &str, parameters: &Parameters) -> Vec<(&'static str, String)> {
    let milliseconds = |ns: u64| {
        if ns.is_multiple_of(NS_PER_MS) {
            (ns / NS_PER_MS).to_string()
        } else {
            #[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^52 ns")]
            let exact = ns as f64 / 1e6;
            exact.to_string()
        }
    };
    let whole = |value: Option<u64>| value.map(|value| value.to_string());
    // 0 means no limit, and is LoadGen's default.
    let limit = |value: Option<u64>| whole(value.filter(|value| *value > 0));
    let has_rate = matches!(scenario, "Server" | "Offline");
    let rate = parameters.target_qps.filter(|_| has_rate);
    let has_latency = |ns: &u64| scenario != "Offline" && *ns > 0;
    let latency = parameters.target_latency_ns.filter(has_latency);
    let is_multi = scenario == "MultiStream";
    let samples = parameters.samples_per_query.filter(|_| is_multi);
    let set = parameters.performance_sample_count;
    let all = [
        ("target_qps", rate.map(|rate| rate.to_string())),
        ("target_latency", latency.map(milliseconds)),
        ("samples_per_query", whole(samples)),
        ("min_duration", whole(parameters.min_duration_ms)),
        ("max_duration", limit(parameters.max_duration_ms)),
        ("min_query_count", whole(parameters.min_query_count)),
        ("max_query_count", limit(parameters.max_query_count)),
        ("performance_sample_count_override", limit(set)),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reconstructed_file_states_that_it_is_reconstructed() {
        let parameters = Parameters {
            target_qps: Some(360.0),
            target_latency_ns: Some(1_500_000),
            min_duration_ms: Some(600_000),
            max_duration_ms: Some(0),
            performance_sample_count: Some(24_576),
            ..Parameters::default()
        };
        let text = reconstruct_user_conf("Interactive", "last", &parameters).unwrap();
        assert!(text.starts_with("# Reconstructed by Retrial"), "{text}");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            [
                "*.Server.target_qps = 360",
                "*.Server.target_latency = 1.5",
                "*.Server.min_duration = 600000",
                "*.Server.performance_sample_count_override = 24576",
            ]
        );
        assert_eq!(reconstruct_user_conf("Offline", "last", &Parameters::default()), None);
    }
}
