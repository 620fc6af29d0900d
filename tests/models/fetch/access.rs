//! Access rights, the messages for users, and where a token goes.

use retrial_hub::FetchError;
use rstest::rstest;

use super::scene::{NAME, Scene, model_spec};
use crate::hub::{Access, At, Content, Fault, Place, Repository, Request};
use crate::support::remedy::with_remedy;

fn model(access: Access) -> Repository {
    Repository::new(NAME)
        .file("config.json", "{}")
        .lfs("model.safetensors", Content::generated(1, 1 << 20))
        .access(access)
}

fn scene(access: Access) -> Scene {
    let scene = Scene::new(model(access));
    scene.hub.account("me", "hf_mine");
    scene.hub.account("other", "hf_other");
    scene
}

/// A user's error message, without the parts that differ from run to run.
async fn error_message(scene: &Scene, revision: &str) -> String {
    let error = with_remedy(&scene.fetch(&model_spec(revision)).await.error());
    assert!(!error.contains("hf_mine") && !error.contains("hf_other"), "{error}");
    assert!(!scene.cache().join("models--owner--model/blobs").exists());
    error.replace(scene.hub.endpoint(), "https://hub")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_names_the_next_step() {
    let only_me = || vec!["me".to_owned()];
    let mut texts = Vec::new();
    texts.push(error_message(&scene(Access::Private(only_me())), "main").await);
    texts.push(error_message(&scene(Access::Private(only_me())).token("hf_unknown"), "main").await);
    texts.push(error_message(&scene(Access::Private(only_me())).token("hf_other"), "main").await);
    texts.push(error_message(&scene(Access::Public), "no-such-branch").await);
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gated_model_needs_an_account_with_access() {
    let only_me = || vec!["me".to_owned()];
    let without = scene(Access::Gated(only_me())).main_error().await;
    assert!(without.contains("gated"), "{without}");
    assert!(without.contains("there is no token"), "{without}");
    assert!(without.contains("/owner/model and request access"), "{without}");
    let with = scene(Access::Gated(only_me())).token("hf_other").main_error().await;
    assert!(with.contains("HF_TOKEN has no access"), "{with}");
    assert!(with.contains("/owner/model and request access"), "{with}");
    let mine = scene(Access::Gated(only_me())).token("hf_mine");
    assert_eq!(mine.main().await.fetched().files.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_sent_only_to_the_hub() {
    let scene = scene(Access::Private(vec!["me".to_owned()])).token("hf_mine");
    scene.main().await.fetched();
    let requests = scene.hub.requests();
    let at_cdn = requests.iter().filter(|request| !request.authorized);
    assert_eq!(at_cdn.count(), 1, "{requests:#?}");
    assert!(requests.iter().filter(|request| request.authorized).count() >= 3);
}

#[rstest]
#[case(Place::Info)]
#[case(Place::Tree)]
#[case(Place::Resolve)]
#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_does_not_take_the_token_to_another_host(
    #[case] place: Place,
    #[values("http://", "//", "/\\")] prefix: &str,
) {
    let scene = scene(Access::Private(vec!["me".to_owned()])).token("hf_mine");
    let host = scene.hub.cdn().strip_prefix("http://").unwrap();
    let location = format!("{prefix}{host}/elsewhere");
    scene.hub.fault(Fault::Redirect(location), &At::any(place, NAME), 100);
    scene.main().await.error();
    let requests = scene.hub.requests();
    let elsewhere = |request: &&Request| request.path == "/elsewhere";
    let mut elsewhere = requests.iter().filter(elsewhere).peekable();
    assert!(elsewhere.peek().is_some());
    assert!(elsewhere.all(|request| !request.authorized), "{requests:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_does_not_continue_on_another_host() {
    let scene = scene(Access::Private(vec!["me".to_owned()])).token("hf_mine");
    let next = format!("{}/next", scene.hub.cdn());
    scene.hub.fault(Fault::NextPage(next), &At::any(Place::Tree, NAME), 1);
    let error = scene.main().await.error();
    assert!(matches!(error, FetchError::Malformed { .. }), "{error}");
    let requests = scene.hub.requests();
    assert!(requests.iter().all(|request| request.path != "/next"), "{requests:#?}");
}

impl Scene {
    async fn main_error(self) -> String {
        let error = self.main().await.error();
        assert!(self.names("blobs").is_empty());
        with_remedy(&error)
    }
}
