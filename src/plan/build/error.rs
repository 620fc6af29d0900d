//! What the command line asks for and the recipe has not.

use thiserror::Error;

use retrial_recipe::expression::ExpressionError;

/// Why no plan could be made: the command line asks for something that the recipe has not.
#[derive(Debug, Error)]
pub enum PlanError {
    /// `--scenario` or `--mode` matches nothing.
    #[error("nothing is left to measure: {asked}\n  the recipe has: {has}")]
    NothingToMeasure {
        /// What was asked.
        asked: String,
        /// What there is.
        has: String,
    },
    /// `--scenario` names none of the recipe's.
    #[error("--scenario {name}: the recipe has no such scenario\n  it has: {has}")]
    NoSuchScenario {
        /// What was typed.
        name: String,
        /// The scenarios there are.
        has: String,
    },
    /// `--warmup` for a measurement that shares its command.
    #[error(
        "--warmup: {measurement} shares its command ({command}) with other scenarios or modes, of which a warm-up would be a judged trial\n  omit it: --scenario and --mode choose what is measured"
    )]
    SharedWarmup {
        /// `offline performance`
        measurement: String,
        /// The shared command.
        command: String,
    },
    /// `--skip` or `--from` names no step.
    #[error("{option} {name}: the plan has no such step{hint}\n  its steps: {has}")]
    NoSuchStep {
        /// The option.
        option: &'static str,
        /// What was typed.
        name: String,
        /// ` (did you mean …?)`
        hint: String,
        /// The steps there are.
        has: String,
    },
    /// `--gpus` with a recipe that asks for none, or with an index that the host has not.
    #[error("--gpus {gpus}: {reason}")]
    Gpus {
        /// What was typed.
        gpus: String,
        /// Why not.
        reason: String,
    },
    /// A recipe's secret that the command line does not allow.
    #[error(
        "the recipe needs the secret {name}, which is passed only on request\n  to pass it: --secret {name}"
    )]
    SecretNotAllowed {
        /// The variable.
        name: String,
    },
    /// A cached directory that cannot be one.
    #[error(
        "{step}: nothing can be cached as `{key}` at `{path}`\n  a key is a directory's name, a path is absolute and not the root"
    )]
    Cached {
        /// Which step.
        step: String,
        /// The key, rendered.
        key: String,
        /// The path, rendered.
        path: String,
    },
    /// A model's fetch is left out, and something needs what only the fetch tells.
    #[error(
        "{step} is skipped, and {user} uses models.{model}.commit, which is known only after the download\n  give the commit as the model's revision, or lock the recipe: retrial lock"
    )]
    CommitUnknown {
        /// The fetch.
        step: String,
        /// The step that names the commit.
        user: String,
        /// The model.
        model: String,
    },
    /// Programs look for the hub's cache in one place.
    #[error(
        "models {one} and {other}: `as: hub-cache` at two mounts, and programs read only one\n  give both the same `mount`, or none"
    )]
    HubCaches {
        /// A model.
        one: String,
        /// Another one.
        other: String,
    },
    /// An expression that cannot be evaluated.
    #[error("{place}: {source}")]
    Expression {
        /// Which key.
        place: String,
        /// Why.
        source: ExpressionError,
    },
}
