//! Requests of the command line that the recipe cannot satisfy.

use miette::Diagnostic;
use thiserror::Error;

use retrial_recipe::expression::ExpressionError;

/// Why no plan could be made: the command line requests something that the recipe does not have.
#[derive(Debug, Error, Diagnostic)]
pub enum PlanError {
    /// `--scenario` or `--mode` matches nothing.
    #[error("nothing is left to measure: {requested}")]
    #[diagnostic(help("the recipe has: {available}"))]
    NothingToMeasure {
        /// The request.
        requested: String,
        /// The recipe's measurements.
        available: String,
    },
    /// `--scenario` names none of the recipe's.
    #[error("--scenario {name}: the recipe has no such scenario")]
    #[diagnostic(help("it has: {available}"))]
    NoSuchScenario {
        /// The argument.
        name: String,
        /// The recipe's scenarios.
        available: String,
    },
    /// `--warmup` for a measurement that shares its command.
    #[error(
        "--warmup: {measurement} shares its command ({command}) with other scenarios or modes, of which a warm-up would be a judged trial"
    )]
    #[diagnostic(help("omit it: --scenario and --mode choose what is measured"))]
    SharedWarmup {
        /// `offline performance`
        measurement: String,
        /// The shared command.
        command: String,
    },
    /// `--skip` or `--from` names no step.
    #[error("{option} {name}: the plan has no such step{hint}")]
    #[diagnostic(help("its steps: {has}"))]
    NoSuchStep {
        /// The option.
        option: &'static str,
        /// The argument.
        name: String,
        /// ` (did you mean …?)`
        hint: String,
        /// The plan's steps.
        has: String,
    },
    /// `--gpus` with a recipe that requires none, or with an index that the host does not have.
    #[error("--gpus {gpus}: {reason}")]
    Gpus {
        /// The argument.
        gpus: String,
        /// The reason.
        reason: String,
    },
    /// A recipe's secret that the command line does not allow.
    #[error("the recipe needs the secret {name}, which is passed only on request")]
    #[diagnostic(help("to pass it: --secret {name}"))]
    SecretNotAllowed {
        /// The variable.
        name: String,
    },
    /// An invalid path of a cached directory.
    #[error("{step}: nothing can be cached as `{key}` at `{path}`")]
    #[diagnostic(help("a key is a directory's name, a path is absolute and not the root"))]
    Cached {
        /// The step.
        step: String,
        /// The key, rendered.
        key: String,
        /// The path, rendered.
        path: String,
    },
    /// A model's fetch is skipped, and a step needs the commit that only the fetch determines.
    #[error(
        "{step} is skipped, and {user} uses models.{model}.commit, which is known only after the download"
    )]
    #[diagnostic(help(
        "give the commit as the model's revision, or lock the recipe: retrial lock"
    ))]
    CommitUnknown {
        /// The fetch.
        step: String,
        /// The step that names the commit.
        user: String,
        /// The model.
        model: String,
    },
    /// Programs search for the hub's cache in one place only.
    #[error(
        "models {first} and {second}: `as: hub-cache` at two mounts, and programs read only one"
    )]
    #[diagnostic(help("give both the same `mount`, or none"))]
    HubCaches {
        /// A model.
        first: String,
        /// Another model.
        second: String,
    },
    /// An expression that cannot be evaluated.
    #[error("{place}: {source}")]
    Expression {
        /// The key.
        place: String,
        /// The cause.
        source: ExpressionError,
    },
}
