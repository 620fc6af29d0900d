//! Claims, of a batch or of one run: the outcome and a sentence of each, the evidence of each part.

use super::figures::{confidence_label, format_one_sided, format_ratio};
use crate::document::{Block, Column, ListItem, Table, TableCell};
use retrial_results::verdict::claim::{ClaimPart, ClaimVerdict, Statistic};

/// The most parts of a table: JSON and CSV have all.
const MAX_PARTS: usize = 2000;

/// A sentence for each claim.
pub(super) fn claim_list(claims: &[ClaimVerdict]) -> Option<Block> {
    let items = claims.iter().map(|claim| {
        let text = format!("{}: {}", claim.claim, claim.sentence);
        let source = claim.source.iter().map(|source| ("source", source));
        ListItem::new(text).with_mark(claim.outcome).with_details(source)
    });
    Block::list(items)
}

/// The evidence of each part of each claim.
pub(super) fn evidence_table(claims: &[ClaimVerdict], confidence: f64) -> Option<Block> {
    let parts = claims.iter().flat_map(|claim| {
        let parts = claim.parts.iter();
        parts.map(move |part| (claim.claim.as_str(), part))
    });
    let baseline = |part: &ClaimPart| {
        let baseline = part.baseline.as_ref();
        baseline.map(|side| side.subject.clone())
    };
    let note = format!("one-sided, {}", confidence_label(confidence));
    Table::builder("Evidence of each claim", parts.take(MAX_PARTS))
        .head("part", |(_, part)| &part.of)
        .text("candidate", |(_, part)| &part.candidate.subject)
        .text("baseline", |(_, part)| baseline(part).unwrap_or_default())
        .text("scenario", |(_, part)| format!("{} {}", part.scenario, part.mode))
        .text("figure", |(_, part)| match part.statistic {
            Statistic::Value => part.figure.clone(),
            other => format!("{other} of {}", part.figure),
        })
        .number("ratio", |(_, part)| format_ratio(part.ratio))
        .column(Column::text("bound").with_note(note), |(_, part)| {
            format_one_sided(part.bounds, part.is_decided_by_lower_bound())
        })
        .status("result", |(_, part)| TableCell::status(part.outcome, part.outcome.word()))
        .group_by(|(claim, _)| (*claim).to_owned())
        .into_block()
}
