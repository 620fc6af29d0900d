//! What watching costs: processor time of one sample of eight GPUs and a container, written down.
//!
//! The target is under 1 % of a core at a look a second: 10 ms. The host and the container's control
//! group are planted, as files; a driver that asks its card at every read takes time of its own
//! (`tests/gpu/watch` measures it on a real one).
#![expect(clippy::unwrap_used, reason = "benches")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use jiff::Timestamp;
use retrial_host::model::Gpu;
use retrial_host::sensors::{ContainerSensor, Sensors};
use retrial_telemetry::table::format_rows;
use retrial_telemetry::{MeasuredTrial, RowSource, TelemetryRow};

const LOOKS: u32 = 2000;
/// A hundredth of a core at a look a second.
const LIMIT_MS: f64 = 10.0;

fn main() {
    let root = tempfile::tempdir().unwrap();
    let gpus = plant(root.path());
    let id = "0f".repeat(32);
    let mut container = ContainerSensor::open(root.path(), &id, 41).unwrap();
    let mut sensors = Sensors::open(root.path(), &gpus);
    let mut file = File::create(root.path().join("telemetry.csv")).unwrap();
    let mut look =
        || {
            let time = Timestamp::now();
            let row = |source| TelemetryRow {
                seconds: 1234.5,
                time,
                pause_s: 1.0,
                measured: MeasuredTrial {
                    step: 5,
                    scenario: "Offline".to_owned(),
                    mode: "performance".to_owned(),
                    trial: 1,
                },
                origin: source,
            };
            let gpus = sensors.read_samples().into_iter().map(|(watched, reading)| {
                RowSource::Gpu { index: watched.index, pci: watched.pci, reading }
            });
            let all = gpus.chain([RowSource::Container(container.read_sample())]);
            let text = format_rows(all.map(row));
            file.write_all(text.as_bytes()).unwrap();
            text.len()
        };
    let bytes = look();
    let mut each: Vec<f64> = (0..9)
        .map(|_| {
            let before = processor_ns();
            for _ in 0..LOOKS / 9 {
                look();
            }
            (processor_ns() - before) / f64::from(LOOKS / 9) / 1e6
        })
        .collect();
    each.sort_by(f64::total_cmp);
    let verdict = if each[8] <= LIMIT_MS { "holds" } else { "MISSED" };
    println!(
        "one sample of {} GPUs and a container: {:.3} ms of a core (median of 9 times {} samples; {:.3} to {:.3}), limit {LIMIT_MS} ms: {verdict}; {bytes} bytes",
        gpus.len(),
        each[4],
        LOOKS / 9,
        each[0],
        each[8]
    );
}

/// Processor time of this thread, user and system.
fn processor_ns() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// Eight MI355X whose drivers show all that is looked at, and a container's control group.
fn plant(root: &Path) -> Vec<(u32, Gpu)> {
    let from = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hosts/mi355x-8/.");
    let copied = Command::new("cp").args(["-a", from]).arg(root).status();
    assert!(copied.unwrap().success());
    let host = retrial_host::probe_host(root);
    let gpus: Vec<(u32, Gpu)> = (0..).zip(host.gpus).collect();
    let write = |path: &str, bytes: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    for (index, gpu) in &gpus {
        let device = format!("sys/bus/pci/devices/{}", gpu.pci);
        let mut metrics = vec![0_u8; 3360];
        metrics[..4].copy_from_slice(&[0x20, 0x0d, 1, 8]);
        write(&format!("{device}/gpu_metrics"), &metrics);
        write(&format!("{device}/mem_busy_percent"), b"40\n");
        for (name, text) in [
            ("power1_input", "1200000000\n"),
            ("temp1_input", "61000\n"),
            ("temp2_input", "71000\n"),
            ("temp3_input", "58000\n"),
            ("freq1_input", "2100000000\n"),
            ("freq2_input", "1900000000\n"),
        ] {
            write(&format!("{device}/hwmon/hwmon{index}/{name}"), text.as_bytes());
        }
    }
    let group = format!("/system.slice/docker-{}.scope", "0f".repeat(32));
    write("proc/41/cgroup", format!("0::{group}\n").as_bytes());
    let folder = format!("sys/fs/cgroup{group}");
    write(&format!("{folder}/cpu.stat"), b"usage_usec 7250000\nuser_usec 7000000\n");
    write(&format!("{folder}/memory.current"), b"9000000\n");
    write(&format!("{folder}/memory.stat"), b"anon 5000000\ninactive_file 4000000\n");
    gpus
}
