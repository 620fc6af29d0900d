//! Settings of the host that vendors' guides ask for before a benchmark. They are read, never set.

use serde::{Deserialize, Serialize};

use super::root::Root;

const CPU: &str = "sys/devices/system/cpu";

/// Settings that change what a benchmark measures; absent where they cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The clock governor of the processors, where all have the same; else each that is there.
    pub governor: Option<String>,
    /// Whether the second idle state, which is slow to leave, is disabled.
    pub deep_idle_disabled: Option<bool>,
    /// `kernel.nmi_watchdog`
    pub nmi_watchdog: Option<String>,
    /// `kernel.numa_balancing`
    pub numa_balancing: Option<String>,
    /// `kernel.randomize_va_space`
    pub randomize_va_space: Option<String>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// When memory is defragmented for huge pages.
    pub huge_pages_defrag: Option<String>,
    /// Whether processors run two threads a core.
    pub smt: Option<String>,
    /// The kernel's command line.
    pub command_line: Option<String>,
}

/// Reads them.
pub fn read(root: &Root) -> Settings {
    let kernel = |name: &str| root.text(&format!("proc/sys/kernel/{name}"));
    let pages = "sys/kernel/mm/transparent_hugepage";
    Settings {
        governor: governor(root),
        deep_idle_disabled: root
            .number(&format!("{CPU}/cpu0/cpuidle/state2/disable"))
            .map(|disabled| disabled != 0),
        nmi_watchdog: kernel("nmi_watchdog"),
        numa_balancing: kernel("numa_balancing"),
        randomize_va_space: kernel("randomize_va_space"),
        huge_pages: chosen(root, &format!("{pages}/enabled")),
        huge_pages_defrag: chosen(root, &format!("{pages}/defrag")),
        smt: root.text(&format!("{CPU}/smt/control")),
        command_line: root.text("proc/cmdline"),
    }
}

/// Policies, not processors, are looked at: a machine of 384 processors may have one for all.
fn governor(root: &Root) -> Option<String> {
    let policies = format!("{CPU}/cpufreq");
    let mut governors: Vec<String> = root
        .names(&policies)
        .into_iter()
        .filter_map(|policy| root.text(&format!("{policies}/{policy}/scaling_governor")))
        .collect();
    if governors.is_empty() {
        governors.extend(root.text(&format!("{CPU}/cpu0/cpufreq/scaling_governor")));
    }
    governors.sort();
    governors.dedup();
    (!governors.is_empty()).then(|| governors.join(" "))
}

/// The word in brackets of `always [madvise] never`.
fn chosen(root: &Root, path: &str) -> Option<String> {
    let text = root.text(path)?;
    let word = text.split_once('[')?.1.split_once(']')?.0;
    Some(word.to_owned())
}
