//! Names in the order in which a person would put them: `result_2` before `result_10`, and release
//! `6.4.1` before `6.10`.

/// Returns a key that sorts numbers by their value.
pub fn natural_sort_key(text: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let letters = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(letters);
        let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        parts.push((word.to_owned(), number.parse().unwrap_or(u64::MAX)));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_by_value() {
        let mut releases = ["7.1.1", "6.10.0", "6.4.1", "nightly", "7.1", ""];
        releases.sort_by_key(|release| natural_sort_key(release));
        assert_eq!(releases, ["", "6.4.1", "6.10.0", "7.1", "7.1.1", "nightly"]);
    }
}
