//! The condition of simulated GPUs.

use super::{GIB, Host};
use crate::model::{GpuCondition, GpuProgram, HardwareErrors};
use crate::{read_conditions, read_settings};

const DEVICE: &str = "sys/bus/pci/devices/0000:05:00.0";

fn one_mi300x() -> Host {
    let properties = [
        ("simd_count", 1216),
        ("simd_per_cu", 4),
        ("gfx_target_version", 90402),
        ("device_id", 0x74a1),
        ("location_id", 0x500),
        ("drm_render_minor", 128),
    ];
    Host::new()
        .processor(0)
        .kfd(1, &properties, Some(192 * GIB))
        .file("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51110\n")
}

#[test]
fn programs_memory_and_errors_of_a_gpu() {
    let host = one_mi300x()
        .file(&format!("{DEVICE}/mem_info_vram_used"), "298000000\n")
        .file(&format!("{DEVICE}/gpu_busy_percent"), "97\n")
        .file(&format!("{DEVICE}/hwmon/hwmon3/power1_cap"), "750000000\n")
        .file(&format!("{DEVICE}/power_dpm_force_performance_level"), "auto\n")
        .file(&format!("{DEVICE}/ras/umc_err_count"), "ue: 1\nce: 12\nde: 0\n")
        .file(&format!("{DEVICE}/ras/gfx_err_count"), "ue: 0\nce: 3\n")
        .file(&format!("{DEVICE}/ras/features"), "feature mask: 0x1\n")
        .file("sys/class/kfd/kfd/proc/4711/vram_51110", "197568495616\n")
        .file("proc/4711/comm", "python3\n")
        // Holds queues of another GPU, and none of this one.
        .file("sys/class/kfd/kfd/proc/4712/vram_51110", "0\n")
        .file("sys/class/kfd/kfd/proc/4712/queues/0/gpuid", "999\n")
        // A queue and no memory.
        .file("sys/class/kfd/kfd/proc/4713/queues/1/gpuid", "51110\n");
    let view = host.probe();
    let found = read_conditions(host.0.path(), &view.gpus);
    let process =
        |pid, name: Option<&str>, vram| GpuProgram { pid, name: name.map(str::to_owned), vram };
    assert_eq!(
        found,
        [GpuCondition {
            vram_total: None,
            divided: None,
            vram_used: Some(298_000_000),
            busy_percent: Some(97),
            processes: vec![
                process(4711, Some("python3"), Some(197_568_495_616)),
                process(4713, None, None),
            ],
            errors: Some(HardwareErrors { corrected: 15, uncorrected: 1 }),
            power_cap_w: Some(750),
            performance_level: Some("auto".to_owned()),
        }]
    );
}

#[test]
fn a_gpu_without_data_has_an_empty_condition() {
    let host = one_mi300x();
    let found = read_conditions(host.0.path(), &host.probe().gpus);
    assert_eq!(found, [GpuCondition::default()]);
}

#[test]
fn kernel_settings_are_parsed() {
    let host = Host::new()
        .file("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n")
        .file("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n")
        .file("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1\n")
        .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
        .file("sys/kernel/mm/transparent_hugepage/defrag", "[always] defer never\n")
        .file("proc/sys/kernel/numa_balancing", "1\n")
        .file("proc/cmdline", "root=/dev/sda1 iommu=pt\n");
    let found = read_settings(host.0.path());
    assert_eq!(found.governor.as_deref(), Some("performance powersave"));
    assert_eq!(found.deep_idle_disabled, Some(true));
    assert_eq!(found.huge_pages.as_deref(), Some("madvise"));
    assert_eq!(found.huge_pages_defrag.as_deref(), Some("always"));
    assert_eq!(found.numa_balancing.as_deref(), Some("1"));
    assert_eq!(found.nmi_watchdog, None);
}
