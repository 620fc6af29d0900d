//! The forms of a claim.

use super::side::{self, Side};
use super::words::{self, Word, find, place, text};
use super::{Assertion, Subjects};
use crate::batch::{Spanned, same_scenario};
use retrial_recipe::model::Claim;
use retrial_recipe::{Diagnostic, Span, is_loadgen_figure, nearest};

pub(super) type Problem = Box<Diagnostic>;

/// What is let through where a claim says no number: 2 % of speed are materially different to
/// `MLPerf`'s auditors, and 1 % of accuracy to most of its benchmarks.
const SPEED_MARGIN: f64 = 0.02;
const ACCURACY_MARGIN: f64 = 0.01;

/// A claim's parts of speech.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub assertion: Assertion,
    pub candidate: Side,
    pub baseline: Option<Side>,
    pub gap_to: Option<Side>,
    pub scenario: Option<String>,
    pub figure: Option<String>,
    pub span: Span,
}

/// A verb: what it says, and whether the sides change places.
struct Verb {
    words: &'static str,
    accuracy: bool,
    claim: Claim,
    swaps: bool,
}

const fn verb(words: &'static str, accuracy: bool, claim: Claim, swaps: bool) -> Verb {
    Verb {
        words,
        accuracy,
        claim,
        swaps,
    }
}

const VERBS: [Verb; 11] = [
    verb("is faster than", false, Claim::Better, false),
    verb("is slower than", false, Claim::Better, true),
    verb("is not slower than", false, Claim::NotWorse, false),
    verb("is not faster than", false, Claim::NotWorse, true),
    verb("is at least as fast as", false, Claim::NotWorse, false),
    verb("is as fast as", false, Claim::Equivalent, false),
    verb("is more accurate than", true, Claim::Better, false),
    verb("is less accurate than", true, Claim::Better, true),
    verb("is not less accurate than", true, Claim::NotWorse, false),
    verb("is at least as accurate as", true, Claim::NotWorse, false),
    verb("is as accurate as", true, Claim::Equivalent, false),
];

/// Reads a sentence.
pub(super) fn read(claim: &Spanned<String>, subjects: &Subjects<'_>) -> Result<Sentence, Problem> {
    let words = words::of(claim);
    let bare = match words.first() {
        Some(first) if first.is("the") => &words[1..],
        _ => &words[..],
    };
    if bare.first().is_some_and(|word| word.is("gap")) {
        return gap(bare, &claim.span, subjects);
    }
    let found = VERBS
        .iter()
        .find_map(|verb| find(&words, verb.words).map(|at| (verb, at)));
    if let Some((verb, at)) = found {
        let length = verb.words.split(' ').count();
        let (right, tail) = tail(&words[at + length..], subjects)?;
        let left = side::read(&words[..at], &claim.span, subjects)?;
        let right = side::read(right, &claim.span, subjects)?;
        let by = amount(verb, &tail, &claim.span)?;
        let (candidate, baseline) = if verb.swaps {
            (right, left)
        } else {
            (left, right)
        };
        let claimed = verb.claim;
        return Ok(Sentence {
            assertion: if verb.accuracy {
                Assertion::Accuracy { claim: claimed, by }
            } else {
                Assertion::Speed { claim: claimed, by }
            },
            candidate,
            baseline: Some(baseline),
            gap_to: None,
            scenario: tail.scenario,
            figure: tail.figure,
            span: claim.span.clone(),
        });
    }
    if let Some(at) = find(&words, "is accurate") {
        let (rest, tail) = tail(&words[at + 2..], subjects)?;
        if let Some(word) = rest.first() {
            return Err(wrong(
                "unexpected word",
                &word.span,
                "`is accurate` ends the claim",
            ));
        }
        tail.no_amount("`is accurate` uses the benchmark's own limits")?;
        return Ok(Sentence {
            assertion: Assertion::Accurate,
            candidate: side::read(&words[..at], &claim.span, subjects)?,
            baseline: None,
            gap_to: None,
            scenario: tail.scenario,
            figure: tail.figure,
            span: claim.span.clone(),
        });
    }
    Err(no_claim(&words, &claim.span))
}

/// `gap to SIDE is smaller with SIDE than with SIDE [by P]`
fn gap(words: &[Word], span: &Span, subjects: &Subjects<'_>) -> Result<Sentence, Problem> {
    const FORM: &str = "write: the gap to SIDE is smaller with SIDE than with SIDE [by P]";
    let smaller = find(words, "is smaller with");
    let larger = find(words, "is larger with");
    let (Some(verb), true) = (
        smaller.or(larger),
        words.get(1).is_some_and(|word| word.is("to")),
    ) else {
        return Err(wrong(
            "a claim on a gap is `smaller` or `larger`",
            span,
            FORM,
        ));
    };
    let Some(than) = find(&words[verb..], "than with").map(|at| at + verb) else {
        return Err(wrong("the claim ends before its second side", span, FORM));
    };
    let (second, tail) = tail(&words[than + 2..], subjects)?;
    let first = side::read(&words[verb + 3..than], span, subjects)?;
    let second = side::read(second, span, subjects)?;
    let (candidate, baseline) = if smaller.is_some() {
        (first, second)
    } else {
        (second, first)
    };
    let by = tail.by.as_ref().map_or(0.0, |(by, ..)| *by);
    if let Some((by, kind, at)) = &tail.by
        && (*kind != Amount::By || *by >= 1.0)
    {
        return Err(wrong(
            "a gap cannot be smaller by this much",
            at,
            "write `by 10%`: less than 100 %",
        ));
    }
    Ok(Sentence {
        assertion: Assertion::Gap { by },
        candidate,
        baseline: Some(baseline),
        gap_to: Some(side::read(&words[2..verb], span, subjects)?),
        scenario: tail.scenario,
        figure: tail.figure,
        span: span.clone(),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    By,
    MoreThan,
    Within,
}

/// What may stand after the second side.
#[derive(Debug, Default)]
struct Tail {
    by: Option<(f64, Amount, Span)>,
    scenario: Option<String>,
    figure: Option<String>,
}

impl Tail {
    fn no_amount(&self, help: &str) -> Result<(), Problem> {
        match &self.by {
            Some((_, _, at)) => Err(wrong("this claim takes no number", at, help)),
            None => Ok(()),
        }
    }
}

/// Parts words into a side and what follows it.
fn tail<'a>(words: &'a [Word], subjects: &Subjects<'_>) -> Result<(&'a [Word], Tail), Problem> {
    const BEGINS: [(&str, Option<Amount>); 6] = [
        ("by more than", Some(Amount::MoreThan)),
        ("by at least", Some(Amount::By)),
        ("by", Some(Amount::By)),
        ("to within", Some(Amount::Within)),
        ("within", Some(Amount::Within)),
        ("in", None),
    ];
    let begins = |words: &[Word]| {
        BEGINS.into_iter().find(|(phrase, _)| {
            let length = phrase.split(' ').count();
            words.len() >= length && find(&words[..length], phrase) == Some(0)
        })
    };
    let clauses: Vec<usize> = (0..words.len())
        .filter(|at| begins(&words[*at..]).is_some())
        // `to within` begins once.
        .filter(|at| !(words[*at].is("within") && *at > 0 && words[*at - 1].is("to")))
        .collect();
    let end = clauses.first().copied().unwrap_or(words.len());
    let mut tail = Tail::default();
    for (position, at) in clauses.iter().enumerate() {
        let until = clauses.get(position + 1).copied().unwrap_or(words.len());
        let Some((phrase, kind)) = begins(&words[*at..]) else {
            continue;
        };
        let rest = &words[at + phrase.split(' ').count()..until];
        let span = place(&words[*at..until], &words[*at].span);
        match kind {
            Some(kind) if tail.by.is_none() => {
                tail.by = Some((percentage(rest, &span)?, kind, span));
            }
            None if tail.scenario.is_none() && tail.figure.is_none() => {
                (tail.scenario, tail.figure) = measured(rest, &span, subjects)?;
            }
            _ => return Err(wrong("duplicate condition", &span, "remove one")),
        }
    }
    Ok((&words[..end], tail))
}

/// `10%`, `10 %`, `0.1`
fn percentage(words: &[Word], span: &Span) -> Result<f64, Problem> {
    let written: String = words.iter().map(|word| word.text.as_str()).collect();
    let (number, divisor) = match written.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (written.as_str(), 1.0),
    };
    let digits = number.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let value = number.parse::<f64>().ok().filter(|_| digits);
    match value.map(|value| value / divisor) {
        Some(value) if value > 0.0 && value <= 100.0 => Ok(value),
        _ => Err(wrong(
            &format!("`{written}` is not a percentage"),
            span,
            "write `10%`, or `0.1`",
        )),
    }
}

/// A scenario, a figure, or both.
fn measured(
    words: &[Word],
    span: &Span,
    subjects: &Subjects<'_>,
) -> Result<(Option<String>, Option<String>), Problem> {
    let (mut scenario, mut figure) = (None, None);
    for word in words {
        let own = |known: &&String| same_scenario(known, &word.text);
        let of_batch = subjects.scenarios.iter().find(own).cloned();
        if let (Some(known), None) = (&of_batch, &scenario) {
            scenario = Some(known.clone());
        } else if (subjects.figures.contains(&word.text) || is_loadgen_figure(&word.text))
            && figure.is_none()
        {
            figure = Some(word.text.clone());
        } else {
            let known = subjects.scenarios.iter().chain(subjects.figures);
            let near = nearest(&word.text, known.map(String::as_str));
            let message = format!(
                "`{}` is not a scenario or figure of these recipes",
                word.text
            );
            let help = near.map_or_else(
                || format!("scenarios are: {}", subjects.scenarios.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Err(wrong(&message, &word.span, &help));
        }
    }
    if words.is_empty() {
        return Err(wrong(
            "in what?",
            span,
            "write a scenario, a figure, or both",
        ));
    }
    Ok((scenario, figure))
}

/// By how much, where the verb takes it so.
fn amount(verb: &Verb, tail: &Tail, span: &Span) -> Result<f64, Problem> {
    let usual = if verb.accuracy {
        ACCURACY_MARGIN
    } else {
        SPEED_MARGIN
    };
    let Some((by, kind, at)) = &tail.by else {
        return Ok(match verb.claim {
            Claim::Better => 0.0,
            Claim::NotWorse | Claim::Equivalent => usual,
        });
    };
    let (asked, help) = match verb.claim {
        Claim::Better => (Amount::By, "write `by 10%`"),
        Claim::NotWorse => (Amount::MoreThan, "write `by more than 2%`"),
        Claim::Equivalent => (Amount::Within, "write `to within 5%`"),
    };
    if *kind != asked && !(verb.claim == Claim::NotWorse && *kind == Amount::Within) {
        let message = format!("`{}` takes no such number", verb.words);
        return Err(wrong(&message, at, help));
    }
    if verb.claim != Claim::Better && *by >= 1.0 {
        return Err(wrong("a margin of 100 % is always met", at, help));
    }
    // `A is slower than B by 10 %`: B is faster by 11 %.
    if verb.claim == Claim::Better && verb.swaps {
        if *by >= 1.0 {
            return Err(wrong("nothing is slower by 100 %", span, "write less"));
        }
        return Ok(by / (1.0 - by));
    }
    Ok(*by)
}

pub(super) fn wrong(message: &str, span: &Span, help: &str) -> Problem {
    Box::new(Diagnostic::error("claim", message, span.clone()).help(help))
}

fn no_claim(words: &[Word], span: &Span) -> Problem {
    // The words from `is` to `than` or `as`, as somebody may have put them.
    let from = words.iter().position(|word| word.is("is"));
    let verbs = VERBS.iter().map(|verb| verb.words).chain(["is accurate"]);
    if let Some(from) = from {
        let ends = |word: &Word| word.is("than") || word.is("as");
        let to = words.iter().rposition(ends).filter(|to| *to > from);
        let written = &words[from..=to.unwrap_or_else(|| (from + 2).min(words.len() - 1))];
        let message = format!("`{}` cannot be checked", text(written));
        let help = nearest(&text(written), verbs.clone()).map_or_else(
            || {
                format!(
                    "valid claims: {}, the gap to … is smaller with … than with …",
                    verbs.collect::<Vec<_>>().join(", ")
                )
            },
            |near| format!("did you mean `{near}`?"),
        );
        return wrong(&message, &place(written, span), &help);
    }
    wrong(
        "no claim that can be checked",
        span,
        "write for example: 7.1.1 is faster than 6.4.1 (docs/batches.md has all forms)",
    )
}
