//! What cannot be taken over.

use miette::Diagnostic;
use thiserror::Error;

/// Why a command line is not a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum DockerRunError {
    /// There is none.
    #[error("no `docker run` commands in it")]
    #[diagnostic(help(
        "give the command line as the guide prints it, in single quotes, or a file of it"
    ))]
    NoRun,
    /// More than one.
    #[error("{count} `docker run` commands in it")]
    #[diagnostic(help("a recipe has one container: give one of them"))]
    ManyRuns {
        /// How many.
        count: usize,
    },
    /// An invisible character.
    #[error("invisible character U+{:04X} in the command line", u32::from(*.character))]
    #[diagnostic(help("copy it again as plain text"))]
    Control {
        /// The character.
        character: char,
    },
    /// A quote that is not closed.
    #[error("the quote {quote} at `{near}` is never closed")]
    OpenQuote {
        /// `'` or `"`.
        quote: char,
        /// Where it begins.
        near: String,
    },
    /// A command substitution.
    #[error("`{text}` needs a shell")]
    #[diagnostic(help("write what it prints in its place"))]
    Substitution {
        /// As written.
        text: String,
    },
    /// A pipe, a redirection.
    #[error("`{text}` belongs to the shell, not to `docker run`")]
    #[diagnostic(help("remove it, or put the command into `bash -c '…'`"))]
    Shell {
        /// As written.
        text: String,
    },
    /// A flag that Docker has not.
    #[error("docker run has no {flag}")]
    UnknownFlag {
        /// As written.
        flag: String,
        /// `did you mean --env?`, if one looks like it.
        #[help]
        suggestion: Option<String>,
    },
    /// A flag without its value.
    #[error("{flag} needs a value")]
    NoValue {
        /// As written.
        flag: String,
    },
    /// A value for a switch that is none.
    #[error("{flag}={value}: write true or false")]
    NoTruth {
        /// As written.
        flag: String,
        /// As written.
        value: String,
    },
    /// No image.
    #[error("no image follows the flags of `docker run`")]
    NoImage,
    /// A flag for which recipes have no key.
    #[error("{flag}: a recipe cannot express this yet")]
    #[diagnostic(help("{advice}"))]
    NoKey {
        /// As written, with its value.
        flag: String,
        /// What to do.
        advice: String,
    },
    /// A value that the recipe's key cannot hold, or a file that cannot be read.
    #[error("{flag} {value}: {reason}")]
    Value {
        /// The flag.
        flag: String,
        /// Its value.
        value: String,
        /// The problem and the remedy.
        reason: String,
    },
    /// The shell's directory where a recipe takes none.
    #[error("{flag}: `${{PWD}}` is not possible here")]
    #[diagnostic(help("write its value"))]
    Here {
        /// The flag, or what it stands in.
        flag: String,
    },
    /// A token as it is.
    #[error("{flag}: it contains a token of the Hugging Face hub")]
    #[diagnostic(help("write $HF_TOKEN in its place: a recipe contains no secrets"))]
    Token {
        /// The flag, or what it stands in.
        flag: String,
    },
    /// A secret where it would be written down.
    #[error("{flag}: `${{{name}}}` looks like a secret, and would be written to the recipe")]
    #[diagnostic(help("pass it on by --env {name}"))]
    Secret {
        /// The flag, or what it stands in.
        flag: String,
        /// The variable.
        name: String,
    },
    /// What a recipe would take for its own expression.
    #[error("`${{{{` in `{text}`: a recipe would read it as an expression")]
    Expression {
        /// The word.
        text: String,
    },
}
