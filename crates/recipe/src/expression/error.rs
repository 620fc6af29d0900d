//! Expressions that have no value. Pure.

use minijinja::ErrorKind;
use minijinja::value::ValueKind;
use thiserror::Error;

/// An expression that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("in `${{{{ {expression} }}}}`: {fault}")]
pub struct ExpressionError {
    /// The text between `${{` and `}}`, trimmed.
    pub expression: String,
    /// Why the expression has no value.
    pub fault: ExpressionFault,
}

/// The reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExpressionFault {
    #[error("`${{{{` is never closed by `}}}}`")]
    NotClosed,
    /// There is no text in it.
    #[error("the expression is empty")]
    Empty,
    /// A path whose name has no value.
    #[error("`{name}` is not defined")]
    Undefined {
        /// The name between `${{` and `}}`: `params.results`.
        name: String,
    },
    /// It is not valid, or an operator or filter of it failed.
    #[error("{kind}{}{}", if detail.is_empty() { "" } else { ": " }, detail)]
    Evaluation {
        /// The category of minijinja's error.
        kind: ErrorKind,
        /// The rest of minijinja's message, which may be empty.
        detail: String,
    },
    #[error("it evaluates to an undefined value")]
    UndefinedValue,
    /// A list, a map, or another value that has no text in a recipe.
    #[error("it evaluates to a {0}, not to text, a number or a boolean")]
    NotScalar(ValueKind),
}

impl From<minijinja::Error> for ExpressionFault {
    fn from(error: minijinja::Error) -> Self {
        Self::Evaluation {
            kind: error.kind(),
            detail: error.detail().unwrap_or_default().to_owned(),
        }
    }
}
