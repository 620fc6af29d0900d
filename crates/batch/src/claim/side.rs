//! A side of a claim: cells by the values of their axes, or another host's runs.

use itertools::join;

use super::sentence::{ClaimSide, ClaimSubjects, claim_problem};
use super::words::{ClaimWord, join_words, span_of_words};
use crate::NamedValues;
use crate::names::RECIPE;
use retrial_recipe::{Diagnostic, Span, did_you_mean};

/// Parses a side: the values of its cells, or the name of another host's runs.
pub(super) fn parse_side(
    words: &[ClaimWord],
    claim: &Span,
    subjects: &ClaimSubjects<'_>,
) -> Result<ClaimSide, Box<Diagnostic>> {
    let all = span_of_words(words, claim);
    if words.is_empty() {
        return Err(claim_problem("a side is missing", claim, "name cells by their values"));
    }
    let mut values = NamedValues::default();
    for term in words.split(|word| !word.quoted && word.text == "+") {
        if let [word] = term
            && let Some(other) = subjects.find_other_host(&word.text)
        {
            if words.len() > 1 {
                let message = format!("`{other}` names runs of another host and has no axes");
                return Err(claim_problem(&message, &all, "write the name only"));
            }
            return Ok(ClaimSide::ExternalResult(other.to_owned()));
        }
        for (axis, value) in subjects.parse_term(term, &all)? {
            if let Some(earlier) = values.get(&axis)
                && earlier != value
            {
                let message = format!("`{axis}` is {earlier} and {value}");
                return Err(claim_problem(&message, &all, "a side has one value of each axis"));
            }
            values.set(axis, value);
        }
    }
    if values.is_empty() && subjects.cells.len() > 1 {
        let help = "name values that tell them apart";
        return Err(claim_problem("this matches every cell", &all, help));
    }
    Ok(ClaimSide::Cells(values))
}

type AxisValue = (String, String);

impl ClaimSubjects<'_> {
    /// Returns the name of another host's runs, if this is one.
    fn find_other_host(&self, name: &str) -> Option<&str> {
        let mut names = self.external_results.iter().map(|other| &*other.name);
        names.find(|candidate| *candidate == name)
    }

    /// The values of a term: `migraphx`, `rocm 7.1.1`, `rocm=7.1.1,backend=migraphx`.
    fn parse_term(
        &self,
        term: &[ClaimWord],
        all: &Span,
    ) -> Result<Vec<AxisValue>, Box<Diagnostic>> {
        match term {
            [] => Err(claim_problem("nothing between two +", all, "remove one")),
            [word] if !word.quoted && word.text.contains('=') => {
                let part = |part: &str| {
                    if let Some((axis, value)) = part.split_once('=') {
                        return self.parse_axis_value(axis, value, &word.span);
                    }
                    let pair = self.find_axis_of_value(part, &word.span)?;
                    Ok(pair.unwrap_or_else(|| (RECIPE.to_owned(), part.to_owned())))
                };
                word.text.split(',').map(part).collect()
            }
            [word] => Ok(self.find_axis_of_value(&word.text, &word.span)?.into_iter().collect()),
            [axis, value] => {
                let pair =
                    self.parse_axis_value(&axis.text, &value.text, &span_of_words(term, all))?;
                Ok(vec![pair])
            }
            several => {
                let message = format!("`{}` is not a value", join_words(several));
                let help =
                    "join values with ` + `: rocm 7.1.1 + migraphx; put one with spaces in quotes";
                Err(claim_problem(&message, &span_of_words(several, all), help))
            }
        }
    }

    /// A value after its axis.
    fn parse_axis_value(
        &self,
        axis: &str,
        value: &str,
        span: &Span,
    ) -> Result<AxisValue, Box<Diagnostic>> {
        let Some((name, values)) = self.axes.iter().find(|(name, _)| name == axis) else {
            let mut all = self.axes.iter();
            if all.any(|(_, values)| match_value(values, axis).is_some()) {
                let message = format!("`{axis}` is a value, not an axis");
                let help = "join values with ` + `: 7.1.1 + migraphx";
                return Err(claim_problem(&message, span, help));
            }
            let names = self.axes.iter().map(|(name, _)| name.as_str());
            let help = if let Some(hint) = self.hint_to_vary(Some(axis), value) {
                hint
            } else if self.axes.is_empty() {
                "this batch varies nothing".to_owned()
            } else {
                did_you_mean(axis, names, "axes are")
            };
            let message = format!("`{axis}` is not an axis of this batch");
            return Err(claim_problem(&message, span, &help));
        };
        if let Some(matching) = match_value(values, value).or_else(|| match_end(values, value)) {
            return Ok((name.clone(), matching.to_owned()));
        }
        let text = format!("{axis}={value}");
        self.refuse_omitted(&text, span, |axes| axes.get(axis) == Some(value))?;
        let names = values.iter().map(String::as_str);
        let hint = self.hint_to_vary(Some(axis), value);
        let help = hint.unwrap_or_else(|| did_you_mean(value, names, "values are"));
        Err(claim_problem(&format!("no cell has {text}"), span, &help))
    }

    /// Returns how to vary an axis so that cells have this value; none if no recipe has it, on this axis or on any.
    fn hint_to_vary(&self, axis: Option<&str>, value: &str) -> Option<String> {
        let named = self.recipes.iter().find_map(|recipe| {
            let mut names = recipe.axis_names();
            names.find(|name| {
                axis.is_none_or(|axis| axis == *name) && recipe.axis_values(name).contains(&value)
            })
        })?;
        let varied = self.axes.iter().find(|(name, _)| name == named);
        let mut values = varied.map_or(Vec::new(), |(_, values)| values.clone());
        values.push(value.to_owned());
        let all = values.join(",");
        Some(match varied {
            Some(_) => format!("add it to `{named}` under `vary`: --vary {named}={all}"),
            None => format!("vary `{named}`, which has this value: --vary {named}=…,{value}"),
        })
    }

    /// Refuses a value if every cell that has it is omitted, with the reason.
    fn refuse_omitted(
        &self,
        value: &str,
        span: &Span,
        has: impl Fn(&NamedValues) -> bool,
    ) -> Result<(), Box<Diagnostic>> {
        let Some(cell) = self.excluded.iter().find(|cell| has(&cell.axes)) else {
            return Ok(());
        };
        let message = format!("all cells with {value} are omitted");
        Err(claim_problem(&message, span, &cell.reason.to_string()))
    }

    /// Returns the axes of which a value matches, each with that value.
    fn match_axes(
        &self,
        value: &str,
        matches: for<'v> fn(&'v [String], &str) -> Option<&'v str>,
    ) -> Vec<(&String, &str)> {
        let all = self.axes.iter();
        all.filter_map(|(axis, values)| Some((axis, matches(values, value)?))).collect()
    }

    /// A value with the axis that has it; none for the only recipe's name.
    fn find_axis_of_value(
        &self,
        value: &str,
        span: &Span,
    ) -> Result<Option<AxisValue>, Box<Diagnostic>> {
        let is_recipe = self.cells.iter().any(|cell| cell.recipe == value);
        let mut having = self.match_axes(value, match_value);
        if having.is_empty() && !is_recipe {
            having = self.match_axes(value, match_end);
        }
        match having[..] {
            [(axis, value)] => Ok(Some((axis.clone(), value.to_owned()))),
            [] if is_recipe => Ok(None),
            [] => {
                let has = |axes: &NamedValues| axes.iter().any(|(_, candidate)| candidate == value);
                self.refuse_omitted(&format!("`{value}`"), span, has)?;
                let values = self.axes.iter().flat_map(|(_, values)| values);
                let others = self.external_results.iter().map(|other| &other.name);
                let names = values.chain(others).map(String::as_str);
                let (message, help) = match self.hint_to_vary(None, value) {
                    Some(hint) => (format!("no cell has `{value}`"), hint),
                    None => (
                        format!("`{value}` is neither a value of an axis nor another host's runs"),
                        did_you_mean(value, names, "there are"),
                    ),
                };
                Err(claim_problem(&message, span, &help))
            }
            ref several => {
                let form = |(axis, value): &(&String, &str)| format!("`{axis} {value}`");
                let help = format!("write {}", join(several.iter().map(form), " or "));
                let message = format!("`{value}` is a value of several axes");
                Err(claim_problem(&message, span, &help))
            }
        }
    }
}

/// Returns the value as it is spelt in the batch; in another case only if one value matches.
fn match_value<'a>(values: &'a [String], value: &str) -> Option<&'a str> {
    let exact = values.iter().find(|candidate| *candidate == value);
    let folded = || find_only(values, |candidate| candidate.eq_ignore_ascii_case(value));
    exact.map(String::as_str).or_else(folded)
}

/// Returns the only value that ends so behind a `/` or `:`: `7.1` is enough for `acme/bench:7.1`.
fn match_end<'a>(values: &'a [String], end: &str) -> Option<&'a str> {
    find_only(values, |candidate| {
        let before = candidate.strip_suffix(end);
        !end.is_empty() && before.is_some_and(|before| before.ends_with(['/', ':']))
    })
}

/// Returns the value that matches, if one alone does.
fn find_only(values: &[String], matches: impl Fn(&str) -> bool) -> Option<&str> {
    let mut matching = values.iter().filter(|candidate| matches(candidate));
    let first = matching.next()?;
    matching.next().is_none().then_some(first.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_value_is_enough_where_one_alone_has_it() {
        let values = ["acme/bench:6.4", "acme/bench:7.1", "acme/other:7.1", "b:10.7.1"];
        let values = values.map(str::to_owned);
        assert_eq!(match_end(&values, "6.4"), Some("acme/bench:6.4"));
        assert_eq!(match_end(&values, "bench:7.1"), Some("acme/bench:7.1"));
        assert_eq!(match_end(&values, "7.1"), None);
        assert_eq!(match_end(&values, "4"), None);
        assert_eq!(match_end(&values, ""), None);
    }
}
