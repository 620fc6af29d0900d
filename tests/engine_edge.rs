//! What the engine's edge makes of answers that a real engine gives only on bad days.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::time::Duration;

use retrial_container::ContainerSpec;
use retrial_engine::api::{ExecSpec, ImageInfo, ImageProgress, RegistryAuth};
use retrial_engine::docker::PullFailure;
use retrial_engine::endpoint::Endpoint;
use retrial_engine::{Docker, Engine, EngineError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc::unbounded_channel;
use wiremock::matchers::{method, path, path_regex};
use wiremock::{Mock, MockServer, ResponseTemplate};

const IMAGE: &str = "registry.example/team/image:1";

fn endpoint(url: String) -> Endpoint {
    Endpoint {
        url,
        chosen_by: "test".into(),
        tls: None,
    }
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
    Mock::given(method(verb))
        .and(path(at))
        .respond_with(answer)
        .mount(server)
        .await;
}

async fn engine() -> (MockServer, Docker) {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(200).set_body_json(version("1.41"));
    serve(&server, "GET", "/version", answer).await;
    let engine = Docker::connect_to(&endpoint(server.uri())).await.unwrap();
    (server, engine.with_backoff(Duration::from_millis(1)))
}

/// The answers to one pull after the other; the last one stays.
async fn pulls(server: &MockServer, answers: Vec<ResponseTemplate>) {
    let last = answers.len();
    for (index, answer) in answers.into_iter().enumerate() {
        let mock = Mock::given(method("POST"))
            .and(path("/images/create"))
            .respond_with(answer);
        let mock = if index + 1 < last {
            mock.up_to_n_times(1)
        } else {
            mock
        };
        mock.mount(server).await;
    }
    let at = format!("/images/{IMAGE}/json");
    serve(
        server,
        "GET",
        &at,
        ResponseTemplate::new(200).set_body_json(image()),
    )
    .await;
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

async fn pull(engine: &Docker) -> (Result<ImageInfo, EngineError>, Vec<String>) {
    let (to, mut from) = unbounded_channel();
    let result = engine.pull(IMAGE, None, to).await;
    let mut retries = Vec::new();
    while let Ok(step) = from.try_recv() {
        if let ImageProgress::Retry { because, .. } = step {
            retries.push(because);
        }
    }
    (result, retries)
}

async fn requests(server: &MockServer, at: &str) -> usize {
    let all = server.received_requests().await.unwrap();
    all.iter()
        .filter(|request| request.url.path() == at)
        .count()
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
    let error = Docker::connect_to(&endpoint(server.uri()))
        .await
        .unwrap_err();
    assert!(matches!(error, EngineError::TooOld { .. }), "{error:?}");
    assert!(error.to_string().contains("has API 1.39"), "{error}");
    assert!(error.to_string().contains("update the engine"), "{error}");
}

#[tokio::test]
async fn a_web_server_is_no_engine() {
    let server = MockServer::start().await;
    let error = Docker::connect_to(&endpoint(server.uri()))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no container engine"), "{error}");
    let answer = ResponseTemplate::new(200).set_body_string("<html>");
    serve(&server, "GET", "/version", answer).await;
    let error = Docker::connect_to(&endpoint(server.uri()))
        .await
        .unwrap_err();
    assert!(
        matches!(error, EngineError::Unreachable { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn passing_faults_are_tried_again() {
    let (server, engine) = engine().await;
    let good = [
        json!({"status": "Pulling from team/image", "id": "1"}),
        json!({"status": "Download complete", "progressDetail": {}, "id": "abc"}),
        json!({"status": "Status: Downloaded newer image"}),
    ];
    let answers = vec![
        refusal(
            500,
            "Get \"https://registry.example/v2/\": net/http: TLS handshake timeout",
        ),
        stream(&[good[0].clone(), failure("unexpected EOF")]),
        stream(&[failure(
            "received unexpected HTTP status: 503 Service Unavailable",
        )]),
        refusal(429, "toomanyrequests: slow down"),
        stream(&good),
    ];
    pulls(&server, answers).await;
    let (result, retries) = pull(&engine).await;
    assert_eq!(result.unwrap().repo_digests.len(), 1);
    assert_eq!(retries.len(), 4, "{retries:?}");
    assert_eq!(retries[1], "unexpected EOF");
    assert_eq!(requests(&server, "/images/create").await, 5);
}

#[tokio::test]
async fn what_stays_broken_is_given_up() {
    let (server, engine) = engine().await;
    pulls(
        &server,
        vec![refusal(500, "read: connection reset by peer")],
    )
    .await;
    let (result, retries) = pull(&engine).await;
    let error = result.unwrap_err();
    assert!(
        matches!(
            error,
            EngineError::Pull {
                failure: PullFailure::Transient,
                tries: 5,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .contains("curl -I https://registry.example/v2/"),
        "{error}"
    );
    assert_eq!(retries.len(), 4);
}

#[tokio::test]
async fn definite_faults_are_not_tried_again() {
    type Is = fn(&EngineError) -> bool;
    let cases: [(ResponseTemplate, Is); 6] = [
        (refusal(500, "manifest unknown: manifest unknown"), |e| {
            matches!(
                e,
                EngineError::Pull {
                    failure: PullFailure::NotFound,
                    ..
                }
            )
        }),
        (
            refusal(404, "manifest for registry.example/team/image:1 not found"),
            |e| {
                matches!(
                    e,
                    EngineError::Pull {
                        failure: PullFailure::NotFound,
                        ..
                    }
                )
            },
        ),
        (
            stream(&[failure("unauthorized: authentication required")]),
            |e| {
                matches!(
                    e,
                    EngineError::Pull {
                        failure: PullFailure::Unauthorized,
                        ..
                    }
                )
            },
        ),
        (
            stream(&[failure(
                "no matching manifest for linux/amd64 in the manifest list entries",
            )]),
            |e| {
                matches!(
                    e,
                    EngineError::Pull {
                        failure: PullFailure::WrongPlatform,
                        ..
                    }
                )
            },
        ),
        (
            stream(&[failure(
                "write /var/lib/docker/tmp/x: no space left on device",
            )]),
            |e| matches!(e, EngineError::NoSpace { .. }),
        ),
        (
            refusal(500, "x509: certificate signed by unknown authority"),
            |e| {
                matches!(
                    e,
                    EngineError::Pull {
                        failure: PullFailure::Certificate,
                        tries: 1,
                        ..
                    }
                ) && e.to_string().contains("certs.d")
            },
        ),
    ];
    for (answer, is) in cases {
        let (server, engine) = engine().await;
        pulls(&server, vec![answer]).await;
        let (result, retries) = pull(&engine).await;
        let error = result.unwrap_err();
        assert!(is(&error), "{error:?}");
        assert!(retries.is_empty(), "{retries:?}");
        assert_eq!(requests(&server, "/images/create").await, 1);
    }
}

#[tokio::test]
async fn a_pull_without_an_image_at_the_end_is_no_success() {
    let (server, engine) = engine().await;
    let answer = stream(&[json!({"status": "Pulling from team/image", "id": "1"})]);
    serve(&server, "POST", "/images/create", answer).await;
    let (result, _) = pull(&engine).await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("does not list it"), "{error}");
}

#[tokio::test]
async fn credentials_travel_in_the_url_safe_alphabet() {
    let (server, engine) = engine().await;
    pulls(&server, vec![stream(&[])]).await;
    let auth = RegistryAuth {
        username: Some("me".into()),
        password: Some(">?~>>??~~a>?~".into()),
        identity_token: None,
    };
    let (to, _from) = unbounded_channel();
    engine.pull(IMAGE, Some(auth), to).await.unwrap();
    let all = server.received_requests().await.unwrap();
    let sent = all
        .iter()
        .find_map(|request| request.headers.get("x-registry-auth"))
        .unwrap()
        .to_str()
        .unwrap();
    assert!(!sent.contains(['+', '/']), "{sent}");
    assert!(sent.contains('-') && sent.contains('_'), "{sent}");
}

/// Answers the version, and to every other request sends `pieces` with a pause before each;
/// the connection then ends as it is.
async fn raw(pieces: Vec<(&'static str, u64)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("tcp://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let pieces = pieces.clone();
            tokio::spawn(async move {
                let mut request = vec![0; 65536];
                let count = socket.read(&mut request).await.unwrap();
                if request[..count].starts_with(b"GET /version") {
                    let body = version("1.41").to_string();
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    socket.write_all(answer.as_bytes()).await.unwrap();
                    return;
                }
                for (piece, pause) in pieces {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    let _ = socket.write_all(piece.as_bytes()).await;
                }
            });
        }
    });
    url
}

#[tokio::test]
async fn an_engine_that_breaks_off_has_gone() {
    let url = raw(vec![("", 0)]).await;
    let engine = Docker::connect_to(&endpoint(url)).await.unwrap();
    let spec = ContainerSpec::default();
    let cases = [
        engine.create(&spec).await.map(|_| ()),
        engine.start("x").await,
        engine
            .exec_detached("x", &ExecSpec::default())
            .await
            .map(|_| ()),
        engine.exec_status("x").await.map(|_| ()),
        engine.container("x").await.map(|_| ()),
        engine.containers("x").await.map(|_| ()),
        engine.container_log("x", 1).await.map(|_| ()),
        engine.stop("x", 1).await,
        engine.remove("x").await,
    ];
    for (index, case) in cases.into_iter().enumerate() {
        let error = case.unwrap_err();
        assert!(
            matches!(error, EngineError::Gone { .. }),
            "{index}: {error:?}"
        );
        assert!(error.is_gone());
        assert!(error.to_string().contains("lost the engine"), "{error}");
    }
}

#[tokio::test]
async fn a_broken_stream_is_gone_and_a_slow_one_is_not() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    // A chunk that promises more than comes.
    let url = raw(vec![(HEAD, 0), ("fff\r\n{\"status\":\"Download", 0)]).await;
    let engine = Docker::connect_to(&endpoint(url)).await.unwrap();
    let (result, retries) = pull(&engine.with_backoff(Duration::from_millis(1))).await;
    let error = result.unwrap_err();
    assert!(matches!(error, EngineError::Gone { .. }), "{error:?}");
    assert_eq!(retries.len(), 4);

    // Pieces of a message that come late, over more than a client's patience with silence.
    let url = raw(vec![
        (HEAD, 0),
        ("9\r\n{\"status\"\r\n", 400),
        ("b\r\n:\"Waiting\"}\r\n", 400),
        ("2\r\n\r\n\r\n0\r\n\r\n", 400),
    ])
    .await;
    let engine = Docker::connect_to(&endpoint(url)).await.unwrap();
    let (to, mut from) = unbounded_channel();
    // The same answer to the inspect that follows says nothing of an image: only the stream
    // matters here.
    let _ = engine.pull(IMAGE, None, to).await;
    let mut seen = Vec::new();
    while let Ok(step) = from.try_recv() {
        seen.push(step);
    }
    assert_eq!(seen, [ImageProgress::Line("Waiting".into())]);
}

#[tokio::test]
async fn an_engine_that_is_shutting_down_has_gone() {
    let (server, engine) = engine().await;
    Mock::given(method("POST"))
        .and(path_regex("^/containers/x/(start|stop)"))
        .respond_with(refusal(503, "shutting down"))
        .mount(&server)
        .await;
    assert!(engine.start("x").await.unwrap_err().is_gone());
    assert!(engine.stop("x", 1).await.unwrap_err().is_gone());
}

#[tokio::test]
async fn a_removal_in_progress_is_waited_for() {
    let (server, engine) = engine().await;
    Mock::given(method("DELETE"))
        .and(path("/containers/x"))
        .respond_with(refusal(
            409,
            "removal of container x is already in progress",
        ))
        .up_to_n_times(2)
        .mount(&server)
        .await;
    serve(
        &server,
        "DELETE",
        "/containers/x",
        refusal(404, "No such container: x"),
    )
    .await;
    engine.remove("x").await.unwrap();
    assert_eq!(requests(&server, "/containers/x").await, 3);

    let at = "/containers/busy";
    serve(
        &server,
        "DELETE",
        at,
        refusal(500, "unlinkat: device or resource busy"),
    )
    .await;
    assert!(engine.remove("busy").await.is_err());
    assert_eq!(requests(&server, at).await, 6);
}

#[tokio::test]
async fn stopping_waits_as_long_as_the_grace() {
    let (server, engine) = engine().await;
    let slow = ResponseTemplate::new(204).set_delay(Duration::from_millis(1500));
    serve(&server, "POST", "/containers/x/stop", slow).await;
    engine.stop("x", 1).await.unwrap();
    let all = server.received_requests().await.unwrap();
    assert_eq!(all.last().unwrap().url.query(), Some("t=1"));
}
