//! Arguments of `runs`: filters, order and subcommands.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use retrial_history::{RunFilter, SortKey};

/// Which runs are listed, and in which order; or a subcommand.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArguments {
    /// A subcommand instead of listing.
    #[command(subcommand)]
    pub what: Option<RunsCommand>,
    /// Filters that the listed runs match.
    #[command(flatten)]
    pub filter: RunFilter,
    /// Sort by this property, ascending: the newest, slowest or best run is last
    #[arg(long, value_enum, default_value_t)]
    pub sort: SortKey,
    /// List each run of a batch, instead of one row for the batch
    #[arg(long)]
    pub flat: bool,
    /// List only the last COUNT runs
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub limit: Option<NonZeroUsize>,
}

/// Options of `runs remove`.
#[derive(Debug, Clone, Copy, Args)]
pub struct RemoveOptions {
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Print what would be removed, without removing it
    #[arg(long)]
    pub dry_run: bool,
    /// Also remove runs whose container may still exist
    #[arg(long)]
    pub force: bool,
}

/// The subcommands of `runs`.
#[derive(Debug, Clone, Subcommand)]
pub enum RunsCommand {
    /// Remove runs and their evidence
    Remove {
        /// Runs: ids, parts of them, `last` or `last~1`
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Filters that the removed runs must match, too.
        #[command(flatten)]
        filter: RunFilter,
        /// How they are removed.
        #[command(flatten)]
        options: RemoveOptions,
    },
    /// Pack runs into an archive, to move them to another machine, or one run for others to verify
    Pack {
        /// Runs: ids, parts of them, `last` or `last~1`
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Filters that the packed runs must match, too.
        #[command(flatten)]
        filter: RunFilter,
        /// Write this archive, which must not exist: .tar or .tar.gz; .tar.zst for one run that others can
        /// verify (default: runs.tar.gz, with --sign RUN.tar.zst)
        #[arg(short = 'o', long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// Sign the evidence of one run with this SSH key (ed25519 or RSA): a private key, or the public key of
        /// one in ssh-agent
        #[arg(long, value_name = "KEY")]
        sign: Option<PathBuf>,
    },
    /// Import runs from archives of `runs pack`, or from run directories
    Import {
        /// Archives and run directories
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
}
