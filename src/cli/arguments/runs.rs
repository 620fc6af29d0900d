//! Arguments of `runs`: filters, order and subcommands.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};

use super::name_and_value;
use crate::history::{Filter, Order, STATES};

/// Arguments of `runs`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArguments {
    /// A subcommand instead of listing.
    #[command(subcommand)]
    pub what: Option<RunsCommand>,
    /// Filters.
    #[command(flatten)]
    pub filter: RunFilter,
    /// Sort by this property, ascending: the newest, slowest or best run is last
    #[arg(long, value_enum, default_value_t)]
    pub sort: Order,
    /// List only the last COUNT runs
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub limit: Option<usize>,
}

/// Subcommands of `runs`.
#[derive(Debug, Clone, Subcommand)]
pub enum RunsCommand {
    /// Remove runs and their evidence
    Remove {
        /// Runs: ids, parts of them, or `last`
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Filters.
        #[command(flatten)]
        filter: RunFilter,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
        /// Print what would be removed, without removing it
        #[arg(long)]
        dry_run: bool,
        /// Also remove runs whose container may still exist
        #[arg(long)]
        force: bool,
    },
    /// Pack runs into an archive, to move them to another machine
    Pack {
        /// Runs: ids, parts of them, or `last`
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Filters.
        #[command(flatten)]
        filter: RunFilter,
        /// Write this archive, .tar or .tar.gz; it must not exist
        #[arg(short = 'o', long, value_name = "FILE", default_value = "runs.tar.gz")]
        to: PathBuf,
    },
    /// Import runs from archives of `runs pack`, or from run directories
    Import {
        /// Archives and run directories
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
}

/// Filters of runs. Each may be given several times; a run must match one value of each.
#[derive(Debug, Clone, Default, Args)]
pub struct RunFilter {
    /// Match a part of the recipe's name or title
    #[arg(long, value_name = "PART")]
    pub recipe: Vec<String>,
    /// Match the outcome: reproduced, not-reproduced, inconclusive, invalid, failed, measured,
    /// running, stopped, interrupted
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = state)]
    pub outcome: Vec<String>,
    /// Match a part of the batch's id
    #[arg(long, value_name = "PART")]
    pub batch: Vec<String>,
    /// Match the host's name
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Match the benchmark
    #[arg(long, value_name = "NAME")]
    pub benchmark: Vec<String>,
    /// Match the GPU model
    #[arg(long, value_name = "MODEL")]
    pub gpu: Vec<String>,
    /// Match a variant or a parameter; if given several times, all must match
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub settings: Vec<(String, String)>,
    /// Match runs started since this time: 2026-11-21, 2026-11-21T18:00, or an age: 12h, 7d
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub since: Option<Timestamp>,
    /// Match runs started before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub until: Option<Timestamp>,
}

impl From<RunFilter> for Filter {
    fn from(typed: RunFilter) -> Self {
        Self {
            ids: Vec::new(),
            recipe: typed.recipe,
            outcome: typed.outcome,
            batch: typed.batch,
            host: typed.host,
            benchmark: typed.benchmark,
            gpu: typed.gpu,
            settings: typed.settings,
            since: typed.since,
            until: typed.until,
        }
    }
}

fn state(text: &str) -> Result<String, String> {
    let word = text.trim().to_lowercase().replace(['-', '_'], " ");
    if STATES.contains(&word.as_str()) {
        return Ok(word);
    }
    Err(format!("expected one of {}", STATES.join(", ")))
}

/// A moment, as it is typed: local time where no zone is named.
fn time(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let now = Zoned::now();
    if let Ok(civil) = text.parse::<DateTime>() {
        let zoned = civil.to_zoned(now.time_zone().clone());
        return zoned
            .map(|zoned| zoned.timestamp())
            .map_err(|error| error.to_string());
    }
    let ago = text.trim_end_matches("ago").trim().parse::<Span>();
    let then = ago.ok().and_then(|ago| now.checked_sub(ago.abs()).ok());
    then.map(|then| then.timestamp()).ok_or_else(|| {
        "expected a date (2026-11-21), a time (2026-11-21T18:00), or how long ago (12h, 7d)"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2026-11-21")]
    #[case("2026-11-21T18:00")]
    #[case("2026-11-21T18:00:00Z")]
    #[case("12h")]
    #[case("7d")]
    #[case("2 weeks ago")]
    fn moments_are_typed_in_many_ways(#[case] text: &str) {
        assert!(time(text).is_ok(), "{text}: {:?}", time(text));
    }

    #[rstest]
    #[case("yesterday")]
    #[case("2026-13-01")]
    #[case("")]
    fn what_is_no_moment_is_reported(#[case] text: &str) {
        assert!(time(text).unwrap_err().contains("how long ago"));
    }

    #[test]
    fn a_week_ago_is_before_an_hour_ago() {
        assert!(time("7d").unwrap() < time("1h").unwrap());
    }

    #[test]
    fn outcomes_are_typed_with_a_hyphen() {
        assert_eq!(state("Not-Reproduced").unwrap(), "not reproduced");
        assert!(state("good").unwrap_err().contains("inconclusive"));
    }
}
