//! The token goes where the hub's answers point.

use futures_util::StreamExt;

use crate::hub::{At, Fault, Place};
use crate::scene::{FILE, NAME, Scene};

/// Refuted by sending the token only to the endpoint's origin in `paginate`. A mirror that passes
/// on the pages of another hub is enough.
#[tokio::test(flavor = "multi_thread")]
async fn the_token_follows_a_listing_to_another_host() {
    let scene = Scene::http();
    let next = format!("{}/next", scene.hub.cdn());
    scene.hub.fault(Fault::NextPage(next), &At::any(Place::Tree, NAME), 1);
    let model = scene.model();
    let listed: Vec<_> = model.list_tree().recursive(true).send().unwrap().collect().await;
    assert!(listed.last().unwrap().is_err());
    assert!(scene.leaks_token("/next"), "{:#?}", scene.hub.requests());
}

/// As above: `snapshot_download` lists by the same requests.
#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_a_snapshot_download_follows_it_too() {
    let scene = Scene::http();
    let next = format!("{}/next", scene.hub.cdn());
    scene.hub.fault(Fault::NextPage(next), &At::any(Place::Tree, NAME), 1);
    scene.model().snapshot_download().send().await.unwrap_err();
    assert!(scene.leaks_token("/next"), "{:#?}", scene.hub.requests());
}

/// Refuted by comparing the origins of the resolved address and the endpoint in
/// `head_with_relative_redirects`: `Url::join` reads `/\` as `//`, and the text does not begin so.
#[tokio::test(flavor = "multi_thread")]
async fn the_token_follows_a_redirect_to_another_host() {
    let scene = Scene::http();
    let location = format!("/\\{}/elsewhere", scene.other_host());
    scene.hub.fault(Fault::Redirect(location), &At::file(Place::Head, NAME, FILE), 1);
    scene.download().await.unwrap_err();
    assert!(scene.leaks_token("/elsewhere"), "{:#?}", scene.hub.requests());
}
