//! The files next to LoadGen's logs in a folder of results.

use retrial_mlperf::accuracy::{self, AccuracyReader};
use retrial_mlperf::compliance::{self, ComplianceFiles, Test, TestRequirements};
use retrial_mlperf::endpoints::{self, EndpointAccuracy, EndpointPerformance};
use retrial_mlperf::{Division, check::RuleCheck, submission};
use retrial_telemetry::{TelemetrySummary, table};

use super::{first_line, pieces};

/// `accuracy.txt`: in pieces as at once, and every figure a number.
pub fn accuracy(data: &[u8]) {
    let whole = accuracy::parse_accuracy(data);
    let mut reader = AccuracyReader::default();
    pieces(data).for_each(|piece| reader.push(piece));
    let in_pieces = reader.finish();
    assert_eq!(in_pieces, whole);
    for (name, found) in &whole.figures {
        assert!(found.value.is_finite() && found.half_digit >= 0.0, "{name}");
        assert!(whole.figure(&name.to_lowercase()).is_some());
    }
}

/// An audit's test by its name (the first line) over what its script wrote (the rest): a text without the word that the
/// test asks for never passes.
pub fn compliance(data: &[u8]) {
    let Some((name, written)) = first_line(data) else {
        return;
    };
    let Ok(audit) = name.parse::<Test>() else {
        return;
    };
    let text = String::from_utf8_lossy(written).into_owned();
    let files = ComplianceFiles {
        verify_accuracy: Ok(text.clone()),
        verify_performance: Ok(text.clone()),
        verify_output_len: Ok(text.clone()),
        accuracy: Some(vec!["mlperf_log_accuracy.json".to_owned()]),
        performance: Some(Vec::new()),
        baseline: Ok(accuracy::parse_accuracy(text.as_bytes())),
        compliance: Ok(accuracy::parse_accuracy(text.as_bytes())),
    };
    let result = compliance::check_test(&TestRequirements::new(audit, None, false), &files);
    told(&result.checks);
    let lower = text.to_lowercase();
    if !["test pass", "pass: true", "pass:"].iter().any(|word| lower.contains(word)) {
        assert!(!result.has_passed(), "{audit:?} passes without a word");
    }
}

/// An endpoint's `config.yaml`, a line of `---`, and a JSON document that is its summary or its accuracy.
pub fn endpoints(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (config, results) = text.split_once("\n---\n").unwrap_or((&text, "{}"));
    let config = endpoints::parse_config(config).unwrap_or_default();
    let Ok(results) = submission::parse_object(results) else {
        return;
    };
    let performance = EndpointPerformance::from_config_and_summary(&config, &results);
    let _ = (performance.run_settings(), performance.published_figure_name("latency"));
    for figure in performance.figures.values() {
        assert!(figure.value.is_finite());
    }
    let scores = EndpointAccuracy::from_json(&results);
    let _ = (scores.sample_count(), scores.published_figures("acc", true));
}

/// A system's description, which is read as one of measurements too.
pub fn submission(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(object) = submission::parse_object(&text) else {
        return;
    };
    told(&submission::check_system(&object, Division::Closed, "AMD"));
    told(&submission::check_measurements(&object));
}

/// telemetry.csv: what is read is written as it was, and can be summarised.
pub fn telemetry(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let rows = table::parse_rows(&text);
    let lines = table::format_rows(rows.clone());
    assert_eq!(table::parse_rows(&lines).len(), rows.len(), "{lines}");
    let time = rows.iter().map(|row| row.time);
    if let (Some(from), Some(to)) = (time.clone().min(), time.max()) {
        let summary = TelemetrySummary::from_rows(&rows, (from, to), from, 8);
        let _ = summary.map(|summary| summary.per_joule("tokens_per_second", 1.0, "tokens/s"));
    }
}

fn told(checks: &[RuleCheck]) {
    for check in checks {
        assert!(!check.rule.is_empty() && check.measured.len() < 1 << 16, "{check:?}");
    }
}
