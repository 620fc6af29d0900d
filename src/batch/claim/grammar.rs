//! The forms of a claim.

mod tail;
mod with;

use self::tail::{Amount, Tail, tail};
use self::with::{gain, gap};
use super::side::{self, Side};
use super::words::{self, Word, find, place, text};
use super::{Assertion, Subjects};
use crate::batch::Spanned;
use retrial_recipe::model::Claim;
use retrial_recipe::{Diagnostic, Span, nearest};

pub(super) type Problem = Box<Diagnostic>;

/// What is let through where a claim says no number: 2 % of speed are materially different to
/// `MLPerf`'s auditors, and 1 % of accuracy to most of its benchmarks. Scatters differ by a factor of two before
/// anybody would call them different.
const SPEED_MARGIN: f64 = 0.02;
const ACCURACY_MARGIN: f64 = 0.01;
const CONSISTENCY_MARGIN: f64 = 0.5;

/// The words that turn a claim about all pairs into one about an exception.
const NOT_ALWAYS: &str = "is not always";

/// A claim's parts of speech.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub assertion: Assertion,
    pub candidate: Side,
    pub baseline: Option<Side>,
    pub gap_to: Option<Side>,
    /// Where and to where the step of a gain leads.
    pub step: Option<[Side; 2]>,
    pub not_always: bool,
    pub scenario: Option<String>,
    pub figure: Option<String>,
    pub span: Span,
}

/// A verb: what it says, and whether the sides change places.
struct Verb {
    words: &'static str,
    of: Quantity,
    claim: Claim,
    swaps: bool,
}

/// What a verb compares.
#[derive(Clone, Copy)]
enum Quantity {
    Speed,
    Accuracy,
    Consistency,
}

impl Quantity {
    /// What is let through where a claim says no number.
    fn margin(self) -> f64 {
        match self {
            Self::Speed => SPEED_MARGIN,
            Self::Accuracy => ACCURACY_MARGIN,
            Self::Consistency => CONSISTENCY_MARGIN,
        }
    }

    fn assertion(self, claim: Claim, by: f64) -> Assertion {
        match self {
            Self::Speed => Assertion::Speed { claim, by },
            Self::Accuracy => Assertion::Accuracy { claim, by },
            Self::Consistency => Assertion::Consistency { claim, by },
        }
    }
}

const fn verb(words: &'static str, of: Quantity, claim: Claim, swaps: bool) -> Verb {
    Verb {
        words,
        of,
        claim,
        swaps,
    }
}

const VERBS: [Verb; 16] = {
    use Claim::{Better, Equivalent, NotWorse};
    use Quantity::{Accuracy, Consistency, Speed};
    [
        verb("is faster than", Speed, Better, false),
        verb("is slower than", Speed, Better, true),
        verb("is not slower than", Speed, NotWorse, false),
        verb("is not faster than", Speed, NotWorse, true),
        verb("is at least as fast as", Speed, NotWorse, false),
        verb("is as fast as", Speed, Equivalent, false),
        verb("is more accurate than", Accuracy, Better, false),
        verb("is less accurate than", Accuracy, Better, true),
        verb("is not less accurate than", Accuracy, NotWorse, false),
        verb("is at least as accurate as", Accuracy, NotWorse, false),
        verb("is as accurate as", Accuracy, Equivalent, false),
        verb("is more consistent than", Consistency, Better, false),
        verb("is less consistent than", Consistency, Better, true),
        verb("is not less consistent than", Consistency, NotWorse, false),
        verb("is at least as consistent as", Consistency, NotWorse, false),
        verb("is as consistent as", Consistency, Equivalent, false),
    ]
};

/// Reads a sentence.
pub(super) fn read(claim: &Spanned<String>, subjects: &Subjects<'_>) -> Result<Sentence, Problem> {
    let mut words = words::of(claim);
    let bare = match words.first() {
        Some(first) if first.is("the") => &words[1..],
        _ => &words[..],
    };
    if bare.first().is_some_and(|word| word.is("gap")) {
        return gap(bare, &claim.span, subjects);
    }
    if bare.first().is_some_and(|word| word.is("gain")) {
        return gain(bare, &claim.span, subjects);
    }
    let exception = find(&words, NOT_ALWAYS);
    if let Some(at) = exception {
        words.drain(at + 1..at + 3);
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
        return Ok(Sentence {
            assertion: verb.of.assertion(verb.claim, by),
            candidate,
            baseline: Some(baseline),
            gap_to: None,
            step: None,
            not_always: exception.is_some(),
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
            step: None,
            not_always: exception.is_some(),
            scenario: tail.scenario,
            figure: tail.figure,
            span: claim.span.clone(),
        });
    }
    Err(no_claim(&words, &claim.span))
}

/// By how much, where the verb takes it so.
fn amount(verb: &Verb, tail: &Tail, span: &Span) -> Result<f64, Problem> {
    let Some((by, kind, at)) = &tail.by else {
        return Ok(match verb.claim {
            Claim::Better => 0.0,
            Claim::NotWorse | Claim::Equivalent => verb.of.margin(),
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
                    "valid claims: {}, the gap to … is smaller with … than with …, the gain from … to … is larger with … than with …",
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
