//! Settings of the host that vendors' guides recommend for a benchmark. They are read, never set.

use std::path::Path;

use itertools::Itertools as _;

use super::root::HostRoot;
use crate::model::HostSettings;

const CPU_FOLDER: &str = "sys/devices/system/cpu";

/// Reads the settings of the host below `root`.
pub fn read_settings(root: &Path) -> HostSettings {
    let root = &HostRoot::new(root);
    let kernel = |name: &str| root.read_text(&format!("proc/sys/kernel/{name}"));
    let pages = "sys/kernel/mm/transparent_hugepage";
    HostSettings {
        governor: read_governor(root),
        deep_idle_disabled: root
            .read_number(&format!("{CPU_FOLDER}/cpu0/cpuidle/state2/disable"))
            .map(|disabled| disabled != 0),
        nmi_watchdog: kernel("nmi_watchdog"),
        numa_balancing: kernel("numa_balancing"),
        randomize_va_space: kernel("randomize_va_space"),
        huge_pages: bracketed_word(root, &format!("{pages}/enabled")),
        huge_pages_defrag: bracketed_word(root, &format!("{pages}/defrag")),
        smt: root.read_text(&format!("{CPU_FOLDER}/smt/control")),
        command_line: root.read_text("proc/cmdline"),
    }
}

/// Reads policies, not processors: a machine of 384 processors may have one for all.
fn read_governor(root: &HostRoot) -> Option<String> {
    let policies = format!("{CPU_FOLDER}/cpufreq");
    let governor = |policy: String| root.read_text(&format!("{policy}/scaling_governor"));
    let names = root.list_names(&policies).into_iter();
    let policy_governors = names.filter_map(|name| governor(format!("{policies}/{name}")));
    let mut governors: Vec<String> = policy_governors.collect();
    if governors.is_empty() {
        governors.extend(governor(format!("{CPU_FOLDER}/cpu0/cpufreq")));
    }
    let distinct_governors = governors.iter().sorted().dedup().join(" ");
    Some(distinct_governors).filter(|all| !all.is_empty())
}

/// Reads the setting in brackets of `always [madvise] never`.
fn bracketed_word(root: &HostRoot, path: &str) -> Option<String> {
    let text = root.read_text(path)?;
    let word = text.split_once('[')?.1.split_once(']')?.0;
    Some(word.to_owned())
}
