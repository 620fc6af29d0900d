//! `user.conf`, from which `LoadGen` takes a submitter's settings, against the settings that a run logged.

use super::{LoadgenRun, Parameters, TestMode, TestScenario};
use crate::check::RuleCheck;
use retrial_readings::nearest::truncate_for_message;

/// One setting: `*.Offline.min_duration = 600000`.
struct Setting<'a> {
    line: usize,
    scenario: &'a str,
    key: &'a str,
    value: &'a str,
}

/// Warns of settings that the log does not have, and of lines that are none. Rates and latencies are not compared:
/// of v4.1's 899 files that state a rate, 249 have that of another attempt, and a run is judged by what it logged.
pub fn check_user_conf(text: &str, run: &LoadgenRun) -> Vec<RuleCheck> {
    let scenario = run.scenario();
    let parameters = run.parameters();
    let mut checks = Vec::new();
    let mut stated: Vec<(Setting<'_>, u64)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let Some(setting) = parse_setting(content, number) else {
            let measured =
                format!("line {number} cannot be read: {}", truncate_for_message(content));
            checks.push(RuleCheck::warning("user.conf", measured, "MODEL.SCENARIO.KEY = VALUE"));
            continue;
        };
        let is_of_scenario = setting.scenario == "*"
            || scenario.is_some_and(|own| Some(own) == TestScenario::from_word(setting.scenario));
        let logged = logged_value(setting.key, &parameters, run.mode());
        stated.extend(logged.filter(|_| is_of_scenario).map(|logged| (setting, logged)));
    }
    // Of several values, for models of several names, the log has one; programs hold no more samples than there are.
    let library = run.detail.as_ref().and_then(|detail| detail.library_samples);
    let is_logged = |(setting, logged): &(Setting<'_>, u64)| {
        let value = setting.value.parse().ok();
        value.is_some_and(|value: u64| {
            value == *logged || (Some(*logged) == library && value > *logged)
        })
    };
    for (setting, logged) in &stated {
        let mut same_key = stated.iter().filter(|(other, _)| other.key == setting.key);
        if !same_key.any(is_logged) {
            let Setting { line, key, value, .. } = setting;
            let measured = format!("{key} {} in line {line}", truncate_for_message(value));
            checks.push(RuleCheck::warning(
                "user.conf",
                measured,
                format!("{logged}, as the log has it"),
            ));
        }
    }
    checks
}

fn parse_setting(content: &str, line: usize) -> Option<Setting<'_>> {
    let (name, value) = content.split_once('=')?;
    // A model's name may have dots: `llama3.1-8b`.
    let (before, key) = name.trim().rsplit_once('.')?;
    let (model, scenario) = before.rsplit_once('.')?;
    let (key, value) = (key.trim(), value.trim());
    let is_whole = ![model, scenario, key, value].iter().any(|part| part.is_empty());
    is_whole.then_some(Setting { line, scenario, key, value })
}

/// Returns the logged value of a whole-number setting, by its name in `user.conf`; a mode by its number.
fn logged_value(key: &str, logged: &Parameters, mode: Option<TestMode>) -> Option<u64> {
    match key {
        "mode" => mode.map(|mode| match mode {
            TestMode::SubmissionRun => 0,
            TestMode::Accuracy => 1,
            TestMode::Performance => 2,
            TestMode::FindPeak => 3,
        }),
        "qsl_rng_seed" => logged.qsl_rng_seed,
        "sample_index_rng_seed" => logged.sample_index_rng_seed,
        "schedule_rng_seed" => logged.schedule_rng_seed,
        "min_duration" => logged.min_duration_ms,
        "max_duration" => logged.max_duration_ms,
        "min_query_count" => logged.min_query_count,
        "max_query_count" => logged.max_query_count,
        "performance_sample_count_override" => logged.performance_sample_count,
        "accuracy_log_sampling_target" => logged.accuracy_log_sampling_target,
        "performance_issue_unique" => logged.performance_issue_unique.map(u64::from),
        "performance_issue_same" => logged.performance_issue_same.map(u64::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::loadgen::LoadgenDetail;

    #[rstest]
    #[case::as_logged("*.Offline.min_duration = 600000 # ms\n\n# x\n*.*.qsl_rng_seed=7\n", &[])]
    #[case::of_another_scenario("*.Server.min_query_count = 1\n", &[])]
    #[case::rates_of_another_attempt("*.Offline.target_qps = 1\n", &[])]
    #[case::of_several_models("a.Offline.min_duration = 1\nllama3.1-8b.Offline.min_duration = 600000\n", &[])]
    #[case::other_seed("# a\n*.*.qsl_rng_seed = 1\n", &["qsl_rng_seed 1 in line 2"])]
    #[case::other_mode("*.Offline.mode = 1\n", &["mode 1 in line 1"])]
    #[case::no_number("*.Offline.min_duration = ten\n", &["min_duration ten in line 1"])]
    #[case::no_setting("*.Offline.min_duration = 600000\nmin_duration 5\n", &["line 2 cannot be read: min_duration 5"])]
    fn settings_are_those_of_the_log(#[case] text: &str, #[case] expected: &[&str]) {
        let detail = LoadgenDetail {
            scenario: Some(TestScenario::Offline),
            mode: Some(TestMode::Performance),
            parameters: Parameters {
                qsl_rng_seed: Some(7),
                min_duration_ms: Some(600_000),
                min_query_count: Some(5),
                ..Parameters::default()
            },
            ..LoadgenDetail::default()
        };
        let run = LoadgenRun { summary: None, detail: Some(detail) };
        let checks = check_user_conf(text, &run);
        assert!(checks.iter().all(|check| check.warning));
        let measured: Vec<&str> = checks.iter().map(|check| check.measured.as_str()).collect();
        assert_eq!(measured, expected);
    }
}
