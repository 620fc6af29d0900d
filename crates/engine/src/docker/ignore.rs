//! `.dockerignore`: which files of a build context are not sent. Pure.
//! The rules are Docker's: patterns in order, the last match counts, `!` makes exceptions, `**`
//! crosses directories, and a pattern that excludes a directory excludes all below it.

use regex::Regex;
use thiserror::Error;

/// A line of a `.dockerignore` that is not a pattern.
#[derive(Debug, Error)]
#[error("`.dockerignore`: `{0}` is not a pattern")]
pub struct InvalidPattern(String);

/// The patterns of a `.dockerignore`.
#[derive(Debug, Default)]
pub struct IgnorePatterns {
    patterns: Vec<(Regex, bool)>,
}

impl IgnorePatterns {
    /// Reads the file's text; the error names the pattern that cannot be read.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        let lines = text.trim_start_matches('\u{feff}').lines();
        let patterns = lines.filter(|line| !line.starts_with('#')).map(str::trim);
        patterns
            .filter(|pattern| !pattern.is_empty())
            .map(|written| {
                let (pattern, excluded) = match written.strip_prefix('!') {
                    Some(rest) => (rest.trim(), false),
                    None => (written, true),
                };
                let regex = Regex::new(&glob_to_regex(&clean_pattern(pattern)));
                regex.map(|regex| (regex, excluded)).map_err(|_| InvalidPattern(written.to_owned()))
            })
            .collect::<Result<_, _>>()
            .map(|patterns| Self { patterns })
    }

    /// Returns whether a path (relative, with `/`) is excluded.
    pub fn excludes(&self, path: &str) -> bool {
        let fits = |regex: &Regex| {
            let ends = path.match_indices('/').map(|(end, _)| end);
            ends.chain([path.len()]).any(|end| regex.is_match(&path[..end]))
        };
        let last = self.patterns.iter().rev().find(|(regex, _)| fits(regex));
        last.is_some_and(|(_, excluded)| *excluded)
    }

    /// Returns whether a file below an excluded directory may be an exception.
    pub fn has_exceptions(&self) -> bool {
        self.patterns.iter().any(|(_, excluded)| !excluded)
    }
}

/// Removes empty and `.` parts, and the leading slash.
fn clean_pattern(pattern: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in pattern.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.join("/")
}

fn glob_to_regex(pattern: &str) -> String {
    let mut regex = String::from("^");
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.next_if_eq(&'*').is_some() => {
                let crosses = rest.next_if_eq(&'/').is_some();
                regex.push_str(if crosses { "(?:.*/)?" } else { ".*" });
            }
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            '[' | ']' | '-' => regex.push(c),
            '\\' => {
                if let Some(plain) = rest.next() {
                    regex.push_str(&regex::escape(&plain.to_string()));
                }
            }
            '^' if regex.ends_with('[') => regex.push('^'),
            other => regex.push_str(&regex::escape(&other.to_string())),
        }
    }
    regex.push('$');
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_like_dockerignore() {
        let cases: &[(&str, &str, bool)] = &[
            ("*.log", "a.log", true),
            ("*.log", "sub/a.log", false),
            ("**/*.log", "sub/deep/a.log", true),
            ("**/*.log", "a.log", true),
            ("sub", "sub/deep/a", true),
            ("/sub/", "sub/a", true),
            ("./sub/../other", "other/a", true),
            ("sub/*/x", "sub/deep/x", true),
            ("sub/*/x", "sub/very/deep/x", false),
            ("sub/**", "sub/a/b", true),
            ("file?", "file1", true),
            ("file[0-2]", "file3", false),
            ("file[^0-2]", "file3", true),
            ("a.b", "axb", false),
            ("# comment", "# comment", false),
            ("*\n!keep", "keep", false),
            ("*\n!keep", "other", true),
            ("dir\n!dir/keep", "dir/keep", false),
            ("!keep\n*", "keep", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
        ];
        for (text, path, expected) in cases {
            let ignore = IgnorePatterns::parse(text).unwrap();
            assert_eq!(ignore.excludes(path), *expected, "{text:?} on {path}");
        }
    }

    #[test]
    fn an_invalid_pattern_is_reported() {
        let error = IgnorePatterns::parse("ok\nbad[").unwrap_err();
        assert!(error.to_string().contains("`bad[`"), "{error}");
        assert!(IgnorePatterns::parse("a\n!b").unwrap().has_exceptions());
    }
}
