//! Who else signs and reads: an ssh-agent, and in-toto's tools.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::CommandOutput;
use super::evidence::Packing;
use crate::support::needs::find_python;
use crate::support::wait::wait_until;

#[test]
#[ignore = "needs ssh-keygen"]
fn an_agent_signs_as_the_key_does() {
    let packing = Packing::new();
    let socket = packing.path("agent");
    let mut agent = Command::new("ssh-agent")
        .args(["-D", "-a"])
        .arg(&socket)
        .stdout(Stdio::null())
        .spawn()
        .expect("ssh-agent runs (the package openssh-client has it)");
    wait_until("the agent listens", || socket.exists());
    let archive = |name: &str| packing.path(name).display().to_string();
    let pack = |key: &Path, name: &str| {
        let key = key.display().to_string();
        let arguments = ["runs", "pack", &packing.run, "--to", &archive(name), "--sign", &key];
        let mut command = packing.scene.command(&arguments);
        CommandOutput::new(&command.env("SSH_AUTH_SOCK", &socket).output().unwrap())
    };
    for kind in ["ed25519", "rsa"] {
        let key = packing.key(kind, &["-t", kind]);
        let public = key.with_extension("pub");
        let output = pack(&public, "refused.tar.zst");
        assert_eq!(output.code, 2, "the agent does not have it yet");
        assert!(output.err.contains("the ssh-agent did not sign"), "{}", output.err);
        assert!(!packing.path("refused.tar.zst").exists());
        let added =
            Command::new("ssh-add").arg("-q").arg(&key).env("SSH_AUTH_SOCK", &socket).status();
        assert!(added.unwrap().success());
        let (by_agent, by_file) = (format!("{kind}-a.tar.zst"), format!("{kind}-f.tar.zst"));
        let output = pack(&public, &by_agent);
        assert_eq!(output.code, 0, "{}", output.err);
        packing.pack(&by_file, Some(&key));
        let read = |name: &str| fs::read(archive(name)).unwrap();
        assert_eq!(read(&by_agent), read(&by_file));
    }
    agent.kill().unwrap();
    agent.wait().unwrap();
}

/// Readers that are not ours: the packages securesystemslib and in-toto-attestation.
#[test]
#[ignore = "needs the lab"]
fn in_totos_tools_read_the_envelope() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = find_python(&["in-toto"]);
    let packing = Packing::new();
    let other = packing.key("other", &["-t", "ed25519"]);
    for (kind, scheme) in [("ed25519", "ed25519"), ("rsa", "rsa-pkcs1v15-sha256")] {
        let key = packing.key(kind, &["-t", kind]);
        let archive = packing.pack(&format!("{kind}.tar.zst"), Some(&key));
        let bytes = fs::read(archive).unwrap();
        let head = retrial_bundle::BundleHead::read(&mut &bytes[..]).unwrap();
        let envelope = packing.path("envelope.json");
        fs::write(&envelope, head.signatures.unwrap().envelope).unwrap();
        let output = Command::new(&python)
            .arg(root.join("tests/history/in_toto.py"))
            .args([&envelope, &key.with_extension("pub")])
            .arg(scheme)
            .arg(other.with_extension("pub"))
            .output();
        let output = CommandOutput::new(&output.unwrap());
        assert_eq!(output.code, 0, "{}", output.err);
        let expected = "https://in-toto.io/attestation/test-result/v0.1; manifest.json; PASSED; \
            Offline performance tokens_per_second; Offline accuracy ROUGE1\n";
        assert_eq!(output.out, expected);
    }
}
