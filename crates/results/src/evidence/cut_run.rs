//! Runs that were cut: their command may have ended without an error, and what they measured before is printed.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::LazyLock;

use itertools::Itertools as _;
use regex::Regex;
use retrial_plan::failure::find_cause;
use retrial_readings::nearest::truncate_for_message;

use super::figures::{TextFile, for_each_line};
use super::texts::TextError;
use crate::verdict::{FigureValue, RuleCheck};

/// Size of the end of an output that is searched, bytes.
const MAX_END_BYTES: u64 = 1 << 20;
/// Lines at the beginning of an output by which a second attempt is recognised.
const HEAD_LINES: usize = 3;

/// Python's, of an exception that nothing caught.
static TRACEBACK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(\[?\S*\d+\]?:? ?)?Traceback \(most recent call last\)").ok());
/// Slurm's, of a job or step that it ended, and the statement of load generators in JSON.
static CANCELLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\*\*\* (?:JOB|STEP) \S+ .*CANCELLED AT |"was_cancelled"\s*:\s*true\b"#).ok()
});

/// Warns of the first line that shows that a run was cut: an error after the last figure, the end of a job by Slurm, a
/// cancellation, or a second attempt in one output.
pub(super) fn warn_of_cut_run(
    outputs: &[TextFile],
    folder: &std::path::Path,
    figures: &BTreeMap<String, FigureValue>,
) -> Option<RuleCheck> {
    let origins = figures.values().filter_map(|figure| figure.origin.as_ref());
    let read = origins
        .map(|origin| TextFile { directory: folder.to_owned(), file: origin.file.clone().into() });
    let printed = outputs.iter().filter_map(|output| output.matching_files().ok()).flatten();
    let mut files = printed.chain(read).unique_by(|file| file.directory.join(&file.file));
    let (file, sign) = files.find_map(|file| {
        let name = file.file.display().to_string();
        let last = figures.values().filter_map(|figure| figure.line_in(&name)).max();
        // What cannot be read has no sign; its figures are missing.
        let sign = find_sign(&file, last).ok().flatten()?;
        Some((name, sign))
    })?;
    let measured = format!("{file}, {sign}");
    Some(RuleCheck::warning("end of the run", measured, "a run that was not cut"))
}

/// Returns the line that shows it, in the end of a file whose last figure stands in a line.
fn find_sign(text: &TextFile, last: Option<u64>) -> Result<Option<String>, TextError> {
    let mut file = text.open()?;
    let begin = file.metadata()?.len().saturating_sub(MAX_END_BYTES);
    let number = text.line_number_at(begin).unwrap_or(1);
    file.seek(SeekFrom::Start(begin))?;
    let mut end = Vec::new();
    file.take(MAX_END_BYTES).read_to_end(&mut end)?;
    let mut lines: Vec<String> = Vec::new();
    for_each_line(&mut end.as_slice(), |line| lines.push(line.to_owned()))?;
    let numbered = || (number..).zip(&lines);
    let is_match = |pattern: &LazyLock<Option<Regex>>, line: &str| {
        pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
    };
    let is_after = |line: u64| last.is_some_and(|last| line > last);
    let after: Vec<&String> =
        numbered().filter(|(line, _)| is_after(*line)).map(|(_, text)| text).collect();
    let cause = find_cause(after.iter().join("\n").as_bytes(), str::to_owned);
    let shown = numbered().find(|(number, line)| {
        is_match(&CANCELLED, line) || is_after(*number) && is_match(&TRACEBACK, line)
    });
    Ok(match (shown, cause) {
        (None, None) => repeated_head(&lines)
            .filter(|_| begin == 0 && last.is_some())
            .map(|line| format!("line {line}: the output begins again")),
        (None, Some(cause)) => Some(format!("after its last figure: {cause}")),
        (Some((number, line)), cause) => {
            let cause = cause.map_or_else(String::new, |cause| format!("; {cause}"));
            Some(format!("line {number}: '{}'{cause}", truncate_for_message(line)))
        }
    })
}

/// Returns the number of the line at which the beginning of an output stands again.
fn repeated_head(lines: &[String]) -> Option<usize> {
    let head: Vec<String> = lines.iter().take(HEAD_LINES).map(|line| without_times(line)).collect();
    let is_telling = head.len() == HEAD_LINES && head.iter().all_unique();
    let mut later = lines.windows(HEAD_LINES).skip(1).positions(|window| {
        window.iter().zip(&head).all(|(line, first)| without_times(line) == *first)
    });
    later.next().filter(|_| is_telling).map(|position| position + 2)
}

fn without_times(line: &str) -> String {
    let stamped = super::identity::split_stamps(line.as_bytes());
    String::from_utf8_lossy(&stamped.rest).into_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::verdict::FigureLocation;

    const ATTEMPT: &str = "10:00:01 starting\nmodel: m\nGPUs: 8\n";

    #[rstest]
    #[case::whole("rate: 5\ndone\n", None)]
    #[case::an_exception(
        "rate: 5\nTraceback (most recent call last):\n",
        Some("line 2: 'Traceback (most recent call last):'")
    )]
    #[case::an_error_before_it("Traceback (most recent call last):\nrate: 5\n", None)]
    #[case::a_known_error(
        "rate: 5\nRuntimeError: HIP out of memory.\n",
        Some("after its last figure: out of GPU memory: 'RuntimeError: HIP out of memory.'")
    )]
    #[case::a_time_limit(
        "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT ***\nrate: 5\n",
        Some("line 1: 'slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT")
    )]
    #[case::cancelled(
        "{\"was_cancelled\": true}\nrate: 5\n",
        Some("line 1: '{\"was_cancelled\": true}'")
    )]
    #[case::not_cancelled("{\"was_cancelled\": false}\nrate: 5\n", None)]
    fn a_cut_run_is_named(#[case] content: &str, #[case] expected: Option<&str>) {
        assert_warns(content, expected);
    }

    #[test]
    fn a_second_attempt_in_one_output_is_named() {
        let again = ATTEMPT.replace("10:00:01", "10:20:01");
        assert_warns(
            &format!("{ATTEMPT}{again}rate: 5\n"),
            Some("line 4: the output begins again"),
        );
        assert_warns(&format!("{ATTEMPT}rate: 5\n"), None);
    }

    fn assert_warns(content: &str, expected: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("output.log"), content).unwrap();
        let output = TextFile { directory: folder.path().to_owned(), file: "output.log".into() };
        let line = content.lines().zip(1..).find(|(line, _)| line.starts_with("rate")).unwrap().1;
        let origin = FigureLocation {
            file: "output.log".to_owned(),
            line: Some(line),
            ..FigureLocation::default()
        };
        let figure = FigureValue::new(5.0, "items/s").with_origin(origin);
        let figures = BTreeMap::from([("rate".to_owned(), figure)]);
        let check = warn_of_cut_run(&[output], folder.path(), &figures);
        let measured = check.map(|check| check.measured);
        assert_eq!(measured.is_some(), expected.is_some(), "{measured:?}");
        let sign = expected.unwrap_or_default();
        assert!(measured.is_none_or(|text| text.starts_with(&format!("output.log, {sign}"))));
    }
}
