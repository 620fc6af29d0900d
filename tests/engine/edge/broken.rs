//! Connections that break off, and requests that take their time.

use std::time::Duration;

use retrial_container::ContainerSpec;
use retrial_engine::api::{ExecSpec, ImageProgress};
use retrial_engine::{Engine, EngineError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc::unbounded_channel;
use wiremock::matchers::{method, path, path_regex};
use wiremock::{Mock, ResponseTemplate};

use super::{IMAGE, connect, engine, pull, refusal, requests, serve, version};

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
                    let answer =
                        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
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
async fn an_engine_that_closes_the_connection_is_unavailable() {
    let url = raw(vec![("", 0)]).await;
    let engine = connect(url).await.unwrap();
    let spec = ContainerSpec::default();
    let cases = [
        engine.create_container(&spec).await.map(|_| ()),
        engine.start_container("x").await,
        engine.exec_detached("x", &ExecSpec::default()).await.map(|_| ()),
        engine.query_exec_status("x").await.map(|_| ()),
        engine.inspect_container("x").await.map(|_| ()),
        engine.list_containers("x").await.map(|_| ()),
        engine.read_container_log("x", 1).await.map(|_| ()),
        engine.stop_container("x", 1).await,
        engine.remove_container("x").await,
    ];
    for (index, case) in cases.into_iter().enumerate() {
        let error = case.unwrap_err();
        assert!(matches!(error, EngineError::Disconnected { .. }), "{index}: {error:?}");
        assert!(error.is_unavailable());
        assert!(error.to_string().contains("lost the connection to the engine"), "{error}");
    }
}

#[tokio::test]
async fn a_broken_stream_is_an_error_and_a_slow_one_is_not() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    // A chunk that promises more than comes.
    let url = raw(vec![(HEAD, 0), ("fff\r\n{\"status\":\"Download", 0)]).await;
    let engine = connect(url).await.unwrap();
    let (result, retries) = pull(&engine.with_retry_delay(Duration::from_millis(1))).await;
    let error = result.unwrap_err();
    assert!(matches!(error, EngineError::Disconnected { .. }), "{error:?}");
    assert_eq!(retries.len(), 4);

    // Pieces of a message that come late, over more than a client's patience with silence.
    let url = raw(vec![
        (HEAD, 0),
        ("9\r\n{\"status\"\r\n", 400),
        ("b\r\n:\"Waiting\"}\r\n", 400),
        ("2\r\n\r\n\r\n0\r\n\r\n", 400),
    ])
    .await;
    let engine = connect(url).await.unwrap();
    let (to, mut from) = unbounded_channel();
    // The same answer to the inspect that follows says nothing of an image: only the stream
    // matters here.
    let _ = engine.pull_image(IMAGE, None, to).await;
    let mut steps = Vec::new();
    while let Ok(step) = from.try_recv() {
        steps.push(step);
    }
    assert_eq!(steps, [ImageProgress::Line("Waiting".into())]);
}

#[tokio::test]
async fn an_engine_that_is_shutting_down_is_unavailable() {
    let (server, engine) = engine().await;
    Mock::given(method("POST"))
        .and(path_regex("^/containers/x/(start|stop)"))
        .respond_with(refusal(503, "shutting down"))
        .mount(&server)
        .await;
    assert!(engine.start_container("x").await.unwrap_err().is_unavailable());
    assert!(engine.stop_container("x", 1).await.unwrap_err().is_unavailable());
}

#[tokio::test]
async fn a_removal_in_progress_is_waited_for() {
    let (server, engine) = engine().await;
    Mock::given(method("DELETE"))
        .and(path("/containers/x"))
        .respond_with(refusal(409, "removal of container x is already in progress"))
        .up_to_n_times(2)
        .mount(&server)
        .await;
    serve(&server, "DELETE", "/containers/x", refusal(404, "No such container: x")).await;
    engine.remove_container("x").await.unwrap();
    assert_eq!(requests(&server, "/containers/x").await, 3);

    let at = "/containers/busy";
    serve(&server, "DELETE", at, refusal(500, "unlinkat: device or resource busy")).await;
    assert!(engine.remove_container("busy").await.is_err());
    assert_eq!(requests(&server, at).await, 6);
}

#[tokio::test]
async fn stopping_waits_for_the_grace_period() {
    let (server, engine) = engine().await;
    let slow = ResponseTemplate::new(204).set_delay(Duration::from_millis(1500));
    serve(&server, "POST", "/containers/x/stop", slow).await;
    engine.stop_container("x", 1).await.unwrap();
    let all = server.received_requests().await.unwrap();
    assert_eq!(all.last().unwrap().url.query(), Some("t=1"));
}
