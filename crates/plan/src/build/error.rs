//! Requests of the command line that the recipe cannot satisfy.

use miette::Diagnostic;
use thiserror::Error;

use retrial_host::assign::AssignError;
use retrial_recipe::expression::ExpressionError;

/// Why no plan could be made: the command line requests something that the recipe does not have.
#[derive(Debug, Error, Diagnostic)]
pub enum PlanError {
    /// `--scenario` and `--mode` select no measurement of the recipe.
    #[error("no measurement is selected: {requested}")]
    #[diagnostic(help("the recipe has: {available}"))]
    NothingToMeasure {
        /// The requested options: `--scenario server --mode accuracy`.
        requested: String,
        /// The measurements of the recipe: `offline performance, …`.
        available: String,
    },
    /// `--scenario` names no scenario of the recipe.
    #[error("--scenario {name}: the recipe has no such scenario")]
    #[diagnostic(help("it has: {available}"))]
    NoSuchScenario {
        /// The value of `--scenario`.
        name: String,
        /// The scenarios of the recipe, comma-separated.
        available: String,
    },
    /// `--point` names no point of the recipe's sweeps.
    #[error("--point {value}: the recipe has no such point of a sweep")]
    #[diagnostic(help("{}", if available.is_empty() { "none of its measurements is swept" } else { available }))]
    NoSuchPoint {
        /// The value of `--point`.
        value: String,
        /// The points, comma-separated.
        available: String,
    },
    /// `--smoke-test` of a recipe that does not say how.
    #[error("--smoke-test: the recipe does not say what a smoke test changes (smoke_test)")]
    #[diagnostic(help(
        "shorten it by settings, --set NAME=VALUE, and by --mode performance; `retrial show` lists them"
    ))]
    NoSmokeTest,
    /// `--warmup` for a measurement that shares its command.
    #[error(
        "--warmup: {measurement} shares its command ({command}) with other scenarios or modes, of which a warm-up would be a judged trial"
    )]
    #[diagnostic(help("omit it: --scenario and --mode choose what is measured"))]
    SharedWarmup {
        /// The measurement, scenario and mode: `offline performance`.
        measurement: String,
        /// The key of the shared command in `commands`.
        command: String,
    },
    /// `--skip` or `--from` names no step of the plan.
    #[error("{option} {name}: the plan has no such step")]
    #[diagnostic(help("{suggestion}"))]
    NoSuchStep {
        /// The option that named it, `--skip` or `--from`.
        option: &'static str,
        /// The value of the option.
        name: String,
        /// The step that is probably meant, or the names of all.
        suggestion: String,
    },
    /// `--gpus` with a recipe that requires none.
    #[error("--gpus {gpus}: the recipe requires no GPUs (requires.gpus)")]
    NoGpusRequired {
        /// The value of `--gpus`.
        gpus: String,
    },
    /// `--gpus` with GPUs that the host does not have, or that the recipe does not let one choose.
    #[error("--gpus {gpus}: {source}")]
    #[diagnostic(forward(source))]
    Gpus {
        /// The value of `--gpus`.
        gpus: String,
        /// Why these GPUs cannot be used.
        source: AssignError,
    },
    /// The recipe needs a secret that the command line does not pass.
    #[error("the recipe needs the secret {name}, which is passed only on request")]
    #[diagnostic(help("to pass it: --secret {name}"))]
    SecretNotAllowed {
        /// The environment variable: `HF_TOKEN`.
        name: String,
    },
    /// A command on the host uses the recipe's directory, and not files in it.
    #[error("{step}: RETRIAL_RECIPE_DIR is not followed by the plain path of a file")]
    #[diagnostic(help(
        "name each file or directory: \"$RETRIAL_RECIPE_DIR/scripts\"; only these are copied into the run"
    ))]
    RecipeDirectory {
        /// The name of the step: `setup-build`.
        step: String,
    },
    /// A path next to the recipe that begins with an expression of the run.
    #[error("{path}: which file of the recipe it is, is known only during the run")]
    #[diagnostic(help(
        "write a directory before the expression: ./data/…; it is copied before the run"
    ))]
    UnknownCompanion {
        /// The path, absolute, with its expression.
        path: String,
    },
    /// A path that is to be copied, and not.
    #[error("{path} is named as a file next to the recipe, and as a path of the host")]
    #[diagnostic(help("name it in one way: ./… is copied, an absolute path is mounted as it is"))]
    NamedTwice {
        /// The path, absolute.
        path: String,
    },
    /// The key or the path of a cached directory is not usable.
    #[error("{step}: nothing can be cached as `{key}` at `{path}`")]
    #[diagnostic(help("a key is a directory's name, a path is absolute and not the root"))]
    Cached {
        /// The name of the step that populates the directory.
        step: String,
        /// The directory's key after its expressions were evaluated.
        key: String,
        /// The directory's path after its expressions were evaluated.
        path: String,
    },
    /// The download of a model is skipped, and a step needs the commit that only the download determines.
    #[error(
        "{step} is skipped, and {user} uses models.{model}.commit, which is known only after the download"
    )]
    #[diagnostic(help(
        "give the commit as the model's revision, or lock the recipe: retrial lock"
    ))]
    CommitUnknown {
        /// The name of the skipped step: `fetch-llama2`.
        step: String,
        /// The name of the step that uses the commit.
        user: String,
        /// The key of the model in the recipe.
        model: String,
    },
    /// Two models are mounted as hub caches at different paths; programs search for one cache only.
    #[error(
        "models {first} and {second}: `as: hub-cache` at two mounts, and programs read only one"
    )]
    #[diagnostic(help("give both the same `mount`, or none"))]
    HubCaches {
        /// The key of the first model.
        first: String,
        /// The key of a model with another mount.
        second: String,
    },
    /// An expression of the recipe has no value.
    #[error("{place}: {source}")]
    Expression {
        /// The key of the recipe that contains the expression.
        place: String,
        /// The expression, and why it has no value.
        source: ExpressionError,
    },
}
