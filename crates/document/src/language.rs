//! The parts of a language other than keys and values.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::field_type::{Key, Object, Scope};
use crate::formats::{Mismatch, StringFormat};
use crate::node::{Entry, Node, Scalar};
use crate::source::Span;

/// A language's additions to its documents. The defaults are those of a plain one: no expressions,
/// no overlays, every required key in the document itself.
pub trait Language {
    /// Reports undefined names in a text's expressions. Returns whether the text can be evaluated
    /// already.
    fn check_expressions(
        &mut self,
        _scalar: &Scalar,
        _span: &Span,
        _scope: Scope,
        _problems: &mut Diagnostics,
    ) -> bool {
        true
    }

    /// Returns a scalar with its expressions replaced by their values.
    ///
    /// # Errors
    /// An expression has no value.
    fn evaluate(&self, scalar: &Scalar) -> Result<Scalar, Mismatch> {
        Ok(scalar.clone())
    }

    /// Returns the fault of a text that is rendered later, as far as it is known already.
    fn mismatch(&self, scalar: &Scalar, format: StringFormat) -> Option<Mismatch> {
        format.mismatch(&scalar.text)
    }

    /// Whether a required key may be missing, because another document gives it.
    fn may_be_missing(&self, _key: &Key) -> bool {
        false
    }

    /// Returns the problem of an unknown key that the language knows more about than its name.
    fn unknown_key(&self, _entry: &Entry, _object: &Object) -> Option<Diagnostic> {
        None
    }

    /// Returns advice on a key that no key of the map resembles.
    fn advice(&self, _name: &str, _object: &Object) -> Option<String> {
        None
    }

    /// Checks an overlay on the document.
    fn check_overlay(&mut self, _node: &Node, _problems: &mut Diagnostics) {}
}

/// A language of keys and values only.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Language for Plain {
    fn check_expressions(
        &mut self,
        scalar: &Scalar,
        span: &Span,
        _scope: Scope,
        problems: &mut Diagnostics,
    ) -> bool {
        let has = scalar.text.contains("${{");
        if has {
            problems.error(
                "expression",
                "this file has no expressions",
                span,
                "write the value itself",
            );
        }
        !has
    }
}
