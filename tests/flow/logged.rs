//! The log of a process: what it shows, where it goes, and that it has no secrets.

use crate::hub::{Hub, Repository};
use crate::lab::{Lab, case, image, recipe_with};

const TOKEN: &str = "hf_aB3+dE5/gH7=jK9&mN1";
const TOKEN_IN_BASE64: &str = "aGZfYUIzK2RFNS9nSDc9aks5Jm1OMQ==";
const PASSWORD: &str = "p4ss+w0rd/of?the>registry";
/// `somebody:` and the password, in base64.
const ACCOUNT_IN_BASE64: &str = "c29tZWJvZHk6cDRzcyt3MHJkL29mP3RoZT5yZWdpc3RyeQ==";

/// The lines that are not the log's: those begin with the time.
fn without_log(text: &str) -> Vec<String> {
    let is_logged = |line: &&str| line.trim_start().starts_with("20") && line.contains('Z');
    let lines = text.lines().filter(|line| !is_logged(line));
    // Ids, times and durations differ.
    let words = lines.map(|line| {
        let words =
            line.split(' ').filter(|word| !word.contains(|letter: char| letter.is_ascii_digit()));
        words.collect::<Vec<_>>().join(" ")
    });
    words.collect()
}

#[test]
#[ignore = "needs the lab"]
fn a_log_shows_requests_steps_and_the_journal() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.run(&["--log", "debug"])
        .expect_exit(0)
        .prints("request method=GET path=\"/version\"")
        .prints("create_container{name=")
        .prints("request method=POST path=\"/containers/create\"")
        .prints("step{number=3 name=")
        .prints("journal opened path=")
        .prints(r#""event":"step_started""#)
        .prints("ended end=Done")
        .prints("journal closed path=")
        .prints("close time.busy=");
}

#[test]
#[ignore = "needs the lab"]
fn a_log_at_info_has_the_steps_only() {
    let lab = Lab::new();
    let lab = lab.measures("true").env("RETRIAL_LOG", "info");
    lab.run(&[]).expect_exit(0).prints("ended end=Done").does_not_print("request method=");
}

#[test]
#[ignore = "needs the lab"]
fn without_a_log_standard_error_is_unchanged() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    let plain = lab.run(&[]).expect_exit(0).does_not_print("retrial_engine");
    let logged = lab.run(&["--log", "trace"]).expect_exit(0);
    assert!(logged.err.len() > 2 * plain.err.len(), "{}", logged.err);
    assert_eq!(without_log(&logged.err), without_log(&plain.err));
}

#[test]
#[ignore = "needs the lab"]
fn a_run_in_the_background_logs_into_its_directory() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.run(&["--detach", "--log", "debug"]).expect_exit(0);
    lab.until("the run has ended", |lab| lab.text("journal.jsonl").contains("run_ended"));
    lab.until("the log is written", |lab| {
        lab.text("detached.log").contains("journal closed path=")
    });
}

#[test]
#[ignore = "needs the lab"]
fn a_log_of_everything_has_no_secrets() {
    let lab = Lab::new();
    let image = image("busybox");
    let registry = image.split('/').next().unwrap();
    let auths = format!(r#"{{"auths":{{"{registry}":{{"auth":"{ACCOUNT_IN_BASE64}"}}}}}}"#);
    let commands = case("named", "test -n \"$HF_TOKEN\"; echo \"$HF_TOKEN\"", "");
    let recipe = recipe_with(&format!("image: {image}\nsecrets: [HF_TOKEN]"), &commands);
    let lab = lab.recipe(&recipe).file("docker/config.json", &auths);
    let configuration = lab.path("docker").display().to_string();
    let lab = lab.env("HF_TOKEN", TOKEN).env("DOCKER_CONFIG", &configuration);
    // Of libraries, too: they log headers and bodies.
    let done = lab
        .run(&["--allow", "secrets", "--pull", "always", "--log", "trace,retrial=trace"])
        .expect_exit(0)
        .prints("credentials registry=")
        .prints("pull_image{reference=")
        .prints("bollard");
    for secret in [TOKEN, TOKEN_IN_BASE64, PASSWORD, ACCOUNT_IN_BASE64] {
        assert!(!done.err.contains(secret), "{secret} in {}", done.err);
    }
    assert!(done.err.contains("[HF_TOKEN]") || done.err.contains("[redacted]"), "{}", done.err);
}

#[test]
#[ignore = "needs the lab"]
fn requests_to_the_hub_are_logged_without_its_token() {
    let hub = Hub::start();
    hub.account("me", TOKEN);
    hub.add(Repository::sharded("owner/model", 2, 1 << 20));
    let keys = "models:\n  tiny: { source: { hub: owner/model }, mount: /model }\n";
    let lab = Lab::new();
    let lab = lab.recipe(&recipe_with(keys, &case("main", "true", "")));
    let cache = lab.path("hub").display().to_string();
    let lab = lab
        .env("HF_ENDPOINT", hub.endpoint())
        .env("HF_HUB_CACHE", &cache)
        .env("HF_TOKEN", TOKEN)
        .env("HF_HUB_OFFLINE", "0");
    lab.run(&["--log", "trace,retrial=trace"])
        .expect_exit(0)
        .prints("send_request{url=http://")
        .prints("answer status=200 OK")
        .does_not_print(TOKEN);
}

#[test]
#[ignore = "needs the lab"]
fn a_level_that_does_not_exist_is_refused() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.run(&["--log", "loud"])
        .expect_exit(2)
        .prints("expected error, warn, info, debug, trace, off, or directives");
}
