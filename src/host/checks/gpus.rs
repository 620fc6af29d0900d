//! The GPUs: are the right ones there, idle and healthy, and can a container have them?

use super::{Check, CheckKind, CheckState, Condition, Facts};
use crate::host::assign::cards;
use crate::host::checks::requirements::way;
use crate::host::model::Gpu;
use retrial_recipe::model::GpuVendor;

/// Memory that a GPU holds without any program: the driver's own.
const IDLE_VRAM: u64 = 1 << 30;
/// Models of which one card is two GPUs.
const OF_TWO_DIES: [&str; 2] = ["MI250", "MI250X"];

/// A GPU that is looked at.
struct Seen<'a> {
    /// Its index among those of its vendor.
    index: u32,
    gpu: &'a Gpu,
    condition: Option<&'a Condition>,
}

pub fn checks(facts: &Facts<'_>) -> Vec<Check> {
    let mut checks = vec![there(facts)];
    checks.extend(unread(facts));
    let ours = ours(facts);
    if ours.is_empty() {
        return checks;
    }
    checks.extend(partition(facts, &ours));
    checks.extend(divided(&ours));
    checks.push(idle(facts, &ours));
    checks.extend(in_use(facts));
    checks.extend(healthy(&ours));
    checks.extend(nodes(&ours));
    checks.extend(into_a_container(facts));
    checks
}

/// Those that the run would be given; without a recipe, all.
fn ours<'a>(facts: &Facts<'a>) -> Vec<Seen<'a>> {
    let mut counts = [0_u32; 2];
    let mut seen = Vec::new();
    for (at, gpu) in facts.host.gpus.iter().enumerate() {
        let count = &mut counts[usize::from(gpu.vendor == GpuVendor::Nvidia)];
        let index = *count;
        *count += 1;
        let wanted = match (facts.given, facts.asked()) {
            (Some(given), Some(asked)) if !given.gpus.is_empty() => {
                asked.vendor == gpu.vendor && given.gpus.iter().any(|one| one.index == index)
            }
            (_, Some(asked)) => asked.vendor == gpu.vendor,
            (_, None) => true,
        };
        if wanted {
            seen.push(Seen {
                index,
                gpu,
                condition: facts.conditions.get(at),
            });
        }
    }
    seen
}

fn there(facts: &Facts<'_>) -> Check {
    let found = summary(&facts.host.gpus);
    let Some(asked) = facts.asked() else {
        let state = if facts.host.gpus.is_empty() {
            CheckState::Unknown
        } else {
            CheckState::Ok
        };
        return Check::new(CheckKind::Gpus, "gpus", state, found);
    };
    let usable = |gpu: &&Gpu| gpu.vendor == asked.vendor && !gpu.masked;
    let all = cards(facts.host.gpus.iter().filter(usable));
    let fits = |gpu: &&Gpu| usable(gpu) && asked.takes(&gpu.model);
    let fitting = cards(facts.host.gpus.iter().filter(fits));
    let models = if asked.models.is_empty() {
        format!("{} GPUs", asked.vendor.name())
    } else {
        asked.models.join(" or ")
    };
    let count = asked.count as usize;
    let state = if fitting >= count {
        CheckState::Ok
    } else if all >= count {
        CheckState::Warning
    } else {
        CheckState::Error
    };
    let none = !facts.host.gpus.iter().any(|gpu| gpu.vendor == asked.vendor);
    let mend = match state {
        CheckState::Warning => {
            "another GPU measures something else: --force, and the verdict says 'other hardware'"
        }
        _ if none && asked.vendor == GpuVendor::Amd => {
            "is the driver loaded? `lsmod | grep amdgpu`, `ls /sys/class/kfd`"
        }
        _ if none => "is the driver loaded? `lsmod | grep nvidia`, `ls /proc/driver/nvidia`",
        _ => "run it on a host that has them",
    };
    Check::new(CheckKind::Gpus, "gpus", state, found)
        .required(format!("{count} x {models}"))
        .fix(mend)
}

/// `8 x MI355X, 1 x W7900`, in the order of the host; partitions and dies beside them.
fn summary(gpus: &[Gpu]) -> String {
    let mut models: Vec<&str> = Vec::new();
    for gpu in gpus {
        if !models.contains(&gpu.model.as_str()) {
            models.push(&gpu.model);
        }
    }
    if models.is_empty() {
        return "none".to_owned();
    }
    let words: Vec<String> = models
        .iter()
        .map(|model| {
            let of = || gpus.iter().filter(|gpu| gpu.model == *model);
            let (count, parts) = (cards(of()), of().count());
            let mode = of().find_map(|gpu| Some(gpu.partition.as_ref()?.compute.as_str()));
            match mode.filter(|_| parts > count) {
                Some(mode) => format!("{count} x {model} ({parts} partitions, {mode})"),
                None if OF_TWO_DIES.contains(model) => {
                    format!("{count} x {model} (dies, two a card)")
                }
                None => format!("{count} x {model}"),
            }
        })
        .collect();
    words.join(", ")
}

/// What of them could not be read.
fn unread(facts: &Facts<'_>) -> Option<Check> {
    let unread = &facts.host.unread;
    if unread.is_empty() {
        return None;
    }
    let check = Check::new(
        CheckKind::GpusReadable,
        "gpus readable",
        CheckState::Warning,
        unread.join("; "),
    );
    Some(check.required("every GPU of the host").fix(
        "a container or a batch system may hide GPUs from you; else look at the driver: `dmesg | grep -e amdgpu -e NVRM`",
    ))
}

fn partition(facts: &Facts<'_>, ours: &[Seen<'_>]) -> Option<Check> {
    let mut found: Vec<&str> = ours
        .iter()
        .filter_map(|seen| seen.gpu.partition.as_ref())
        .map(|partition| partition.compute.as_str())
        .collect();
    found.sort_unstable();
    found.dedup();
    let asked = facts.asked()?;
    // What a recipe does not name was published on whole GPUs.
    let wanted = asked.partition.as_deref().unwrap_or("SPX");
    if found.is_empty() {
        return asked.partition.as_ref().map(|wanted| {
            Check::new(
                CheckKind::Partition,
                "partition",
                CheckState::Unknown,
                "the driver does not say",
            )
            .required(wanted)
        });
    }
    let state = if found.iter().all(|mode| mode.eq_ignore_ascii_case(wanted)) {
        CheckState::Ok
    } else {
        CheckState::Error
    };
    Some(
        Check::new(CheckKind::Partition, "partition", state, found.join(", "))
            .required(wanted)
            .fix(format!(
                "with nothing running on them: sudo amd-smi set --compute-partition {wanted}"
            )),
    )
}

/// NVIDIA's partitions: a program sees one slice of such a GPU at most.
fn divided(ours: &[Seen<'_>]) -> Option<Check> {
    let of =
        |seen: &&Seen<'_>| seen.condition.and_then(|condition| condition.divided) == Some(true);
    let divided: Vec<String> = ours
        .iter()
        .filter(of)
        .map(|seen| format!("GPU {} is divided (MIG)", seen.index))
        .collect();
    if divided.is_empty() {
        return None;
    }
    let check = Check::new(
        CheckKind::GpusWhole,
        "gpus whole",
        CheckState::Warning,
        divided.join("; "),
    );
    Some(check.required("whole GPUs, which published figures are of").fix(
        "with nothing running on it: sudo nvidia-smi -i INDEX -mig 0; or choose others by --gpus",
    ))
}

fn idle(facts: &Facts<'_>, ours: &[Seen<'_>]) -> Check {
    let mut known = false;
    let mut busy = Vec::new();
    let mut end = Vec::new();
    for Seen {
        index, condition, ..
    } in ours
    {
        let Some(condition) = condition else {
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
        let size = crate::format::size(used);
        busy.push(format!("GPU {index}: {size} in use{by}"));
    }
    end.sort();
    end.dedup();
    let check = if busy.is_empty() && !known {
        let found = if facts.host.nvidia.is_some() {
            "NVIDIA's driver says it through its library only"
        } else {
            "the driver's files do not say"
        };
        Check::new(CheckKind::GpusIdle, "gpus idle", CheckState::Unknown, found)
    } else if busy.is_empty() {
        Check::new(
            CheckKind::GpusIdle,
            "gpus idle",
            CheckState::Ok,
            "nothing runs on them",
        )
    } else {
        Check::new(
            CheckKind::GpusIdle,
            "gpus idle",
            CheckState::Warning,
            busy.join("; "),
        )
    };
    check
        .required("no other program on them")
        .fix(if end.is_empty() {
            "find the program that holds the memory (`amd-smi process`, `nvidia-smi`), or choose other GPUs by --gpus".to_owned()
        } else {
            format!("ps -fp {}; end them, or choose other GPUs by --gpus", end.join(","))
        })
}

/// Runs of ours, of any user, that have GPUs of this engine.
fn in_use(facts: &Facts<'_>) -> Option<Check> {
    let others = &facts.claims;
    if others.is_empty() {
        return None;
    }
    let check = Check::new(
        CheckKind::GpusClaimed,
        "gpus claimed",
        CheckState::Warning,
        others.join("; "),
    );
    Some(check.required("no other run on them").fix(
        "a run waits for those that it shares with them; --gpus chooses others, --no-wait does not wait",
    ))
}

fn healthy(ours: &[Seen<'_>]) -> Option<Check> {
    let counted: Vec<(u32, u64, u64)> = ours
        .iter()
        .filter_map(|seen| {
            let errors = seen.condition?.errors?;
            Some((seen.index, errors.corrected, errors.uncorrected))
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
            CheckKind::GpusHealthy,
            "gpus healthy",
            CheckState::Ok,
            format!("no uncorrected errors, {corrected} corrected"),
        )
    } else {
        Check::new(
            CheckKind::GpusHealthy,
            "gpus healthy",
            CheckState::Warning,
            bad.join("; "),
        )
    };
    Some(check.required("no uncorrected memory errors").fix(
        "results may be wrong: leave the GPU out by --gpus, reset it, and see `amd-smi metric --ecc`, `nvidia-smi -q -d ECC`",
    ))
}

/// GPUs whose device nodes are not there for us.
fn nodes(ours: &[Seen<'_>]) -> Option<Check> {
    let masked: Vec<String> = ours
        .iter()
        .filter(|seen| seen.gpu.masked)
        .map(|seen| format!("GPU {}: no {}", seen.index, seen.gpu.nodes.join(", ")))
        .collect();
    if masked.is_empty() {
        return None;
    }
    let check = Check::new(
        CheckKind::GpuDevices,
        "gpu devices",
        CheckState::Warning,
        masked.join("; "),
    );
    Some(check.required("a device node of each GPU").fix(
        "a container or a batch system was given only some of them: --gpus chooses among those",
    ))
}

/// By which way a container would get them.
fn into_a_container(facts: &Facts<'_>) -> Option<Check> {
    let (given, asked) = (facts.given?, facts.asked()?);
    let lack = way(asked, facts.host, given);
    let check = match &lack {
        Some(lack) => Check::new(
            CheckKind::GpuAccess,
            "gpus into a container",
            CheckState::Error,
            &lack.found,
        ),
        None => Check::new(
            CheckKind::GpuAccess,
            "gpus into a container",
            CheckState::Ok,
            format!("by {}: {}", given.method.name(), given.because),
        ),
    };
    let wanted = given.method.name();
    Some(
        check
            .required(wanted)
            .fix(lack.map_or_else(String::new, |lack| lack.wanted)),
    )
}
