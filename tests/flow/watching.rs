//! GPUs and container are watched while a step measures: a planted host whose sensors change
//! while a real run goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::lab::{Lab, case, recipe_with};
use crate::support::needs::claim_simulated_gpus;

const STEP: &str = "03-main-performance";

/// A host of eight MI355X whose files a test may change; one test at a time has it.
pub struct Host {
    root: TempDir,
    _turn: fs::File,
}

impl Host {
    pub fn plant() -> Self {
        let turn = claim_simulated_gpus();
        let root = tempfile::tempdir().unwrap();
        let from = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hosts/mi355x-8/.");
        let copied = Command::new("cp").args(["-a", from]).arg(root.path()).status();
        assert!(copied.unwrap().success());
        let host = Self { root, _turn: turn };
        for device in host.devices() {
            fs::write(
                device.join("hwmon").join(Self::hwmon(&device)).join("power1_input"),
                "180000000\n",
            )
            .unwrap();
            fs::write(
                device.join("hwmon").join(Self::hwmon(&device)).join("temp1_input"),
                "38000\n",
            )
            .unwrap();
        }
        host.set("gpu_busy_percent", "0\n");
        host
    }

    pub fn root(&self) -> &str {
        self.root.path().to_str().unwrap()
    }

    fn devices(&self) -> Vec<PathBuf> {
        let folder = self.root.path().join("sys/bus/pci/devices");
        let mut devices: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        devices.retain(|device| device.join("hwmon").is_dir());
        devices.sort();
        assert_eq!(devices.len(), 8);
        devices
    }

    fn hwmon(device: &Path) -> String {
        let mut entries = fs::read_dir(device.join("hwmon")).unwrap();
        entries.next().unwrap().unwrap().file_name().into_string().unwrap()
    }

    /// Writes a file of every GPU, whole: a half-written one would be a sensor of its own.
    fn set(&self, name: &str, text: &str) {
        for device in self.devices() {
            set(&device, name, text);
        }
    }

    /// All GPUs work.
    fn work(&self) {
        for device in self.devices() {
            set(&device, &format!("hwmon/{}/power1_input", Self::hwmon(&device)), "1200000000\n");
            set(&device, &format!("hwmon/{}/temp1_input", Self::hwmon(&device)), "71000\n");
            set(&device, "gpu_busy_percent", "98\n");
        }
    }
}

fn set(device: &Path, name: &str, text: &str) {
    let part = device.join("part");
    fs::write(&part, text).unwrap();
    fs::rename(part, device.join(name)).unwrap();
}

/// A benchmark that continues until the test makes `go-on` next to the recipe.
fn waiting(lab: Lab, asks: &str) -> Lab {
    let keys = format!("{asks}container: {{ mounts: [{}:/beside:ro] }}\n", lab.path("").display());
    let commands = "echo going\nuntil [ -e /beside/go-on ]; do sleep 0.05; done";
    let recipe = recipe_with(&keys, &case("main", commands, ""));
    lab.recipe(&recipe)
}

const EIGHT: &str = "requires: { gpus: { vendor: amd, models: [MI355X], count: 8 } }\n";

fn arguments(host: &Host) -> [&str; 6] {
    ["--root", host.root(), "--telemetry", "200ms", "--allow", "mounts"]
}

/// Waits until so many looks more are in the file.
fn until_looked(lab: &Lab, more: usize) {
    let looks = |lab: &Lab| {
        let file = lab.runs().first().map(|run| run.join("telemetry.csv"));
        let text = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        text.lines().filter(|line| line.contains(",container,")).count()
    };
    let before = looks(lab);
    lab.until(&format!("{more} looks more"), |lab| looks(lab) >= before + more);
}

fn go_on(lab: &Lab) {
    fs::write(lab.path("go-on"), "").unwrap();
}

/// The cells of a column in the rows of a device.
fn column(lab: &Lab, device: &str, name: &str) -> Vec<String> {
    let text = lab.text("telemetry.csv");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let at = |name: &str| header.iter().position(|cell| cell == name).unwrap();
    let (device_at, name_at) = (at("device"), at(name));
    let rows = lines.inspect(|row| assert_eq!(row.len(), header.len(), "{row:?}"));
    rows.filter(|row| row[device_at] == device).map(|row| row[name_at].clone()).collect()
}

/// The verdict's only result.
fn result(lab: &Lab) -> Value {
    lab.verdict()["results"][0].clone()
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn gpu_telemetry_is_recorded_and_summarized() {
    let lab = Lab::new();
    let host = Host::plant();
    let lab = waiting(lab, EIGHT);
    let mut going = lab.start(&arguments(&host));
    lab.until_printed(STEP, "going");
    until_looked(&lab, 2);
    host.work();
    until_looked(&lab, 20);
    go_on(&lab);
    going.end().expect_exit(0).does_not_print("idle");

    for gpu in 0..8 {
        let busy = column(&lab, &gpu.to_string(), "utilization_percent");
        assert!(busy.len() >= 22, "{busy:?}");
        assert_eq!((busy[0].as_str(), busy[busy.len() - 1].as_str()), ("0", "98"));
    }
    assert!(column(&lab, "3", "scenario").iter().all(|cell| cell == "main"));
    assert!(column(&lab, "3", "step").iter().all(|cell| cell == "3"));
    assert!(column(&lab, "3", "trial").iter().all(|cell| cell == "1"));
    let seconds: Vec<f64> =
        column(&lab, "0", "seconds").iter().map(|it| it.parse().unwrap()).collect();
    assert!(seconds.is_sorted_by(|a, b| a < b), "{seconds:?}");

    let result = result(&lab);
    let telemetry = &result["telemetry"];
    let number =
        |name: &str| telemetry[name].as_f64().unwrap_or_else(|| panic!("{name}: {telemetry:#}"));
    assert_eq!(telemetry["gpus"], 8);
    assert_eq!(telemetry["peak_power_w"], 9600.0);
    assert!((8.0 * 180.0..9600.0).contains(&number("mean_power_w")), "{telemetry:#}");
    let energy = number("mean_power_w") * number("seconds");
    assert!((number("energy_j") / energy - 1.0).abs() < 1e-9, "{telemetry:#}");
    assert!((50.0..98.0).contains(&number("mean_utilization")), "{telemetry:#}");
    assert_eq!(telemetry["peak_temperature_c"], 71.0);
    // The time of the figure within the step is unknown.
    assert_eq!(telemetry["per_joule"], Value::Null);
    assert_eq!(telemetry["idle"], Value::Null);
    // The container's own counters are this machine's, not the planted host's.
    assert!(number("peak_memory") > 0.0 && number("mean_cpus") > 0.0, "{telemetry:#}");
    assert_eq!(result["trials"][0]["telemetry"]["energy_j"], telemetry["energy_j"]);

    let again = lab.retrial(&["judge", &lab.id(), "--output", "json"]).expect_exit(0);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again, lab.verdict());
}

/// As the process that follows the run writes them.
#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn whoever_attaches_sees_the_gpus_at_work() {
    let lab = Lab::new();
    let host = Host::plant();
    let lab = waiting(lab, EIGHT);
    let detached = [&arguments(&host)[..], &["--detach"]].concat();
    lab.start(&detached).end().expect_exit(0);
    lab.until_printed(STEP, "going");
    let mut attached = lab.start_in_terminal(&["attach", "last"]);
    lab.until("the idle GPUs are shown", |_| attached.printed("8 GPUs 0 %, 1.44 kW, 38 °C"));
    host.work();
    lab.until("the busy GPUs are shown", |_| attached.printed("8 GPUs 98 %, 9.60 kW, 71 °C"));
    go_on(&lab);
    attached.end().expect_exit(0).prints("reproduced");
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn idle_gpus_decide_nothing() {
    let lab = Lab::new();
    let host = Host::plant();
    let lab = waiting(lab, EIGHT);
    let mut going = lab.start(&arguments(&host));
    lab.until_printed(STEP, "going");
    until_looked(&lab, 20);
    go_on(&lab);
    let done = going.end().expect_exit(5);
    let done = done
        .prints("inconclusive (idle GPUs, simulated host): ")
        .prints("! idle GPUs: main performance: the GPUs were idle during the benchmark");
    assert!(done.err.contains("warning: the GPUs were idle"), "{}", done.err);
    let verdict = lab.verdict();
    assert_eq!(verdict["qualifiers"][0]["kind"], "idle GPUs");
    let idle = &result(&lab)["telemetry"]["idle"];
    assert_eq!(idle["gpus"].as_array().unwrap().len(), 8);
    assert_eq!(lab.count("main-performance", "warning"), 1);
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn a_recipe_without_gpus_reports_no_idle_gpus() {
    let lab = Lab::new();
    let host = Host::plant();
    let lab = waiting(lab, "");
    let mut going = lab.start(&arguments(&host));
    lab.until_printed(STEP, "going");
    until_looked(&lab, 18);
    go_on(&lab);
    going.end().expect_exit(0).does_not_print("idle");
    assert_eq!(result(&lab)["telemetry"]["gpus"], 0);
    assert!(column(&lab, "0", "step").is_empty());
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn failing_sensors_leave_empty_cells_and_do_not_fail_the_run() {
    let lab = Lab::new();
    let host = Host::plant();
    let lab = waiting(lab, EIGHT);
    let mut going = lab.start(&arguments(&host));
    lab.until_printed(STEP, "going");
    host.work();
    until_looked(&lab, 3);
    let devices = host.devices();
    fs::remove_file(devices[0].join("gpu_busy_percent")).unwrap();
    set(&devices[1], "gpu_busy_percent", "N/A\n");
    // What cannot be read, whoever we are.
    fs::remove_file(devices[2].join("gpu_busy_percent")).unwrap();
    fs::create_dir(devices[2].join("gpu_busy_percent")).unwrap();
    // One falls off the bus.
    fs::rename(&devices[3], host.root.path().join("gone")).unwrap();
    until_looked(&lab, 16);
    go_on(&lab);
    going.end().expect_exit(0).does_not_print("idle");
    for gpu in ["0", "1", "2", "3"] {
        let cells = column(&lab, gpu, "utilization_percent");
        assert_eq!(cells.last().map(String::as_str), Some(""), "{cells:?}");
    }
    assert_eq!(column(&lab, "3", "power_w").last().map(String::as_str), Some(""));
    assert_eq!(column(&lab, "4", "utilization_percent").last().map(String::as_str), Some("98"));
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn a_kill_leaves_a_gap_and_no_duplicate_lines() {
    let lab = Lab::new();
    let host = Host::plant();
    let lab = waiting(lab, EIGHT);
    let going = lab.start(&arguments(&host));
    lab.until_printed(STEP, "going");
    host.work();
    until_looked(&lab, 4);
    going.kill();
    let path = lab.the_run().join("telemetry.csv");
    // As if it had been killed in the middle of a line.
    let mut text = fs::read_to_string(&path).unwrap();
    let whole = text.lines().count();
    text += "12.000,2025-06-15T10:00:01.000Z,0.2,3,ma";
    fs::write(&path, &text).unwrap();
    let mut resumed = lab.start_retrial(&["--root", host.root(), "resume", "last"]);
    until_looked(&lab, 16);
    go_on(&lab);
    resumed.end().expect_exit(0).does_not_print("idle");
    let text = lab.text("telemetry.csv");
    assert!(text.lines().count() > whole);
    let mut lines: Vec<&str> = text.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), all, "a line stands twice");
    let seconds: Vec<f64> =
        column(&lab, "5", "seconds").iter().map(|it| it.parse().unwrap()).collect();
    assert!(seconds.is_sorted_by(|a, b| a < b), "{seconds:?}");
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn an_unwritable_telemetry_file_does_not_fail_the_run() {
    let lab = Lab::new();
    let host = Host::plant();
    let lab = waiting(lab, EIGHT);
    let mut going = lab.start(&arguments(&host));
    lab.until_begun("create");
    fs::create_dir(lab.the_run().join("telemetry.csv")).unwrap();
    lab.until_printed(STEP, "going");
    go_on(&lab);
    going.end().expect_exit(0).prints("warning: telemetry: ");
    assert_eq!(result(&lab)["telemetry"], Value::Null);
}

#[test]
#[ignore = "needs the lab"]
fn telemetry_can_be_turned_off() {
    let lab = Lab::new();
    let lab = lab.measures("sleep 0.5");
    lab.run(&["--telemetry", "off"]).expect_exit(0);
    assert!(!lab.the_run().join("telemetry.csv").exists());
    let other = Lab::new().measures("sleep 0.5");
    other
        .run(&["--telemetry", "1h"])
        .expect_exit(2)
        .prints("expected a time between 100ms and 10m, or `off`");
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn telemetry_samples_are_streamed_as_events() {
    let lab = Lab::new();
    let host = Host::plant();
    let lab = waiting(lab, EIGHT);
    host.work();
    let mut all = arguments(&host).to_vec();
    all.extend(["--output", "json", "--verbose"]);
    let mut going = lab.start(&all);
    until_looked(&lab, 3);
    go_on(&lab);
    let done = going.end().expect_exit(0);
    let mut events = done.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let look = events.rfind(|event| event["event"] == "telemetry").unwrap();
    assert_eq!(look["live"]["utilization"], 98.0);
    assert_eq!(look["live"]["power_w"], 9600.0);
    assert_eq!(look["name"], "main-performance");
}
