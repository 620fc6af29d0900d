use rstest::rstest;

use super::tests::values;
use super::*;

const SECTIONS: [&str; 9] = [
    "tokens/s: 1",
    "Offline",
    "tokens/s: 20",
    "Server",
    "a line between",
    "tokens/s: 30",
    "tokens/s: 31",
    "Server, again",
    "tokens/s: 40",
];

#[rstest]
#[case(r"tokens/s: (\d+)", "^Server", MatchSelection::All, &[30.0, 40.0])]
#[case(r"tokens/s: (\d+)", "^Offline", MatchSelection::Last, &[20.0])]
#[case(r"(\d+)", r"^tokens/s: 1$", MatchSelection::Last, &[20.0])]
fn only_the_first_match_below_a_heading_is_used(
    #[case] pattern: &str,
    #[case] heading: &str,
    #[case] take: MatchSelection,
    #[case] expected: &[f64],
) {
    let pattern = Pattern::new(pattern, take, "").unwrap();
    let pattern = pattern.below_heading(heading).unwrap();
    let mut reader = pattern.reader();
    for line in SECTIONS {
        reader.feed_line(line);
    }
    assert_eq!(values(reader).unwrap(), expected);
}

#[test]
fn a_missing_heading_is_reported() {
    let pattern = Pattern::new(r"tokens/s: (\d+)", MatchSelection::Last, "").unwrap();
    let pattern = pattern.below_heading("^MultiStream").unwrap();
    let mut reader = pattern.reader();
    for line in SECTIONS {
        reader.feed_line(line);
    }
    let error = reader.into_entries().unwrap_err().to_string();
    assert!(error.contains("below one that matches `^MultiStream`"), "{error}");
}

/// Reads lines with the figure below a heading.
fn below(heading: &str, way: MatchSelection, lines: &[&str]) -> Result<Vec<f64>, PatternError> {
    let pattern = Pattern::new(r"^speed: (\d+)", way, "")
        .and_then(|pattern| pattern.below_heading(heading))?;
    let mut reader = pattern.reader();
    for line in lines {
        reader.feed_line(line);
    }
    reader.finish_text();
    values(reader)
}

#[rstest]
#[case::next_heading(&["batch 8", "out of memory", "batch 16", "speed: 5"], None)]
#[case::repeated_within(&["batch 8", "batch 8", "speed: 4"], Some(4.0))]
#[case::other_headings(&["batch 8", "== summary ==", "speed: 4", "batch 16", "speed: 5"], Some(4.0))]
#[case::repetition_without(&["batch 8", "speed: 4", "batch 16", "batch 8", "killed"], None)]
#[case::later_repetition(&["12:01 batch 8", "killed", "batch 4", "12:02 batch 8", "speed: 4"], Some(4.0))]
#[case::mentioned_again(&["batch 8", "speed: 4", "finished batch 8"], Some(4.0))]
#[case::not_a_number(&["batch 8", "speed: nan", "batch 16", "speed: 5"], None)]
fn a_block_ends_at_the_next_heading_of_its_kind(
    #[case] lines: &[&str],
    #[case] expected: Option<f64>,
) {
    let actual = below(r"batch 8$", MatchSelection::Last, lines).ok();
    assert_eq!(actual, expected.map(|value| vec![value]));
}

#[test]
fn a_repetition_without_the_figure_is_missing_in_a_mean() {
    let lines = ["12:01 batch 8", "killed", "batch 4", "12:02 batch 8", "speed: 4"];
    let actual = below("batch 8$", MatchSelection::Mean, &lines);
    assert!(matches!(actual, Err(PatternError::NoneInBlock { .. })), "{actual:?}");
}
