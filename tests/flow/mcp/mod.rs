//! `retrial mcp`, driven by the official client: what its tools return, and that a person approves.

mod client;
mod hostile;
mod resources;

use serde_json::{Value, json};

use crate::lab::{Lab, case, recipe_with};
use client::Client;

const STEP: &str = "03-main-performance";
const UNTIL_GO_ON: &str = "echo going; while [ ! -e /go-on ]; do sleep 0.1; done";

/// A recipe that needs approval, which is remembered.
fn privileged(commands: &str) -> String {
    let keys = "container: { network: host, cap_add: [NET_ADMIN] }";
    recipe_with(keys, &case("main", commands, ""))
}

/// Runs the command that an answer names, as a person does, and approves.
fn approve(lab: &Lab, approval: &Value) {
    let words = shlex::split(approval["command"].as_str().unwrap()).unwrap();
    let directory = lab.path("").canonicalize().unwrap();
    let start = ["cd", directory.to_str().unwrap(), "&&", "retrial"];
    assert_eq!(words[..4], start, "{words:?}");
    let words: Vec<&str> = words[4..].iter().map(String::as_str).collect();
    let mut asked = lab.start_in_terminal(&words);
    asked.press("y\n");
    asked.end().expect_exit(0).prints("Approve this until the recipe changes?");
}

fn wait_for_end(lab: &Lab, run: &str) {
    let journal = lab.home_path().join("runs").join(run).join("journal.jsonl");
    let has_ended = || std::fs::read_to_string(&journal).unwrap().contains("\"run_ended\"");
    lab.until("the run has ended", |_| has_ended());
}

#[test]
#[ignore = "needs the lab"]
fn a_client_reads_recipes_and_their_problems() {
    let lab = Lab::new().recipe(&privileged("true")).file("broken.yaml", "schema: 1\nimge: x\n");
    let mut client = Client::connect(&lab, &[]);
    let listed = client.ask(json!(["list_tools"]));
    let tools = listed["tools"].as_array().unwrap();
    let is_reading = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
    let (reading, others): (Vec<&Value>, Vec<&Value>) =
        tools.iter().partition(|tool| is_reading(tool));
    let names = |tools: Vec<&Value>| -> Vec<String> {
        let mut names: Vec<String> =
            tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let expected = ["check", "compare", "judge", "list", "logs", "plan", "runs", "show"];
    assert_eq!(names(reading), expected);
    assert_eq!(names(others), ["resume", "run", "stop"]);
    let listed = client.call("list", json!({ "part": "llama2", "gpu": "mi355x" })).result();
    assert!(listed.to_string().contains("llama2-70b-mi355x"), "{listed}");
    let shown = client.call("show", json!({ "recipe": "./recipe.yaml" })).result();
    assert!(shown.to_string().contains("NET_ADMIN"), "{shown}");
    let checked = client.call("check", json!({ "files": ["./broken.yaml"] }));
    assert_eq!(checked.value["exit_code"], 2);
    let problems = checked.result()[0]["problems"].clone();
    let is_place = |problem: &Value| problem["code"] == "unknown-key" && problem["line"] == 2;
    assert!(problems.as_array().unwrap().iter().any(is_place), "{problems:#}");
    let plan = json!({ "recipe": "./recipe.yaml", "trials": "2" });
    let plan = client.call("plan", plan).result();
    assert_eq!(plan["privileges"][0]["name"], "capabilities", "{plan:#}");
    let missing = client.call("logs", json!({ "run": "last" }));
    assert!(missing.is_error && missing.value["exit_code"] == 2, "{missing:?}");
}

#[test]
#[ignore = "needs the lab"]
fn a_run_starts_once_a_person_approved_it() {
    let lab = Lab::new().recipe(&privileged("true"));
    let mut client = Client::connect(&lab, &[]);
    let recipe = json!({ "recipe": "./recipe.yaml" });
    let refused = client.call("run", recipe.clone());
    assert!(refused.is_error, "{refused:?}");
    let approval = &refused.value["approval"];
    assert_eq!(approval["privileges"], json!(["capabilities"]), "{approval:#}");
    assert!(approval["reason"].as_str().unwrap().contains("NET_ADMIN"), "{approval:#}");
    assert!(lab.runs().is_empty(), "nothing was started");
    assert!(!refused.value.to_string().contains("--allow"), "{:#}", refused.value);
    approve(&lab, approval);
    let started = client.call("run", recipe.clone()).result();
    let run = started["run"].as_str().unwrap();
    wait_for_end(&lab, run);
    let verdict = client.call("judge", json!({ "results": run })).result();
    assert_eq!(verdict["outcome"], "reproduced", "{verdict:#}");
    let listed = client.call("runs", json!({ "outcome": "reproduced" })).result();
    assert_eq!(listed.as_array().unwrap().len(), 2, "with the person's: {listed:#}");
    let logs = client.call("logs", json!({ "run": run, "step": "main-performance" })).result();
    assert_eq!(logs, "speed: 42.5 MB/s\n");
    let compared = client.call("compare", json!({ "subjects": [run, "last~1"] }));
    assert!(compared.value["result"].is_object(), "{:#}", compared.value);
    // A changed recipe is another one.
    std::fs::write(lab.path("recipe.yaml"), privileged("true; true")).unwrap();
    assert!(client.call("run", recipe).value["approval"].is_object());
}

#[test]
#[ignore = "needs the lab"]
fn a_verdict_that_is_not_reproduced_is_an_answer() {
    let recipe = privileged("true").replace("value: 42", "value: 84");
    let lab = Lab::new().recipe(&recipe.replace(", cap_add: [NET_ADMIN]", ""));
    let mut client = Client::connect(&lab, &[]);
    let started = client.call("run", json!({ "recipe": "./recipe.yaml" })).result();
    wait_for_end(&lab, started["run"].as_str().unwrap());
    let judged = client.call("judge", json!({ "results": "last" }));
    assert_eq!(judged.value["exit_code"], 1);
    assert_eq!(judged.result()["outcome"], "not reproduced");
}

#[test]
#[ignore = "needs the lab"]
fn a_run_is_stopped_and_resumed() {
    let lab = Lab::new().measures(UNTIL_GO_ON);
    let mut client = Client::connect(&lab, &[]);
    client.call("run", json!({ "recipe": "./recipe.yaml" })).result();
    lab.until_printed(STEP, "going");
    let again = client.call("resume", json!({ "run": "last" }));
    assert!(again.is_error && again.value.to_string().contains("being followed"), "{again:?}");
    let stopped = client.call("stop", json!({ "run": "last" })).result();
    assert_eq!(stopped["result"], "stopped");
    assert_eq!(lab.containers(), [""; 0]);
    let resumed = client.call("resume", json!({ "run": "last" })).result();
    assert_eq!(resumed["run"], lab.id());
    lab.until("it measures again", |lab| lab.count("main-performance", "step_started") == 2);
    lab.until_printed(STEP, "going");
    // The client goes, and the run stays.
    drop(client);
    lab.docker(&["exec", &lab.container(), "touch", "/go-on"]);
    wait_for_end(&lab, &lab.id());
    let mut client = Client::connect(&lab, &[]);
    let complete = client.call("resume", json!({ "run": "last" })).result();
    assert_eq!(complete["outcome"], "reproduced");
}

/// The official client sends neither.
#[test]
fn what_cannot_be_read_is_named() {
    let home = tempfile::tempdir().unwrap();
    let session = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "by hand", "version": "1" } } })
        .to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        "{ this is no JSON".to_owned(),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "compare", "arguments": {} } })
        .to_string(),
    ];
    let input = home.path().join("session.jsonl");
    std::fs::write(&input, session.join("\n") + "\n").unwrap();
    let ended = std::process::Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("mcp")
        .env("RETRIAL_HOME", home.path())
        .stdin(std::fs::File::open(input).unwrap())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(errors.contains("Ignoring unparsable incoming message: key must be"), "{errors}");
    let output = String::from_utf8_lossy(&ended.stdout);
    let answers = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers: Vec<Value> = answers.collect();
    assert_eq!(answers.len(), 2, "{answers:#?}");
    let failure = answers[1]["result"]["structuredContent"]["failure"].to_string();
    assert_eq!(answers[1]["result"]["isError"], true);
    assert!(failure.contains("missing argument: `subjects` (two or more) or `by`"), "{failure}");
}
