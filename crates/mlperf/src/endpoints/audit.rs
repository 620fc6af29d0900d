//! The audit's tests of an endpoint: the client runs them itself, and writes the outcome of each into
//! `audit/audit_NAME.json` of the scenario's folder.

use serde_json::{Map, Value};

use crate::check::{NOT_STATED, RuleCheck};
use crate::compliance::Test;

/// Returns the client's name of a test; none where it has no such test.
pub fn audit_name(test: Test) -> Option<&'static str> {
    match test {
        Test::Test01 => Some("accuracy_in_performance_test"),
        Test::Test04 => Some("output_caching_test"),
        Test::Test06 => Some("consistency_output_test"),
        Test::Test07 => Some("accuracy_in_performance_full_test"),
        Test::Test08 => Some("accuracy_in_performance_dlrmv3_test"),
        Test::Test05 | Test::Test09 => None,
    }
}

/// Returns whether a result needs the outcome of a test: of the others the client has had none so far, and the
/// official checker reads one only where it is there.
pub fn is_audit_required(test: Test) -> bool {
    test == Test::Test04
}

pub fn check_audit_outcome(test: Test, outcome: &Map<String, Value>) -> RuleCheck {
    let stated = outcome.get("test").and_then(Value::as_str);
    let passed = outcome.get("passed").and_then(Value::as_bool);
    let word = match passed {
        Some(true) => "passed",
        Some(false) => "did not pass",
        None => NOT_STATED,
    };
    let is_its_own = stated.is_some() && stated == audit_name(test);
    let measured = match stated {
        _ if is_its_own => word.to_owned(),
        Some(other) => format!("the outcome of {other}"),
        None => format!("{word}, of a test that it does not name"),
    };
    RuleCheck::new(test.word(), measured, "passed", is_its_own && passed == Some(true))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::submission::parse_object;

    #[rstest]
    #[case(r#"{"test": "output_caching_test", "passed": true}"#, true, "passed")]
    #[case(r#"{"test": "output_caching_test", "passed": false}"#, false, "did not pass")]
    #[case(r#"{"test": "output_caching_test", "passed": "yes"}"#, false, "not in the logs")]
    #[case(
        r#"{"test": "consistency_output_test", "passed": true}"#,
        false,
        "the outcome of consistency_output_test"
    )]
    #[case(r#"{"passed": true}"#, false, "passed, of a test that it does not name")]
    fn outcomes_of_a_test(#[case] text: &str, #[case] passed: bool, #[case] measured: &str) {
        let check = check_audit_outcome(Test::Test04, &parse_object(text).unwrap());
        assert_eq!((check.passed, check.measured.as_str()), (passed, measured));
    }
}
