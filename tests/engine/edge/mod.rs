//! What the engine's edge makes of answers that a real engine gives only on bad days.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod broken;
mod pulls;

use crate::support::remedy::with_remedy;
use std::time::Duration;

use retrial_engine::api::{ImageInfo, ImageProgress};
use retrial_engine::endpoint::EngineEnvironment;
use retrial_engine::{DockerEngine, Engine, EngineError};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const IMAGE: &str = "registry.example/team/image:1";

async fn connect(url: String) -> Result<DockerEngine, EngineError> {
    let environment =
        EngineEnvironment { configuration: "/nowhere".into(), ..EngineEnvironment::default() };
    DockerEngine::connect_with_environment(Some(&url), &environment).await
}

fn version(api: &str) -> Value {
    json!({"Version": "20.10.24", "ApiVersion": api, "Os": "linux", "Arch": "amd64", "KernelVersion": "6.1",
           "Components": [{"Name": "Engine", "Version": "20.10.24", "Details": {}}]})
}

fn image() -> Value {
    json!({"Id": "sha256:1", "RepoDigests": ["registry.example/team/image@sha256:2"], "Size": 7,
           "Architecture": "amd64", "Os": "linux", "Config": {"Env": null, "Entrypoint": null}})
}

async fn serve(server: &MockServer, verb: &str, at: &str, answer: ResponseTemplate) {
    Mock::given(method(verb)).and(path(at)).respond_with(answer).mount(server).await;
}

async fn engine() -> (MockServer, DockerEngine) {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(200).set_body_json(version("1.41"));
    serve(&server, "GET", "/version", answer).await;
    let engine = connect(server.uri()).await.unwrap();
    (server, engine.with_retry_delay(Duration::from_millis(1)))
}

/// The answers to one pull after the other; the last one stays.
async fn pulls(server: &MockServer, answers: Vec<ResponseTemplate>) {
    let last = answers.len();
    for (index, answer) in answers.into_iter().enumerate() {
        let mock = Mock::given(method("POST")).and(path("/images/create")).respond_with(answer);
        let mock = if index + 1 < last { mock.up_to_n_times(1) } else { mock };
        mock.mount(server).await;
    }
    let at = format!("/images/{IMAGE}/json");
    serve(server, "GET", &at, ResponseTemplate::new(200).set_body_json(image())).await;
}

fn stream(lines: &[Value]) -> ResponseTemplate {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let text = lines.join("\r\n") + "\r\n";
    ResponseTemplate::new(200).set_body_raw(text, "application/json")
}

fn failure(message: &str) -> Value {
    json!({"errorDetail": {"message": message}, "error": message})
}

fn refusal(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"message": message}))
}

async fn pull(engine: &DockerEngine) -> (Result<ImageInfo, EngineError>, Vec<String>) {
    let (to, mut from) = unbounded_channel();
    let result = engine.pull_image(IMAGE, None, to).await;
    let mut retries = Vec::new();
    while let Ok(step) = from.try_recv() {
        if let ImageProgress::Retry { reason, .. } = step {
            retries.push(reason);
        }
    }
    (result, retries)
}

async fn requests(server: &MockServer, at: &str) -> usize {
    let all = server.received_requests().await.unwrap();
    all.iter().filter(|request| request.url.path() == at).count()
}

#[tokio::test]
async fn connecting_takes_one_round_trip() {
    let (server, engine) = engine().await;
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
    let info = engine.info();
    assert_eq!((&*info.product, &*info.api), ("Docker Engine", "1.41"));
    assert_eq!(info.platform, "linux/amd64, kernel 6.1");
}

#[tokio::test]
async fn an_old_engine_is_refused_with_advice() {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(200).set_body_json(version("1.39"));
    serve(&server, "GET", "/version", answer).await;
    let error = connect(server.uri()).await.unwrap_err();
    assert!(matches!(error, EngineError::TooOld { .. }), "{error:?}");
    assert!(with_remedy(&error).contains("has API 1.39"), "{error}");
    assert!(with_remedy(&error).contains("update the engine"), "{error}");
}

#[tokio::test]
async fn a_web_server_is_not_an_engine() {
    let server = MockServer::start().await;
    let error = connect(server.uri()).await.unwrap_err();
    assert!(with_remedy(&error).contains("no container engine"), "{error}");
    let answer = ResponseTemplate::new(200).set_body_string("<html>");
    serve(&server, "GET", "/version", answer).await;
    let error = connect(server.uri()).await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error:?}");
}
