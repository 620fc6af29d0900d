//! Claims on what lies between two others: `the gap to … is smaller with … than with …`, `the gain from … to … is larger
//! with … than with …`.

use super::tail::split_tail;
use crate::claim::model::Assertion;
use crate::claim::sentence::{AmountQualifier, ClaimSubjects, ParsedClaim, claim_problem};
use crate::claim::side;
use crate::claim::words::{ClaimWord, find_phrase};
use retrial_recipe::{Diagnostic, Span};

/// `gap to SIDE is smaller with SIDE than with SIDE [by P]`
pub(super) fn parse_gap(
    words: &[ClaimWord],
    span: &Span,
    subjects: &ClaimSubjects<'_>,
) -> Result<ParsedClaim, Box<Diagnostic>> {
    const FORM: &str = "write: the gap to SIDE is smaller with SIDE than with SIDE [by P]";
    if !words.get(1).is_some_and(|word| word.is_keyword("to")) {
        return Err(claim_problem("expected `to SIDE` after `gap`", span, FORM));
    }
    let form = AdjectivePattern {
        subject: "gap",
        adjectives: ["smaller", "larger"],
        help: FORM,
        assertion: |by| Assertion::Gap { by },
    };
    let (head, sentence) = form.parse_sides(words, span, subjects)?;
    if let Some((by, _, at)) = &sentence.tail.by
        && *by >= 1.0
    {
        return Err(claim_problem(
            "a gap cannot be smaller by this much",
            at,
            "write `by 10%`: less than 100 %",
        ));
    }
    let gap_to = Some(side::parse_side(&head[2..], span, subjects)?);
    Ok(ParsedClaim { gap_to, ..sentence })
}

/// `gain from SIDE to SIDE is larger with SIDE than with SIDE [by P]`
pub(super) fn parse_gain(
    words: &[ClaimWord],
    span: &Span,
    subjects: &ClaimSubjects<'_>,
) -> Result<ParsedClaim, Box<Diagnostic>> {
    const FORM: &str =
        "write: the gain from SIDE to SIDE is larger with SIDE than with SIDE [by P]";
    let form = AdjectivePattern {
        subject: "gain",
        adjectives: ["larger", "smaller"],
        help: FORM,
        assertion: |by| Assertion::Gain { by },
    };
    let (head, sentence) = form.parse_sides(words, span, subjects)?;
    let to = head.iter().position(|word| word.is_keyword("to"));
    let (Some(to), true) = (to, head.get(1).is_some_and(|word| word.is_keyword("from"))) else {
        return Err(claim_problem("expected `from SIDE to SIDE` after `gain`", span, FORM));
    };
    let from = side::parse_side(&head[2..to], span, subjects)?;
    let to = side::parse_side(&head[to + 1..], span, subjects)?;
    let step = Some([from, to]);
    Ok(ParsedClaim { step, ..sentence })
}

/// `… is ADJECTIVE with SIDE than with SIDE [by P]`. With the second adjective the sides change places.
struct AdjectivePattern {
    subject: &'static str,
    adjectives: [&'static str; 2],
    help: &'static str,
    assertion: fn(f64) -> Assertion,
}

impl AdjectivePattern {
    /// Reads the claim, and returns it with the words before `is`.
    fn parse_sides<'a>(
        &self,
        words: &'a [ClaimWord],
        span: &Span,
        subjects: &ClaimSubjects<'_>,
    ) -> Result<(&'a [ClaimWord], ParsedClaim), Box<Diagnostic>> {
        let subject = self.subject;
        let place = |adjective| find_phrase(words, &format!("is {adjective} with"));
        let [usual, turned] = self.adjectives.map(place);
        let Some(verb) = usual.or(turned) else {
            let [larger, smaller] = self.adjectives;
            let message = format!("a claim on a {subject} is `{larger}` or `{smaller}`");
            return Err(claim_problem(&message, span, self.help));
        };
        let Some(than) = find_phrase(&words[verb..], "than with").map(|at| at + verb) else {
            let message = "the claim ends before its second side";
            return Err(claim_problem(message, span, self.help));
        };
        let (second, tail) = split_tail(&words[than + 2..], subjects)?;
        let by = match &tail.by {
            None => 0.0,
            Some((by, AmountQualifier::By, _)) => *by,
            Some((_, _, at)) => {
                let message = format!("a claim on a {subject} does not accept such a percentage");
                return Err(claim_problem(&message, at, "write `by 10%`"));
            }
        };
        let first = side::parse_side(&words[verb + 3..than], span, subjects)?;
        let second = side::parse_side(second, span, subjects)?;
        let (candidate, baseline) = if usual.is_some() { (first, second) } else { (second, first) };
        let assertion = (self.assertion)(by);
        let sentence = ParsedClaim::new(assertion, candidate, Some(baseline), tail, span);
        Ok((&words[..verb], sentence))
    }
}
