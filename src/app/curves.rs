//! Published rows of serving curves: as a recipe, and checked by themselves.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use itertools::Itertools as _;
use serde_json::json;

use super::failure::Failure;
use super::options::{GlobalOptions, OutputFormat};
use super::terminal;
use retrial_document::measures::format;
use retrial_report::document::{Block, StatusMark, Table, TableCell};
use retrial_results::verdict::{ExitCode, Outcome, RuleCheck, number};
use retrial_submission::curves::recipe::{self, WriteError};
use retrial_submission::curves::{
    Configuration, Curve, CurveError, PublishedRow, RowFilter, RowsError, read_rows,
};

/// The largest file of rows that is read: a day of all configurations has some 10 MB.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The published rows of which a recipe is made.
#[derive(Debug, Clone, Default, Args)]
pub struct CurveRequest {
    /// Write the recipe of a serving curve that InferenceX published: an answer of its API, `agg_bmk.json` of a workflow, or a row;
    /// - for standard input
    #[arg(long, value_name = "ROWS", conflicts_with_all = ["from", "from_results", "from_recipe"])]
    pub from_inferencex: Option<PathBuf>,
    /// How the server of these rows was started: a recipe of srt-slurm, schema 2
    #[arg(long, value_name = "FILE", requires = "from_inferencex")]
    pub config: Option<PathBuf>,
    /// Choose rows by a member: `hardware=mi300x`, `isl=8192`, `date=2026-05-18`
    #[arg(long = "row", value_name = "NAME=VALUE", requires = "from_inferencex")]
    pub rows: Vec<RowFilter>,
}

/// Returns the recipe of the curve that a request selects, without notes.
///
/// # Errors
/// The file has no rows, they are of several configurations, or the configuration is another one.
pub fn write_recipe(request: &CurveRequest) -> Result<(String, Vec<String>), Failure> {
    let file = request.from_inferencex.as_deref().unwrap_or(Path::new("-"));
    let rows = read_file_of_rows(file)?;
    let curve = Curve::select(&rows, &request.rows).map_err(|error| refuse_curve(file, &error))?;
    let configuration = request.config.as_deref().map(|path| {
        let text = read_text(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Configuration::read(&name, &text).map_err(|error| {
            Failure::usage(format!("{}: {error}", path.display()))
                .with_help("InferenceX keeps them in benchmarks/single_node/srt-slurm-recipes")
        })
    });
    let configuration = configuration.transpose()?;
    let text = recipe::write_recipe(&curve, configuration.as_ref()).map_err(|error| match error {
        WriteError::Curve(error) => refuse_curve(file, &error),
        WriteError::Configuration { .. } => Failure::usage(error.to_string())
            .with_help("take the configuration of the rows' date and image, or none: the server's command is a param then"),
    })?;
    Ok((text, Vec::new()))
}

fn refuse_curve(file: &Path, error: &CurveError) -> Failure {
    let failure = Failure::usage(format!("{}: {error}", file.display()));
    match error {
        CurveError::Several { differing, .. } => {
            let choices =
                differing.iter().map(|(name, values)| format!("  {name}: {}", values.join(", ")));
            let choices = choices.collect::<Vec<String>>().join("\n");
            failure
                .with_help(format!("choose one with --row NAME=VALUE, several times:\n{choices}"))
        }
        CurveError::NoMatch => failure.with_help("retrial judge ROWS lists all"),
        CurveError::Repeated(_) => failure.with_help("keep the rows of one run in the file"),
        CurveError::Impossible { .. } => failure.with_help("retrial judge ROWS checks all of them"),
        CurveError::Distributed | CurveError::UnknownGpu { .. } => failure,
    }
}

/// Checks the rows of a file by themselves, and prints what is found.
///
/// # Errors
/// The file has no rows.
pub fn check_and_print(global: &GlobalOptions, file: &Path) -> Result<ExitCode, Failure> {
    let rows = read_file_of_rows(file)?;
    let checked: Vec<(&PublishedRow, Vec<RuleCheck>)> =
        rows.iter().map(|row| (row, row.check())).collect();
    let impossible = checked.iter().filter(|(_, checks)| !is_possible(checks)).count();
    let exit = if impossible == 0 { ExitCode::Success } else { ExitCode::NotReproduced };
    if global.output == OutputFormat::Json {
        let rows = checked.iter().map(|(row, checks)| {
            json!({ "row": describe(row), "possible": is_possible(checks), "rules": checks })
        });
        terminal::print_pretty_json(&json!({ "rows": rows.collect::<Vec<_>>() }));
        return Ok(exit);
    }
    let table = Table::builder("", &checked)
        .head("configuration", |(row, _)| describe_configuration(row))
        .number("concurrency", |(row, _)| row.concurrency.to_string())
        .number("tokens/s per GPU", |(row, _)| show_metric(row, "tput_per_gpu", 1.0))
        .number("tpot_p50 (ms)", |(row, _)| show_metric(row, "median_tpot", 1e3))
        .status("numbers", |(_, checks)| {
            let (outcome, word) = if is_possible(checks) {
                (Outcome::Reproduced, "agree")
            } else {
                (Outcome::Invalid, "impossible")
            };
            TableCell::status(StatusMark::from(outcome), word)
        });
    terminal::print_blocks(&table.into_block().into_iter().collect::<Vec<Block>>());
    terminal::print_lines(describe_violations(&checked));
    terminal::print_lines(describe_warnings(&checked));
    let count = format::format_count(rows.len(), "row");
    terminal::print_lines([format!("{count}, {impossible} of numbers that contradict each other")]);
    Ok(exit)
}

fn describe_violations(checked: &[(&PublishedRow, Vec<RuleCheck>)]) -> Vec<String> {
    let of_rows = checked.iter().enumerate().flat_map(|(at, (row, checks))| {
        let violated = checks.iter().filter(|check| !check.passed);
        violated.map(move |check| {
            let RuleCheck { rule, measured, required, .. } = check;
            let sign = StatusMark::from(check).sign;
            format!(
                "{sign} row {} ({}): {rule}: {measured}; required {required}",
                at + 1,
                describe(row)
            )
        })
    });
    of_rows.collect()
}

/// A line for each rule: many rows have the same.
fn describe_warnings(checked: &[(&PublishedRow, Vec<RuleCheck>)]) -> Vec<String> {
    let numbered = checked.iter().enumerate();
    let warned =
        numbered.flat_map(|(at, (_, checks))| checks.iter().map(move |check| (at + 1, check)));
    let warned: Vec<(usize, &RuleCheck)> = warned.filter(|(_, check)| check.warning).collect();
    let rules = warned.iter().map(|(_, check)| &check.rule).unique();
    let lines = rules.filter_map(|rule| {
        let of_rule = warned.iter().filter(|(_, check)| check.rule == *rule);
        let (row, check) = of_rule.clone().next()?;
        let others = of_rule.count() - 1;
        let sign = StatusMark::from(*check).sign;
        let others =
            (others > 0).then(|| format!(", and {} likewise", format::format_count(others, "row")));
        let others = others.unwrap_or_default();
        Some(format!(
            "{sign} {rule}: {}; expected {} (row {row}{others})",
            check.measured, check.required
        ))
    });
    lines.collect()
}

fn is_possible(checks: &[RuleCheck]) -> bool {
    checks.iter().all(|check| check.passed)
}

fn show_metric(row: &PublishedRow, name: &str, factor: f64) -> String {
    row.metric(name).map(|value| number::format_grouped(value * factor)).unwrap_or_default()
}

fn describe_configuration(row: &PublishedRow) -> String {
    let of = |name| row.member(name).unwrap_or("?");
    let [hardware, framework, precision] = ["hardware", "framework", "precision"].map(of);
    format!(
        "{hardware} {framework} {} {precision} tp{} {}/{}",
        of("model"),
        of("tp"),
        of("isl"),
        of("osl")
    )
}

fn describe(row: &PublishedRow) -> String {
    format!("{} at {}", describe_configuration(row), row.concurrency)
}

fn read_file_of_rows(file: &Path) -> Result<Vec<PublishedRow>, Failure> {
    let text = read_text(file)?;
    read_rows(&text).map_err(|error| {
        let help = match error {
            RowsError::Json(_) => "save the answer of the API as it is",
            RowsError::Missing { .. } | RowsError::NoRows => {
                "rows are those of InferenceX's /api/v1/benchmarks, or of an agg_bmk.json"
            }
        };
        Failure::usage(format!("{}: {error}", file.display())).with_help(help)
    })
}

/// Reads a file, or standard input for `-`.
fn read_text(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().take(MAX_FILE_BYTES).read_to_string(&mut text)
    } else {
        std::fs::File::open(file)
            .and_then(|opened| opened.take(MAX_FILE_BYTES).read_to_string(&mut text))
    };
    read.map_err(|error| {
        let failure = Failure::usage(format!("failed to read {}: {error}", file.display()));
        if file.to_string_lossy().contains("://") {
            return failure.with_help(format!(
                "no request is sent: curl -fsS '{}' | retrial new NAME --from-inferencex -",
                file.display()
            ));
        }
        failure
    })?;
    Ok(text)
}
