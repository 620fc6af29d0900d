//! What a sum or mean is of, such as the logs of all ranks: each a measurement of its own, and none missing.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::copies::describe_copy;
use super::text::repeated_line;
use crate::evidence::texts::TextFile;
use crate::verdict::{FigureValue, TrialLog};
use retrial_document::measures::format::join_first;

/// The most missing files that a text names.
const MAX_NAMED_FILES: usize = 5;

/// Returns why a figure is not the sum or mean of what it should be of: files of which one is a copy of another, a row
/// of numbered files with a gap, or a line that is printed twice.
pub fn find_fault(figure: &FigureValue, files: &[TextFile], logs: &[TrialLog]) -> Option<String> {
    let copied = logs.iter().tuple_combinations().find(|(one, other)| other.is_copy_of(one));
    if let Some((one, other)) = copied {
        return Some(format!("{}; each file must be of its own", describe_copy(other, one)));
    }
    let missing = missing_names(files.iter().map(|file| file.file.display().to_string()));
    if !missing.is_empty() {
        let names = join_first(&missing, MAX_NAMED_FILES);
        return Some(format!(
            "of a row of {} files, {names} is missing",
            files.len() + missing.len()
        ));
    }
    files.iter().find_map(|file| {
        let (first, again) = repeated_line(file, figure)?;
        let name = file.file.display();
        Some(format!("{name}: line {again} is line {first} again, of the same time"))
    })
}

/// Returns the names that are missing in rows of files that differ in one number: `rank3` of `rank0` to `rank7`. In a
/// row with equal distances none is.
fn missing_names(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut rows: BTreeMap<(String, String), BTreeMap<u32, usize>> = BTreeMap::new();
    for name in names {
        for (begin, end) in digit_runs(&name) {
            if let Ok(number) = name[begin..end].parse() {
                let row = (name[..begin].to_owned(), name[end..].to_owned());
                rows.entry(row).or_default().insert(number, end - begin);
            }
        }
    }
    let gaps = rows.iter().flat_map(|((stem, end), numbers)| {
        let distances = || numbers.keys().tuple_windows().map(|(one, next)| next - one);
        let is_row =
            distances().sum::<u32>() as usize <= 2 * numbers.len() && !distances().all_equal();
        let ends = numbers.first_key_value().zip(numbers.last_key_value()).filter(|_| is_row);
        ends.into_iter().flat_map(move |((first, width), (last, _))| {
            let missing = (*first..=*last).filter(|number| !numbers.contains_key(number));
            missing.map(move |number| format!("{stem}{number:0width$}{end}"))
        })
    });
    gaps.collect()
}

/// Returns the beginnings and ends of the numbers of a name.
fn digit_runs(name: &str) -> Vec<(usize, usize)> {
    let groups = name.char_indices().chunk_by(|(_, letter)| letter.is_ascii_digit());
    let mut runs = Vec::new();
    for (is_number, letters) in &groups {
        let positions: Vec<usize> = letters.map(|(position, _)| position).collect();
        if let (true, Some(first), Some(last)) = (is_number, positions.first(), positions.last()) {
            runs.push((*first, last + 1));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["rank0.log", "rank1.log", "rank2.log", "rank4.log"], &["rank3.log"])]
    #[case(&["rank00.log", "rank02.log", "rank03.log"], &["rank01.log"])]
    #[case(&["node0/rank0", "node0/rank1", "node0/rank2", "node1/rank0", "node1/rank2", "node1/rank3"], &["node1/rank1"])]
    #[case(&["rank1.log", "rank2.log"], &[])]
    #[case(&["gpu0.log", "gpu2.log", "gpu4.log"], &[])]
    #[case(&["20260302-101107.log", "20260302-101957.log", "20260302-110107.log"], &[])]
    #[case(&["only.log"], &[])]
    fn gaps_of_a_row_are_named(#[case] names: &[&str], #[case] missing: &[&str]) {
        let names = names.iter().map(|name| (*name).to_owned());
        assert_eq!(missing_names(names), missing);
    }
}
