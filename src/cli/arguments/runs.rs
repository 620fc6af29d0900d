//! Arguments of `runs`: which of them, in which order, and what to do with them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};

use super::name_and_value;
use crate::history::{Filter, Order, STATES};

/// What `runs` does.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArguments {
    /// Something else than to list them.
    #[command(subcommand)]
    pub what: Option<RunsCommand>,
    /// Which
    #[command(flatten)]
    pub filter: RunFilter,
    /// By what they are ordered; the last one is the newest, the slowest, the best
    #[arg(long, value_enum, default_value_t)]
    pub sort: Order,
    /// Only the last so many
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub limit: Option<usize>,
}

/// What can be done with runs.
#[derive(Debug, Clone, Subcommand)]
pub enum RunsCommand {
    /// Remove runs, with all of their evidence
    Remove {
        /// The runs: ids, parts of them, or `last`
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Which
        #[command(flatten)]
        filter: RunFilter,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
        /// Also runs whose container may still be there
        #[arg(long)]
        force: bool,
    },
    /// Put runs into one archive, for another machine
    Pack {
        /// The runs: ids, parts of them, or `last`
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Which
        #[command(flatten)]
        filter: RunFilter,
        /// The archive: .tar or .tar.gz; it must not be there yet
        #[arg(short = 'o', long, value_name = "FILE", default_value = "runs.tar.gz")]
        to: PathBuf,
    },
    /// Take in runs of another machine: archives that `runs pack` made, or run directories
    Import {
        /// Archives and run directories
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
}

/// Which runs: each may be given several times, and one of each must fit.
#[derive(Debug, Clone, Default, Args)]
pub struct RunFilter {
    /// Of this recipe: a part of its name or title
    #[arg(long, value_name = "PART")]
    pub recipe: Vec<String>,
    /// That stand so: reproduced, not-reproduced, inconclusive, invalid, failed, measured, running,
    /// stopped, interrupted
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = state)]
    pub outcome: Vec<String>,
    /// Of this batch: a part of its id
    #[arg(long, value_name = "PART")]
    pub batch: Vec<String>,
    /// On this machine
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Of this benchmark
    #[arg(long, value_name = "NAME")]
    pub benchmark: Vec<String>,
    /// On GPUs of this model
    #[arg(long, value_name = "MODEL")]
    pub gpu: Vec<String>,
    /// With this variant or parameter; of several, all must fit
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub settings: Vec<(String, String)>,
    /// Begun since then: 2026-11-21, 2026-11-21T18:00, or how long ago: 12h, 7d
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub since: Option<Timestamp>,
    /// Begun before then
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
    fn what_is_no_moment_is_told(#[case] text: &str) {
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
