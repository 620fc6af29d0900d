//! Checks that the required GPUs exist, are idle and healthy, and can be injected.

use itertools::{Itertools as _, join};

use super::{HostCheck, HostCheckKind, HostCheckState, HostFacts};
use crate::amd_models::memory as published_memory;
use crate::assign::{cards, unsupported_method};
use crate::model::{Gpu, GpuCondition};
use retrial_document::measures::format::size;
use retrial_recipe::model::GpuVendor;

/// Memory in use on a GPU without any program: the driver's own.
const IDLE_VRAM: u64 = 1 << 30;
/// The minimum twentieths of the published memory that a driver shows: it reserves some.
const LEAST_MEMORY: u64 = 19;
/// Models with two GPUs on a card.
const DUAL_DIE_MODELS: [&str; 2] = ["MI250", "MI250X"];

/// A GPU that is checked.
struct CheckedGpu<'a> {
    /// Its index among those of its vendor.
    index: u32,
    gpu: &'a Gpu,
    condition: Option<&'a GpuCondition>,
}

pub fn checks(facts: &HostFacts<'_>) -> Vec<HostCheck> {
    let gpus = checked(facts);
    let mut checks = vec![present(facts, &gpus)];
    checks.extend(readable(facts));
    if gpus.is_empty() {
        checks.extend(access(facts).filter(HostCheck::is_unmet));
        return checks;
    }
    checks.extend(partition(facts, &gpus));
    checks.extend(undivided(&gpus));
    checks.extend(memory(&gpus));
    checks.push(idle(facts, &gpus));
    checks.extend(claimed(facts));
    checks.extend(healthy(&gpus));
    checks.extend(devices(&gpus));
    checks.extend(access(facts));
    checks
}

/// The GPUs that the run would get; without a recipe, all.
fn checked<'a>(facts: &HostFacts<'a>) -> Vec<CheckedGpu<'a>> {
    let is_assigned = |index: u32| {
        let assigned = facts.assigned.map(|assigned| assigned.gpus.as_slice());
        let assigned = assigned.filter(|gpus| !gpus.is_empty());
        assigned.is_none_or(|gpus| gpus.iter().any(|gpu| gpu.index == index))
    };
    let gpus = facts.host.indexed_gpus();
    gpus.zip(0..)
        .filter(|((index, gpu), _)| {
            let request = facts.request();
            request.is_none_or(|request| request.vendor == gpu.vendor && is_assigned(*index))
        })
        .map(|((index, gpu), at)| CheckedGpu {
            index,
            gpu,
            condition: facts.conditions.get(at),
        })
        .collect()
}

/// The GPUs that the checks are about.
pub fn checked_gpus<'a>(facts: &HostFacts<'a>) -> impl Iterator<Item = &'a Gpu> {
    checked(facts).into_iter().map(|checked| checked.gpu)
}

/// The number that the recipe requires, all of its models.
fn present(facts: &HostFacts<'_>, gpus: &[CheckedGpu<'_>]) -> HostCheck {
    let usable = gpus
        .iter()
        .map(|checked| checked.gpu)
        .filter(|gpu| !gpu.masked);
    let usable: Vec<&Gpu> = usable.collect();
    let all: Vec<&Gpu> = facts.host.gpus.iter().collect();
    let Some(request) = facts.request() else {
        let state = if all.is_empty() {
            HostCheckState::Unknown
        } else {
            HostCheckState::Ok
        };
        return HostCheckKind::Gpus.check(state, summary(&all));
    };
    let models = if request.models.is_empty() {
        format!("{} GPUs", request.vendor.name())
    } else {
        request.models.join(" or ")
    };
    let none = !all.iter().any(|gpu| gpu.vendor == request.vendor);
    let (state, fix) = if cards(usable.iter().copied()) < request.count as usize {
        let fix = match request.vendor {
            GpuVendor::Amd if none => {
                "is the driver loaded? `lsmod | grep amdgpu`, `ls /sys/class/kfd`"
            }
            GpuVendor::Nvidia if none => {
                "is the driver loaded? `lsmod | grep nvidia`, `ls /proc/driver/nvidia`"
            }
            _ if facts.chosen => "choose more of them with --gpus",
            _ => "run on a host that has them",
        };
        (HostCheckState::Error, fix)
    } else if usable.iter().all(|gpu| request.accepts_model(&gpu.model)) {
        (HostCheckState::Ok, "")
    } else {
        let fix = "use that GPU model, or --force: the verdict is then marked 'other hardware'";
        (HostCheckState::Warning, fix)
    };
    let chosen = facts.chosen.then_some(" chosen by --gpus");
    // An error shows the usable GPUs; if there are none, all that the host has.
    let actual = match state {
        HostCheckState::Error if usable.is_empty() => all,
        HostCheckState::Error => usable,
        _ => gpus.iter().map(|checked| checked.gpu).collect(),
    };
    HostCheckKind::Gpus
        .check(state, summary(&actual) + chosen.unwrap_or_default())
        .required(format!("{} x {models}", request.count))
        .fix(fix)
}

/// `8 x MI355X, 1 x W7900`, in the order of the host; with partitions and dies.
fn summary(gpus: &[&Gpu]) -> String {
    if gpus.is_empty() {
        return "none".to_owned();
    }
    let models = gpus.iter().map(|gpu| gpu.model.as_str()).unique();
    let words = models.map(|model| {
        let matching = || gpus.iter().copied().filter(|gpu| gpu.model == model);
        let (count, parts) = (cards(matching()), matching().count());
        let mode = matching().find_map(|gpu| Some(gpu.partition.as_ref()?.compute.as_str()));
        match mode.filter(|_| parts > count) {
            Some(mode) => format!("{count} x {model} ({parts} partitions, {mode})"),
            None if DUAL_DIE_MODELS.contains(&model) => {
                format!("{count} x {model} (dies, two per card)")
            }
            None => format!("{count} x {model}"),
        }
    });
    join(words, ", ")
}

/// Read errors of them.
fn readable(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let check = HostCheckKind::GpusReadable.warning_of(&facts.host.unread)?;
    Some(check.required("every GPU of the host").fix(
        "a container or a batch system may hide GPUs; otherwise check the driver: `dmesg | grep -e amdgpu -e NVRM`",
    ))
}

fn partition(facts: &HostFacts<'_>, gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let modes = gpus
        .iter()
        .filter_map(|checked| checked.gpu.partition.as_ref());
    let modes = modes.map(|partition| partition.compute.as_str());
    let mut modes = modes.sorted().dedup();
    let stated = facts.request()?.partition.as_deref();
    // Without a partition in the recipe, the result was published on whole GPUs.
    let required = stated.unwrap_or("SPX");
    let actual = join(modes.clone(), ", ");
    let check = if actual.is_empty() {
        stated?;
        HostCheckKind::Partition.unknown("the driver does not report it")
    } else if modes.all(|mode| mode.eq_ignore_ascii_case(required)) {
        HostCheckKind::Partition.ok(actual)
    } else {
        HostCheckKind::Partition.error(actual)
    };
    Some(check.required(required).fix(format!(
        "with nothing running on them: sudo amd-smi set --compute-partition {required}"
    )))
}

/// NVIDIA's partitions: a program sees one slice of such a GPU at most.
fn undivided(gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let divided: Vec<String> = gpus
        .iter()
        .filter(|checked| checked.condition.and_then(|condition| condition.divided) == Some(true))
        .map(|checked| format!("GPU {} is divided (MIG)", checked.index))
        .collect();
    let check = HostCheckKind::GpusWhole.warning_of(&divided)?;
    Some(check.required("undivided GPUs, as for published figures").fix(
        "with nothing running on it: sudo nvidia-smi -i INDEX -mig 0; or choose others with --gpus",
    ))
}

/// A GPU whose driver shows less memory than its model has is divided, or shared.
fn memory(gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let whole = |gpu: &Gpu| {
        let partition = gpu.partition.as_ref();
        partition.is_none_or(|partition| partition.compute.eq_ignore_ascii_case("SPX"))
    };
    let sizes = gpus
        .iter()
        .map(|checked| checked.gpu)
        .filter(|gpu| whole(gpu));
    let sizes = sizes.filter_map(|gpu| Some((gpu, gpu.vram?, published_memory(&gpu.model)?)));
    let sizes: Vec<(&Gpu, u64, u64)> = sizes.collect();
    let short = sizes
        .iter()
        .find(|(_, actual, published)| *actual < published / 20 * LEAST_MEMORY);
    let (_, actual, published) = short.or(sizes.first())?;
    let check = match short {
        Some((gpu, ..)) => {
            HostCheckKind::GpuMemory.warning(format!("{} on a {}", size(*actual), gpu.model))
        }
        None => HostCheckKind::GpuMemory.ok(format!("{} each", size(*actual))),
    };
    Some(check.required(size(*published)).fix(
        "is it divided, or a virtual function? The published figure used all of it: amd-smi static --vram",
    ))
}

fn idle(facts: &HostFacts<'_>, gpus: &[CheckedGpu<'_>]) -> HostCheck {
    let conditions = gpus.iter();
    let conditions = conditions.filter_map(|checked| Some((checked.index, checked.condition?)));
    let busy: Vec<String> = conditions.clone().filter_map(in_use).collect();
    let processes = conditions
        .clone()
        .flat_map(|(_, condition)| &condition.processes);
    let processes = processes.map(|process| process.pid.to_string());
    let processes = processes.sorted().dedup().join(",");
    let kind = HostCheckKind::GpusIdle;
    let check = kind.warning_of(&busy).unwrap_or_else(|| {
        let is_known = |(_, condition): (u32, &GpuCondition)| condition.vram_used.is_some();
        if conditions.clone().any(is_known) {
            kind.ok("nothing runs on them")
        } else if facts.host.nvidia.is_some() {
            kind.unknown("NVIDIA's driver reports it through its library only")
        } else {
            kind.unknown("the driver's files do not report it")
        }
    });
    check
        .required("no other program on them")
        .fix(if processes.is_empty() {
            "find the program that holds the memory (`amd-smi process`, `nvidia-smi`), or choose other GPUs with --gpus".to_owned()
        } else {
            format!("ps -fp {processes}; end them, or choose other GPUs with --gpus")
        })
}

/// `GPU 3: 12 GiB in use by python (71)`; none if it is idle.
fn in_use((index, condition): (u32, &GpuCondition)) -> Option<String> {
    let used = condition.vram_used.unwrap_or(0);
    if used <= IDLE_VRAM && condition.processes.is_empty() {
        return None;
    }
    let programs = condition.processes.iter();
    let programs = programs.map(|process| match &process.name {
        Some(name) => format!("{name} ({})", process.pid),
        None => process.pid.to_string(),
    });
    let programs = join(programs, ", ");
    let by = if programs.is_empty() { "" } else { " by " };
    Some(format!("GPU {index}: {} in use{by}{programs}", size(used)))
}

/// Runs of ours, of any user, that have GPUs of this engine.
fn claimed(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let check = HostCheckKind::GpusClaimed.warning_of(&facts.claims)?;
    Some(
        check
            .required("no other run on them")
            .fix("a run waits until they are free; choose others with --gpus, or fail instead with --no-wait"),
    )
}

fn healthy(gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let errors = gpus
        .iter()
        .filter_map(|checked| Some((checked.index, checked.condition?.errors?)));
    let errors: Vec<_> = errors.collect();
    if errors.is_empty() {
        return None;
    }
    let bad: Vec<String> = errors
        .iter()
        .filter(|(_, errors)| errors.uncorrected > 0)
        .map(|(index, errors)| format!("GPU {index}: {} uncorrected errors", errors.uncorrected))
        .collect();
    let corrected: u64 = errors.iter().map(|(_, errors)| errors.corrected).sum();
    let kind = HostCheckKind::GpusHealthy;
    let check = kind
        .warning_of(&bad)
        .unwrap_or_else(|| kind.ok(format!("no uncorrected errors, {corrected} corrected")));
    Some(check.required("no uncorrected memory errors").fix(
        "results may be wrong: exclude the GPU with --gpus, reset it, and see `amd-smi metric --ecc`, `nvidia-smi -q -d ECC`",
    ))
}

/// GPUs whose device nodes are missing for us.
fn devices(gpus: &[CheckedGpu<'_>]) -> Option<HostCheck> {
    let masked: Vec<String> = gpus
        .iter()
        .filter(|checked| checked.gpu.masked)
        .map(|checked| format!("GPU {}: no {}", checked.index, checked.gpu.nodes.join(", ")))
        .collect();
    let check = HostCheckKind::GpuDevices.warning_of(&masked)?;
    Some(
        check.required("a device node of each GPU").fix(
            "this container or batch job got only some of them: choose among those with --gpus",
        ),
    )
}

/// The method by which a container would get them.
fn access(facts: &HostFacts<'_>) -> Option<HostCheck> {
    let (assigned, request) = (facts.assigned?, facts.request()?);
    let method = assigned.method.name();
    let unsupported = unsupported_method(request, facts.host, assigned.method);
    let check = match &unsupported {
        Some((reason, _)) => HostCheckKind::GpuAccess.error(reason),
        None => HostCheckKind::GpuAccess.ok(format!("{method}: {}", assigned.reason)),
    };
    let fix = unsupported.map(|(_, fix)| fix).unwrap_or_default();
    Some(check.required(method).fix(fix))
}
