//! The logs that a trial's figures are read from, by what was measured.
//!
//! A copy is not a further measurement. What was measured decides, and not when it is said to have been. Two logs are
//! of one measurement if
//!
//! - `LoadGen`'s agree in every latency to the nanosecond, or were begun in the same second and measured from the same
//!   millisecond;
//! - those of an endpoint agree in every latency, or the accuracy runs in every duration and length of answers;
//! - training logs start their run in the same millisecond, and end it in the same one or have the same seeds;
//!   those of two ranks start and end within a second, with the same seeds; or all events are as long after the
//!   start, to the millisecond;
//! - other files say the same, apart from white space and order, with a point in time; or apart from all points in
//!   time, with a rate or time of [`EXACT_DIGITS`](super::figure_value::EXACT_DIGITS) digits. Short outputs with rounded
//!   figures may well be equal in separate runs, and are not taken for copies;
//! - a figure of another file stands in the same lines with a point in time;
//! - one begins with all of the other and goes on with more of the same form, and the figure is read from what both
//!   have, or is a sum or mean.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

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
    /// A run of MLCommons' client for endpoints: a digest of what it measured.
    Endpoint(u64),
    Training(mllog::TrainingRunIdentity),
    /// Any other file, by its content.
    Text(TextIdentity),
}

/// The content of a file of no known format; of a long one, of its beginning and end. What stands between line ends, commas
/// and brackets is a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextIdentity {
    /// The sum of the hashes of all parts, whatever their order.
    pub content: u64,
    /// The same without points in time.
    pub measured: u64,
    /// The latest date and time that it states.
    pub latest: Option<Timestamp>,
    /// It states a date or a time of day.
    pub has_moment: bool,
    /// The first parts.
    pub beginning: Vec<ContentPart>,
    pub figures: Vec<ReadFigure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentPart {
    /// The sum of the hashes of all parts up to this one.
    pub sum: u64,
    /// The hash of its text, whatever its digits.
    pub form: u64,
    /// The number of its line, from 1.
    pub line: u64,
}

/// A figure that is read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFigure {
    /// Its value, as bits.
    pub value: u64,
    /// It is printed so finely that no other run has the same.
    pub is_exact: bool,
    /// It is the sum or mean of many records.
    pub is_reduced: bool,
    /// The line of its record, from 1, where that is known.
    pub line: Option<u64>,
    /// Hashes that identify its record by the nearest points in time.
    pub records: Vec<u64>,
}

impl TextIdentity {
    fn is_same_measurement(&self, other: &Self) -> bool {
        self.content == other.content && self.has_moment
            || self.measured == other.measured && self.shares(other, |own, _| own.is_exact)
            || self.shares(other, |own, other| {
                own.records.iter().any(|record| other.records.contains(record))
            })
            || self.has_grown_from(other)
            || other.has_grown_from(self)
    }

    /// Returns whether it begins with all of another file and repeats a part of it in another form of its digits: what a
    /// step appends to the log of an earlier one. A warning at the end of a short output is none.
    fn has_grown_from(&self, other: &Self) -> bool {
        let length = other.beginning.len();
        let Some(last) = length.checked_sub(1).and_then(|last| self.beginning.get(last)) else {
            return false;
        };
        let (common, added) = self.beginning.split_at(length);
        let forms: HashSet<u64> = common.iter().map(|part| part.form).collect();
        last.sum == other.content
            && added.iter().any(|part| forms.contains(&part.form))
            && (self.figures.iter().any(|figure| figure.is_reduced)
                || self.shares(other, |own, _| own.line.is_none_or(|line| line <= last.line)))
    }

    /// Returns whether both have a figure of one value, of which this holds.
    fn shares(&self, other: &Self, holds: impl Fn(&ReadFigure, &ReadFigure) -> bool) -> bool {
        self.figures.iter().any(|own| {
            other.figures.iter().any(|other| own.value == other.value && holds(own, other))
        })
    }
}

impl TrialLog {
    /// Returns whether another file has the same measurement.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        if (&self.directory, &self.file) == (&other.directory, &other.file) {
            return false;
        }
        match (&self.identity, &other.identity) {
            (LogIdentity::LoadGen(ours), LogIdentity::LoadGen(theirs)) => ours.is_same_run(theirs),
            (LogIdentity::Endpoint(ours), LogIdentity::Endpoint(theirs)) => ours == theirs,
            (LogIdentity::Training(ours), LogIdentity::Training(theirs)) => {
                ours.is_same_run_of_any_rank(theirs)
            }
            (LogIdentity::Text(ours), LogIdentity::Text(theirs)) => {
                ours.is_same_measurement(theirs)
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

    fn text(directory: &str, content: u64, has_moment: bool) -> TrialLog {
        TrialLog {
            directory: directory.to_owned(),
            file: "output.log".to_owned(),
            identity: LogIdentity::Text(TextIdentity {
                content,
                has_moment,
                ..TextIdentity::default()
            }),
        }
    }

    #[rstest]
    #[case::equal_with_a_time(text("run_2", 1, true), true)]
    #[case::the_same_file(text("run_1", 1, true), false)]
    #[case::of_other_content(text("run_2", 2, true), false)]
    fn files_with_times_are_compared_by_content(#[case] other: TrialLog, #[case] same: bool) {
        assert_eq!(text("run_1", 1, true).is_copy_of(&other), same);
    }

    #[test]
    fn names_omit_the_directories_that_both_share() {
        let (first, second) = (text("a/run_1", 1, false), text("a/run_2", 1, false));
        let names = first.relative_names(&second);
        assert_eq!(names, ("run_1/output.log".into(), "run_2/output.log".into()));
        let mut other = first.clone();
        other.file = "result_0.txt".to_owned();
        let names = first.relative_names(&other);
        assert_eq!(names, ("output.log".into(), "result_0.txt".into()));
    }
}
