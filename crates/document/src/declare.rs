//! One declaration for a map of keys: the Rust type, and with it the keys, what each accepts, which
//! are required, the defaults, the descriptions and the reading.
//!
//! A field is `name: Type [options] = field type`. Options are `required`, `default = "text"`,
//! `key = "name"` where the key's name is not the field's, and `read = function` where the type's own
//! reading does not apply. Without a field type the type's own is used.
//! The [validator](crate::Validator) checks a text against these keys; [`Field::from_node`] reads what passed.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use super::diagnostic::Diagnostics;
use super::field_type::{FieldType, Key, Object};
use super::language::PlainLanguage;
use super::node::{Node, Value};
use super::source::{Source, Span};
use super::validate::Validator;
use super::{formats, measures, parse};

/// A Rust type that a value of a document can be read into.
pub trait Field: Sized {
    /// The values that are accepted unless the declaration of the key narrows them.
    const TYPE: FieldType;

    /// Reads a validated value; `None` only if the validation accepted an invalid one.
    fn from_node(node: &Node, field_type: &FieldType) -> Option<Self>;
}

/// A Rust type that is read from a map of fixed keys.
pub trait Keys: Sized {
    /// The keys declared by the type itself, without shared groups.
    const KEYS: &'static [Key];

    /// The keys declared by the type and the groups that it shares with other types.
    const OBJECT: &'static Object;

    /// Reads a validated map.
    fn from_keys(node: &Node) -> Option<Self>;
}

/// Parses, validates and reads a document. Problems are added to `problems`; returns `None` if one of this
/// document's is an error.
pub fn read_document<T: Keys>(source: &Source, problems: &mut Diagnostics) -> Option<T> {
    let mut own_problems = Diagnostics::default();
    let checked = parse::parse_yaml(source, &mut own_problems).map(|node| {
        let top = FieldType::Object(T::OBJECT);
        Validator::new(&mut PlainLanguage::default(), &mut own_problems).check_value(
            &node,
            &top,
            &source.span(0..0),
        )
    });
    let good = !own_problems.has_errors();
    problems.extend(own_problems);
    checked.filter(|_| good).and_then(|node| T::from_keys(&node))
}

/// Parses and validates a document that extends no other; `docs` is the page with an example of it. `None`
/// if it is no map.
pub fn parse_and_validate<T: Keys>(
    source: &Source,
    docs: &str,
    problems: &mut Diagnostics,
) -> Option<Node> {
    let node = parse::parse_yaml(source, problems)?;
    let label = T::OBJECT.label;
    if !matches!(node.value, Value::Map(_)) {
        let message = format!("{label} must be a map, not {}", node.kind());
        let help = format!("begin with `schema: 1`; {docs} has an example");
        problems.error("wrong-type", message, &node.span, help);
        return None;
    }
    for entry in node.entries().iter().filter(|entry| entry.append) {
        let message = format!("`{}+` has nothing to append to", entry.key);
        let help = format!("{label} does not extend anything; remove the +");
        problems.error("append", message, &entry.key_span, help);
    }
    let top = source.span(0..0);
    let mut language = PlainLanguage { document: Some(T::OBJECT) };
    Some(Validator::new(&mut language, problems).check_object(&node, T::OBJECT, &top))
}

pub fn read_required<T: Field>(node: &Node, key: &Key) -> Option<T> {
    T::from_node(node.get(key.name)?, &key.field_type)
}

/// Reads a key that may be absent: then its default is read, or the type's.
pub fn read_optional<T: Field + Default>(node: &Node, key: &Key) -> Option<T> {
    read_or_default(node, key, |value| T::from_node(value, &key.field_type))
}

/// Reads a key that may be absent, by a function of its own.
pub fn read_with<T: Default>(node: &Node, key: &Key, read: fn(&Node) -> Option<T>) -> Option<T> {
    read_or_default(node, key, read)
}

fn read_or_default<T: Default>(
    node: &Node,
    key: &Key,
    read: impl Fn(&Node) -> Option<T>,
) -> Option<T> {
    match (node.get(key.name), key.default) {
        (Some(value), _) => read(value),
        (None, Some(text)) => {
            let span = Source::new("default", text).span(0..0);
            read(&Node::scalar(text, true, span))
        }
        (None, None) => Some(T::default()),
    }
}

impl Field for String {
    const TYPE: FieldType = FieldType::Text(formats::ANY);

    fn from_node(node: &Node, _: &FieldType) -> Option<Self> {
        node.text().map(str::to_owned)
    }
}

impl Field for bool {
    const TYPE: FieldType = FieldType::Bool;

    fn from_node(node: &Node, _: &FieldType) -> Option<Self> {
        Some(node.text()?.eq_ignore_ascii_case("true"))
    }
}

impl Field for f64 {
    const TYPE: FieldType = FieldType::Number;

    fn from_node(node: &Node, field_type: &FieldType) -> Option<Self> {
        match field_type {
            FieldType::Fraction => measures::parse_fraction(node.text()?),
            _ => node.text()?.parse().ok(),
        }
    }
}

impl Field for u64 {
    const TYPE: FieldType = FieldType::Integer(0, i64::MAX);

    fn from_node(node: &Node, field_type: &FieldType) -> Option<Self> {
        match field_type {
            FieldType::Size(units) => measures::parse_size(node.text()?, *units),
            _ => node.text()?.parse().ok(),
        }
    }
}

impl Field for Duration {
    const TYPE: FieldType = FieldType::Duration;

    fn from_node(node: &Node, _: &FieldType) -> Option<Self> {
        measures::parse_duration(node.text()?)
    }
}

macro_rules! integers {
    ($($type:ty: $least:expr, $most:expr;)*) => {
        $(impl Field for $type {
            const TYPE: FieldType = FieldType::Integer($least, $most);

            fn from_node(node: &Node, _: &FieldType) -> Option<Self> {
                node.text()?.parse().ok()
            }
        })*
    };
}

integers! {
    i64: i64::MIN, i64::MAX;
    u32: 0, 4_294_967_295;
    u16: 0, 65_535;
}

impl<T: Field> Field for Option<T> {
    const TYPE: FieldType = T::TYPE;

    fn from_node(node: &Node, field_type: &FieldType) -> Option<Self> {
        T::from_node(node, field_type).map(Some)
    }
}

impl<T: Field> Field for Vec<T> {
    const TYPE: FieldType = FieldType::List(&T::TYPE, 0);

    fn from_node(node: &Node, field_type: &FieldType) -> Option<Self> {
        let of = if let FieldType::List(of, _) = field_type { of } else { &T::TYPE };
        let items = node.items().iter().filter(|item| !item.is_null());
        items.map(|item| T::from_node(item, of)).collect()
    }
}

/// A type that the name of a map's entry is read into.
pub trait MapKey: Sized {
    /// Reads a name; `None` if the type does not have it.
    fn from_key(name: &str, span: &Span) -> Option<Self>;
}

impl<K: FromStr> MapKey for K {
    fn from_key(name: &str, _: &Span) -> Option<Self> {
        name.parse().ok()
    }
}

impl<K: MapKey, V: Field> Field for Vec<(K, V)> {
    const TYPE: FieldType = FieldType::Map(formats::NAME, &V::TYPE);

    fn from_node(node: &Node, field_type: &FieldType) -> Option<Self> {
        let of = if let FieldType::Map(_, of) = field_type { of } else { &V::TYPE };
        let entries = node.entries().iter();
        entries
            .filter(|entry| !entry.value.is_null())
            .map(|entry| {
                let key = K::from_key(&entry.key, &entry.key_span)?;
                Some((key, V::from_node(&entry.value, of)?))
            })
            .collect()
    }
}

impl<V: Field> Field for BTreeMap<String, V> {
    const TYPE: FieldType = FieldType::Map(formats::NAME, &V::TYPE);

    fn from_node(node: &Node, field_type: &FieldType) -> Option<Self> {
        let entries = Vec::<(String, V)>::from_node(node, field_type)?;
        Some(entries.into_iter().collect())
    }
}

/// Declares a map of keys: the type and its keys.
///
/// `one of "a", "b"` after the name takes exactly one of these keys. `or TYPE => read` takes another kind
/// of value too. `first` and `last` are groups of keys around the own ones that `fields` read.
#[macro_export]
macro_rules! object {
    (
        $(#[$($attribute:tt)*])*
        pub struct $name:ident: $label:literal
        $(, one of $($one:literal),+)? $(, or $other:expr => $from_other:expr)? $(, first $first:expr)? $(, last $last:expr)?
        ;
        $(fields { $($(#[$($extra_doc:tt)*])* $extra:ident: $extra_type:ty = $read:expr,)* })?
        keys {
            $($(#[$($doc:tt)*])* $field:ident: $type:ty $([$($option:tt)*])? $(= $shape:expr)?,)*
        }
    ) => {
        $(#[$($attribute)*])*
        pub struct $name {
            $($($(#[$($extra_doc)*])* pub $extra: $extra_type,)*)?
            $($(#[$($doc)*])* pub $field: $type,)*
        }

        impl $crate::Keys for $name {
            const KEYS: &'static [$crate::Key] = &[
                $($crate::Key {
                    name: $crate::declared!(key $field $($($option)*)?),
                    doc: $crate::declared!(doc $([$($doc)*])*).trim_ascii(),
                    field_type: $crate::declared!(shape $type $(, $shape)?),
                    required: $crate::declared!(required $($($option)*)?),
                    default: $crate::declared!(default $($($option)*)?),
                },)*
            ];

            const OBJECT: &'static $crate::Object = {
                static OBJECT: $crate::Object = $crate::Object {
                    label: $label,
                    one_of: &[$($($one),+)?],
                    groups: &[$($first,)? <$name as $crate::Keys>::KEYS, $($last,)?],
                };
                &OBJECT
            };

            fn from_keys(node: &$crate::Node) -> Option<Self> {
                let mut keys = Self::KEYS.iter();
                Some(Self {
                    $($($extra: $read(node)?,)*)?
                    $($field: $crate::declared!(read node, keys.next()? $(; $($option)*)?)?,)*
                })
            }
        }

        impl $crate::Field for $name {
            const TYPE: $crate::FieldType = $crate::declared!(
                either $crate::FieldType::Object(<$name as $crate::Keys>::OBJECT) $(, $other)?
            );

            fn from_node(node: &$crate::Node, _: &$crate::FieldType) -> Option<Self> {
                $(if let Some(text) = node.text() {
                    return $from_other(text);
                })?
                <Self as $crate::Keys>::from_keys(node)
            }
        }
    };
}

/// Parts of a declaration, for [`object!`] and [`words!`](crate::words).
#[doc(hidden)]
#[macro_export]
macro_rules! declared {
    (doc) => { "" };
    (doc [doc = $line:literal] $($rest:tt)*) => {
        concat!($line, $crate::declared!(doc $($rest)*))
    };
    (doc [$($other:tt)*] $($rest:tt)*) => { $crate::declared!(doc $($rest)*) };

    (same $word:expr, $text:expr) => { $word == $text };
    (same $word:expr, $text:expr, case) => { $word.eq_ignore_ascii_case($text) };

    (key $field:ident key = $key:literal $($rest:tt)*) => { $key };
    (key $field:ident $skipped:tt $($rest:tt)*) => { $crate::declared!(key $field $($rest)*) };
    (key $field:ident) => { stringify!($field) };

    (required required $($rest:tt)*) => { true };
    (required $skipped:tt $($rest:tt)*) => { $crate::declared!(required $($rest)*) };
    (required) => { false };

    (default default = $default:literal $($rest:tt)*) => { Some($default) };
    (default $skipped:tt $($rest:tt)*) => { $crate::declared!(default $($rest)*) };
    (default) => { None };

    (shape $type:ty) => { <$type as $crate::Field>::TYPE };
    (shape $type:ty, $shape:expr) => { $shape };

    (either $object:expr) => { $object };
    (either $object:expr, $other:expr) => { $crate::FieldType::Either(&[$other, $object]) };

    (read $node:expr, $key:expr; read = $read:ident) => {
        $crate::read_with($node, $key, $read)
    };
    (read $node:expr, $key:expr; required, read = $read:ident) => {
        $crate::read_with($node, $key, $read)
    };
    (read $node:expr, $key:expr; required $($rest:tt)*) => {
        $crate::read_required($node, $key)
    };
    (read $node:expr, $key:expr; $skipped:tt $($rest:tt)*) => {
        $crate::declared!(read $node, $key; $($rest)*)
    };
    (read $node:expr, $key:expr $(;)?) => { $crate::read_optional($node, $key) };
}
