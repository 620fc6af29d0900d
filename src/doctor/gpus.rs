//! The GPUs: are the right ones there, idle and healthy?

use super::{Check, CheckState, Facts};
use crate::plan::host::Gpu;
use crate::recipe::model::GpuVendor;

/// Memory that a GPU holds without any program: the driver's own.
const IDLE_VRAM: u64 = 1 << 30;

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let mut checks = vec![there(facts)];
    let ours: Vec<usize> = (0..facts.host.gpus.len())
        .filter(|index| {
            facts
                .asked()
                .is_none_or(|asked| facts.host.gpus[*index].vendor == asked.vendor)
        })
        .collect();
    if ours.is_empty() {
        return checks;
    }
    checks.extend(partition(facts, &ours));
    checks.push(idle(facts, &ours));
    checks.extend(healthy(facts, &ours));
    checks
}

fn there(facts: &Facts<'_>) -> Check {
    let found = summary(&facts.host.gpus);
    let Some(asked) = facts.asked() else {
        let state = if facts.host.gpus.is_empty() {
            CheckState::Unknown
        } else {
            CheckState::Ok
        };
        return Check::new("gpus", state, found);
    };
    let of_vendor = facts
        .host
        .gpus
        .iter()
        .filter(|gpu| gpu.vendor == asked.vendor);
    let (mut fitting, mut others) = (0, 0);
    for gpu in of_vendor {
        let fits = asked.models.is_empty()
            || asked
                .models
                .iter()
                .any(|model| model.eq_ignore_ascii_case(&gpu.model));
        *if fits { &mut fitting } else { &mut others } += 1;
    }
    let vendor = vendor(asked.vendor);
    let models = if asked.models.is_empty() {
        format!("{vendor} GPUs")
    } else {
        asked.models.join(" or ")
    };
    let count = asked.count;
    let state = if fitting >= count {
        CheckState::Ok
    } else if fitting + others >= count {
        CheckState::Warning
    } else {
        CheckState::Error
    };
    let mend = match state {
        CheckState::Warning => {
            "another GPU measures something else: --force, and the verdict says 'other hardware'"
        }
        _ if facts.host.gpus.is_empty() && asked.vendor == GpuVendor::Amd => {
            "is the driver loaded? `lsmod | grep amdgpu`, `ls /sys/class/kfd`"
        }
        _ if facts.host.gpus.is_empty() => "is the driver loaded? `ls /proc/driver/nvidia`",
        _ => "run it on a host that has them",
    };
    Check::new("gpus", state, found)
        .wanted(format!("{count} x {models}"))
        .mend(mend)
}

/// `8 x MI355X, 1 x W7900`, in the order of the host.
fn summary(gpus: &[Gpu]) -> String {
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for gpu in gpus {
        match groups.iter_mut().find(|group| group.0 == gpu.model) {
            Some(group) => group.1 += 1,
            None => groups.push((&gpu.model, 1)),
        }
    }
    if groups.is_empty() {
        return "none".to_owned();
    }
    let words: Vec<String> = groups
        .iter()
        .map(|(model, count)| format!("{count} x {model}"))
        .collect();
    words.join(", ")
}

fn partition(facts: &Facts<'_>, ours: &[usize]) -> Option<Check> {
    let mut found: Vec<&str> = ours
        .iter()
        .filter_map(|index| facts.host.gpus[*index].partition.as_ref())
        .map(|partition| partition.compute.as_str())
        .collect();
    found.sort_unstable();
    found.dedup();
    let asked = facts.asked()?;
    // What a recipe does not name was published on whole GPUs.
    let wanted = asked.partition.as_deref().unwrap_or("SPX");
    if found.is_empty() {
        return asked.partition.as_ref().map(|wanted| {
            Check::new("partition", CheckState::Unknown, "the driver does not say").wanted(wanted)
        });
    }
    let state = if found.iter().all(|mode| mode.eq_ignore_ascii_case(wanted)) {
        CheckState::Ok
    } else {
        CheckState::Error
    };
    Some(
        Check::new("partition", state, found.join(", "))
            .wanted(wanted)
            .mend(format!(
                "with nothing running on them: sudo amd-smi set --compute-partition {wanted}"
            )),
    )
}

fn idle(facts: &Facts<'_>, ours: &[usize]) -> Check {
    let mut known = false;
    let mut busy = Vec::new();
    let mut end = Vec::new();
    for index in ours {
        let Some(condition) = facts.conditions.get(*index) else {
            continue;
        };
        known |= condition.vram_used.is_some();
        let used = condition.vram_used.unwrap_or(0);
        if used <= IDLE_VRAM && condition.processes.is_empty() {
            continue;
        }
        let programs: Vec<String> = condition
            .processes
            .iter()
            .map(|process| {
                end.push(process.pid.to_string());
                match &process.name {
                    Some(name) => format!("{name} ({})", process.pid),
                    None => process.pid.to_string(),
                }
            })
            .collect();
        let by = if programs.is_empty() {
            String::new()
        } else {
            format!(" by {}", programs.join(", "))
        };
        let size = humansize::format_size(used, humansize::BINARY);
        busy.push(format!("GPU {index}: {size} in use{by}"));
    }
    end.sort();
    end.dedup();
    let check = if busy.is_empty() && !known {
        Check::new(
            "gpus idle",
            CheckState::Unknown,
            "the driver's files do not say",
        )
    } else if busy.is_empty() {
        Check::new("gpus idle", CheckState::Ok, "nothing runs on them")
    } else {
        Check::new("gpus idle", CheckState::Warning, busy.join("; "))
    };
    check
        .wanted("no other program on them")
        .mend(if end.is_empty() {
            "find the program that holds the memory (`amd-smi process`, `nvidia-smi`), or choose other GPUs by --gpus".to_owned()
        } else {
            format!("ps -fp {}; end them, or choose other GPUs by --gpus", end.join(","))
        })
}

fn healthy(facts: &Facts<'_>, ours: &[usize]) -> Option<Check> {
    let counted: Vec<(usize, u64, u64)> = ours
        .iter()
        .filter_map(|index| {
            let errors = facts.conditions.get(*index)?.errors?;
            Some((*index, errors.corrected, errors.uncorrected))
        })
        .collect();
    if counted.is_empty() {
        return None;
    }
    let bad: Vec<String> = counted
        .iter()
        .filter(|(_, _, uncorrected)| *uncorrected > 0)
        .map(|(index, _, uncorrected)| format!("GPU {index}: {uncorrected} uncorrected errors"))
        .collect();
    let corrected: u64 = counted.iter().map(|(_, corrected, _)| corrected).sum();
    let check = if bad.is_empty() {
        Check::new(
            "gpus healthy",
            CheckState::Ok,
            format!("no uncorrected errors, {corrected} corrected"),
        )
    } else {
        Check::new("gpus healthy", CheckState::Warning, bad.join("; "))
    };
    Some(check.wanted("no uncorrected memory errors").mend(
        "results may be wrong: leave the GPU out by --gpus, reset it, and see `amd-smi metric --ecc`",
    ))
}

fn vendor(vendor: GpuVendor) -> &'static str {
    match vendor {
        GpuVendor::Amd => "AMD",
        GpuVendor::Nvidia => "NVIDIA",
    }
}
