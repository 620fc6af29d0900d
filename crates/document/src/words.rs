//! Enums of words: one declaration gives the type, the list of its values, one spelling of each for JSON and text,
//! and its meaning in documents.

/// The text is no word of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not one of the accepted words")]
pub struct UnknownWord;

/// Declares an enum whose variants are words, each with its meaning, in their order of precedence.
///
/// `any case` after the name reads text in any case; JSON is always spelled as declared.
#[macro_export]
macro_rules! words {
    (
        $(#[$($attribute:tt)*])*
        pub enum $name:ident $(: any $case:tt)? {
            $($(#[$($doc:tt)*])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$($attribute)*])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$($doc)*])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All values, in their order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns the word, as JSON and text spell it.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownWord> {
                let mut values = Self::ALL.into_iter();
                values
                    .find(|value| $crate::declared!(same value.word(), text $(, $case)?))
                    .ok_or($crate::UnknownWord)
            }
        }

        impl $crate::Field for $name {
            const TYPE: $crate::FieldType = $crate::FieldType::Words(&[
                $($crate::Word {
                    name: $word,
                    doc: $crate::declared!(doc $([$($doc)*])*).trim_ascii(),
                },)+
            ]);

            fn from_node(node: &$crate::Node, _: &$crate::FieldType) -> Option<Self> {
                node.text()?.parse().ok()
            }
        }
    };
}
