//! The identity of a training run: the same log may be copied, printed twice, or truncated.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::iter;

/// Times before this are no dates (milliseconds, September 2001): a program counted from its own start.
const FIRST_DATE_MS: f64 = 1e12;

/// Scatter between two runs of the quietest benchmark, as a share of the time from an event to the next.
const MIN_SCATTER_SHARE: f64 = 5e-4;

/// Events of two runs agree by chance in one of more cases than this.
const MIN_CHANCE_CASES: f64 = 1e4;

/// Milliseconds of a second: the clock of some programs has no finer times.
const SECOND_MS: i64 = 1000;

/// Maximum distance of the starts and of the ends that the ranks of a run log, milliseconds.
const MAX_RANK_DISTANCE_MS: f64 = 1000.0;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrainingRunIdentity {
    /// Its start, in milliseconds since 1970.
    pub started_ms: Option<f64>,
    /// From its start to its stop, in milliseconds; none where the log is truncated.
    pub elapsed_ms: Option<f64>,
    /// Its seeds, in the order of the log.
    pub seeds: Vec<i64>,
    /// The times of its events, in milliseconds after its start.
    pub offsets_ms: Vec<i64>,
}

impl TrainingRunIdentity {
    /// Returns whether both are of the same run: they start in the same millisecond of the same day, and end
    /// in the same one or have the same seeds.
    pub fn is_same_run(&self, other: &Self) -> bool {
        let started = self.dated_start_ms();
        let same_start = started.is_some() && started == other.dated_start_ms();
        same_start && (self.elapsed_ms == other.elapsed_ms || self.seeds == other.seeds)
    }

    /// Returns whether both are of the same run, or the logs that two ranks wrote of one: these start and end
    /// together, and have the same seeds. A copy whose start was changed has all events as long after it.
    pub fn is_same_run_of_any_rank(&self, other: &Self) -> bool {
        let stop = |run: &Self| Some(run.dated_start_ms()? + run.elapsed_ms?);
        let starts = self.dated_start_ms().zip(other.dated_start_ms());
        let is_together = |times: Option<(f64, f64)>| {
            times.is_some_and(|(ours, theirs)| (ours - theirs).abs() <= MAX_RANK_DISTANCE_MS)
        };
        let together = is_together(starts) && is_together(stop(self).zip(stop(other)));
        self.is_same_run(other)
            || together && self.seeds == other.seeds
            || self.has_same_times(other)
    }

    /// Returns whether all events are as long after the start as the other's, which is no chance: each time
    /// between two events has many values that it may have.
    fn has_same_times(&self, other: &Self) -> bool {
        if self.elapsed_ms.is_none()
            || self.elapsed_ms != other.elapsed_ms
            || self.offsets_ms != other.offsets_ms
        {
            return false;
        }
        let is_whole = self.offsets_ms.iter().all(|offset| offset % SECOND_MS == 0);
        let resolution = if is_whole { 1000.0 } else { 1.0 };
        let starts = iter::once(&0).chain(&self.offsets_ms);
        let gaps = starts.zip(&self.offsets_ms).map(|(before, at)| at - before);
        #[expect(clippy::cast_precision_loss, reason = "a run takes days")]
        let values = gaps.map(|gap| (gap as f64 * MIN_SCATTER_SHARE / resolution).max(1.0));
        values.product::<f64>() >= MIN_CHANCE_CASES
    }

    /// Returns a key that no other run has: for finding copies among very many.
    pub fn lookup_key(&self) -> Option<u64> {
        let (started, elapsed) = self.dated_start_ms().zip(self.elapsed_ms)?;
        let mut hasher = DefaultHasher::new();
        (started.to_bits(), elapsed.to_bits(), self.seeds.first()).hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Returns its start, if it is a date and not a time since the program's own start.
    pub fn dated_start_ms(&self) -> Option<f64> {
        self.started_ms.filter(|started| *started >= FIRST_DATE_MS)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn run(started_ms: f64, elapsed_ms: Option<f64>, seeds: &[i64]) -> TrainingRunIdentity {
        TrainingRunIdentity {
            started_ms: Some(started_ms),
            elapsed_ms,
            seeds: seeds.to_vec(),
            offsets_ms: Vec::new(),
        }
    }

    const DATE: f64 = 1_759_734_393_481.0;

    #[rstest]
    #[case::a_copy(run(DATE, Some(5000.0), &[7]), true)]
    #[case::a_truncated_copy(run(DATE, None, &[7]), true)]
    #[case::a_copy_with_another_seed(run(DATE, Some(5000.0), &[8]), true)]
    #[case::another_run_that_started_together(run(DATE, Some(5001.0), &[8]), false)]
    #[case::a_run_of_the_same_seed(run(DATE + 1.0, Some(5000.0), &[7]), false)]
    fn copies_start_in_the_same_millisecond(
        #[case] other: TrainingRunIdentity,
        #[case] same: bool,
    ) {
        assert_eq!(run(DATE, Some(5000.0), &[7]).is_same_run(&other), same);
    }

    #[test]
    fn the_logs_of_two_ranks_are_of_one_run() {
        let first = run(DATE, Some(5000.0), &[7]);
        let other = run(DATE + 12.0, Some(4990.0), &[7]);
        assert!(!first.is_same_run(&other));
        assert!(first.is_same_run_of_any_rank(&other));
        let next = run(DATE + 6000.0, Some(5000.0), &[7]);
        assert!(!first.is_same_run_of_any_rank(&next));
        assert!(!first.is_same_run_of_any_rank(&run(DATE + 12.0, Some(4990.0), &[8])));
        assert!(!first.is_same_run_of_any_rank(&run(DATE + 12.0, Some(7000.0), &[7])));
    }

    #[rstest]
    #[case::a_shifted_copy(&[0, 642_000, 1_283_960, 1_284_000], &[0, 642_000, 1_283_960, 1_284_000], true)]
    #[case::another_run(&[0, 642_000, 1_283_960, 1_284_000], &[0, 642_001, 1_283_960, 1_284_000], false)]
    #[case::of_few_seconds(&[0, 990, 1000], &[0, 990, 1000], false)]
    #[case::in_whole_seconds(&[0, 642_000, 1_284_000], &[0, 642_000, 1_284_000], false)]
    #[case::without_events(&[], &[], false)]
    fn a_copy_with_another_start_is_known_by_its_times(
        #[case] ours: &[i64],
        #[case] theirs: &[i64],
        #[case] same: bool,
    ) {
        let timed = |start: f64, seed: i64, offsets: &[i64]| TrainingRunIdentity {
            offsets_ms: offsets.to_vec(),
            ..run(start, Some(1_284_000.0), &[seed])
        };
        let copy = timed(DATE + 9e6, 8, theirs);
        assert_eq!(timed(DATE, 7, ours).is_same_run_of_any_rank(&copy), same);
        assert!(!timed(DATE, 7, ours).is_same_run(&copy));
    }

    #[test]
    fn times_since_the_start_of_the_program_identify_no_run() {
        let run = run(0.0, Some(5000.0), &[7]);
        assert!(!run.is_same_run(&run.clone()));
        assert_eq!(run.dated_start_ms(), None);
        assert!(!TrainingRunIdentity::default().is_same_run(&TrainingRunIdentity::default()));
    }
}
