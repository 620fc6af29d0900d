//! Settings that AMD's reproduction guides ask for. They change the figure by some per cent, and
//! need root: they are told, never made.

use super::{Check, CheckKind, CheckState, Facts};
use retrial_recipe::model::GpuVendor;

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let amd = match facts.asked() {
        Some(asked) => asked.vendor == GpuVendor::Amd,
        None => facts
            .host
            .gpus
            .iter()
            .any(|gpu| gpu.vendor == GpuVendor::Amd),
    };
    if !amd {
        return Vec::new();
    }
    let settings = facts.settings;
    let deep_idle = settings
        .deep_idle_disabled
        .map(|disabled| if disabled { "disabled" } else { "enabled" }.to_owned());
    let mut checks = vec![
        setting(
            "clock governor",
            settings.governor.as_deref(),
            "performance",
            "sudo cpupower frequency-set -g performance",
        ),
        setting(
            "deep idle state (C2)",
            deep_idle.as_deref(),
            "disabled",
            "sudo cpupower idle-set -d 2",
        ),
        setting(
            "NMI watchdog",
            settings.nmi_watchdog.as_deref(),
            "0",
            "sudo sysctl -w kernel.nmi_watchdog=0",
        ),
        setting(
            "NUMA balancing",
            settings.numa_balancing.as_deref(),
            "0",
            "sudo sysctl -w kernel.numa_balancing=0",
        ),
        setting(
            "address randomization",
            settings.randomize_va_space.as_deref(),
            "0",
            "sudo sysctl -w kernel.randomize_va_space=0 (it makes attacks easier: set it back to 2 afterwards)",
        ),
        setting(
            "huge pages",
            settings.huge_pages.as_deref(),
            "always",
            "echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        setting(
            "huge pages, defragmentation",
            settings.huge_pages_defrag.as_deref(),
            "always",
            "echo always | sudo tee /sys/kernel/mm/transparent_hugepage/defrag",
        ),
    ];
    checks.extend(command_line(settings.command_line.as_deref()));
    checks
}

fn setting(name: &str, found: Option<&str>, wanted: &str, mend: &str) -> Check {
    let state = match found {
        None => CheckState::Unknown,
        Some(found) if found == wanted => CheckState::Ok,
        Some(_) => CheckState::Warning,
    };
    Check::new(
        CheckKind::Setting,
        name,
        state,
        found.unwrap_or("it cannot be read"),
    )
    .required(wanted)
    .fix(mend)
}

/// What the guides ask of the kernel's command line.
fn command_line(found: Option<&str>) -> Option<Check> {
    const WANTED: [&str; 2] = ["pci=realloc=off", "iommu=pt"];
    let found = found?;
    let lacking: Vec<&str> = WANTED
        .into_iter()
        .filter(|word| !found.split_whitespace().any(|one| one == *word))
        .collect();
    let check = if lacking.is_empty() {
        Check::new(
            CheckKind::Setting,
            "kernel command line",
            CheckState::Ok,
            WANTED.join(" "),
        )
    } else {
        Check::new(
            CheckKind::Setting,
            "kernel command line",
            CheckState::Warning,
            format!("without {}", lacking.join(" ")),
        )
    };
    Some(check.required(WANTED.join(" ")).fix(
        "add it to GRUB_CMDLINE_LINUX in /etc/default/grub, then `sudo update-grub` and restart",
    ))
}
