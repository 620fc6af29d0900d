//! Values that keep their place, for checks after the reading.

use crate::declare::{Field, MapKey};
use crate::field_type::FieldType;
use crate::node::Node;
use crate::source::Span;

/// A value and its place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value as it was read.
    pub value: T,
    /// The position of the value in its document.
    pub span: Span,
}

impl<T: Field> Field for Spanned<T> {
    const TYPE: FieldType = T::TYPE;

    fn from_node(node: &Node, field_type: &FieldType) -> Option<Self> {
        Some(Self { value: T::from_node(node, field_type)?, span: node.span.clone() })
    }
}

impl<K: MapKey> MapKey for Spanned<K> {
    fn from_key(name: &str, span: &Span) -> Option<Self> {
        Some(Self { value: K::from_key(name, span)?, span: span.clone() })
    }
}
