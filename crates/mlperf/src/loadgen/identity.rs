//! The identity of a run of LoadGen: results of one run are found again in other folders.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;

use super::{LoadgenRun, TestMode, TestScenario};
use retrial_readings::figure::Figures;

/// Latencies of queries, which every performance run logs.
const LATENCY_PREFIX: &str = "latency_";
/// The one of them that no two runs share: the shortest of many may be.
const MEAN_LATENCY: &str = "latency_mean_ns";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadgenRunIdentity {
    pub scenario: Option<TestScenario>,
    pub mode: Option<TestMode>,
    /// The time at which the log was begun, to the second.
    pub started_at: Option<Timestamp>,
    /// The start of the measurement, to the millisecond, in the container's local time.
    pub power_begin: Option<String>,
    /// A hash of its latencies, which both logs have to the nanosecond: no two runs have the same.
    pub latencies: Option<u64>,
}

impl LoadgenRunIdentity {
    /// Returns whether both are of the same run: they agree in every latency, whatever their dates, or were begun in
    /// the same second and measured from the same millisecond, whatever their figures.
    pub fn is_same_run(&self, other: &Self) -> bool {
        let keys = self.lookup_keys();
        other.lookup_keys().iter().any(|key| keys.contains(key))
    }

    /// Returns keys of which logs of one run share one, and no others do: for finding copies among very many. None
    /// where the logs do not tell the run from others.
    pub fn lookup_keys(&self) -> Vec<u64> {
        let hash_key = |key: &dyn Fn(&mut DefaultHasher)| {
            let mut hasher = DefaultHasher::new();
            (self.scenario, self.mode).hash(&mut hasher);
            key(&mut hasher);
            hasher.finish()
        };
        let latencies = self.latencies.map(|latencies| hash_key(&|hasher| latencies.hash(hasher)));
        let start = self.started_at.zip(self.power_begin.as_ref());
        let start = start.map(|start| hash_key(&|hasher| start.hash(hasher)));
        latencies.into_iter().chain(start).collect()
    }
}

impl LoadgenRun {
    pub fn identity(&self) -> LoadgenRunIdentity {
        let detail = self.detail.as_ref();
        LoadgenRunIdentity {
            scenario: self.scenario(),
            mode: self.mode(),
            started_at: self.started_at(),
            power_begin: detail.and_then(|detail| detail.power_begin.clone()),
            latencies: digest_latencies(&self.figures(), &[LATENCY_PREFIX]),
        }
    }
}

/// Returns a digest of a run's latencies, of figures with such names; none where the mean is not among them.
pub(crate) fn digest_latencies(figures: &Figures, prefixes: &[&str]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let is_latency = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    for (name, figure) in figures.iter().filter(|(name, _)| is_latency(name)) {
        (name, figure.value.to_bits()).hash(&mut hasher);
    }
    figures.contains_key(MEAN_LATENCY).then(|| hasher.finish())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn identity(started: &str, power_begin: &str, latencies: u64) -> LoadgenRunIdentity {
        LoadgenRunIdentity {
            scenario: Some(TestScenario::Offline),
            mode: Some(TestMode::Performance),
            started_at: started.parse().ok(),
            power_begin: (!power_begin.is_empty()).then(|| power_begin.to_owned()),
            latencies: Some(latencies),
        }
    }

    const STARTED: &str = "2025-06-15T10:00:00Z";
    const BEGIN: &str = "06-15-2025 10:00:01.250";

    #[rstest]
    #[case::a_copy_with_an_edited_figure(identity(STARTED, BEGIN, 2), true)]
    #[case::a_copy_with_an_edited_date(identity("2025-06-16T10:00:00Z", BEGIN, 1), true)]
    #[case::a_run_of_the_same_second(identity(STARTED, "06-15-2025 10:00:01.251", 2), false)]
    #[case::another_run(identity("2025-06-15T10:20:00Z", BEGIN, 2), false)]
    #[case::a_copy_of_its_summary(identity("", "", 1), true)]
    #[case::the_summary_of_another(identity("", "", 2), false)]
    fn copies_are_told_from_other_runs(#[case] other: LoadgenRunIdentity, #[case] same: bool) {
        let run = identity(STARTED, BEGIN, 1);
        assert_eq!(run.is_same_run(&other), same);
        assert_eq!(other.is_same_run(&run), same);
    }

    #[test]
    fn an_accuracy_run_is_another_run() {
        let accuracy =
            LoadgenRunIdentity { mode: Some(TestMode::Accuracy), ..identity(STARTED, BEGIN, 1) };
        assert!(!accuracy.is_same_run(&identity(STARTED, BEGIN, 1)));
    }

    #[test]
    fn logs_without_dates_or_latencies_have_no_key() {
        let of_guide = LoadgenRunIdentity { latencies: None, ..identity("", "", 1) };
        assert!(of_guide.lookup_keys().is_empty());
        assert!(!of_guide.is_same_run(&of_guide));
    }
}
