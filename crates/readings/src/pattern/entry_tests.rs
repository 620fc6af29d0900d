//! Tables whose rows lack their number, and blocks that end without one.

use super::*;

#[test]
fn a_row_of_a_table_without_its_number_is_a_fault_of_that_row() {
    let pattern =
        Pattern::new(r"^gemm (?<dtype>\w+): (?<value>[\d.]+)", MatchSelection::Last, "").unwrap();
    let pattern = pattern.with_entry_groups(&["dtype".to_owned()]).unwrap();
    let mut reader = pattern.reader();
    for line in ["gemm bf16: 10", "gemm fp8: 20", "gemm fp8: not supported"] {
        reader.feed_line(line);
    }
    let entries = reader.into_entries().unwrap();
    assert!(entries["bf16"].unreadable_announcement().is_none());
    let error = &entries["fp8"].unreadable_announcement().unwrap().error;
    assert!(error.to_string().contains("`gemm fp8: not supported`"), "{error}");
}

#[test]
fn only_a_known_entry_is_announced_by_its_name() {
    let pattern = Pattern::new(r"^(?<dtype>\w+): ${number}", MatchSelection::Last, "").unwrap();
    let pattern = pattern.with_entry_groups(&["dtype".to_owned()]).unwrap();
    let lines = ["WARNING: failed", "fp8: nan", "bf16: 10", "fp8: 20", "bf16: ERROR"];
    for cut in 0..lines.len() {
        let (before, after) = lines.split_at(cut);
        let mut whole = pattern.reader();
        for part in [before, after] {
            let mut reader = pattern.reader();
            for line in part {
                reader.feed_line(line);
            }
            whole.append(reader);
        }
        let entries = whole.into_entries().unwrap();
        assert_eq!(entries.keys().collect::<Vec<_>>(), ["bf16", "fp8"]);
        assert!(entries["bf16"].unreadable_announcement().is_some());
        assert!(entries["fp8"].unreadable_announcement().is_none());
    }
}

#[test]
fn a_heading_between_marks_ends_at_the_next_of_the_same_marks() {
    let pattern = Pattern::new("mean: ${number}", MatchSelection::Last, "").unwrap();
    let pattern = pattern.below_heading("First token").unwrap();
    let mut reader = pattern.reader();
    for line in ["----First token----", "killed", "--Each token (but the first)--", "mean: 10"] {
        reader.feed_line(line);
    }
    let error = reader.into_entries().unwrap_err().to_string();
    assert!(error.contains("ended at the line `--Each token"), "{error}");
}
