//! Simulated hosts.

mod condition;
mod unreadable;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

use super::probe_host;
use crate::model::{GpuPartition, HostView};

/// A folder with the layout of a host's `/`.
struct Host(TempDir);

impl Host {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A node of the KFD topology with its memory.
    fn kfd(self, node: u32, properties: &[(&str, u64)], vram: Option<u64>) -> Self {
        let lines: Vec<String> =
            properties.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let text = lines.join("\n");
        let directory = format!("sys/class/kfd/kfd/topology/nodes/{node}");
        let host = self.file(&format!("{directory}/properties"), &text);
        match vram {
            Some(bytes) => host.file(
                &format!("{directory}/mem_banks/0/properties"),
                &format!(
                    "heap_type 1\nsize_in_bytes {bytes}\nflags 0\nwidth 8192\nmem_clk_max 1900\n"
                ),
            ),
            None => host,
        }
    }

    fn processor(self, node: u32) -> Self {
        let host = self.kfd(
            node,
            &[("cpu_cores_count", 128), ("simd_count", 0), ("drm_render_minor", 0)],
            None,
        );
        host.file(
            &format!("sys/class/kfd/kfd/topology/nodes/{node}/mem_banks/0/properties"),
            "heap_type 0\nsize_in_bytes 1623497637888\n",
        )
    }

    fn probe(&self) -> HostView {
        probe_host(self.0.path())
    }
}

const GIB: u64 = 1 << 30;

#[test]
fn eight_mi355x_are_in_rocm_order() {
    let mut host = Host::new()
        .processor(0)
        .processor(1)
        .file("sys/module/amdgpu/version", "6.16.6\n")
        .file("opt/rocm/.info/version", "7.1.1-38\n")
        .file("proc/sys/kernel/hostname", "node-17\n")
        .file("proc/sys/kernel/osrelease", "6.8.0-60-generic\n")
        .file("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9575F 64-Core Processor\nphysical id\t: 0\ncpu cores\t: 64\n\nprocessor\t: 64\nphysical id\t: 1\ncpu cores\t: 64\n")
        .file("sys/devices/system/cpu/online", "0-255\n")
        .file("proc/meminfo", "MemTotal:       3170893824 kB\nMemFree:         12 kB\n");
    for index in 0..8_u32 {
        let bus = u64::from(5 + index * 16);
        let properties = [
            ("cpu_cores_count", 0),
            ("simd_count", 1024),
            ("simd_per_cu", 4),
            ("gfx_target_version", 90500),
            ("vendor_id", 4098),
            ("device_id", 30115),
            ("location_id", bus << 8),
            ("domain", 0),
            ("drm_render_minor", u64::from(128 + index * 8)),
            ("local_mem_size", 0),
            ("num_xcc", 8),
        ];
        // Nodes 2 to 9 and then 10: sorted by number, not by name.
        host = host.kfd(2 + index + u32::from(index == 7), &properties, Some(288 * GIB));
    }
    let view = host.probe();
    assert_eq!(view.gpus.len(), 8);
    let first = &view.gpus[0];
    assert_eq!(
        (first.model.as_str(), first.gfx.as_deref(), first.vram),
        ("MI355X", Some("gfx950"), Some(288 * GIB))
    );
    assert_eq!(first.compute_units, Some(256));
    assert_eq!(first.pci, "0000:05:00.0");
    assert_eq!(first.nodes, ["/dev/dri/renderD128"]);
    assert_eq!(view.gpus[7].nodes, ["/dev/dri/renderD184"]);
    assert_eq!(view.gpus[7].pci, "0000:75:00.0");
    assert_eq!(view.amdgpu.as_deref(), Some("6.16.6"));
    assert_eq!(view.rocm.unwrap().release().raw(), "7.1.1-38");
    assert_eq!((view.hostname.as_str(), view.kernel.as_str()), ("node-17", "6.8.0-60-generic"));
    assert_eq!((view.cpu.as_str(), view.cpus), ("AMD EPYC 9575F 64-Core Processor", 256));
    assert_eq!((view.sockets, view.cores_per_socket), (Some(2), Some(64)));
    assert_eq!(view.memory, 3_170_893_824 * 1024);
    assert_eq!(view.nvidia, None);
}

#[test]
fn each_partition_of_an_mi300x_is_a_gpu() {
    let mut host = Host::new()
        .processor(0)
        .file("sys/bus/pci/devices/0000:05:00.0/revision", "0x00\n")
        .file("sys/bus/pci/devices/0000:05:00.0/current_compute_partition", "CPX\n")
        .file("sys/bus/pci/devices/0000:05:00.0/current_memory_partition", "NPS4\n")
        .file("sys/bus/pci/devices/0000:05:00.0/numa_node", "1\n");
    for partition in 0..8_u64 {
        let properties = [
            ("simd_count", 152),
            ("simd_per_cu", 4),
            ("unique_id", 16_404_946_649_897_475_633),
            ("gfx_target_version", 90402),
            ("device_id", 29857),
            ("location_id", 0x500 | (partition << 28)),
            ("domain", 0),
            ("drm_render_minor", 128 + partition),
            ("hive_id", 15_188_982_192_727_901_047),
            ("num_xcc", 1),
        ];
        host = host.kfd(1 + u32::try_from(partition).unwrap(), &properties, Some(24 * GIB));
    }
    let view = host.probe();
    assert_eq!(view.gpus.len(), 8);
    assert!(
        view.gpus.iter().all(|gpu| gpu.model == "MI300X" && gpu.gfx.as_deref() == Some("gfx942"))
    );
    assert!(view.gpus.iter().all(|gpu| gpu.pci == "0000:05:00.0" && gpu.vram == Some(24 * GIB)));
    let last = &view.gpus[7];
    assert_eq!((last.compute_units, last.numa_node), (Some(38), Some(1)));
    assert_eq!(last.uuid.as_deref(), Some("GPU-e3aa140f9a5f9e31"));
    assert_eq!(
        last.partition,
        Some(GpuPartition { compute: "CPX".to_owned(), memory: Some("NPS4".to_owned()), index: 7 })
    );
    let nodes: Vec<&str> =
        view.gpus.iter().flat_map(|gpu| &gpu.nodes).map(String::as_str).collect();
    assert_eq!((nodes[0], nodes[7]), ("/dev/dri/renderD128", "/dev/dri/renderD135"));
}

#[test]
fn a_workstation_with_the_kernels_own_driver() {
    let w7900 = [
        ("simd_count", 192),
        ("gfx_target_version", 110_000),
        ("device_id", 0x7448),
        ("location_id", 0x0300),
        ("domain", 0),
        ("drm_render_minor", 128),
    ];
    let xt = [
        ("simd_count", 168),
        ("gfx_target_version", 110_000),
        ("device_id", 0x744c),
        ("location_id", 0x4108),
        ("domain", 1),
        ("drm_render_minor", 129),
    ];
    let view = Host::new()
        .processor(0)
        .kfd(1, &w7900, None)
        .file("sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total", "48301604864\n")
        .kfd(2, &xt, Some(20 * GIB))
        .file("sys/class/drm/renderD129/device/revision", "0xcc\n")
        .file("sys/module/amdgpu/refcnt", "12\n")
        .probe();
    assert_eq!(view.gpus[0].model, "W7900");
    assert_eq!(view.gpus[0].gfx.as_deref(), Some("gfx1100"));
    assert_eq!(view.gpus[0].vram, Some(48_301_604_864));
    assert_eq!(
        (view.gpus[1].model.as_str(), view.gpus[1].pci.as_str()),
        ("RX 7900 XT", "0001:41:01.0")
    );
    assert_eq!(view.amdgpu, None);
    assert_eq!(view.rocm, None);
}

#[test]
fn an_unknown_gpu_is_named_by_its_id() {
    let unknown = [
        ("simd_count", 8),
        ("gfx_target_version", 90_010),
        ("device_id", 0x9999),
        ("location_id", 0),
        ("drm_render_minor", 128),
    ];
    let shared = [
        ("simd_count", 8),
        ("gfx_target_version", 120_001),
        ("device_id", 0x7551),
        ("location_id", 0),
        ("drm_render_minor", 129),
    ];
    let view = Host::new().kfd(0, &unknown, None).kfd(1, &shared, None).probe();
    assert_eq!(
        (view.gpus[0].model.as_str(), view.gpus[0].gfx.as_deref()),
        ("1002:9999", Some("gfx90a"))
    );
    assert_eq!(
        (view.gpus[1].model.as_str(), view.gpus[1].gfx.as_deref()),
        ("1002:7551", Some("gfx1201"))
    );
}

/// From an H200 with driver 580; blanks and tabs are the driver's.
const INFORMATION: &str = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\nGPU UUID: \t GPU-31877c6b-ad14-f7d7-1948-385bddbb3ea5\n\
    Video BIOS: \t 96.00.a5.00.1a\nBus Type: \t PCIe\nDMA Size: \t 52 bits\nDMA Mask: \t 0xfffffffffffff\n\
    Bus Location: \t 0000:00:06.0\nDevice Minor: \t 0\nGPU Firmware: \t 580.159.04\nGPU Excluded:\t No\n";

#[test]
fn nvidia_gpus_are_in_address_order() {
    let second =
        INFORMATION.replace("0000:00:06.0", "0000:0A:00.0").replace("Minor: \t 0", "Minor: \t 3");
    let excluded = INFORMATION
        .replace("0000:00:06.0", "0000:0b:00.0")
        .replace("Excluded:\t No", "Excluded:\t Yes");
    let version = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (builder@)  \nGCC version:  gcc version 15.3.0 (GCC) \n";
    let host = Host::new()
        .file("proc/driver/nvidia/gpus/0000:0a:00.0/information", &second)
        .file("proc/driver/nvidia/gpus/0000:00:06.0/information", INFORMATION)
        .file("proc/driver/nvidia/gpus/0000:0b:00.0/information", &excluded)
        .file("proc/driver/nvidia/version", version);
    let view = host.probe();
    let gpus: Vec<(&str, &str)> =
        view.gpus.iter().map(|gpu| (gpu.pci.as_str(), gpu.nodes[0].as_str())).collect();
    assert_eq!(gpus, [("0000:00:06.0", "/dev/nvidia0"), ("0000:0a:00.0", "/dev/nvidia3")]);
    assert_eq!((view.gpus[0].model.as_str(), view.gpus[0].gfx.as_deref()), ("H200", None));
    assert_eq!(view.nvidia.as_deref(), Some("580.159.04"));
    let older =
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n";
    assert_eq!(
        host.file("proc/driver/nvidia/version", older).probe().nvidia.as_deref(),
        Some("550.54.15")
    );
}
