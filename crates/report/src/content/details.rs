//! The details of a page below a verdict: charts, trials, rules, telemetry, environment, commands,
//! steps.

use itertools::Itertools as _;

use super::claims;
use super::figures::NOTHING;
use super::marks::{self, BAD};
use super::subject::{ReportSubject, StepReport};
use super::trials::with_warmups;
use crate::charts::{self, Chart};
use crate::document::{Block, Column, Section, Table, TableCell, Tone};
use crate::figure_title::figure_title;
use retrial_batch::verdict::CellRun;
use retrial_document::measures::format;
use retrial_results::verdict::comparison::Fact;
use retrial_results::verdict::{
    FigureValue, ResultVerdict, RuleCheck, StepOutcome, TrialVerdict, number,
};
use retrial_store::journal::StepEnd;
use retrial_telemetry::TelemetrySummary;

/// The most figures of a trial: the deciding and the judged ones first.
const MAX_TRIAL_FIGURES: usize = 4;
/// The most trials of a table: CSV and JSON have all.
const MAX_TRIAL_ROWS: usize = 200;
/// The most passed rules of a table.
const MAX_PASSED_RULES: usize = 200;
/// More facts of a group are folded, and of very many only the first are shown.
const MAX_UNFOLDED_FACTS: usize = 30;
const MAX_FACTS: usize = 5000;

/// The sections of a subject; without trials and passed rules if a page has very many.
pub(super) fn detail_sections(
    subject: &ReportSubject<'_>,
    charts: Vec<Chart>,
    in_full: bool,
) -> Vec<Block> {
    let results = &subject.entry.verdict.results;
    let results_in_full = results.iter().filter(move |_| in_full);
    let rule_results = results.iter();
    let rules = rule_results.flat_map(|result| self::rules_blocks(result, in_full));
    let whole = rule_table("Rules of the whole submission", subject.entry.rules);
    let commands = subject.commands.as_ref().map(|commands| {
        let lines = commands.lines().map(Into::into).collect();
        let script = Block::Verbatim("Commands".into(), lines);
        Block::folded("The run as a shell script", [script])
    });
    let verdict = subject.entry.verdict;
    let claims = in_full.then(|| claims::evidence_table(&verdict.claims, verdict.confidence));
    let sections = [
        Section::nonempty_block("Claims", claims.flatten()),
        Section::nonempty_block("Trials", results_in_full.flat_map(trials_blocks)),
        Section::nonempty_block("Charts", Block::charts(charts)),
        Section::nonempty_block("Rules", rules.chain(whole)),
        Section::nonempty_block("Telemetry", telemetry_blocks(subject, in_full)),
        Section::nonempty_block("Environment", environment_blocks(subject)),
        Section::nonempty_block("Commands", commands),
        Section::nonempty_block("Steps", steps_blocks(subject)),
    ];
    sections.into_iter().flatten().collect()
}

fn trials_blocks(result: &ResultVerdict) -> Vec<Block> {
    if result.trials.is_empty() {
        return Vec::new();
    }
    let caption = format!("{} {}: {}", result.scenario, result.mode, result.path);
    let empty_table = Table::builder(caption, with_warmups(result).take(MAX_TRIAL_ROWS));
    let trial_table = empty_table.head("trial", |(is_warmup, trial)| match is_warmup {
        true => format!("{} (warm-up)", trial.trial),
        false => trial.trial.to_string(),
    });
    let names = figure_names(result);
    let figure_table = names.iter().fold(trial_table, |table, name| {
        let unit = trial_unit(result, name);
        let column = Column::number(figure_title(name)).with_note(unit.name);
        table.column(column, |(_, trial)| format_trial_figure(trial, name, &unit))
    });
    let status_table = figure_table.status("status", |(_, trial)| trial_status(&trial.step));
    let table = status_table.status("rules", |(is_warmup, trial)| match is_warmup {
        true => "not judged".into(),
        false => marks::rules_cell(trial.valid),
    });
    let rest = result.trials.len().saturating_sub(MAX_TRIAL_ROWS);
    let rest = Block::omitted_note(rest, "more trial", "--output csv has all");
    table.into_block().into_iter().chain(rest).collect()
}

/// The figures of a table of trials: the deciding and the judged ones first.
fn figure_names(result: &ResultVerdict) -> Vec<&String> {
    let judged = result.judgements.iter().map(|judgement| &judgement.figure);
    let all = result.trials.iter().flat_map(|trial| trial.figures.keys());
    let names = result.deciding.iter().chain(judged).chain(all);
    let names = names.unique_by(|name| name.to_ascii_lowercase());
    names.take(MAX_TRIAL_FIGURES).collect()
}

/// The unit of a column of trials, which its head has.
struct TrialUnit<'a> {
    /// The unit that the logs have.
    logged: &'a str,
    /// The factor to the unit that is shown.
    factor: f64,
    name: &'a str,
}

/// The unit of a figure in all trials of a result: that of the result.
fn trial_unit<'a>(result: &'a ResultVerdict, name: &str) -> TrialUnit<'a> {
    let of_trials = with_warmups(result).filter_map(|(_, trial)| find_trial_figure(trial, name));
    let figure = result.figures.get(name).into_iter().chain(of_trials).next();
    let Some(FigureValue { value, unit, .. }) = figure else {
        return TrialUnit { logged: "", factor: 1.0, name: "" };
    };
    let (factor, name) = number::display_scale(unit, *value);
    TrialUnit { logged: unit, factor, name }
}

fn find_trial_figure<'a>(trial: &'a TrialVerdict, name: &str) -> Option<&'a FigureValue> {
    let mut figures = trial.figures.iter();
    figures.find_map(|(key, figure)| key.eq_ignore_ascii_case(name).then_some(figure))
}

fn format_trial_figure(trial: &TrialVerdict, name: &str, column: &TrialUnit<'_>) -> String {
    let Some(figure) = find_trial_figure(trial, name) else {
        return NOTHING.to_owned();
    };
    let text = if figure.unit == column.logged {
        number::format_grouped(figure.value * column.factor)
    } else {
        figure.to_string()
    };
    if trial.outlier_in.iter().any(|outlier| outlier == name) {
        return format!("{text} (outlier)");
    }
    text
}

fn trial_status(step: &StepOutcome) -> TableCell {
    let bad = |text: String| TableCell::with_tone(Tone::Bad, text);
    match step {
        StepOutcome::Finished => "done".into(),
        StepOutcome::Running => "running".into(),
        StepOutcome::Failed { reason, .. } => bad(format!("failed: {reason}")),
        StepOutcome::TimedOut { reason } => bad(format!("timed out {reason}")),
        StepOutcome::Stopped => bad("stopped with the run".to_owned()),
        StepOutcome::NotRun { reason } => bad(format!("not run: {reason}")),
        StepOutcome::NoNewResult { reason } => bad(format!("no new result: {reason}")),
    }
}

/// Violated rules as a table, passed ones folded.
fn rules_blocks(result: &ResultVerdict, in_full: bool) -> Vec<Block> {
    let rules = result.rules.iter();
    let (passed, notable): (Vec<&RuleCheck>, Vec<_>) = rules.partition(|rule| !rule.is_notable());
    let name = format!("{} {}", result.scenario, result.mode);
    let violated = notable.iter().any(|rule| !rule.passed);
    let title = if violated { "violated rules" } else { "warnings" };
    let table = rule_table(&format!("{name}: {title}"), notable);
    let summary = format!("{name}: {} passed", format::format_count(passed.len(), "rule"));
    let passed = match (passed.is_empty(), in_full) {
        (true, _) if table.is_some() => None,
        (true, _) | (false, false) => Some(Block::paragraph(format!("{summary}."))),
        (false, true) => {
            let some = passed.into_iter().take(MAX_PASSED_RULES);
            let table = rule_table(&format!("{name}: passed rules"), some);
            Some(Block::folded(summary, table))
        }
    };
    table.into_iter().chain(passed).collect()
}

fn rule_table<'a>(caption: &str, rules: impl IntoIterator<Item = &'a RuleCheck>) -> Option<Block> {
    let trial_of = |trial: Option<u32>| trial.map_or("all".to_owned(), |trial| trial.to_string());
    Table::builder(caption, rules)
        .head("rule", |rule| &rule.rule)
        .text("trial", |rule| trial_of(rule.trial))
        .text("measured", |rule| &rule.measured)
        .text("required", |rule| &rule.required)
        .status("result", |rule| marks::rule_cell(rule))
        .into_block()
}

fn telemetry_blocks(subject: &ReportSubject<'_>, in_full: bool) -> Vec<Block> {
    let results = subject.entry.verdict.results.iter();
    let watched_results = results.filter_map(|result| {
        let name = format!("{} {}", result.scenario, result.mode);
        Some((name, result.telemetry.as_ref()?))
    });
    let watched: Vec<(String, &TelemetrySummary)> = watched_results.collect();
    let mut blocks = Vec::from_iter(telemetry_table(&watched));
    for (name, summary) in &watched {
        let causes = summary.throttled_s.iter().flatten().filter(|(_, seconds)| **seconds > 0.0);
        blocks.extend(causes.map(|(cause, seconds)| {
            let time = format::format_duration(*seconds);
            Block::paragraph(format!("{name}: clocks were throttled by {cause} for {time}."))
        }));
    }
    let unwatched = watched.iter().filter(|(_, summary)| !summary.unwatched_machines.is_empty());
    blocks.extend(unwatched.map(|(name, summary)| {
        let machines = format::join_first(&summary.unwatched_machines, 5);
        let reason = format!("there are no samples of {machines}");
        Block::paragraph(format!("{name}: power and energy are unknown: {reason}."))
    }));
    if in_full {
        blocks.extend(Block::charts(charts::telemetry_charts(&subject.telemetry)));
    }
    blocks
}

/// A table of telemetry; columns without values are not shown.
fn telemetry_table(watched: &[(String, &TelemetrySummary)]) -> Option<Block> {
    let text = |value: Option<f64>, unit: &str| {
        let formatted =
            value.map(|value| number::format_figure((value * 10.0).round() / 10.0, unit));
        formatted.unwrap_or_default()
    };
    let size = |bytes: Option<u64>| bytes.map(format::format_bytes).unwrap_or_default();
    let each = |summary: &TelemetrySummary| {
        let each = summary.per_joule.as_ref();
        each.map(|each| number::format_figure(each.value, &each.unit))
    };
    let gpus = |summary: &TelemetrySummary| {
        let machines = match summary.machines {
            Some(machines) => format!(" of {}", format::format_count(machines, "machine")),
            None => String::new(),
        };
        (summary.gpus > 0).then(|| format!("{}{machines}", summary.gpus))
    };
    let cpus = |busy: Option<f64>| busy.map(|busy| format!("{busy:.2}")).unwrap_or_default();
    Table::builder("During the measurements, over all trials", watched)
        .head("scenario", |(name, _)| name)
        .number("sampled for", |(_, summary)| format::format_duration(summary.seconds))
        .number("GPUs", |(_, summary)| gpus(summary).unwrap_or_default())
        .number("mean power", |(_, summary)| text(summary.mean_power_w, "W"))
        .number("peak power", |(_, summary)| text(summary.peak_power_w, "W"))
        .number("energy", |(_, summary)| text(summary.energy_j, "J"))
        .number("per joule", |(_, summary)| each(summary).unwrap_or_default())
        .number("mean utilization", |(_, summary)| text(summary.mean_utilization, "%"))
        .number("mean clock", |(_, summary)| text(summary.mean_core_mhz, "MHz"))
        .number("peak temperature", |(_, summary)| text(summary.peak_temperature_c, "°C"))
        .number("peak GPU memory", |(_, summary)| size(summary.peak_vram))
        .number("CPUs in use", |(_, summary)| cpus(summary.mean_cpus))
        .number("peak container memory", |(_, summary)| size(summary.peak_memory))
        .into_block()
}

/// Renders all facts as one table; groups of very many are folded.
fn environment_blocks(subject: &ReportSubject<'_>) -> Vec<Block> {
    let mut all: Vec<&Fact> = subject.environment.iter().collect();
    all.sort_by_key(|fact| fact.group);
    let groups = all.chunk_by(|left, right| left.group == right.group);
    let (short, long): (Vec<&[&Fact]>, Vec<_>) =
        groups.partition(|facts| facts.len() <= MAX_UNFOLDED_FACTS);
    let table = |caption: &str, groups: &[&[&Fact]]| {
        let facts = groups.iter().flat_map(|facts| facts.iter().take(MAX_FACTS));
        Table::builder(caption, facts)
            .head("property", |fact| &fact.what)
            .text("value", |fact| &fact.value)
            .group_by(|fact| fact.group.heading().to_owned())
            .into_block()
    };
    let folded = long.into_iter().map(|facts| {
        let word = facts[0].group.heading();
        Block::folded(format!("{} {word}", facts.len()), table(word, &[facts]))
    });
    let short = table("Environment", &short);
    short.into_iter().chain(folded).collect()
}

fn steps_blocks(subject: &ReportSubject<'_>) -> Vec<Block> {
    let name = |step: &StepReport| format!("{:02} {}", step.number, step.name);
    let duration = |step: &StepReport| match step.end {
        None | Some((StepEnd::Skipped { .. }, _)) => NOTHING.to_owned(),
        Some((_, seconds)) => format::format_duration(seconds),
    };
    let table = Table::builder("Steps", &subject.steps)
        .head("step", |step| TableCell::from(name(step)).with_link(step.log.clone()))
        .status("status", |step| step_status(step))
        .number("duration", |step| duration(step));
    let tails = subject.steps.iter().filter_map(|step| {
        let Some((StepEnd::Failed { last_lines, .. }, _)) = &step.end else {
            return None;
        };
        let title = format!("Last output of {}", name(step));
        let lines = last_lines.iter().flat_map(|line| line.lines());
        let tail = Block::Verbatim(title.as_str().into(), lines.map(Into::into).collect());
        (!last_lines.is_empty()).then(|| Section::new_block(title, [tail]))
    });
    table.into_block().into_iter().chain(tails).collect()
}

fn step_status(step: &StepReport) -> TableCell {
    match step.end.as_ref().map(|(end, _)| end) {
        None => "not started".into(),
        Some(StepEnd::Done { .. }) => "done".into(),
        Some(StepEnd::Skipped { reason }) => format!("skipped: {reason}").into(),
        Some(StepEnd::Failed { reason, .. }) => TableCell::status(BAD, reason),
        Some(StepEnd::Stopped) => "stopped".into(),
    }
}

/// The runs of a cell of a batch, each with a link to its directory.
pub(super) fn runs_table(subject: &ReportSubject<'_>) -> Option<Block> {
    let evidence = |run: &CellRun| match &run.lost {
        None => "used".into(),
        Some(reason) => TableCell::status(BAD, reason),
    };
    Table::builder("Runs", &subject.runs)
        .head("run", |(run, path)| TableCell::from(&run.run).with_link(path.clone()))
        .number("trial", |(run, _)| run.trial.to_string())
        .status("evidence", |(run, _)| evidence(run))
        .into_block()
}
