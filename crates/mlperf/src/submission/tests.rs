//! Descriptions as submitters write them, and with missing fields.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;

fn system() -> Map<String, Value> {
    let mut system: Map<String, Value> =
        fields::SYSTEM_FIELDS.iter().map(|(name, _)| ((*name).to_owned(), json!("x"))).collect();
    system.insert("division".into(), json!("closed"));
    system.insert("submitter".into(), json!("AMD"));
    system.insert("status".into(), json!("Available"));
    system.insert("hw_notes".into(), json!(""));
    system
}

fn violated(system: &Map<String, Value>, division: Division) -> Vec<String> {
    let checks = check_system(system, division, "amd");
    let violated = checks.into_iter().filter(|check| !check.passed);
    violated.map(|check| format!("{}: {}", check.rule, check.measured)).collect()
}

#[rstest]
#[case("cooling", json!("air"), &[])]
#[case("cooling", json!(""), &["system's fields: cooling is empty"])]
#[case("cooling", json!(0), &["system's fields: cooling is empty"])]
#[case("status", json!("soon"), &["system's status: \"soon\""])]
#[case("status", json!(7), &["system's status: \"\""])]
#[case("submitter", json!("Dell"), &["system's submitter: \"Dell\""])]
#[case("division", json!("open"), &["system's division: \"open\""])]
fn a_description(#[case] name: &str, #[case] value: Value, #[case] wrong: &[&str]) {
    let mut described = system();
    described.insert(name.to_owned(), value);
    assert_eq!(violated(&described, Division::Closed), wrong);
}

#[test]
fn missing_fields_are_reported() {
    let mut described = system();
    described.remove("sw_notes");
    described.remove("number_of_nodes");
    assert_eq!(
        violated(&described, Division::Closed),
        ["system's fields: no number_of_nodes, no sw_notes"]
    );
    described = system();
    described.insert("is_network".into(), json!("True"));
    let failures = violated(&described, Division::Closed);
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(failures[1].contains("over a network"));
}

#[test]
fn measurements_must_not_be_empty() {
    let text = "\u{feff}{\"input_data_types\": \"fp8\", \"retraining\": \"N\", \"starting_weights_filename\": \"x\", \
        \"weight_data_types\": \"\"}";
    let checks = check_measurements(&parse_object(text).unwrap());
    assert_eq!(checks[0].measured, "weight_data_types is empty, no weight_transformations");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        match parse_object(&text) {
            Ok(object) => prop_assert!(!check_measurements(&object).is_empty()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
