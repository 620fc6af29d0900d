//! The pairs of cells that a claim is about.
//!
//! An axis that one side names and the other does not is the same on both; on an axis that neither
//! names, each cell is paired with the one that is alike. So `7.1.1 is faster than 6.4.1` is one
//! part for each backend and card.

use std::collections::{BTreeMap, BTreeSet};

use itertools::join;

use super::model::CellPair;
use super::sentence::{ClaimSide, ClaimSubjects, ParsedClaim, claim_problem};
use crate::names::RECIPE;
use crate::{Cell, NamedValues};
use retrial_recipe::Diagnostic;

/// The parts of a sentence; at least one.
pub(super) fn pair_cells(
    sentence: &ParsedClaim,
    subjects: &ClaimSubjects<'_>,
) -> Result<Vec<CellPair>, Box<Diagnostic>> {
    let pairing = Pairing { sentence, subjects };
    let candidate = &sentence.candidate;
    let mut parts = match (&sentence.step, &sentence.baseline) {
        (_, None) => pairing.single_parts(candidate),
        (None, Some(baseline)) => pairing.paired_parts(candidate, baseline)?,
        (Some([from, to]), Some(baseline)) => {
            pairing.gain_parts([from, to], [candidate, baseline])?
        }
    };
    if parts.is_empty() {
        return Err(no_pairs_problem(sentence, subjects));
    }
    for part in &mut parts {
        part.gap_to = match &sentence.gap_to {
            None => None,
            Some(ClaimSide::ExternalResult(name)) => Some(name.clone()),
            Some(ClaimSide::Cells(values)) => Some(pairing.find_gap_cell(part, values)?),
        };
    }
    retain_differing_axes(&mut parts);
    Ok(parts)
}

/// Finds the cells that a sentence is about.
struct Pairing<'a> {
    sentence: &'a ParsedClaim,
    subjects: &'a ClaimSubjects<'a>,
}

impl Pairing<'_> {
    fn problem(&self, message: &str, help: &str) -> Box<Diagnostic> {
        claim_problem(message, &self.sentence.span, help)
    }

    /// The parts of a claim on a gain: the same step, twice.
    fn gain_parts(
        &self,
        step: [&ClaimSide; 2],
        with: [&ClaimSide; 2],
    ) -> Result<Vec<CellPair>, Box<Diagnostic>> {
        let [ClaimSide::Cells(first), ClaimSide::Cells(second)] = with else {
            let message = "a gain is larger with some cells of this batch than with others";
            let help = "write: the gain from SIDE to SIDE is larger with bert than with resnet50";
            return Err(self.problem(message, help));
        };
        let mut ends = step.iter();
        if ends.all(|side| matches!(side, ClaimSide::ExternalResult(_))) {
            let message = "both ends of the step are other hosts' runs";
            let help = "name values of this batch's cells for one of them";
            return Err(self.problem(message, help));
        }
        let (first, second) = (complete_values(first, second), complete_values(second, first));
        if first.is_subset_of(&second) {
            let message = "both sides mean the same cells";
            return Err(self.problem(message, "name the axis that differs"));
        }
        let parts_with = |with: &NamedValues| -> Result<Vec<CellPair>, Box<Diagnostic>> {
            let [from, to] = step.map(|side| match side {
                ClaimSide::Cells(values) => ClaimSide::Cells(complete_values(values, with)),
                ClaimSide::ExternalResult(name) => ClaimSide::ExternalResult(name.clone()),
            });
            self.paired_parts(&to, &from)
        };
        let baselines = parts_with(&second)?;
        let steps = parts_with(&first)?.into_iter().filter_map(|part| {
            let other = baselines.iter().find(|other| other.of == part.of)?;
            let from = [part.baseline?, other.baseline.clone()?];
            Some(CellPair { baseline: Some(other.candidate.clone()), from: Some(from), ..part })
        });
        Ok(steps.collect())
    }

    /// A part for each cell of a side, or for another host's runs.
    fn single_parts(&self, side: &ClaimSide) -> Vec<CellPair> {
        let part = |candidate: &str, of| CellPair {
            of,
            candidate: candidate.to_owned(),
            baseline: None,
            gap_to: None,
            from: None,
        };
        match side {
            ClaimSide::ExternalResult(name) => vec![part(name, NamedValues::default())],
            ClaimSide::Cells(values) => {
                let cells = cells_with_values(values, self.subjects).into_iter();
                cells.map(|(cell, of)| part(&cell.name, of)).collect()
            }
        }
    }

    /// A part for each pair of cells that are equal in what no side names.
    fn paired_parts(
        &self,
        candidate: &ClaimSide,
        baseline: &ClaimSide,
    ) -> Result<Vec<CellPair>, Box<Diagnostic>> {
        let with = |part: CellPair, baseline: &str| CellPair {
            baseline: Some(baseline.to_owned()),
            ..part
        };
        let parts = match (candidate, baseline) {
            (ClaimSide::ExternalResult(first), ClaimSide::ExternalResult(second))
                if first == second =>
            {
                return Err(self.problem("both sides are the same", "name two different ones"));
            }
            (side, ClaimSide::ExternalResult(other)) => {
                let parts = self.single_parts(side).into_iter();
                parts.map(|part| with(part, other)).collect()
            }
            (ClaimSide::ExternalResult(name), cells) => {
                let parts = self.single_parts(cells).into_iter();
                let turned = parts.map(|part| CellPair {
                    baseline: Some(part.candidate),
                    candidate: name.clone(),
                    ..part
                });
                turned.collect()
            }
            (ClaimSide::Cells(first), ClaimSide::Cells(second)) => {
                let (full, other_full) =
                    (complete_values(first, second), complete_values(second, first));
                if full.is_subset_of(&other_full) {
                    let help = "an axis that only one side names is the same on both; name the axis that differs";
                    return Err(self.problem("both sides mean the same cells", help));
                }
                // A thousand cells have a million pairs: partners are looked up, not tried.
                let mut partners = BTreeMap::new();
                for (partner, alike) in cells_with_values(&other_full, self.subjects) {
                    partners.entry(alike.to_string()).or_insert(partner);
                }
                let parts = self.single_parts(&ClaimSide::Cells(full)).into_iter();
                let paired = parts.filter_map(|part| {
                    let partner = partners.get(&part.of.to_string())?;
                    Some(with(part, &partner.name))
                });
                paired.collect()
            }
        };
        Ok(parts)
    }

    /// The one cell that a gap is measured to.
    fn find_gap_cell(
        &self,
        part: &CellPair,
        values: &NamedValues,
    ) -> Result<String, Box<Diagnostic>> {
        let alike = |others: &NamedValues| {
            let mut alike = part.of.iter();
            alike.all(|(axis, value)| values.get(axis).is_some() || others.get(axis) == Some(value))
        };
        let candidates = cells_with_values(values, self.subjects).into_iter();
        let cells = candidates.filter(|(_, others)| alike(others));
        let names: Vec<&str> = cells.map(|(cell, _)| cell.name.as_str()).collect();
        match names[..] {
            [cell] if cell == part.candidate || Some(cell) == part.baseline.as_deref() => {
                let message = format!("the gap would be from {cell} to itself");
                Err(self.problem(&message, "name a third cell"))
            }
            [cell] => Ok(cell.to_owned()),
            [] => {
                let message = format!("no cell has {values}, to which the gap is measured");
                Err(self.problem(&message, "name a cell of this batch"))
            }
            ref several => {
                let several = &several[..several.len().min(6)];
                let message = format!("a gap is to one cell, and several have {values}");
                let help = format!("name more of its values: {}", several.join("; "));
                Err(self.problem(&message, &help))
            }
        }
    }
}

fn no_pairs_problem(sentence: &ParsedClaim, subjects: &ClaimSubjects<'_>) -> Box<Diagnostic> {
    let side = |side: &ClaimSide| match side {
        ClaimSide::Cells(values) => values.to_string(),
        ClaimSide::ExternalResult(name) => name.clone(),
    };
    let candidate = side(&sentence.candidate);
    let baseline = sentence.baseline.as_ref().map(side).unwrap_or_default();
    let message =
        format!("no two cells are {candidate} and {baseline} and equal in all other axes");
    let first_excluded = subjects.excluded.iter().take(4);
    let described =
        first_excluded.map(|excluded| format!("{} is omitted: {}", excluded.name, excluded.reason));
    let reasons = join(described, "; ");
    let help = if reasons.is_empty() { "name values of cells in this batch" } else { &reasons };
    claim_problem(&message, &sentence.span, help)
}

/// The cells that have these values, each with its others, sorted by axis. A cell's recipe is one of its
/// values where there are several.
fn cells_with_values<'a>(
    named: &NamedValues,
    subjects: &ClaimSubjects<'a>,
) -> Vec<(&'a Cell, NamedValues)> {
    let has_recipes = subjects.axes.iter().any(|(name, _)| name == RECIPE);
    let with_others = |cell: &'a Cell| {
        let mut values = cell.axes.clone();
        if has_recipes {
            values.set(RECIPE, &cell.recipe);
        }
        if !named.is_subset_of(&values) {
            return None;
        }
        values.retain(|name| named.get(name).is_none());
        values.sort();
        Some((cell, values))
    };
    subjects.cells.iter().filter_map(with_others).collect()
}

fn complete_values(first: &NamedValues, second: &NamedValues) -> NamedValues {
    let mut full = first.clone();
    for (axis, value) in second.iter() {
        if full.get(axis).is_none() {
            full.set(axis, value);
        }
    }
    full
}

/// Reduces the axis values of parts to those in which they differ.
fn retain_differing_axes(parts: &mut [CellPair]) {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (axis, value) in parts.iter().flat_map(|part| part.of.iter()) {
        let distinct = values.entry(axis.to_owned()).or_default();
        distinct.insert(value.to_owned());
    }
    for part in parts {
        part.of.retain(|axis| values[axis].len() > 1);
    }
}
