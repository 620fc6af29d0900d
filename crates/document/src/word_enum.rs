//! Enums of words: one declaration gives the type, the list of its values, and one spelling of each for
//! JSON and text. A key of a document is declared by [`words!`](crate::words) instead.

/// Declares an enum whose variants are words, in their order of precedence.
#[macro_export]
macro_rules! word_enum {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
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

            /// Returns the value of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.word())
            }
        }
    };
}
