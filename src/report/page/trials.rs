//! Every trial, and every rule that was checked.

use super::Subject;
use super::frame::{Cell, Heading, below, part, table};
use crate::format;
use crate::report::markup::Markup;
use crate::verdict::{FigureValue, ResultVerdict, RuleCheck, StepOutcome, TrialVerdict, number};

/// More figures of one result are those that are judged, and the deciding one.
const FIGURES: usize = 4;
/// More trials are not told one by one: the CSV and the JSON have them.
const TRIALS: usize = 200;
/// More rules that were kept are counted.
const RULES: usize = 200;

pub(super) fn section(
    main: &mut Markup,
    one: &Subject<'_>,
    heading: Heading,
    number: usize,
    in_full: bool,
) {
    let results = &one.entry.verdict.results;
    if results.is_empty() {
        return;
    }
    if in_full {
        part(main, heading, "Trials", |main| {
            for result in results {
                trials(main, result);
            }
        });
    }
    part(main, heading, "Rules that were checked", |main| {
        for result in results {
            rules(main, result, heading, in_full);
        }
        of_the_whole(main, one.entry.rules, number);
    });
}

fn trials(main: &mut Markup, result: &ResultVerdict) {
    if result.trials.is_empty() {
        return;
    }
    let names = shown(result);
    let mut head = vec!["trial"];
    head.extend(names.iter().map(String::as_str));
    head.extend(["how it ended", "rules"]);
    let rows = result.trials.iter().take(TRIALS).map(|trial| {
        let mut cells = vec![Cell::Head(trial.trial.to_string())];
        cells.extend(names.iter().map(|name| figure(result, trial, name)));
        cells.push(ended(&trial.step));
        cells.push(if trial.valid {
            Cell::News("good", "✓ kept".to_owned())
        } else {
            Cell::News("bad", "! broken".to_owned())
        });
        cells
    });
    let (scenario, mode) = (&result.scenario, result.mode);
    let caption = format!("{scenario} {mode}, every trial ({})", result.path);
    table(main, &caption, &head, rows);
    let rest = result.trials.len().saturating_sub(TRIALS);
    if rest > 0 {
        let said = format!(
            "And {}: --output csv has them all.",
            format::count(rest, "more trial")
        );
        main.leaf("p", &[], &said);
    }
}

/// The figures of a result that its table has: the judged ones and the deciding one first.
fn shown(result: &ResultVerdict) -> Vec<String> {
    let judged = result.judgements.iter().map(|one| one.figure.clone());
    let mut names: Vec<String> = result.deciding.iter().cloned().chain(judged).collect();
    let all = result.trials.iter().flat_map(|trial| trial.figures.keys());
    names.extend(all.cloned());
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if seen.len() < FIGURES && !seen.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            seen.push(name);
        }
    }
    seen
}

fn figure(result: &ResultVerdict, trial: &TrialVerdict, name: &str) -> Cell {
    let mut figures = trial.figures.iter();
    let found = figures.find(|(known, _)| known.eq_ignore_ascii_case(name));
    let outlier = trial.outlier_in.iter().any(|one| one == name);
    let Some((_, FigureValue { value, unit })) = found else {
        return Cell::Number("–".to_owned());
    };
    // All trials in the unit that fits the result's.
    let like = result
        .figures
        .get(name)
        .map_or(*value, |figure| figure.value);
    let shown = number::figure_like(*value, unit, like);
    Cell::Number(if outlier {
        format!("{shown} (far from the others)")
    } else {
        shown
    })
}

fn ended(step: &StepOutcome) -> Cell {
    let bad = |text: String| Cell::News("bad", text);
    match step {
        StepOutcome::Finished => Cell::Text("done".to_owned()),
        StepOutcome::Failed { because, .. } => bad(format!("failed: {because}")),
        StepOutcome::TimedOut { because } => bad(format!("timed out {because}")),
        StepOutcome::NotRun { because } => bad(format!("did not run: {because}")),
        StepOutcome::NoNewResult { because } => bad(format!("no new result: {because}")),
    }
}

/// What is broken stands open, what is kept is there to be looked up.
fn rules(main: &mut Markup, result: &ResultVerdict, heading: Heading, in_full: bool) {
    let (kept, broken): (Vec<&RuleCheck>, Vec<&RuleCheck>) =
        result.rules.iter().partition(|rule| rule.passed);
    let name = format!("{} {}", result.scenario, result.mode);
    below(main, heading, &name);
    if !broken.is_empty() {
        let caption = format!("{name}: rules that are broken");
        table(main, &caption, &HEAD, broken.into_iter().map(rule));
    }
    let count = format::count(kept.len(), "rule");
    if kept.is_empty() || !in_full {
        main.leaf("p", &[], &format!("{count} kept."));
        return;
    }
    main.element("details", &[], |details| {
        details.leaf("summary", &[], &format!("{count} kept"));
        let caption = format!("{name}: rules that are kept");
        table(
            details,
            &caption,
            &HEAD,
            kept.into_iter().take(RULES).map(rule),
        );
    });
}

const HEAD: [&str; 5] = ["rule", "trial", "found", "asked", ""];

fn rule(rule: &RuleCheck) -> Vec<Cell> {
    vec![
        Cell::Head(rule.rule.clone()),
        Cell::Text(
            rule.trial
                .map_or("all".to_owned(), |trial| trial.to_string()),
        ),
        Cell::Text(rule.found.clone()),
        Cell::Text(rule.asked.clone()),
        if rule.passed {
            Cell::News("good", "✓ kept".to_owned())
        } else {
            Cell::News("bad", "! broken".to_owned())
        },
    ]
}

fn of_the_whole(main: &mut Markup, rules: &[RuleCheck], number: usize) {
    if !rules.is_empty() {
        let caption = format!("rules of the whole submission of result {}", number + 1);
        table(main, &caption, &HEAD, rules.iter().map(rule));
    }
}
