//! Data that is compiled into the program: rules of rounds, and the noise of trials.
//!
//! A file of it that cannot be read is a fault of the build. The program then ends where the file is
//! first needed: without it, results would be judged by fewer rules, unnoticed.

use std::fmt::Display;

/// Returns the contents of a built-in file.
///
/// # Panics
/// If the file cannot be read, with its path and the reason.
pub(crate) fn unwrap_built_in<T, E: Display>(path: &str, contents: Result<T, E>) -> T {
    contents
        .unwrap_or_else(|problem| panic!("{path}, which is built in, cannot be read: {problem}"))
}

#[cfg(test)]
mod tests {
    #[test]
    #[should_panic(expected = "rules/v9.9.yaml, which is built in, cannot be read: no benchmarks")]
    fn an_unreadable_built_in_file_ends_the_program() {
        let contents: Result<(), &str> = Err("no benchmarks");
        super::unwrap_built_in("rules/v9.9.yaml", contents);
    }
}
