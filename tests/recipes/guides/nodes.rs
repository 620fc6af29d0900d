//! The recipes for several machines against what was printed: the commands of the plan are compared, which a script
//! runs on machines that wait for each other.
use std::process::{Command, Output};

use retrial_plan::Plan;
use rstest::rstest;
use serde_json::Value;

use super::{guide, is_part, words};

/// The recipes for several machines, below `mlperf-inference/`, and those whose containers they start on each.
pub const NODES: [(&str, &str); 3] = [
    ("v6.0/amd/llama2-70b-87x-mi355x", "v6.0/amd/llama2-70b-mi355x"),
    ("v6.0/amd/gpt-oss-120b-94x-mi355x", "v6.0/amd/gpt-oss-120b-mi355x"),
    ("v6.1/amd/gpt-oss-120b-72x-mi355x", "v6.1/amd/gpt-oss-120b-mi355x"),
];

fn plan(recipe: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["plan", &format!("mlperf-inference/{recipe}")])
        .args(arguments)
        .output()
        .unwrap()
}

/// The commands of the plan, as its text has them.
fn commands(recipe: &str, settings: &[&str]) -> Vec<Vec<String>> {
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let text = String::from_utf8(plan(recipe, &settings).stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("       "));
    lines.map(words).collect()
}

/// A command of the guide, with its placeholders filled in.
fn filled(command: &[String], gpus: &str, rate: &str) -> Vec<String> {
    let text = command
        .join(" ")
        .replace("<SUM-OF-ALL-GPUS>", gpus)
        .replace("<Node-count x single-node-qps x 0.9>", rate)
        .replace("<Head node IP>", "${{ head.address }}")
        .replace("<IP>", "${{ head.address }}");
    words(&text)
}

#[rstest]
#[case(NODES[0].0, "llama2-70b-nodes-v6.0", "87", &[], ["3800", "3650"])]
#[case(NODES[0].0, "llama2-70b-nodes-v6.0", "87", &["rate=guide"], ["3663", "3564"])]
#[case(NODES[2].0, "gpt-oss-120b-nodes-v6.1", "72", &[], ["738", "747"])]
#[case(NODES[2].0, "gpt-oss-120b-nodes-v6.1", "72", &["rate=guide"], ["689", "672"])]
#[case(NODES[0].0, "llama2-70b-nodes-results-v6.0", "87", &["configuration=mi355x_mn"], ["", ""])]
#[case(NODES[1].0, "gpt-oss-120b-nodes-results-v6.0", "94", &["configuration=mi355x_mn"], ["", ""])]
fn printed_commands_are_in_the_plan(
    #[case] recipe: &str,
    #[case] printed: &str,
    #[case] gpus: &str,
    #[case] settings: &[&str],
    #[case] rates: [&str; 2],
) {
    let planned = commands(recipe, settings);
    let mut rates = rates.iter();
    let mut reached = 0;
    for (kind, command) in guide(printed) {
        if !["pull", "exec"].contains(&kind.as_str()) {
            continue;
        }
        let has_rate = command.iter().any(|word| word.ends_with("=<Node-count"));
        let rate = if has_rate { rates.next().unwrap() } else { "" };
        let command = filled(&command, gpus, rate);
        let mut later = planned[reached..].iter();
        let at = later.position(|line| is_part(line, &command));
        assert!(at.is_some(), "{recipe}: nothing runs {}", command.join(" "));
        reached += at.unwrap();
    }
}

/// The flags that the guide of v6.0 lets one append for debugging.
const DEBUG_FLAGS: &str = "harness_config.target_qps=300 harness_config.duration_sec=30 harness_config.debug_record_sample_latencies=True harness_config.debug_print_finished=True harness_config.debug_dump_model_output=True";

#[rstest]
#[case(NODES[0].0, DEBUG_FLAGS)]
#[case(NODES[0].1, DEBUG_FLAGS)]
// 300 queries/s are five times the rate of one machine.
#[case(NODES[1].0, &DEBUG_FLAGS["harness_config.target_qps=300 ".len()..])]
#[case(NODES[1].1, &DEBUG_FLAGS["harness_config.target_qps=300 ".len()..])]
fn a_smoke_test_appends_the_guides_flags_for_debugging(#[case] recipe: &str, #[case] flags: &str) {
    let text = |arguments: &[&str]| {
        let output = plan(recipe, arguments);
        let problem = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{problem}");
        String::from_utf8(output.stdout).unwrap()
    };
    let trial = text(&["--smoke-test"]);
    assert!(trial.contains("not comparable with the published figures"));
    assert!(!trial.contains("test_mode=accuracy"));
    let settings = ["--set", &format!("options={flags}")];
    let whole = text(&settings);
    for mode in ["test_mode=performance", "test_mode=accuracy"] {
        let mut measured = whole.lines().filter(|line| line.contains(mode));
        assert!(measured.all(|line| line.ends_with(flags)), "{whole}");
        assert!(whole.contains(mode));
    }
    // Only the words of the guide are added to what is measured.
    let measured = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("test_mode=performance"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(measured(&trial), measured(&whole));
    let own = text(&[]);
    assert_eq!(
        measured(&trial),
        measured(&own).iter().map(|line| format!("{line} {flags}")).collect::<Vec<_>>()
    );
}

#[test]
fn the_head_prepares_the_accuracy_check_before_anything_is_measured() {
    let steps = String::from_utf8(plan(NODES[0].0, &[]).stdout).unwrap();
    let prepared = steps.find("setup-accuracy-environment  [on the head]").unwrap();
    assert!(prepared < steps.find("offline-performance").unwrap());
}

/// Image, flags, models and data are those of the recipe for one machine, which other tests compare.
#[rstest]
fn each_node_has_the_container_of_the_single_node_recipe(
    #[values(NODES[0], NODES[1], NODES[2])] (several, single): (&str, &str),
) {
    let parsed = |recipe: &str| -> Value {
        let output = plan(recipe, &["--format", "json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (mut several, single) = (parsed(several), parsed(single));
    let workdir = several["container"]["workdir"].take();
    assert_eq!(workdir, "/lab-mlperf-inference/code");
    assert_eq!(several["container"], single["container"]);
    let prepared = |plan: &Value| -> Vec<Value> {
        let steps = plan["steps"].as_array().unwrap().iter();
        let prepares =
            |step: &&Value| ["fetch_model", "populate"].contains(&step["action"].as_str().unwrap());
        let mut steps: Vec<Value> = steps.filter(prepares).cloned().collect();
        for step in &mut steps {
            step.as_object_mut().unwrap().remove("on");
        }
        steps
    };
    assert_eq!(prepared(&several).len(), 2);
    assert_eq!(prepared(&several), prepared(&single));
}

/// As the run directory has it: what is written must be read again, and by other machines.
#[test]
fn plans_round_trip_through_json() {
    for (recipe, _) in NODES {
        let written = plan(recipe, &["--format", "json"]).stdout;
        let read: Plan = serde_json::from_slice(&written).unwrap();
        assert_eq!(
            serde_json::to_string_pretty(&read).unwrap(),
            String::from_utf8(written).unwrap().trim_end()
        );
    }
}

#[rstest]
fn scripts_have_the_commands_of_head_and_workers(
    #[values(NODES[0], NODES[1], NODES[2])] (recipe, _): (&str, &str),
) {
    let output = plan(recipe, &["--format", "shell"]);
    let script = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{recipe}");
    assert!(!script.contains("${{"), "{recipe}: {script}");
    let worker = r#"headnode_address='"$head_address"':12345"#;
    assert!(script.contains(worker), "{recipe}: {script}");
    let checked = Command::new("sh").args(["-nc", &script]).status();
    assert!(checked.unwrap().success(), "{recipe}");
}

#[test]
fn a_plan_shows_that_one_machine_has_fewer_gpus() {
    let text = String::from_utf8(plan(NODES[0].0, &[]).stdout).unwrap();
    assert!(text.contains("11, 87 GPUs together, 7 or 8 on each"), "{text}");
    assert!(text.contains("device_count=${{ node.gpus }}"), "{text}");
    let even = String::from_utf8(plan(NODES[2].0, &[]).stdout).unwrap();
    assert!(even.contains("9, 72 GPUs together\n"), "{even}");
    assert!(even.contains("device_count=8"), "{even}");
}

#[test]
fn a_plan_in_markdown_has_each_machines_commands() {
    let options = ["--scenario", "server", "--mode", "performance", "--format", "markdown"];
    let text = String::from_utf8(plan(NODES[0].0, &options).stdout).unwrap();
    let steps = &text[text.find("## Steps").unwrap()..];
    let fence = text.matches("\n```\n").count();
    assert!(fence > 10 && fence.is_multiple_of(2), "{text}");
    // The command of the workers ends the section of their step.
    let at = steps.find("### 6. server-performance, on the head").unwrap();
    insta::assert_snapshot!(&steps[at..], @r#"
    ### 6. server-performance, on the head

    Start it once all machines have come to this step.

    ```
    logged results/Server/performance/run_1/output.log docker exec llama2-70b-87x-mi355x sh -c "$run" 'bash run_harness.sh --config-path llama2-70b-99/ --config-name server_mi355x --backend zmq test_mode=performance harness_config.output_log_dir=results/llama2_server_performance_zmq port=12345 harness_config.device_count=87 harness_config.target_qps=3650'
    ```

    timeout 2h, fails on any of 13 conditions (--output json lists them)

    **published for Server performance**

    | figure | published | by | source |
    | --- | --- | --- | --- |
    | completed_tokens_per_second | 1016380 | official | 6.0-0001 |
    | completed_tokens_per_second | 1016375 | guide | rocm.blogs.amd.com/artificial-intelligence/mlperf-inf_v6.0-repro |

    ### 7. server-performance-stop-server-worker, on all nodes

    Start it once all machines have come to this step.

    ```
    stop_service llama2-70b-87x-mi355x server-worker TERM 120
    ```

    ### 8. server-performance-collect, on the head

    ```
    mkdir -p results/Server/performance/run_1
    docker cp llama2-70b-87x-mi355x:/lab-mlperf-inference/code/results/llama2_server_performance_zmq/. results/Server/performance/run_1
    ```

    ### 10. remove, on all nodes

    ```
    docker rm -f llama2-70b-87x-mi355x
    ```

    ### 9. judge, on the head

    ```
    retrial judge results --recipe mlperf-inference/v6.0/amd/llama2-70b-87x-mi355x
    ```
    "#);
}
