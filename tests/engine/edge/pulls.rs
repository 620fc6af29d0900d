//! Pulls: retried and permanent errors, credentials.

use crate::support::remedy::with_remedy;
use retrial_engine::api::RegistryAuth;
use retrial_engine::docker::PullFailure;
use retrial_engine::{Engine, EngineError};
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use wiremock::ResponseTemplate;

use super::{IMAGE, engine, failure, pull, pulls, refusal, requests, serve, stream};

#[tokio::test]
async fn transient_errors_are_retried() {
    let (server, engine) = engine().await;
    let good = [
        json!({"status": "Pulling from team/image", "id": "1"}),
        json!({"status": "Download complete", "progressDetail": {}, "id": "abc"}),
        json!({"status": "Status: Downloaded newer image"}),
    ];
    let answers = vec![
        refusal(500, "Get \"https://registry.example/v2/\": net/http: TLS handshake timeout"),
        stream(&[good[0].clone(), failure("unexpected EOF")]),
        stream(&[failure("received unexpected HTTP status: 503 Service Unavailable")]),
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
async fn persistent_errors_stop_after_the_last_retry() {
    let (server, engine) = engine().await;
    pulls(&server, vec![refusal(500, "read: connection reset by peer")]).await;
    let (result, retries) = pull(&engine).await;
    let error = result.unwrap_err();
    assert!(
        matches!(error, EngineError::Pull { failure: PullFailure::Transient, tries: 5, .. }),
        "{error:?}"
    );
    assert!(with_remedy(&error).contains("curl -I https://registry.example/v2/"), "{error}");
    assert_eq!(retries.len(), 4);
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    type Is = fn(&EngineError) -> bool;
    let cases: [(ResponseTemplate, Is); 6] = [
        (refusal(500, "manifest unknown: manifest unknown"), |e| {
            matches!(e, EngineError::Pull { failure: PullFailure::NotFound, .. })
        }),
        (refusal(404, "manifest for registry.example/team/image:1 not found"), |e| {
            matches!(e, EngineError::Pull { failure: PullFailure::NotFound, .. })
        }),
        (stream(&[failure("unauthorized: authentication required")]), |e| {
            matches!(e, EngineError::Pull { failure: PullFailure::Unauthorized, .. })
        }),
        (
            stream(&[failure("no matching manifest for linux/amd64 in the manifest list entries")]),
            |e| matches!(e, EngineError::Pull { failure: PullFailure::WrongPlatform, .. }),
        ),
        (stream(&[failure("write /var/lib/docker/tmp/x: no space left on device")]), |e| {
            matches!(e, EngineError::NoSpace { .. })
        }),
        (refusal(500, "x509: certificate signed by unknown authority"), |e| {
            matches!(e, EngineError::Pull { failure: PullFailure::Certificate, tries: 1, .. })
                && with_remedy(e).contains("certs.d")
        }),
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
async fn a_pull_that_yields_no_image_fails() {
    let (server, engine) = engine().await;
    let answer = stream(&[json!({"status": "Pulling from team/image", "id": "1"})]);
    serve(&server, "POST", "/images/create", answer).await;
    let (result, _) = pull(&engine).await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("does not list it"), "{error}");
}

#[tokio::test]
async fn credentials_use_url_safe_base64() {
    let (server, engine) = engine().await;
    pulls(&server, vec![stream(&[])]).await;
    let auth = RegistryAuth {
        username: Some("me".into()),
        password: Some(">?~>>??~~a>?~".into()),
        identity_token: None,
    };
    let (to, _from) = unbounded_channel();
    engine.pull_image(IMAGE, Some(auth), to).await.unwrap();
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
