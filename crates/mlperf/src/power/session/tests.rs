//! A session of our own that passes, and a change for each check.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn session(is_server: bool) -> Value {
    let go = "Starting untimed measurement, maximum 500000 samples at 1000ms with 0 rampup samples";
    let stop = "Stopping untimed measurement";
    let message = |cmd: &str, reply: &str| json!({"cmd": cmd, "reply": reply});
    let mut session = json!({
        "uuid": {"client": "1", "server": "2"},
        "session_name": "2026-01-01_12-00-00",
        "messages": [
            message("mlcommons/power client v3", "mlcommons/power server v3"),
            message("time", if is_server { "1.5" } else { "1.4" }),
            message("session,start", "OK"),
        ],
        "phases": {"ranging": [[100.0, 1.0], [110.0, 1.0]], "testing": [[200.0, 1.0], [210.0, 1.0]]},
    });
    if is_server {
        session["ptd_messages"] = json!([
            message("Hello", "Hello, PTDaemon here!"),
            message("Identify", "YokogawaWT310E,1,version=1.11.1-69286632-20240907,OS=Linux"),
            message("RR", "Ranges,0,40.000000,1,-1"),
            message("SR,V,Auto", "Range V changed"),
            message("SR,A,Auto", "Range A changed"),
            message("Go,1000,0,x_ranging", go),
            message("Stop", stop),
            message("SR,V,230", "Range V changed"),
            message("SR,A,2", "Range A changed"),
            message("Go,1000,0,x_testing", go),
            message("Stop", stop),
            message("Stop", "Error: no measurement to stop"),
            message("SR,V,Auto", "Range V changed"),
            message("SR,A,40.000000", "Range A changed"),
        ]);
        session["ptd_config"] =
            json!([{"command": ["ptd", "-c", "1"], "device_type": 49, "channel": null}]);
    }
    session
}

fn violated(client: &Value, server: &Value) -> Vec<String> {
    let sessions =
        PowerSessions { client: client.as_object().unwrap(), server: server.as_object().unwrap() };
    let checks = sessions.check().into_iter().filter(|check| !check.passed);
    checks.map(|check| check.rule).collect()
}

#[test]
fn a_session_passes() {
    assert_eq!(violated(&session(false), &session(true)), [""; 0]);
}

#[rstest]
#[case("/uuid/server", json!("3"), "uuid of the power session")]
#[case("/session_name", json!("other"), "session_name of the power session")]
#[case("/messages/2/reply", json!("Error"), "messages of the power session")]
#[case("/messages", json!([]), "messages of the power session")]
#[case("/ptd_messages/1/reply", json!("YokogawaWT310E,1,version=1.9.2-x"), "power meter")]
#[case("/ptd_messages/1/reply", json!("Other,1,version=1.11.1-x"), "power meter")]
#[case("/ptd_messages/5/reply", json!("Error: no"), "answers of the power meter")]
#[case("/ptd_messages/11/reply", json!("Stopping untimed measurement"), "answers of the power meter")]
#[case("/ptd_messages/13/cmd", json!("SR,A,2"), "ranges of the power meter")]
#[case("/debug", json!(true), "debug mode of the power server")]
#[case("/phases/testing/1/0", json!(210.9), "clocks of the testing phase")]
#[case("/phases/ranging", json!([[100.0]]), "clocks of the ranging phase")]
#[case("/ptd_config/0/device_type", json!(1), "configuration of the power meter")]
#[case("/ptd_config/0/device_type", json!(77), "configuration of the power meter")]
fn a_changed_session_is_reported(#[case] pointer: &str, #[case] value: Value, #[case] rule: &str) {
    let mut server = session(true);
    match server.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => server[&pointer[1..]] = value,
    }
    assert_eq!(violated(&session(false), &server), [rule]);
}

#[test]
fn two_channels_are_required_of_a_meter_with_channels() {
    let mut server = session(true);
    server["ptd_config"] =
        json!([{"command": ["ptd", "-c", "1,2"], "device_type": 77, "channel": [1, 2]}]);
    assert_eq!(violated(&session(false), &server), [""; 0]);
}
