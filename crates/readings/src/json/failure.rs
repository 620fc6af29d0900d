//! Failures that a record states.

use serde_json::{Map, Value};

const ERROR_MEMBERS: [&str; 13] = [
    "error",
    "errors",
    "err",
    "errmsg",
    "error_message",
    "error_msg",
    "error_code",
    "exception",
    "exceptions",
    "traceback",
    "failure",
    "failures",
    "fail_reason",
];
/// Members that say how it ended.
const OUTCOME_MEMBERS: [&str; 5] = ["status", "state", "result", "outcome", "verdict"];
/// Words for a bad end.
const FAILURE_WORDS: [&str; 19] = [
    "error",
    "failed",
    "failure",
    "fail",
    "oom",
    "out of memory",
    "out_of_memory",
    "timeout",
    "timed out",
    "timed_out",
    "aborted",
    "crashed",
    "killed",
    "cancelled",
    "canceled",
    "invalid",
    "skipped",
    "incomplete",
    "interrupted",
];
/// Members that are true if all went well.
const SUCCESS_MEMBERS: [&str; 7] =
    ["success", "succeeded", "successful", "ok", "passed", "valid", "completed"];
/// Members that are true or not zero if it did not.
const FAILURE_CODE_MEMBERS: [&str; 7] =
    ["failed", "crashed", "returncode", "return_code", "exit_code", "exitcode", "exit_status"];

/// Returns whether a record states that what it is about failed: `"error": "out of memory"`,
/// `"status": "failed"`, `"success": false`; but not `"error": null`.
pub fn states_failure(record: &Map<String, Value>) -> bool {
    record.iter().any(|(name, value)| is_failure(&name.to_ascii_lowercase(), value))
}

fn is_failure(name: &str, value: &Value) -> bool {
    let is_named = |names: &[&str]| names.contains(&name);
    if is_named(&ERROR_MEMBERS) {
        return !is_empty_value(value);
    }
    let is_text = value.as_str().is_some_and(|text| !text.trim().is_empty());
    let begins = ["error_", "err_", "exception_", "failure_"];
    let ends = ["_error", "_err", "_exception"];
    if begins.iter().any(|begin| name.starts_with(begin))
        || ends.iter().any(|end| name.ends_with(end))
    {
        return is_text;
    }
    match value {
        Value::String(text) if is_named(&OUTCOME_MEMBERS) => {
            FAILURE_WORDS.contains(&&text.trim().to_ascii_lowercase()[..])
        }
        Value::Bool(is_good) if is_named(&SUCCESS_MEMBERS) => !is_good,
        Value::Bool(is_bad) if is_named(&FAILURE_CODE_MEMBERS[..2]) => *is_bad,
        Value::Number(code) if is_named(&FAILURE_CODE_MEMBERS[2..]) => code.as_f64() != Some(0.0),
        _ => false,
    }
}

fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::from_str;

    use super::*;

    #[rstest]
    #[case(r#"{"error": "died"}"#, true)]
    #[case(r#"{"error_msg": "died"}"#, true)]
    #[case(r#"{"Status": "FAILED"}"#, true)]
    #[case(r#"{"success": false}"#, true)]
    #[case(r#"{"exit_code": 137}"#, true)]
    #[case(r#"{"error": null, "errors": 0, "success": true, "exit_code": 0}"#, false)]
    #[case(r#"{"error_rate": 0.1, "max_error": 2, "failed": 3, "completed": 0}"#, false)]
    #[case(r#"{"status": "done"}"#, false)]
    fn failures_are_known(#[case] record: &str, #[case] expected: bool) {
        assert_eq!(states_failure(&from_str(record).unwrap()), expected);
    }
}
