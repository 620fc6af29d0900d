//! Settings that AMD's reproduction guides recommend. They change the figure by some per cent, and need root:
//! they are reported, never changed.

use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use retrial_recipe::model::GpuVendor;

/// The guides' options for the kernel's command line.
const RECOMMENDED_KERNEL_OPTIONS: [&str; 2] = ["pci=realloc=off", "iommu=pt"];

pub fn check_settings(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let is_amd = match facts.gpu_request() {
        Some(request) => request.vendor == GpuVendor::Amd,
        None => facts.host.has_gpu(GpuVendor::Amd),
    };
    let Some(settings) = facts.settings.filter(|_| is_amd) else {
        return Vec::new();
    };
    let deep_idle = settings
        .deep_idle_disabled
        .map(|disabled| if disabled { "disabled" } else { "enabled" }.to_owned());
    let table = [
        (
            "clock governor",
            &settings.governor,
            "performance",
            "sudo cpupower frequency-set -g performance",
        ),
        ("deep idle state (C2)", &deep_idle, "disabled", "sudo cpupower idle-set -d 2"),
        ("NMI watchdog", &settings.nmi_watchdog, "0", "sudo sysctl -w kernel.nmi_watchdog=0"),
        ("NUMA balancing", &settings.numa_balancing, "0", "sudo sysctl -w kernel.numa_balancing=0"),
        (
            "address randomization",
            &settings.randomize_va_space,
            "0",
            "sudo sysctl -w kernel.randomize_va_space=0 (it makes attacks easier: set it back to 2 afterwards)",
        ),
        (
            "huge pages",
            &settings.huge_pages,
            "always",
            "echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        (
            "huge pages, defragmentation",
            &settings.huge_pages_defrag,
            "always",
            "echo always | sudo tee /sys/kernel/mm/transparent_hugepage/defrag",
        ),
    ];
    let checks = table.into_iter().map(|(name, actual, required, fix)| {
        let state = match actual {
            None => HostCheckState::Unknown,
            Some(actual) if actual == required => HostCheckState::Ok,
            Some(_) => HostCheckState::Warning,
        };
        let actual_text = actual.as_deref().unwrap_or("it cannot be read");
        let check = HostCheckKind::Setting.new_check(state, actual_text).with_name(name);
        check.with_requirement(required).with_fix(fix)
    });
    let command_line = settings.command_line.as_deref().map(check_command_line);
    checks.chain(command_line).collect()
}

fn check_command_line(actual: &str) -> HostCheck {
    let mut missing = RECOMMENDED_KERNEL_OPTIONS.to_vec();
    missing.retain(|word| !actual.split_whitespace().any(|present| present == *word));
    let check = if missing.is_empty() {
        HostCheckKind::Setting.pass(RECOMMENDED_KERNEL_OPTIONS.join(" "))
    } else {
        HostCheckKind::Setting.warn(format!("without {}", missing.join(" ")))
    };
    check
        .with_name("kernel command line")
        .with_requirement(RECOMMENDED_KERNEL_OPTIONS.join(" "))
        .with_fix("add it to GRUB_CMDLINE_LINUX in /etc/default/grub, then `sudo update-grub` and restart")
}
