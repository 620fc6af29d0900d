//! What arrives where nothing goes wrong.

use retrial_hub::DownloadState;
use retrial_hub::{FetchError, FetchProgress, ModelSpec};

use super::scene::{NAME, Scene, content, model_spec};
use crate::hub::{Content, Repository};

fn model() -> Repository {
    Repository::new(NAME)
        .file("config.json", "{}\n")
        .file("empty", "")
        .file("sub/dir/config again.json", "{}\n")
        .lfs("model.safetensors", Content::generated(1, 3 << 20))
        .lfs("original/model.safetensors", Content::generated(1, 3 << 20))
        .tag("v1")
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_stored_where_the_python_client_expects_them() {
    let scene = Scene::new(model());
    let commit = model().commit();
    let fetched = scene.main().await.fetched();
    assert_eq!((fetched.commit.as_str(), fetched.files.len()), (commit.as_str(), 5));
    assert_eq!(fetched.directory, scene.at(&format!("snapshots/{commit}")));
    assert_eq!(std::fs::read_to_string(scene.at("refs/main")).unwrap(), commit);
    let expected = Content::generated(1, 3 << 20);
    assert_eq!(content(&fetched, "model.safetensors"), expected.to_vec());
    assert_eq!(content(&fetched, "sub/dir/config again.json"), b"{}\n");
    let link = std::fs::read_link(fetched.directory.join("original/model.safetensors")).unwrap();
    assert_eq!(link.display().to_string(), format!("../../../blobs/{}", expected.sha256()));
    // Two names of one content: one blob, that came once.
    assert_eq!(scene.names("blobs").len(), 3);
    assert_eq!(fetched.bytes_fetched, (3 << 20) + 3);
    assert!(scene.at(&format!("trees/{commit}.json")).exists());
    assert!(scene.cache().join("CACHEDIR.TAG").exists());
    let locks = scene.cache().join(".locks/models--owner--model");
    assert!(locks.join(format!("{}.lock", expected.sha256())).exists());
    for file in &fetched.files {
        assert!(std::fs::symlink_metadata(&file.blob).unwrap().is_file());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_fetch_transfers_and_hashes_nothing() {
    let scene = Scene::new(model());
    let first = scene.main().await.fetched();
    scene.hub.forget();
    let again = scene.main().await;
    let checked = |event: &FetchProgress| {
        matches!(
            event,
            FetchProgress::File {
                state: DownloadState::Verifying | DownloadState::Downloading,
                ..
            }
        )
    };
    assert!(!again.progress.iter().any(checked), "{:?}", again.progress);
    let again = again.fetched();
    assert_eq!((again.files, again.bytes_fetched), (first.files, 0));
    // The branch was requested; its listing was not.
    assert_eq!(scene.hub.requests().len(), 1);
    // A commit needs no question at all.
    scene.hub.forget();
    scene.fetch(&model_spec(&first.commit)).await.fetched();
    assert_eq!(scene.hub.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_branch_fetches_only_new_files() {
    let scene = Scene::new(model());
    let old = scene.main().await.fetched();
    scene.hub.add(model().file("config.json", "{\"new\": 1}\n"));
    scene.hub.forget();
    let new = scene.main().await.fetched();
    assert_ne!(new.commit, old.commit);
    assert_eq!(new.bytes_fetched, 11);
    assert_eq!(content(&new, "config.json"), b"{\"new\": 1}\n");
    assert_eq!(content(&old, "config.json"), b"{}\n");
    assert_eq!(scene.hub.downloads(NAME, "model.safetensors"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_short_commits_and_old_names() {
    let scene = Scene::new(model());
    let commit = model().commit();
    for revision in ["v1", &commit[..10], "refs/heads/main"] {
        let fetched = scene.fetch(&model_spec(revision)).await.fetched();
        assert_eq!(fetched.commit, commit);
        assert!(scene.at(&format!("refs/{revision}")).exists());
    }
    scene.hub.rename(NAME, "owner/renamed");
    std::fs::remove_dir_all(scene.cache()).unwrap();
    assert_eq!(scene.main().await.fetched().files.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_of_many_pages() {
    let scene = Scene::new(model());
    scene.hub.page(2);
    assert_eq!(scene.main().await.fetched().files.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_selected_files_are_fetched() {
    let scene = Scene::new(model());
    let some = ModelSpec {
        allow: vec!["*.json".to_owned(), "*.safetensors".to_owned()],
        ignore: vec!["original/*".to_owned()],
        ..model_spec("main")
    };
    let fetched = scene.fetch(&some).await.fetched();
    let paths: Vec<&str> = fetched.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["config.json", "model.safetensors", "sub/dir/config again.json"]);
    let nothing = ModelSpec { allow: vec!["*.bin".to_owned()], ..model_spec("main") };
    let error = scene.fetch(&nothing).await.error();
    assert!(matches!(error, FetchError::NothingSelected { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_other_programs_are_used_after_verification() {
    let scene = Scene::new(model());
    let content = Content::generated(1, 3 << 20);
    let blob = scene.at("blobs").join(content.sha256());
    std::fs::create_dir_all(scene.at("blobs")).unwrap();
    std::fs::write(&blob, content.to_vec()).unwrap();
    scene.main().await.fetched();
    assert_eq!(scene.hub.downloads(NAME, "model.safetensors"), 0);
    // One that is as long and wrong goes, also where it was right before.
    let mut wrong = content.to_vec();
    wrong[1000] ^= 1;
    std::fs::write(&blob, &wrong).unwrap();
    let went = scene.main().await;
    assert_eq!(went.discarded().len(), 1);
    went.fetched();
    assert_eq!(std::fs::read(&blob).unwrap(), content.to_vec());
    // Also one that is too short.
    std::fs::write(&blob, &wrong[..100]).unwrap();
    scene.main().await.fetched();
    assert_eq!(std::fs::read(&blob).unwrap(), content.to_vec());
}
