//! The forms of a claim.

mod gap_and_gain;
mod tail;

use itertools::join;

use self::gap_and_gain::{parse_gain, parse_gap};
use self::tail::split_tail;
use super::model::Assertion;
use super::sentence::{AmountQualifier, ClaimModifiers, ClaimSubjects, ParsedClaim, claim_problem};
use super::side;
use super::words::{self, ClaimWord, find_phrase, join_words, span_of_words};
use crate::Spanned;
use retrial_recipe::model::Claim;
use retrial_recipe::{Diagnostic, Span, suggest_nearest};

/// The words that turn a claim about all pairs into one about an exception.
const NOT_ALWAYS: &str = "is not always";

/// A verb: its claim, and whether the sides are swapped.
struct Verb {
    words: &'static str,
    quantity: ComparedQuantity,
    claim: Claim,
    swaps: bool,
}

/// The property that a verb compares.
struct ComparedQuantity {
    assertion: fn(Claim, f64) -> Assertion,
    /// The margin of a claim without a number.
    margin: f64,
}

/// 2 % of speed are materially different to `MLPerf`'s auditors.
const SPEED: ComparedQuantity =
    ComparedQuantity { assertion: |claim, by| Assertion::Speed { claim, by }, margin: 0.02 };
/// 1 % of accuracy are different to most of `MLPerf`'s benchmarks.
const ACCURACY: ComparedQuantity =
    ComparedQuantity { assertion: |claim, by| Assertion::Accuracy { claim, by }, margin: 0.01 };
/// Scatters differ by a factor of two before anybody would call them different.
const CONSISTENCY: ComparedQuantity =
    ComparedQuantity { assertion: |claim, by| Assertion::Consistency { claim, by }, margin: 0.5 };

const fn verb(words: &'static str, quantity: ComparedQuantity, claim: Claim, swaps: bool) -> Verb {
    Verb { words, quantity, claim, swaps }
}

const VERBS: [Verb; 16] = {
    use Claim::{Better, Equivalent, NotWorse};
    [
        verb("is faster than", SPEED, Better, false),
        verb("is slower than", SPEED, Better, true),
        verb("is not slower than", SPEED, NotWorse, false),
        verb("is not faster than", SPEED, NotWorse, true),
        verb("is at least as fast as", SPEED, NotWorse, false),
        verb("is as fast as", SPEED, Equivalent, false),
        verb("is more accurate than", ACCURACY, Better, false),
        verb("is less accurate than", ACCURACY, Better, true),
        verb("is not less accurate than", ACCURACY, NotWorse, false),
        verb("is at least as accurate as", ACCURACY, NotWorse, false),
        verb("is as accurate as", ACCURACY, Equivalent, false),
        verb("is more consistent than", CONSISTENCY, Better, false),
        verb("is less consistent than", CONSISTENCY, Better, true),
        verb("is not less consistent than", CONSISTENCY, NotWorse, false),
        verb("is at least as consistent as", CONSISTENCY, NotWorse, false),
        verb("is as consistent as", CONSISTENCY, Equivalent, false),
    ]
};

pub(super) fn parse_sentence(
    claim: &Spanned<String>,
    subjects: &ClaimSubjects<'_>,
) -> Result<ParsedClaim, Box<Diagnostic>> {
    let mut words = words::split_words(claim);
    let bare = match &words[..] {
        [first, bare @ ..] if first.is_keyword("the") => bare,
        all => all,
    };
    match bare.first() {
        Some(word) if word.is_keyword("gap") => return parse_gap(bare, &claim.span, subjects),
        Some(word) if word.is_keyword("gain") => return parse_gain(bare, &claim.span, subjects),
        _ => {}
    }
    let exception = find_phrase(&words, NOT_ALWAYS);
    let not_always = exception.is_some();
    if let Some(at) = exception {
        words.drain(at + 1..at + 3);
    }
    let matched =
        VERBS.iter().find_map(|verb| find_phrase(&words, verb.words).map(|at| (verb, at)));
    if let Some((verb, at)) = matched {
        let length = verb.words.split(' ').count();
        let (right, tail) = split_tail(&words[at + length..], subjects)?;
        let left = side::parse_side(&words[..at], &claim.span, subjects)?;
        let right = side::parse_side(right, &claim.span, subjects)?;
        let by = claim_amount(verb, &tail, &claim.span)?;
        let (candidate, baseline) = if verb.swaps { (right, left) } else { (left, right) };
        let assertion = (verb.quantity.assertion)(verb.claim, by);
        return Ok(ParsedClaim {
            not_always,
            ..ParsedClaim::new(assertion, candidate, Some(baseline), tail, &claim.span)
        });
    }
    if let Some(at) = find_phrase(&words, "is accurate") {
        let (rest, tail) = split_tail(&words[at + 2..], subjects)?;
        if let Some(word) = rest.first() {
            let help = "`is accurate` ends the claim";
            return Err(claim_problem("unexpected word", &word.span, help));
        }
        if let Some((_, _, at)) = &tail.by {
            let help = "`is accurate` uses the benchmark's own limits";
            return Err(claim_problem("this claim does not accept a percentage", at, help));
        }
        let candidate = side::parse_side(&words[..at], &claim.span, subjects)?;
        return Ok(ParsedClaim {
            not_always,
            ..ParsedClaim::new(Assertion::Accurate, candidate, None, tail, &claim.span)
        });
    }
    Err(unrecognized_claim(&words, &claim.span))
}

/// Returns the number of the claim, or the verb's default; the verb may not accept such a number.
fn claim_amount(verb: &Verb, tail: &ClaimModifiers, span: &Span) -> Result<f64, Box<Diagnostic>> {
    let Some((by, kind, at)) = &tail.by else {
        return Ok(match verb.claim {
            Claim::Better => 0.0,
            Claim::NotWorse | Claim::Equivalent => verb.quantity.margin,
        });
    };
    let (expected, help) = match verb.claim {
        Claim::Better => (AmountQualifier::By, "write `by 10%`"),
        Claim::NotWorse => (AmountQualifier::MoreThan, "write `by more than 2%`"),
        Claim::Equivalent => (AmountQualifier::Within, "write `to within 5%`"),
    };
    if *kind != expected && !(verb.claim == Claim::NotWorse && *kind == AmountQualifier::Within) {
        let message = format!("`{}` does not accept such a percentage", verb.words);
        return Err(claim_problem(&message, at, help));
    }
    if verb.claim != Claim::Better && *by >= 1.0 {
        return Err(claim_problem("a margin of 100 % is always met", at, help));
    }
    // `A is slower than B by 10 %`: B is faster by 11 %.
    if verb.claim == Claim::Better && verb.swaps {
        if *by >= 1.0 {
            return Err(claim_problem("nothing is slower by 100 %", span, "write less"));
        }
        return Ok(by / (1.0 - by));
    }
    Ok(*by)
}

fn unrecognized_claim(words: &[ClaimWord], span: &Span) -> Box<Diagnostic> {
    // The words from `is` to `than` or `as`, as somebody may have put them.
    let from = words.iter().position(|word| word.is_keyword("is"));
    let verbs = VERBS.iter().map(|verb| verb.words).chain(["is accurate"]);
    if let Some(from) = from {
        let ends = |word: &ClaimWord| word.is_keyword("than") || word.is_keyword("as");
        let to = words.iter().rposition(ends).filter(|to| *to > from);
        let written = &words[from..=to.unwrap_or_else(|| (from + 2).min(words.len() - 1))];
        let message = format!("`{}` cannot be checked", join_words(written));
        let help = suggest_nearest(&join_words(written), verbs.clone()).unwrap_or_else(|| {
            format!(
                "valid claims: {}, the gap to … is smaller with … than with …, the gain from … to … is larger with … than with …",
                join(verbs, ", ")
            )
        });
        return claim_problem(&message, &span_of_words(written, span), &help);
    }
    claim_problem(
        "no claim that can be checked",
        span,
        "write for example: 7.1.1 is faster than 6.4.1 (docs/batches.md has all forms)",
    )
}
