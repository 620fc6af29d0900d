use rstest::rstest;

use super::*;

#[rstest]
#[case::at_once(101, 101, 0.0)]
#[case::late_answer(100, 104, 0.0)]
#[case::behind(106, 107, -5.0)]
#[case::ahead(95, 96, 5.0)]
fn a_slow_response_is_not_clock_skew(
    #[case] sent: i64,
    #[case] received: i64,
    #[case] expected: f64,
) {
    let at = |second| Timestamp::from_second(second).unwrap();
    let actual = clock_lead_s(at(101), at(sent), at(received));
    assert!((actual - expected).abs() < 1e-9, "{actual}");
}

/// A machine whose launcher is this shell script.
fn machine(script: &str) -> (PeerNode, NodeFailures) {
    let process = tokio::process::Command::new("sh")
        .args(["-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let failures = NodeFailures::default();
    let node = PeerNode::new("n2", Launcher::Ssh, process, &failures, &Arc::default());
    (node, failures)
}

const FACTS: &str =
    r#"{"reply":"facts","tool":"1","nonce":null,"gpus":8,"models":[],"driver":null,"rocm":null}"#;

#[rstest]
#[case::with_an_end(r"printf 'Gr\374\337e von n2\n\n'")]
#[case::without_an_end(r"printf 'Gr\374\337e von n2: '")]
#[case::of_much_text("yes welcome | head -c 1000000; echo")]
#[case::on_standard_error(r"printf 'Gr\374\337e\n' >&2")]
#[tokio::test]
async fn a_login_banner_in_any_encoding_loses_no_machine(#[case] banner: &str) {
    let (node, failures) = machine(&format!("{banner}; echo '{FACTS}'; cat >/dev/null"));
    assert_eq!(node.query_facts().await.unwrap().gpus, 8);
    assert_eq!(failures.find_first(std::iter::empty()), None);
}

#[rstest]
#[case::without_an_end("cat /dev/zero")]
#[case::without_a_reply("yes")]
#[tokio::test]
async fn output_that_never_ends_is_the_fault_of_its_machine(#[case] output: &str) {
    let (node, failures) = machine(output);
    let error = node.query_facts().await.unwrap_err().to_string();
    assert!(error.starts_with("n2: "), "{error}");
    assert!(error.contains("more than 1 MiB that is no reply"), "{error}");
    let lost = async {
        while failures.find_first(std::iter::empty()).is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(20), lost).await.unwrap();
}

#[tokio::test]
async fn endless_errors_of_a_machine_do_not_block_its_replies() {
    let script = format!("(yes fault >&2) & sleep 0.2; echo '{FACTS}'; kill $!; cat >/dev/null");
    let (node, _) = machine(&script);
    assert_eq!(node.query_facts().await.unwrap().gpus, 8);
}
