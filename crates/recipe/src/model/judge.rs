//! How figures are judged.

use retrial_document::{Field, FieldType as T, Keys as _, Node, object};
use serde::{Deserialize, Serialize};

use crate::formats::{self, complete_json_path};

object! {
    /// How figures are judged.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct JudgeRules: "the rules of judging";
    keys {
        /// The largest loss that still counts as reproduced; none: 5 %, or 2 % on the same system.
        margin: Option<f64> = T::Fraction,
        /// Assumed noise of one trial; none: for LoadGen's performance figures, the spread of published runs of the benchmark.
        noise: Option<f64> = T::Fraction,
        /// The one-sided confidence of the bounds.
        confidence: f64 [default = "95%"] = T::Fraction,
        /// The script is Retrial's: the workload's own was never published.
        reimplemented: bool [default = "false"],
        /// Signs of an invalid result outside of LoadGen's logs, as the benchmark defines them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        invalid_if: Vec<InvalidMarker> = T::List(&InvalidMarker::TYPE, 1),
    }
}

/// A sign by which a benchmark marks its result as invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvalidMarker {
    /// The path of a file in the results.
    File(String),
    /// A regular expression that a line of the output matches.
    Pattern(String),
    /// A `JSONPath` that selects a value other than `false`, `null`, 0 and nothing.
    Json(String),
}

object! {
    /// A sign of invalid results, as a recipe states it.
    pub struct WrittenMarker: "a marker of invalid results", one of "file", "pattern", "json";
    keys {
        /// A file in the results; a name without a slash in any of their directories.
        file: Option<String> = T::Text(formats::RELATIVE_PATH),
        /// A regular expression that a line of the command's or its check's output matches.
        pattern: Option<String> = T::Text(formats::REGEX),
        /// A `JSONPath` (RFC 9535) into the JSON of the output or of a file `*.json` in the results: a value that it selects marks the result, unless it is `false`, `null`, 0 or empty (`$.was_cancelled`); a filter selects whole documents (`$[?@.status == 'failed']`).
        json: Option<String> = T::Text(formats::JSON_PATH),
    }
}

impl Field for InvalidMarker {
    const TYPE: T = WrittenMarker::TYPE;

    fn from_node(node: &Node, _: &T) -> Option<Self> {
        let written = WrittenMarker::from_keys(node)?;
        let file = written.file.map(Self::File);
        let json = written.json.map(|path| Self::Json(complete_json_path(&path).into_owned()));
        file.or_else(|| written.pattern.map(Self::Pattern)).or(json)
    }
}

impl Default for JudgeRules {
    fn default() -> Self {
        Self {
            margin: None,
            noise: None,
            confidence: 0.95,
            reimplemented: false,
            invalid_if: Vec::new(),
        }
    }
}
