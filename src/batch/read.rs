//! From a batch file's text to a checked [`Batch`].

use super::keys::BATCH;
use super::model::{
    Axis, Batch, BatchRecipe, Combination, ExecutionOptions, OnFailure, Order, PullAhead, Spanned,
    WrittenClaim, WrittenExternalResult,
};
use super::names::short_names;
use retrial_document::parse;
use retrial_document::read::Read;
use retrial_document::{Diagnostic, Diagnostics, Source};
use retrial_document::{Entry, Node, Value};
use retrial_document::{Plain, Validator};
use retrial_recipe::model::Mode;

/// Whether a file is a batch, and no recipe: it has `recipe`, `recipes` or `vary`, which no recipe
/// has.
#[must_use]
pub fn is_batch(source: &Source) -> bool {
    let known = ["recipes", "recipe", "vary", "claims"];
    // Most files are recipes, and need no second parse to say so.
    let begins = |line: &str| known.iter().any(|key| line.trim_start().starts_with(key));
    source.text.lines().any(begins)
        && parse(source, &mut Diagnostics::default()).is_some_and(|node| {
            known.iter().any(|key| node.entry(key).is_some()) && node.entry("submission").is_none()
        })
}

/// Reads a batch file. Relative paths in it are from its own directory, which is put before them.
///
/// # Errors
/// Every problem of it, each with its place.
pub fn read(source: &Source) -> Result<Batch, Diagnostics> {
    match read_as_far(source) {
        (Some(batch), problems) if !problems.has_errors() => Ok(batch),
        (_, mut problems) => {
            problems.sort(&source.path);
            Err(problems)
        }
    }
}

/// As [`read`], but with the batch as far as it can be understood: what is wrong with its axes and
/// claims can then be told at once with a key that is misspelt.
#[must_use]
pub fn read_as_far(source: &Source) -> (Option<Batch>, Diagnostics) {
    let mut problems = Diagnostics::default();
    let batch = try_read(source, &mut problems);
    (batch, problems)
}

fn try_read(source: &Source, problems: &mut Diagnostics) -> Option<Batch> {
    let node = parse(source, problems)?;
    if !matches!(node.value, Value::Map(_)) {
        let message = format!("a batch is a map of keys; this is {}", node.kind());
        let problem = Diagnostic::error("wrong-type", message, node.span);
        problems.push(problem.help("begin with `schema: 1`; docs/batches.md has an example"));
        return None;
    }
    for entry in node.entries().iter().filter(|entry| entry.append) {
        let message = format!("`{}+` has nothing to append to", entry.key);
        let problem = Diagnostic::error("append", message, entry.key_span.clone());
        problems.push(problem.help("a batch extends nothing; take the + away"));
    }
    let top = source.span(0..0);
    let checked = Validator::new(&mut Plain, problems).object(&node, &BATCH, &top);
    let directory = directory_of(&source.path);
    let batch = fill(&checked, directory, problems);
    for axis in &batch.vary {
        twice(axis, problems);
    }
    Some(batch)
}

/// A value that stands twice would be run twice as often.
pub(super) fn twice(axis: &Axis, problems: &mut Diagnostics) {
    for (position, value) in axis.values.iter().enumerate() {
        if axis.values[..position]
            .iter()
            .any(|one| one.value == value.value)
        {
            let message = format!("`{}` stands twice under `{}`", value.value, axis.name.value);
            let problem = Diagnostic::error("duplicate", message, value.span.clone());
            problems.push(problem.help("take one of them out; `trials` repeats all cells"));
        }
    }
}

fn fill(node: &Node, directory: &str, problems: &mut Diagnostics) -> Batch {
    let confidence = node.fraction("confidence").unwrap_or(0.95);
    if !(confidence > 0.5 && confidence < 1.0)
        && let Some(at) = node.get("confidence")
    {
        let problem = Diagnostic::error(
            "out-of-range",
            "a confidence lies between 50 % and 100 %",
            at.span.clone(),
        );
        problems.push(problem.help("95% is usual"));
    }
    let baseline = node.get("baseline");
    Batch {
        title: node.string("title").unwrap_or_default(),
        description: node.string("description"),
        recipes: recipes(node, directory, problems),
        vary: node
            .get("vary")
            .map_or(&[][..], Node::entries)
            .iter()
            .map(axis)
            .collect(),
        exclude: combinations(node, "exclude"),
        include: combinations(node, "include"),
        set: node
            .get("set")
            .map_or(&[][..], Node::entries)
            .iter()
            .map(|entry| {
                let (name, value) = setting(entry);
                Spanned {
                    value: (name.value, value.value),
                    span: value.span,
                }
            })
            .collect(),
        scenarios: node.items_of("scenarios").map(spanned).collect(),
        modes: node.items_of("modes").filter_map(mode).collect(),
        baseline: baseline.and_then(|baseline| match baseline.text() {
            Some(_) => Combination::of_text(&spanned(baseline), problems),
            None => Some(combination(baseline)),
        }),
        execution: ExecutionOptions {
            confidence,
            ..execution(node)
        },
        claims: node.items_of("claims").filter_map(claim).collect(),
        external_results: node
            .get("others")
            .into_iter()
            .flat_map(Node::named)
            .map(|(name, other)| WrittenExternalResult {
                name: name.to_owned(),
                runs: other
                    .items_of("runs")
                    .map(|run| Spanned {
                        value: from(directory, run.text().unwrap_or_default()),
                        span: run.span.clone(),
                    })
                    .collect(),
            })
            .collect(),
    }
}

fn execution(node: &Node) -> ExecutionOptions {
    let usual = ExecutionOptions::default();
    ExecutionOptions {
        trials: node.number("trials").unwrap_or(usual.trials),
        order: node.word("order", &Order::WORDS).unwrap_or_default(),
        on_failure: node
            .word("on_failure", &OnFailure::WORDS)
            .unwrap_or_default(),
        retries: node.number("retries").unwrap_or(usual.retries),
        parallel: node.number("parallel").unwrap_or(usual.parallel),
        pull_ahead: node
            .word("pull_ahead", &PullAhead::WORDS)
            .unwrap_or_default(),
        gpus: node.strings("gpus"),
        confidence: usual.confidence,
    }
}

fn recipes(node: &Node, directory: &str, problems: &mut Diagnostics) -> Vec<BatchRecipe> {
    let several = node.get("recipes");
    let of = |node: &Node| Spanned {
        value: from(directory, node.text().unwrap_or_default()),
        span: node.span.clone(),
    };
    let named: Vec<BatchRecipe> = several
        .into_iter()
        .flat_map(Node::named)
        .map(|(name, recipe)| BatchRecipe {
            name: name.to_owned(),
            recipe: of(recipe),
        })
        .collect();
    if !named.is_empty() {
        return named;
    }
    let listed = several.map_or(&[][..], Node::items).iter();
    let all: Vec<_> = listed.chain(node.get("recipe")).map(of).collect();
    short_names(&all, problems)
}

fn spanned(node: &Node) -> Spanned<String> {
    Spanned {
        value: node.text().unwrap_or_default().to_owned(),
        span: node.span.clone(),
    }
}

fn axis(entry: &Entry) -> Axis {
    Axis {
        name: Spanned {
            value: entry.key.clone(),
            span: entry.key_span.clone(),
        },
        values: entry
            .value
            .items()
            .iter()
            .filter(|one| !one.is_null())
            .map(spanned)
            .collect(),
    }
}

fn setting(entry: &Entry) -> (Spanned<String>, Spanned<String>) {
    let name = Spanned {
        value: entry.key.clone(),
        span: entry.key_span.clone(),
    };
    (name, spanned(&entry.value))
}

fn combinations(node: &Node, key: &str) -> Vec<Combination> {
    node.items_of(key).map(combination).collect()
}

fn combination(node: &Node) -> Combination {
    let (reason, values): (Vec<&Entry>, Vec<&Entry>) = node
        .entries()
        .iter()
        .partition(|entry| entry.key == "reason");
    let reason = reason.first().and_then(|entry| entry.value.text());
    Combination {
        values: values.into_iter().map(setting).collect(),
        reason: reason.map(str::to_owned),
        span: node.span.clone(),
    }
}

fn mode(node: &Node) -> Option<Mode> {
    [Mode::Performance, Mode::Accuracy, Mode::Compliance]
        .into_iter()
        .find(|mode| node.text() == Some(&*mode.to_string()))
}

fn claim(node: &Node) -> Option<WrittenClaim> {
    let text = if node.text().is_some() {
        node
    } else {
        node.get("claim")?
    };
    Some(WrittenClaim {
        text: spanned(text),
        source: node.string("source"),
    })
}

/// The directory of a file, as its path was written; empty for one of the working directory.
fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(
        "",
        |(directory, _)| {
            if directory.is_empty() { "/" } else { directory }
        },
    )
}

/// A path as from the working directory; names of the catalog, ids and absolute paths stay.
fn from(directory: &str, written: &str) -> String {
    let relative = matches!(written.split('/').next(), Some("." | ".."));
    if !relative || directory.is_empty() {
        return written.to_owned();
    }
    let joined = format!(
        "{}/{}",
        directory.trim_end_matches('/'),
        written.trim_start_matches("./")
    );
    // A bare name would mean a built-in recipe.
    if joined.starts_with(['/', '.', '~']) {
        joined
    } else {
        format!("./{joined}")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("batch.yaml", "./mine.yaml", "./mine.yaml")]
    #[case("./batch.yaml", "./mine.yaml", "./mine.yaml")]
    #[case("some/batch.yaml", "./mine.yaml", "./some/mine.yaml")]
    #[case("/a/b/batch.yaml", "../mine.yaml", "/a/b/../mine.yaml")]
    #[case("/batch.yaml", "./mine.yaml", "/mine.yaml")]
    #[case("../batch.yaml", "./mine.yaml", "../mine.yaml")]
    #[case("some/batch.yaml", "mlperf-inference/x", "mlperf-inference/x")]
    #[case("some/batch.yaml", "/abs/x.yaml", "/abs/x.yaml")]
    fn paths_are_from_the_file(#[case] file: &str, #[case] written: &str, #[case] expected: &str) {
        assert_eq!(from(directory_of(file), written), expected);
    }
}
