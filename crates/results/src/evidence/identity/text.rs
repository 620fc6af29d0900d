//! The identity of a file: its content, the times in it, and the lines that figures are
//! read from.

use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::FileExt;

use jiff::Timestamp;
use retrial_readings::decode::to_utf8;
use sha1::{Digest, Sha1};

use super::stamps;
use crate::evidence::texts::TextFile;
use crate::verdict::{FigureValue, LogIdentity, TextIdentity, TrialLog};

/// Size of the beginning and of the end of a file that are read: files of gigabytes differ there, too.
const END_BYTES: u64 = 1 << 20;
/// Maximum distance of a figure's line from one that states a time, lines.
const MAX_LINES_APART: usize = 1000;
/// The most lines of which it is remembered how a file begins.
const MAX_PREFIX_LINES: usize = 10_000;

/// Reads a file that these figures are read from; none where it cannot be read. If some are reduced from many records,
/// how the file begins counts: another run's output may stand there.
pub(crate) fn text_log(
    text: &TextFile,
    figures: &[&FigureValue],
    is_reduced: bool,
) -> Option<TrialLog> {
    let lines = BoundaryLines::read_ends(text, &text.open().ok()?).ok()?;
    Some(TrialLog {
        directory: text.directory.display().to_string(),
        file: text.file.display().to_string(),
        identity: LogIdentity::Text(TextIdentity {
            digest: lines.content_digest(),
            latest: lines.latest_time(),
            records: lines.record_hashes(figures),
            starts: if is_reduced { lines.prefix_hashes() } else { Vec::new() },
        }),
    })
}

/// A line that is not blank.
struct HashedLine {
    /// From 1; of no line where it is far from the beginning.
    number: u64,
    /// The hash of its words, whatever the white space between them.
    hash: u64,
    /// The latest point in time that it states.
    stamp: Option<Timestamp>,
}

/// The lines at both ends of a file.
#[derive(Default)]
struct BoundaryLines {
    lines: Vec<HashedLine>,
    /// The hashes of what stands between line ends, commas and brackets, without white space: copies may be
    /// indented otherwise, and have other line ends.
    parts: Vec<u64>,
}

impl BoundaryLines {
    fn read_ends(text: &TextFile, file: &File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let mut first = read_range(file, 0, length.min(END_BYTES))?;
        let begin = length.saturating_sub(END_BYTES).max(END_BYTES.min(length));
        let last = read_range(file, begin, length)?;
        let mut lines = Self::default();
        if begin == first.len() as u64 {
            first.extend_from_slice(&last);
            lines.add_lines(&to_utf8(&first), Some(1));
        } else {
            lines.add_lines(&to_utf8(&first), Some(1));
            lines.add_lines(&last, text.line_number_at(begin));
        }
        Ok(lines)
    }

    /// Adds lines, of which the first has this number, if that is known.
    fn add_lines(&mut self, text: &[u8], first: Option<u64>) {
        for (number, line) in (0..).zip(text.split(|byte| *byte == b'\n')) {
            let mut words =
                line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).peekable();
            if words.peek().is_none() {
                continue;
            }
            self.lines.push(HashedLine {
                number: first.map_or(u64::MAX, |first| first + number),
                hash: hash_of(words.collect::<Vec<_>>()),
                stamp: stamps::latest_time(line),
            });
            for part in line.split(|byte| b",{}[]".contains(byte)) {
                let compact_part: Vec<u8> =
                    part.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                if !compact_part.is_empty() {
                    self.parts.push(hash_of(compact_part));
                }
            }
        }
    }

    fn latest_time(&self) -> Option<Timestamp> {
        self.lines.iter().filter_map(|line| line.stamp).max()
    }

    fn content_digest(&self) -> [u8; 20] {
        let mut parts = self.parts.clone();
        parts.sort_unstable();
        let mut digest = Sha1::new();
        for part in parts {
            digest.update(part.to_le_bytes());
        }
        digest.finalize().into()
    }

    /// Returns hashes that identify the records of these figures: each with the lines up to the nearest
    /// that states a time, above and below it, and a figure of all digits with the latest time of the file.
    fn record_hashes(&self, figures: &[&FigureValue]) -> BTreeSet<u64> {
        let mut records = BTreeSet::new();
        let latest = self.latest_time();
        for figure in figures {
            let value = figure.value.to_bits();
            let line = figure.origin.as_ref().and_then(|origin| origin.line);
            let at = line.and_then(|line| {
                let found = self.lines.binary_search_by_key(&line, |line| line.number);
                found.ok()
            });
            if let Some(at) = at {
                let above = self.lines[..=at].iter().rev();
                records
                    .extend(hashes_up_to_time(above).map(|lines| hash_of(("above", value, lines))));
                let below = self.lines[at..].iter();
                records
                    .extend(hashes_up_to_time(below).map(|lines| hash_of(("below", value, lines))));
            }
            if let Some(latest) = latest.filter(|_| figure.is_exact()) {
                records.insert(hash_of((latest.as_second(), value)));
            }
        }
        records
    }

    /// Returns the hash of all up to each line.
    fn prefix_hashes(&self) -> Vec<u64> {
        if self.lines.len() > MAX_PREFIX_LINES {
            return Vec::new();
        }
        let starts = self.lines.iter().scan(0, |before, line| {
            *before = hash_of((*before, line.hash));
            Some(*before)
        });
        starts.collect()
    }
}

/// Returns the hashes of lines up to the first that states a time, if it is near.
fn hashes_up_to_time<'a>(lines: impl Iterator<Item = &'a HashedLine>) -> Option<Vec<u64>> {
    let mut hashes = Vec::new();
    for line in lines.take(MAX_LINES_APART) {
        hashes.push(line.hash);
        if line.stamp.is_some() {
            return Some(hashes);
        }
    }
    None
}

fn hash_of(content: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

fn read_range(file: &File, begin: u64, end: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(end.saturating_sub(begin)).unwrap_or_default();
    let mut bytes = vec![0; length];
    let mut read = 0;
    while read < length {
        match file.read_at(&mut bytes[read..], begin + read as u64)? {
            0 => break,
            count => read += count,
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::verdict::FigureLocation;

    /// The log of a file with this content, of which a rate is read on a line.
    fn log(content: &[u8], rate: f64, line: u64) -> TrialLog {
        log_of(content, rate, line, false)
    }

    fn log_of(content: &[u8], rate: f64, line: u64, is_reduced: bool) -> TrialLog {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("output.log"), content).unwrap();
        let text = TextFile { directory: directory.path().to_owned(), file: "output.log".into() };
        let origin = FigureLocation {
            file: "output.log".to_owned(),
            line: Some(line),
            passed_over: None,
            repeated: None,
        };
        let figure = FigureValue::new(rate, "items/s").with_half_digit(0.05);
        text_log(&text, &[&figure.with_origin(origin)], is_reduced).unwrap()
    }

    fn is_copy(one: &TrialLog, other: &TrialLog) -> bool {
        one.is_copy_of(other, [])
    }

    const LOG: &str = "2026-03-02 10:11:07 start\nrate: 101.5\n";

    #[rstest]
    #[case::line_ends("2026-03-02 10:11:07 start\r\nrate: 101.5\r\n", 2, true)]
    #[case::another_first_line("trial 2\n2026-03-02 10:11:07 start\nrate: 101.5\n", 3, true)]
    #[case::more_behind_it(
        "2026-03-02 10:11:07 start\nrate: 101.5\n2026-03-02 11:00:00 start\n",
        2,
        true
    )]
    #[case::another_time("2026-03-02 10:11:08 start\nrate: 101.5\n", 2, false)]
    #[case::a_figure_of_its_own(
        "2026-03-02 10:11:07 start\nrate: 101.5\n2026-03-02 11:00:00 start\nrate: 101.5\n",
        4,
        false
    )]
    fn a_figure_in_lines_with_a_time_of_another_log_is_copied(
        #[case] content: &str,
        #[case] line: u64,
        #[case] copied: bool,
    ) {
        let original = log(LOG.as_bytes(), 101.5, 2);
        let other = log(content.as_bytes(), 101.5, line);
        assert_eq!(is_copy(&other, &original), copied);
    }

    #[rstest]
    #[case::compact(r#"{"date":"20260302-101112","rate":101.5}"#, true)]
    #[case::in_another_order("{\n  \"rate\": 101.5,\n  \"date\": \"20260302-101112\"\n}\n", true)]
    #[case::of_another_second(r#"{"date":"20260302-101113","rate":101.5}"#, false)]
    fn json_is_the_same_however_it_is_written(#[case] content: &str, #[case] same: bool) {
        let pretty = "{\n \"date\": \"20260302-101112\",\n \"rate\": 101.5\n}";
        let original = log(pretty.as_bytes(), 101.5, 1);
        assert_eq!(is_copy(&log(content.as_bytes(), 101.5, 1), &original), same);
    }

    /// The mean of a log that begins with another one is of two runs.
    #[test]
    fn a_reduced_figure_of_a_log_that_begins_with_another_is_not_its_own() {
        let original = log_of(LOG.as_bytes(), 101.5, 2, true);
        let longer = format!("{LOG}2026-03-02 10:12:07 start\nrate: 101.7\n");
        let longer = log_of(longer.as_bytes(), 101.6, 4, true);
        assert!(is_copy(&longer, &original));
        assert!(!is_copy(&original, &longer));
    }

    #[test]
    fn both_ends_of_a_long_file_count() {
        let end = usize::try_from(END_BYTES).unwrap();
        let long = vec![b'x'; 3 * end];
        let identity = |bytes: &[u8]| log(bytes, 1.0, 1).identity;
        let changed = |at: usize| {
            let mut bytes = long.clone();
            bytes[at] = b'y';
            identity(&bytes)
        };
        let whole = identity(&long);
        assert_ne!(changed(0), whole);
        assert_ne!(changed(3 * end - 1), whole);
        assert_eq!(identity(&long), whole);
    }

    /// A figure near the end of a file whose middle is not read.
    #[test]
    fn lines_are_numbered_from_the_beginning_of_a_long_file() {
        let filler = "step 1\n".repeat(500_000);
        let content = |first: &str| format!("{first}{filler}{LOG}");
        let original = log(content("").as_bytes(), 101.5, 500_002);
        let copy = log(content("copy 2\n").as_bytes(), 101.5, 500_003);
        assert!(is_copy(&copy, &original));
    }

    #[test]
    fn a_file_between_one_and_two_ends_is_read_once() {
        let end = usize::try_from(END_BYTES).unwrap();
        let mut bytes = vec![b'\n'; end];
        bytes.extend_from_slice(b"2026-03-02 10:17:07 done");
        let LogIdentity::Text(identity) = log_of(&bytes, 1.0, 1, true).identity else { panic!() };
        assert_eq!(identity.latest, "2026-03-02T10:17:07Z".parse().ok());
        assert_eq!(identity.starts.len(), 1);
    }
}
