use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use retrial_telemetry::ThrottleCause;

fn gpu(pci: &str, minor: u32) -> Gpu {
    Gpu {
        nodes: vec![format!("/dev/dri/renderD{minor}")],
        gfx: Some("gfx950".into()),
        ..Gpu::with_model("MI355X", pci)
    }
}

fn plant(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A card with the files of an MI300's driver.
fn card() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let device = "sys/bus/pci/devices/0000:05:00.0";
    let files = [
        ("gpu_busy_percent", "97\n"),
        ("mem_busy_percent", "40\n"),
        ("mem_info_vram_used", "270000000000\n"),
        ("pp_dpm_sclk", "0: 500Mhz\n1: 2100Mhz *\n"),
        ("pp_dpm_mclk", "0: 900Mhz\n1: 1900Mhz *\n"),
        ("hwmon/hwmon4/power1_input", "1203000000\n"),
        ("hwmon/hwmon4/temp1_input", "61000\n"),
        ("hwmon/hwmon4/temp2_input", "74000\n"),
        ("hwmon/hwmon4/temp3_input", "58000\n"),
    ];
    let paths: Vec<String> = files.iter().map(|(name, _)| format!("{device}/{name}")).collect();
    let files: Vec<(&str, &str)> =
        paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), text)).collect();
    plant(root.path(), &files);
    root
}

fn look(root: &TempDir) -> GpuReading {
    let mut sensors = Sensors::open(root.path(), &[(0, gpu("0000:05:00.0", 128))]);
    sensors.read_samples().pop().unwrap().1
}

#[test]
fn a_card_is_read_from_sysfs() {
    let expected = GpuReading {
        utilization: Some(97.0),
        memory_utilization: Some(40.0),
        power_w: Some(1203.0),
        energy_j: None,
        core_mhz: Some(2100.0),
        memory_mhz: Some(1900.0),
        temperature_c: Some(74.0),
        vram: Some(270_000_000_000),
        throttled: None,
    };
    assert_eq!(look(&card()), expected);
}

#[test]
fn average_power_and_direct_clocks_are_preferred() {
    let root = card();
    let hwmon = "sys/bus/pci/devices/0000:05:00.0/hwmon/hwmon4";
    let files = [
        (format!("{hwmon}/power1_average"), "900000000\n"),
        (format!("{hwmon}/freq1_input"), "1987000000\n"),
        (format!("{hwmon}/freq2_input"), "0\n"),
    ];
    for (path, text) in &files {
        plant(root.path(), &[(path, text)]);
    }
    let reading = look(&root);
    assert_eq!(reading.power_w, Some(900.0));
    assert_eq!(reading.core_mhz, Some(1987.0));
    assert_eq!(reading.memory_mhz, Some(1900.0));
}

#[test]
fn missing_or_invalid_files_are_empty_values() {
    let root = card();
    let mut sensors = Sensors::open(root.path(), &[(0, gpu("0000:05:00.0", 128))]);
    let device = root.path().join("sys/bus/pci/devices/0000:05:00.0");
    fs::write(device.join("gpu_busy_percent"), "N/A\n").unwrap();
    fs::write(device.join("mem_busy_percent"), "4000000000\n").unwrap();
    fs::write(device.join("hwmon/hwmon4/temp2_input"), [0xff, 0xfe, 0]).unwrap();
    fs::write(device.join("pp_dpm_sclk"), "").unwrap();
    fs::remove_file(device.join("hwmon/hwmon4/power1_input")).unwrap();
    // A folder cannot be read as a file, even by root: equivalent to a missing permission.
    fs::remove_file(device.join("pp_dpm_mclk")).unwrap();
    fs::create_dir(device.join("pp_dpm_mclk")).unwrap();
    let (_, reading) = sensors.read_samples().pop().unwrap();
    let left = GpuReading {
        temperature_c: Some(61.0),
        vram: Some(270_000_000_000),
        ..GpuReading::default()
    };
    assert_eq!(reading, left);
    // The card falls off the bus.
    fs::remove_dir_all(&device).unwrap();
    assert_eq!(sensors.read_samples().pop().unwrap().1, GpuReading::default());
}

#[test]
fn a_card_without_files_has_an_empty_reading() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(look(&root), GpuReading::default());
}

#[test]
fn energy_and_throttling_are_the_binary_tables() {
    let root = card();
    let path = root.path().join("sys/bus/pci/devices/0000:05:00.0/gpu_metrics");
    let table = |energy: u64, heat: u32| {
        let mut bytes = vec![0_u8; 3360];
        bytes[..2].copy_from_slice(&3360_u16.to_le_bytes());
        bytes[2..4].copy_from_slice(&[1, 8]);
        bytes[24..32].copy_from_slice(&energy.to_le_bytes());
        bytes[52..56].copy_from_slice(&heat.to_le_bytes());
        fs::write(&path, bytes).unwrap();
    };
    let mut sensors = Sensors::open(root.path(), &[(0, gpu("0000:05:00.0", 128))]);
    table(0, 7);
    let (_, first) = sensors.read_samples().pop().unwrap();
    assert_eq!((first.energy_j, first.throttled), (Some(0.0), None));
    table(2_000_000, 9);
    let (_, second) = sensors.read_samples().pop().unwrap();
    assert!((second.energy_j.unwrap() - 30.518).abs() < 1e-9);
    assert_eq!(second.throttled, Some(vec![ThrottleCause::Heat]));
}

#[test]
fn partitions_of_a_card_are_sampled_as_one() {
    let root = card();
    let gpus = [
        (0, gpu("0000:05:00.0", 128)),
        (1, gpu("0000:05:00.0", 129)),
        (2, gpu("0000:15:00.0", 136)),
    ];
    let mut sensors = Sensors::open(root.path(), &gpus);
    let watched: Vec<u32> =
        sensors.read_samples().iter().map(|(watched, _)| watched.index).collect();
    assert_eq!(watched, [0, 2]);
    assert_eq!(sensors.remarks.len(), 1);
    assert!(sensors.remarks[0].contains("GPUs 1 are measured"), "{:?}", sensors.remarks);
}

#[test]
fn an_nvidia_gpu_under_another_root_is_ignored() {
    let root = tempfile::tempdir().unwrap();
    let mut nvidia = gpu("0000:01:00.0", 128);
    nvidia.vendor = GpuVendor::Nvidia;
    let mut sensors = Sensors::open(root.path(), &[(4, nvidia)]);
    assert!(sensors.read_samples().is_empty());
    assert!(sensors.remarks[0].contains("GPUs 4 are not measured"), "{:?}", sensors.remarks);
}

#[test]
fn a_container_is_found_by_its_cgroup() {
    let id = "0f".repeat(32);
    let root = tempfile::tempdir().unwrap();
    plant(
        root.path(),
        &[
            ("proc/41/cgroup", &format!("0::/system.slice/docker-{id}.scope\n")),
            (
                &format!("sys/fs/cgroup/system.slice/docker-{id}.scope/cpu.stat"),
                "usage_usec 7250000\nuser_usec 1\n",
            ),
            (&format!("sys/fs/cgroup/system.slice/docker-{id}.scope/memory.current"), "9000\n"),
            (
                &format!("sys/fs/cgroup/system.slice/docker-{id}.scope/memory.stat"),
                "anon 1\ninactive_file 4000\n",
            ),
            (
                "proc/42/cgroup",
                &format!(
                    "9:name=systemd:/docker/{id}\n4:memory:/docker/{id}\n2:cpu,cpuacct:/docker/{id}\n"
                ),
            ),
            (&format!("sys/fs/cgroup/cpuacct/docker/{id}/cpuacct.usage"), "1500000000\n"),
            (&format!("sys/fs/cgroup/memory/docker/{id}/memory.usage_in_bytes"), "500\n"),
            ("proc/43/cgroup", "0::/user.slice/somebody-else.scope\n"),
            ("proc/44/cgroup", &format!("0::/../../docker-{id}.scope\n")),
        ],
    );
    let look = |pid: u32| {
        ContainerSensor::open(root.path(), &id, pid).map(|mut sensor| sensor.read_sample())
    };
    let second = look(41).unwrap();
    assert_eq!((second.cpu_s, second.memory), (Some(7.25), Some(5000)));
    let first = look(42).unwrap();
    assert_eq!((first.cpu_s, first.memory), (Some(1.5), Some(500)));
    for not in [43, 44, 45] {
        assert_eq!(look(not), None, "{not}");
    }
}
