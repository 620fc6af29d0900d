//! A run's evidence for somebody else: packed and signed here, verified there, by this program and by OpenSSH's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{CommandOutput, Scene, ids};
use crate::support::json_schema::fits;

const SCHEMA: &str = include_str!("../../docs/verification.schema.json");

/// A run that was reproduced, by the planted ones' own arithmetic.
pub const REPRODUCED: usize = 2;

/// A home, a run and a key.
pub struct Packing {
    pub scene: Scene,
    pub run: String,
}

impl Packing {
    pub fn new() -> Self {
        let scene = Scene::new(0..REPRODUCED + 1);
        let run = ids([REPRODUCED])[0].clone();
        Self { scene, run }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.scene.home().join(name)
    }

    /// Makes a key; its file.
    pub fn key(&self, name: &str, kind: &[&str]) -> PathBuf {
        let path = self.path(name);
        let status = Command::new("ssh-keygen")
            .args(["-q", "-N", "", "-C", name, "-f"])
            .arg(&path)
            .args(kind)
            .status();
        let status = status.expect("ssh-keygen makes the key (the package openssh-client has it)");
        assert!(status.success());
        path
    }

    /// Packs the run, signed where a key is given.
    pub fn pack(&self, name: &str, key: Option<&Path>) -> PathBuf {
        let archive = self.path(name);
        let output = self.try_pack(&archive, key);
        assert_eq!(output.code, 0, "{}", output.err);
        archive
    }

    pub fn try_pack(&self, archive: &Path, key: Option<&Path>) -> CommandOutput {
        let archive = archive.display().to_string();
        let key = key.map(|key| key.display().to_string());
        let mut arguments = vec!["runs", "pack", &self.run, "--to", &archive];
        arguments.extend(key.iter().flat_map(|key| ["--sign", key]));
        self.scene.retrial(&arguments)
    }

    /// A file of allowed signers with this line before the key.
    pub fn allow(&self, options: &str, key: &Path) -> PathBuf {
        let public = fs::read_to_string(key.with_extension("pub")).unwrap();
        let path = self.path("allowed_signers");
        fs::write(&path, format!("{options} {public}")).unwrap();
        path
    }

    pub fn verify(&self, archive: &Path, more: &[&str]) -> (i32, Value) {
        let archive = archive.display().to_string();
        let mut arguments = vec!["verify", &archive, "--output", "json"];
        arguments.extend(more);
        let output = self.scene.retrial(&arguments);
        let report = serde_json::from_str(&output.out);
        (output.code, report.unwrap_or_else(|_| panic!("{}", output.err)))
    }
}

#[test]
#[ignore = "needs ssh-keygen"]
fn a_signed_run_is_verified_and_judged_again() {
    let packing = Packing::new();
    for (kind, options) in [("ed25519", &[][..]), ("rsa", &["-b", "3072"])] {
        let key = packing.key(kind, &[&["-t", kind], options].concat());
        let archive = packing.pack(&format!("{kind}.tar.zst"), Some(&key));
        let (code, report) = packing.verify(&archive, &[]);
        assert_eq!(code, 0, "{report}");
        assert_eq!(report["verified"], true);
        assert_eq!(report["run"], packing.run.as_str());
        assert_eq!(report["signature"]["state"], "not_checked");
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        assert_eq!(fits(&schema, &schema, &report, ""), Ok(()));
        let judged = &report["judged"];
        assert_eq!(judged["recorded"], "reproduced");
        assert_eq!(judged["by_bundle"], "reproduced");
        assert_eq!(judged["by_program"], "reproduced");
        assert_eq!(judged["rules"]["state"], "same");
        assert_eq!(judged["recipe"]["state"], "not_built_in");
        assert_eq!(judged["image"]["pinned"], false);
        let allowed = packing.allow("alice@example.com", &key);
        let allowed = allowed.display().to_string();
        let (code, report) = packing.verify(&archive, &["--signers", &allowed]);
        assert_eq!(code, 0, "{report}");
        assert_eq!(report["signature"]["principals"], "alice@example.com");
        checked_by_openssh(&packing, &archive, &allowed);
    }
}

/// `ssh-keygen` needs nothing of ours: the archive is a tar file.
fn checked_by_openssh(packing: &Packing, archive: &Path, allowed: &str) {
    let to = packing.path("unpacked");
    let _ = fs::remove_dir_all(&to);
    let bytes = zstd::decode_all(fs::File::open(archive).unwrap()).unwrap();
    tar::Archive::new(&bytes[..]).unpack(&to).unwrap();
    let check = |statement: &Path| {
        Command::new("ssh-keygen")
            .args(["-Y", "verify", "-f", allowed, "-I", "alice@example.com"])
            .args(["-n", "retrial-evidence", "-s"])
            .arg(to.join("statement.json.sig"))
            .stdin(Stdio::from(fs::File::open(statement).unwrap()))
            .output()
            .unwrap()
    };
    let output = check(&to.join("statement.json"));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.starts_with("Good \"retrial-evidence\" signature for alice@example.com"));
    assert!(!check(&to.join("manifest.json")).status.success());
}

#[test]
#[ignore = "needs ssh-keygen"]
fn packing_a_run_is_deterministic() {
    let packing = Packing::new();
    let key = packing.key("key", &["-t", "ed25519"]);
    let read = |name: &str, key| fs::read(packing.pack(name, key)).unwrap();
    assert_eq!(read("a.tar.zst", None), read("b.tar.zst", None));
    let first = read("c.tar.zst", Some(&*key));
    // Neither times nor rights nor empty folders are anybody's evidence.
    let run = packing.scene.run(REPRODUCED);
    fs::create_dir(run.join("empty")).unwrap();
    let plan = fs::read(run.join("plan.json")).unwrap();
    fs::write(run.join("plan.json"), plan).unwrap();
    assert_eq!(first, read("d.tar.zst", Some(&*key)));
}

#[test]
#[ignore = "needs ssh-keygen"]
fn invalid_runs_and_keys_are_refused() {
    let packing = Packing::new();
    let archive = packing.path("a.tar.zst");
    let refused = |key: &Path, reason: &str| {
        let output = packing.try_pack(&archive, Some(key));
        assert_eq!(output.code, 2, "{}", output.err);
        assert!(output.err.contains(reason), "{}", output.err);
        assert!(!archive.exists());
    };
    let other = packing.key("ec", &["-t", "ecdsa"]);
    refused(&other, "ecdsa-sha2-nistp256: a bundle is signed by an ed25519 or an RSA key");
    let short = packing.key("short", &["-t", "rsa", "-b", "1024"]);
    refused(&short, "1024-bit RSA");
    let pem = packing.key("pem", &["-t", "rsa", "-m", "PEM"]);
    refused(&pem, "not an OpenSSH private key");
    refused(
        &packing.scene.run(0).join("plan.json"),
        "neither an OpenSSH private key nor a public key",
    );
    refused(&packing.path("nowhere"), "nowhere: no such file\nhelp: name an SSH key, or make one");
    let key = packing.key("key", &["-t", "ed25519"]);
    let key = key.display().to_string();
    let more = |arguments: &[&str], reason: &str| {
        let output = packing.scene.retrial(&[&["runs", "pack"], arguments].concat());
        assert_eq!(output.code, 2, "{}", output.err);
        assert!(output.err.contains(reason), "{}", output.err);
    };
    let to = archive.display().to_string();
    let all = ["--recipe", "llama2", "--to", &to, "--sign", &key];
    more(&all, "contains one run; these are 3");
    more(&[&packing.run, "--to", "a.tar.gz", "--sign", &key], "ends in .tar.zst");
    fs::remove_file(packing.scene.run(REPRODUCED).join("verdict.json")).unwrap();
    more(&[&packing.run, "--to", &to], "has no verdict");
    let output = packing.scene.retrial(&["verify", &key]);
    assert_eq!(output.code, 2, "{}", output.out);
    assert!(output.err.contains("is not an archive that can be verified"), "{}", output.err);
}

#[test]
fn missing_files_are_named_with_what_to_do() {
    let packing = Packing::new();
    let archive = packing.pack("a.tar.zst", None);
    let signers = ["verify", archive.to_str().unwrap(), "--signers", "nowhere"];
    for (arguments, error, help) in [
        (&["verify", "nowhere.tar.zst"][..], "nowhere.tar.zst: no such file", "runs pack RUN --to"),
        (&signers, "--signers nowhere: no such file", "write a line for each key"),
        (
            &["runs", "import", "nowhere.tar"],
            "no such file or directory: nowhere.tar",
            "name an archive",
        ),
    ] {
        let output = packing.scene.retrial(arguments);
        assert_eq!(output.code, 2, "{}", output.err);
        assert!(output.err.contains(error) && !output.err.contains("os error"), "{}", output.err);
        assert!(output.err.lines().any(|line| line.starts_with("help: ") && line.contains(help)));
    }
}

#[test]
fn an_unsigned_bundle_has_no_verified_signer() {
    let packing = Packing::new();
    let archive = packing.pack("a.tar.zst", None);
    let (code, report) = packing.verify(&archive, &[]);
    assert_eq!((code, &report["signature"]["state"]), (0, &"unsigned".into()));
    let output = packing.scene.retrial(&["verify", archive.to_str().unwrap()]);
    let first = output.out.lines().find(|line| !line.is_empty());
    assert_eq!(first, Some("verification of integrity only: nobody signed this archive"));
    assert!(output.out.contains("? unsigned: reproduced"), "{}", output.out);
    let allowed = packing.path("allowed");
    fs::write(&allowed, "").unwrap();
    let (code, report) = packing.verify(&archive, &["--signers", allowed.to_str().unwrap()]);
    assert_eq!((code, &report["verified"]), (1, &false.into()));
    assert_eq!(report["problems"][0], "it is unsigned");
}

/// Whoever can write it decides whom the reader trusts.
#[test]
fn signers_that_others_can_write_are_refused() {
    let packing = Packing::new();
    let archive = packing.pack("a.tar.zst", None);
    let allowed = packing.path("allowed");
    fs::write(&allowed, "").unwrap();
    fs::set_permissions(&allowed, fs::Permissions::from_mode(0o666)).unwrap();
    let arguments = ["verify", archive.to_str().unwrap(), "--signers", allowed.to_str().unwrap()];
    let output = packing.scene.retrial(&arguments);
    assert_eq!(output.code, 2, "{}", output.err);
    assert!(output.err.contains("(mode 0666), and it names the keys that you trust"));
    // A stream is what its reader made it.
    let (code, _) = packing.verify(&archive, &["--signers", "/dev/stdin"]);
    assert_eq!(code, 1);
}

#[test]
fn verify_exits_with_the_code_of_the_verdict() {
    for (number, outcome, code) in
        [(0, "not reproduced", 1), (2, "reproduced", 0), (5, "inconclusive", 5)]
    {
        let run = ids([number])[0].clone();
        let packing = Packing { scene: Scene::new(number..number + 1), run };
        let archive = packing.pack("a.tar.zst", None);
        let (exit, report) = packing.verify(&archive, &[]);
        assert_eq!((exit, &report["judged"]["recorded"]), (code, &outcome.into()));
        assert_eq!(report["verified"], true);
    }
}

/// Other machines take it in like any archive; a report names it by its sum.
#[test]
fn a_bundle_is_imported_and_reported() {
    let packing = Packing::new();
    let archive = packing.pack("a.tar.zst", None);
    let path = archive.display().to_string();
    let here = Scene::new(0..0);
    let output = here.retrial(&["runs", "import", &path]);
    assert_eq!(output.code, 0, "{}", output.err);
    let read = |scene: &Scene| fs::read(scene.run(REPRODUCED).join("journal.jsonl")).unwrap();
    assert_eq!(read(&packing.scene), read(&here));
    let (_, report) = packing.verify(&archive, &[]);
    for format in ["html", "markdown", "text"] {
        let output = here.retrial(&["report", &path, "--to", "-", "--output", format]);
        assert_eq!(output.code, 0, "{}", output.err);
        let text: String = output.out.split_whitespace().collect();
        assert!(text.contains(report["sha256"].as_str().unwrap()), "{format}: {}", output.out);
        assert!(text.contains("unsigned"), "{format}: {}", output.out);
        assert!(!output.out.contains("retrial-verify-"), "{format}: {}", output.out);
    }
    let mut bytes = fs::read(&archive).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&archive, bytes).unwrap();
    let output = here.retrial(&["report", &path, "--to", "-"]);
    assert_eq!(output.code, 1, "{}", output.err);
    assert!(output.err.contains("not verified"), "{}", output.err);
    let output = here.retrial(&["runs", "import", &path]);
    assert_eq!(output.code, 2, "{}", output.err);
}

#[test]
fn verification_does_not_depend_on_the_environment() {
    assert_verified_by(&["env"]);
}

#[test]
#[ignore = "needs root"]
fn verification_needs_no_network() {
    assert_verified_by(&["unshare", "-n"]);
}

#[test]
#[ignore = "needs root"]
fn verification_does_not_depend_on_the_user() {
    assert_verified_by(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
}

/// Verifies through a program, in another language, without an engine or a home.
fn assert_verified_by(by: &[&str]) {
    let packing = Packing::new();
    let archive = packing.pack("a.tar.zst", None);
    let (_, expected) = packing.verify(&archive, &[]);
    let elsewhere = tempfile::tempdir().unwrap();
    let program = elsewhere.path().join("retrial");
    fs::copy(env!("CARGO_BIN_EXE_retrial"), &program).unwrap();
    let copy = elsewhere.path().join("a.tar.zst");
    fs::copy(&archive, &copy).unwrap();
    for path in [elsewhere.path(), &program, &copy] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let line = format!("{} verify {} --output json", program.display(), copy.display());
    let output = Command::new(by[0])
        .args(&by[1..])
        .args(line.split(' '))
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .env("LANG", "tr_TR.UTF-8")
        .env("LC_ALL", "tr_TR.UTF-8")
        .env("TZ", "Pacific/Kiritimati")
        .env("DOCKER_HOST", "tcp://192.0.2.1:2375")
        .current_dir("/")
        .output()
        .unwrap();
    let output = CommandOutput::new(&output);
    assert_eq!(output.code, 0, "{by:?}: {}", output.err);
    let mut report: Value = serde_json::from_str(&output.out).unwrap();
    report["file"] = expected["file"].clone();
    assert_eq!(report, expected, "{by:?}");
}
