//! Hosts that are planted as trees of files, by the whole program: what is found on them, and the
//! flags by which a container would get their GPUs. Stand-ins: no AMD GPU was here.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::planted::Host;
use rstest::rstest;
use serde_json::Value;

/// A user's own recipe next to the host's files.
fn recipe(host: &Host, container: &str) -> String {
    let text = format!(
        "schema: 1\ntitle: t\nsubmission: {{ suite: own, benchmark: b, sources: [x] }}\nimage: debian:12\nrequires: {{ gpus: {{ vendor: {}, count: 1 }} }}\ncontainer: {{ {container} }}\nscenarios: {{ s: {{ performance: {{ run: \"true\", figures: {{ speed: {{ pattern: \"([0-9]+)\" }} }} }} }} }}\n",
        if host.path("proc/driver/nvidia").exists() { "nvidia" } else { "amd" }
    );
    host.write("mine.yaml", &text);
    "./mine.yaml".to_owned()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[rstest]
#[case(&["8xMI300X"], "8 x MI300X", "gfx942", 192)]
#[case(&["8xMI300X:CPX"], "8 x MI300X (64 partitions, CPX)", "gfx942", 24)]
#[case(&["8xMI355X"], "8 x MI355X", "gfx950", 288)]
#[case(&["4xMI210"], "4 x MI210", "gfx90a", 64)]
#[case(&["8xMI250X"], "8 x MI250X (dies, two per card)", "gfx90a", 64)]
#[case(&["1xMI100"], "1 x MI100", "gfx908", 32)]
#[case(&["2xW7900"], "2 x W7900", "gfx1100", 48)]
#[case(&["1xRX7900XTX"], "1 x RX 7900 XTX", "gfx1100", 24)]
#[case(&["1xR9700"], "1 x R9700", "gfx1201", 32)]
#[case(&["1xRX9070XT"], "1 x RX 9070 XT", "gfx1201", 16)]
#[case(&["1xW7900", "1xRX9070XT", "2xH200"], "1 x W7900, 1 x RX 9070 XT, 2 x H200", "gfx1100", 48)]
fn every_gpu_model_has_a_target_and_memory(
    #[case] gpus: &[&str],
    #[case] summary: &str,
    #[case] gfx: &str,
    #[case] gib: u64,
) {
    let host = Host::new(gpus);
    assert_eq!(host.check("gpus"), ("ok".to_owned(), summary.to_owned()));
    let plan = host.json(&["plan", &recipe(&host, "gpu_access: as-written")]);
    if host.path("proc/driver/nvidia").exists() {
        return;
    }
    let first = &plan["assigned_gpus"]["gpus"][0];
    assert_eq!(first["gfx"], gfx);
    assert_eq!(first["vram"], gib << 30);
    assert_eq!(first["nodes"][0], "/dev/dri/renderD128");
}

#[test]
fn a_host_without_gpus_is_reported() {
    let host = Host::new(&[]);
    assert_eq!(host.check("gpus"), ("unknown".to_owned(), "none".to_owned()));
    let text = host.retrial(&["plan", &recipe(&host, "")]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("gpus: none; required: 1 x AMD GPUs"), "{text}");
    assert!(text.contains("this host's GPUs are unknown"), "{text}");
}

#[test]
fn broken_hosts_are_reported_without_a_crash() {
    let host = Host::new(&["4xMI355X", "1xH200"]);
    let node = |number: u32| format!("sys/class/kfd/kfd/topology/nodes/{number}/properties");
    host.write(&node(2), "simd_count 1024\nlocation_id 12");
    host.write(&node(3), "simd_count 1024\ngfx_target_ver");
    // An unreadable file: for root, who may read everything, a link to itself replaces it.
    fs::remove_file(host.path(&node(4))).unwrap();
    std::os::unix::fs::symlink("properties", host.path(&node(4))).unwrap();
    host.write("etc/cdi/amd.yaml", "kind: [");
    host.write("etc/docker/daemon.json", "{");
    let (state, problems) = host.check("gpus readable");
    assert_eq!(state, "warning");
    for problem in [
        "nodes/2/properties: it has no gfx_target_version",
        "nodes/3/properties: it has no location_id",
        "nodes/4/properties: ",
        "MI355X at 0000:25:00.0 is on the PCI bus, but KFD does not list it",
        "/etc/cdi/amd.yaml: it is not a CDI specification",
    ] {
        assert!(problems.contains(problem), "{problem}: {problems}");
    }
    assert!(host.check("gpus").1.contains("1 x MI355X"));
}

#[test]
fn a_gpu_without_a_device_node_is_not_assigned() {
    let host = Host::new(&["2xW7900"]);
    fs::remove_file(host.path("dev/dri/renderD128")).unwrap();
    assert_eq!(host.check("gpu devices").1, "GPU 0: no /dev/dri/renderD128");
    let plan = host.json(&["plan", &recipe(&host, "")]);
    assert_eq!(strings(&plan["container"]["devices"]), ["/dev/kfd", "/dev/dri/renderD129"]);
    let refused = host.retrial(&["plan", "./mine.yaml", "--gpus", "0"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
#[ignore = "needs root"]
fn group_ids_are_those_of_the_device_nodes() {
    let host = Host::new(&["1xW7900"]);
    let node = host.path("dev/dri/renderD128");
    std::os::unix::fs::chown(&node, None, Some(109)).unwrap();
    let plan = host.json(&["plan", &recipe(&host, "user: \"1000\"")]);
    assert_eq!(strings(&plan["container"]["group_add"]), ["109"]);
}

/// `docker info`'s output is in no file: the configuration and the specifications are.
fn able(host: &Host) {
    host.write(
        "etc/docker/daemon.json",
        r#"{"runtimes": {"amd": {"path": "amd-container-runtime"}}, "features": {"cdi": true}}"#,
    );
    let spec = r#"{"cdiVersion": "0.6.0", "kind": "amd.com/gpu", "devices": [
        {"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/kfd"}, {"path": "/dev/dri/renderD136"}]}},
        {"name": "1", "containerEdits": {"deviceNodes": [{"path": "/dev/kfd"}, {"path": "/dev/dri/renderD128"}]}}]}"#;
    host.write("var/run/cdi/amd.json", spec);
}

#[rstest]
#[case("devices", "device nodes")]
#[case("cdi", "Container Device Interface")]
#[case("toolkit", "container toolkit")]
fn a_recipe_can_force_an_injection_method(#[case] access: &str, #[case] name: &str) {
    let host = Host::new(&["2xMI355X"]);
    able(&host);
    let recipe = recipe(&host, &format!("gpu_access: {access}"));
    let script = host.retrial(&["plan", &recipe, "--gpus", "0", "--format", "shell"]);
    let script = String::from_utf8(script.stdout).unwrap();
    let flags: &[&str] = match access {
        "devices" => &["--device=/dev/kfd", "--device=/dev/dri/renderD128"],
        // By its node, not by its number.
        "cdi" => &["--device=amd.com/gpu=1"],
        _ => &["--runtime=amd", "--env=AMD_VISIBLE_DEVICES=0"],
    };
    for flag in flags {
        assert!(script.contains(flag), "{flag}: {script}");
    }
    let text = host.retrial(&["plan", &recipe]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains(&format!("{name}: the recipe requests it")), "{text}");
}

#[test]
fn nvidia_without_toolkit_gets_nodes_and_driver_libraries() {
    let host = Host::new(&["2xH200"]);
    let plan = host.json(&["plan", &recipe(&host, ""), "--gpus", "1"]);
    let expected = ["/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"];
    assert_eq!(strings(&plan["container"]["devices"]), expected);
    let mounts = plan["container"]["mounts"].as_array().unwrap();
    assert!(
        mounts.iter().any(|mount| mount["source"] == "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
            && mount["read_only"] == true),
        "{mounts:?}"
    );
    // The driver's own files are no recipe's wish for trust, and are looked for on that host only.
    assert_eq!(plan["privileges"], Value::Array(Vec::new()));
    let missing = host.retrial(&["doctor", &recipe(&host, ""), "--gpus", "1"]);
    let missing = String::from_utf8(missing.stdout).unwrap();
    assert!(!missing.contains("libcuda"), "{missing}");
    host.write("usr/bin/nvidia-container-runtime-hook", "");
    let plan = host.json(&["plan", &recipe(&host, "")]);
    assert_eq!(plan["container"]["gpus"]["ids"], serde_json::json!(["0"]));
}

/// Every built-in recipe for AMD's GPUs on the host that it asks for: the guide's devices, and
/// with `--gpus 0,1,2` those of three GPUs, and no other node of a GPU.
#[test]
fn each_recipe_on_three_of_eight_gpus() {
    let listed = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["list", "--output", "json"])
        .output()
        .unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let models = ["MI300X", "MI325X", "MI355X", "MI350X"];
    let hosts = models.map(|model| (format!("8 x {model}"), Host::new(&[&format!("8x{model}")])));
    let mut checked = 0;
    for recipe in listed.as_array().unwrap() {
        let gpus = recipe["gpus"].as_str().unwrap_or_default().to_owned();
        let Some((_, host)) = hosts.iter().find(|(required, _)| *required == gpus) else {
            continue;
        };
        let name = recipe["name"].as_str().unwrap();
        let shown = host.retrial(&["show", name]);
        let shown = String::from_utf8(shown.stdout).unwrap();
        let unset: Vec<String> = shown
            .lines()
            .filter(|line| line.contains(" must be set"))
            .map(|line| format!("--set={}=/x", line.split_whitespace().next().unwrap()))
            .collect();
        let arguments = |more: &[&str]| {
            let mut all = vec!["plan", name, "-q"];
            all.extend(unset.iter().map(String::as_str));
            all.extend(more);
            host.json(&all)
        };
        let whole = arguments(&[]);
        let devices = strings(&whole["container"]["devices"]).join(" ");
        if !devices.contains("/dev/dri") {
            continue;
        }
        assert!(devices.contains("/dev/kfd"), "{name}: {devices}");
        let three = arguments(&["--gpus", "0,1,2"]);
        let devices = strings(&three["container"]["devices"]);
        let nodes: Vec<&&str> =
            devices.iter().filter(|device| device.starts_with("/dev/dri")).collect();
        assert_eq!(
            nodes,
            [&"/dev/dri/renderD128", &"/dev/dri/renderD136", &"/dev/dri/renderD144"],
            "{name}"
        );
        let privileged = three["container"]["privileged"] == true;
        let sets_rocr = three["container"]["env"].as_array().unwrap();
        let sets_rocr = sets_rocr.contains(&serde_json::json!(["ROCR_VISIBLE_DEVICES", "0,1,2"]));
        assert_eq!(privileged, sets_rocr, "{name}");
        assert_eq!(three["assigned_gpus"]["isolated"] == true, !privileged, "{name}");
        let less = arguments(&["--gpus", "0,1,2", "--least-privilege"]);
        assert_eq!(less["assigned_gpus"]["isolated"], true, "{name}");
        assert_eq!(
            less["privileges"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|privilege| {
                    let others = ["mounts", "host", "engine-socket", "secrets"];
                    !others.contains(&privilege["name"].as_str().unwrap())
                })
                .count(),
            0,
            "{name}"
        );
        checked += 1;
    }
    assert!(checked > 10, "{checked} recipes");
}

#[test]
fn partitions_are_required_or_refused() {
    let host = Host::new(&["8xMI355X:CPX"]);
    let recipe = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
    let plan = host.json(&["plan", recipe, "-q"]);
    let lacks = plan["unmet"].to_string();
    assert!(lacks.contains("partition"), "{lacks}");
    let output = host.retrial(&["run", recipe, "-q"]);
    assert_eq!(output.status.code(), Some(3));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("partition: CPX; required: SPX"), "{stderr}");
    assert!(Path::new(&host.path("home")).read_dir().is_err(), "nothing was started");
}

const TRANSFORMER: &str = "training-benchmarks/amd/mi350x/transformer";
const DDP: &str = "training-benchmarks/amd/mi350x/ddp";

/// The scenarios that need more GPU memory than a host has, by the plan of a recipe.
#[rstest]
#[case(&["1xH200"], TRANSFORMER, "gpu=h200", &[])]
#[case(&["8xH200"], DDP, "gpu=h200", &["13b"])]
#[case(&["8xMI300X"], DDP, "gpu=mi300x", &[])]
// Without a GPU here, by the model that the variant names.
#[case(&[], TRANSFORMER, "gpu=h100", &["7b", "13b"])]
#[case(&[], DDP, "gpu=h100", &["7b", "13b", "scaling-7b"])]
#[case(&[], DDP, "gpu=mi350x", &[])]
fn scenarios_that_do_not_fit_the_gpus_are_unmet_requirements(
    #[case] gpus: &[&str],
    #[case] recipe: &str,
    #[case] variant: &str,
    #[case] scenarios: &[&str],
) {
    let host = Host::new(gpus);
    let plan = host.json(&["plan", recipe, "--set", variant]);
    let unmet = plan["unmet"].as_array().unwrap().iter();
    let names: Vec<&str> = unmet
        .filter(|check| check["kind"] == "gpu memory for a scenario")
        .map(|check| check["name"].as_str().unwrap())
        .collect();
    let expected: Vec<String> =
        scenarios.iter().map(|scenario| format!("gpu memory for {scenario}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_run_refuses_a_scenario_that_does_not_fit_unless_another_is_selected() {
    let host = Host::new(&["8xH200"]);
    let retrial = |arguments: &[&str]| {
        let ddp = ["run", DDP, "--set", "gpu=h200"];
        let output = host.retrial(&[&ddp, arguments].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let refused = retrial(&[]);
    let check = "gpu memory for 13b: 141 GiB (H200); required: 146.22 GiB on each GPU";
    assert!(refused.contains(check), "{refused}");
    assert!(refused.contains("--scenario 7b,scaling-7b"), "{refused}");
    let selected = retrial(&["--scenario", "7b,scaling-7b"]);
    assert!(!selected.contains("gpu memory for"), "{selected}");
    // It then fails for want of an engine.
    let forced = retrial(&["--force"]);
    assert!(!forced.contains("requirements of"), "{forced}");
    assert!(forced.contains("nowhere.sock"), "{forced}");
}
