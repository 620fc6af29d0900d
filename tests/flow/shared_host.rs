//! A host that several people use: what others can reach of a run, and whose recipes become root.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::lab::{Lab, case, recipe_with};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
#[ignore = "needs the lab"]
fn only_the_owner_can_access_home_and_runs() {
    let lab = Lab::new();
    // An image may run as any user, and still writes its exit code and results.
    let cases = case(
        "main",
        "id -u; mkdir /tmp/results; echo 1 >/tmp/results/one",
        "results: /tmp/results",
    );
    let lab = lab.recipe(&recipe_with("container: { user: '12345' }", &cases));
    lab.run(&[]).expect_exit(0);
    assert_eq!(mode(lab.home_path()), 0o700);
    assert_eq!(mode(&lab.the_run()), 0o700);
    assert!(lab.output("03-main-performance").starts_with("12345\n"));

    let packed = lab.path("runs.tar.gz");
    lab.retrial(&["runs", "pack", "last", "--to", packed.to_str().unwrap()]).expect_exit(0);
    let elsewhere = Lab::new();
    elsewhere.retrial(&["runs", "import", packed.to_str().unwrap()]).expect_exit(0);
    assert_eq!(mode(&elsewhere.the_run()), 0o700);
}

#[test]
#[ignore = "needs the lab"]
fn a_recipe_writable_by_others_gets_no_privileges() {
    let lab = Lab::new();
    let recipe = recipe_with(
        "container: { cap_add: [SYS_ADMIN], mounts: ['./data:/data:ro'] }",
        &case("main", "true", ""),
    );
    let lab = lab.recipe(&recipe);
    fs::create_dir(lab.path("data")).unwrap();
    let lab = lab.file("data/one.txt", "1");
    let allow = ["--allow", "sys-admin"];
    for name in ["recipe.yaml", "data", "data/one.txt", ""] {
        let path = lab.path(name);
        let before = mode(&path);
        set_mode(&path, before | 0o020);
        let path = path.display().to_string();
        lab.run(&allow)
            .expect_exit(2)
            .prints("is writable by other users")
            .prints(&format!("chmod go-w '{}'", path.trim_end_matches('/')));
        set_mode(Path::new(&path), before);
    }
    assert!(lab.runs().is_empty(), "nothing was started");
    lab.run(&allow).expect_exit(0);
}

#[test]
#[ignore = "needs root and the lab"]
fn a_recipe_of_another_user_gets_no_privileges() {
    let keys = "container: { cap_add: [SYS_ADMIN] }";
    let lab = Lab::new().recipe(&recipe_with(keys, &case("main", "true", "")));
    let allow = ["--allow", "sys-admin"];
    std::os::unix::fs::chown(lab.path("recipe.yaml"), Some(12345), None).unwrap();
    lab.run(&allow).expect_exit(2).prints("belongs to another user (uid 12345)");
    // Without privileges it runs as any program of another user does.
    let lab = lab.measures("true");
    lab.run(&[]).expect_exit(0);
}
