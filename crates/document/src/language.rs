//! The parts of a language other than keys and values.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::field_type::{Key, Object, Scope};
use crate::formats::{FormatMismatch, StringFormat};
use crate::node::{MapEntry, Node, Scalar};
use crate::source::Span;

/// The additions of a language to its documents. The defaults are those of a plain language: no expressions,
/// no overlays, every required key in the document itself.
pub trait Language {
    /// Reports undefined names in a text's expressions. Returns whether the text can be evaluated now.
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
    /// Returns the problem of an expression that has no value.
    fn evaluate(&self, scalar: &Scalar) -> Result<Scalar, FormatMismatch> {
        Ok(scalar.clone())
    }

    /// Returns the format problem of a text that is rendered later, as far as it is known now.
    fn template_mismatch(&self, scalar: &Scalar, format: StringFormat) -> Option<FormatMismatch> {
        format.mismatch(&scalar.text)
    }

    /// Returns whether a required key may be missing because another document has it.
    fn may_be_missing(&self, _key: &Key) -> bool {
        false
    }

    /// Returns a specific problem for an unknown key, for example one that is reserved.
    fn unknown_key_problem(&self, _entry: &MapEntry, _object: &Object) -> Option<Diagnostic> {
        None
    }

    /// Returns the path of the key by which this language calls what other tools call by the name:
    /// `container.mounts` for `volumes`.
    fn path_of_foreign_key(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// Returns the path of a key of this name that another map of the document has.
    fn path_of_own_key(&self, _name: &str) -> Option<String> {
        None
    }

    fn check_overlay(&mut self, _node: &Node, _problems: &mut Diagnostics) {}
}

/// The language of documents that have only keys and values.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainLanguage {
    /// The keys of the whole document, to tell where a misplaced key belongs.
    pub document: Option<&'static Object>,
}

impl Language for PlainLanguage {
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

    fn path_of_own_key(&self, name: &str) -> Option<String> {
        let document = self.document?;
        document.key_paths(name).into_iter().next()
    }
}
