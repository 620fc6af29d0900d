//! The output of a test's script: PASS or FAIL, and figures by the text before them.

use crate::check::{Rule, StatingLines};
use retrial_readings::lexer::parse_number;
use retrial_readings::nearest::truncate_for_message;

/// The word that a script ends in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptResult {
    /// The script ended with `TEST PASS`.
    Pass,
    /// `TEST FAIL`, with the rest of its line.
    Fail(String),
    /// Neither `TEST PASS` nor `TEST FAIL`.
    NoResult,
}

impl ScriptResult {
    /// Reads the word of a text. One that says both has failed: a file may hold the results of two
    /// runs of the script. A pass is a line of its own, perhaps after a logger's prefix, and no part of a sentence.
    pub fn parse(text: &str) -> Self {
        let fail = trimmed_lines(text).find_map(|line| line.split_once("TEST FAIL"));
        match fail {
            Some((_, why)) => Self::Fail(truncate_for_message(why.trim_start_matches([':', ' ']))),
            None if trimmed_lines(text).any(is_pass) => Self::Pass,
            None => Self::NoResult,
        }
    }

    /// Returns a rule about the word of a file.
    pub fn rule(name: &str, file: &'static str) -> Rule {
        let texts = vec!["TEST PASS".into(), "TEST FAIL".into()];
        Rule::stated_in(name, StatingLines::Texts { file, texts })
    }

    pub fn describe(&self) -> String {
        match self {
            Self::Pass => "TEST PASS".to_owned(),
            Self::Fail(why) if why.is_empty() => "TEST FAIL".to_owned(),
            Self::Fail(why) => format!("TEST FAIL: {why}"),
            Self::NoResult => "neither TEST PASS nor TEST FAIL".to_owned(),
        }
    }
}

fn is_pass(line: &str) -> bool {
    let before = line.strip_suffix("TEST PASS").map(str::trim_end);
    before.is_some_and(|before| before.is_empty() || before.ends_with([':', ']']))
}

/// Returns lines without their ends; a carriage return ends one too.
pub(super) fn trimmed_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r']).map(str::trim)
}

/// Returns the number after `before` at a line's beginning, in any case; the last one counts.
pub(super) fn find_last_number(text: &str, before: &str) -> Option<f64> {
    trimmed_lines(text)
        .filter_map(|line| {
            let (begin, rest) = line.split_at_checked(before.len())?;
            let after_name = Some(rest).filter(|_| begin.eq_ignore_ascii_case(before))?;
            let rest = after_name.trim_start().strip_prefix(['=', ':'])?;
            let word = rest.split_whitespace().next()?;
            Some(parse_number(word.trim_end_matches('%'))?.value)
        })
        .last()
}
