//! Which run a training log is of: the same log may be copied, printed twice, or truncated.

/// Times before this are no dates (milliseconds, September 2001): a program counted from its own start.
const FIRST_DATE_MS: f64 = 1e12;

/// How far the starts and the ends that the ranks of a run log lie apart, milliseconds.
const RANKS_APART_MS: f64 = 1000.0;

/// What tells one training run from all others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunIdentity {
    /// Its start, in milliseconds since 1970.
    pub started_ms: Option<f64>,
    /// From its start to its stop, in milliseconds; none where the log is truncated.
    pub elapsed_ms: Option<f64>,
    /// Its seeds, in the order of the log.
    pub seeds: Vec<i64>,
}

impl RunIdentity {
    /// Returns whether both are of the same run: they start in the same millisecond of the same day, and end
    /// in the same one or have the same seeds.
    pub fn is_same_run(&self, other: &Self) -> bool {
        let started = self.dated_start_ms();
        let same_start = started.is_some() && started == other.dated_start_ms();
        same_start && (self.elapsed_ms == other.elapsed_ms || self.seeds == other.seeds)
    }

    /// Returns whether both are of the same run, or the logs that two ranks wrote of one: these start and end
    /// together, and have the same seeds.
    pub fn is_same_run_of_any_rank(&self, other: &Self) -> bool {
        let stop = |run: &Self| Some(run.dated_start_ms()? + run.elapsed_ms?);
        let starts = self.dated_start_ms().zip(other.dated_start_ms());
        let is_together = |times: Option<(f64, f64)>| {
            times.is_some_and(|(ours, theirs)| (ours - theirs).abs() <= RANKS_APART_MS)
        };
        let together = is_together(starts) && is_together(stop(self).zip(stop(other)));
        self.is_same_run(other) || together && self.seeds == other.seeds
    }

    /// Its start, if it is a date and not a time since the program's own start.
    pub fn dated_start_ms(&self) -> Option<f64> {
        self.started_ms.filter(|started| *started >= FIRST_DATE_MS)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn run(started_ms: f64, elapsed_ms: Option<f64>, seeds: &[i64]) -> RunIdentity {
        RunIdentity {
            started_ms: Some(started_ms),
            elapsed_ms,
            seeds: seeds.to_vec(),
        }
    }

    const DATE: f64 = 1_759_734_393_481.0;

    #[rstest]
    #[case::a_copy(run(DATE, Some(5000.0), &[7]), true)]
    #[case::a_truncated_copy(run(DATE, None, &[7]), true)]
    #[case::a_copy_with_another_seed(run(DATE, Some(5000.0), &[8]), true)]
    #[case::another_run_that_started_together(run(DATE, Some(5001.0), &[8]), false)]
    #[case::a_run_of_the_same_seed(run(DATE + 1.0, Some(5000.0), &[7]), false)]
    fn copies_start_in_the_same_millisecond(#[case] other: RunIdentity, #[case] same: bool) {
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

    #[test]
    fn times_since_the_start_of_the_program_identify_no_run() {
        let run = run(0.0, Some(5000.0), &[7]);
        assert!(!run.is_same_run(&run.clone()));
        assert_eq!(run.dated_start_ms(), None);
        assert!(!RunIdentity::default().is_same_run(&RunIdentity::default()));
    }
}
