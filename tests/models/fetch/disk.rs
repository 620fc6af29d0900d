//! A disk without free space: reported before the first byte, and when it fills up during the fetch.

use std::path::{Path, PathBuf};
use std::process::Command;

use retrial_hub::FetchError;

use super::scene::{NAME, Scene};
use crate::hub::{At, Content, Fault, Repository};
use crate::support::remedy::with_remedy;

const SIZE: u64 = 8 << 20;

/// A file system of its own.
struct Small(PathBuf);

impl Small {
    /// Mounts one, which takes root.
    fn mount(at: &Path, size: &str) -> Self {
        std::fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"]).arg(at);
        assert!(mount.status().unwrap().success(), "mounting takes root");
        Self(at.to_owned())
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn scene() -> Scene {
    Scene::new(Repository::new(NAME).lfs("model.safetensors", Content::generated(1, SIZE)))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs root"]
async fn a_download_without_enough_space_is_not_started() {
    let scene = scene();
    let _small = Small::mount(scene.cache(), "12m");
    let error = scene.main().await.error();
    assert!(matches!(error, FetchError::Space { .. }), "{error}");
    assert!(with_remedy(&error).contains("HF_HUB_CACHE"), "{error}");
    assert_eq!(scene.hub.downloads(NAME, "model.safetensors"), 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs root"]
async fn a_read_only_cache_is_sufficient() {
    let mut scene = scene();
    let small = Small::mount(scene.cache(), "40m");
    let fetched = scene.main().await.fetched();
    let mut mount = Command::new("mount");
    mount.args(["-o", "remount,ro"]).arg(&small.0);
    assert!(mount.status().unwrap().success());
    assert_eq!(scene.main().await.fetched().files, fetched.files);
    scene.settings.offline = true;
    assert_eq!(scene.main().await.fetched().files, fetched.files);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs root"]
async fn a_full_disk_is_reported_and_the_download_resumes_later() {
    let scene = scene();
    let small = Small::mount(scene.cache(), "40m");
    let at = At::bytes(NAME, "model.safetensors");
    scene.hub.fault(Fault::Stall(1_000_000), &at, 1);
    let hog = small.0.join("hog");
    let part = Content::generated(1, SIZE).sha256().to_owned() + ".incomplete";
    let part = scene.at("blobs").join(part);
    let filler = async {
        while std::fs::metadata(&part).map_or(0, |part| part.len()) < 1_000_000 {
            tokio::task::yield_now().await;
        }
        // Until no byte more fits.
        let mut hog = std::fs::File::create(&hog).unwrap();
        while std::io::Write::write_all(&mut hog, &[0; 1 << 12]).is_ok() {}
        scene.hub.release();
    };
    let (went, ()) = tokio::join!(scene.main(), filler);
    let error = with_remedy(&went.error());
    assert!(error.contains("free some space"), "{error}");
    assert!(scene.names("blobs").iter().all(|name| name.ends_with(".incomplete")));
    std::fs::remove_file(&hog).unwrap();
    let fetched = scene.main().await.fetched();
    assert!(fetched.bytes_fetched < SIZE, "{}", fetched.bytes_fetched);
}
