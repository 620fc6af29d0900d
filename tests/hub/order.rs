//! `/-/…`: what the real hub does not have: faults to order and the log to read, for tests that
//! are no Rust.

use axum::http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::answer::{Answer, json_answer, text};
use super::fault::{At, Fault, Order};
use super::route::ParsedRequest;
use super::state::State;

#[derive(Deserialize)]
struct Ordered {
    #[serde(flatten)]
    at: At,
    fault: Fault,
    #[serde(default = "once")]
    times: u32,
}

fn once() -> u32 {
    1
}

/// Serves `/-/faults` (POST), `/-/requests` (GET), `/-/release` and `/-/forget` (POST).
pub fn serve(state: &State, request: &ParsedRequest) -> Answer {
    let call = request.segments.get(1).map(String::as_str);
    match (&request.method, call) {
        (&Method::POST, Some("faults")) => match serde_json::from_slice::<Ordered>(&request.body) {
            Ok(Ordered { at, fault, times }) => {
                state.lock().orders.push(Order { at, fault, times });
                json_answer(&json!({ "ordered": times }))
            }
            Err(error) => text(
                StatusCode::BAD_REQUEST,
                "text/plain",
                format!(
                    "{error}\nfor example: {{\"place\": \"bytes\", \"repository\": \"owner/name\", \"file\": \"config.json\", \"fault\": {{\"cut\": 100}}, \"times\": 1}}\n"
                ),
            ),
        },
        (&Method::GET, Some("requests")) => {
            let requests = &state.lock().requests;
            let requests: Vec<_> = requests
                .iter()
                .map(|request| {
                    let mut value = serde_json::to_value(request).unwrap();
                    value["sent"] = json!(request.sent());
                    value
                })
                .collect();
            json_answer(&json!(requests))
        }
        (&Method::POST, Some("release")) => {
            state.released.send_modify(|count| *count += 1);
            json_answer(&json!({}))
        }
        (&Method::POST, Some("forget")) => {
            state.lock().requests.clear();
            state.lock().orders.clear();
            json_answer(&json!({}))
        }
        _ => text(StatusCode::NOT_FOUND, "text/plain", "no such order\n".to_owned()),
    }
}
