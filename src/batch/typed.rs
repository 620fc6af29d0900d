//! A batch from the words of a command line: `retrial batch RECIPE --vary rocm=6.4.1,7.1.1`.

use super::model::{Axis, Batch, BatchRecipe, Combination, Conduct, Placed, WrittenClaim};
use super::names::short_names;
use super::read::twice;
use crate::recipe::model::Mode;
use crate::recipe::{Diagnostic, Diagnostics, Source};

/// What was typed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Typed {
    /// RECIPE…
    pub recipes: Vec<String>,
    /// `--vary axis=value,value`
    pub vary: Vec<String>,
    /// `--exclude axis=value,axis=value`
    pub exclude: Vec<String>,
    /// `--set name=value`
    pub set: Vec<(String, String)>,
    /// `--scenario`
    pub scenarios: Vec<String>,
    /// `--mode`
    pub modes: Vec<Mode>,
    /// `--baseline axis=value,axis=value`
    pub baseline: Option<String>,
    /// `--claim SENTENCE`
    pub claims: Vec<String>,
    /// The rest.
    pub conduct: Conduct,
}

/// The batch that was typed.
///
/// # Errors
/// Every word that means nothing.
pub fn from_typed(typed: &Typed) -> Result<Batch, Diagnostics> {
    let mut problems = Diagnostics::default();
    let recipes = typed
        .recipes
        .iter()
        .map(|one| place("RECIPE", one))
        .collect();
    let recipes = short_names(recipes, &mut problems);
    let vary = axes(&typed.vary, &mut problems);
    let combination = |option: &str, text: &String, problems: &mut Diagnostics| {
        Combination::of_text(&place(option, text), problems)
    };
    let exclude: Vec<Combination> = typed
        .exclude
        .iter()
        .filter_map(|text| combination("--exclude", text, &mut problems))
        .collect();
    let baseline = typed.baseline.as_ref();
    let baseline = baseline.and_then(|text| combination("--baseline", text, &mut problems));
    if problems.has_errors() {
        return Err(problems);
    }
    Ok(Batch {
        title: title(&recipes, &vary),
        description: None,
        recipes,
        vary,
        exclude,
        include: Vec::new(),
        set: typed.set.iter().map(set).collect(),
        scenarios: typed
            .scenarios
            .iter()
            .map(|one| place("--scenario", one))
            .collect(),
        modes: typed.modes.clone(),
        baseline,
        conduct: typed.conduct.clone(),
        claims: typed
            .claims
            .iter()
            .map(|text| WrittenClaim {
                text: place("--claim", text),
                source: None,
            })
            .collect(),
        others: Vec::new(),
    })
}

fn place(option: &str, text: &str) -> Placed<String> {
    let source = Source::new(option, text);
    Placed {
        value: text.to_owned(),
        span: source.span(0..text.len()),
    }
}

fn set((name, value): &(String, String)) -> Placed<(String, String)> {
    Placed {
        value: (name.clone(), value.clone()),
        span: place("--set", &format!("{name}={value}")).span,
    }
}

/// `rocm=6.4.1,7.1.1`; an axis that is typed twice has the values of both.
fn axes(vary: &[String], problems: &mut Diagnostics) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::new();
    for text in vary {
        let all = place("--vary", text).span;
        let named = text.split_once('=');
        let Some((name, values)) = named.filter(|(name, _)| !name.trim().is_empty()) else {
            let message = format!("`{text}` is not axis=value,value");
            let problem = Diagnostic::error("bad-value", message, all);
            problems.push(problem.help("write for example: --vary rocm=6.4.1,7.1.1"));
            continue;
        };
        let mut start = name.len() + 1;
        let mut placed = Vec::new();
        for value in values.split(',') {
            let span = all.part(start..start + value.len());
            start += value.len() + 1;
            if value.trim().is_empty() {
                let problem = Diagnostic::error("empty", "a value is missing", span);
                problems.push(problem.help("take the comma out, or write the value"));
            } else {
                let value = value.trim().to_owned();
                placed.push(Placed { value, span });
            }
        }
        match axes.iter_mut().find(|axis| axis.name.value == name.trim()) {
            Some(axis) => axis.values.extend(placed),
            None => axes.push(Axis {
                name: Placed {
                    value: name.trim().to_owned(),
                    span: all.part(0..name.len()),
                },
                values: placed,
            }),
        }
    }
    for axis in &axes {
        twice(axis, problems);
    }
    axes
}

/// `bert-large-radeon over rocm and backend`
fn title(recipes: &[BatchRecipe], vary: &[Axis]) -> String {
    let recipes: Vec<&str> = recipes.iter().map(|one| one.name.as_str()).collect();
    let axes: Vec<&str> = vary.iter().map(|axis| axis.name.value.as_str()).collect();
    let recipes = match recipes.len() {
        0..=3 => recipes.join(", "),
        count => format!("{count} recipes"),
    };
    match axes.split_last() {
        None => recipes,
        Some((last, [])) => format!("{recipes} over {last}"),
        Some((last, others)) => format!("{recipes} over {} and {last}", others.join(", ")),
    }
}
