//! What becomes of the index: killed while it is made, in a home that cannot be written, behind its
//! back.

use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::inotify;

use super::{CommandOutput, Scene, ids};

#[test]
fn manually_moved_runs_are_detected() {
    let scene = Scene::new(0..4);
    assert_eq!(scene.listed(&[]), ids(0..4));
    let away = tempfile::tempdir().unwrap();
    fs::rename(scene.run(1), away.path().join("run")).unwrap();
    fs::remove_dir_all(scene.run(2)).unwrap();
    assert_eq!(scene.listed(&[]), ids([0, 3]));
    fs::rename(away.path().join("run"), scene.run(1)).unwrap();
    assert_eq!(scene.listed(&[]), ids([0, 1, 3]));
}

/// What comes into being in a directory.
struct Watch(rustix::fd::OwnedFd);

impl Watch {
    fn on(directory: &Path) -> Self {
        let watch = inotify::init(inotify::CreateFlags::empty()).unwrap();
        inotify::add_watch(&watch, directory, inotify::WatchFlags::CREATE).unwrap();
        Self(watch)
    }

    fn wait_for(&self, name: &str) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.0, &mut buffer);
        while events
            .next()
            .unwrap()
            .file_name()
            .is_none_or(|event_name| event_name.to_bytes() != name.as_bytes())
        {}
    }
}

#[test]
fn an_index_killed_during_creation_is_rebuilt() {
    let scene = Scene::new(0..200);
    let home = scene.home().to_owned();
    let mut killed = 0;
    for _ in 0..4 {
        let _ = fs::remove_file(home.join("index.sqlite"));
        let begun = Watch::on(&home);
        let mut child = scene.command(&["runs"]).stdout(Stdio::null()).spawn().unwrap();
        // In the middle of it.
        begun.wait_for("index.sqlite.part");
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        killed += usize::from(ended.code().is_none());
        assert_eq!(scene.listed(&["-n", "3"]), ids(197..200));
        assert!(!home.join("index.sqlite.part").exists());
        assert!(home.join("index.sqlite").exists());
    }
    assert!(killed > 0, "no process was killed before it had ended");
}

#[test]
fn an_unwritable_home_is_read() {
    let scene = Scene::new(0..3);
    // Nobody else may run the one below this user's directories.
    let elsewhere = tempfile::tempdir().unwrap();
    let program = elsewhere.path().join("retrial");
    fs::copy(env!("CARGO_BIN_EXE_retrial"), &program).unwrap();
    let everybody = |mode| fs::Permissions::from_mode(mode);
    for path in [elsewhere.path(), &program] {
        fs::set_permissions(path, everybody(0o755)).unwrap();
    }
    let list = || {
        // Root may write anywhere.
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            let who = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
            command.args(who).arg(&program);
            command
        } else {
            Command::new(&program)
        };
        let output = command.args(["runs", "--flat", "--home"]).arg(scene.home()).output();
        CommandOutput::new(&output.unwrap())
    };
    fs::set_permissions(scene.home(), everybody(0o555)).unwrap();
    let output = list();
    fs::set_permissions(scene.home(), everybody(0o755)).unwrap();
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.err.contains("the index of runs cannot be stored"), "{}", output.err);
    assert!(ids(0..3).iter().all(|id| output.out.contains(id)), "{}", output.out);
    assert!(!scene.home().join("index.sqlite").exists());

    // A valid index that another user made is used as it is.
    assert_eq!(scene.listed(&[]).len(), 3);
    fs::set_permissions(scene.home(), everybody(0o555)).unwrap();
    let output = list();
    fs::set_permissions(scene.home(), everybody(0o755)).unwrap();
    assert!(ids(0..3).iter().all(|id| output.out.contains(id)), "{}", output.out);
}
