//! JSON files of a bundle in the only form in which this program writes them. A key that the program does not know
//! would be signed without being read, and of a duplicate one different readers take different values.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use retrial_plan::difference::find_differences;

/// A JSON file of a run.
#[derive(Debug)]
pub struct JsonFile<T> {
    /// The value that the program has parsed.
    pub value: T,
    /// How its text differs from the one that [`retrial_store::RecordDirectory::write_json`] writes of the value, if it does.
    pub problem: Option<String>,
}

/// Parses a JSON file of a run.
///
/// # Errors
/// If it is not what the program reads.
pub fn parse_canonical<T: Serialize + DeserializeOwned>(
    text: &str,
) -> Result<JsonFile<T>, serde_json::Error> {
    let value: T = serde_json::from_str(text)?;
    let written = serde_json::to_string_pretty(&value)?;
    if text.strip_suffix('\n') == Some(&written) {
        return Ok(JsonFile { value, problem: None });
    }
    let [recorded, known] = [text, &written].map(serde_json::from_str::<Value>);
    let unknown = match (recorded, known) {
        (Ok(recorded), Ok(known)) => find_differences(&recorded, &known).into_iter().next(),
        _ => None,
    };
    let problem = unknown.map_or_else(
        || "a key is duplicate, or it was not written by this version of retrial".to_owned(),
        |one| format!("not as this version of retrial writes it: {one}"),
    );
    Ok(JsonFile { value, problem: Some(problem) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Known {
        a: u32,
        #[serde(flatten)]
        tagged: Tagged,
        more: BTreeMap<String, Vec<f64>>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        One { b: u32 },
    }

    const TEXT: &str = r#"{"a":1,"kind":"One","b":2,"more":{"x":[0.1,1e300]}}"#;

    fn pretty(text: &str) -> String {
        let value: Value = serde_json::from_str(text).unwrap();
        serde_json::to_string_pretty(&value).unwrap() + "\n"
    }

    #[test]
    fn a_file_in_its_own_form_is_read() {
        let known = parse_canonical::<Known>(&pretty(TEXT)).unwrap();
        assert_eq!(known.value.tagged, Tagged::One { b: 2 });
        assert_eq!(known.problem, None);
    }

    #[rstest]
    #[case::unknown(r#""b":2,"#, r#""b":2,"certified":true,"#, "certified: recorded true")]
    #[case::in_a_list("0.1", "0.1000", "a key is duplicate")]
    fn other_forms_are_refused(#[case] from: &str, #[case] to: &str, #[case] reason: &str) {
        let text = if reason.starts_with("a key") {
            pretty(TEXT).replace(from, to)
        } else {
            pretty(&TEXT.replace(from, to))
        };
        let error = parse_canonical::<Known>(&text).unwrap().problem.unwrap();
        assert!(error.contains(reason), "{error}");
    }

    #[rstest]
    #[case::of_a_struct("\"a\": 1,", "\"a\": 2,\n  \"a\": 1,")]
    #[case::of_a_variant("\"b\": 2,", "\"b\": 3,\n  \"b\": 2,")]
    #[case::of_a_map("\"x\": [", "\"x\": [7.0],\n    \"x\": [")]
    #[case::no_newline("]\n  }\n}\n", "]\n  }\n}")]
    fn duplicate_keys_are_refused(#[case] from: &str, #[case] to: &str) {
        let text = pretty(TEXT);
        assert!(text.contains(from), "{text}");
        let parsed = parse_canonical::<Known>(&text.replacen(from, to, 1));
        assert!(parsed.is_err() || parsed.unwrap().problem.is_some());
    }
}
