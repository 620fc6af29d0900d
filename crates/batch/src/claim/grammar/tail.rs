//! The conditions that may follow the sides: by how much, in which scenario and figure.

use itertools::join;

use crate::claim::sentence::{AmountQualifier, ClaimModifiers, ClaimSubjects, claim_problem};
use crate::claim::words::{ClaimWord, find_phrase, span_of_words};
use retrial_mlperf::ScenarioName;
use retrial_mlperf::figures::find_loadgen_figure;
use retrial_recipe::{Diagnostic, Span, suggest_nearest};

/// Parts words into a side and what follows it.
pub(super) fn split_tail<'a>(
    words: &'a [ClaimWord],
    subjects: &ClaimSubjects<'_>,
) -> Result<(&'a [ClaimWord], ClaimModifiers), Box<Diagnostic>> {
    const BEGINS: [(&str, Option<AmountQualifier>); 6] = [
        ("by more than", Some(AmountQualifier::MoreThan)),
        ("by at least", Some(AmountQualifier::By)),
        ("by", Some(AmountQualifier::By)),
        ("to within", Some(AmountQualifier::Within)),
        ("within", Some(AmountQualifier::Within)),
        ("in", None),
    ];
    let begins = |words: &[ClaimWord]| {
        BEGINS.into_iter().find(|(phrase, _)| {
            let length = phrase.split(' ').count();
            words.len() >= length && find_phrase(&words[..length], phrase) == Some(0)
        })
    };
    let clauses: Vec<_> = (0..words.len())
        // `to within` begins once.
        .filter(|at| {
            !(words[*at].is_keyword("within") && *at > 0 && words[*at - 1].is_keyword("to"))
        })
        .filter_map(|at| Some((at, begins(&words[at..])?)))
        .collect();
    let end = clauses.first().map_or(words.len(), |(at, _)| *at);
    let mut tail = ClaimModifiers::default();
    for (position, (at, (phrase, kind))) in clauses.iter().enumerate() {
        let next = clauses.get(position + 1);
        let until = next.map_or(words.len(), |(at, _)| *at);
        let rest = &words[at + phrase.split(' ').count()..until];
        let span = span_of_words(&words[*at..until], &words[*at].span);
        match *kind {
            Some(kind) if tail.by.is_none() => {
                tail.by = Some((parse_percentage(rest, &span)?, kind, span));
            }
            None if tail.scenario.is_none() && tail.figure.is_none() => {
                (tail.scenario, tail.figure) = parse_scenario_and_figure(rest, &span, subjects)?;
            }
            _ => return Err(claim_problem("duplicate condition", &span, "remove one")),
        }
    }
    Ok((&words[..end], tail))
}

/// `10%`, `10 %`, `0.1`. A number of 1 or more needs the percent sign, since `5` probably means 5 %.
fn parse_percentage(words: &[ClaimWord], span: &Span) -> Result<f64, Box<Diagnostic>> {
    let written: String = words.iter().map(|word| word.text.as_str()).collect();
    let (number, divisor) = match written.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (written.as_str(), 1.0),
    };
    let digits = number.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let value = number.parse::<f64>().ok().filter(|_| digits);
    let is_bare = divisor <= 1.0;
    match value.map(|value| value / divisor) {
        Some(value) if value >= 1.0 && is_bare => Err(claim_problem(
            &format!("`{written}` has no percent sign"),
            span,
            &format!("write `{written}%`, or `{}`", value / 100.0),
        )),
        Some(value) if value > 0.0 && value <= 100.0 => Ok(value),
        _ => Err(claim_problem(
            &format!("`{written}` is not a percentage"),
            span,
            "write `10%`, or `0.1`",
        )),
    }
}

/// A scenario, a figure, or both.
fn parse_scenario_and_figure(
    words: &[ClaimWord],
    span: &Span,
    subjects: &ClaimSubjects<'_>,
) -> Result<(Option<ScenarioName>, Option<String>), Box<Diagnostic>> {
    let (mut scenario, mut figure) = (None, None);
    for word in words {
        let known = subjects.scenarios.iter().find(|known| **known == *word.text);
        if let (Some(known), None) = (known, &scenario) {
            scenario = Some(known.clone());
        } else if (subjects.figures.contains(&word.text)
            || find_loadgen_figure(&word.text).is_some())
            && figure.is_none()
        {
            figure = Some(word.text.clone());
        } else {
            let scenarios = subjects.scenarios.iter().map(ScenarioName::as_str);
            let figures = subjects.figures.iter().map(String::as_str);
            let names = scenarios.clone().chain(figures.clone());
            let message = format!("`{}` is not a scenario or figure of these recipes", word.text);
            let help = suggest_nearest(&word.text, names).unwrap_or_else(|| {
                let kinds =
                    [("scenarios", join(scenarios, ", ")), ("figures", join(figures, ", "))];
                let listed = kinds.iter().filter(|(_, names)| !names.is_empty());
                join(listed.map(|(kind, names)| format!("{kind} are: {names}")), "; ")
            });
            return Err(claim_problem(&message, &word.span, &help));
        }
    }
    if words.is_empty() {
        return Err(claim_problem(
            "expected a scenario or figure after `in`",
            span,
            "write a scenario, a figure, or both",
        ));
    }
    Ok((scenario, figure))
}
