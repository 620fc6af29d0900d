//! What a page tells of a result besides its verdict: charts, trials, rules, telemetry, environment,
//! commands, steps.

use super::figures::NOTHING;
use super::marks::{self, BAD};
use super::page::{Step, Subject};
use crate::format;
use crate::report::charts::{self, Chart};
use crate::report::document::{Block, Cell, Column, Section, Table, Tone};
use crate::results::verdict::comparison::Fact;
use crate::results::verdict::{
    FigureValue, Outcome, ResultVerdict, RuleCheck, StepOutcome, TrialVerdict, number,
};
use crate::telemetry::Summary;

/// More figures of one result are those that are judged, and the deciding one.
const FIGURES: usize = 4;
/// More trials are not told one by one: the CSV and the JSON have them.
const TRIALS: usize = 200;
/// More rules that were passed are counted.
const RULES: usize = 200;
/// More facts of a kind are folded, and of very many the first are told.
const FEW: usize = 30;
const FACTS: usize = 5000;

/// The sections of a subject; without charts, trials and passed rules where a page has very many.
pub(super) fn sections(one: &Subject<'_>, in_full: bool) -> Vec<Block> {
    let verdict = one.entry.verdict;
    let results = &verdict.results;
    let mut sections = Vec::new();
    let mut add = |title: &str, blocks: Vec<Block>| {
        if !blocks.is_empty() {
            sections.push(Section::block(title, blocks));
        }
    };
    if in_full {
        let charts = results
            .iter()
            .flat_map(|result| charts::of_result(verdict, result));
        let charts: Vec<Chart> = charts.collect();
        add("Charts", Block::charts(charts).into_iter().collect());
        add("Trials", results.iter().flat_map(trials).collect());
    }
    let mut checked: Vec<Block> = results
        .iter()
        .map(|result| rules(result, in_full))
        .collect();
    if !one.entry.rules.is_empty() {
        checked.push(rule_table(
            "Rules of the submission as a whole",
            one.entry.rules,
        ));
    }
    add("Rules that were checked", checked);
    add("Telemetry", telemetry(one, in_full));
    add("Environment", environment(one));
    if let Some(commands) = &one.commands {
        let said = "What was run, as a script that can be pasted into a terminal.";
        let lines = commands.lines().map(Into::into).collect();
        let script = Block::Verbatim(format!("Commands of {}", one.name).into(), lines);
        let folded = Block::Folded("Show the script".into(), vec![script]);
        add("Commands", vec![Block::paragraph(said), folded]);
    }
    add("Steps and logs", steps(one));
    sections
}

fn trials(result: &ResultVerdict) -> Vec<Block> {
    if result.trials.is_empty() {
        return Vec::new();
    }
    let names = figure_names(result);
    let mut columns = vec![Column::head("trial")];
    columns.extend(names.iter().map(Column::number));
    columns.extend([Column::status("status"), Column::status("rules")]);
    let rows = result.trials.iter().take(TRIALS).map(|trial| {
        let mut cells = vec![trial.trial.to_string().into()];
        cells.extend(names.iter().map(|name| figure(result, trial, name).into()));
        cells.extend([status(&trial.step), marks::rule(trial.valid)]);
        cells
    });
    let (scenario, mode) = (&result.scenario, result.mode);
    let caption = format!("{scenario} {mode}, every trial ({})", result.path);
    let mut blocks = vec![Block::Table(Table::new(caption, columns, rows))];
    let rest = result.trials.len().saturating_sub(TRIALS);
    if rest > 0 {
        let rest = format::count(rest, "more trial");
        blocks.push(Block::paragraph(format!(
            "{rest}: --output csv has all of them."
        )));
    }
    blocks
}

/// The figures of a result that its table has: the deciding one and the judged ones first.
fn figure_names(result: &ResultVerdict) -> Vec<String> {
    let judged = result.judgements.iter().map(|one| &one.figure);
    let all = result.trials.iter().flat_map(|trial| trial.figures.keys());
    let mut names: Vec<String> = Vec::new();
    for name in result.deciding.iter().chain(judged).chain(all) {
        if names.len() < FIGURES && !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.clone());
        }
    }
    names
}

fn figure(result: &ResultVerdict, trial: &TrialVerdict, name: &str) -> String {
    let mut figures = trial.figures.iter();
    let found = figures.find(|(known, _)| known.eq_ignore_ascii_case(name));
    let Some((_, FigureValue { value, unit })) = found else {
        return NOTHING.to_owned();
    };
    // All trials in the unit that fits the result's.
    let like = result
        .figures
        .get(name)
        .map_or(*value, |figure| figure.value);
    let shown = number::figure_like(*value, unit, like);
    if trial.outlier_in.iter().any(|one| one == name) {
        return format!("{shown} (outlier)");
    }
    shown
}

fn status(step: &StepOutcome) -> Cell {
    let bad = |text: String| Cell::toned(Tone::Bad, text);
    match step {
        StepOutcome::Finished => "done".into(),
        StepOutcome::Failed { because, .. } => bad(format!("failed: {because}")),
        StepOutcome::TimedOut { because } => bad(format!("timed out {because}")),
        StepOutcome::NotRun { because } => bad(format!("not run: {because}")),
        StepOutcome::NoNewResult { because } => bad(format!("no new result: {because}")),
    }
}

/// What is violated stands open, what is passed is there to be looked up.
fn rules(result: &ResultVerdict, in_full: bool) -> Block {
    let (passed, violated): (Vec<RuleCheck>, Vec<RuleCheck>) =
        result.rules.iter().cloned().partition(|rule| rule.passed);
    let name = format!("{} {}", result.scenario, result.mode);
    let mut blocks = Vec::new();
    if !violated.is_empty() {
        blocks.push(rule_table(&format!("{name}: violated rules"), &violated));
    }
    let summary = format!("{} passed", format::count(passed.len(), "rule"));
    if passed.is_empty() || !in_full {
        blocks.push(Block::paragraph(format!("{summary}.")));
    } else {
        let some = &passed[..passed.len().min(RULES)];
        let table = rule_table(&format!("{name}: passed rules"), some);
        blocks.push(Block::Folded(summary.into(), vec![table]));
    }
    Section::block(name, blocks)
}

fn rule_table(caption: &str, rules: &[RuleCheck]) -> Block {
    let columns = vec![
        Column::head("rule"),
        Column::text("trial"),
        Column::text("measured"),
        Column::text("required"),
        Column::status("result"),
    ];
    let rows = rules.iter().map(|rule| {
        let trial = rule
            .trial
            .map_or("all".to_owned(), |trial| trial.to_string());
        vec![
            rule.rule.as_str().into(),
            trial.into(),
            rule.measured.as_str().into(),
            rule.required.as_str().into(),
            marks::rule(rule.passed),
        ]
    });
    Block::Table(Table::new(caption, columns, rows))
}

fn telemetry(one: &Subject<'_>, in_full: bool) -> Vec<Block> {
    let results = one.entry.verdict.results.iter();
    let seen: Vec<(&ResultVerdict, &Summary)> = results
        .filter_map(|result| Some((result, result.telemetry.as_ref()?)))
        .collect();
    let mut blocks = Vec::new();
    if !seen.is_empty() {
        blocks.push(summaries(&seen));
    }
    for (result, summary) in &seen {
        let causes = summary.throttled_s.iter().flatten();
        for (cause, seconds) in causes.filter(|(_, seconds)| **seconds > 0.0) {
            blocks.push(Block::paragraph(format!(
                "{} {}: {cause} throttled the clocks for {}.",
                result.scenario,
                result.mode,
                format::duration(*seconds)
            )));
        }
    }
    if in_full {
        blocks.extend(Block::charts(charts::of_telemetry(&one.telemetry)));
    }
    blocks
}

/// Columns that no sensor filled are empty, and not shown.
fn summaries(seen: &[(&ResultVerdict, &Summary)]) -> Block {
    let names = [
        "sampled for",
        "GPUs",
        "mean power",
        "peak power",
        "energy",
        "per joule",
        "mean utilization",
        "mean clock",
        "peak temperature",
        "peak memory of one GPU",
        "CPUs busy",
        "peak memory of the container",
    ];
    let columns = std::iter::once(Column::head("scenario"));
    let columns = columns.chain(names.map(Column::number)).collect();
    let rows = seen.iter().map(|(result, one)| {
        let shown = |value: Option<f64>, unit| {
            value.map(|value| number::figure((value * 10.0).round() / 10.0, unit))
        };
        let each = one.per_joule.as_ref();
        let values = [
            Some(format::duration(one.seconds)),
            (one.gpus > 0).then(|| one.gpus.to_string()),
            shown(one.mean_power_w, "W"),
            shown(one.peak_power_w, "W"),
            shown(one.energy_j, "J"),
            each.map(|each| number::figure(each.value, &each.unit)),
            shown(one.mean_utilization, "%"),
            shown(one.mean_core_mhz, "MHz"),
            shown(one.peak_temperature_c, "°C"),
            one.peak_vram.map(format::size),
            one.mean_cpus.map(|busy| format!("{busy:.2}")),
            one.peak_memory.map(format::size),
        ];
        let values = values
            .into_iter()
            .map(|value| value.unwrap_or_default().into());
        let name = format!("{} {}", result.scenario, result.mode);
        std::iter::once(name.into()).chain(values).collect()
    });
    let caption = "While it was measured, all trials together";
    Block::Table(Table::new(caption, columns, rows))
}

/// What an image has in it is looked up, not read.
fn environment(one: &Subject<'_>) -> Vec<Block> {
    let mut all: Vec<&Fact> = one.environment.iter().collect();
    all.sort_by_key(|fact| fact.group);
    let groups = all.chunk_by(|one, other| one.group == other.group);
    let tables = groups.map(|facts| {
        let group = facts[0].group.word();
        let rows = facts.iter().take(FACTS);
        let rows = rows.map(|fact| vec![fact.what.as_str().into(), fact.value.as_str().into()]);
        let columns = vec![Column::head("property"), Column::text("value")];
        let caption = format!("{}: {group}", one.name);
        let table = Block::Table(Table::new(caption, columns, rows));
        if facts.len() <= FEW {
            return table;
        }
        Block::Folded(format!("{group}: {}", facts.len()).into(), vec![table])
    });
    tables.collect()
}

fn steps(one: &Subject<'_>) -> Vec<Block> {
    if one.steps.is_empty() {
        return Vec::new();
    }
    let name = |step: &Step| format!("{:02} {}", step.number, step.name);
    let rows = one.steps.iter().map(|step| {
        vec![
            Cell::from(name(step)).linked(step.log.clone()),
            if step.failed {
                Cell::status(BAD, &step.status)
            } else {
                step.status.as_str().into()
            },
            step.seconds
                .map_or(NOTHING.to_owned(), format::duration)
                .into(),
        ]
    });
    let columns = vec![
        Column::head("step"),
        Column::status("status"),
        Column::number("duration"),
    ];
    let caption = format!("Steps of {}, each with its log", one.name);
    let mut blocks = vec![Block::Table(Table::new(caption, columns, rows))];
    for step in one.steps.iter().filter(|step| !step.tail.is_empty()) {
        let title = format!("Last lines of {}", name(step));
        let lines = step
            .tail
            .iter()
            .flat_map(|line| line.lines())
            .map(Into::into);
        let tail = Block::Verbatim(title.as_str().into(), lines.collect());
        blocks.push(Section::block(title, vec![tail]));
    }
    blocks
}

/// The runs of a cell of a batch, each with a way to its directory.
pub(super) fn runs(one: &Subject<'_>) -> Option<Block> {
    let rows = one.runs.iter().map(|run| {
        vec![
            Cell::from(run.name.as_str()).linked(run.path.clone()),
            run.trial.to_string().into(),
            match &run.lost {
                None => "used".into(),
                Some(because) => Cell::status(BAD, because),
            },
        ]
    });
    let columns = vec![
        Column::head("run"),
        Column::number("trial"),
        Column::status("evidence"),
    ];
    let table = Table::new(format!("Runs of {}", one.name), columns, rows);
    (!one.runs.is_empty()).then_some(Block::Table(table))
}

/// How many results ended how: `2 reproduced, 1 invalid`.
pub(super) fn counts(outcomes: impl Iterator<Item = Outcome>) -> String {
    let outcomes: Vec<Outcome> = outcomes.collect();
    let counts = Outcome::ALL.into_iter().filter_map(|outcome| {
        let count = outcomes.iter().filter(|one| **one == outcome).count();
        (count > 0).then(|| format!("{count} {outcome}"))
    });
    counts.collect::<Vec<_>>().join(", ")
}
