//! Signatures of others, and signers who lie: a signed statement may be false.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::evidence::REPRODUCED;
use super::tampered::Bundle;

#[test]
#[ignore = "needs ssh-keygen"]
fn signatures_by_other_keys_are_refused() {
    let bundle = Bundle::new();
    let packing = &bundle.packing;
    let other = packing.key("other", &["-t", "ed25519"]);
    let archive = packing.pack("other.tar.zst", Some(&other));
    let check = |archive: &Path, allowed: &Path, more: &[&str], reason: &str| {
        let allowed = ["--signers", allowed.to_str().unwrap()];
        let (code, report) = packing.verify(archive, &[&allowed, more].concat());
        assert_eq!((code, &report["verified"]), (1, &Value::Bool(false)), "{report}");
        let problem = report["problems"][0].as_str().unwrap();
        assert!(problem.contains(reason), "{problem}");
    };
    check(&archive, &bundle.allowed, &[], "its key is not in the file");
    let own = packing.path("a.tar.zst");
    let allow = |options: &str| packing.allow(options, &bundle.key);
    let expired = allow("alice@example.com valid-before=\"20200101\"");
    check(&own, &expired, &[], "the key has not been valid since 20");
    let later = allow("alice@example.com valid-after=\"22000101Z\"");
    check(&own, &later, &[], "the key is not valid before 2200-01-01T00:00:00Z");
    let git = allow("alice@example.com namespaces=\"git,file\"");
    check(&own, &git, &[], "the key is for the namespaces git,file, not for retrial-evidence");
    let alice = allow("alice@example.com");
    let bob = ["--identity", "bob@example.com"];
    check(&own, &alice, &bob, "the key belongs to alice@example.com, not to bob@example.com");

    // A signature of the same statement by the same key, for something else.
    fs::write(packing.path("statement.json"), &bundle.head.statement).unwrap();
    let sign = |key: &Path, namespace: &str| {
        let statement = packing.path("statement.json");
        let _ = fs::remove_file(packing.path("statement.json.sig"));
        let signed = std::process::Command::new("ssh-keygen")
            .args(["-q", "-Y", "sign", "-n", namespace, "-f"])
            .args([key, &statement])
            .status();
        assert!(signed.unwrap().success());
        fs::read(packing.path("statement.json.sig")).unwrap()
    };
    let with = |ssh: Vec<u8>| {
        let mut head = bundle.head.clone();
        head.signatures.as_mut().unwrap().ssh = ssh;
        let mut bytes = Vec::new();
        head.write(&mut bytes).unwrap();
        let mut old = Vec::new();
        bundle.head.write(&mut old).unwrap();
        bytes.extend(&bundle.bytes[old.len()..]);
        bytes
    };
    // OpenSSH's own signature is as ours, byte by byte.
    assert_eq!(with(sign(&bundle.key, "retrial-evidence")), bundle.bytes);
    let reason = bundle.refused(&with(sign(&bundle.key, "file")), "another namespace");
    assert!(reason.contains("its namespace is file"), "{reason}");
    bundle.refused(&with(sign(&other, "retrial-evidence")), "another key's beside the envelope");
}

/// Its signer may lie: the logs do not.
#[test]
#[ignore = "needs ssh-keygen"]
fn a_signed_false_verdict_is_detected_by_judging_again() {
    let bundle = Bundle::new();
    let packing = &bundle.packing;
    let run = packing.scene.run(REPRODUCED);
    let lie = |name: &str, from: &str, to: &str, reason: &str| {
        let path = run.join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{name}: {from}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let archive = packing.path("lie.tar.zst");
        let _ = fs::remove_file(&archive);
        let archive = packing.pack("lie.tar.zst", Some(&bundle.key));
        fs::write(&path, text).unwrap();
        let (code, report) = packing.verify(&archive, &[]);
        assert_eq!((code, &report["verified"]), (1, &Value::Bool(false)), "{report}");
        let problems = report["problems"].to_string();
        assert!(problems.contains(reason), "{problems}");
    };
    let summary = "results/Offline/performance/run_1/mlperf_log_summary.txt";
    lie(summary, "Result is : VALID", "Result is : INVALID", "its verdict does not match its logs");
    lie(
        "verdict.json",
        "\"reproduced\"",
        "\"measured\"",
        "recorded measured, recomputed reproduced",
    );
    lie("verdict.json", "tokens/s\"", "samples/s\"", "the logs have");
    lie("recipe.yaml", "title", "# title", "recipe.yaml is not the recipe of plan.json");
}

/// Logs of other seeds, and rules in the bundle that require these: the program has its own.
#[test]
#[ignore = "needs ssh-keygen"]
fn manipulated_rules_are_detected() {
    let bundle = Bundle::new();
    let packing = &bundle.packing;
    let run = packing.scene.run(REPRODUCED);
    let of_mode = |mode: &str| format!("results/Offline/{mode}/run_1/mlperf_log_detail.txt");
    for name in ["plan.json", &of_mode("performance"), &of_mode("accuracy")] {
        let text = fs::read_to_string(run.join(name)).unwrap();
        assert!(text.contains("2465351861681999779"), "{name}");
        fs::write(run.join(name), text.replace("2465351861681999779", "42")).unwrap();
    }
    let archive = packing.pack("lie.tar.zst", Some(&bundle.key));
    let (code, report) = packing.verify(&archive, &[]);
    assert_eq!((code, &report["verified"]), (1, &Value::Bool(false)), "{report}");
    let judged = &report["judged"];
    assert_eq!(judged["rules"]["state"], "differ");
    assert_eq!(
        (&judged["by_bundle"], &judged["by_program"]),
        (&"reproduced".into(), &"invalid".into())
    );
}
