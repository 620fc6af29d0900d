//! The order of a log's events, and of their times: initialisation, then the timed run.

use super::TrainingRules;
use crate::check::RuleCheck;
use crate::mllog::MllogEvent;
use retrial_readings::number::format_grouped;

/// Ranks on several nodes print side by side: their clocks may differ by so many milliseconds. In
/// 3,386 published logs no event of a run is earlier than one above it.
const CLOCK_SKEW_MS: f64 = 100.0;
const MINUTE_MS: f64 = 60_000.0;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Opened,
    Initialized,
    Running,
    Stopped,
}

/// The phases and times of a log so far.
#[derive(Debug, Clone, Default)]
pub(super) struct PhaseTracker {
    phase: Phase,
    first_init_start: Option<f64>,
    latest: Option<(f64, String)>,
    out_of_time: bool,
}

impl PhaseTracker {
    /// Processes an event, and returns the rule that it violates.
    pub fn check_event(&mut self, event: &MllogEvent, rules: &TrainingRules) -> Option<RuleCheck> {
        let order_violation =
            self.check_order(event).or_else(|| self.check_initialization_time(event, rules));
        if event.key == "init_start" {
            let first = self.first_init_start.unwrap_or(f64::INFINITY);
            self.first_init_start = Some(first.min(event.time_ms));
        }
        let violated = order_violation.or_else(|| self.check_clock(event, rules));
        self.phase = self.phase.max(match event.key.as_str() {
            "init_stop" => Phase::Initialized,
            "run_start" => Phase::Running,
            "run_stop" => Phase::Stopped,
            _ => Phase::Opened,
        });
        violated
    }

    fn check_order(&self, event: &MllogEvent) -> Option<RuleCheck> {
        let key = event.key.as_str();
        let (is_wrong, place) = match key {
            "init_start" => (self.phase >= Phase::Initialized, "before init_stop"),
            "init_stop" if self.first_init_start.is_none() => (true, "after init_start"),
            "init_stop" => (self.phase >= Phase::Running, "before run_start"),
            "run_start" => (self.phase < Phase::Initialized, "after init_stop"),
            "run_stop" | "block_start" => (self.phase < Phase::Running, "after run_start"),
            _ => (false, ""),
        };
        if is_wrong {
            let measured = format!("{key} is out of order");
            return Some(RuleCheck::violation("order", measured, place));
        }
        let metadata = |name: &str| event.metadata.get(name);
        let wrong = match key {
            "run_stop" => metadata("status").is_none().then_some("a status"),
            "block_start" => {
                let epochs = metadata("epoch_count");
                let positive =
                    event.metadata_number("epoch_count").is_some_and(|count| count > 0.0);
                let counted =
                    event.metadata_number("samples_count").is_none_or(|count| count >= 0.0);
                let first = metadata("first_epoch_num").is_some();
                let passes = (epochs.is_none() || (positive && first)) && counted;
                (!passes).then_some(
                    "epoch_count above 0 with first_epoch_num, samples_count of at least 0",
                )
            }
            _ => None,
        };
        wrong.map(|required| RuleCheck::violation(key, "not in its metadata", required))
    }

    /// From the first `init_start` to `init_stop`.
    fn check_initialization_time(
        &self,
        event: &MllogEvent,
        rules: &TrainingRules,
    ) -> Option<RuleCheck> {
        if event.key != "init_stop" {
            return None;
        }
        let minutes = (event.time_ms - self.first_init_start?) / MINUTE_MS;
        (minutes >= rules.init_minutes).then(|| {
            RuleCheck::violation(
                "initialization",
                format!("{} min", format_grouped(minutes)),
                format!("below {} min ({})", rules.init_minutes, rules.division),
            )
        })
    }

    /// Times never decrease within a run. Caches are cleared by a separate program, whose output
    /// may come last; ranks print their `init_start` in any order; an evaluation after the run is
    /// listed where it belongs.
    fn check_clock(&mut self, event: &MllogEvent, rules: &TrainingRules) -> Option<RuleCheck> {
        let later = rules.is_evaluated_later();
        let key = event.key.as_str();
        let exempt = key == "cache_clear" || (later && key.starts_with("eval_"));
        if exempt
            || self.out_of_time
            || (later && (self.phase == Phase::Stopped || key == "run_stop"))
        {
            return None;
        }
        let time = event.time_ms;
        if let Some((latest, above)) = &self.latest
            && self.phase >= Phase::Running
            && time + CLOCK_SKEW_MS < *latest
        {
            let seconds = format_grouped((latest - time) / 1000.0);
            self.out_of_time = true;
            return Some(RuleCheck::violation(
                "clock",
                format!("{key} is {seconds} s earlier than {above} above it"),
                "timestamps that never decrease",
            ));
        }
        if self.latest.as_ref().is_none_or(|(latest, _)| time > *latest) {
            self.latest = Some((time, key.to_owned()));
        }
        None
    }
}
