//! The reason of an outcome: a clause that reports print as a sentence, and other sentences contain.

use std::fmt;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A clause with its full stop, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(inline, with = "String")]
pub struct ReasonSentence {
    text: String,
    /// The length of the text in bytes, without the full stop.
    clause_length: usize,
}

impl ReasonSentence {
    /// Makes a sentence of a clause, which has no full stop.
    pub fn from_clause(clause: impl Into<String>) -> Self {
        let mut text = clause.into();
        let clause_length = text.len();
        text.push('.');
        Self { text, clause_length }
    }

    /// Returns the clause, to be a part of another sentence.
    pub fn clause(&self) -> &str {
        &self.text[..self.clause_length]
    }

    /// Returns the sentence with words before it.
    #[must_use]
    pub fn prefixed(&self, words: &str) -> Self {
        Self::from_clause(format!("{words}: {}", self.clause()))
    }
}

impl From<String> for ReasonSentence {
    fn from(text: String) -> Self {
        let clause_length = text.strip_suffix('.').unwrap_or(&text).len();
        Self { text, clause_length }
    }
}

impl From<ReasonSentence> for String {
    fn from(sentence: ReasonSentence) -> Self {
        sentence.text
    }
}

impl Deref for ReasonSentence {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for ReasonSentence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_sentence_has_the_same_clause() {
        let clause = "speed is missing. It is required, at 5 …";
        let sentence = ReasonSentence::from_clause(clause);
        let stored = serde_json::to_value(&sentence).unwrap();
        assert_eq!(stored, format!("{clause}."));
        let read: ReasonSentence = serde_json::from_value(stored).unwrap();
        assert_eq!((read.clause(), &read), (clause, &sentence));
        let prefixed = sentence.prefixed("nothing is decided");
        assert_eq!(&*prefixed, format!("nothing is decided: {clause}."));
        assert_eq!(ReasonSentence::from(String::new()), ReasonSentence::default());
    }
}
