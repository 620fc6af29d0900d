//! One declaration for a map of keys: the Rust type, and with it the keys, what each accepts, which
//! are required, the defaults, the descriptions and the reading.
//!
//! ```text
//! object! {
//!     /// A path taken out of the image to the host.
//!     #[derive(Debug, Clone)]
//!     pub struct CopyFromImage: "a copy out of the image" {
//!         /// In the image.
//!         path: String [required] = S::Text(F::Absolute),
//!     }
//! }
//! ```
//!
//! A field is `name: Type [options] = shape`. Options are `required`, `default = "text"` and
//! `key = "name"` where the key's name is not the field's. Without a shape the type's own is used.
//! The walk checks a text against these keys; what it passed is read by [`Field::read`].

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use super::format::Format as F;
use super::measures;
use super::model::Template;
use super::node::Node;
use super::shape::{Key, Reach, Shape as S};
use super::source::Source;

/// A type that the value of a key is read into.
pub trait Field: Sized {
    /// The values that are accepted where the key's declaration does not narrow them.
    const SHAPE: S;

    /// Reads a checked value; `None` only where the check passed what it should not have.
    fn read(node: &Node, shape: &S) -> Option<Self>;
}

/// A type that is a map of fixed keys.
pub trait Keys: Sized {
    /// Its keys.
    const KEYS: &'static [Key];

    /// Reads a checked map.
    fn from_keys(node: &Node) -> Option<Self>;
}

/// Reads a required key.
#[must_use]
pub fn required<T: Field>(node: &Node, key: &Key) -> Option<T> {
    T::read(node.get(key.name)?, &key.shape)
}

/// Reads a key that may be absent: then its default is read, or the type's.
#[must_use]
pub fn optional<T: Field + Default>(node: &Node, key: &Key) -> Option<T> {
    match (node.get(key.name), key.default) {
        (Some(value), _) => T::read(value, &key.shape),
        (None, Some(text)) => {
            let span = Source::new("default", text).span(0..0);
            T::read(&Node::scalar(text, true, span), &key.shape)
        }
        (None, None) => Some(T::default()),
    }
}

/// Reads a key that may be absent, by a function of its own.
#[must_use]
pub fn by<T: Default>(node: &Node, key: &Key, read: fn(&Node) -> Option<T>) -> Option<T> {
    node.get(key.name).map_or_else(|| Some(T::default()), read)
}

/// Reads a word by the names that serde has for an enum's variants.
#[must_use]
pub fn word<T: serde::de::DeserializeOwned>(node: &Node) -> Option<T> {
    use serde::de::IntoDeserializer as _;
    let text: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
        node.text()?.into_deserializer();
    T::deserialize(text).ok()
}

impl Field for String {
    const SHAPE: S = S::Text(F::Any);

    fn read(node: &Node, _: &S) -> Option<Self> {
        node.text().map(str::to_owned)
    }
}

impl Field for Template {
    const SHAPE: S = S::Template(Reach::Run, F::Filled);

    fn read(node: &Node, _: &S) -> Option<Self> {
        Some(Self(node.text()?.to_owned()))
    }
}

impl Field for bool {
    const SHAPE: S = S::Bool;

    fn read(node: &Node, _: &S) -> Option<Self> {
        Some(node.text()?.eq_ignore_ascii_case("true"))
    }
}

impl Field for f64 {
    const SHAPE: S = S::Number;

    fn read(node: &Node, shape: &S) -> Option<Self> {
        match shape {
            S::Fraction => measures::fraction(node.text()?),
            _ => node.text()?.parse().ok(),
        }
    }
}

impl Field for u64 {
    const SHAPE: S = S::Integer(0, i64::MAX);

    fn read(node: &Node, shape: &S) -> Option<Self> {
        match shape {
            S::Size(units) => measures::size(node.text()?, *units),
            _ => node.text()?.parse().ok(),
        }
    }
}

impl Field for Duration {
    const SHAPE: S = S::Duration;

    fn read(node: &Node, _: &S) -> Option<Self> {
        measures::duration(node.text()?)
    }
}

macro_rules! integers {
    ($($type:ty: $least:expr, $most:expr;)*) => {
        $(impl Field for $type {
            const SHAPE: S = S::Integer($least, $most);

            fn read(node: &Node, _: &S) -> Option<Self> {
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
    const SHAPE: S = T::SHAPE;

    fn read(node: &Node, shape: &S) -> Option<Self> {
        T::read(node, shape).map(Some)
    }
}

impl<T: Field> Field for Vec<T> {
    const SHAPE: S = S::List(&T::SHAPE, 0);

    fn read(node: &Node, shape: &S) -> Option<Self> {
        let of = if let S::List(of, _) = shape {
            of
        } else {
            &T::SHAPE
        };
        let items = node.items().iter().filter(|item| !item.is_null());
        items.map(|item| T::read(item, of)).collect()
    }
}

impl<K: FromStr, V: Field> Field for Vec<(K, V)> {
    const SHAPE: S = S::Map(F::Name, &V::SHAPE);

    fn read(node: &Node, shape: &S) -> Option<Self> {
        let of = if let S::Map(_, of) = shape {
            of
        } else {
            &V::SHAPE
        };
        let entries = node.named();
        entries
            .map(|(name, value)| Some((name.parse().ok()?, V::read(value, of)?)))
            .collect()
    }
}

impl<V: Field> Field for BTreeMap<String, V> {
    const SHAPE: S = S::Map(F::Name, &V::SHAPE);

    fn read(node: &Node, shape: &S) -> Option<Self> {
        let entries = Vec::<(String, V)>::read(node, shape)?;
        Some(entries.into_iter().collect())
    }
}

/// Declares a map of keys: the type, unless it is `impl` of one of another crate, and its keys.
///
/// `one of "a", "b"` after the name takes exactly one of these keys. `or SHAPE => read` takes another kind
/// of value too. `first` and `last` are groups of keys around the own ones that `fields` read.
#[macro_export]
macro_rules! object {
    (
        $(#[$($attribute:tt)*])*
        pub struct $name:ident: $what:literal
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

        $crate::object! {
            impl $name: $what $(, one of $($one),+)? $(, or $other => $from_other)? $(, first $first)? $(, last $last)?;
            $(fields { $($extra: $extra_type = $read,)* })?
            keys { $($(#[$($doc)*])* $field: $type $([$($option)*])? $(= $shape)?,)* }
        }
    };
    (
        impl $name:ty: $what:literal
        $(, one of $($one:literal),+)? $(, or $other:expr => $from_other:expr)? $(, first $first:expr)? $(, last $last:expr)?
        ;
        $(fields { $($extra:ident: $extra_type:ty = $read:expr,)* })?
        keys {
            $($(#[$($doc:tt)*])* $field:ident: $type:ty $([$($option:tt)*])? $(= $shape:expr)?,)*
        }
    ) => {
        impl $crate::declare::Keys for $name {
            const KEYS: &'static [$crate::shape::Key] = &[
                $($crate::shape::Key {
                    name: $crate::declared!(key $field $($($option)*)?),
                    doc: $crate::declared!(doc $([$($doc)*])*).trim_ascii(),
                    shape: $crate::declared!(shape $type $(, $shape)?),
                    required: $crate::declared!(required $($($option)*)?),
                    default: $crate::declared!(default $($($option)*)?),
                },)*
            ];

            fn from_keys(node: &$crate::node::Node) -> Option<Self> {
                let mut keys = Self::KEYS.iter();
                Some(Self {
                    $($($extra: $read(node)?,)*)?
                    $($field: $crate::declared!(read node, keys.next()? $(; $($option)*)?)?,)*
                })
            }
        }

        impl $crate::declare::Field for $name {
            const SHAPE: $crate::shape::Shape = {
                static OBJECT: $crate::shape::Object = $crate::shape::Object {
                    what: $what,
                    one_of: &[$($($one),+)?],
                    groups: &[$($first,)? <$name as $crate::declare::Keys>::KEYS, $($last,)?],
                };
                $crate::declared!(either $crate::shape::Shape::Object(&OBJECT) $(, $other)?)
            };

            fn read(node: &$crate::node::Node, _: &$crate::shape::Shape) -> Option<Self> {
                $(if let Some(text) = node.text() {
                    return $from_other(text);
                })?
                <Self as $crate::declare::Keys>::from_keys(node)
            }
        }
    };
}

/// Declares an enum of words, each with its meaning.
#[macro_export]
macro_rules! words {
    (
        $(#[$($attribute:tt)*])*
        pub enum $name:ident {
            $($(#[$($doc:tt)*])* $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$($attribute)*])*
        pub enum $name {
            $($(#[$($doc)*])* #[serde(rename = $word)] $variant,)*
        }

        $crate::words! {
            impl $name { $($(#[$($doc)*])* $word,)* }
        }
    };
    (impl $name:ty { $($(#[$($doc:tt)*])* $word:literal,)* }) => {
        impl $crate::declare::Field for $name {
            const SHAPE: $crate::shape::Shape = $crate::shape::Shape::Choice(&[
                $($crate::shape::Choice {
                    word: $word,
                    doc: $crate::declared!(doc $([$($doc)*])*).trim_ascii(),
                },)*
            ]);

            fn read(node: &$crate::node::Node, _: &$crate::shape::Shape) -> Option<Self> {
                $crate::declare::word(node)
            }
        }
    };
}

/// Parts of a declaration, for [`object!`] and [`words!`].
#[doc(hidden)]
#[macro_export]
macro_rules! declared {
    (doc) => { "" };
    (doc [doc = $line:literal] $($rest:tt)*) => {
        concat!($line, $crate::declared!(doc $($rest)*))
    };
    (doc [$($other:tt)*] $($rest:tt)*) => { $crate::declared!(doc $($rest)*) };

    (key $field:ident key = $key:literal $($rest:tt)*) => { $key };
    (key $field:ident $skipped:tt $($rest:tt)*) => { $crate::declared!(key $field $($rest)*) };
    (key $field:ident) => { stringify!($field) };

    (required required $($rest:tt)*) => { true };
    (required $skipped:tt $($rest:tt)*) => { $crate::declared!(required $($rest)*) };
    (required) => { false };

    (default default = $default:literal $($rest:tt)*) => { Some($default) };
    (default $skipped:tt $($rest:tt)*) => { $crate::declared!(default $($rest)*) };
    (default) => { None };

    (shape $type:ty) => { <$type as $crate::declare::Field>::SHAPE };
    (shape $type:ty, $shape:expr) => { $shape };

    (either $object:expr) => { $object };
    (either $object:expr, $other:expr) => { $crate::shape::Shape::Either(&[$other, $object]) };

    (read $node:expr, $key:expr; read = $read:ident) => {
        $crate::declare::by($node, $key, $read)
    };
    (read $node:expr, $key:expr; required, read = $read:ident) => {
        $crate::declare::by($node, $key, $read)
    };
    (read $node:expr, $key:expr; required $($rest:tt)*) => {
        $crate::declare::required($node, $key)
    };
    (read $node:expr, $key:expr; $skipped:tt $($rest:tt)*) => {
        $crate::declared!(read $node, $key; $($rest)*)
    };
    (read $node:expr, $key:expr $(;)?) => { $crate::declare::optional($node, $key) };
}
