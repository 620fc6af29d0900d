//! Releases and ranges of releases.

/// Returns whether a text is a release such as `7.1.1`: two numbers at least.
pub fn is_release(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.contains('.') && text.split('.').all(is_number)
}

/// Returns whether a release (`7.1.1-38`) is in a range (`>=7.1.0`, `>=6.4, <7`); none if either cannot be
/// parsed.
pub fn satisfies(release: &str, range: &str) -> Option<bool> {
    let numbers = |text: &str| -> Option<Vec<u32>> {
        text.split('-').next()?.split('.').map(|part| part.trim().parse().ok()).collect()
    };
    let actual = numbers(release)?;
    let mut all = true;
    for part in range.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let digits = part.find(|character: char| character.is_ascii_digit())?;
        let mut required = numbers(&part[digits..])?;
        let mut have = actual.clone();
        let length = required.len().max(have.len());
        required.resize(length, 0);
        have.resize(length, 0);
        all &= match part[..digits].trim() {
            ">=" => have >= required,
            ">" => have > required,
            "<=" => have <= required,
            "<" => have < required,
            "=" | "==" | "" => have == required,
            _ => return None,
        };
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_compared_number_by_number() {
        assert_eq!(satisfies("7.1.1-38", ">=7.1.0"), Some(true));
        assert_eq!(satisfies("6.4.1", ">=7.1.0"), Some(false));
        assert_eq!(satisfies("7.10.0", ">=7.9"), Some(true));
        assert_eq!(satisfies("7.0", ">=6.4, <7"), Some(false));
        assert_eq!(satisfies("unknown", ">=7"), None);
    }
}
