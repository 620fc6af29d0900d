//! A benchmark's own statement that a result is invalid, outside of LoadGen's logs: AMD's harness leaves
//! a file `INVALID` where the model or the data set is not the expected one, and measures on.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

use itertools::join;
use serde_json::Value;
use walkdir::{DirEntry, WalkDir};

use super::figures::{TextFile, for_each_line};
use super::texts::TextError;
use crate::verdict::RuleCheck;
use retrial_readings::bounded::{BoundedRegex, MAX_STEPS};
use retrial_readings::json::{DocumentSplitter, LogPiece};
use retrial_readings::json_path::{JsonPath, parse_json_path};
use retrial_readings::nearest::{truncate_for_message, truncate_to_chars};
use retrial_recipe::model::{InvalidMarker, RequiredValue};
use retrial_store::open;

/// The rule that markers belong to.
const OWN_CHECKS: &str = "the benchmark's own checks";
/// The file that AMD's harness leaves.
const MARKER_FILE: &str = "INVALID";
/// No more of its text is read.
const MAX_MARKER_BYTES: u64 = 4096;
/// No more letters of it are shown.
const MAX_REASON_CHARS: usize = 300;
/// Maximum depth in the results in which a marker is searched.
const MAX_MARKER_DEPTH: usize = 8;

/// Checks the markers of a recipe: files in the results, lines of the output. Each that is there
/// is a failed check.
pub fn check_recipe_markers(
    markers: &[InvalidMarker],
    folder: &Path,
    outputs: &[TextFile],
) -> Vec<RuleCheck> {
    let checks = markers.iter().filter_map(|marker| match marker {
        InvalidMarker::File(name) => check_marker_file(folder, name),
        InvalidMarker::Pattern(pattern) => check_marker_line(pattern, outputs),
        InvalidMarker::Json(path) => check_marker_value(path, folder, outputs),
    });
    checks.collect()
}

/// Checks one folder of a submission for the usual marker.
pub fn check_usual_marker(folder: &Path) -> Option<RuleCheck> {
    let path = folder.join(MARKER_FILE);
    std::fs::symlink_metadata(&path).ok()?;
    Some(marker_violation(MARKER_FILE, folder, Path::new(MARKER_FILE)))
}

fn check_marker_file(folder: &Path, name: &str) -> Option<RuleCheck> {
    if name.contains('/') {
        let there = std::fs::symlink_metadata(folder.join(name)).is_ok();
        return there.then(|| marker_violation(name, folder, Path::new(name)));
    }
    let entries = WalkDir::new(folder).max_depth(MAX_MARKER_DEPTH).into_iter().flatten();
    let mut named = entries.filter(|entry| entry.file_name() == name);
    let entry = named.next()?;
    let below = entry.path().strip_prefix(folder).unwrap_or(entry.path());
    Some(marker_violation(name, folder, below))
}

fn marker_violation(name: &str, folder: &Path, path: &Path) -> RuleCheck {
    let stated_reason = read_reason(folder, path).map(|reason| format!(": {reason}"));
    let reason = stated_reason.unwrap_or_default();
    let measured = format!("the harness left {}{reason}", path.display());
    let required = format!("no file {name} in the results");
    RuleCheck::violation(OWN_CHECKS, measured, required)
}

/// Returns the text that the harness wrote into it, as one line.
fn read_reason(folder: &Path, path: &Path) -> Option<String> {
    let file = open::open_beneath(folder, path).ok()?;
    let mut text = Vec::new();
    file.take(MAX_MARKER_BYTES).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let words = join(text.split_whitespace(), " ");
    (!words.is_empty()).then(|| truncate_to_chars(&words, MAX_REASON_CHARS))
}

fn check_marker_line(pattern: &str, outputs: &[TextFile]) -> Option<RuleCheck> {
    // The recipe's check compiled it.
    let expression = BoundedRegex::new(pattern).ok()?;
    let mut search = expression.start_search();
    let mut matching: Option<String> = None;
    for output in outputs {
        let read = read_output_lines(output, |line| {
            if matching.is_none() && search.is_match(line) {
                matching = Some(truncate_for_message(line));
            }
        });
        // A missing output has no line; its step's end records why. What else was not searched is not known to be
        // without the line.
        if let Err(reason) = read
            && !reason.is_missing()
        {
            matching.get_or_insert_with(|| format!("not searched: {reason}"));
        }
    }
    if search.is_exhausted() {
        // What was not searched is not known to be without the line.
        matching
            .get_or_insert_with(|| format!("not searched: it takes more than {MAX_STEPS} steps"));
    }
    let required = format!("no line that matches {pattern}");
    Some(RuleCheck::violation(OWN_CHECKS, matching?, required))
}

/// Checks the values that a path selects, in the JSON of the outputs and of the results.
fn check_marker_value(path: &str, folder: &Path, outputs: &[TextFile]) -> Option<RuleCheck> {
    let stated = find_stated_values(path, folder, outputs);
    let (value, file) = stated.into_iter().find(|(value, _)| is_mark(value))?;
    let required = format!("no such value at {path}");
    Some(RuleCheck::violation(OWN_CHECKS, describe_value(path, &value, &file), required))
}

/// Checks what a result states of itself: every value at a path of the recipe must be the required one, and one must
/// be there.
pub fn check_required_values(
    required_values: &[(String, RequiredValue)],
    folder: &Path,
    outputs: &[TextFile],
) -> Vec<RuleCheck> {
    let checks = required_values.iter().map(|(name, RequiredValue { json, is })| {
        let stated = find_stated_values(json, folder, outputs);
        let is_required = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string().into(), Cow::from);
            text == is.as_str()
        };
        let required = format!("{json} is {is}");
        let other = stated.iter().find(|(value, _)| !is_required(value));
        match other.or(stated.first()) {
            Some((value, file)) => {
                let measured = describe_value(json, value, file);
                RuleCheck::new(name.clone(), measured, required, other.is_none())
            }
            None => RuleCheck::violation(name.clone(), format!("nothing at {json}"), required),
        }
    });
    checks.collect()
}

fn describe_value(path: &str, value: &Value, file: &Path) -> String {
    format!("{path} is {} in {}", truncate_for_message(&value.to_string()), file.display())
}

/// Finds the values that a path selects in the JSON of the outputs and of the files `*.json` of the results, each with
/// its file.
fn find_stated_values(path: &str, folder: &Path, outputs: &[TextFile]) -> Vec<(Value, PathBuf)> {
    // The recipe's check parsed it.
    let Ok(query) = parse_json_path(path) else {
        return Vec::new();
    };
    let entries = WalkDir::new(folder).max_depth(MAX_MARKER_DEPTH).into_iter().flatten();
    let is_json = |entry: &DirEntry| {
        entry.file_type().is_file() && entry.path().extension().is_some_and(|end| end == "json")
    };
    let files = entries.filter(is_json).filter_map(|entry| {
        let file = entry.path().strip_prefix(folder).ok()?.to_owned();
        Some(TextFile { directory: folder.to_owned(), file })
    });
    let texts = outputs.iter().cloned().chain(files);
    let stated = texts.flat_map(|text| {
        let values = select_values(&query, &text).into_iter();
        values.map(move |value| (value, text.file.clone()))
    });
    stated.collect()
}

fn select_values(query: &JsonPath, text: &TextFile) -> Vec<Value> {
    let mut selected = Vec::new();
    let mut documents = DocumentSplitter::default();
    let mut search = |piece: LogPiece<'_>| {
        if let LogPiece::Document(document, ..) = piece {
            // A document is a record of its file, which a filter selects: `$[?@.status == 'failed']`.
            let record = Value::Array(vec![document.clone()]);
            let values = query.query(&document).all().into_iter().chain(query.query(&record));
            selected.extend(values.cloned());
        }
    };
    // An output that is not there states nothing; its figures are missing.
    let _ = read_output_lines(text, |line| documents.feed_line(line, &mut search));
    documents.finish(&mut search);
    selected
}

fn is_mark(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_set) => *is_set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

fn read_output_lines(output: &TextFile, mut feed: impl FnMut(&str)) -> Result<(), TextError> {
    for file in output.matching_files()? {
        for_each_line(&mut file.open()?, &mut feed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_cannot_be_opened_fails_the_check() {
        let folder = tempfile::tempdir().unwrap();
        let output =
            |file: &str| TextFile { directory: folder.path().to_owned(), file: file.into() };
        std::fs::write(folder.path().join("result_1.txt"), "all is well\n").unwrap();
        std::os::unix::fs::symlink("result_1.txt", folder.path().join("output.log")).unwrap();
        let measured = |file: &str| {
            let check = check_marker_line("does not match", &[output(file)]);
            check.map(|check| check.measured)
        };
        let of_link = measured("output.log").unwrap();
        assert!(of_link.starts_with("not searched: "), "{of_link}");
        assert!(of_link.contains("it is a link"), "{of_link}");
        assert_eq!(measured("result_*.txt"), None);
        assert_eq!(measured("missing_*.txt"), None);
        std::fs::create_dir(folder.path().join("result_2.txt")).unwrap();
        let of_directory = measured("result_*.txt").unwrap();
        assert!(of_directory.contains("not a regular file"), "{of_directory}");
    }

    #[test]
    fn an_output_that_cannot_be_read_is_not_known_to_be_valid() {
        let output = TextFile {
            directory: format!("/proc/{}", std::process::id()).into(),
            // Nothing is mapped at its beginning.
            file: "mem".into(),
        };
        let check = check_marker_line("checksum .* does not match", &[output]);
        let measured = check.unwrap().measured;
        assert!(measured.starts_with("not searched: it cannot be read"), "{measured}");
    }

    #[rstest::rstest]
    #[case::set(r#"{"run": {"was_cancelled": true}}"#, true)]
    #[case::over_lines("{\n \"run\": {\n \"was_cancelled\": true\n}\n}\n", true)]
    #[case::not_set(r#"{"run": {"was_cancelled": false}}"#, false)]
    #[case::not_stated(r#"{"run": {}}"#, false)]
    fn a_value_of_json_marks_a_result(#[case] text: &str, #[case] is_marked: bool) {
        let folder = tempfile::tempdir().unwrap();
        let markers = [InvalidMarker::Json("$.run.was_cancelled".to_owned())];
        let status = [InvalidMarker::Json("$[?@.run.was_cancelled == true]".to_owned())];
        std::fs::write(folder.path().join("profile.json"), text).unwrap();
        assert_eq!(!check_recipe_markers(&status, folder.path(), &[]).is_empty(), is_marked);
        let checks = check_recipe_markers(&markers, folder.path(), &[]);
        let measured: Vec<String> = checks.into_iter().map(|check| check.measured).collect();
        let expected = "$.run.was_cancelled is true in profile.json".to_owned();
        assert_eq!(measured, is_marked.then_some(expected).into_iter().collect::<Vec<_>>());
        std::fs::rename(folder.path().join("profile.json"), folder.path().join("output.log"))
            .unwrap();
        let output = TextFile { directory: folder.path().to_owned(), file: "output.log".into() };
        assert_eq!(check_recipe_markers(&markers, folder.path(), &[output]).len(), measured.len());
    }

    #[rstest::rstest]
    #[case::stated(r#"{"status": "completed"}"#, true)]
    #[case::another(r#"{"status": "cancelled"}"#, false)]
    #[case::both("{\"status\": \"completed\"}\n{\"status\": \"cancelled\"}", false)]
    #[case::nothing(r#"{"state": "completed"}"#, false)]
    fn a_result_must_state_what_its_recipe_requires(#[case] text: &str, #[case] passed: bool) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("profile.json"), text).unwrap();
        let status = RequiredValue { json: "$.status".to_owned(), is: "completed".to_owned() };
        let required = [("status".to_owned(), status)];
        let checks = check_required_values(&required, folder.path(), &[]);
        assert_eq!(checks[0].passed, passed, "{checks:?}");
    }

    #[test]
    fn marker_files_and_lines_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let markers = [
            InvalidMarker::File("INVALID".to_owned()),
            InvalidMarker::File("logs/INVALID".to_owned()),
            InvalidMarker::Pattern("checksum .* does not match".to_owned()),
        ];
        let output = TextFile { directory: folder.path().to_owned(), file: "output.log".into() };
        let check = || check_recipe_markers(&markers, folder.path(), std::slice::from_ref(&output));
        assert!(check().is_empty());
        std::fs::write(folder.path().join("output.log"), "model checksum ok\n").unwrap();
        assert!(check().is_empty());
        let text = "a\nmodel checksum 0f does not match 0e\nb\n";
        std::fs::write(folder.path().join("output.log"), text).unwrap();
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        std::fs::write(
            folder.path().join("logs/INVALID"),
            "The model path is NOT\n  default: /model\n\n",
        )
        .unwrap();
        let measured: Vec<String> = check().into_iter().map(|check| check.measured).collect();
        assert_eq!(
            measured,
            [
                "the harness left logs/INVALID: The model path is NOT default: /model",
                "the harness left logs/INVALID: The model path is NOT default: /model",
                "model checksum 0f does not match 0e"
            ]
        );
        assert!(check_usual_marker(folder.path()).is_none());
        assert!(!check_usual_marker(&folder.path().join("logs")).unwrap().passed);
    }
}
