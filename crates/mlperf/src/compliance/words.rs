//! What a test's script wrote: its word, and figures by what stands before them.

use crate::check::RuleCheck;
use retrial_readings::figure::parse_number;
use retrial_readings::nearest::shortened;

/// The word that a script ends in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// `TEST PASS`.
    Pass,
    /// `TEST FAIL`, with what follows it.
    Fail(String),
    /// Neither.
    Nothing,
}

impl Word {
    /// The word of a text. One that says both has failed: results of two runs of the script may
    /// stand in one file.
    pub fn of(text: &str) -> Self {
        let fail = lines(text).find_map(|line| line.split_once("TEST FAIL"));
        match fail {
            Some((_, why)) => Self::Fail(shortened(why.trim_start_matches([':', ' ']))),
            None if lines(text).any(|line| line.contains("TEST PASS")) => Self::Pass,
            None => Self::Nothing,
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Pass => "TEST PASS".to_owned(),
            Self::Fail(why) if why.is_empty() => "TEST FAIL".to_owned(),
            Self::Fail(why) => format!("TEST FAIL: {why}"),
            Self::Nothing => "neither TEST PASS nor TEST FAIL".to_owned(),
        }
    }
}

/// Lines without their ends; a carriage return ends one too.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r']).map(str::trim)
}

/// The number after `before` at a line's beginning, in any case; the last one counts.
pub(super) fn number(text: &str, before: &str) -> Option<f64> {
    lines(text)
        .filter_map(|line| {
            let begin = line.get(..before.len())?;
            let rest = begin
                .eq_ignore_ascii_case(before)
                .then(|| &line[before.len()..])?;
            let rest = rest.trim_start().strip_prefix(['=', ':'])?;
            let word = rest.split_whitespace().next()?;
            Some(parse_number(word.trim_end_matches('%'))?.value)
        })
        .last()
}

/// The check of a file's word; whether there is a text to look further into.
pub(super) fn check_word<'a>(
    rule: &str,
    file: &str,
    text: &'a Result<String, String>,
    checks: &mut Vec<RuleCheck>,
) -> Option<(Word, &'a str)> {
    let asked = format!("TEST PASS in {file}");
    match text {
        Ok(text) => {
            let word = Word::of(text);
            let passed = word == Word::Pass;
            checks.push(RuleCheck::new(rule, word.shown(), asked, passed));
            Some((word, text))
        }
        Err(because) => {
            checks.push(RuleCheck::new(
                rule,
                format!("{file}: {because}"),
                asked,
                false,
            ));
            None
        }
    }
}

/// A figure that must be nothing.
pub(super) fn check_none(rule: &str, text: &str, name: &str, checks: &mut Vec<RuleCheck>) {
    if let Some(count) = number(text, name) {
        let is_none = count.abs() < 0.5;
        checks.push(RuleCheck::new(
            rule,
            format!("{name} = {count}"),
            format!("{name} = 0"),
            is_none,
        ));
    }
}
