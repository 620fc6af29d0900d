//! A side of a claim: cells by the values of their axes, or another host's runs.

use super::sentence::{Problem, Side, Subjects, wrong};
use super::words::{Word, place, text};
use crate::batch::Values;
use crate::batch::names::RECIPE;
use retrial_recipe::{Span, did_you_mean};

/// Reads a side.
pub(super) fn read(words: &[Word], of: &Span, subjects: &Subjects<'_>) -> Result<Side, Problem> {
    let all = place(words, of);
    if words.is_empty() {
        return Err(wrong("a side is missing", of, "name cells by their values"));
    }
    let other = |name: &str| {
        subjects
            .external_results
            .iter()
            .find(|other| other.name == name)
    };
    let mut values = Values::default();
    for term in words.split(|word| !word.quoted && word.text == "+") {
        if let [word] = term
            && let Some(other) = other(&word.text)
        {
            if words.len() > 1 {
                let message = format!(
                    "`{}` names runs of another host and has no axes",
                    other.name
                );
                return Err(wrong(&message, &all, "write the name only"));
            }
            return Ok(Side::ExternalResult(other.name.clone()));
        }
        for (axis, value) in pairs(term, &all, subjects)? {
            if let Some(known) = values.get(&axis)
                && known != value
            {
                let message = format!("`{axis}` is {known} and {value}");
                return Err(wrong(&message, &all, "a side has one value of each axis"));
            }
            values.set(axis, value);
        }
    }
    if values.is_empty() && subjects.cells.len() > 1 {
        let help = "name values that tell them apart";
        return Err(wrong("this matches every cell", &all, help));
    }
    Ok(Side::Cells(values))
}

/// The values of a term: `migraphx`, `rocm 7.1.1`, `rocm=7.1.1,backend=migraphx`.
fn pairs(
    term: &[Word],
    all: &Span,
    subjects: &Subjects<'_>,
) -> Result<Vec<(String, String)>, Problem> {
    match term {
        [] => Err(wrong("nothing between two +", all, "remove one")),
        [word] if !word.quoted && word.text.contains('=') => {
            let parts = word.text.split(',');
            parts
                .map(|part| match part.split_once('=') {
                    Some((axis, value)) => of_axis(axis, value, &word.span, subjects),
                    None => alone(part, &word.span, subjects)
                        .map(|pair| pair.unwrap_or_else(|| (RECIPE.to_owned(), part.to_owned()))),
                })
                .collect()
        }
        [word] => Ok(alone(&word.text, &word.span, subjects)?
            .into_iter()
            .collect()),
        [axis, value] => Ok(vec![of_axis(
            &axis.text,
            &value.text,
            &place(term, all),
            subjects,
        )?]),
        several => {
            let message = format!("`{}` is not a value", text(several));
            Err(wrong(
                &message,
                &place(several, all),
                "join values with ` + `: rocm 7.1.1 + migraphx; put one with spaces in quotes",
            ))
        }
    }
}

fn of_axis(
    axis: &str,
    value: &str,
    span: &Span,
    subjects: &Subjects<'_>,
) -> Result<(String, String), Problem> {
    let Some((name, values)) = subjects.axes.iter().find(|(name, _)| name == axis) else {
        if subjects
            .axes
            .iter()
            .any(|(_, values)| same(values, axis).is_some())
        {
            let message = format!("`{axis}` is a value, not an axis");
            return Err(wrong(
                &message,
                span,
                "join values with ` + `: 7.1.1 + migraphx",
            ));
        }
        let names = subjects.axes.iter().map(|(name, _)| name.as_str());
        let help = if subjects.axes.is_empty() {
            "this batch varies nothing".to_owned()
        } else {
            did_you_mean(axis, names, "axes are")
        };
        return Err(wrong(
            &format!("`{axis}` is not an axis of this batch"),
            span,
            &help,
        ));
    };
    if let Some(known) = same(values, value) {
        return Ok((name.clone(), known.to_owned()));
    }
    let text = format!("{axis}={value}");
    let has = |axes: &Values| axes.get(axis) == Some(value);
    Err(omitted(&text, has, span, subjects).unwrap_or_else(|| {
        let known = values.iter().map(String::as_str);
        let help = did_you_mean(value, known, "values are");
        wrong(&format!("no cell has {text}"), span, &help)
    }))
}

/// That every cell with a value is omitted, and why.
fn omitted(
    value: &str,
    has: impl Fn(&Values) -> bool,
    span: &Span,
    subjects: &Subjects<'_>,
) -> Option<Problem> {
    let left = subjects.left_out.iter().find(|left| has(&left.axes))?;
    let message = format!("all cells with {value} are omitted");
    Some(wrong(&message, span, &left.reason.to_string()))
}

/// The axis that has this value; none for the only recipe's name.
fn alone(
    value: &str,
    span: &Span,
    subjects: &Subjects<'_>,
) -> Result<Option<(String, String)>, Problem> {
    let having = subjects
        .axes
        .iter()
        .filter_map(|(axis, values)| Some((axis, same(values, value)?)));
    let having: Vec<(&String, &str)> = having.collect();
    match having[..] {
        [(axis, value)] => Ok(Some((axis.clone(), value.to_owned()))),
        [] if subjects.cells.iter().any(|cell| cell.recipe == value) => Ok(None),
        [] => {
            let has = |axes: &Values| axes.iter().any(|(_, known)| known == value);
            if let Some(problem) = omitted(&format!("`{value}`"), has, span, subjects) {
                return Err(problem);
            }
            let values = subjects.axes.iter().flat_map(|(_, values)| values);
            let others = subjects.external_results.iter().map(|other| &other.name);
            let known = values.chain(others).map(String::as_str);
            let message =
                format!("`{value}` is neither a value of an axis nor another host's runs");
            Err(wrong(
                &message,
                span,
                &did_you_mean(value, known, "there are"),
            ))
        }
        ref several => {
            let axes: Vec<String> = several
                .iter()
                .map(|(axis, value)| format!("`{axis} {value}`"))
                .collect();
            let message = format!("`{value}` is a value of several axes");
            let help = format!("write {}", axes.join(" or "));
            Err(wrong(&message, span, &help))
        }
    }
}

/// The value as it is spelt; in another case where that means one only.
fn same<'a>(values: &'a [String], value: &str) -> Option<&'a str> {
    let exact = values.iter().find(|known| *known == value);
    let mut folded = values
        .iter()
        .filter(|known| known.eq_ignore_ascii_case(value));
    let only = folded.next().filter(|_| folded.next().is_none());
    exact.or(only).map(String::as_str)
}
