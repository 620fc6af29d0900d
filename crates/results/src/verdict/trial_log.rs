//! The logs that a trial's figures are read from, by what tells them from the logs of other runs.
//!
//! A copy is not a further measurement. Two logs are of one run if
//!
//! - `LoadGen`'s were begun in the same second and measured from the same millisecond, or agree in every
//!   latency to the nanosecond;
//! - training logs start their run in the same millisecond, and end it in the same one or have the same seeds;
//!   those of two ranks start and end within a second, with the same seeds; or all events are as long after the
//!   start, to the millisecond;
//! - other files are equal apart from white space, and state a point in time, or a rate or time of
//!   [`EXACT_DIGITS`](super::figure_value::EXACT_DIGITS) digits is read from them. Short outputs with rounded figures may well be equal in
//!   separate runs, and are not taken for copies;
//! - a figure of another file stands in the same lines with a point in time, has all digits and the same latest
//!   time, or is a sum or mean over lines of which the first are all of the other file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::FigureValue;
use retrial_mlperf::loadgen;
use retrial_mlperf::mllog;

/// A log that figures of a trial are read from.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialLog {
    /// The directory that the file lies beneath.
    pub directory: String,
    /// Its file below the directory.
    pub file: String,
    /// The identity of the run that wrote it.
    pub identity: LogIdentity,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LogIdentity {
    /// A run of `LoadGen`.
    LoadGen(loadgen::LoadgenRunIdentity),
    Training(mllog::TrainingRunIdentity),
    /// Any other file, by its content.
    Text(TextIdentity),
}

/// The content of a file of no known format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextIdentity {
    /// SHA-1 of its content without white space, in any order; of a long file, of its beginning and end.
    pub digest: [u8; 20],
    /// The latest point in time that it states.
    pub latest: Option<Timestamp>,
    /// Hashes that identify the records of its figures.
    pub records: BTreeSet<u64>,
    /// The hash of all up to each of its lines, where a figure is reduced from many.
    pub starts: Vec<u64>,
}

impl TextIdentity {
    /// Returns whether a figure is read from lines of another file.
    fn shares_record(&self, other: &Self) -> bool {
        !self.records.is_disjoint(&other.records)
    }

    /// Returns whether it begins with all of another file, of which a time tells that it is of a run.
    fn begins_with(&self, other: &Self) -> bool {
        let end = other.starts.last().filter(|_| other.latest.is_some());
        let at = self.starts.get(other.starts.len().wrapping_sub(1));
        end.is_some() && at == end
    }
}

impl TrialLog {
    /// Returns whether another file has a log of the same run. `figures` are those that were read of this one.
    pub fn is_copy_of<'a>(
        &self,
        other: &Self,
        figures: impl IntoIterator<Item = &'a FigureValue>,
    ) -> bool {
        if (&self.directory, &self.file) == (&other.directory, &other.file) {
            return false;
        }
        match (&self.identity, &other.identity) {
            (LogIdentity::LoadGen(ours), LogIdentity::LoadGen(theirs)) => ours.is_same_run(theirs),
            (LogIdentity::Training(ours), LogIdentity::Training(theirs)) => {
                ours.is_same_run_of_any_rank(theirs)
            }
            (LogIdentity::Text(ours), LogIdentity::Text(theirs)) => {
                let is_telling =
                    || ours.latest.is_some() || figures.into_iter().any(FigureValue::is_exact);
                ours.shares_record(theirs)
                    || ours.begins_with(theirs)
                    || ours.digest == theirs.digest && is_telling()
            }
            _ => false,
        }
    }

    /// Returns both paths, without the directories above that they share.
    pub fn relative_names(&self, other: &Self) -> (String, String) {
        let [ours, theirs] = [self, other].map(|log| Path::new(&log.directory).join(&log.file));
        let pairs = ours.components().zip(theirs.components());
        let shared = pairs.take_while(|(ours, theirs)| ours == theirs).count();
        let name = |path: &Path| {
            let rest: PathBuf = path.components().skip(shared).collect();
            rest.display().to_string()
        };
        (name(&ours), name(&theirs))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn text(directory: &str, digest: u8, latest: Option<&str>) -> TrialLog {
        TrialLog {
            directory: directory.to_owned(),
            file: "output.log".to_owned(),
            identity: LogIdentity::Text(TextIdentity {
                digest: [digest; 20],
                latest: latest.map(|time| time.parse().unwrap()),
                records: BTreeSet::new(),
                starts: Vec::new(),
            }),
        }
    }

    const TIME: Option<&str> = Some("2026-03-02T10:17:07Z");

    #[rstest]
    #[case::equal_with_a_time(text("run_2", 1, TIME), true)]
    #[case::the_same_file(text("run_1", 1, TIME), false)]
    #[case::of_other_content(text("run_2", 2, TIME), false)]
    fn files_with_times_are_compared_by_content(#[case] other: TrialLog, #[case] same: bool) {
        assert_eq!(text("run_1", 1, TIME).is_copy_of(&other, []), same);
    }

    #[rstest]
    #[case::a_rounded_rate(101.0, 0.5, "items/s", false)]
    #[case::a_rate_of_all_digits(101.534_729_182, 5e-10, "items/s", true)]
    #[case::a_time_of_all_digits(31.350_412, 5e-7, "ms", true)]
    #[case::an_accuracy_of_all_digits(0.914_666_666_7, 5e-11, "", false)]
    #[case::an_accuracy_in_per_cent(91.466_666_67, 5e-9, "%", false)]
    #[case::a_rate_of_all_digits_in_json(101.534_729_182, 0.0, "items/s", true)]
    #[case::a_rounded_rate_in_json(101.5, 0.0, "items/s", false)]
    fn equal_files_without_a_time_need_an_exact_figure(
        #[case] value: f64,
        #[case] half_digit: f64,
        #[case] unit: &str,
        #[case] same: bool,
    ) {
        let figure = FigureValue::new(value, unit).with_half_digit(half_digit);
        let (first, second) = (text("run_1", 1, None), text("run_2", 1, None));
        assert_eq!(first.is_copy_of(&second, [&figure]), same);
    }

    #[test]
    fn names_omit_the_directories_that_both_share() {
        let (first, second) = (text("a/run_1", 1, None), text("a/run_2", 1, None));
        let names = first.relative_names(&second);
        assert_eq!(names, ("run_1/output.log".into(), "run_2/output.log".into()));
        let mut other = first.clone();
        other.file = "result_0.txt".to_owned();
        let names = first.relative_names(&other);
        assert_eq!(names, ("output.log".into(), "result_0.txt".into()));
    }
}
