//! Claims on what lies between two others: `the gap to … is smaller with … than with …`, `the gain from … to … is larger
//! with … than with …`.

use super::tail::{Amount, Tail, tail};
use super::{Problem, Sentence, wrong};
use crate::batch::claim::side::{self, Side};
use crate::batch::claim::words::{Word, find};
use crate::batch::claim::{Assertion, Subjects};
use retrial_recipe::Span;

/// `gap to SIDE is smaller with SIDE than with SIDE [by P]`
pub(super) fn gap(
    words: &[Word],
    span: &Span,
    subjects: &Subjects<'_>,
) -> Result<Sentence, Problem> {
    const FORM: &str = "write: the gap to SIDE is smaller with SIDE than with SIDE [by P]";
    if !words.get(1).is_some_and(|word| word.is("to")) {
        return Err(wrong("a gap is to something", span, FORM));
    }
    let (of, read) = with_than_with(words, "gap", ["smaller", "larger"], FORM, span, subjects)?;
    if let Some((by, _, at)) = &read.tail.by
        && *by >= 1.0
    {
        return Err(wrong(
            "a gap cannot be smaller by this much",
            at,
            "write `by 10%`: less than 100 %",
        ));
    }
    let gap_to = side::read(&of[2..], span, subjects)?;
    Ok(Sentence {
        gap_to: Some(gap_to),
        ..read.sentence(|by| Assertion::Gap { by }, span)
    })
}

/// `gain from SIDE to SIDE is larger with SIDE than with SIDE [by P]`
pub(super) fn gain(
    words: &[Word],
    span: &Span,
    subjects: &Subjects<'_>,
) -> Result<Sentence, Problem> {
    const FORM: &str =
        "write: the gain from SIDE to SIDE is larger with SIDE than with SIDE [by P]";
    let (of, read) = with_than_with(words, "gain", ["larger", "smaller"], FORM, span, subjects)?;
    let to = of.iter().position(|word| word.is("to"));
    let (Some(to), true) = (to, of.get(1).is_some_and(|word| word.is("from"))) else {
        return Err(wrong("a gain is from something to something", span, FORM));
    };
    let from = side::read(&of[2..to], span, subjects)?;
    let to = side::read(&of[to + 1..], span, subjects)?;
    Ok(Sentence {
        step: Some([from, to]),
        ..read.sentence(|by| Assertion::Gain { by }, span)
    })
}

/// What follows `is smaller with`: the sides in the order in which they are compared.
struct WithThanWith {
    candidate: Side,
    baseline: Side,
    tail: Tail,
}

impl WithThanWith {
    fn sentence(self, assertion: impl Fn(f64) -> Assertion, span: &Span) -> Sentence {
        Sentence {
            assertion: assertion(self.tail.by.as_ref().map_or(0.0, |(by, ..)| *by)),
            candidate: self.candidate,
            baseline: Some(self.baseline),
            gap_to: None,
            step: None,
            not_always: false,
            scenario: self.tail.scenario,
            figure: self.tail.figure,
            span: span.clone(),
        }
    }
}

/// Reads `… is ADJECTIVE with SIDE than with SIDE [by P]`, and returns the words before `is`. With the second
/// adjective the sides change places.
fn with_than_with<'a>(
    words: &'a [Word],
    subject: &str,
    adjectives: [&str; 2],
    form: &str,
    span: &Span,
    subjects: &Subjects<'_>,
) -> Result<(&'a [Word], WithThanWith), Problem> {
    let [usual, turned] = adjectives.map(|adjective| find(words, &format!("is {adjective} with")));
    let Some(verb) = usual.or(turned) else {
        let message = format!(
            "a claim on a {subject} is `{}` or `{}`",
            adjectives[0], adjectives[1]
        );
        return Err(wrong(&message, span, form));
    };
    let Some(than) = find(&words[verb..], "than with").map(|at| at + verb) else {
        return Err(wrong("the claim ends before its second side", span, form));
    };
    let (second, tail) = tail(&words[than + 2..], subjects)?;
    if let Some((_, kind, at)) = &tail.by
        && *kind != Amount::By
    {
        let message = format!("a claim on a {subject} takes no such number");
        return Err(wrong(&message, at, "write `by 10%`"));
    }
    let first = side::read(&words[verb + 3..than], span, subjects)?;
    let second = side::read(second, span, subjects)?;
    let (candidate, baseline) = if usual.is_some() {
        (first, second)
    } else {
        (second, first)
    };
    let read = WithThanWith {
        candidate,
        baseline,
        tail,
    };
    Ok((&words[..verb], read))
}
