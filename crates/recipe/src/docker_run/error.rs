//! Errors of a guide's block that cannot be converted into a recipe.

use miette::Diagnostic;
use thiserror::Error;

use super::value_error::FlagValueError;

/// The reason why a block cannot be converted into a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum DockerRunError {
    /// The block has no `docker run`.
    #[error("no `docker run` commands in it")]
    #[diagnostic(help(
        "give the command line as the guide prints it, in single quotes, or a file of it"
    ))]
    NoRun,
    /// The block has more than one `docker run`.
    #[error("{count} `docker run` commands in it")]
    #[diagnostic(help("a recipe has one container: give one of them"))]
    ManyRuns {
        /// The number of `docker run` commands in the block.
        count: usize,
    },
    /// An invisible character, for example a zero-width space.
    #[error("invisible character U+{:04X} in the command line", u32::from(*.character))]
    #[diagnostic(help("copy it again as plain text"))]
    Control {
        /// The invisible character, shown by its code point.
        character: char,
    },
    /// A quote without its end.
    #[error("the quote {quote} at `{near}` is never closed")]
    OpenQuote {
        /// The opening quote: `'` or `"`.
        quote: char,
        /// The text after the opening quote, at most 20 characters.
        near: String,
    },
    /// A command substitution, which only a shell can evaluate.
    #[error("`{text}` needs a shell")]
    #[diagnostic(help("write what it prints in its place"))]
    Substitution {
        /// The substitution as written: `$(id -u)`.
        text: String,
    },
    /// A pipe, a redirection or a background process.
    #[error("`{text}` belongs to the shell, not to `docker run`")]
    #[diagnostic(help("remove it, or put the command into `bash -c '…'`"))]
    Shell {
        /// The character as written: `|`.
        text: String,
    },
    /// A flag that `docker run` does not have.
    #[error("docker run has no {flag}")]
    UnknownFlag {
        /// The flag with its dashes: `--devices`.
        flag: String,
        /// `did you mean --env?`, if one looks like it.
        #[help]
        suggestion: Option<String>,
    },
    /// A flag without the value that it needs.
    #[error("{flag} needs a value")]
    NoValue {
        /// The flag with its dashes.
        flag: String,
    },
    /// A switch with a value that is not a boolean.
    #[error("{flag}={value}: write true or false")]
    NoTruth {
        /// The flag with its dashes.
        flag: String,
        /// The value after `=`.
        value: String,
    },
    /// A `docker run` without an image.
    #[error("no image follows the flags of `docker run`")]
    NoImage,
    /// A flag for which recipes have no key.
    #[error("{flag}: a recipe cannot express this yet")]
    #[diagnostic(help("{advice}"))]
    NoKey {
        /// The flag with its value, as written.
        flag: String,
        /// How to continue without the flag.
        advice: String,
    },
    /// A value that the recipe's key does not accept, or a file that cannot be read.
    #[error("{flag} {value}: {reason}")]
    #[diagnostic(forward(reason))]
    Value {
        /// The flag with its dashes.
        flag: String,
        /// The value as written.
        value: String,
        /// Why the value is not accepted.
        reason: FlagValueError,
    },
    /// The shell's working directory in a value that cannot be relative.
    #[error("{flag}: `${{PWD}}` is not possible here")]
    #[diagnostic(help("write its value"))]
    WorkingDirectory {
        /// The flag, or the part of the command line.
        flag: String,
    },
    /// A token of the Hugging Face hub, written out.
    #[error("{flag}: it contains a token of the Hugging Face hub")]
    #[diagnostic(help("write $HF_TOKEN in its place: a recipe contains no secrets"))]
    Token {
        /// The flag, or the part of the command line.
        flag: String,
    },
    /// A secret variable whose value would be written to the recipe.
    #[error("{flag}: `${{{name}}}` looks like a secret, and would be written to the recipe")]
    #[diagnostic(help("pass it on by --env {name}"))]
    Secret {
        /// The flag, or the part of the command line.
        flag: String,
        /// The name of the secret variable.
        name: String,
    },
    /// Text that a recipe would read as an expression of its own.
    #[error("`${{{{` in `{text}`: a recipe would read it as an expression")]
    Expression {
        /// The word that contains `${{`.
        text: String,
    },
}
