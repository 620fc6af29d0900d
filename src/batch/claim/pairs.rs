//! The pairs of cells that a claim is about.
//!
//! An axis that one side names and the other does not is the same on both; on an axis that neither
//! names, each cell is paired with the one that is alike. So `7.1.1 is faster than 6.4.1` is one
//! part for each backend and card.

use std::collections::{BTreeMap, BTreeSet};

use super::grammar::{Problem, Sentence, wrong};
use super::side::Side;
use super::{Part, Subjects};
use crate::batch::names::RECIPE;
use crate::batch::{Cell, Values};

/// The parts of a sentence; at least one.
pub(super) fn of(sentence: &Sentence, subjects: &Subjects<'_>) -> Result<Vec<Part>, Problem> {
    if let (Some([from, to]), Some(baseline)) = (&sentence.step, &sentence.baseline) {
        return steps(
            [from, to],
            [&sentence.candidate, baseline],
            subjects,
            sentence,
        );
    }
    let pairs = match &sentence.baseline {
        None => alone(&sentence.candidate, subjects),
        Some(baseline) => both(&sentence.candidate, baseline, subjects, sentence)?,
    };
    if pairs.is_empty() {
        return Err(nobody(sentence, subjects));
    }
    let mut parts = Vec::new();
    for pair in &pairs {
        let gap_to = match &sentence.gap_to {
            None => None,
            Some(Side::ExternalResult(name)) => Some(name.clone()),
            Some(Side::Cells(values)) => Some(third(pair, values, subjects, sentence)?),
        };
        parts.push(Part {
            of: pair.alike.clone(),
            candidate: pair.candidate.clone(),
            baseline: pair.baseline.clone(),
            gap_to,
            from: None,
        });
    }
    only_what_differs(&mut parts);
    Ok(parts)
}

/// The parts of a claim on a gain: the same step, twice.
fn steps(
    step: [&Side; 2],
    with: [&Side; 2],
    subjects: &Subjects<'_>,
    sentence: &Sentence,
) -> Result<Vec<Part>, Problem> {
    let [Side::Cells(one), Side::Cells(other)] = with else {
        let message = "a gain is larger with some cells of this batch than with others";
        let help = "write: the gain from SIDE to SIDE is larger with bert than with resnet50";
        return Err(wrong(message, &sentence.span, help));
    };
    if step
        .iter()
        .all(|side| matches!(side, Side::ExternalResult(_)))
    {
        let message = "both ends of the step are other hosts' runs";
        let help = "name values of this batch's cells for one of them";
        return Err(wrong(message, &sentence.span, help));
    }
    let (one, other) = (filled(one, other), filled(other, one));
    if one.are_in(&other) {
        let message = "both sides mean the same cells";
        return Err(wrong(message, &sentence.span, "name the axis that differs"));
    }
    let taken = |with: &Values| -> Result<Vec<Pair>, Problem> {
        let end = |side: &Side| match side {
            Side::Cells(values) => Side::Cells(filled(values, with)),
            Side::ExternalResult(name) => Side::ExternalResult(name.clone()),
        };
        let [from, to] = step.map(end);
        both(&to, &from, subjects, sentence)
    };
    let baselines = taken(&other)?;
    let mut parts: Vec<Part> = taken(&one)?
        .into_iter()
        .filter_map(|pair| {
            let like = |other: &&Pair| other.alike == pair.alike;
            let other = baselines.iter().find(like)?;
            let from = [pair.baseline?, other.baseline.clone()?];
            Some(Part {
                of: pair.alike,
                candidate: pair.candidate,
                baseline: Some(other.candidate.clone()),
                gap_to: None,
                from: Some(from),
            })
        })
        .collect();
    if parts.is_empty() {
        return Err(nobody(sentence, subjects));
    }
    only_what_differs(&mut parts);
    Ok(parts)
}

struct Pair {
    candidate: String,
    baseline: Option<String>,
    /// What no side names.
    alike: Values,
}

fn alone(side: &Side, subjects: &Subjects<'_>) -> Vec<Pair> {
    let pair = |candidate: String, alike| Pair {
        candidate,
        baseline: None,
        alike,
    };
    match side {
        Side::ExternalResult(name) => vec![pair(name.clone(), Values::default())],
        Side::Cells(values) => having(values, subjects)
            .into_iter()
            .map(|(cell, alike)| pair(cell.name.clone(), alike))
            .collect(),
    }
}

fn both(
    candidate: &Side,
    baseline: &Side,
    subjects: &Subjects<'_>,
    sentence: &Sentence,
) -> Result<Vec<Pair>, Problem> {
    Ok(match (candidate, baseline) {
        (Side::ExternalResult(one), Side::ExternalResult(other)) if one == other => {
            return Err(wrong(
                "both sides are the same",
                &sentence.span,
                "name another",
            ));
        }
        (one, Side::ExternalResult(other)) => {
            let mut pairs = alone(one, subjects);
            for pair in &mut pairs {
                pair.baseline = Some(other.clone());
            }
            pairs
        }
        (Side::ExternalResult(one), cells) => {
            let pairs = alone(cells, subjects).into_iter();
            pairs
                .map(|pair| Pair {
                    candidate: one.clone(),
                    baseline: Some(pair.candidate),
                    alike: pair.alike,
                })
                .collect()
        }
        (Side::Cells(one), Side::Cells(other)) => {
            let (full, other_full) = (filled(one, other), filled(other, one));
            if full.are_in(&other_full) {
                return Err(wrong(
                    "both sides mean the same cells",
                    &sentence.span,
                    "an axis that only one side names is the same on both; name the axis that differs",
                ));
            }
            // A thousand cells have a million pairs: partners are looked up, not tried.
            let key = |alike: &Values| -> Vec<(String, String)> {
                let values = alike.iter();
                values
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect()
            };
            let mut partners = BTreeMap::new();
            for (partner, alike) in having(&other_full, subjects) {
                partners.entry(key(&alike)).or_insert(partner);
            }
            let cells = having(&full, subjects).into_iter();
            cells
                .filter_map(|(cell, alike)| {
                    let partner = partners.get(&key(&alike))?;
                    Some(Pair {
                        candidate: cell.name.clone(),
                        baseline: Some(partner.name.clone()),
                        alike,
                    })
                })
                .collect()
        }
    })
}

/// The one cell that a gap is measured to.
fn third(
    pair: &Pair,
    values: &Values,
    subjects: &Subjects<'_>,
    sentence: &Sentence,
) -> Result<String, Problem> {
    let alike = |others: &Values| {
        pair.alike
            .iter()
            .all(|(axis, value)| values.get(axis).is_some() || others.get(axis) == Some(value))
    };
    let found: Vec<&Cell> = having(values, subjects)
        .into_iter()
        .filter(|(_, others)| alike(others))
        .map(|(cell, _)| cell)
        .collect();
    match found[..] {
        [one] if one.name != pair.candidate && Some(&one.name) != pair.baseline.as_ref() => {
            Ok(one.name.clone())
        }
        [one] => {
            let message = format!("the gap of {} to itself", one.name);
            Err(wrong(&message, &sentence.span, "name another"))
        }
        [] => {
            let message = format!("there is no cell with {values} to measure the gap to");
            Err(wrong(&message, &sentence.span, "name a cell of this batch"))
        }
        ref several => {
            let names: Vec<&str> = several.iter().take(6).map(|cell| &*cell.name).collect();
            let message = format!("the gap to which cell with {values}?");
            let help = format!("name more of its values: {}", names.join("; "));
            Err(wrong(&message, &sentence.span, &help))
        }
    }
}

fn nobody(sentence: &Sentence, subjects: &Subjects<'_>) -> Problem {
    let side = |side: &Side| match side {
        Side::Cells(values) => values.to_string(),
        Side::ExternalResult(name) => name.clone(),
    };
    let candidate = side(&sentence.candidate);
    let baseline = sentence.baseline.as_ref().map(side).unwrap_or_default();
    let message =
        format!("no two cells are {candidate} and {baseline} and equal in all other axes");
    let reasons = subjects.left_out.iter().take(4);
    let reasons = reasons.map(|left| format!("{} is omitted: {}", left.name, left.reason));
    let reasons: Vec<String> = reasons.collect();
    let help = if reasons.is_empty() {
        "name values of cells in this batch".to_owned()
    } else {
        reasons.join("; ")
    };
    wrong(&message, &sentence.span, &help)
}

/// A cell's axes, with its recipe where there are several.
fn axes(cell: &Cell, subjects: &Subjects<'_>) -> Values {
    let mut values = cell.axes.clone();
    if subjects.axes.iter().any(|(name, _)| name == RECIPE) {
        values.set(RECIPE, &cell.recipe);
    }
    values
}

/// The cells that have these values, each with its others, sorted by axis.
fn having<'a>(named: &Values, subjects: &Subjects<'a>) -> Vec<(&'a Cell, Values)> {
    let cells = subjects.cells.iter();
    cells
        .filter_map(|cell| {
            let mut values = axes(cell, subjects);
            if !named.are_in(&values) {
                return None;
            }
            values.retain(|name| named.get(name).is_none());
            values.sort();
            Some((cell, values))
        })
        .collect()
}

fn filled(one: &Values, other: &Values) -> Values {
    let mut full = one.clone();
    for (axis, value) in other.iter() {
        if full.get(axis).is_none() {
            full.set(axis, value);
        }
    }
    full
}

/// Leaves of what tells parts apart only that in which they differ.
fn only_what_differs(parts: &mut [Part]) {
    let mut kinds: Vec<(String, BTreeSet<String>)> = Vec::new();
    for (axis, value) in parts.iter().flat_map(|part| part.of.iter()) {
        match kinds.iter_mut().find(|(known, _)| known == axis) {
            Some((_, values)) => {
                values.insert(value.to_owned());
            }
            None => kinds.push((axis.to_owned(), BTreeSet::from([value.to_owned()]))),
        }
    }
    let differs = |axis: &str| {
        kinds
            .iter()
            .any(|(known, values)| known == axis && values.len() > 1)
    };
    for part in parts {
        part.of.retain(&differs);
    }
}
