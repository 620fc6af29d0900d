//! The identity of a file: what it says, with and without the times at which it says so.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::FileExt;

use retrial_readings::decode::to_utf8;

use super::stamps;
use crate::evidence::texts::TextFile;
use crate::verdict::{ContentPart, FigureValue, LogIdentity, ReadFigure, TextIdentity, TrialLog};

/// Size of the beginning and of the end of a file that are read: files of gigabytes differ there, too.
const END_BYTES: u64 = 1 << 20;
/// Maximum distance of a figure's line from one that states a time, lines.
const MAX_LINES_APART: usize = 1000;
/// The most parts of which it is remembered how a file begins.
const MAX_PARTS: usize = 20_000;

/// A figure of a file, and whether it is the sum or mean of many records.
pub(crate) type FigureOfFile<'a> = (&'a FigureValue, bool);

/// Reads a file that these figures are read from; none where it cannot be read.
pub(crate) fn text_log(text: &TextFile, figures: &[FigureOfFile<'_>]) -> Option<TrialLog> {
    let content = TextContent::read_ends(text).ok()?;
    let name = text.file.display().to_string();
    let figures = figures.iter().map(|(figure, is_reduced)| ReadFigure {
        value: figure.value.to_bits(),
        is_exact: figure.is_exact(),
        is_reduced: *is_reduced,
        line: figure.line_in(&name),
        records: figure.line_in(&name).map_or(Vec::new(), |line| content.records_at(line)),
    });
    Some(TrialLog {
        directory: text.directory.display().to_string(),
        identity: LogIdentity::Text(TextIdentity {
            figures: figures.collect(),
            ..content.identity
        }),
        file: name,
    })
}

/// Returns the number of a line that is printed again at this one: the same words at the same time.
pub(super) fn repeated_line(text: &TextFile, figure: &FigureValue) -> Option<(u64, u64)> {
    let content = TextContent::read_ends(text).ok()?;
    let line = figure.line_in(&text.file.display().to_string())?;
    let form = content.lines.iter().find(|one| one.number == line)?.form;
    let mut records = content.lines.iter().filter(|one| one.form == form && one.has_moment);
    let mut seen = HashMap::new();
    records.find_map(|one| Some((seen.insert(one.hash, one.number)?, one.number)))
}

/// A line that is not blank.
struct Line {
    /// From 1; of no line where it is far from the beginning.
    number: u64,
    /// The hash of its words, whatever the white space between them.
    hash: u64,
    /// The same of all digits.
    form: u64,
    has_moment: bool,
}

/// The lines at both ends of a file.
#[derive(Default)]
struct TextContent {
    lines: Vec<Line>,
    identity: TextIdentity,
}

impl TextContent {
    fn read_ends(text: &TextFile) -> io::Result<Self> {
        let file = text.open().map_err(io::Error::other)?;
        let length = file.metadata()?.len();
        let mut first = read_range(&file, 0, length.min(END_BYTES))?;
        let begin = length.saturating_sub(END_BYTES).max(END_BYTES.min(length));
        let last = read_range(&file, begin, length)?;
        let mut content = Self::default();
        if begin == first.len() as u64 {
            first.extend_from_slice(&last);
            content.add_lines(&to_utf8(&first), Some(1));
        } else {
            content.add_lines(&to_utf8(&first), Some(1));
            content.add_lines(&last, text.line_number_at(begin));
        }
        Ok(content)
    }

    /// Adds lines, of which the first has this number, if that is known.
    fn add_lines(&mut self, text: &[u8], first: Option<u64>) {
        for (number, line) in (0..).zip(text.split(|byte| *byte == b'\n')) {
            let mut words =
                line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).peekable();
            if words.peek().is_none() {
                continue;
            }
            let number = first.map_or(u64::MAX, |first| first + number);
            let stamped = stamps::split_stamps(line);
            let identity = &mut self.identity;
            identity.latest = identity.latest.max(stamped.latest);
            identity.has_moment |= stamped.has_moment;
            for part in parts_of(line) {
                identity.content = identity.content.wrapping_add(hash_of(&part));
                if identity.beginning.len() < MAX_PARTS {
                    let (sum, form) = (identity.content, form_of(&part));
                    identity.beginning.push(ContentPart { sum, form, line: number });
                }
            }
            for part in parts_of(&stamped.rest) {
                identity.measured = identity.measured.wrapping_add(hash_of(part));
            }
            self.lines.push(Line {
                number,
                hash: hash_of(words.collect::<Vec<_>>()),
                form: form_of(line),
                has_moment: stamped.has_moment,
            });
        }
    }

    /// Returns hashes that identify the record in a line: of the lines up to the nearest that states a time, above and
    /// below it.
    fn records_at(&self, line: u64) -> Vec<u64> {
        let Ok(at) = self.lines.binary_search_by_key(&line, |line| line.number) else {
            return Vec::new();
        };
        let above = hashes_up_to_time(self.lines[..=at].iter().rev());
        let below = hashes_up_to_time(self.lines[at..].iter());
        let above = above.map(|lines| hash_of(("above", lines)));
        above.into_iter().chain(below.map(|lines| hash_of(("below", lines)))).collect()
    }
}

/// Returns what stands between the commas and brackets of a line, without white space: copies may be indented
/// otherwise, and an array that grows has another bracket.
fn parts_of(line: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let parts = line.split(|byte| b",{}[]".contains(byte));
    let compact = parts.map(|part| {
        let letters = part.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
        letters.collect::<Vec<u8>>()
    });
    compact.filter(|part| !part.is_empty())
}

/// Returns the hash of a text whose numbers do not matter.
fn form_of(text: &[u8]) -> u64 {
    let letters = text.iter().filter(|byte| !byte.is_ascii_digit() && !b".+-".contains(byte));
    hash_of(letters.collect::<Vec<_>>())
}

/// Returns the hashes of lines up to the first that states a time, if it is near.
fn hashes_up_to_time<'a>(lines: impl Iterator<Item = &'a Line>) -> Option<Vec<u64>> {
    let mut hashes = Vec::new();
    for line in lines.take(MAX_LINES_APART) {
        hashes.push(line.hash);
        if line.has_moment {
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
        let (_directory, text) = text_of(content);
        text_log(&text, &[(&rate_on(line, rate, 0.05), is_reduced)]).unwrap()
    }

    fn text_of(content: &[u8]) -> (tempfile::TempDir, TextFile) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("output.log"), content).unwrap();
        let text = TextFile { directory: directory.path().to_owned(), file: "output.log".into() };
        (directory, text)
    }

    fn rate_on(line: u64, rate: f64, half_digit: f64) -> FigureValue {
        let file = "output.log".to_owned();
        let origin = FigureLocation { file, line: Some(line), ..FigureLocation::default() };
        FigureValue::new(rate, "items/s").with_half_digit(half_digit).with_origin(origin)
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
        assert_eq!(other.is_copy_of(&original), copied);
    }

    #[rstest]
    #[case::compact(r#"{"date":"20260302-101112","rate":101.5}"#, true)]
    #[case::in_another_order("{\n  \"rate\": 101.5,\n  \"date\": \"20260302-101112\"\n}\n", true)]
    #[case::of_another_second(r#"{"date":"20260302-101113","rate":101.5}"#, false)]
    fn json_is_the_same_however_it_is_written(#[case] content: &str, #[case] same: bool) {
        let pretty = "{\n \"date\": \"20260302-101112\",\n \"rate\": 101.5\n}";
        let original = log(pretty.as_bytes(), 101.5, 1);
        assert_eq!(log(content.as_bytes(), 101.5, 1).is_copy_of(&original), same);
    }

    #[rstest]
    #[case::a_mean_over_both("00:00:01 rate: 101.5\n00:10:01 rate: 99.5\n", 100.5, 2, true, true)]
    #[case::the_first_of_both("00:00:01 rate: 101.5\n00:10:01 rate: 99.5\n", 101.5, 1, false, true)]
    #[case::its_own("00:00:01 rate: 101.5\n00:10:01 rate: 99.5\n", 99.5, 2, false, false)]
    #[case::a_warning("00:00:01 rate: 101.5\nwarning: slow\n", 101.5, 1, false, false)]
    fn a_log_that_grows_has_the_measurements_of_the_shorter_one(
        #[case] content: &str,
        #[case] rate: f64,
        #[case] line: u64,
        #[case] is_reduced: bool,
        #[case] same: bool,
    ) {
        let shorter = log_of(b"00:00:01 rate: 101.5\n", 101.5, 1, is_reduced);
        let longer = log_of(content.as_bytes(), rate, line, is_reduced);
        assert_eq!(longer.is_copy_of(&shorter), same);
        assert_eq!(shorter.is_copy_of(&longer), same);
    }

    #[test]
    fn an_array_of_json_grows() {
        let array = |records: &[f64]| {
            let records: Vec<String> =
                records.iter().map(|rate| format!("{{\"rate\": {rate}}}")).collect();
            format!("[{}]", records.join(", "))
        };
        let shorter = log(array(&[101.5]).as_bytes(), 101.5, 1);
        assert!(log(array(&[101.5, 99.5]).as_bytes(), 101.5, 1).is_copy_of(&shorter));
        assert!(!log(array(&[101.5, 99.5]).as_bytes(), 99.5, 1).is_copy_of(&shorter));
        assert!(!log(array(&[101.5]).as_bytes(), 101.5, 1).is_copy_of(&shorter));
    }

    #[test]
    fn a_copy_with_another_date_agrees_in_all_digits() {
        let log_of = |date: &str, rate: f64| {
            let content = format!("{date} 10:11:07 start\nrate: {rate}\n");
            let (_directory, text) = text_of(content.as_bytes());
            text_log(&text, &[(&rate_on(2, rate, 0.0), false)]).unwrap()
        };
        let is_copy = |rate| log_of("2026-03-02", rate).is_copy_of(&log_of("2026-03-03", rate));
        assert!(is_copy(101.534_729_182));
        assert!(!is_copy(101.5));
    }

    #[test]
    fn a_line_with_a_time_that_is_printed_again_is_found() {
        let repeated = |second: &str| {
            let content = format!("10:11:07 rank 0 rate: 50.5\n{second}\nend\n");
            let (_directory, text) = text_of(content.as_bytes());
            repeated_line(&text, &rate_on(2, 101.0, 0.05))
        };
        assert_eq!(repeated("10:11:07 rank 0 rate: 50.5"), Some((1, 2)));
        assert_eq!(repeated("10:11:07 rank 1 rate: 50.5"), None);
        assert_eq!(repeated("10:11:08 rank 0 rate: 50.5"), None);
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
        assert!(copy.is_copy_of(&original));
    }

    #[test]
    fn a_file_between_one_and_two_ends_is_read_once() {
        let end = usize::try_from(END_BYTES).unwrap();
        let mut bytes = vec![b'\n'; end];
        bytes.extend_from_slice(b"2026-03-02 10:17:07 done");
        let LogIdentity::Text(identity) = log_of(&bytes, 1.0, 1, true).identity else { panic!() };
        assert_eq!(identity.latest, "2026-03-02T10:17:07Z".parse().ok());
        assert_eq!(identity.beginning.len(), 1);
    }
}
