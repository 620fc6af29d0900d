//! The parts of speech of a claim, before it is known which cells it is about.

use super::model::Assertion;
use crate::NamedValues;
use crate::axis_domain::AxisDomain;
use crate::cell::{Cell, ExcludedCell};
use crate::model::ExternalResult;
use retrial_mlperf::ScenarioName;
use retrial_recipe::{Diagnostic, Span};

/// The names that sides may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimSubjects<'a> {
    /// The recipes, whose axes may have values that no cell has.
    pub recipes: &'a [AxisDomain],
    pub axes: &'a [(String, Vec<String>)],
    pub cells: &'a [Cell],
    pub excluded: &'a [ExcludedCell],
    pub external_results: &'a [ExternalResult],
    pub scenarios: &'a [ScenarioName],
    pub figures: &'a [String],
}

/// The subject of a claim, or what it is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClaimSide {
    /// Cells that have these values.
    Cells(NamedValues),
    /// Runs of another host.
    ExternalResult(String),
}

/// How a claim states a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AmountQualifier {
    By,
    MoreThan,
    Within,
}

/// The conditions that may follow the sides.
#[derive(Debug, Default)]
pub(super) struct ClaimModifiers {
    pub by: Option<(f64, AmountQualifier, Span)>,
    pub scenario: Option<ScenarioName>,
    pub figure: Option<String>,
}

/// A claim's parts of speech: sides, of which it is not known yet which cells they are.
#[derive(Debug)]
pub(super) struct ParsedClaim {
    pub assertion: Assertion,
    pub candidate: ClaimSide,
    pub baseline: Option<ClaimSide>,
    pub gap_to: Option<ClaimSide>,
    /// The cells from which and to which the step of a gain leads.
    pub step: Option<[ClaimSide; 2]>,
    pub not_always: bool,
    pub tail: ClaimModifiers,
    pub span: Span,
}

impl ParsedClaim {
    /// A claim about a candidate, compared with a baseline if there is one.
    pub fn new(
        assertion: Assertion,
        candidate: ClaimSide,
        baseline: Option<ClaimSide>,
        tail: ClaimModifiers,
        span: &Span,
    ) -> Self {
        Self {
            assertion,
            candidate,
            baseline,
            gap_to: None,
            step: None,
            not_always: false,
            tail,
            span: span.clone(),
        }
    }
}

/// Returns a problem of a claim, with its place.
pub(super) fn claim_problem(message: &str, span: &Span, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("claim", message, span.clone()).with_help(help))
}
