use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{
    CWD, Mode, OFlags, RenameFlags, XattrFlags, lgetxattr, openat, renameat_with, setxattr,
};

use super::copy::copy_companions;
use super::*;

fn held(path: &Path) -> HeldDirectory {
    HeldDirectory::open(path).unwrap()
}

fn names(of: &[&str]) -> Vec<PathBuf> {
    of.iter().map(PathBuf::from).collect()
}

/// A directory that another process exchanges with a link to a private one, again and again.
#[test]
fn nothing_of_a_link_that_replaces_a_directory_is_ever_copied() {
    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("private"), "key").unwrap();
    fs::create_dir_all(root.path().join("own/sub")).unwrap();
    fs::write(root.path().join("own/sub/file"), "mine").unwrap();
    let (sub, link) = (root.path().join("own/sub"), root.path().join("link"));
    symlink(outside.path(), &link).unwrap();
    let is_over = AtomicBool::new(false);
    let mut copied = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &sub, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for _ in 0..2000 {
            let target = tempfile::tempdir().unwrap();
            let done = copy_companions(&held(root.path()), &names(&["own/sub"]), 0, target.path());
            let copy = target.path().join("own/sub");
            let meta = copy.symlink_metadata();
            assert!(!copy.join("private").exists(), "it left the recipe's directory");
            assert!(meta.is_ok_and(|meta| meta.is_dir()) || done.is_err());
            copied += usize::from(done.is_ok());
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(copied > 0, "no copy was made between two exchanges");
}

#[test]
fn a_digest_tells_types_modes_lengths_and_names_apart() {
    type Change = fn(&Path);
    let lay_out = || {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.sh"), "one two").unwrap();
        fs::write(root.path().join("b.sh"), "").unwrap();
        root
    };
    let first = digest_tree(lay_out().path()).unwrap();
    assert_eq!(digest_tree(lay_out().path()).unwrap(), first);
    let changes: [Change; 6] = [
        |root| {
            fs::write(root.join("a.sh"), "one").unwrap();
            fs::write(root.join("b.sh"), " two").unwrap();
        },
        |root| fs::set_permissions(root.join("b.sh"), fs::Permissions::from_mode(0o755)).unwrap(),
        |root| {
            fs::remove_file(root.join("b.sh")).unwrap();
            symlink("a.sh", root.join("b.sh")).unwrap();
        },
        |root| {
            fs::remove_file(root.join("b.sh")).unwrap();
            fs::create_dir(root.join("b.sh")).unwrap();
        },
        |root| fs::rename(root.join("b.sh"), root.join("c.sh")).unwrap(),
        |root| fs::write(root.join("c.sh"), "").unwrap(),
    ];
    let mut digests = vec![first];
    for change in changes {
        let root = lay_out();
        change(root.path());
        let digest = digest_tree(root.path()).unwrap();
        assert!(!digests.contains(&digest));
        digests.push(digest);
    }
}

#[test]
fn a_copy_has_what_is_named_and_no_more() {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, mode: u32| {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, name).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    write("tools/run.sh", 0o4755);
    write("tools/other.sh", 0o644);
    write("data/deep/x", 0o600);
    write("key", 0o600);
    symlink("/etc/passwd", root.path().join("data/link")).unwrap();
    symlink("data", root.path().join("alias")).unwrap();
    symlink("/etc", root.path().join("etc")).unwrap();
    let copy = |of: &[&str]| {
        let target = tempfile::tempdir().unwrap();
        copy_companions(&held(root.path()), &names(of), 0, target.path()).map(|_| target)
    };
    let target = copy(&["data", "data/deep", "missing", "tools/run.sh"]).unwrap();
    let mode = |name: &str| fs::metadata(target.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("tools/run.sh") & 0o7777, 0o755, "no set-user-ID bit");
    assert_eq!(fs::read_link(target.path().join("data/link")).unwrap(), Path::new("/etc/passwd"));
    for absent in ["tools/other.sh", "key", "missing"] {
        assert!(!target.path().join(absent).exists(), "{absent}");
    }
    symlink("missing", root.path().join("dangling")).unwrap();
    for link in ["etc", "etc/passwd", "alias", "alias/deep", "data/link", "dangling"] {
        assert!(matches!(copy(&[link]), Err(CompanionError::Link { .. })), "{link}");
    }
    rustix::fs::mkfifoat(CWD, root.path().join("data/pipe"), 0o600.into()).unwrap();
    assert!(matches!(copy(&["data"]), Err(CompanionError::Special { .. })));
}

/// Takes root.
#[test]
fn privileges_that_a_container_left_are_revoked() {
    if !rustix::process::getuid().is_root() {
        eprintln!("skipped: only root can give a file capabilities");
        return;
    }
    let write = |root: &Path, name: &str, mode: u32| {
        fs::write(root.join(name), name).unwrap();
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    // Version 2, effective: cap_setuid(7).
    let capabilities: Vec<u8> =
        [0x0200_0001_u32, 1 << 7, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let has_privileges = |path: &Path| {
        fs::metadata(path).unwrap().permissions().mode() & 0o6000 != 0
            || lgetxattr(path, "security.capability", &mut [0; 64]).is_ok()
    };
    let lay_out = || {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("deep")).unwrap();
        write(root.path(), "deep/shell", 0o4755);
        write(root.path(), "group", 0o2755);
        write(root.path(), "plain", 0o755);
        write(root.path(), "able", 0o755);
        let able = root.path().join("able");
        setxattr(able, "security.capability", &capabilities, XattrFlags::empty()).unwrap();
        root
    };
    let root = lay_out();
    let found = remove_privileged_files(root.path());
    assert_eq!(found.len(), 3, "{found:?}");
    for PrivilegedFile { path, removed } in found {
        assert!(removed.is_ok() && path.is_file() && !has_privileges(&path), "{path:?}");
    }
    // Deeper than a path may be long.
    let root = tempfile::tempdir().unwrap();
    let name = "x".repeat(200);
    let mut handle = rustix::fs::open(root.path(), OFlags::PATH, Mode::empty()).unwrap();
    for _ in 0..30 {
        rustix::fs::mkdirat(&handle, &*name, Mode::RWXU).unwrap();
        handle = openat(&handle, &*name, OFlags::PATH, Mode::empty()).unwrap();
    }
    let flags = OFlags::CREATE | OFlags::WRONLY;
    let deep = openat(&handle, "shell", flags, Mode::from_raw_mode(0o755)).unwrap();
    rustix::fs::fchmod(&deep, Mode::from_raw_mode(0o4755)).unwrap();
    assert_eq!(remove_privileged_files(root.path()).len(), 1);
    assert_eq!(rustix::fs::fstat(&deep).unwrap().st_mode & 0o7777, 0o755);
    // A directory of the host: what was there before stays.
    let root = lay_out();
    let later = Timestamp::now() + Duration::from_mins(1);
    assert!(revoke_privileged_files(root.path(), later).is_empty());
    assert!(has_privileges(&root.path().join("able")));
    let found = revoke_privileged_files(root.path(), Timestamp::now() - Duration::from_mins(1));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        ["able", "group", "deep/shell"].iter().all(|name| !has_privileges(&root.path().join(name)))
    );
    write(root.path(), "group", 0o4755);
    let file = root.path().join("group");
    assert_eq!(revoke_privileged_files(&file, Timestamp::MIN).len(), 1, "a mount of one file");
    assert!(!has_privileges(&file));
}

#[test]
fn a_directory_that_is_replaced_after_it_was_opened_is_not_read() {
    let root = tempfile::tempdir().unwrap();
    let (own, other) = (root.path().join("own"), root.path().join("other"));
    for directory in [&own, &other] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join("hostname"), directory.display().to_string()).unwrap();
    }
    let opened = held(&own);
    fs::rename(&own, root.path().join("aside")).unwrap();
    symlink(&other, &own).unwrap();
    let target = tempfile::tempdir().unwrap();
    copy_companions(&opened, &names(&["hostname"]), 0, target.path()).unwrap();
    let copied = fs::read_to_string(target.path().join("hostname")).unwrap();
    assert_eq!(copied, own.display().to_string());
}

#[test]
fn data_are_left_to_a_mount() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("many")).unwrap();
    let large = fs::File::create(root.path().join("large")).unwrap();
    large.set_len((1 << 30) + 1).unwrap();
    for number in 0..10_000 {
        fs::File::create(root.path().join(format!("many/{number}"))).unwrap();
    }
    for name in ["large", "many"] {
        let refused = examine_companions(&held(root.path()), &names(&[name]), 0);
        assert!(matches!(refused, Err(CompanionError::TooLarge { .. })), "{name}");
    }
}

#[test]
fn a_repository_and_files_of_others_are_told() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("repository/.git")).unwrap();
    fs::create_dir_all(root.path().join("own")).unwrap();
    let user = rustix::process::getuid().as_raw();
    let facts =
        examine_companions(&held(root.path()), &names(&["own", "repository"]), user).unwrap();
    assert_eq!(facts.len(), 1);
    let hooks = names(&["repository/.git"]);
    assert_eq!(examine_companions(&held(root.path()), &hooks, user).unwrap().len(), 1);
    assert!(matches!(facts[Path::new("repository")], CompanionFact::Repository { .. }));
    // What was copied is looked at in the same pass.
    let target = tempfile::tempdir().unwrap();
    let of = names(&["own", "repository/.git", "repository"]);
    let copied = copy_companions(&held(root.path()), &of, user, target.path()).unwrap();
    assert_eq!(
        copied.keys().collect::<Vec<_>>(),
        [Path::new("repository"), Path::new("repository/.git")]
    );
    if user != 0 {
        let facts = examine_companions(&held(root.path()), &names(&["own"]), user + 1).unwrap();
        assert!(matches!(facts[Path::new("own")], CompanionFact::OtherOwner { .. }));
    }
}
